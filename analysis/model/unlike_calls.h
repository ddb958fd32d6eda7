/* SPDX-License-Identifier: MIT */
/* Operations that have ended although their ranks called them with different
 * sizes or roots: over NVLink nothing hangs then, but results are wrong.
 *
 * Calls are compared by their records, which tell bytes and root; of those in
 * progress, which the tables tell more of, see analysis/diagnosis. Must be
 * certain: a number that a rank reports twice, as calls captured into a CUDA
 * graph may, or whose predecessor was not seen, is not compared, nor are calls
 * that were not on their GPUs at one time. Memory is bounded. Pure.
 */
#ifndef NCS_ANALYSIS_MODEL_UNLIKE_CALLS_H
#define NCS_ANALYSIS_MODEL_UNLIKE_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/records/joined.h"

struct ncs_communicator;

/* The latest numbers of one function that a rank has reported. */
struct ncs_seen_numbers {
	uint64_t next; /* the largest, plus 1; 0: none */
	uint64_t seen; /* bit i: next - 1 - i was reported */
	uint64_t lost; /* records of the rank that had been lost by then */
};

/* Marks a part with NCS_PART_ONCE if its number is surely that of one call: it
 * comes for the first time, and after the number before it, with no record lost
 * between. `seen` is that of its rank and function, zeros at first; `lost` counts
 * the records of the rank that were lost so far. Parts must come nearly in
 * order. */
void ncs_numbers_note(struct ncs_seen_numbers *seen, struct ncs_part *part,
		      uint64_t lost);

/* A call of one rank, as its record tells it. */
struct ncs_unlike_call {
	size_t owner; /* serial of the rank */
	uint64_t bytes;
	int32_t root;  /* -1 if the function has none */
	size_t agree; /* ranks that called it so */
};

/* The operations of a communicator that differed; start with zeros. */
struct ncs_unlike_calls {
	uint64_t count; /* if 0, nothing else is set */
	uint64_t number; /* of the latest one */
	uint64_t end_ns; /* of its last rank */
	unsigned function;
	/* The latest one: [0] is called so by fewer ranks than [1]; if by as
	 * many, it is the later rank. */
	struct ncs_unlike_call calls[2];
};

/* Compares the calls of an operation. */
void ncs_unlike_calls_note(struct ncs_unlike_calls *unlike,
			   const struct ncs_joined *joined);

/* Returns the operations of a communicator that differed; NULL if none did. */
const struct ncs_unlike_calls *
ncs_communicator_unlike_calls(const struct ncs_communicator *communicator);

#endif
