/* SPDX-License-Identifier: MIT */
/* The real ring for the hunt: the functions of shm/ring.h as they are, and once
 * more with pauses between their stores and between their loads. For the
 * latter, shm/ring.h is compiled again with payload functions that pause. */
#include "shm/atomics.h"

#include "test/stress/hunt.h"

/* The word of the next record before which the writer pauses; 8 for none. */
static _Thread_local unsigned pause_at = NCS_RECORD_WORDS;
static _Thread_local unsigned stored;

static void pausing_store(uint64_t *word, uint64_t value)
{
	if (stored++ == pause_at)
		hunt_stall();
	ncs_payload_store(word, value);
}

static uint64_t pausing_load(const uint64_t *word)
{
	hunt_interrupt();
	return ncs_payload_load(word);
}

/* Compiled again under other names; the headers that it needs have been
 * included above. */
#undef NCS_SHM_RING_H
#define ncs_ring_producer pausing_ring_producer
#define ncs_ring_cursor pausing_ring_cursor
#define ncs_ring_put_words pausing_ring_put_words
#define ncs_ring_put pausing_ring_put
#define ncs_ring_available pausing_ring_available
#define ncs_ring_copy pausing_ring_copy
#define ncs_payload_store pausing_store
#define ncs_payload_load pausing_load
#include "shm/ring.h"
#undef ncs_ring_producer
#undef ncs_ring_cursor
#undef ncs_ring_put_words
#undef ncs_ring_put
#undef ncs_ring_available
#undef ncs_ring_copy
#undef ncs_payload_store
#undef ncs_payload_load

static void produce(struct ncs_ring_producer *producer, uint64_t count,
		    unsigned stall)
{
	struct ncs_record record;

	(void)stall;
	while (count-- > 0) {
		hunt_fill(&record, producer->position);
		ncs_ring_put(producer, &record);
	}
}

static void produce_pausing(struct ncs_ring_producer *producer, uint64_t count,
			    unsigned stall)
{
	struct pausing_ring_producer pausing = {
		.ring = producer->ring,
		.records = producer->records,
		.position = producer->position,
		.mask = producer->mask,
	};
	struct ncs_record record;

	while (count-- > 0) {
		uint64_t position = pausing.position;

		hunt_fill(&record, position);
		stored = 0;
		pause_at = position % stall == 0 ?
				   (unsigned)(position / stall) %
					   NCS_RECORD_WORDS :
				   NCS_RECORD_WORDS;
		pausing_ring_put(&pausing, &record);
	}
	producer->position = pausing.position;
}

static size_t copy_pausing(const struct ncs_ring *ring,
			   const struct ncs_record *slots, uint64_t capacity,
			   struct ncs_ring_cursor *cursor,
			   struct ncs_record *records, size_t count)
{
	struct pausing_ring_cursor pausing = {
		.next = cursor->next,
		.lost = cursor->lost,
	};
	size_t good = pausing_ring_copy(ring, slots, capacity, &pausing,
					records, count);

	cursor->next = pausing.next;
	cursor->lost = pausing.lost;
	return good;
}

const struct hunt_ring hunt_real_ring = {
	.name = "the real ring",
	.produce = produce,
	.available = ncs_ring_available,
	.copy = ncs_ring_copy,
};

const struct hunt_ring hunt_stalled_ring = {
	.name = "the real ring with pauses",
	.produce = produce_pausing,
	.available = ncs_ring_available,
	.copy = copy_pausing,
};
