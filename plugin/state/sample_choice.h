/* SPDX-License-Identifier: MIT */
/* Which operations keep the records of their children: the choice itself.
 *
 * A hash of what all ranks know of an operation alike, so that they choose the
 * same ones without a word to each other, and so that no period of the job
 * can be in step with the choice. An operation is kept at level L, one in 2^L,
 * if its hash begins with L zero bits: what is kept at a level is kept at all
 * lower ones. Pure functions; any thread, no state.
 */
#ifndef NCS_PLUGIN_STATE_SAMPLE_CHOICE_H
#define NCS_PLUGIN_STATE_SAMPLE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/hash.h"

/* `ordinal` tells apart the operations of a communicator and function. */
static inline uint64_t ncs_sample_hash(uint64_t comm_id, unsigned function,
				       uint64_t ordinal)
{
	uint64_t whose = comm_id ^ function * UINT64_C(0xd6e8feb86659fd93);

	return ncs_hash(ncs_hash(whose) ^ ordinal);
}

/* The ordinal of a collective: NCCL's sequence number, and which time it is
 * that this number is told (0: the first). */
static inline uint64_t ncs_sample_collective(uint64_t sequence_number,
					     uint64_t repeat)
{
	return repeat ? sequence_number ^ ncs_hash(repeat) : sequence_number;
}

/* The ordinal of a transfer: who sends to whom, and for the how manieth time.
 * Both ends know it. */
static inline uint64_t ncs_sample_transfer(int32_t sender, int32_t receiver,
					   uint64_t count)
{
	return ncs_hash((uint64_t)(uint32_t)sender << 32 | (uint32_t)receiver) ^
	       count;
}

static inline bool ncs_sample_is_kept(uint64_t hash, unsigned level)
{
	return (unsigned)__builtin_clzll(hash | 1) >= level;
}

#endif
