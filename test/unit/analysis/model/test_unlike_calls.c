/* SPDX-License-Identifier: MIT */
/* Calls that ended although they differed are found; calls that may belong to two
 * operations, or may differ, are not. */
#include "analysis/model/unlike_calls.h"
#include "analysis/records/join.h"
#include "ncclstat/abi_values.h"
#include "test/unit/support/unit.h"

#define RANKS 4
#define US UINT64_C(1000)

/* An operation of four ranks on their GPUs. */
struct unlike_fixture {
	struct ncs_part parts[RANKS];
	struct ncs_joined joined;
	struct ncs_unlike_calls unlike;
};

static int setup(void **state)
{
	static struct unlike_fixture fixture;

	fixture = (struct unlike_fixture){ .joined = {
		.function = NCS_FUNCTION_ALL_REDUCE,
		.number = 9,
		.is_complete = true,
		.parts = fixture.parts,
		.count = RANKS,
	} };
	for (int i = 0; i < RANKS; i++) {
		struct ncs_part *part = &fixture.parts[i];

		*part = (struct ncs_part){
			.rank = i,
			.nranks = RANKS,
			.owner = 100 + (size_t)i,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.flags = NCS_PART_ONCE,
			.peer = -1,
			.number = 9,
			.bytes = 16 << 20,
		};
		part->at_ns[NCS_MOMENT_OPERATION] = 900 * US;
		part->at_ns[NCS_MOMENT_STREAM] = 1000 * US + (uint64_t)i;
		part->at_ns[NCS_MOMENT_STREAM_END] = 1100 * US;
		part->at_ns[NCS_MOMENT_LAST_END] = 1100 * US;
	}
	*state = &fixture;
	return 0;
}

static void note(struct unlike_fixture *fixture)
{
	ncs_joined_finish(&fixture->joined);
	ncs_unlike_calls_note(&fixture->unlike, &fixture->joined);
}

static void set_function(struct unlike_fixture *fixture, unsigned function)
{
	fixture->joined.function = (uint8_t)function;
	for (int i = 0; i < RANKS; i++) {
		fixture->parts[i].function = (uint8_t)function;
		fixture->parts[i].peer = 2;
	}
}

UNIT_FIXTURE(setup, NULL)

TEST(calls_that_agree_are_well)
{
	struct unlike_fixture *fixture = *state;

	note(fixture);
	assert_int_equal(fixture->unlike.count, 0);
}

TEST(rank_with_a_size_of_its_own_is_named)
{
	for (int odd = 0; odd < RANKS; odd++) {
		struct unlike_fixture *fixture;

		setup(state);
		fixture = *state;
		fixture->parts[odd].bytes /= 2;
		note(fixture);
		assert_int_equal(fixture->unlike.count, 1);
		assert_int_equal(fixture->unlike.number, 9);
		assert_int_equal(fixture->unlike.end_ns, 1100 * US);
		assert_int_equal(fixture->unlike.calls[0].owner, 100 + odd);
		assert_int_equal(fixture->unlike.calls[0].bytes, 8 << 20);
		assert_int_equal(fixture->unlike.calls[0].agree, 1);
		assert_int_equal(fixture->unlike.calls[0].root, -1);
		assert_int_equal(fixture->unlike.calls[1].bytes, 16 << 20);
		assert_int_equal(fixture->unlike.calls[1].agree, RANKS - 1);
		note(fixture);
		assert_int_equal(fixture->unlike.count, 2);
	}
}

TEST(of_two_halves_the_later_is_named)
{
	struct unlike_fixture *fixture = *state;

	fixture->parts[0].bytes = fixture->parts[1].bytes = 4;
	note(fixture);
	assert_int_equal(fixture->unlike.calls[0].owner, 102);
	assert_int_equal(fixture->unlike.calls[0].agree, 2);
	assert_int_equal(fixture->unlike.calls[1].agree, 2);
}

TEST(root_must_be_one_where_there_is_one)
{
	struct unlike_fixture *fixture = *state;

	set_function(fixture, NCS_FUNCTION_REDUCE);
	fixture->parts[3].peer = 1;
	note(fixture);
	assert_int_equal(fixture->unlike.count, 1);
	assert_int_equal(fixture->unlike.calls[0].owner, 103);
	assert_int_equal(fixture->unlike.calls[0].root, 1);
	assert_int_equal(fixture->unlike.calls[1].root, 2);
	set_function(fixture, NCS_FUNCTION_ALL_REDUCE);
	fixture->parts[3].peer = 1;
	note(fixture);
	assert_int_equal(fixture->unlike.count, 1);
}

TEST(sizes_that_may_differ_are_not_compared)
{
	static const unsigned functions[] = {
		NCS_FUNCTION_ALL_TO_ALL,   NCS_FUNCTION_GATHER,
		NCS_FUNCTION_SCATTER,      NCS_FUNCTION_ALL_GATHER_V,
		NCS_FUNCTION_OTHER,
	};
	struct unlike_fixture *fixture = *state;

	fixture->parts[1].bytes = 4;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		set_function(fixture, functions[i]);
		note(fixture);
		assert_int_equal(fixture->unlike.count, 0);
	}
}

TEST(calls_that_were_not_on_their_gpus_at_one_time_differ)
{
	struct unlike_fixture *fixture = *state;
	struct ncs_part *odd = &fixture->parts[3];

	odd->bytes = 4;
	odd->at_ns[NCS_MOMENT_STREAM] = 1200 * US;
	odd->at_ns[NCS_MOMENT_STREAM_END] = 1300 * US;
	odd->at_ns[NCS_MOMENT_LAST_END] = 1300 * US;
	note(fixture);
	assert_int_equal(fixture->unlike.count, 0);
	/* Within the error of the clocks, it may have been so. */
	odd->at_ns[NCS_MOMENT_STREAM] = 1090 * US;
	odd->clock = 1;
	odd->clock_error_ns = 20 * (uint32_t)US;
	note(fixture);
	assert_int_equal(fixture->unlike.count, 0);
	odd->clock_error_ns = 5 * (uint32_t)US;
	note(fixture);
	assert_int_equal(fixture->unlike.count, 1);
}

TEST(host_times_alone_tell_nothing)
{
	struct unlike_fixture *fixture = *state;

	fixture->parts[1].bytes = 4;
	for (int i = 0; i < RANKS; i++)
		fixture->parts[i].at_ns[NCS_MOMENT_STREAM] =
			fixture->parts[i].at_ns[NCS_MOMENT_STREAM_END] = 0;
	note(fixture);
	assert_int_equal(fixture->unlike.count, 0);
}

TEST(number_that_may_be_of_two_calls_is_not_compared)
{
	struct unlike_fixture *fixture = *state;

	fixture->parts[3].bytes = 4;
	fixture->parts[3].flags = 0;
	note(fixture);
	assert_int_equal(fixture->unlike.count, 0);
}

/* Returns whether a number is surely that of one call. */
static bool is_once(struct ncs_seen_numbers *seen, uint64_t number,
		    uint64_t lost)
{
	struct ncs_part part = { .number = number };

	ncs_numbers_note(seen, &part, lost);
	return part.flags & NCS_PART_ONCE;
}

TEST_WITH(number_counts_once_after_the_one_before_it, NULL, NULL)
{
	struct ncs_seen_numbers seen = { 0 };

	assert_true(is_once(&seen, 0, 0));
	assert_true(is_once(&seen, 1, 0));
	assert_false(is_once(&seen, 1, 0));
	assert_false(is_once(&seen, 5, 0));
	assert_true(is_once(&seen, 6, 0));
	/* Nearly in order. */
	assert_false(is_once(&seen, 8, 0));
	assert_true(is_once(&seen, 7, 0));
	assert_false(is_once(&seen, 8, 0));
	assert_true(is_once(&seen, 9, 0));
	assert_false(is_once(&seen, 5, 0));
	/* Records were lost. */
	assert_false(is_once(&seen, 10, 3));
	assert_true(is_once(&seen, 11, 3));
	/* A graph is replayed. */
	assert_false(is_once(&seen, 10, 3));
	assert_false(is_once(&seen, 11, 3));
	/* Far ahead, and from the begin again. */
	assert_false(is_once(&seen, 1000, 3));
	assert_true(is_once(&seen, 1001, 3));
	assert_true(is_once(&seen, 0, 3));
	assert_true(is_once(&seen, 1, 3));
	assert_false(is_once(&seen, 1001, 3));
	assert_true(is_once(&seen, 1002, 3));
	assert_false(is_once(&seen, UINT64_MAX - 1, 3));
}
