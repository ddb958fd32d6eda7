/* SPDX-License-Identifier: MIT */
/* Operations of all ranks, put together from their parts.
 *
 * A collective's parts are joined by communicator, function and NCCL's sequence
 * number, or, where NCCL tells a number again and again (replays of CUDA graphs),
 * by the how manieth time that is. A send is joined with the receive that has
 * the same place on its connection. Operations are given out in the order in
 * which their first part ended. One that never becomes complete is given out
 * incomplete: once those that are missing have told of much later ones, or of
 * nothing for 10 s, or once more parts are kept than there is room for. Memory is bounded. Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_JOIN_H
#define NCS_ANALYSIS_RECORDS_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/collective_waits.h"
#include "analysis/records/parts.h"

/* The channel that ended last, at one part. */
struct ncs_last_channel {
	bool is_known;
	bool send;
	uint8_t channel;
	int32_t peer;
	float wait_ns[3]; /* in the order of a step */
};

/* The times of a part that every pass over all parts needs: one cache line. */
struct ncs_part_times {
	uint64_t call_ns; /* or BEGIN, where that is not known */
	uint64_t begin_ns;
	uint64_t arrival_ns;
	uint64_t end_ns;
	uint32_t owner;
	struct ncs_last_channel last_channel;
};

/* One operation. Collectives: parts by rank. A transfer: the send, the receive. */
struct ncs_joined {
	uint64_t comm_id;
	uint64_t number;  /* of a transfer: on its connection, as seen here */
	uint32_t repeat;  /* times that this number had been told before */
	uint8_t function; /* of a transfer: NCS_FUNCTION_SEND_RECV */
	bool is_complete; /* all ranks that were told of have their part in it */
	bool is_whole;    /* … and these are all that the communicator has */
	/* ROOT of a transfer: the receiver waits for the sender. ALL: both do,
	 * as the sender was not done before the receiver had come. */
	enum ncs_wait_rule wait_rule;
	/* enum ncs_part_stage: the latest on the way in that is known of all
	 * parts, by which their arrivals are compared. */
	enum ncs_part_stage arrival;
	uint64_t first_end_ns;
	size_t count;
	const struct ncs_part *parts;
	const struct ncs_part_times *part_times; /* the parts'; NULL: not made */
};

/* A part's, which arrives by this moment. */
void ncs_part_times_make(struct ncs_part_times *times,
			 const struct ncs_part *part,
			 enum ncs_part_stage arrival);

/* Whether a part is the root's, the sender's. */
static inline bool ncs_joined_is_root(const struct ncs_joined *joined,
				      const struct ncs_part *part)
{
	return joined->function == NCS_FUNCTION_SEND_RECV ?
		       part->function == NCS_FUNCTION_SEND :
		       part->peer == part->rank;
}

/* From when all had come that others wait for until the last part ended; negative
 * where clocks disagree by more than that. */
double ncs_joined_transfer_ns(const struct ncs_joined *joined);

struct ncs_join;

/* Room for so many parts at a time; 0: for a million. NULL: no memory. */
struct ncs_join *ncs_join_new(size_t parts_max);
void ncs_join_free(struct ncs_join *join); /* NULL: nothing to do */

/* A rank of a communicator whose parts will come: one is complete without those
 * that were never told of. Before its first part. 0 or -ENOMEM. */
int ncs_join_expect(struct ncs_join *join, uint64_t comm_id, int32_t rank);

/* Those of one rank in the order in which they ended, nearly. 0 or -ENOMEM: the
 * part is missing. */
int ncs_join_add(struct ncs_join *join, const struct ncs_part *part);

/* No part that ended before this moment will come any more; UINT64_MAX: none at
 * all. */
void ncs_join_advance(struct ncs_join *join, uint64_t until_ns);

/* The next one, complete or given up; valid until the next call. NULL: none
 * yet. */
const struct ncs_joined *ncs_join_next(struct ncs_join *join);

struct ncs_join_count {
	uint64_t complete;
	uint64_t incomplete;
	uint64_t unidentified; /* parts of no known communicator or rank */
	uint64_t again;        /* parts that were there already */
};

const struct ncs_join_count *ncs_join_count(const struct ncs_join *join);

#endif
