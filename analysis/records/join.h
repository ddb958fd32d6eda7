/* SPDX-License-Identifier: MIT */
/* Joins the parts of all ranks into operations.
 *
 * Parts of a collective are joined by communicator, function and NCCL's
 * sequence number. If NCCL reports a number again and again, as replays of CUDA
 * graphs do, they are also joined by the repeat count. A send is joined with
 * the receive of the same number on its connection; where the plugin counted
 * none, with the one at the same place. If the two cannot belong together,
 * their numbers and some that follow are not used.
 *
 * Operations are given out in the order in which their first parts may have
 * ended, if the join is an ordered one: what a rank did before comes first. An
 * operation that stays incomplete is given up, that is, given out as it is:
 * once its missing ranks have reported much later operations, 10 s after its
 * first part ended, or when there is no room for more parts. Memory is bounded.
 * Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_JOIN_H
#define NCS_ANALYSIS_RECORDS_JOIN_H

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
	/* The last arrival that others wait for; 0 if there is none. No part
	 * that waits ends before it: where `end` says so, this time stands for
	 * the part's end. */
	uint64_t not_before_ns;
	/* False if `end` is earlier than that by more than the errors of the
	 * two times: then it is not known when the parts ended. */
	bool end_is_trusted;
	uint64_t first_end_ns; /* end of the part that ended first */
	/* From then on its first part may have ended: where an end is recorded
	 * too late, what follows may be recorded before it. */
	uint64_t turn_ns;
	size_t count;          /* number of parts */
	const struct ncs_part *parts;
	const struct ncs_part_times *part_times; /* of the parts, or NULL */
};

/* Fills in the times of a part of an operation. */
void ncs_part_times_make(struct ncs_part_times *times,
			 const struct ncs_joined *joined,
			 const struct ncs_part *part);

/* Returns true if the part is the root's or the sender's. */
static inline bool ncs_joined_is_root(const struct ncs_joined *joined,
				      const struct ncs_part *part)
{
	return joined->function == NCS_FUNCTION_SEND_RECV ?
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

/* Returns when a part of the operation ended. */
uint64_t ncs_joined_end_ns(const struct ncs_joined *joined,
			   const struct ncs_part *part);

/* Returns from when on a part of the operation may have ended, if its end is
 * recorded too late; else its end. */
uint64_t ncs_joined_turn_ns(const struct ncs_joined *joined,
			    const struct ncs_part *part);

/* Returns the time in ns from the arrival of the last awaited part to the end
 * of the last part; negative if the error of the clocks is larger than that
 * time. */
double ncs_joined_transfer_ns(const struct ncs_joined *joined);

struct ncs_join;

/* Creates a join that keeps up to `parts_max` parts, or about a million if that
 * is 0. Returns NULL if there is no memory. Free it with ncs_join_free(), which
 * accepts NULL. */
struct ncs_join *ncs_join_new(size_t parts_max);

/* Like ncs_join_new(), but operations are given out once they are finished, in
 * no order: one that stays incomplete holds up no other. */
struct ncs_join *ncs_join_new_unordered(size_t parts_max);
void ncs_join_free(struct ncs_join *join);

/* Announces a rank of a communicator. Call this before the rank's first part:
 * an operation counts as complete without the parts of ranks that were not
 * announced. Returns 0 or -ENOMEM. */
int ncs_join_expect(struct ncs_join *join, uint64_t comm_id, int32_t rank);

/* Notes that no more parts of a rank will come: operations are complete without
 * it. Its parts so far count. Returns 0, or -ENOMEM if operations were lost. */
int ncs_join_forget(struct ncs_join *join, uint64_t comm_id, int32_t rank);

/* Adds a part. The parts of a rank must come nearly in the order in which they
 * ended. Copies the part. Returns 0, or -ENOMEM; then the part is lost. */
int ncs_join_add(struct ncs_join *join, const struct ncs_part *part);

/* Promises that no more parts will come that ended before `until_ns`, or none
 * at all if that is UINT64_MAX. */
void ncs_join_advance(struct ncs_join *join, uint64_t until_ns);

/* Returns the next operation, complete or given up, or NULL if there is none
 * yet. It is valid until the next call. */
const struct ncs_joined *ncs_join_next(struct ncs_join *join);

struct ncs_join_count {
	uint64_t complete;     /* operations */
	uint64_t incomplete;   /* operations that were given up */
	uint64_t unidentified; /* parts of no known communicator or rank */
	uint64_t again; /* parts of a rank that the operation already had */
	/* Pairs of a send and a receive with the same number that cannot belong
	 * together. */
	uint64_t distrusted;
};

/* Returns the counts up to now. They belong to `join`. */
const struct ncs_join_count *ncs_join_count(const struct ncs_join *join);

#endif
