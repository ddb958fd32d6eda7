/* SPDX-License-Identifier: MIT */
/* A joined operation: the parts of all its ranks, and what they tell together.
 * Here it is decided, for all that shows or compares operations, by which moment
 * ranks arrive, by which they end, and whether that end can be trusted. Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_JOINED_H
#define NCS_ANALYSIS_RECORDS_JOINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/collective_waits.h"
#include "analysis/records/parts.h"

/* The channel of a part that ended last. */
struct ncs_last_channel {
	bool is_known;
	bool send;
	uint8_t channel;
	int32_t peer;
	float wait_ns[3]; /* time in each of its states, in a step's order */
};

/* The times of a part that every pass over all parts needs: one cache line. */
struct ncs_part_times {
	uint64_t call_ns; /* begin_ns if the call is not known */
	uint64_t begin_ns;
	uint64_t arrival_ns;
	uint64_t end_ns;
	/* It may have ended from this time on: not before all had arrived, and
	 * only as much before `end_ns` as that may be late. */
	uint64_t least_end_ns;
	uint32_t owner;
	bool has_begun; /* arrival_ns is of its kernel or data, not of the host */
	struct ncs_last_channel last_channel;
};

/* A joined operation. The parts of a collective are sorted by rank; those of a
 * transfer are the send and the receive, or only one of them. */
struct ncs_joined {
	uint64_t comm_id;
	uint64_t number;  /* sequence number, or that of its connection */
	uint32_t repeat;  /* times that this number had been reported before */
	uint8_t function; /* NCS_FUNCTION_SEND_RECV for a transfer */
	bool is_complete; /* has a part of every rank that was expected */
	bool is_whole;    /* has a part of every rank of the communicator */
	/* For a transfer NCS_WAIT_FOR_ROOT if the sender ended before the
	 * receiver arrived, so that it cannot have waited; else
	 * NCS_WAIT_FOR_ALL. */
	enum ncs_wait_rule wait_rule;
	/* The best moment on the way into the operation that is known of all
	 * parts: its arrivals. OPERATION if nothing better is, which says when
	 * the host launched it, not when the GPU could begin. */
	enum ncs_moment arrival;
	/* The best moment that is known of all parts and can be their end. */
	enum ncs_moment end;
	/* The part that arrived last of those that others wait for; NULL if
	 * none waits for another. */
	const struct ncs_part *last_awaited;
	/* The last arrival that others wait for; 0 if there is none. No part
	 * that waits ends before it: where `end` says so, this time stands for
	 * the part's end. */
	uint64_t not_before_ns;
	/* False if `end` is earlier than that by more than the errors of the
	 * two times: then it is not known when the parts ended. */
	bool end_is_trusted;
	/* The clocks of two parts may be apart by so much; 0 if traffic aligns them. */
	uint64_t clocks_apart_ns;
	uint64_t first_end_ns; /* end of the part that ended first */
	/* From then on its first part may have ended: where an end is recorded
	 * too late, what follows may be recorded before it. */
	uint64_t turn_ns;
	size_t count;          /* number of parts */
	const struct ncs_part *parts;
	const struct ncs_part_times *part_times; /* of the parts, or NULL */
};

/* Finds what the parts of an operation tell together: wait_rule, arrival, end
 * and what follows from these. The rest must be there. */
void ncs_joined_finish(struct ncs_joined *joined);

/* Fills in the times of a part of an operation. */
void ncs_part_times_make(struct ncs_part_times *times,
			 const struct ncs_joined *joined,
			 const struct ncs_part *part);

/* Returns whether an operation is a transfer. */
static inline bool ncs_joined_is_transfer(const struct ncs_joined *joined)
{
	return joined->function == NCS_FUNCTION_SEND_RECV;
}

/* Returns true if the part is the root's or the sender's. */
static inline bool ncs_joined_is_root(const struct ncs_joined *joined,
				      const struct ncs_part *part)
{
	return ncs_joined_is_transfer(joined) ?
		       part->function == NCS_FUNCTION_SEND :
		       part->peer == part->rank;
}

/* Returns when a part of the operation arrived: the rank was ready, and could
 * only wait for others from then on. */
static inline uint64_t ncs_joined_arrival_ns(const struct ncs_joined *joined,
					     const struct ncs_part *part)
{
	return part->at_ns[joined->arrival];
}

/* Returns whether a part that knows this moment may have ended then: not before
 * its data came nor, if it waits for others, before the last of them had
 * arrived. */
bool ncs_joined_may_have_ended(const struct ncs_joined *joined,
			       const struct ncs_part *part,
			       enum ncs_moment moment);

/* Returns when a part of the operation ended. */
uint64_t ncs_joined_end_ns(const struct ncs_joined *joined,
			   const struct ncs_part *part);

/* Returns from when on a part of the operation may have ended, if its end is
 * recorded too late; else its end. */
uint64_t ncs_joined_turn_ns(const struct ncs_joined *joined,
			    const struct ncs_part *part);

/* Why a part's times cannot be relied on where ranks are compared. */
enum ncs_doubt {
#define X(ID, name, help) NCS_DOUBT_##ID,
	NCS_DOUBTS(X)
#undef X
		NCS_DOUBT_COUNT
};

/* Returns the weightiest doubt in the times of a part. */
enum ncs_doubt ncs_joined_doubt(const struct ncs_joined *joined,
				const struct ncs_part *part);

/* The moving part of an operation, in which data moves on all its ranks: MOVE,
 * over which bandwidth is. It is from the last arrival to the last end; where the
 * end is that on the stream, from the last begin there. */
struct ncs_moving_part {
	uint64_t begin_ns; /* on the last rank */
	uint64_t end_ns;   /* on the last rank */
	uint64_t error_ns; /* of the time between the two, at most */
	unsigned timing;   /* enum ncs_timing */
};

/* Sets *moving to that of an operation. Returns false if it is not known: only
 * the host's times are, or its end cannot be told, or it is a transfer without
 * its other end, or one whose receiver only copies what was buffered. */
bool ncs_joined_moving(const struct ncs_joined *joined,
		       struct ncs_moving_part *moving);

/* Returns how long that is in ns; 0 if it is not known. */
double ncs_joined_moving_ns(const struct ncs_joined *joined);

#endif
