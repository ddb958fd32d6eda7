/* SPDX-License-Identifier: MIT */
/* Tests of arrivals without a straggler: what is known of a GPU before whose work the
 * others have always waited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/path/critical_path.h"

#define MS UINT64_C(1000000)
#define START_NS (UINT64_C(1000) * MS)

#define RANKS 2u
#define LATE 1u

/* A job of two ranks: AllReduces one after another. */
struct late_job {
	struct ncs_path *path;
	uint32_t operations;
	uint64_t end_ns; /* of the latest one */
};

/* Adds an AllReduce. A rank's host calls so long after the end of the one before, and
 * its GPU works so long from then on. */
static void add_operation(struct late_job *job, const uint64_t host_ns[RANKS],
			  const uint64_t gpu_ns[RANKS])
{
	struct ncs_part parts[RANKS];
	struct ncs_joined joined = {
		.comm_id = 1,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.number = job->operations,
		.is_complete = true,
		.is_whole = true,
		.wait_rule = NCS_WAIT_FOR_ALL,
		.arrival = NCS_MOMENT_STREAM,
		.end = NCS_MOMENT_STREAM_END,
		.end_is_trusted = true,
		.count = RANKS,
		.parts = parts,
	};
	uint64_t end_ns = 0;

	for (uint32_t i = 0; i < RANKS; i++) {
		uint64_t call_ns = job->end_ns + host_ns[i];

		parts[i] = (struct ncs_part){
			.comm_id = 1,
			.rank = (int32_t)i,
			.nranks = RANKS,
			.owner = i,
			.peer = -1,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.operation = job->operations,
			.bytes = 1 << 20,
		};
		parts[i].at_ns[NCS_MOMENT_CALL] = call_ns;
		parts[i].at_ns[NCS_MOMENT_OPERATION] = call_ns;
		parts[i].at_ns[NCS_MOMENT_STREAM] = call_ns + gpu_ns[i];
		if (call_ns + gpu_ns[i] + MS > end_ns)
			end_ns = call_ns + gpu_ns[i] + MS;
	}
	for (uint32_t i = 0; i < RANKS; i++) {
		parts[i].at_ns[NCS_MOMENT_STREAM_END] = end_ns;
		parts[i].at_ns[NCS_MOMENT_LAST_END] = end_ns;
	}
	joined.first_end_ns = joined.turn_ns = end_ns;
	job->end_ns = end_ns;
	job->operations++;
	assert_int_equal(ncs_path_add(job->path, &joined, true, NCS_NO_STEP),
			 0);
}

/* Makes a job: at first, and then every so many operations, the late rank's GPU is as
 * fast as the other one, which has not waited. Returns what it takes without that
 * rank. */
static struct ncs_path_sum without_late(unsigned period, bool *is_shorter)
{
	static const struct ncs_path_owner owners[] = { { 0, 0 }, { 1, 0 } };
	static const uint64_t at_once[] = { MS / 100, MS / 100 };
	static const uint64_t late[] = { MS / 100, 10 * MS };
	static const uint64_t fast[] = { 5 * MS, 5 * MS };
	static const uint64_t slow[] = { 1 * MS, 9 * MS };
	struct late_job job = { .end_ns = START_NS };
	struct ncs_scenario scenario;
	struct ncs_path_sum sum;
	char why[128];

	assert_true(
		ncs_scenario_parse(&scenario, "without:1", why, sizeof(why)));
	job.path = ncs_path_new(&(struct ncs_path_options){
		.owners = owners,
		.owner_count = RANKS,
		.rank_count = RANKS,
		.scenarios = &scenario,
		.scenario_count = 1,
	});
	assert_non_null(job.path);
	for (unsigned i = 0; i < 100; i++) {
		if (i % period == 0) {
			add_operation(&job, at_once, fast);
			add_operation(&job, at_once, fast);
			add_operation(&job, late, fast);
		}
		add_operation(&job, at_once, slow);
	}
	assert_int_equal(ncs_path_end(job.path), 0);
	sum = ncs_path_report(job.path)->sums[1];
	*is_shorter = sum.elapsed_ns <
		      0.9 * ncs_path_report(job.path)->sums[0].elapsed_ns;
	ncs_path_free(job.path);
	return sum;
}

/* The other rank may have worked while it waited, or the GPU may be slow since. */
static void gpu_that_was_as_fast_long_ago_is_not_known(void **state)
{
	bool is_shorter;
	struct ncs_path_sum sum = without_late(1000, &is_shorter);

	(void)state;
	assert_false(sum.is_known);
	assert_true(is_shorter);
}

static void gpu_that_is_as_fast_again_and_again_is_known(void **state)
{
	bool is_shorter;
	struct ncs_path_sum sum = without_late(8, &is_shorter);

	(void)state;
	assert_true(sum.is_known);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpu_that_was_as_fast_long_ago_is_not_known),
		cmocka_unit_test(gpu_that_is_as_fast_again_and_again_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
