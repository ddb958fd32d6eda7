/* SPDX-License-Identifier: MIT */
/* A seqlock over a block of 64-bit words whose first word is the sequence.
 *
 * One writer at a time, any number of readers on a read-only mapping. The
 * writer never waits; a reader retries a limited number of times and then
 * reports failure. An odd sequence means "being written". If two writers update
 * one block at the same time (an application that breaks NCCL's own rules), its
 * values may be mixed, but the sequence ends even, so that readers are not
 * blocked.
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

/* Begins an update. Until ncs_seqlock_end(), store the block's words with
 * ncs_payload_store(). */
static inline void ncs_seqlock_begin(uint64_t *sequence)
{
	ncs_store_relaxed(sequence, ncs_load_relaxed(sequence) | 1);
	/* ORDER: pairs with ncs_seqlock_try() (shm/seqlock.h): a reader
	 * that sees a word of this update also sees the odd sequence. */
	ncs_fence_release();
}

/* Ends an update. */
static inline void ncs_seqlock_end(uint64_t *sequence)
{
	/* ORDER: pairs with ncs_seqlock_try() (shm/seqlock.h): the words are
	 * visible before the even sequence is. */
	ncs_store_release(sequence, (ncs_load_relaxed(sequence) | 1) + 1);
}

/* Adds to a counter of the block. A change of a single word needs no begin and
 * end: no other word has to agree with it. Writer only. */
static inline void ncs_seqlock_add(uint64_t *counter, uint64_t addend)
{
	ncs_payload_store(counter, ncs_load_relaxed(counter) + addend);
}

/* Tries once to copy `words` words of a block, including the sequence. Returns
 * false if the copy may be inconsistent. */
static inline bool ncs_seqlock_try(uint64_t *copy, const uint64_t *block,
				   size_t words)
{
	/* ORDER: pairs with ncs_seqlock_end() (shm/seqlock.h): the words are at
	 * least as new as the sequence. */
	copy[0] = ncs_load_acquire(&block[0]);
	for (size_t i = 1; i < words; i++)
		copy[i] = ncs_payload_load(&block[i]);
	if (copy[0] & 1)
		return false;
	/* ORDER: pairs with ncs_seqlock_begin() (shm/seqlock.h): the sequence
	 * is read again after all words. */
	ncs_fence_acquire();
	return ncs_load_relaxed(&block[0]) == copy[0];
}

/* Copies a block that may be written at the same time, with up to
 * NCS_SEQLOCK_TRIES attempts. Returns false if all failed, e.g. because the
 * writer died in mid-write; the copy is then the latest attempt's. */
static inline bool ncs_seqlock_read(uint64_t *copy, const uint64_t *block,
				    size_t words)
{
	for (unsigned tries = 0; tries < NCS_SEQLOCK_TRIES; tries++) {
		if (ncs_seqlock_try(copy, block, words))
			return true;
		/* The writer may be waiting for this processor. */
		if ((copy[0] & 1) && tries % 64 == 63)
			sched_yield();
	}
	return false;
}

#endif
