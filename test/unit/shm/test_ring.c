/* SPDX-License-Identifier: MIT */
/* The ring of records: records are read as they were written, in order and
 * whole, and missed ones are counted. One thread; tests under load are in
 * test/stress. */
#include <stdlib.h>
#include <string.h>

#include "test/unit/support/interleave.h"

#include "shm/ring.h"
#include "test/unit/support/unit.h"

#define CAPACITY_MAX 64

static struct {
	struct ncs_ring ring;
	struct ncs_record records[CAPACITY_MAX];
} area;
static struct ncs_ring_producer producer;

static void start_ring(uint64_t capacity, uint64_t position)
{
	memset(&area, 0, sizeof(area));
	area.ring.head = position;
	producer = (struct ncs_ring_producer){
		.ring = &area.ring,
		.records = area.records,
		.position = position,
		.mask = capacity - 1,
	};
}

static uint64_t word(uint64_t position, unsigned k)
{
	return (position + 1) * UINT64_C(0x9e3779b97f4a7c15) + k;
}

static struct ncs_record record_at(uint64_t position)
{
	struct ncs_record record;
	uint64_t words[NCS_RECORD_WORDS];

	for (unsigned k = 0; k < NCS_RECORD_WORDS; k++)
		words[k] = word(position, k);
	memcpy(&record, words, sizeof(record));
	record.position = (uint32_t)position;
	return record;
}

static void put(unsigned count)
{
	while (count-- > 0) {
		struct ncs_record record = record_at(producer.position);

		record.position = 0xdeadbeef; /* to be filled in */
		ncs_ring_put(&producer, &record);
	}
}

static bool is_good(const struct ncs_record *record, uint64_t position)
{
	struct ncs_record wanted = record_at(position);

	return memcmp(record, &wanted, sizeof(wanted)) == 0;
}

/* Reads all available records, `batch` at a time, and checks them. */
static uint64_t drain(uint64_t capacity, struct ncs_ring_cursor *cursor,
		      size_t batch)
{
	struct ncs_record records[CAPACITY_MAX];
	uint64_t total = 0, available;

	while ((available = ncs_ring_available(&area.ring, capacity, cursor)) >
	       0) {
		size_t count = available < batch ? (size_t)available : batch;
		uint64_t first = cursor->next;

		assert_int_equal(ncs_ring_copy(&area.ring, area.records,
					       capacity, cursor, records,
					       count),
				 count);
		for (size_t i = 0; i < count; i++)
			assert_true(is_good(&records[i], first + i));
		total += count;
	}
	return total;
}

TEST(empty_ring_returns_no_record)
{
	struct ncs_ring_cursor cursor = { 0 };

	start_ring(8, 0);
	assert_int_equal(ncs_ring_available(&area.ring, 8, &cursor), 0);
	assert_int_equal(cursor.lost, 0);
	assert_int_equal(cursor.next, 0);
}

TEST(records_are_read_as_written)
{
	struct ncs_ring_cursor cursor = { 0 };

	start_ring(8, 0);
	put(5);
	assert_int_equal(area.ring.head, 5);
	assert_int_equal(drain(8, &cursor, 2), 5);
	assert_int_equal(cursor.lost, 0);
	put(2);
	assert_int_equal(drain(8, &cursor, 8), 2);
	assert_int_equal(cursor.next, 7);
}

TEST(position_is_filled_in_and_nothing_else_changed)
{
	struct ncs_record record = { .position = UINT32_MAX, .value = 1 };

	start_ring(8, 41);
	ncs_ring_put(&producer, &record);
	record.position = 41;
	assert_memory_equal(&area.records[41 % 8], &record, sizeof(record));
}

TEST(all_but_one_record_of_a_full_ring_are_readable)
{
	for (uint64_t capacity = 2; capacity <= CAPACITY_MAX; capacity *= 2) {
		struct ncs_ring_cursor full = { 0 }, over = { 0 };

		start_ring(capacity, 0);
		put((unsigned)capacity - 1);
		assert_int_equal(drain(capacity, &full, CAPACITY_MAX),
				 capacity - 1);
		assert_int_equal(full.lost, 0);
		put(1);
		assert_int_equal(drain(capacity, &over, CAPACITY_MAX),
				 capacity - 1);
		assert_int_equal(over.lost, 1);
	}
}

TEST(late_reader_gets_the_latest_records)
{
	struct ncs_ring_cursor cursor = { 0 };

	start_ring(8, 0);
	put(100);
	assert_int_equal(ncs_ring_available(&area.ring, 8, &cursor), 7);
	assert_int_equal(cursor.next, 93);
	assert_int_equal(cursor.lost, 93);
	assert_int_equal(drain(8, &cursor, 3), 7);
	assert_int_equal(cursor.lost, 93);
}

TEST(readers_are_independent)
{
	struct ncs_ring_cursor one = { 0 }, other = { 0 };

	start_ring(8, 0);
	put(6);
	assert_int_equal(drain(8, &one, 8), 6);
	put(6);
	assert_int_equal(drain(8, &other, 8), 7);
	assert_int_equal(other.lost, 5);
	assert_int_equal(drain(8, &one, 8), 6);
	assert_int_equal(one.lost, 0);
}

TEST(loss_is_exact_for_any_interleaving)
{
	srandom(1);
	for (unsigned trial = 0; trial < 2000; trial++) {
		uint64_t capacity = UINT64_C(2) << random() % 6, read = 0;
		struct ncs_ring_cursor cursor = { 0 };

		start_ring(capacity, 0);
		for (unsigned i = 0; i < 20; i++) {
			put((unsigned)(random() % 150));
			read += drain(capacity, &cursor,
				      1 + (size_t)random() % CAPACITY_MAX);
			assert_int_equal(read + cursor.lost, producer.position);
		}
	}
}

TEST(positions_exceed_32_bits)
{
	const uint64_t start = (UINT64_C(1) << 32) - 3;
	struct ncs_ring_cursor cursor = { .next = start };

	start_ring(8, start);
	put(6);
	assert_int_equal(drain(8, &cursor, 4), 6);
	assert_int_equal(cursor.lost, 0);
	assert_int_equal(cursor.next, start + 6);
}

/* --- Corrupt rings: foreign writers, truncated files ------------------- */

TEST(head_that_went_backwards_gives_no_records)
{
	struct ncs_record records[8];
	struct ncs_ring_cursor cursor = { 0 };

	start_ring(8, 0);
	put(5);
	assert_int_equal(ncs_ring_available(&area.ring, 8, &cursor), 5);
	memset(&area, 0, sizeof(area)); /* between the two readings of head */
	assert_int_equal(ncs_ring_copy(&area.ring, area.records, 8, &cursor,
				       records, 5),
			 0);
	assert_int_equal(cursor.next, 0);
	cursor.next = 5;
	assert_int_equal(ncs_ring_available(&area.ring, 8, &cursor), 0);
	assert_int_equal(cursor.next, 5);
	assert_int_equal(cursor.lost, 0);
}

TEST(corrupt_head_gives_no_more_than_the_ring_holds)
{
	static const uint64_t heads[] = {
		8, 9, UINT32_MAX, UINT64_MAX - 8, UINT64_MAX - 1, UINT64_MAX,
	};
	struct ncs_record records[8];

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct ncs_ring_cursor cursor = { 0 };
		uint64_t available;

		start_ring(8, heads[i]);
		available = ncs_ring_available(&area.ring, 8, &cursor);
		assert_true(available <= 7);
		assert_true(ncs_ring_copy(&area.ring, area.records, 8, &cursor,
					  records, (size_t)available) <= 7);
		assert_int_equal(cursor.next, heads[i]);
	}
}

/* --- One preemption, all of them --------------------------------------- */

static struct {
	unsigned long runs;
	unsigned long accepted;
	unsigned long rejected;
	unsigned long torn; /* of the rejected record */
} seen;

static void writer_puts_some(void)
{
	put(CAPACITY_MAX);
}

/* A reader at position `next` of `head` records copies `count`. Before its load
 * number `load` the writer executes `stores` of its stores. */
static void preempt(uint64_t capacity, uint64_t head, uint64_t next,
		    size_t count, unsigned long load, unsigned long stores)
{
	struct ncs_ring_cursor cursor = { .next = next };
	struct ncs_record records[4];
	uint64_t first;
	size_t good;

	start_ring(capacity, 0);
	put((unsigned)head);
	if (ncs_ring_available(&area.ring, capacity, &cursor) < count)
		return;
	first = cursor.next;
	interleave_arm(writer_puts_some, load, stores);
	good = ncs_ring_copy(&area.ring, area.records, capacity, &cursor,
			     records, count);
	interleave_disarm();
	seen.runs++;
	seen.accepted += good;
	seen.rejected += count - good;
	assert_true(good <= count);
	assert_int_equal(cursor.next, first + count);
	assert_int_equal(first - next + count, good + cursor.lost);
	for (size_t i = 0; i < count; i++) {
		bool whole = is_good(&records[i], first + i);

		if (i >= count - good)
			assert_true(whole);
		else
			seen.torn += !whole;
	}
}

TEST(preemption_never_yields_a_torn_record)
{
	memset(&seen, 0, sizeof(seen));
	for (uint64_t capacity = 2; capacity <= 4; capacity *= 2)
		for (uint64_t head = 1; head <= capacity + 2; head++)
			for (uint64_t next = 0; next < head; next++)
				for (size_t n = 1; n < capacity; n++)
					for (unsigned long l = 0; l <= 8 * n;
					     l++)
						for (unsigned long s = 0;
						     s <= 9 * (capacity + 2);
						     s++)
							preempt(capacity, head,
								next, n, l, s);
	print_message("%lu runs, %lu accepted, %lu rejected, %lu of them"
		      " torn\n",
		      seen.runs, seen.accepted, seen.rejected, seen.torn);
	assert_true(seen.accepted > 1000);
	assert_true(seen.torn > 1000);
}
