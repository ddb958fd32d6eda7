/* SPDX-License-Identifier: MIT */
/* Jobs whose truth is known, without their fault: what the critical path says of
 * the job without its straggler is the time of the same job that was made
 * without the fault, or the answer says that it cannot know.
 *
 * TRUTH_JOBS is the number of jobs. make check-long has more of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/path/critical_path.h"
#include "analysis/records/parts.h"
#include "shm/array.h"
#include "test/unit/support/truth_job.h"

#define MS UINT64_C(1000000)
#define LOOK_NS (20 * MS)

/* The largest error of the elapsed time, as a share of it. */
#define ERROR 0.05

#define OWNERS_MAX (TRUTH_RANKS_MAX * 4)

/* A job as a reader of its records knows it. */
struct truth_reader {
	const struct truth_options *options;
	struct ncs_join *join;
	struct ncs_parts *parts[OWNERS_MAX];
	struct ncs_path_owner owners[OWNERS_MAX];
	size_t owner_count;
};

static unsigned jobs(void)
{
	const char *text = getenv("TRUTH_JOBS");

	return text ? (unsigned)strtoul(text, NULL, 10) : 20;
}

static void add_owner(struct truth_reader *reader, size_t i,
		      const struct ncs_sample *sample)
{
	const struct ncs_identity *identity = &sample->snapshot->identity;
	uint32_t rank = sample->header->pid - 1000;
	uint32_t host = rank / reader->options->ranks_per_host;

	assert_true(i < OWNERS_MAX);
	reader->parts[i] = ncs_parts_new(sample->header, i);
	assert_non_null(reader->parts[i]);
	ncs_parts_set_clock(reader->parts[i], host, sample->clock_error_ns);
	assert_int_equal(ncs_join_expect(reader->join, identity->comm_id,
					 identity->rank),
			 0);
	reader->owners[i] = (struct ncs_path_owner){ rank, host };
	reader->owner_count = i + 1;
}

static void join_parts(struct truth_reader *reader, size_t i)
{
	const struct ncs_part *part;

	while ((part = ncs_parts_next(reader->parts[i])))
		assert_int_equal(ncs_join_add(reader->join, part), 0);
}

/* Reads what a job has recorded until a time. */
static void read_until(struct truth_reader *reader, struct ncs_source *source,
		       uint64_t now_ns)
{
	struct ncs_sample sample;

	assert_int_equal(source->begin(source, now_ns, NULL, 0), 0);
	for (size_t i = 0; source->next(source, &sample); i++) {
		if (i == reader->owner_count)
			add_owner(reader, i, &sample);
		assert_int_equal(ncs_parts_learn(reader->parts[i],
						 sample.snapshot),
				 0);
		assert_int_equal(ncs_parts_take(reader->parts[i],
						sample.records,
						sample.record_count, 0, now_ns),
				 0);
		ncs_parts_settle(reader->parts[i], now_ns);
		join_parts(reader, i);
	}
}

static void add_joined(struct truth_reader *reader, struct ncs_path *path)
{
	const struct ncs_joined *joined;

	while ((joined = ncs_join_next(reader->join)))
		assert_int_equal(
			ncs_path_add(path, joined, true, NCS_NO_STEP), 0);
}

/* Returns the time that a job took, and what it would take by a scenario. */
static void measure(const struct truth_options *options,
		    const struct ncs_scenario *scenario, double *elapsed_ns,
		    struct ncs_path_sum *without)
{
	struct truth_job *job = truth_job_new(options);
	struct ncs_source *source = truth_job_source(job);
	struct truth_reader reader = { .options = options,
				       .join = ncs_join_new(0) };
	uint64_t now_ns = truth_job_begin_ns(job);
	struct ncs_path *path;

	assert_non_null(reader.join);
	/* All segments are there from the beginning. */
	read_until(&reader, source, now_ns);
	path = ncs_path_new(&(struct ncs_path_options){
		.owners = reader.owners,
		.owner_count = reader.owner_count,
		.rank_count = options->ranks,
		.scenarios = scenario,
		.scenario_count = 1,
	});
	assert_non_null(path);
	while (now_ns < truth_job_end_ns(job) + LOOK_NS) {
		now_ns += LOOK_NS;
		read_until(&reader, source, now_ns);
	}
	for (size_t i = 0; i < reader.owner_count; i++) {
		ncs_parts_settle(reader.parts[i], UINT64_MAX);
		join_parts(&reader, i);
		ncs_parts_free(reader.parts[i]);
	}
	ncs_join_advance(reader.join, UINT64_MAX);
	add_joined(&reader, path);
	assert_int_equal(ncs_path_end(path), 0);
	*elapsed_ns = ncs_path_report(path)->measured_ns;
	*without = ncs_path_report(path)->sums[1];
	ncs_path_free(path);
	ncs_join_free(reader.join);
	truth_job_free(job);
}

static struct truth_options some_job(unsigned seed, enum truth_fault fault)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 6, 12, 32, 3 };
	struct truth_options options =
		truth_options(seed, fault, ranks[seed % 8],
			      seed / 7 % 2 ? 4 : TRUTH_RANKS_MAX);

	options.shape = seed % 2 ? TRUTH_TENSOR : TRUTH_DDP;
	options.communicators = 1 + seed / 5 % 4;
	options.steps = 30;
	options.fault_size = 1e7 * (1 + seed % 3);
	options.from_step = 1;
	options.each = fault != TRUTH_GPU && seed % 2 && seed / 17 % 2;
	if (fault == TRUTH_GPU)
		options.fault_size = 1.4 + 0.3 * (seed % 5);
	return options;
}

/* Returns 1 if the answer for a job is wrong, and says so. */
static unsigned judge(const struct truth_options *options, unsigned *known)
{
	struct truth_options healthy = *options;
	struct ncs_path_sum without, of_healthy;
	struct ncs_scenario scenario;
	double with_ns, true_ns;
	char text[32], why[128];

	snprintf(text, sizeof(text), "without:%u", options->victim);
	assert_true(ncs_scenario_parse(&scenario, text, why, sizeof(why)));
	healthy.fault = TRUTH_HEALTHY;
	measure(options, &scenario, &with_ns, &without);
	measure(&healthy, &scenario, &true_ns, &of_healthy);
	*known += without.is_known;
	if (!without.is_known ||
	    fabs(without.elapsed_ns - true_ns) <= ERROR * true_ns)
		return 0;
	print_message("seed %u: shape %d, transport %d, %u ranks, %u a host, %u"
		      " communicators, %u ahead, jitter %.2f, fault %d of %.0f"
		      " ms: %.1f ms without it of %.1f, truly %.1f\n",
		      (unsigned)options->seed, options->shape,
		      options->transport, options->ranks,
		      options->ranks_per_host, options->communicators,
		      options->ahead, options->jitter, options->fault,
		      options->fault_size / 1e6, without.elapsed_ns / 1e6,
		      with_ns / 1e6, true_ns / 1e6);
	return 1;
}

/* Judges jobs with a fault. Returns how many answers are known. */
static unsigned judge_jobs(enum truth_fault fault, bool is_pipeline)
{
	unsigned wrong = 0, known = 0;

	for (unsigned seed = 1; seed <= jobs(); seed++) {
		struct truth_options options = some_job(seed, fault);

		if (is_pipeline)
			options.shape = TRUTH_PIPELINE;
		wrong += judge(&options, &known);
	}
	print_message("%u of %u are known\n", known, jobs());
	assert_int_equal(wrong, 0);
	return known;
}

static void job_without_a_late_host_takes_what_it_truly_takes(void **state)
{
	(void)state;
	assert_true(10 * judge_jobs(TRUTH_HOST, false) >= 9 * jobs());
}

static void job_without_a_busy_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	assert_true(2 * judge_jobs(TRUTH_STREAM, false) >= jobs());
}

/* In DDP, the others' work before most buckets runs while they wait. */
static void job_without_a_slow_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	assert_true(3 * judge_jobs(TRUTH_GPU, false) >= jobs());
}

/* No stage of a pipeline is like another: what it does before sends and receives
 * counts as not known, wherever that may make the job longer. */
static void pipeline_without_a_late_stage_is_not_told_wrong(void **state)
{
	(void)state;
	judge_jobs(TRUTH_HOST, true);
	judge_jobs(TRUTH_STREAM, true);
	judge_jobs(TRUTH_GPU, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			job_without_a_late_host_takes_what_it_truly_takes),
		cmocka_unit_test(
			job_without_a_busy_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			job_without_a_slow_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			pipeline_without_a_late_stage_is_not_told_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
