/* SPDX-License-Identifier: MIT */
/* Tests of estimates from a sample and their intervals: they are exact if
 * nothing was left out, and else contain the truth as often as they claim. The
 * sample is the plugin's own; a sampler of every 32nd operation must fail the
 * same test. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/estimate.h"
#include "plugin/state/sample_choice.h"
#include "test/unit/support/unit.h"

/* --- Small samples, by hand ----------------------------------------------- */

static void assert_near(double got, double wanted)
{
	if (fabs(got - wanted) > 1e-9 * (fabs(wanted) + 1))
		fail_msg("%.12g, not %.12g", got, wanted);
}

static void add(struct ncs_distribution *distribution, double weight,
		const uint32_t *counts, unsigned first, unsigned last)
{
	assert_int_equal(ncs_distribution_reserve(distribution, counts, first,
						  last),
			 0);
	ncs_distribution_change(distribution, 1, weight, counts, first, last);
}

TEST(estimates_of_no_values_are_unknown)
{
	static struct ncs_distribution distribution;
	struct ncs_sums sums = { 0 };

	assert_near(ncs_estimate_total_y(&sums).value, 0);
	assert_true(ncs_estimate_ratio(&sums).value < 0);
	assert_true(ncs_estimate_ratio(&sums).error < 0);
	assert_true(ncs_estimate_quantile(&distribution, 0.5).value < 0);
}

TEST(unsampled_values_have_no_error)
{
	static struct ncs_distribution distribution;
	struct ncs_sums sums = { 0 };
	struct ncs_quantile quantile;

	for (unsigned i = 1; i <= 100; i++) {
		ncs_sums_change(&sums, 1, 1, i, 1);
		ncs_distribution_count(&distribution, ncs_histogram_bucket(i));
	}
	assert_near(ncs_estimate_total_y(&sums).value, 5050);
	assert_near(ncs_estimate_total_y(&sums).error, 0);
	assert_near(ncs_estimate_total_x(&sums).value, 100);
	assert_near(ncs_estimate_ratio(&sums).value, 50.5);
	assert_near(ncs_estimate_ratio(&sums).error, 0);
	quantile = ncs_estimate_quantile(&distribution, 0.2);
	assert_near(quantile.value, 20);
	assert_near(quantile.low, 20);
	assert_near(quantile.high, 21);
	quantile = ncs_estimate_quantile(&distribution, 1);
	assert_true(quantile.low <= 100 && quantile.high > 100);
}

/* Two clusters of weights 2 and 4. Student's t with one degree of freedom is
 * 12.706. */
TEST(estimates_equal_the_textbook_formulas)
{
	struct ncs_sums sums = { 0 };
	double mean = (2 * 10 + 4 * 30) / (2 * 2 + 4 * 3.0);
	double few = 12.706205 / NCS_ERRORS_95;

	ncs_sums_change(&sums, 1, 2, 10, 2);
	ncs_sums_change(&sums, 1, 4, 30, 3);
	assert_near(ncs_estimate_total_y(&sums).value, 140);
	assert_near(ncs_estimate_total_y(&sums).error,
		    few * sqrt(2 * 1 * 100 + 4 * 3 * 900));
	assert_near(ncs_estimate_total_x(&sums).error,
		    few * sqrt(2 * 1 * 4 + 4 * 3 * 9));
	assert_near(ncs_estimate_ratio(&sums).value, mean);
	assert_near(ncs_estimate_ratio(&sums).error,
		    few * sqrt(2) *
			    sqrt(2 * 1 * pow(10 - mean * 2, 2) +
				 4 * 3 * pow(30 - mean * 3, 2)) /
			    16);
	ncs_sums_change(&sums, -1, 2, 10, 2);
	assert_true(ncs_estimate_ratio(&sums).value > 0);
	assert_true(ncs_estimate_ratio(&sums).error < 0);
	assert_true(ncs_estimate_total_y(&sums).error < 0);
	ncs_sums_change(&sums, -1, 4, 30, 3);
	assert_near(ncs_estimate_total_y(&sums).value, 0);
	assert_near(ncs_estimate_total_y(&sums).error, 0);
}

TEST(removed_clusters_leave_no_trace)
{
	static struct ncs_distribution distribution, before;
	static uint32_t counts[NCS_HISTOGRAM_BUCKETS];

	counts[7] = 3;
	counts[11] = 5;
	add(&distribution, 8, counts, 7, 11);
	add(&before, 8, counts, 7, 11);
	counts[9] = 1000;
	add(&distribution, 16384, counts, 7, 11);
	ncs_distribution_change(&distribution, -1, 16384, counts, 7, 11);
	assert_near(distribution.total, before.total);
	assert_near(distribution.total_square, before.total_square);
	for (double fraction = 0; fraction <= 1; fraction += 0.125) {
		struct ncs_quantile now, then;

		now = ncs_estimate_quantile(&distribution, fraction);
		then = ncs_estimate_quantile(&before, fraction);
		assert_memory_equal(&now, &then, sizeof(now));
	}
	ncs_distribution_release(&distribution);
	ncs_distribution_release(&before);
}

/* Ten operations that are all alike say nothing about the slowest in 100. */
TEST(few_equal_clusters_leave_the_tail_unknown)
{
	static struct ncs_distribution distribution;
	static uint32_t counts[NCS_HISTOGRAM_BUCKETS];
	struct ncs_quantile quantile;

	counts[20] = 4;
	for (unsigned i = 0; i < 10; i++)
		add(&distribution, 16, counts, 20, 20);
	quantile = ncs_estimate_quantile(&distribution, 0.99);
	assert_near(quantile.value, 20);
	assert_true(quantile.low < 0 && quantile.high < 0);
	quantile = ncs_estimate_quantile(&distribution, 0.5);
	assert_near(quantile.low, 20);
	assert_near(quantile.high, 21);
	for (unsigned i = 0; i < 240; i++)
		add(&distribution, 16, counts, 20, 20);
	assert_true(ncs_estimate_quantile(&distribution, 0.99).high > 0);
}

/* The error is that of the share of values up to the end of a bucket. All
 * values lie before the end of the last one, yet the quantile need not be in
 * it. */
TEST(quantile_in_the_last_bucket_is_not_certain)
{
	static struct ncs_distribution distribution;
	static uint32_t counts[NCS_HISTOGRAM_BUCKETS];
	struct ncs_quantile quantile;

	counts[10] = 1;
	for (unsigned i = 0; i < 270; i++)
		add(&distribution, 16, counts, 10, 10);
	counts[10] = 0;
	counts[20] = 1;
	for (unsigned i = 0; i < 30; i++)
		add(&distribution, 16, counts, 20, 20);
	quantile = ncs_estimate_quantile(&distribution, 0.91);
	assert_near(quantile.value, 20);
	assert_near(quantile.low, 10);
	assert_near(quantile.high, 21);
}

/* --- Coverage of intervals ------------------------------------------------ */

#define RUNS 1000
#define JOBS 10 /* RUNS / JOBS samples of each */
#define OPERATIONS 19200
#define STEPS 4 /* at least, of an operation */
#define STEPS_MAX 8
#define PERIOD 96 /* operations of a training step */
#define LEVEL 5   /* one in 32 */

/* A training job: operations that recur in each step, some of which are many
 * times longer than the rest. Steps of one operation take similar times. */
struct estimated_job {
	unsigned steps[OPERATIONS];
	uint32_t ns[OPERATIONS][STEPS_MAX];
	double total, mean;
	double p50_low, p50_high, p99_low,
		p99_high; /* bounds of their buckets */
};

static double uniform(uint64_t *seed)
{
	*seed = ncs_hash(*seed);
	return (double)(*seed >> 11) / (double)(UINT64_C(1) << 53);
}

static int compare(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void set_quantile(const uint32_t *sorted, size_t count, double fraction,
			 double *low, double *high)
{
	unsigned bucket = ncs_histogram_bucket(
		sorted[(size_t)ceil((double)count * fraction) - 1]);

	*low = (double)ncs_histogram_low(bucket);
	*high = (double)ncs_histogram_low(bucket + 1);
}

/* `slow` is the time of the few operations that differ. */
static void make_job(struct estimated_job *job, uint64_t seed, double slow_ns)
{
	static uint32_t sorted[OPERATIONS * STEPS_MAX];
	size_t count = 0;

	job->total = 0;
	for (unsigned i = 0; i < OPERATIONS; i++) {
		unsigned place = i % PERIOD;
		double base = place % 32 == 0 ? slow_ns :
						    10e3 + 100.0 * place;
		double own = exp(0.5 * (uniform(&seed) - 0.5));

		job->steps[i] = STEPS + place % (STEPS_MAX - STEPS + 1);
		for (unsigned k = 0; k < job->steps[i]; k++) {
			double ns = base * own * (0.8 - log(uniform(&seed)));

			job->ns[i][k] = (uint32_t)ns;
			job->total += (uint32_t)ns;
			sorted[count++] = (uint32_t)ns;
		}
	}
	job->mean = job->total / (double)count;
	qsort(sorted, count, sizeof(sorted[0]), compare);
	set_quantile(sorted, count, 0.50, &job->p50_low, &job->p50_high);
	set_quantile(sorted, count, 0.99, &job->p99_low, &job->p99_high);
}

/* Number of runs whose interval contained the truth. */
struct coverage {
	unsigned total, mean, p50, p99;
	double p50_width,
		p99_width; /* of the interval, relative to the value */
};

static bool covers(struct ncs_estimate estimate, double truth)
{
	return fabs(estimate.value - truth) <= NCS_ERRORS_95 * estimate.error;
}

static void take_operation(const struct estimated_job *job, unsigned i,
			   struct ncs_sums *sums,
			   struct ncs_distribution *distribution)
{
	static uint32_t counts[NCS_HISTOGRAM_BUCKETS];
	unsigned first = NCS_HISTOGRAM_BUCKETS, last = 0;
	double ns = 0;

	for (unsigned k = 0; k < job->steps[i]; k++) {
		unsigned bucket = ncs_histogram_bucket(job->ns[i][k]);

		counts[bucket]++;
		first = bucket < first ? bucket : first;
		last = bucket > last ? bucket : last;
		ns += job->ns[i][k];
	}
	ncs_sums_change(sums, 1, 1 << LEVEL, ns, job->steps[i]);
	add(distribution, 1 << LEVEL, counts, first, last);
	for (unsigned k = 0; k < job->steps[i]; k++)
		counts[ncs_histogram_bucket(job->ns[i][k])] = 0;
}

/* Returns true if a run keeps an operation. */
typedef bool sampler(unsigned run, unsigned operation);

static bool by_hash(unsigned run, unsigned operation)
{
	return ncs_sample_is_kept(
		ncs_sample_hash(ncs_hash(run), 4,
				ncs_sample_collective(operation, 0)),
		LEVEL);
}

static bool every_32nd(unsigned run, unsigned operation)
{
	return operation % (1 << LEVEL) == run % (1 << LEVEL);
}

static void run(const struct estimated_job *job, unsigned number,
		sampler *is_kept, struct coverage *coverage)
{
	static struct ncs_distribution distribution;
	struct ncs_sums sums = { 0 };
	struct ncs_quantile p50, p99;

	ncs_distribution_release(&distribution);
	for (unsigned i = 0; i < OPERATIONS; i++)
		if (is_kept(number, i))
			take_operation(job, i, &sums, &distribution);
	coverage->total += covers(ncs_estimate_total_y(&sums), job->total);
	coverage->mean += covers(ncs_estimate_ratio(&sums), job->mean);
	p50 = ncs_estimate_quantile(&distribution, 0.50);
	p99 = ncs_estimate_quantile(&distribution, 0.99);
	coverage->p50 += p50.low <= job->p50_low && p50.high >= job->p50_high;
	coverage->p99 += p99.low <= job->p99_low && p99.high >= job->p99_high;
	coverage->p50_width += (p50.high - p50.low) / p50.value / RUNS;
	coverage->p99_width += (p99.high - p99.low) / p99.value / RUNS;
}

static struct coverage cover(sampler *is_kept)
{
	static struct estimated_job job;
	struct coverage coverage = { 0 };

	for (unsigned i = 0; i < RUNS; i++) {
		if (i % (RUNS / JOBS) == 0)
			make_job(&job, i, 60e3);
		run(&job, i, is_kept, &coverage);
	}
	print_message("of %u: total %u, mean %u, p50 %u (%.1f %% wide),"
		      " p99 %u (%.1f %% wide)\n",
		      RUNS, coverage.total, coverage.mean, coverage.p50,
		      100 * coverage.p50_width, coverage.p99,
		      100 * coverage.p99_width);
	return coverage;
}

static bool is_as_often_as_it_says(unsigned count)
{
	return count >= RUNS * 930 / 1000 && count <= RUNS * 975 / 1000;
}

/* Bounds are those of buckets, so they may cover the truth more often. */
static bool is_at_least_as_often(unsigned count)
{
	return count >= RUNS * 930 / 1000;
}

TEST(intervals_contain_the_truth_in_95_percent)
{
	struct coverage coverage = cover(by_hash);

	assert_true(is_as_often_as_it_says(coverage.total));
	assert_true(is_as_often_as_it_says(coverage.mean));
	assert_true(is_at_least_as_often(coverage.p50));
	assert_true(is_at_least_as_often(coverage.p99));
	/* Very wide bounds would contain everything. */
	assert_true(coverage.p50_width < 0.25);
	assert_true(coverage.p99_width < 0.5);
}

/* The first operations of a job, as if it had no others. */
static double mean_of(const struct estimated_job *job, unsigned operations,
		      double *total)
{
	unsigned steps = 0;

	*total = 0;
	for (unsigned i = 0; i < operations; i++) {
		for (unsigned k = 0; k < job->steps[i]; k++)
			*total += job->ns[i][k];
		steps += job->steps[i];
	}
	return *total / steps;
}

/* Returns the share of samples with an error whose interval has the truth; of
 * the sum, and of the mean. */
static void cover_few(const struct estimated_job *job, unsigned kept,
		      double *total, double *mean)
{
	static struct ncs_distribution distribution;
	unsigned operations = kept << LEVEL, runs = 0;
	unsigned totals = 0, means = 0;
	double truth, true_mean = mean_of(job, operations, &truth);

	for (unsigned number = 0; number < RUNS; number++) {
		struct ncs_sums sums = { 0 };

		ncs_distribution_release(&distribution);
		for (unsigned i = 0; i < operations; i++)
			if (by_hash(number + RUNS * kept, i))
				take_operation(job, i, &sums, &distribution);
		if (ncs_estimate_total_y(&sums).error <= 0)
			continue;
		runs++;
		totals += covers(ncs_estimate_total_y(&sums), truth);
		means += covers(ncs_estimate_ratio(&sums), true_mean);
	}
	*total = (double)totals / runs;
	*mean = (double)means / runs;
	print_message("%u kept: total %.3f, mean %.3f of %u\n", kept, *total,
		      *mean, runs);
}

TEST(few_operations_have_wider_intervals)
{
	static const unsigned kept[] = { 5, 8, 12, 20, 40 };
	static struct estimated_job job;
	double total, mean, totals = 0, means = 0;
	unsigned count = sizeof(kept) / sizeof(kept[0]);

	make_job(&job, 1, 20e3);
	for (unsigned i = 0; i < count; i++) {
		cover_few(&job, kept[i], &total, &mean);
		assert_true(total > 0.925);
		assert_true(mean > 0.905 && mean < 0.97);
		totals += total / count;
		means += mean / count;
	}
	assert_true(totals > 0.94);
	assert_true(means > 0.93);
}

TEST(every_32nd_operation_fails_as_a_sample)
{
	struct coverage coverage = cover(every_32nd);

	assert_false(is_as_often_as_it_says(coverage.total));
	assert_false(is_as_often_as_it_says(coverage.mean));
	assert_false(is_at_least_as_often(coverage.p50));
	assert_false(is_at_least_as_often(coverage.p99));
}

/* --- The sample ----------------------------------------------------------- */

TEST(levels_nest_and_halve)
{
	unsigned kept[15] = { 0 };

	for (uint64_t i = 0; i < 1 << 18; i++) {
		uint64_t hash =
			ncs_sample_hash(0x123, 4, ncs_sample_collective(i, 0));
		bool before = true;

		for (unsigned level = 0; level < 15; level++) {
			bool now = ncs_sample_is_kept(hash, level);

			assert_true(before || !now);
			kept[level] += now;
			before = now;
		}
	}
	assert_int_equal(kept[0], 1 << 18);
	for (unsigned level = 1; level < 15; level++) {
		double expected = (1 << 18) >> level;

		if (fabs(kept[level] - expected) > 4 * sqrt(expected))
			fail_msg("level %u: %u, not %g", level, kept[level],
				 expected);
	}
}

/* A quarter of 4096 operations is kept, whether they differ in the repeat, the
 * pair of ranks, the place of a transfer, or the communicator. */
TEST(hash_depends_on_every_part_of_an_ordinal)
{
	unsigned kept[4] = { 0 };

	for (unsigned i = 0; i < 4096; i++) {
		int from = (int)(i / 64), to = (int)(i % 64);

		kept[0] += ncs_sample_is_kept(
			ncs_sample_hash(1, 4, ncs_sample_collective(7, i)), 2);
		kept[1] += ncs_sample_is_kept(
			ncs_sample_hash(1, 12,
					ncs_sample_transfer(from, to, 0)),
			2);
		kept[2] += ncs_sample_is_kept(
			ncs_sample_hash(1, 12, ncs_sample_transfer(3, 5, i)),
			2);
		kept[3] += ncs_sample_is_kept(
			ncs_sample_hash(i, 4, ncs_sample_collective(7, 0)), 2);
	}
	for (unsigned i = 0; i < 4; i++)
		if (kept[i] < 1024 - 5 * 28 || kept[i] > 1024 + 5 * 28)
			fail_msg("%u: %u of 4096 kept at 1/4", i, kept[i]);
}
