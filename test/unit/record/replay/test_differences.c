/* SPDX-License-Identifier: MIT */
/* Two jobs differ in a figure if it differs by more than twice its error; what takes
 * the most time comes first, and what one of them lacks is told. */
#include <stdlib.h>
#include <string.h>

#include "record/replay/differences.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define MS 1e6

/* Two jobs of 4 ranks and 10 s. */
struct jobs {
	struct ncs_recorded_job before, after;
	struct ncs_job_class classes[2][4];
	struct ncs_difference *found;
	size_t count;
};

static int begin(void **state)
{
	static struct jobs jobs;

	memset(&jobs, 0, sizeof(jobs));
	jobs.before = jobs.after = (struct ncs_recorded_job){
		.length_ns = 10 * SECOND,
		.ranks = 4,
	};
	jobs.before.classes = jobs.classes[0];
	jobs.after.classes = jobs.classes[1];
	*state = &jobs;
	return 0;
}

static int end(void **state)
{
	free(((struct jobs *)*state)->found);
	return 0;
}

/* Adds operations of all ranks: `each` of a rank, with this mean and spread of their
 * times. */
static void add(struct ncs_recorded_job *job, unsigned size_class,
		uint64_t each, double mean_ns, double spread_ns)
{
	double count = (double)each * 4;

	job->classes[job->class_count++] = (struct ncs_job_class){
		.function = NCS_FUNCTION_ALL_REDUCE,
		.size_class = size_class,
		.timing = NCS_TIMING_STREAM,
		.ranks = 4,
		.operations = each * 4,
		.timed = each * 4,
		.time_ns = count * mean_ns,
		.squares = count * (mean_ns * mean_ns + spread_ns * spread_ns),
	};
}

static void compare(struct jobs *jobs)
{
	jobs->count = ncs_jobs_compare(&jobs->before, &jobs->after,
				       &jobs->found);
	assert_non_null(jobs->found);
}

UNIT_FIXTURE(begin, end)

TEST(a_time_differs_by_more_than_twice_its_error)
{
	struct jobs *jobs = *state;

	/* Each mean has an error of 0.1 ms, their difference one of 0.14. */
	add(&jobs->before, 20, 101, 10 * MS, 1 * MS);
	add(&jobs->after, 20, 101, 10.2 * MS, 1 * MS);
	add(&jobs->before, 21, 101, 10 * MS, 1 * MS);
	add(&jobs->after, 21, 101, 10.5 * MS, 1 * MS);
	compare(jobs);
	assert_int_equal(jobs->count, 2);
	assert_int_equal(jobs->found[0].size_class, 21);
	assert_int_equal(jobs->found[0].kind, NCS_DIFFERENCE_TIME);
	assert_true(jobs->found[0].differs);
	assert_int_equal((int)(jobs->found[0].error / 1000 + 0.5), 141);
	assert_int_equal((int)(jobs->found[0].after / 1000 + 0.5), 10500);
	assert_false(jobs->found[1].differs);
}

/* Ranks are in the same operations: four say no more than one. */
TEST(more_ranks_make_no_error_smaller)
{
	struct jobs *jobs = *state;
	double of_four;

	add(&jobs->before, 20, 101, 10 * MS, 1 * MS);
	add(&jobs->after, 20, 101, 11 * MS, 1 * MS);
	compare(jobs);
	of_four = jobs->found[0].error;
	free(jobs->found);
	for (size_t side = 0; side < 2; side++) {
		struct ncs_job_class *class = &jobs->classes[side][0];

		class->ranks = 8;
		class->operations *= 2;
		class->timed *= 2;
		class->time_ns *= 2;
		class->squares *= 2;
	}
	compare(jobs);
	assert_true(jobs->found[0].error == of_four);
}

TEST(the_most_time_comes_first)
{
	struct jobs *jobs = *state;

	add(&jobs->before, 10, 100, 1 * MS, 0);
	add(&jobs->after, 10, 100, 2 * MS, 0);
	add(&jobs->before, 20, 100, 20 * MS, 0);
	add(&jobs->after, 20, 100, 25 * MS, 0);
	compare(jobs);
	assert_int_equal(jobs->found[0].size_class, 20);
	assert_int_equal(jobs->found[1].size_class, 10);
	/* 100 times 5 ms of 10 s. */
	assert_int_equal((int)(jobs->found[0].weight * 1000 + 0.5), 50);
}

TEST(the_error_of_one_operation_is_not_known)
{
	struct jobs *jobs = *state;

	add(&jobs->before, 20, 1, 10 * MS, 0);
	add(&jobs->after, 20, 1, 30 * MS, 0);
	compare(jobs);
	assert_true(jobs->found[0].error < 0);
	assert_false(jobs->found[0].differs);
}

TEST(operations_that_one_job_lacks_are_told)
{
	struct jobs *jobs = *state;

	add(&jobs->before, 20, 100, 1 * MS, 0);
	add(&jobs->after, 21, 50, 1 * MS, 0);
	compare(jobs);
	assert_int_equal(jobs->count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(jobs->found[i].kind, NCS_DIFFERENCE_COUNT);
		assert_true(jobs->found[i].differs);
	}
	assert_int_equal((int)jobs->found[0].before, 400);
	assert_int_equal((int)jobs->found[1].after, 200);
}

TEST(times_of_two_kinds_are_not_compared)
{
	struct jobs *jobs = *state;

	add(&jobs->before, 20, 100, 1 * MS, 0);
	add(&jobs->after, 20, 100, 2 * MS, 0);
	jobs->classes[1][0].timing = NCS_TIMING_PROXY;
	compare(jobs);
	assert_int_equal(jobs->count, 0);
}
