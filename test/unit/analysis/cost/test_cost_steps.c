/* SPDX-License-Identifier: MIT */
/* Positions in the repeating steps of jobs whose program is known. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/cost/cost_window.h"
#include "ncclstat/abi_values.h"
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

/* Each rank has two communicators, of which another one comes first. */
TEST(communicators_are_told_apart_wherever_a_step_is_cut)
{
	struct sim_options options = sim_plain(SIM_TENSOR, 1);
	struct ncs_cost_window window;

	options.communicators = 2;
	for (size_t skipped = 0; skipped < 60; skipped++) {
		make(&window, &options, skipped);
		assert_int_equal(window.class_count, 1);
		assert_int_equal(window.classes[0].rank_count, 4);
		assert_same_positions(&window);
		ncs_cost_window_release(&window);
	}
}

#define STEPS 60u

/* Adds launches of a rank that it shares with none. A letter is the size, its case the
 * communicator. */
static void add_step(struct ncs_cost_part *parts, size_t *count, uint32_t rank,
		     const char *step)
{
	for (; *step; step++) {
		uint64_t number = *count;
		uint64_t at_ns = UINT64_C(1000000) * (1 + number);

		parts[(*count)++] = (struct ncs_cost_part){
			.comm_id = 2 * rank + (*step >= 'a'),
			.number = number,
			.bytes = (uint64_t)*step,
			.stream = 1,
			.call_ns = at_ns,
			.launched_ns = at_ns + 10000,
			.begin_ns = at_ns + 100000,
			.end_ns = at_ns + 200000,
			.rank = rank,
			.members = 1,
			.peer = -1,
			.function = NCS_FUNCTION_ALL_REDUCE,
		};
	}
}

TEST(a_rank_that_launches_a_little_more_names_communicators_alike)
{
	static struct ncs_cost_part parts[2 * STEPS * 5];
	struct ncs_cost_window window;
	size_t count = 0;

	for (uint32_t rank = 0; rank < 2; rank++)
		for (unsigned i = 0; i < STEPS; i++) {
			add_step(parts, &count, rank,
				 rank == 1 && i == 0 ? "CD" : "abCD");
			if (rank == 1 && i % 20 == 7)
				add_step(parts, &count, rank, "l");
		}
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	assert_int_equal(ncs_cost_find_steps(&window), 0);
	assert_one_class(&window, 2, 4);
	ncs_cost_window_release(&window);
}

/* Stages of a pipeline, one forward, one backward: a later stage has fewer microbatches
 * forward first. Rank 2 logs now and then, rank 3 begins later. */
TEST(ranks_of_unlike_steps_are_classes_of_their_own)
{
	static const char *const steps[] = { "rsrsxyxyRSRSD", "rsxyxyxyRSD" };
	static struct ncs_cost_part parts[4 * STEPS * 14];
	struct ncs_cost_window window;

	for (uint32_t ranks = 2; ranks <= 4; ranks += 2) {
		size_t count = 0;

		for (uint32_t rank = 0; rank < ranks; rank++)
			for (unsigned i = rank == 3 ? STEPS / 2 : 0; i < STEPS;
			     i++) {
				add_step(parts, &count, rank, steps[rank > 0]);
				if (rank == 2 && i % 20 == 7)
					add_step(parts, &count, rank, "l");
			}
		assert_int_equal(ncs_cost_window_make(&window, parts, count),
				 0);
		assert_int_equal(ncs_cost_find_steps(&window), 0);
		assert_int_equal(window.class_count, 2);
		assert_int_equal(window.classes[0].period, 13);
		assert_int_equal(window.classes[0].rank_count, 1);
		assert_int_equal(window.classes[1].period, 11);
		assert_int_equal(window.classes[1].rank_count, ranks - 1);
		ncs_cost_window_release(&window);
	}
}
