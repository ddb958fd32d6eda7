/* SPDX-License-Identifier: MIT */
/* Which launches are timed: all, as long as that is within the budget of a period of the
 * wall clock; else all from its begin on, on all ranks at once, and then one in so many. */
#include "test/unit/support/unit.h"

/* The plugin's objects are not linked to unit tests. */
#include "plugin/life/launch_level.c"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
/* The begin of a period. */
#define SOME_DAY (UINT64_C(170000000) * NCS_LAUNCH_PERIOD_NS)

struct ncs_launch_process ncs_launch_process;

/* Launches of a while, and how many of them are timed. */
struct while_timed {
	uint64_t launched, timed;
	uint64_t whole_ns; /* for which all were */
};

static uint64_t level(void)
{
	return NCS_LAUNCH_LEVEL(ncs_launch_process.timing);
}

/* Launches so many times a second for a while, with a look each 10 ms. */
static struct while_timed launch(uint64_t from_ns, uint64_t ns, uint64_t rate)
{
	struct while_timed did = { 0 };

	for (uint64_t at = 0; at < ns; at += 10 * MS) {
		uint64_t count = rate / 100;
		uint64_t timed = (count + (UINT64_C(1) << level()) / 2) >>
				 level();

		ncs_launch_level_choose(from_ns + at);
		if (level() == 0)
			did.whole_ns += 10 * MS;
		did.launched += count;
		did.timed += timed;
		ncs_launch_process.launches += count;
		ncs_launch_process.timed += timed;
	}
	return did;
}

static int set_up(void **state)
{
	(void)state;
	ncs_launch_process = (struct ncs_launch_process){ 0 };
	ncs_launch_level_reset(NCS_TIMING_DETAIL_AUTO);
	return 0;
}

UNIT_FIXTURE(set_up, NULL)

TEST(slow_launches_are_all_timed)
{
	struct while_timed did = launch(SOME_DAY, 60 * SECOND, 300);

	assert_int_equal(did.timed, did.launched);
	assert_int_equal(ncs_launch_process.sparse_level, 0);
}

TEST(fast_launches_are_timed_within_the_budget)
{
	static const uint64_t rates[] = { 500, 1000, 3000, 20000, 100000 };

	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		struct while_timed did;
		double share;

		set_up(NULL);
		did = launch(SOME_DAY, 60 * SECOND, rates[i]);
		share = (double)did.timed * (double)NCS_LAUNCH_COST_NS /
			(60. * (double)SECOND);
		if (share > 0.0022 || share < 0.0012)
			fail_msg("at %lu a second timing costs %g of the time",
				 (unsigned long)rates[i], share);
		assert_in_range(ncs_launch_process.sparse_level, 1, 40);
	}
}

TEST(a_stretch_is_timed_whole_from_the_begin_of_each_period)
{
	struct while_timed did;

	/* A process that begins in the middle of one is where others are in the next. */
	launch(SOME_DAY + 7 * SECOND, 3 * SECOND, 1000);
	for (unsigned i = 1; i < 4; i++) {
		uint64_t begin_ns = SOME_DAY + i * NCS_LAUNCH_PERIOD_NS;

		did = launch(begin_ns, 2800 * MS, 1000);
		assert_int_equal(did.whole_ns, 2800 * MS);
		did = launch(begin_ns + 2800 * MS, 7200 * MS, 1000);
		assert_in_range(did.whole_ns, 0, 100 * MS);
		assert_in_range(did.timed, 500, 1100);
	}
}

TEST(readers_are_told_one_level_in_a_stretch_and_after_it)
{
	uint64_t told;

	launch(SOME_DAY, 5 * SECOND, 4000);
	told = ncs_launch_process.sparse_level;
	assert_in_range(told, 1, 10);
	launch(SOME_DAY + 5 * SECOND, 5 * SECOND, 4000);
	launch(SOME_DAY + 10 * SECOND, 100 * MS, 4000);
	assert_int_equal(level(), 0);
	assert_int_equal(ncs_launch_process.sparse_level, told);
}

TEST(all_are_timed_again_once_launches_are_few)
{
	launch(SOME_DAY, 10 * SECOND, 4000);
	launch(SOME_DAY + 10 * SECOND, 10 * SECOND, 100);
	launch(SOME_DAY + 20 * SECOND, 100 * MS, 100);
	assert_int_equal(level(), 0);
	assert_int_equal(ncs_launch_process.sparse_level, 0);
}

TEST(a_clock_that_is_set_back_begins_a_period)
{
	struct while_timed did;

	launch(SOME_DAY + 3 * SECOND, 5 * SECOND, 4000);
	did = launch(SOME_DAY + 2 * SECOND, 8 * SECOND, 4000);
	assert_in_range(did.timed, 2800, 4000);
	ncs_launch_level_choose(SOME_DAY + 10 * SECOND);
	ncs_launch_level_choose(SOME_DAY + 10 * SECOND - 1);
	assert_int_equal(level(), 0);
}

TEST(what_was_asked_for_stays)
{
	ncs_launch_level_reset(NCS_TIMING_DETAIL_EVERY + 3);
	launch(SOME_DAY, 20 * SECOND, 10000);
	assert_int_equal(ncs_launch_process.timing,
			 NCS_LAUNCH_TIMING(NCS_TIMING_DETAIL_EVERY + 3, 3));
	ncs_launch_level_reset(NCS_TIMING_DETAIL_EVERY);
	launch(SOME_DAY + 20 * SECOND, 20 * SECOND, 10000);
	assert_int_equal(ncs_launch_process.timing,
			 NCS_LAUNCH_TIMING(NCS_TIMING_DETAIL_EVERY, 0));
	assert_int_equal(ncs_launch_process.sparse_level, 0);
}
