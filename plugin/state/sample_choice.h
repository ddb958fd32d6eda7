/* SPDX-License-Identifier: MIT */
/* Choosing the operations that keep the records of their children.
 *
 * The choice is a hash of facts that all ranks know about an operation, so that
 * all ranks choose the same operations without communicating, and so that the
 * choice follows no period of the job. At level L one operation in 2^L is kept:
 * those whose hash begins with L zero bits. An operation that is kept at a
 * level is also kept at all lower levels. Pure functions.
 */
#ifndef NCS_PLUGIN_STATE_SAMPLE_CHOICE_H
#define NCS_PLUGIN_STATE_SAMPLE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/hash.h"

/* Returns the hash of an operation. `ordinal` tells apart the operations of a
 * communicator and function. */
static inline uint64_t ncs_sample_hash(uint64_t comm_id, unsigned function,
				       uint64_t ordinal)
{
	uint64_t seed = comm_id ^ function * UINT64_C(0xd6e8feb86659fd93);

	return ncs_hash(ncs_hash(seed) ^ ordinal);
}

/* Returns the ordinal of a collective, from NCCL's sequence number and its
 * repeat count (0 the first time that NCCL reports the number). */
static inline uint64_t ncs_sample_collective(uint64_t sequence_number,
					     uint64_t repeat)
{
	return repeat ? sequence_number ^ ncs_hash(repeat) : sequence_number;
}

/* Returns the ordinal of a transfer, from its two ranks and the number of
 * earlier transfers in this direction, which both ends know. */
static inline uint64_t ncs_sample_transfer(int32_t sender, int32_t receiver,
					   uint64_t count)
{
	return ncs_hash((uint64_t)(uint32_t)sender << 32 | (uint32_t)receiver) ^
	       count;
}

/* Returns true if an operation with this hash is kept at a level. */
static inline bool ncs_sample_is_kept(uint64_t hash, unsigned level)
{
	return (unsigned)__builtin_clzll(hash | 1) >= level;
}

#endif
