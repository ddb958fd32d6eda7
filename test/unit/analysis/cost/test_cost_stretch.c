/* SPDX-License-Identifier: MIT */
/* The stretch of a window whose launches have times: it is found where ranks begin and
 * end to time launches apart, some are missing in it, and others are timed now and then;
 * and what a late rank costs is told by it. */
#include <math.h>
#include <stdint.h>

#include "analysis/cost/cost.h"
#include "shm/hash.h"
#include "test/unit/support/simulator/sim_parts.h"
#include "test/unit/support/unit.h"

/* Ranks begin and end to time launches so far apart. */
#define APART_NS UINT64_C(7000000)

static struct sim_options some_options(void)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);

	options.fault = SIM_GPU;
	options.victim = 2;
	options.fault_size = 1.5;
	return options;
}

/* Returns when so many per cent of a job are over. */
static uint64_t moment_of(const struct sim_parts *job, unsigned percent)
{
	return SIM_BEGIN_NS +
	       (sim_parts_end_ns(job) - SIM_BEGIN_NS) / 100 * percent;
}

/* Whether a launch is timed in some way, on all ranks alike, beyond stretches. */
static bool is_chosen(const struct ncs_cost_part *part, unsigned one_in)
{
	return one_in > 0 && ncs_hash(part->number) % one_in == 0;
}

/* Leaves the times only to what is called from one moment to another, and to one launch
 * in so many. */
static void leave_times(struct sim_parts *job, uint64_t from_ns,
			uint64_t until_ns, unsigned one_in)
{
	for (size_t i = 0; i < job->count; i++) {
		struct ncs_cost_part *part = &job->parts[i];
		uint64_t late_ns =
			part->rank * APART_NS / job->job.options.ranks;

		if ((part->call_ns < from_ns + late_ns ||
		     part->call_ns >= until_ns + late_ns) &&
		    !is_chosen(part, one_in))
			part->begin_ns = part->end_ns = 0;
	}
}

/* Fails unless the parts are those of a stretch, but for what ranks differ by. */
static void assert_stretch(const struct ncs_cost_part *parts, size_t count,
			   uint64_t from_ns, uint64_t until_ns)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	size_t without = 0;

	for (size_t i = 0; i < count; i++) {
		without += parts[i].begin_ns == 0;
		if (parts[i].call_ns < first_ns)
			first_ns = parts[i].call_ns;
		if (parts[i].call_ns > last_ns)
			last_ns = parts[i].call_ns;
	}
	/* A step takes some 40 ms. */
	assert_in_range(first_ns, from_ns - APART_NS, from_ns + 5 * APART_NS);
	assert_in_range(last_ns, until_ns - 5 * APART_NS, until_ns + APART_NS);
	assert_in_range(without, 0, count / 40);
}

TEST(the_cost_of_a_rank_is_known_of_a_stretch)
{
	struct sim_options options = some_options();
	double share = sim_share(&options, 0);

	for (unsigned one_in = 0; one_in <= 4; one_in += 4) {
		struct sim_parts *job = sim_parts_new(&options);
		uint64_t from_ns = moment_of(job, 30);
		uint64_t until_ns = moment_of(job, 75);
		size_t count = job->count;
		const struct ncs_cost_of_rank *found;
		struct ncs_cost *cost;

		leave_times(job, from_ns, until_ns, one_in);
		assert_int_equal(ncs_cost_keep_stretch(job->parts, &count), 0);
		assert_stretch(job->parts, count, from_ns, until_ns);
		cost = ncs_cost_new(job->parts, count);
		assert_non_null(cost);
		assert_int_equal(ncs_cost_compute(cost, NCS_COST_EACH), 0);
		found = ncs_cost_find(cost, options.victim);
		assert_int_equal(found->unknown, NCS_COST_KNOWN);
		if (fabs(found->share - share) > 0.1 * share)
			fail_msg("told %g, truly %g", found->share, share);
		ncs_cost_free(cost);
		sim_parts_free(job);
	}
}

/* Where a record is lost now and then a stretch goes on. */
TEST(a_few_launches_without_times_do_not_end_a_stretch)
{
	struct sim_options options = some_options();
	struct sim_parts *job = sim_parts_new(&options);
	uint64_t from_ns = moment_of(job, 20), until_ns = moment_of(job, 80);
	size_t count = job->count;

	leave_times(job, from_ns, until_ns, 0);
	for (size_t i = 0; i < job->count; i++)
		if (job->parts[i].number % 97 == 0)
			job->parts[i].begin_ns = 0;
	assert_int_equal(ncs_cost_keep_stretch(job->parts, &count), 0);
	assert_stretch(job->parts, count, from_ns, until_ns);
	sim_parts_free(job);
}

TEST(of_two_stretches_alike_the_later_one_is_kept)
{
	struct sim_options options = some_options();
	struct sim_parts *job = sim_parts_new(&options);
	size_t count = job->count;

	for (size_t i = 0; i < job->count; i++) {
		struct ncs_cost_part *part = &job->parts[i];

		if ((part->call_ns > moment_of(job, 30) &&
		     part->call_ns < moment_of(job, 60)) ||
		    part->call_ns > moment_of(job, 91))
			part->begin_ns = 0;
	}
	assert_int_equal(ncs_cost_keep_stretch(job->parts, &count), 0);
	assert_stretch(job->parts, count, moment_of(job, 60),
		       moment_of(job, 91));
	sim_parts_free(job);
}

/* A rank without a plugin, or one whose launches are never timed, ends no stretch; nor do
 * losses of single ranks, which are made up. */
TEST(all_parts_stay_where_operations_have_times)
{
	struct sim_options options = some_options();
	struct sim_parts *job = sim_parts_new(&options);
	size_t count = job->count;

	for (size_t i = 0; i < job->count; i++)
		if (job->parts[i].rank == 1 ||
		    (job->parts[i].rank == 3 && job->parts[i].number % 5 == 0))
			job->parts[i].begin_ns = 0;
	assert_int_equal(ncs_cost_keep_stretch(job->parts, &count), 0);
	assert_int_equal(count, job->count);
	for (size_t i = 0; i < job->count; i++)
		job->parts[i].begin_ns = 0;
	assert_int_equal(ncs_cost_keep_stretch(job->parts, &count), 0);
	assert_int_equal(count, job->count);
	count = 0;
	assert_int_equal(ncs_cost_keep_stretch(job->parts, &count), 0);
	sim_parts_free(job);
}
