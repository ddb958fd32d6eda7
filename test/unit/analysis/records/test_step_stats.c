/* SPDX-License-Identifier: MIT */
/* Tests of the statistics of steps: which waits a step has, how much each
 * record counts, and what is unknown when records are missing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/records/step_stats.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"
#include "tui/text/words.h"

#define SECOND UINT64_C(1000000000)

/* Ticks are ns. */
static const struct ncs_clock ns_clock = { .multiplier = UINT64_C(1) << 32 };

struct steps_fixture {
	struct ncs_steps *steps;
	struct ncs_record records[4096];
	size_t count;
};

static int setup(void **state)
{
	static struct steps_fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fixture.steps = ncs_steps_new();
	*state = &fixture;
	return fixture.steps ? 0 : -1;
}

static int teardown(void **state)
{
	struct steps_fixture *fixture = *state;

	ncs_steps_free(fixture->steps);
	return 0;
}

static struct ncs_record *put(struct steps_fixture *fixture, unsigned level,
			      uint32_t operation, uint64_t duration)
{
	struct ncs_record *record = &fixture->records[fixture->count++];

	*record = (struct ncs_record){
		.event = NCS_EVENT_PROXY_STEP,
		.flags =
			(uint8_t)(NCS_RECORD_SEND | NCS_RECORD_AT_LEVEL(level)),
		.operation = operation,
		.duration = duration,
	};
	return record;
}

static const struct ncs_steps_view *take(struct steps_fixture *fixture,
					 uint64_t lost)
{
	assert_int_equal(ncs_steps_take(fixture->steps, &ns_clock,
					fixture->records, fixture->count, lost),
			 0);
	fixture->count = 0;
	return ncs_steps_view(fixture->steps, true);
}

static void assert_near(double got, double wanted)
{
	if (fabs(got - wanted) > 1e-9 * (fabs(wanted) + 1))
		fail_msg("%.12g, not %.12g", got, wanted);
}

/* An error grows as Student's t does for so many operations. */
static void assert_error(double got, double standard, double student)
{
	double wanted = standard * student / NCS_ERRORS_95;

	if (fabs(got - wanted) > 1e-5 * wanted)
		fail_msg("%.12g, not %.12g", got, wanted);
}

UNIT_FIXTURE(setup, teardown)

TEST(waits_make_up_a_step)
{
	struct steps_fixture *fixture = *state;
	const struct ncs_steps_view *view;
	struct ncs_record *record;

	record = put(fixture, 0, 1, 100);
	record->delta[0] = 30;
	record->delta[1] = 80;
	/* A step without a peer wait, and one without any transitions. */
	record = put(fixture, 0, 1, 100);
	record->delta[1] = 60;
	put(fixture, 0, 1, 100);
	/* Deltas beyond the duration, as a damaged record may have them. */
	record = put(fixture, 0, 1, 100);
	record->delta[0] = UINT64_MAX;
	record->delta[1] = 1000;
	view = take(fixture, 0);
	assert_near(view->times[NCS_STEP_DURATION].total.value, 400);
	assert_near(view->times[NCS_STEP_FIRST_WAIT].total.value,
		    30 + 60 + 100 + 100);
	assert_near(view->times[NCS_STEP_FIRST_WAIT + 1].total.value, 50);
	assert_near(view->times[NCS_STEP_FIRST_WAIT + 2].total.value, 20 + 40);
	assert_near(view->times[NCS_STEP_FIRST_WAIT + 1].share.value, 0.125);
	assert_int_equal(ncs_step_state(true, NCS_STEP_FIRST_WAIT),
			 NCS_CHANNEL_SEND_GPU_WAIT);
	assert_int_equal(ncs_step_state(false, NCS_STEP_FIRST_WAIT + 2),
			 NCS_CHANNEL_RECV_GPU_WAIT);
	assert_null(ncs_steps_view(fixture->steps, false));
}

TEST(unsampled_steps_are_exact)
{
	struct steps_fixture *fixture = *state;
	const struct ncs_steps_view *view;

	for (uint32_t i = 1; i <= 100; i++)
		put(fixture, 0, i, i);
	view = take(fixture, 0);
	assert_int_equal(view->operations, 100);
	assert_int_equal(view->records, 100);
	assert_near(view->steps.value, 100);
	assert_near(view->steps.error, 0);
	assert_near(view->times[0].total.value, 5050);
	assert_near(view->times[0].total.error, 0);
	assert_near(view->times[0].mean.error, 0);
	assert_in_range((int)view->times[0].p99.value, 97, 101);
}

/* Other events, steps without a stop, and steps kept for being slow. */
TEST(slow_and_unfinished_steps_are_not_counted)
{
	struct steps_fixture *fixture = *state;
	const struct ncs_steps_view *view;

	put(fixture, NCS_LEVEL_SLOW, 7, 1000000);
	view = take(fixture, 0);
	assert_int_equal(view->slow, 1);
	assert_int_equal(view->records, 0);
	assert_true(view->times[0].mean.value < 0);
	put(fixture, 2, 1, 10);
	put(fixture, 2, 1, 30);
	put(fixture, 2, 1, 500)->event = NCS_EVENT_PROXY_OP;
	put(fixture, 2, 1, 500)->flags |= NCS_RECORD_MISSING_STOP;
	put(fixture, NCS_LEVEL_SLOW, 9, 1000000);
	view = take(fixture, 0);
	assert_int_equal(view->slow, 2);
	assert_int_equal(view->operations, 1);
	assert_int_equal(view->level, 2);
	assert_near(view->times[0].total.value, 4 * 40);
	assert_near(view->times[0].mean.value, 20);
}

/* An operation is one observation, in whatever order its records come. */
TEST(errors_come_from_sums_over_operations)
{
	struct steps_fixture *fixture = *state;
	const struct ncs_steps_view *view;

	for (unsigned pass = 0; pass < 3; pass++) {
		for (uint32_t i = 1; i <= 20; i++) {
			put(fixture, 3, i, i);
			put(fixture, 3, 21 - i, 21 - i);
		}
		view = take(fixture, 0);
	}
	assert_int_equal(view->operations, 20);
	assert_int_equal(view->records, 120);
	assert_near(view->times[0].total.value, 8 * 6 * 210);
	/* The squares of 1 to 20 sum to 2870. */
	assert_error(view->times[0].total.error, sqrt(8 * 7 * 36 * 2870.0),
		     2.093024);
	assert_near(view->times[0].mean.value, 10.5);
	assert_error(view->times[0].mean.error,
		     sqrt(8 * 7 * 36 * (2870 - 20 * 10.5 * 10.5) * 20 / 19) /
			     (8 * 120),
		     2.093024);
}

/* There are far more operations than are kept apart at a time. */
TEST(old_operations_make_room)
{
	struct steps_fixture *fixture = *state;
	const struct ncs_steps_view *view = NULL;

	for (unsigned pass = 0; pass < 50; pass++) {
		for (uint32_t i = 0; i < 1000; i++)
			put(fixture, 1, 1 + pass * 1000 + i, 100);
		view = take(fixture, 0);
	}
	assert_int_equal(view->operations, 50000);
	assert_near(view->times[0].total.value, 2 * 50000 * 100.0);
	assert_error(view->times[0].total.error, sqrt(2 * 50000 * 1e4),
		     1.960011);
	assert_near(view->times[0].mean.error, 0);
}

TEST(sampling_level_may_change)
{
	struct steps_fixture *fixture = *state;
	const struct ncs_steps_view *view;

	put(fixture, 0, 1, 100);
	put(fixture, 4, 2, 100);
	put(fixture, 0, 0, 100); /* of no known operation */
	view = take(fixture, 0);
	assert_int_equal(view->operations, 2);
	assert_near(view->steps.value, 1 + 16 + 1);
	assert_true(view->steps.error < 0);
	put(fixture, 4, 3, 100);
	view = take(fixture, 0);
	assert_error(view->steps.error, sqrt(2 * 16 * 15), 12.706205);
}

TEST(overwritten_records_make_totals_unknown)
{
	struct steps_fixture *fixture = *state;
	const struct ncs_steps_view *view;

	for (uint32_t i = 1; i <= 200; i++)
		put(fixture, 1, i, i);
	view = take(fixture, 12345); /* before the first refresh */
	assert_int_equal(ncs_steps_lost(fixture->steps), 0);
	assert_near(view->times[0].total.value, 2 * 20100);
	view = take(fixture, 2);
	assert_int_equal(ncs_steps_lost(fixture->steps), 2);
	assert_true(view->times[0].total.value < 0);
	assert_true(view->steps.value < 0);
	assert_near(view->times[0].mean.value, 100.5);
	assert_true(view->times[0].mean.error > 0);
	assert_true(view->times[0].p50.high > 0);
	view = take(fixture, 1); /* more than one in a hundred */
	assert_near(view->times[0].mean.value, 100.5);
	assert_true(view->times[0].mean.error < 0);
	assert_true(view->times[0].share.error < 0);
	assert_true(view->times[0].p50.high < 0);
}

/* Estimates of random records are finite numbers. */
TEST(hostile_records_do_no_harm)
{
	struct steps_fixture *fixture = *state;
	const struct ncs_steps_view *view;
	uint64_t seed = 1;

	for (unsigned pass = 0; pass < 8; pass++) {
		uint64_t *words = (uint64_t *)fixture->records;

		fixture->count =
			sizeof(fixture->records) / sizeof(fixture->records[0]);
		for (size_t i = 0; i < sizeof(fixture->records) / 8; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1;
			words[i] = seed >> seed % 61;
		}
		for (size_t i = 0; i < fixture->count; i++)
			fixture->records[i].event = NCS_EVENT_PROXY_STEP;
		take(fixture, seed);
	}
	for (unsigned send = 0; send < 2; send++) {
		view = ncs_steps_view(fixture->steps, send);
		assert_non_null(view);
		for (unsigned i = 0; i < NCS_STEP_TIMES; i++) {
			assert_true(isfinite(view->times[i].mean.value));
			assert_true(isfinite(view->times[i].mean.error));
			assert_true(isfinite(view->times[i].share.value));
			assert_true(view->times[i].p50.value >= 0);
			assert_true(view->times[i].p99.value >= 0);
		}
	}
}

/* --- In the model --------------------------------------------------------- */

TEST(model_adds_up_steps_since_its_first_update)
{
	static struct scripted scripted;
	struct scripted_rank *rank;
	const struct ncs_rank *seen;
	char text[512] = "";

	scripted_init(&scripted);
	rank = scripted_add(&scripted, 3);
	scripted_pass(&scripted, SECOND);
	seen = scripted_rank(&scripted, 3);
	assert_null(ncs_steps_view(seen->steps, true));
	for (uint32_t i = 0; i < 2 * 100; i++)
		rank->records[rank->record_count++] = (struct ncs_record){
			.event = NCS_EVENT_PROXY_STEP,
			.flags = NCS_RECORD_SEND | NCS_RECORD_AT_LEVEL(4),
			.operation = 1 + i / 2,
			.duration = 1000 + 10 * (i / 2),
			.delta = { 0, 500 },
		};
	scripted_pass(&scripted, 2 * SECOND);
	assert_int_equal(ncs_steps_view(seen->steps, true)->operations, 100);
	rank->record_count = 0;
	scripted_pass(&scripted, 3 * SECOND);
	assert_int_equal(ncs_steps_view(seen->steps, true)->operations, 100);
	ncs_append_steps(seen, true, text, sizeof(text));
	assert_string_equal(
		text, "mean 1.49us +-55ns, p50 1.48us (1.37us to 1.60us), p99"
		      " 1.96us (1.92us to ?), gpu 33.4+-1.2 %, peer 0.0 %,"
		      " network 66.6+-1.2 %; from 100 operations, 1/16 kept");
	/* Another process's segment of the same name begins anew. */
	rank->header.pid++;
	scripted_pass(&scripted, 4 * SECOND);
	assert_null(ncs_steps_view(scripted_rank(&scripted, 3)->steps, true));
	text[0] = '\0';
	ncs_append_steps(scripted_rank(&scripted, 3), true, text, sizeof(text));
	assert_string_equal(text, "");
	scripted_release(&scripted);
}
