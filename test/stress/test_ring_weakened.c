/* SPDX-License-Identifier: MIT */
/* Shows that the hunt of test_ring_torture.c finds errors: three rings, copied
 * from the real code with one thing removed each, must be caught, and the same
 * rings without the fault must not be.
 *
 * Errors that x86 never shows (a missing fence) are not in here; see
 * test/model/ring_model.py.
 */
#include "test/stress/hunt.h"
#include "test/unit/support/unit.h"

/* Records per round of a hunt, rounds in which a fault must be found, and
 * rounds in which a ring without a fault must not be caught. */
#define ROUND 20000
#define ROUNDS 500
#ifdef NCS_TSAN
#define ROUNDS_CLEAN 10
#else
#define ROUNDS_CLEAN 30
#endif

/* --- Design H, as in shm/ring.h, with a fault in the copy -------------- */

static void produce(struct ncs_ring_producer *producer, uint64_t count,
		    unsigned stall)
{
	hunt_stalled_ring.produce(producer, count, stall);
}

static void load_record(const struct ncs_record *slots, uint64_t capacity,
			uint64_t position, struct ncs_record *record)
{
	const uint64_t *slot =
		(const uint64_t *)&slots[position & (capacity - 1)];
	uint64_t words[NCS_RECORD_WORDS];

	for (unsigned k = 0; k < NCS_RECORD_WORDS; k++) {
		hunt_interrupt();
		words[k] = ncs_payload_load(&slot[k]);
	}
	memcpy(record, words, sizeof(words));
}

/* FAULT: head is not read again. */
static size_t copy_without_check(const struct ncs_ring *ring,
				 const struct ncs_record *slots,
				 uint64_t capacity,
				 struct ncs_ring_cursor *cursor,
				 struct ncs_record *records, size_t count)
{
	(void)ring;
	for (size_t i = 0; i < count; i++)
		load_record(slots, capacity, cursor->next + i, &records[i]);
	cursor->next += count;
	return count;
}

/* ncs_ring_copy(), but accepting `slack` more of the oldest records. */
static size_t copy_with_slack(const struct ncs_ring *ring,
			      const struct ncs_record *slots, uint64_t capacity,
			      struct ncs_ring_cursor *cursor,
			      struct ncs_record *records, size_t count,
			      uint64_t slack)
{
	uint64_t head, first, skip = 0;

	for (size_t i = 0; i < count; i++)
		load_record(slots, capacity, cursor->next + i, &records[i]);
	ncs_fence_acquire();
	head = ncs_load_relaxed(&ring->head);
	first = head + 1 > capacity + slack ? head + 1 - capacity - slack : 0;
	if (first > cursor->next) {
		skip = first - cursor->next;
		if (skip > count)
			skip = count;
	}
	cursor->lost += skip;
	cursor->next += count;
	return count - (size_t)skip;
}

static size_t copy_right(const struct ncs_ring *ring,
			 const struct ncs_record *slots, uint64_t capacity,
			 struct ncs_ring_cursor *cursor,
			 struct ncs_record *records, size_t count)
{
	return copy_with_slack(ring, slots, capacity, cursor, records, count,
			       0);
}

/* FAULT: accepts record i if i + capacity == head, which is being written. */
static size_t copy_off_by_one(const struct ncs_ring *ring,
			      const struct ncs_record *slots, uint64_t capacity,
			      struct ncs_ring_cursor *cursor,
			      struct ncs_record *records, size_t count)
{
	return copy_with_slack(ring, slots, capacity, cursor, records, count,
			       1);
}

/* --- Design S: a sequence in each slot's first word -------------------- */

static void put_in_slot(struct ncs_ring_producer *producer, bool mark,
			unsigned stall)
{
	uint64_t position = producer->position;
	uint64_t *slot =
		(uint64_t *)&producer->records[position & producer->mask];
	struct ncs_record record;
	uint64_t words[NCS_RECORD_WORDS];

	hunt_fill(&record, position);
	memcpy(words, &record, sizeof(words));
	if (mark)
		ncs_store_relaxed(&slot[0], 2 * position + 1);
	ncs_fence_release();
	for (unsigned k = 1; k < NCS_RECORD_WORDS; k++) {
		if (stall > 0 && position % stall == 0 &&
		    k == 1 + position / stall % (NCS_RECORD_WORDS - 1))
			hunt_stall();
		ncs_payload_store(&slot[k], words[k]);
	}
	ncs_store_release(&slot[0], 2 * position + 2);
	ncs_store_release(&producer->ring->head, ++producer->position);
}

static void produce_marked(struct ncs_ring_producer *producer, uint64_t count,
			   unsigned stall)
{
	while (count-- > 0)
		put_in_slot(producer, true, stall);
}

/* FAULT: the slot does not show that it is being written. */
static void produce_unmarked(struct ncs_ring_producer *producer, uint64_t count,
			     unsigned stall)
{
	while (count-- > 0)
		put_in_slot(producer, false, stall);
}

static uint64_t slots_available(const struct ncs_ring *ring, uint64_t capacity,
				struct ncs_ring_cursor *cursor)
{
	uint64_t head = ncs_load_acquire(&ring->head);

	if (head > capacity && cursor->next < head - capacity) {
		cursor->lost += head - capacity - cursor->next;
		cursor->next = head - capacity;
	}
	return head - cursor->next;
}

/* Copies one record at a time, so that the valid ones are always the last. */
static size_t copy_slot(const struct ncs_ring *ring,
			const struct ncs_record *slots, uint64_t capacity,
			struct ncs_ring_cursor *cursor,
			struct ncs_record *records, size_t count)
{
	uint64_t position = cursor->next;
	const uint64_t *slot =
		(const uint64_t *)&slots[position & (capacity - 1)];
	uint64_t sequence;
	bool good;

	(void)ring;
	if (count == 0)
		return 0;
	sequence = ncs_load_acquire(&slot[0]);
	load_record(slots, capacity, position, records);
	ncs_fence_acquire();
	good = sequence == 2 * position + 2 &&
	       ncs_load_relaxed(&slot[0]) == sequence;
	/* The hunt expects its word in the place of the sequence. */
	records->start = hunt_word(position, 0);
	cursor->lost += !good;
	cursor->next++;
	return good;
}

/* --- The hunts --------------------------------------------------------- */

static const struct hunt_ring without_check = {
	"without the second load of head", produce, ncs_ring_available,
	copy_without_check
};
static const struct hunt_ring off_by_one = { "off by one", produce,
					     ncs_ring_available,
					     copy_off_by_one };
static const struct hunt_ring unmarked = { "slots without a mark",
					   produce_unmarked, slots_available,
					   copy_slot };
static const struct hunt_ring right = { "the copy with nothing taken out",
					produce, ncs_ring_available,
					copy_right };
static const struct hunt_ring marked = { "slots with a mark", produce_marked,
					 slots_available, copy_slot };

/* Returns the round in which a bad record was accepted, or ROUNDS if none
 * was. */
static unsigned hunt_until_bad(const struct hunt_ring *ring, unsigned rounds,
			       bool processes)
{
	const struct hunt_setup setup = {
		.ring = ring,
		.capacity = 8,
		.records = ROUND,
		.stall = 1,
		.batch = 1,
		.processes = processes,
	};
	struct hunt_findings findings[HUNT_READERS];
	uint64_t bad = 0;
	unsigned round;

	for (round = 0; round < rounds && bad == 0; round++) {
		assert_true(hunt_records(&setup, findings));
		for (unsigned i = 0; i < HUNT_READERS; i++) {
			bad += findings[i].bad;
			/* Each reader counts losses correctly, even if it
			 * accepts bad records. */
			assert_int_equal(findings[i].accepted +
						 findings[i].lost,
					 setup.records);
		}
	}
	print_message("%s: %llu bad in %u rounds\n", ring->name,
		      (unsigned long long)bad, round);
	return bad > 0 ? round : ROUNDS;
}

static void weakened_ring_is_caught(void **state)
{
	assert_true(hunt_until_bad(*state, ROUNDS, false) < ROUNDS);
#ifndef NCS_TSAN
	assert_true(hunt_until_bad(*state, ROUNDS, true) < ROUNDS);
#endif
}

static void intact_ring_is_not_caught(void **state)
{
	assert_int_equal(hunt_until_bad(*state, ROUNDS_CLEAN, false), ROUNDS);
#ifndef NCS_TSAN
	assert_int_equal(hunt_until_bad(*state, ROUNDS_CLEAN, true), ROUNDS);
#endif
}

#define HUNT(title, function, ring) \
	{ \
		title, function, NULL, NULL, (void *)(uintptr_t)(ring) \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HUNT("a ring without the second load of head is caught",
		     weakened_ring_is_caught, &without_check),
		HUNT("a ring that is off by one is caught",
		     weakened_ring_is_caught, &off_by_one),
		HUNT("slots without an in-progress mark are caught",
		     weakened_ring_is_caught, &unmarked),
		HUNT("the copied code with nothing taken out is not caught",
		     intact_ring_is_not_caught, &right),
		HUNT("slots with an in-progress mark are not caught",
		     intact_ring_is_not_caught, &marked),
		HUNT("the real ring is not caught", intact_ring_is_not_caught,
		     &hunt_real_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
