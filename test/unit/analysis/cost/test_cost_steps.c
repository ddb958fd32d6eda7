/* SPDX-License-Identifier: MIT */
/* Positions in the repeating steps of jobs whose program is known. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/cost/cost_window.h"
#include "test/unit/support/simulator/sim_parts.h"
#include "test/unit/support/unit.h"

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

TEST(equal_buckets_are_told_apart_by_gaps)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	struct ncs_cost_window window;

	make(&window, &options, 0);
	assert_one_class(&window, 4, 4);
	assert_same_positions(&window);
	ncs_cost_window_release(&window);
}

TEST(a_launch_now_and_then_does_not_move_positions)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	struct ncs_cost_window window;
	uint32_t without = 0;

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

TEST(ranks_whose_records_begin_later_have_the_same_positions)
{
	struct sim_options options = sim_plain(SIM_FSDP, 1);
	struct ncs_cost_window window;

	/* Rank 3 alone has the first operation. */
	make(&window, &options, 3);
	assert_one_class(&window, 4, 12);
	assert_same_positions(&window);
	ncs_cost_window_release(&window);
}

TEST(stages_of_a_pipeline_are_a_chain)
{
	struct sim_options options = sim_plain(SIM_PIPELINE, 1);
	struct ncs_cost_window window;
	size_t several = 0;

	make(&window, &options, 0);
	for (size_t i = 0; i < window.class_count; i++) {
		several += window.classes[i].rank_count > 1;
		assert_int_equal(window.classes[i].is_chain,
				 window.classes[i].rank_count > 1);
	}
	assert_int_equal(several, 1);
	ncs_cost_window_release(&window);
}

TEST(ranks_that_exchange_are_no_chain)
{
	struct sim_options options = sim_plain(SIM_MOE, 1);
	struct ncs_cost_window window;

	make(&window, &options, 0);
	assert_one_class(&window, 4, 9);
	assert_false(window.classes[0].is_chain);
	ncs_cost_window_release(&window);
}

TEST(a_root_that_broadcasts_buffers_does_what_the_others_do)
{
	struct sim_options options = sim_plain(SIM_BUFFERS, 1);
	struct ncs_cost_window window;

	make(&window, &options, 0);
	assert_one_class(&window, 4, 6);
	assert_same_positions(&window);
	ncs_cost_window_release(&window);
}

/* A barrier now and then, in which all meet, does not make it one of them. */
TEST(a_root_that_serves_the_others_does_what_none_does)
{
	struct sim_options options = sim_plain(SIM_SERVER, 1);
	struct ncs_cost_window window;

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
