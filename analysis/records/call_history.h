/* SPDX-License-Identifier: MIT */
/* The application's latest calls on a rank. They are kept to find the call that
 * began an operation, because records of calls name no operation. Memory is
 * bounded. Must do no I/O.
 */
#ifndef NCS_ANALYSIS_RECORDS_CALL_HISTORY_H
#define NCS_ANALYSIS_RECORDS_CALL_HISTORY_H

#include <stddef.h>
#include <stdint.h>

/* A call of the application. */
struct ncs_timed_call {
	uint64_t start_ns;
	uint64_t stream; /* as in records; 0 if not known */
	unsigned kind; /* enum ncs_function_id, or another number */
};

/* A ring of calls in order of time. */
struct ncs_call_history {
	struct ncs_timed_call *calls;
	size_t capacity;
	size_t limit;       /* of the capacity */
	uint64_t count;     /* of all calls taken */
	uint64_t needed_ns; /* older calls need not be kept */
};

/* Initializes a history with room for `capacity` calls. The room grows up to
 * `limit` if calls that began at needed_ns or later would not fit otherwise.
 * Returns 0 or -ENOMEM. */
int ncs_call_history_init(struct ncs_call_history *calls, size_t capacity,
			  size_t limit);

/* Frees the memory of a history. */
void ncs_call_history_release(struct ncs_call_history *calls);

/* Adds a call. The calls of one thread must come in order, those of several
 * threads nearly so. */
void ncs_call_history_take(struct ncs_call_history *calls,
			   const struct ncs_timed_call *call);

/* Forgets all calls. Call this after records were lost: the right call may be
 * among them, and an older one would be found instead. */
void ncs_call_history_forget(struct ncs_call_history *calls);

/* Returns the latest call of a kind up to `time_ns`, or one of zeros if none is
 * known. For the begin of an operation, this is the call that began it, or the
 * last call before its group was launched. */
struct ncs_timed_call
ncs_call_history_before(const struct ncs_call_history *calls, unsigned kind,
			uint64_t time_ns);

#endif
