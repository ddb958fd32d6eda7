/* SPDX-License-Identifier: MIT */
/* Tests of the judgement of which ranks are level (fleet/stream/digests.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fleet/stream/digests.h"

#define MS UINT64_C(1000000)
#define S (UINT64_C(1000) * MS)
#define BEGUN_NS (UINT64_C(500) * S)
#define RANKS 3

/* Ranks of one communicator on a node, which look alike unless a test changes
 * one. */
struct job {
	struct ncs_digests digests;
	struct ncs_snapshot ranks[RANKS];
	struct ncs_channel_view channels[RANKS];
	struct ncs_operation_view operations[RANKS];
	uint64_t now_ns;
	bool has_digest[RANKS]; /* in the latest look */
	bool is_wanted[RANKS];
};

static struct job job;

static int setup(void **state)
{
	(void)state;
	memset(&job, 0, sizeof(job));
	job.now_ns = BEGUN_NS;
	for (size_t i = 0; i < RANKS; i++) {
		struct ncs_snapshot *rank = &job.ranks[i];

		rank->liveness = NCS_ALIVE;
		rank->identity.known = NCS_KNOWN_COMM_ID;
		rank->identity.comm_id = 77;
		rank->channels = &job.channels[i];
		rank->channel_count = 1;
		rank->operations = &job.operations[i];
		for (size_t k = 0; k < NCS_FUNCTION_COUNT; k++)
			rank->functions[k].last_sequence_number =
				NCS_NO_SEQUENCE_NUMBER;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ncs_digests_release(&job.digests);
	return 0;
}

/* Has a rank finish some more AllReduces. */
static void get_on(size_t rank, uint64_t operations)
{
	struct ncs_function_view *function =
		&job.ranks[rank].functions[NCS_FUNCTION_ALL_REDUCE];

	function->calls += operations;
	function->operations += operations;
	function->operations_done += operations;
	function->with_children += operations;
	function->last_sequence_number += operations;
}

/* Takes a look a second after the one before. */
static void look(bool is_key)
{
	job.now_ns += S;
	ncs_digests_begin(&job.digests, is_key);
	for (size_t i = 0; i < RANKS; i++) {
		int taken;

		job.ranks[i].taken_ns = job.now_ns;
		taken = ncs_digests_judge(&job.digests, i, job.is_wanted[i],
					  &job.ranks[i]);
		assert_in_range(taken, 0, 1);
		job.has_digest[i] = taken == 1;
	}
	ncs_digests_end(&job.digests);
}

static void all_get_on(void)
{
	for (size_t i = 0; i < RANKS; i++)
		get_on(i, 10);
}

/* Takes the looks after which a rank that is level has a digest, and that one. */
static void begin_level(void)
{
	all_get_on();
	look(true);
	all_get_on();
	look(true);
	all_get_on();
	look(false);
	for (size_t i = 0; i < RANKS; i++)
		assert_true(job.has_digest[i]);
}

/* All get on, but the test has changed rank 1. */
static void expect_full(void)
{
	all_get_on();
	look(false);
	assert_true(job.has_digest[0]);
	assert_false(job.has_digest[1]);
	assert_true(job.has_digest[2]);
}

static void test_a_digest_tells_how_far_the_rank_is(void **state)
{
	const struct ncs_digests *digests = &job.digests;

	(void)state;
	job.channels[1].state = NCS_CHANNEL_SEND_WAIT;
	job.channels[1].since_ns = BEGUN_NS + 2900 * MS;
	job.channels[1].step = 1;
	job.ranks[1].operation_count = 1;
	job.operations[1].start_ns = BEGUN_NS + 2 * S;
	begin_level();
	assert_int_equal(digests->rank_count, RANKS);
	assert_int_equal(digests->ranks[1].rank, 1);
	assert_true(digests->ranks[1].wait_ns == BEGUN_NS + 2900 * MS);
	assert_true(digests->ranks[1].operation_ns == BEGUN_NS + 2 * S);
	assert_true(digests->ranks[2].wait_ns == 0);
	assert_true(digests->ranks[2].operation_ns == 0);
	assert_int_equal(digests->function_count, RANKS);
	assert_int_equal(digests->functions[1].place, 1);
	assert_int_equal(digests->functions[1].function,
			 NCS_FUNCTION_ALL_REDUCE);
	assert_true(digests->functions[1].operations == 30);
	assert_true(digests->functions[1].sequence_number == 29);
}

static void test_a_look_that_stands_alone_has_no_digests(void **state)
{
	(void)state;
	begin_level();
	all_get_on();
	look(true);
	assert_int_equal(job.digests.rank_count, 0);
	all_get_on();
	look(false);
	assert_int_equal(job.digests.rank_count, RANKS);
}

static void test_a_rank_that_does_not_get_on_is_told_in_full(void **state)
{
	(void)state;
	begin_level();
	get_on(0, 10);
	get_on(2, 10);
	look(false);
	assert_true(job.has_digest[0]);
	assert_false(job.has_digest[1]);
}

/* No look that stands alone has the state that such a rank is in. */
static void test_it_is_so_until_the_next_look_that_stands_alone(void **state)
{
	(void)state;
	begin_level();
	job.ranks[1].torn = true;
	expect_full();
	job.ranks[1].torn = false;
	expect_full();
	all_get_on();
	look(true);
	all_get_on();
	look(false);
	assert_true(job.has_digest[1]);
}

static void test_a_rank_that_waits_for_long_is_told_in_full(void **state)
{
	(void)state;
	begin_level();
	job.channels[1].state = NCS_CHANNEL_SEND_WAIT;
	job.channels[1].step = 3;
	job.channels[1].since_ns = job.now_ns + S - NCS_LEVEL_WAIT_NS;
	expect_full();
}

static void test_a_kernel_that_runs_for_long_is_told_in_full(void **state)
{
	(void)state;
	begin_level();
	job.ranks[1].launches.begun = 7;
	job.ranks[1].launches.ended = 6;
	job.ranks[1].launches.begun_ns = job.now_ns + S - NCS_LEVEL_WAIT_NS;
	expect_full();
}

/* A host may be ahead of its GPU by seconds. */
static void test_an_operation_that_is_queued_is_no_wait(void **state)
{
	(void)state;
	begin_level();
	job.channels[1].state = NCS_CHANNEL_SEND_GPU_WAIT;
	job.channels[1].step = 0;
	job.channels[1].since_ns = BEGUN_NS;
	job.ranks[1].operation_count = 1;
	job.operations[1].start_ns = BEGUN_NS;
	all_get_on();
	look(false);
	assert_true(job.has_digest[1]);
}

static void test_a_rank_behind_the_others_is_told_in_full(void **state)
{
	(void)state;
	begin_level();
	get_on(0, 100);
	get_on(2, 100);
	get_on(1, 1);
	look(false);
	assert_true(job.has_digest[1]);
	/* The others were 100 further in the look before. */
	get_on(0, 1);
	get_on(2, 1);
	get_on(1, 1);
	look(false);
	assert_true(job.has_digest[0]);
	assert_false(job.has_digest[1]);
}

static void test_ranks_of_another_communicator_may_be_anywhere(void **state)
{
	(void)state;
	job.ranks[1].identity.comm_id = 78;
	get_on(0, 1000);
	get_on(2, 1000);
	begin_level();
}

static void test_a_rank_that_is_not_alive_is_told_in_full(void **state)
{
	static const enum ncs_liveness others[] = { NCS_SILENT, NCS_FINISHED,
						    NCS_DEAD };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		begin_level();
		job.ranks[1].liveness = others[i];
		expect_full();
		job.ranks[1].liveness = NCS_ALIVE;
	}
	begin_level();
	job.ranks[1].process_stopped = true;
	expect_full();
}

static void test_a_rank_that_is_wanted_is_told_in_full(void **state)
{
	(void)state;
	begin_level();
	job.is_wanted[1] = true;
	expect_full();
	expect_full();
	/* It is level all the same. */
	assert_int_equal(job.digests.level, RANKS);
	/* Its digest would be relative to a state that the reader has not. */
	job.is_wanted[1] = false;
	expect_full();
	all_get_on();
	look(true);
	all_get_on();
	look(false);
	assert_true(job.has_digest[1]);
}

static void test_a_rank_that_was_wanted_in_a_key_look_may_have_a_digest(
	void **state)
{
	(void)state;
	begin_level();
	job.is_wanted[1] = true;
	all_get_on();
	look(true);
	job.is_wanted[1] = false;
	all_get_on();
	look(false);
	assert_true(job.has_digest[1]);
}

static void test_a_rank_that_was_away_is_new(void **state)
{
	(void)state;
	begin_level();
	ncs_digests_begin(&job.digests, false);
	ncs_digests_end(&job.digests);
	all_get_on();
	look(false);
	assert_int_equal(job.digests.rank_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_digest_tells_how_far_the_rank_is),
		TEST(test_a_look_that_stands_alone_has_no_digests),
		TEST(test_a_rank_that_does_not_get_on_is_told_in_full),
		TEST(test_it_is_so_until_the_next_look_that_stands_alone),
		TEST(test_a_rank_that_waits_for_long_is_told_in_full),
		TEST(test_a_kernel_that_runs_for_long_is_told_in_full),
		TEST(test_an_operation_that_is_queued_is_no_wait),
		TEST(test_a_rank_behind_the_others_is_told_in_full),
		TEST(test_ranks_of_another_communicator_may_be_anywhere),
		TEST(test_a_rank_that_is_not_alive_is_told_in_full),
		TEST(test_a_rank_that_is_wanted_is_told_in_full),
		TEST(test_a_rank_that_was_wanted_in_a_key_look_may_have_a_digest),
		TEST(test_a_rank_that_was_away_is_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
