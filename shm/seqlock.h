/* SPDX-License-Identifier: MIT */
/* A seqlock over a block of 64-bit words whose first word is the sequence.
 *
 * One writer at a time, any number of readers on a read-only mapping. The
 * writer never waits; a reader retries a few times and then says so. An odd
 * sequence means "being written". Should two writers meet in one block (a
 * caller that breaks NCCL's own rules), its values may mix, but the sequence
 * ends even, so readers go on.
 *
 * H.-J. Boehm, "Can seqlocks get along with programming language memory
 * models?", MSPC 2012, has the proof for the fences used here.
 */
#ifndef NCS_SHM_SEQLOCK_H
#define NCS_SHM_SEQLOCK_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/atomics.h"

#define NCS_SEQLOCK_TRIES 1000

/* Between begin and end, store the block's words with ncs_payload_store(). */
static inline void ncs_seqlock_begin(uint64_t *sequence)
{
	ncs_store_relaxed(sequence, ncs_load_relaxed(sequence) | 1);
	/* ORDER: pairs with ncs_seqlock_try() (shm/seqlock.h): who sees a
	 * word of this update and fences also sees the odd sequence. */
	ncs_fence_release();
}

static inline void ncs_seqlock_end(uint64_t *sequence)
{
	/* ORDER: pairs with ncs_seqlock_try() (shm/seqlock.h): the words are
	 * visible before the even sequence is. */
	ncs_store_release(sequence, (ncs_load_relaxed(sequence) | 1) + 1);
}

/* Adds to a counter of the block. A change of one word alone needs no begin and
 * end: there is nothing that it could be inconsistent with. */
static inline void ncs_seqlock_add(uint64_t *counter, uint64_t addend)
{
	ncs_payload_store(counter, ncs_load_relaxed(counter) + addend);
}

/* One attempt to copy `words` words of a block, sequence included, into `copy`.
 * False if it is not consistent. */
static inline bool ncs_seqlock_try(uint64_t *copy, const uint64_t *block,
				   size_t words)
{
	/* ORDER: pairs with ncs_seqlock_end() (shm/seqlock.h). */
	copy[0] = ncs_load_acquire(&block[0]);
	for (size_t i = 1; i < words; i++)
		copy[i] = ncs_payload_load(&block[i]);
	if (copy[0] & 1)
		return false;
	/* ORDER: pairs with ncs_seqlock_begin() (shm/seqlock.h): the sequence
	 * is looked at after all words. */
	ncs_fence_acquire();
	return ncs_load_relaxed(&block[0]) == copy[0];
}

/* Copies a block that somebody may be writing. False if no consistent copy was
 * had: the writer died in mid-write or never rests. The copy then holds the
 * latest attempt. */
static inline bool ncs_seqlock_read(uint64_t *copy, const uint64_t *block,
				    size_t words)
{
	for (unsigned tries = 0; tries < NCS_SEQLOCK_TRIES; tries++) {
		if (ncs_seqlock_try(copy, block, words))
			return true;
		/* The writer may want this processor to go on. */
		if ((copy[0] & 1) && tries % 64 == 63)
			sched_yield();
	}
	return false;
}

#endif
