/* SPDX-License-Identifier: MIT */
/* The ring of records: one producer, any number of readers.
 *
 * The producer overwrites the oldest record and never waits. `head`, the count
 * of published records, is both the publication and the in-progress mark: once
 * record i-1 has stored head = i, slot i may be under construction. Readers
 * copy records, read head again, and reject what may have changed. Each reader
 * has its own cursor and counts exactly how many records were overwritten
 * before it read them. In a ring of C records, C-1 are readable at any time.
 *
 * Proof. F, X and P are a record's fence, its payload stores and its store of
 * head. A reader accepts record i if it saw head = h > i before the copy and
 * head = h2 after it. The record is
 *  - not stale: the load of h reads P(h-1), which X(i) is sequenced before;
 *  - not overwritten: had a payload load seen a store X(j), j >= i + C, then
 *    F(j) synchronises with the reader's fence and P(j-1) is visible to the
 *    load of h2, so h2 >= j >= i + C, and record i is rejected.
 * test/model/ring_model.py checks it exhaustively under the C11 memory model,
 * together with each weakening of it.
 *
 * A reader never uses h2 as its next bound: that load is relaxed.
 */
#ifndef NCS_SHM_RING_H
#define NCS_SHM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ncclstat/abi_lane.h"
#include "ncclstat/record.h"
#include "shm/atomics.h"

/* The index of the word whose low half is the position. */
#define NCS_POSITION_WORD (offsetof(struct ncs_record, position) / 8)
_Static_assert(offsetof(struct ncs_record, position) % 8 == 0, "low half");

/* How many records ahead of the copied one are prefetched. */
#define NCS_RING_AHEAD 16

/* The producer's side; private to one thread. */
struct ncs_ring_producer {
	struct ncs_ring *ring;
	struct ncs_record *records;
	uint64_t position; /* == ring->head */
	uint64_t mask;     /* capacity - 1 */
};

/* A reader's place in one ring; initially all zeros. */
struct ncs_ring_cursor {
	uint64_t next; /* position of the next record to read */
	uint64_t lost; /* records overwritten before they were read */
};

/* Publishes a record given as words, and fills in its position. Wait-free: nine
 * stores. Producer thread only. */
static inline void
ncs_ring_put_words(struct ncs_ring_producer *producer,
		   const uint64_t words[NCS_RECORD_WORDS])
{
	uint64_t position = producer->position;
	uint64_t *slot =
		(uint64_t *)&producer->records[position & producer->mask];
	struct ncs_ring *ring = producer->ring;

	/* ORDER: pairs with ncs_ring_copy() (shm/ring.h): a reader that
	 * sees a word of this record also sees head = position. */
	ncs_fence_release();
#pragma GCC unroll 8
	for (unsigned i = 0; i < NCS_RECORD_WORDS; i++)
		ncs_payload_store(
			&slot[i],
			i != NCS_POSITION_WORD ?
				words[i] :
				(words[i] >> 32 << 32) | (uint32_t)position);
	producer->position = position + 1;
	/* ORDER: pairs with ncs_ring_available() (shm/ring.h): the record is
	 * visible before the head that counts it. */
	ncs_store_release(&ring->head, position + 1);
}

/* Same as ncs_ring_put_words() for a struct. */
static inline void ncs_ring_put(struct ncs_ring_producer *producer,
				const struct ncs_record *record)
{
	uint64_t words[NCS_RECORD_WORDS];

	memcpy(words, record, sizeof(words));
	ncs_ring_put_words(producer, words);
}

/* Moves the cursor past overwritten records, counting them as lost, and returns
 * how many records are available from there on. `capacity` comes from the
 * validated header, not from the mapping. */
static inline uint64_t ncs_ring_available(const struct ncs_ring *ring,
					  uint64_t capacity,
					  struct ncs_ring_cursor *cursor)
{
	/* ORDER: pairs with ncs_ring_put_words() (shm/ring.h): all records
	 * before head are visible. */
	uint64_t head = ncs_load_acquire(&ring->head);

	if (head < cursor->next) /* corrupt: head went backwards */
		return 0;
	if (head >= capacity && cursor->next < head - capacity + 1) {
		cursor->lost += head - capacity + 1 - cursor->next;
		cursor->next = head - capacity + 1;
	}
	return head - cursor->next;
}

/* Copies `count` records, at most as many as ncs_ring_available() returned, and
 * moves the cursor past them. Returns how many copies are valid: the last ones,
 * records[count - returned] … records[count - 1]. The others were overwritten
 * meanwhile and are counted as lost. Returns 0 if the ring is corrupt. */
static inline size_t ncs_ring_copy(const struct ncs_ring *ring,
				   const struct ncs_record *slots,
				   uint64_t capacity,
				   struct ncs_ring_cursor *cursor,
				   struct ncs_record *records, size_t count)
{
	uint64_t head, first, skip = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t *slot =
			(const uint64_t *)&slots[(cursor->next + i) &
						 (capacity - 1)];
		char *copy = (char *)&records[i];

		/* Hardware prefetching ends at a page. Records that are not yet
		 * available are left to the producer's cache. */
		if (i + NCS_RING_AHEAD < count)
			__builtin_prefetch(
				&slots[(cursor->next + i + NCS_RING_AHEAD) &
				       (capacity - 1)]);

#pragma GCC unroll 8
		for (unsigned k = 0; k < NCS_RECORD_WORDS; k++) {
			uint64_t word = ncs_payload_load(&slot[k]);

			/* Store each word right after its load: gathering all
			 * of them first would load them again before their
			 * stores retire. */
			memcpy(copy + k * sizeof(word), &word, sizeof(word));
		}
	}
	/* ORDER: pairs with ncs_ring_put_words() (shm/ring.h): head is read
	 * again after all words. */
	ncs_fence_acquire();
	head = ncs_load_relaxed(&ring->head);
	if (head < cursor->next + count) /* corrupt: head went backwards */
		return 0;
	first = head + 1 > capacity ? head + 1 - capacity : 0;
	if (first > cursor->next) {
		skip = first - cursor->next;
		if (skip > count)
			skip = count;
	}
	cursor->lost += skip;
	cursor->next += count;
	return count - (size_t)skip;
}

#endif
