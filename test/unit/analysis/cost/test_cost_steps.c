/* SPDX-License-Identifier: MIT */
/* Positions in the repeating steps of jobs whose program is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/cost/cost_window.h"
#include "test/unit/support/simulator/sim_parts.h"

/* Makes the window of a job, without its first `skipped` parts. */
static void make(struct ncs_cost_window *window,
		 const struct sim_options *options, size_t skipped)
{
	struct sim_parts *job = sim_parts_new(options);

	assert_int_equal(ncs_cost_window_make(window, job->parts + skipped,
					      job->count - skipped),
			 0);
	assert_int_equal(ncs_cost_find_steps(window), 0);
	sim_parts_free(job);
}

static void assert_one_class(const struct ncs_cost_window *window,
			     uint32_t ranks, uint32_t period)
{
	assert_int_equal(window->class_count, 1);
	assert_int_equal(window->classes[0].rank_count, ranks);
	assert_int_equal(window->classes[0].period, period);
}

/* All launches of an operation that have a position have the same. */
static void assert_same_positions(const struct ncs_cost_window *window)
{
	for (size_t i = 0; i < window->operation_count; i++) {
		const struct ncs_cost_operation *operation =
			&window->operations[i];
		uint32_t first = window->members[operation->first];

		for (uint32_t k = 1; k < operation->count; k++) {
			uint32_t other = window->members[operation->first + k];

			assert_int_equal(window->launches[first].position,
					 window->launches[other].position);
		}
	}
}

static void equal_buckets_are_told_apart_by_gaps(void **state)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	struct ncs_cost_window window;

	(void)state;
	make(&window, &options, 0);
	assert_one_class(&window, 4, 4);
	assert_same_positions(&window);
	ncs_cost_window_release(&window);
}

static void a_launch_now_and_then_does_not_move_positions(void **state)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	struct ncs_cost_window window;
	uint32_t without = 0;

	(void)state;
	options.barrier_period = 20;
	make(&window, &options, 0);
	assert_one_class(&window, 4, 4);
	assert_same_positions(&window);
	for (size_t i = 0; i < window.launch_count; i++) {
		const struct ncs_cost_launch *launch = &window.launches[i];

		without += launch->position == NCS_COST_NONE;
		if (i > 0 && launch[-1].rank == launch->rank &&
		    launch[-1].position != NCS_COST_NONE &&
		    launch->position != NCS_COST_NONE)
			assert_int_equal(launch->position,
					 (launch[-1].position + 1) % 4);
	}
	assert_int_equal(without, options.steps / 20 * 4);
	ncs_cost_window_release(&window);
}

static void
ranks_whose_records_begin_later_have_the_same_positions(void **state)
{
	struct sim_options options = sim_plain(SIM_FSDP, 1);
	struct ncs_cost_window window;

	(void)state;
	/* Rank 3 alone has the first operation. */
	make(&window, &options, 3);
	assert_one_class(&window, 4, 12);
	assert_same_positions(&window);
	ncs_cost_window_release(&window);
}

static void stages_of_a_pipeline_are_a_chain(void **state)
{
	struct sim_options options = sim_plain(SIM_PIPELINE, 1);
	struct ncs_cost_window window;
	size_t several = 0;

	(void)state;
	make(&window, &options, 0);
	for (size_t i = 0; i < window.class_count; i++) {
		several += window.classes[i].rank_count > 1;
		assert_int_equal(window.classes[i].is_chain,
				 window.classes[i].rank_count > 1);
	}
	assert_int_equal(several, 1);
	ncs_cost_window_release(&window);
}

static void ranks_that_exchange_are_no_chain(void **state)
{
	struct sim_options options = sim_plain(SIM_MOE, 1);
	struct ncs_cost_window window;

	(void)state;
	make(&window, &options, 0);
	assert_one_class(&window, 4, 9);
	assert_false(window.classes[0].is_chain);
	ncs_cost_window_release(&window);
}

static void a_root_that_broadcasts_buffers_does_what_the_others_do(void **state)
{
	struct sim_options options = sim_plain(SIM_BUFFERS, 1);
	struct ncs_cost_window window;

	(void)state;
	make(&window, &options, 0);
	assert_one_class(&window, 4, 6);
	assert_same_positions(&window);
	ncs_cost_window_release(&window);
}

/* A barrier now and then, in which all meet, does not make it one of them. */
static void a_root_that_serves_the_others_does_what_none_does(void **state)
{
	struct sim_options options = sim_plain(SIM_SERVER, 1);
	struct ncs_cost_window window;

	(void)state;
	for (unsigned period = 0; period <= 20; period += 20) {
		options.barrier_period = period;
		make(&window, &options, 0);
		assert_int_equal(window.class_count, 2);
		assert_int_equal(window.classes[0].rank_count, 1);
		assert_int_equal(window.classes[0].ranks[0], 0);
		assert_int_equal(window.classes[1].rank_count, 3);
		ncs_cost_window_release(&window);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_buckets_are_told_apart_by_gaps),
		cmocka_unit_test(a_launch_now_and_then_does_not_move_positions),
		cmocka_unit_test(
			ranks_whose_records_begin_later_have_the_same_positions),
		cmocka_unit_test(stages_of_a_pipeline_are_a_chain),
		cmocka_unit_test(ranks_that_exchange_are_no_chain),
		cmocka_unit_test(
			a_root_that_broadcasts_buffers_does_what_the_others_do),
		cmocka_unit_test(
			a_root_that_serves_the_others_does_what_none_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
