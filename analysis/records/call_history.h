/* SPDX-License-Identifier: MIT */
/* The latest calls of a program's threads, by time: of which function one was
 * made before a moment. Records of calls name no operation, so that this is how
 * an operation's call is found.
 *
 * Memory is bounded. No I/O.
 */
#ifndef NCS_ANALYSIS_RECORDS_CALL_HISTORY_H
#define NCS_ANALYSIS_RECORDS_CALL_HISTORY_H

#include <stddef.h>
#include <stdint.h>

struct ncs_timed_call {
	uint64_t start_ns;
	unsigned kind; /* enum ncs_function_id, or another number */
};

/* In the order of time, round and round. */
struct ncs_call_history {
	struct ncs_timed_call *calls;
	size_t capacity;
	size_t limit; /* of the capacity */
	uint64_t count;
	uint64_t needed_ns; /* older ones need not be kept */
};

/* Room for `capacity` calls, and for up to `limit` as long as those from
 * needed_ns on do not fit. 0 or -ENOMEM. */
int ncs_call_history_init(struct ncs_call_history *calls, size_t capacity,
			  size_t limit);
void ncs_call_history_release(struct ncs_call_history *calls);

/* Those of one thread come in order, those of several nearly so. */
void ncs_call_history_take(struct ncs_call_history *calls, unsigned kind,
			   uint64_t start_ns);

/* After calls were lost an older one than the right one would be found. */
void ncs_call_history_forget(struct ncs_call_history *calls);

/* When the latest of a kind until a moment was made, which is the one that
 * began the operation, or in a group the last one before the group was
 * launched. 0: none is known. */
uint64_t ncs_call_history_before_ns(const struct ncs_call_history *calls,
				    unsigned kind, uint64_t moment_ns);

#endif
