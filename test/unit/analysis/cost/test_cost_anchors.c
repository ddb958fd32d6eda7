/* SPDX-License-Identifier: MIT */
/* The anchors that are found in jobs whose dependencies are known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/cost/cost_anchors.h"
#include "test/unit/support/simulator/sim_parts.h"
#include "test/unit/support/unit.h"

#define MS 1e6

struct found {
	struct ncs_cost_window window;
	struct ncs_cost_event_kind *kinds;
	size_t count;
};

/* Makes the window of a job, with its steps. */
static void make(struct found *found, const struct sim_options *options)
{
	struct sim_parts *job = sim_parts_new(options);

	assert_int_equal(ncs_cost_window_make(&found->window, job->parts,
					      job->count),
			 0);
	assert_int_equal(ncs_cost_find_steps(&found->window), 0);
	assert_int_equal(found->window.class_count, 1);
	sim_parts_free(job);
}

static void choose(struct found *found)
{
	assert_int_equal(ncs_cost_choose_anchors(&found->window, &found->kinds,
						 &found->count),
			 0);
}

static void find(struct found *found, const struct sim_options *options)
{
	make(found, options);
	choose(found);
}

static void release(struct found *found)
{
	ncs_cost_kinds_free(found->kinds, found->count);
	ncs_cost_window_release(&found->window);
}

/* Returns the kind of the n-th launch of a step of rank 0. */
static const struct ncs_cost_event_kind *
kind_of(const struct found *found, uint32_t n, enum ncs_cost_event event)
{
	const struct ncs_cost_class *class = &found->window.classes[0];
	/* Positions begin where the record does: with the job's first step. */
	uint32_t first = found->window.launches[0].position;

	return &found->kinds[ncs_cost_kind_index(
		class, (first + n) % class->period, event)];
}

static void assert_anchor(const struct found *found, uint32_t n,
			  enum ncs_cost_event event, enum ncs_cost_event anchor,
			  unsigned back, double work_ns)
{
	const struct ncs_cost_event_kind *kind = kind_of(found, n, event);

	assert_int_equal(kind->chosen.count, 1);
	assert_int_equal(kind->chosen.anchors[0].event, anchor);
	assert_int_equal(kind->chosen.anchors[0].back, back);
	assert_float_equal(kind->chosen.usual_ns[0], work_ns, work_ns / 10);
}

TEST(computing_goes_on_beside_buckets)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	struct found found;

	options.fault = SIM_GPU;
	options.fault_size = 1.2;
	find(&found, &options);
	assert_anchor(&found, 0, NCS_COST_READY, NCS_COST_CALL, 0, 9 * MS);
	/* Seen on the slow rank only: the others wait for it. */
	for (uint32_t i = 1; i < 4; i++)
		assert_anchor(&found, i, NCS_COST_READY, NCS_COST_READY, 1,
			      3.6 * MS);
	release(&found);
}

TEST(a_host_waits_for_the_step_or_goes_on)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	struct found found;

	find(&found, &options);
	assert_anchor(&found, 0, NCS_COST_CALL, NCS_COST_END, 1, 1.3 * MS);
	for (uint32_t i = 1; i < 4; i++)
		assert_anchor(&found, i, NCS_COST_CALL, NCS_COST_CALL, 1, 19e3);
	release(&found);
}

TEST(a_host_that_runs_ahead_waits_for_steps_before)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	struct found found;

	options.ahead = 2;
	find(&found, &options);
	/* The last launch of the step three steps before this one. */
	assert_anchor(&found, 0, NCS_COST_CALL, NCS_COST_END, 9, 1.3 * MS);
	release(&found);
}

TEST(a_layer_waits_for_the_operation_before)
{
	struct sim_options options = sim_plain(SIM_TENSOR, 1);
	struct found found;

	find(&found, &options);
	for (uint32_t i = 1; i < 4; i++)
		assert_anchor(&found, i, NCS_COST_READY, NCS_COST_END, 1,
			      (2 + 0.3 * i) * MS);
	release(&found);
}

TEST(uneven_experts_wait_for_the_exchange)
{
	struct sim_options options = sim_plain(SIM_MOE, 1);
	struct found found;

	find(&found, &options);
	assert_anchor(&found, 1, NCS_COST_READY, NCS_COST_END, 1, 2 * MS);
	assert_anchor(&found, 2, NCS_COST_READY, NCS_COST_END, 1, 1 * MS);
	release(&found);
}

TEST(a_late_host_follows_itself_and_the_others_their_gpus)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	const struct ncs_cost_event_kind *kind;
	struct found found;

	options.ahead = 2;
	options.fault = SIM_HOST;
	options.fault_size = 40 * MS;
	find(&found, &options);
	kind = kind_of(&found, 0, NCS_COST_CALL);
	assert_int_equal(kind->chosen.count, 2);
	assert_int_equal(kind->chosen.anchors[0].event, NCS_COST_CALL);
	assert_int_equal(kind->chosen.anchors[1].event, NCS_COST_END);
	assert_int_equal(kind->chosen.anchors[1].back, 9);
	for (uint32_t i = 0; i < 4; i++) {
		bool is_late = i == options.victim;

		assert_int_equal(kind->chosen.works_ns[i][0] >= 0, is_late);
		assert_int_equal(kind->chosen.works_ns[i][1] >= 0, !is_late);
	}
	/* Its GPU follows it: it is late, not slow. */
	kind = kind_of(&found, 0, NCS_COST_READY);
	assert_int_equal(kind->chosen.count, 2);
	assert_float_equal(kind->chosen.works_ns[options.victim][0], 9 * MS,
			   0.3 * MS);
	release(&found);
}

/* Has the first launches of a rank's steps begin some time after their calls, give or
 * take 0.6 ms, and earlier where the call is later: by more than half of what calls
 * differ by. */
static void hide_calls(struct ncs_cost_window *window, unsigned rank, double ns)
{
	const struct ncs_cost_rank *of = &window->ranks[rank];
	uint32_t position = window->launches[of->first].position, count = 0;
	double sum_ns = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t k = of->first + 1; k < of->first + of->count;
		     k++) {
			struct ncs_cost_launch *launch = &window->launches[k];
			double since_ns = launch->call_ns - launch[-1].end_ns;
			double chance = (double)(k * 2654435761u) / UINT32_MAX;

			if (launch->position != position)
				continue;
			if (pass == 0) {
				sum_ns += since_ns;
				count++;
				continue;
			}
			launch->begin_ns = launch->call_ns + ns +
					   0.58 * (sum_ns / count - since_ns) +
					   1.2 * MS * (chance - 0.5);
		}
}

/* A GPU that ranks share begins at times of its own, so that the end before explains
 * the begins of the late rank a little better than its calls do. */
TEST(a_gpu_follows_its_late_host_though_its_times_are_uneven)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	const struct ncs_cost_event_kind *kind;
	struct found found;

	options.ahead = 1;
	options.fault = SIM_HOST;
	options.fault_size = 40 * MS;
	options.noise = 0.1;
	options.buckets = 1;
	options.ranks = 2;
	make(&found, &options);
	hide_calls(&found.window, options.victim, 9 * MS);
	choose(&found);
	kind = kind_of(&found, 0, NCS_COST_READY);
	assert_int_equal(kind->chosen.count, 2);
	assert_int_equal(kind->chosen.anchors[0].event, NCS_COST_CALL);
	assert_float_equal(kind->chosen.works_ns[options.victim][0], 9 * MS,
			   1 * MS);
	release(&found);
}
