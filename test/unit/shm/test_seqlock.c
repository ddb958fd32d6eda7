/* SPDX-License-Identifier: MIT */
/* Seqlocks: a copy is one update or none. One thread; tests under load are in
 * test/stress/test_seqlock_torture.c. */
#include <string.h>

#include "test/unit/support/interleave.h"

#include "shm/seqlock.h"
#include "test/unit/support/unit.h"

#define WORDS 4

static uint64_t block[WORDS];

/* All words of update `n` except the sequence are n. */
static void write_update(uint64_t n)
{
	ncs_seqlock_begin(block);
	for (unsigned k = 1; k < WORDS; k++)
		interleave_store(&block[k], n);
	ncs_seqlock_end(block);
}

static void assert_is_update(const uint64_t copy[WORDS], uint64_t n)
{
	assert_int_equal(copy[0], 2 * n);
	for (unsigned k = 1; k < WORDS; k++)
		assert_int_equal(copy[k], n);
}

TEST(fresh_block_reads_as_zeros)
{
	uint64_t copy[WORDS] = { 1, 1, 1, 1 };

	memset(block, 0, sizeof(block));
	assert_true(ncs_seqlock_read(copy, block, WORDS));
	assert_is_update(copy, 0);
}

TEST(latest_update_is_read)
{
	uint64_t copy[WORDS];

	memset(block, 0, sizeof(block));
	for (uint64_t n = 1; n < 100; n++) {
		write_update(n);
		assert_true(ncs_seqlock_read(copy, block, WORDS));
		assert_is_update(copy, n);
	}
}

TEST(unfinished_update_is_reported_and_still_copied)
{
	uint64_t copy[WORDS];

	memset(block, 0, sizeof(block));
	write_update(1);
	ncs_seqlock_begin(block);
	block[1] = 2;
	assert_false(ncs_seqlock_read(copy, block, WORDS));
	assert_int_equal(copy[0] & 1, 1);
	assert_int_equal(copy[1], 2);
	assert_int_equal(copy[2], 1);
	assert_int_equal(copy[3], 1);
}

TEST(writer_after_a_dead_one_leaves_an_even_sequence)
{
	uint64_t copy[WORDS];

	memset(block, 0, sizeof(block));
	ncs_seqlock_begin(block);
	write_update(1);
	assert_true(ncs_seqlock_read(copy, block, WORDS));
	assert_is_update(copy, 1);
}

TEST(concurrent_writers_leave_the_block_readable)
{
	uint64_t copy[WORDS];

	memset(block, 0, sizeof(block));
	ncs_seqlock_begin(block);
	ncs_seqlock_begin(block);
	ncs_seqlock_end(block);
	assert_true(ncs_seqlock_read(copy, block, WORDS));
	ncs_seqlock_end(block);
	assert_true(ncs_seqlock_read(copy, block, WORDS));
	assert_true(copy[0] > 2);
}

TEST(sequence_may_wrap_around)
{
	uint64_t copy[WORDS];

	memset(block, 0, sizeof(block));
	block[0] = UINT64_MAX - 1;
	write_update(7);
	assert_int_equal(block[0], 0);
	assert_true(ncs_seqlock_read(copy, block, WORDS));
	assert_int_equal(copy[3], 7);
}

/* --- One preemption, all of them --------------------------------------- */

static uint64_t written;

static void writer_updates(void)
{
	for (unsigned i = 0; i < 3; i++)
		write_update(++written);
}

TEST(preemption_never_yields_a_mixed_copy)
{
	unsigned long whole = 0, later = 0, given_up = 0;

	for (unsigned long load = 0; load <= WORDS + 1; load++) {
		for (unsigned long stores = 0; stores <= 3 * (WORDS + 1);
		     stores++) {
			uint64_t copy[WORDS];
			bool good;

			memset(block, 0, sizeof(block));
			write_update(written = 1);
			interleave_arm(writer_updates, load, stores);
			good = ncs_seqlock_read(copy, block, WORDS);
			interleave_disarm();
			if (!good) {
				/* The writer was stopped in mid-write. */
				assert_int_equal(block[0] & 1, 1);
				given_up++;
				continue;
			}
			assert_is_update(copy, copy[1]);
			whole++;
			later += copy[1] > 1;
		}
	}
	assert_true(given_up > 10);
	assert_true(later > 10);
	assert_true(whole - later > 10);
}
