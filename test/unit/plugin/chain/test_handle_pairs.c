/* SPDX-License-Identifier: MIT */
/* Pairs of handles: looking up a pair returns it complete, or nothing. A single
 * thread is preempted at every load; test/plugin/test_threads_chain.c tests
 * with many threads. */
#include <string.h>

#include "test/unit/support/interleave.h"
#include "test/unit/support/unit.h"

/* A compare-and-swap is a load, before which the thread may be preempted, and a
 * store if it succeeds. */
static bool interleave_cas(uint64_t *word, uint64_t expected, uint64_t value)
{
	interleave_before_load();
	return interleave_may_store() &&
	       __atomic_compare_exchange_n(word, &expected, value, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

#define ncs_cas_acquire_release interleave_cas

/* Included as text, to be compiled with these loads and stores. */
#include "plugin/chain/handle_pairs.c"

#define CLASS NCS_PAIR_CTRL
#define PLACES 1024

static struct ncs_pair pair_of(uint64_t value)
{
	return (struct ncs_pair){ value, value, value };
}

static uint64_t put(uint64_t value)
{
	struct ncs_pair pair = pair_of(value);

	return ncs_pairs_put(CLASS, &pair);
}

static void assert_found(uint64_t handle, uint64_t value)
{
	struct ncs_pair got;

	assert_true(ncs_pairs_get(handle, &got));
	assert_int_equal(got.ours, value);
	assert_int_equal(got.theirs, value);
	assert_int_equal(got.facts, value);
}

static int make(void **state)
{
	(void)state;
	interleave_disarm();
	return ncs_pairs_make(12345);
}

/* Removes what a stopped writer has left behind. */
static void clear_places(void)
{
	interleave_disarm();
	memset(places[CLASS], 0, PLACES * sizeof(struct pair_place));
}

/* --- One thread --------------------------------------------------------- */

UNIT_FIXTURE(make, NULL)

TEST(a_pair_is_found_until_its_place_is_reused)
{
	uint64_t first = put(1), handle;
	struct ncs_pair got;

	assert_true(ncs_pairs_is_handle(first));
	assert_found(first, 1);
	assert_true(ncs_pairs_close(first));
	assert_false(ncs_pairs_close(first));
	assert_found(first, 1);
	for (uint64_t i = 1; i < PLACES; i++) {
		handle = put(2);
		assert_true(ncs_pairs_close(handle));
		assert_found(first, 1);
	}
	put(3);
	assert_false(ncs_pairs_get(first, &got));
	assert_false(ncs_pairs_close(first));
}

TEST(an_open_pair_keeps_its_place)
{
	uint64_t open = put(1);

	for (uint64_t i = 0; i < 5 * PLACES; i++)
		ncs_pairs_close(put(2));
	assert_found(open, 1);
	assert_true(ncs_pairs_close(open));
}

TEST(an_invalid_handle_finds_no_pair)
{
	static const uint64_t values[] = {
		0,           8,          1 << 10 | 8,   6 << 10 | 8,
		7 << 10 | 8, UINT64_MAX, UINT64_MAX - 7
	};
	struct ncs_pair got;

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		assert_false(ncs_pairs_get(values[i], &got));
		assert_false(ncs_pairs_close(values[i]));
	}
	assert_false(ncs_pairs_is_handle(0));
	assert_false(ncs_pairs_is_context(put(1)));
}

/* --- Preempted ---------------------------------------------------------- */

static void put_another(void)
{
	put(2);
}

/* Returns a handle whose place is the next to be claimed. */
static uint64_t put_oldest(void)
{
	uint64_t handle;

	clear_places();
	handle = put(1);
	ncs_pairs_close(handle);
	for (unsigned i = 1; i < PLACES; i++)
		ncs_pairs_close(put(3));
	return handle;
}

TEST(a_pair_is_found_complete_or_not_at_all)
{
	for (unsigned long load = 0; load < 6; load++)
		for (unsigned long stores = 0; stores < 6; stores++) {
			uint64_t handle = put_oldest();
			struct ncs_pair got;
			bool found;

			interleave_arm(put_another, load, stores);
			found = ncs_pairs_get(handle, &got);
			/* Loads of 4 words, and of the tag again; the first
			 * store claims the place. */
			assert_int_equal(interleave.writer == NULL, load < 5);
			assert_int_equal(found, load == 5 || stores == 0);
			if (!found)
				continue;
			assert_int_equal(got.ours, 1);
			assert_int_equal(got.theirs, 1);
			assert_int_equal(got.facts, 1);
		}
}

/* A writer may be stopped for long in the middle of writing. */
TEST(a_place_being_written_is_not_claimed)
{
	struct ncs_pair pair = pair_of(1);
	uint64_t handle;
	struct pair_place *place;
	uint64_t tag;

	handle = ncs_pairs_put(NCS_PAIR_CALL, &pair);
	place = place_of(NCS_PAIR_CALL, (handle >> 13) + 1);
	place->tag = tag = UINT64_C(77) << 8 | BUSY;
	for (uint32_t i = 0; i < 20 * classes[NCS_PAIR_CALL].count; i++)
		ncs_pairs_put(NCS_PAIR_CALL, &pair);
	assert_int_equal(place->tag, tag);
}

static uint64_t given[2 * PLACES];

static void fill_all_places_twice(void)
{
	for (unsigned i = 0; i < 2 * PLACES; i++) {
		given[i] = put(100 + i);
		ncs_pairs_close(given[i]);
	}
}

/* One writer is stopped while others claim all places twice. */
TEST(two_pairs_never_share_a_place)
{
	for (unsigned long load = 0; load < 2; load++) {
		unsigned alive = 0;
		uint64_t handle;

		clear_places();
		interleave_arm(fill_all_places_twice, load, 1000000);
		handle = put(1);
		assert_null(interleave.writer); /* the others did run */
		assert_found(handle, 1);
		for (unsigned i = 0; i < 2 * PLACES; i++) {
			struct ncs_pair got;

			if (!ncs_pairs_get(given[i], &got))
				continue;
			assert_int_equal(got.ours, 100 + i);
			assert_int_equal(got.theirs, 100 + i);
			assert_int_equal(got.facts, 100 + i);
			alive++;
		}
		assert_true(alive >= PLACES - 1);
		assert_true(ncs_pairs_close(handle));
	}
}

/* --- Classes ------------------------------------------------------------ */

TEST(open_contexts_are_never_driven_out)
{
	struct ncs_pair pair = pair_of(7), got;
	uint64_t contexts[PLACES];

	for (unsigned i = 0; i < PLACES; i++) {
		contexts[i] = ncs_pairs_put(NCS_PAIR_CONTEXT, &pair);
		assert_true(ncs_pairs_is_context(contexts[i]));
		assert_false(ncs_pairs_is_handle(contexts[i]));
	}
	assert_int_equal(ncs_pairs_put(NCS_PAIR_CONTEXT, &pair), 0);
	for (unsigned i = 0; i < PLACES; i++)
		assert_true(ncs_pairs_get(contexts[i], &got));
	assert_true(ncs_pairs_close(contexts[5]));
	assert_int_not_equal(ncs_pairs_put(NCS_PAIR_CONTEXT, &pair), 0);
	assert_false(ncs_pairs_get(contexts[5], &got));
}

TEST(a_forked_child_has_no_contexts)
{
	struct ncs_pair pair = pair_of(7), got;
	uint64_t context = ncs_pairs_put(NCS_PAIR_CONTEXT, &pair);

	ncs_pairs_forget(999);
	assert_false(ncs_pairs_get(context, &got));
}
