/* SPDX-License-Identifier: MIT */
/* Jobs without a rank: the gain is what the rank costs, by the same code as %COST, or not
 * known for the same reasons. Which costs are true: test_truth_cost.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/path/critical_path.h"
#include "test/unit/support/simulator/sim_parts.h"
#include "test/unit/support/unit.h"

/* Calls a function for each operation of a job of collectives. */
static void each_operation(const struct sim_parts *job,
			   void (*take)(void *context,
					const struct ncs_joined *joined),
			   void *context)
{
	struct sim_joined operation;

	for (size_t at = 0; sim_parts_join(job, &at, &operation);)
		take(context, &operation.joined);
}

static void keep(void *context, const struct ncs_joined *joined)
{
	struct ncs_path_owner owners[SIM_RANKS_MAX];

	for (uint32_t i = 0; i < SIM_RANKS_MAX; i++)
		owners[i] = (struct ncs_path_owner){ i, 0 };
	assert_true(ncs_without_takes(joined));
	assert_int_equal(ncs_without_add(context, joined, owners), 0);
}

static void follow(void *context, const struct ncs_joined *joined)
{
	assert_int_equal(ncs_path_add(context, joined, true, NCS_NO_STEP), 0);
}

/* The latest end of a part in a run with a change. */
static void note_end(void *context, size_t run, const struct ncs_part *part,
		     uint64_t arrival_ns, uint64_t end_ns)
{
	uint64_t *latest_ns = context;

	(void)part;
	assert_true(arrival_ns <= end_ns);
	if (run == 1 && end_ns > *latest_ns)
		*latest_ns = end_ns;
}

/* A job with and without a rank. */
struct left_out {
	struct ncs_path_sum before, after;
	struct ncs_cost_of_rank cost;
	double last_ns; /* from the first call to the last end, by its parts */
};

static struct left_out leave_out(const struct sim_parts *job,
				 const char *change)
{
	struct ncs_path_owner owners[SIM_RANKS_MAX];
	struct ncs_without *without = ncs_without_new();
	struct ncs_scenario scenario;
	struct left_out left;
	struct ncs_path *path;
	uint64_t latest_ns = 0;
	char why[128];

	assert_non_null(without);
	assert_true(ncs_scenario_parse(&scenario, change, why, sizeof(why)));
	for (uint32_t i = 0; i < job->job.options.ranks; i++)
		owners[i] = (struct ncs_path_owner){ i, 0 };
	each_operation(job, keep, without);
	assert_int_equal(ncs_without_compute(without, &scenario, 1), 0);
	path = ncs_path_new(&(struct ncs_path_options){
		.owners = owners,
		.owner_count = job->job.options.ranks,
		.rank_count = job->job.options.ranks,
		.scenarios = &scenario,
		.scenario_count = 1,
		.without = without,
		.timed = note_end,
		.context = &latest_ns,
	});
	assert_non_null(path);
	each_operation(job, follow, path);
	assert_int_equal(ncs_path_end(path), 0);
	left.before = ncs_path_report(path)->sums[0];
	left.after = ncs_path_report(path)->sums[1];
	left.cost = *left.after.cost;
	left.last_ns = (double)latest_ns - ncs_path_report(path)->first_ns;
	ncs_path_free(path);
	ncs_without_free(without);
	return left;
}

static struct sim_parts *faulty(enum sim_shape shape, enum sim_fault fault,
				double size, unsigned steps)
{
	struct sim_options options = sim_plain(shape, 1);

	options.fault = fault;
	options.fault_size = size;
	options.steps = steps;
	return sim_parts_new(&options);
}

/* Returns what the victim of a job costs as the live view computes it. */
static struct ncs_cost_of_rank live_cost(const struct sim_parts *job)
{
	struct ncs_cost *cost = ncs_cost_new(job->parts, job->count);
	struct ncs_cost_of_rank found;

	assert_non_null(cost);
	assert_int_equal(ncs_cost_compute(cost, NCS_COST_EACH), 0);
	found = *ncs_cost_find(cost, job->job.options.victim);
	ncs_cost_free(cost);
	return found;
}

/* The operations of a job of steps of as many buckets. */
struct numbered {
	struct ncs_without *without;
	uint32_t operations, buckets;
};

static void number(void *context, const struct ncs_joined *joined)
{
	struct numbered *numbered = context;

	assert_int_equal(ncs_without_step(numbered->without, joined),
			 numbered->operations++ / numbered->buckets);
}

TEST(operations_have_the_steps_that_they_are_in)
{
	struct sim_parts *job = faulty(SIM_DDP, SIM_HEALTHY, 1, 40);
	struct numbered numbered = { ncs_without_new(), 0,
				     job->job.options.buckets };

	assert_non_null(numbered.without);
	each_operation(job, keep, numbered.without);
	assert_int_equal(ncs_without_compute(numbered.without, NULL, 0), 0);
	each_operation(job, number, &numbered);
	assert_int_equal(numbered.operations, 40 * job->job.options.buckets);
	ncs_without_free(numbered.without);
	sim_parts_free(job);
}

TEST(the_gain_is_what_the_rank_costs)
{
	static const struct {
		enum sim_shape shape;
		enum sim_fault fault;
		double size;
	} jobs[] = {
		{ SIM_DDP, SIM_GPU, 1.2 },
		{ SIM_DDP, SIM_HOST, 5e6 },
		{ SIM_TENSOR, SIM_GPU, 1.3 },
		{ SIM_FSDP, SIM_HOST, 5e6 },
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct sim_parts *job =
			faulty(jobs[i].shape, jobs[i].fault, jobs[i].size, 150);
		struct ncs_cost_of_rank cost = live_cost(job);
		struct left_out left = leave_out(job, "without:1");
		double gain_ns = left.before.elapsed_ns - left.after.elapsed_ns;

		assert_true(left.after.is_known);
		assert_true(cost.share > 0.05);
		assert_float_equal(gain_ns / cost.steps_ns, cost.share, 1e-9);
		assert_float_equal(cost.steps_ns / left.before.elapsed_ns, 1,
				   1e-3);
		assert_true(left.after.at_least_ns <= left.after.elapsed_ns);
		assert_true(left.after.at_most_ns >= left.after.elapsed_ns);
		sim_parts_free(job);
	}
}

/* But for the first steps, which stay as they are. */
TEST(its_parts_come_as_early_as_the_gain_tells)
{
	struct sim_parts *job = faulty(SIM_DDP, SIM_HOST, 5e6, 150);
	struct left_out left = leave_out(job, "without:1");

	assert_float_equal(left.last_ns / left.after.elapsed_ns, 1, 0.02);
	assert_true(left.last_ns > left.after.elapsed_ns);
	sim_parts_free(job);
}

TEST(its_time_is_the_sum_of_its_causes)
{
	struct sim_parts *job = faulty(SIM_DDP, SIM_HOST, 5e6, 150);
	struct left_out left = leave_out(job, "without:1");
	double causes_ns = 0;

	for (unsigned k = 0; k < NCS_PATH_CAUSE_COUNT; k++)
		causes_ns += left.after.cause_ns[k];
	assert_float_equal(causes_ns, left.after.elapsed_ns, 2);
	assert_true(left.after.cause_ns[NCS_PATH_HOST] <
		    0.5 * left.before.cause_ns[NCS_PATH_HOST]);
	sim_parts_free(job);
}

TEST(without_stragglers_there_is_no_late_rank)
{
	struct sim_parts *job = faulty(SIM_TENSOR, SIM_GPU, 1.3, 150);
	struct left_out one = leave_out(job, "without:1");
	struct left_out all = leave_out(job, "without:stragglers");
	struct left_out other = leave_out(job, "without:0");

	assert_true(all.after.is_known);
	assert_float_equal(all.after.elapsed_ns / one.after.elapsed_ns, 1,
			   0.02);
	assert_float_equal(other.after.elapsed_ns / other.before.elapsed_ns, 1,
			   0.01);
	sim_parts_free(job);
}

TEST(why_nothing_is_known_is_told)
{
	struct sim_parts *job = faulty(SIM_DDP, SIM_HOST, 5e6, 6);
	struct left_out left = leave_out(job, "without:1");

	assert_false(left.after.is_known);
	assert_int_equal(left.cost.unknown, NCS_COST_FEW_STEPS);
	assert_float_equal(left.after.elapsed_ns, left.before.elapsed_ns, 1);
	left = leave_out(job, "without:9");
	assert_false(left.after.is_known);
	assert_int_equal(left.cost.unknown, NCS_COST_NO_TIMES);
	sim_parts_free(job);
}
