/* SPDX-License-Identifier: MIT */
/* Jobs whose truth is known, without their fault: what the critical path says of
 * the job without its straggler is the time of the same job that was made
 * without the fault, or between the bounds that are told, or the answer says that
 * it cannot know.
 *
 * truth_tally.h says how to make one of them again. */
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
#include "test/unit/support/truth_tally.h"

#define MS UINT64_C(1000000)
#define LOOK_NS (20 * MS)

/* The largest error of the elapsed time, as a share of it. */
#define ERROR 0.05

/* Number of jobs of each kind. */
#define JOBS 20u

#define OWNERS_MAX (TRUTH_RANKS_MAX * 4)

/* A job as a reader of its records knows it. */
struct truth_reader {
	const struct truth_options *options;
	struct ncs_join *join;
	struct ncs_parts *parts[OWNERS_MAX];
	struct ncs_path_owner owners[OWNERS_MAX];
	size_t owner_count;
};

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
		assert_int_equal(
			ncs_parts_learn(reader->parts[i], sample.snapshot), 0);
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
		assert_int_equal(ncs_path_add(path, joined, true, NCS_NO_STEP),
				 0);
}

/* Reads all of a job, and passes along its path. */
static void follow(struct ncs_path *path, struct truth_reader *reader,
		   struct truth_job *job)
{
	struct ncs_source *source = truth_job_source(job);
	uint64_t now_ns = truth_job_begin_ns(job);

	while (now_ns < truth_job_end_ns(job) + LOOK_NS) {
		now_ns += LOOK_NS;
		read_until(reader, source, now_ns);
	}
	for (size_t i = 0; i < reader->owner_count; i++) {
		ncs_parts_settle(reader->parts[i], UINT64_MAX);
		join_parts(reader, i);
		ncs_parts_free(reader->parts[i]);
	}
	ncs_join_advance(reader->join, UINT64_MAX);
	add_joined(reader, path);
	assert_int_equal(ncs_path_end(path), 0);
}

/* Makes a pass along a job's path: without a scenario, it learns the work of
 * stages. Returns the pass, to be freed. */
static struct ncs_path *pass(const struct truth_options *options,
			     const struct ncs_scenario *scenario,
			     struct ncs_path_works *works)
{
	struct truth_job *job = truth_job_new(options);
	struct truth_reader reader = { .options = options,
				       .join = ncs_join_new(0) };
	struct ncs_path *path;

	assert_non_null(reader.join);
	/* All segments are there from the beginning. */
	read_until(&reader, truth_job_source(job), truth_job_begin_ns(job));
	path = ncs_path_new(&(struct ncs_path_options){
		.owners = reader.owners,
		.owner_count = reader.owner_count,
		.rank_count = options->ranks,
		.scenarios = scenario,
		.scenario_count = scenario ? 1 : 0,
		.works = works,
		.learns = !scenario,
	});
	assert_non_null(path);
	follow(path, &reader, job);
	ncs_join_free(reader.join);
	truth_job_free(job);
	return path;
}

/* Returns the time that a job took, and what it would take by a scenario. */
static void measure(const struct truth_options *options,
		    const struct ncs_scenario *scenario, double *elapsed_ns,
		    struct ncs_path_sum *without)
{
	struct ncs_path_works *works = ncs_path_works_new(options->ranks);
	struct ncs_path *path;

	assert_non_null(works);
	ncs_path_free(pass(options, NULL, works));
	path = pass(options, scenario, works);
	*elapsed_ns = ncs_path_report(path)->measured_ns;
	*without = ncs_path_report(path)->sums[1];
	ncs_path_free(path);
	ncs_path_works_free(works);
}

/* A kind of jobs. */
struct truth_what_if {
	const char *name;
	enum truth_fault fault;
	enum truth_shape shape;
	bool alternates;
	/* Per cent of the answers that are known, at least, and that are known
	 * or have bounds. */
	unsigned known, told;
};

static struct truth_options some_job(unsigned seed,
				     const struct truth_what_if *kind)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 6, 12, 32, 3 };
	struct truth_options options =
		truth_options(seed, kind->fault, ranks[seed % 8],
			      seed / 7 % 2 ? 4 : TRUTH_RANKS_MAX);

	options.shape = kind->shape;
	options.communicators = 1 + seed / 5 % 4;
	options.steps = 30;
	options.fault_size = 1e7 * (1 + seed % 3);
	options.from_step = 1;
	options.each = kind->shape != TRUTH_DDP && seed / 17 % 2;
	if (kind->fault == TRUTH_GPU) {
		options.each = false;
		options.fault_size = 1.4 + 0.3 * (seed % 5);
	}
	return options;
}

static struct truth_options some_pipeline(unsigned seed,
					  const struct truth_what_if *kind)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 3, 6, 12 };
	static const unsigned hosts[] = { TRUTH_RANKS_MAX, 4, 1 };
	struct truth_options options = truth_options(
		seed, kind->fault, ranks[seed % 7], hosts[seed / 5 % 3]);

	options.shape = TRUTH_PIPELINE;
	options.alternates = kind->alternates;
	options.blocks = seed / 2 % 3 == 1;
	options.communicators = 1 + seed / 2 % 2;
	options.steps = 30;
	options.each = seed % 2;
	options.from_step = seed / 19 % 2;
	options.fault_size = (options.each ? 1e6 : 12e6) * (1 + seed % 3);
	if (kind->fault == TRUTH_GPU) {
		options.each = false;
		options.fault_size = 1.4 + 0.3 * (seed % 5);
	}
	return options;
}

static void print_job(const struct truth_options *options,
		      const struct ncs_path_sum *without, double with_ns,
		      double true_ns)
{
	print_message("seed %u: transport %d, %u ranks, %u a host, %u"
		      " communicators, %u ahead, jitter %.2f%s%s, rank %u %.1f"
		      "e6 from %u on: %.1f ms without it of %.1f, truly %.1f,"
		      " not known %.1f, between %.1f and %.1f\n",
		      (unsigned)options->seed, options->transport,
		      options->ranks, options->ranks_per_host,
		      options->communicators, options->ahead, options->jitter,
		      options->blocks ? ", sends block" : "",
		      options->each ? ", each operation" : "", options->victim,
		      options->fault_size / 1e6, options->from_step,
		      without->elapsed_ns / 1e6, with_ns / 1e6, true_ns / 1e6,
		      without->unknown_ns / 1e6, without->at_least_ns / 1e6,
		      without->at_most_ns / 1e6);
}

static bool is_within(const struct ncs_path_sum *sum, double ns)
{
	return sum->at_least_ns <= ns && ns <= sum->at_most_ns;
}

static enum truth_answer judge(const struct truth_options *options)
{
	struct truth_options healthy = *options;
	struct ncs_path_sum without, of_healthy;
	struct ncs_scenario scenario;
	enum truth_answer answer = TRUTH_WRONG;
	double with_ns, true_ns;
	char text[32], why[128];

	snprintf(text, sizeof(text), "without:%u", options->victim);
	assert_true(ncs_scenario_parse(&scenario, text, why, sizeof(why)));
	healthy.fault = TRUTH_HEALTHY;
	measure(options, &scenario, &with_ns, &without);
	measure(&healthy, &scenario, &true_ns, &of_healthy);
	if (without.is_bounded)
		answer = is_within(&without, true_ns) ? TRUTH_BOUNDED :
							TRUTH_WRONG;
	else if (!without.is_known)
		answer = TRUTH_UNKNOWN;
	else if (fabs(without.elapsed_ns - true_ns) <= ERROR * true_ns)
		answer = TRUTH_RIGHT;
	if (answer == TRUTH_WRONG || getenv("TRUTH_VERBOSE"))
		print_job(options, &without, with_ns, true_ns);
	return answer;
}

/* Lets all hosts of a job pause together in some steps. They wait for their GPUs after
 * each step, run one or two steps ahead, or never wait. */
static void add_pauses(struct truth_options *options, unsigned seed)
{
	static const unsigned aheads[] = { 0, 1, 2, TRUTH_AHEAD_FREE };

	options->ahead = aheads[seed / 4 % 4];
	options->pause_period = 1 + seed % 2 * 3;
	options->pause_ns = 30e6 * (1 + seed / 2 % 4);
}

/* Judges the jobs of a kind, whose fault comes each time of `period`; 0: always.
 * With `pauses`, all hosts pause together in some steps. */
static void judge_varied(const struct truth_what_if *kind, unsigned period,
			 bool pauses)
{
	unsigned jobs = truth_jobs(kind->name, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		unsigned seed = truth_seed(i);
		struct truth_options options =
			kind->shape == TRUTH_PIPELINE ?
				some_pipeline(seed, kind) :
				some_job(seed, kind);

		options.period = period;
		if (pauses)
			add_pauses(&options, seed);
		truth_count(kind->name, seed, judge(&options));
	}
	assert_int_equal(truth_counted(kind->name, TRUTH_WRONG), 0);
	/* A few jobs may be such that cannot be known. */
	if (jobs >= JOBS)
		assert_in_range(truth_counted(kind->name, TRUTH_RIGHT),
				kind->known * jobs / 100, jobs);
	if (jobs >= JOBS)
		assert_in_range(truth_counted(kind->name, TRUTH_RIGHT) +
					truth_counted(kind->name,
						      TRUTH_BOUNDED),
				kind->told * jobs / 100, jobs);
}

static void judge_periodic(const struct truth_what_if *kind, unsigned period)
{
	judge_varied(kind, period, false);
}

static void judge_jobs(const struct truth_what_if *kind)
{
	judge_varied(kind, 0, false);
}

static void ddp_without_a_late_host_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/host/ddp", TRUTH_HOST,
					    TRUTH_DDP, false, 100, 100 });
}

static void
tensor_parallel_without_a_late_host_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/host/tensor", TRUTH_HOST,
					    TRUTH_TENSOR, false, 75, 80 });
}

static void pipeline_without_a_late_host_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/host/pipeline", TRUTH_HOST,
					    TRUTH_PIPELINE, false, 70, 85 });
}

static void
alternating_pipeline_without_a_late_host_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/host/1f1b", TRUTH_HOST,
					    TRUTH_PIPELINE, true, 30, 80 });
}

static void ddp_without_a_busy_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/stream/ddp", TRUTH_STREAM,
					    TRUTH_DDP, false, 60, 100 });
}

static void
tensor_parallel_without_a_busy_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/stream/tensor",
					    TRUTH_STREAM, TRUTH_TENSOR, false,
					    75, 80 });
}

static void pipeline_without_a_busy_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/stream/pipeline",
					    TRUTH_STREAM, TRUTH_PIPELINE, false,
					    50, 80 });
}

static void
alternating_pipeline_without_a_busy_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/stream/1f1b", TRUTH_STREAM,
					    TRUTH_PIPELINE, true, 30, 75 });
}

static void jobs_whose_hosts_pause_take_what_they_truly_take(void **state)
{
	static const struct truth_what_if kinds[] = {
		{ "what-if/host/ddp/pauses", TRUTH_HOST, TRUTH_DDP, false, 25,
		  95 },
		{ "what-if/host/tensor/pauses", TRUTH_HOST, TRUTH_TENSOR, false,
		  25, 100 },
		{ "what-if/stream/ddp/pauses", TRUTH_STREAM, TRUTH_DDP, false,
		  35, 100 },
		{ "what-if/stream/tensor/pauses", TRUTH_STREAM, TRUTH_TENSOR,
		  false, 40, 95 },
		{ "what-if/gpu/ddp/pauses", TRUTH_GPU, TRUTH_DDP, false, 10,
		  85 },
		{ "what-if/gpu/tensor/pauses", TRUTH_GPU, TRUTH_TENSOR, false,
		  60, 100 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		judge_varied(&kinds[i], 0, true);
}

static void
ddp_without_a_fault_now_and_then_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_periodic(&(struct truth_what_if){ "what-if/host/ddp/third",
						TRUTH_HOST, TRUTH_DDP, false,
						90, 95 },
		       3);
	judge_periodic(&(struct truth_what_if){ "what-if/stream/ddp/third",
						TRUTH_STREAM, TRUTH_DDP, false,
						60, 90 },
		       3);
}

static void
tensor_parallel_without_a_fault_now_and_then_takes_what_it_truly_takes(
	void **state)
{
	(void)state;
	judge_periodic(&(struct truth_what_if){ "what-if/host/tensor/third",
						TRUTH_HOST, TRUTH_TENSOR, false,
						80, 85 },
		       3);
	judge_periodic(&(struct truth_what_if){ "what-if/stream/tensor/third",
						TRUTH_STREAM, TRUTH_TENSOR,
						false, 80, 80 },
		       3);
}

static void
pipeline_without_a_fault_now_and_then_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_periodic(&(struct truth_what_if){ "what-if/host/pipeline/third",
						TRUTH_HOST, TRUTH_PIPELINE,
						false, 60, 80 },
		       3);
	judge_periodic(&(struct truth_what_if){ "what-if/stream/pipeline/third",
						TRUTH_STREAM, TRUTH_PIPELINE,
						false, 60, 75 },
		       3);
}

/* The others' work before most buckets runs while they wait. */
static void ddp_without_a_slow_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/gpu/ddp", TRUTH_GPU,
					    TRUTH_DDP, false, 0, 90 });
}

static void
tensor_parallel_without_a_slow_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/gpu/tensor", TRUTH_GPU,
					    TRUTH_TENSOR, false, 65, 90 });
}

static void pipeline_without_a_slow_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/gpu/pipeline", TRUTH_GPU,
					    TRUTH_PIPELINE, false, 70, 80 });
}

static void
alternating_pipeline_without_a_slow_gpu_takes_what_it_truly_takes(void **state)
{
	(void)state;
	judge_jobs(&(struct truth_what_if){ "what-if/gpu/1f1b", TRUTH_GPU,
					    TRUTH_PIPELINE, true, 30, 80 });
}

/* Judges one pipeline of a kind. */
static enum truth_answer judge_pipeline(const struct truth_what_if *kind,
					unsigned seed)
{
	struct truth_options options = some_pipeline(seed, kind);

	return judge(&options);
}

/* The first stage sends behind its sends, and adds up gradients in another
 * communicator: what it works before a send began with what it had called last,
 * there. */
static void stage_that_adds_up_in_another_communicator_is_known(void **state)
{
	static const struct truth_what_if kinds[] = {
		{ "what-if/host/pipeline", TRUTH_HOST, TRUTH_PIPELINE, false, 0,
		  0 },
		{ "what-if/stream/pipeline", TRUTH_STREAM, TRUTH_PIPELINE,
		  false, 0, 0 },
	};
	static const unsigned seeds[] = { 47, 1055 };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 2; j++)
			assert_int_equal(judge_pipeline(&kinds[i], seeds[j]),
					 TRUTH_RIGHT);
}

/* The kernels of a tree seem to end early: a send and the receive that is called
 * after it begin at once, and that receive is no work before the send; nor does
 * it work for as long as the send did. */
static void receive_at_once_with_a_send_is_no_work(void **state)
{
	static const struct truth_what_if host = {
		"what-if/host/pipeline", TRUTH_HOST, TRUTH_PIPELINE, false, 0, 0
	};
	static const struct truth_what_if gpu = {
		"what-if/gpu/pipeline", TRUTH_GPU, TRUTH_PIPELINE, false, 0, 0
	};

	(void)state;
	assert_int_equal(judge_pipeline(&host, 2083), TRUTH_RIGHT);
	assert_int_equal(judge_pipeline(&host, 3007), TRUTH_RIGHT);
	assert_int_equal(judge_pipeline(&gpu, 3042), TRUTH_RIGHT);
}

/* The time that is not known is 5 % of the one that is told, but more of the true
 * one. */
static void time_that_may_be_short_by_more_is_not_known(void **state)
{
	static const struct truth_what_if kind = {
		"what-if/stream/1f1b", TRUTH_STREAM, TRUTH_PIPELINE, true, 0, 0
	};

	(void)state;
	assert_int_equal(judge_pipeline(&kind, 3033), TRUTH_BOUNDED);
}

/* One send does not make stages of its ranks. */
static void ddp_that_sends_once_is_known_as_other_ddp_is(void **state)
{
	static const struct truth_what_if kind = {
		"what-if/host/ddp", TRUTH_HOST, TRUTH_DDP, false, 100, 100
	};

	(void)state;
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct truth_options options = some_job(seed, &kind);

		options.greets = true;
		options.victim = seed % 2;
		assert_int_equal(judge(&options), TRUTH_RIGHT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			ddp_without_a_late_host_takes_what_it_truly_takes),
		cmocka_unit_test(
			tensor_parallel_without_a_late_host_takes_what_it_truly_takes),
		cmocka_unit_test(
			pipeline_without_a_late_host_takes_what_it_truly_takes),
		cmocka_unit_test(
			alternating_pipeline_without_a_late_host_takes_what_it_truly_takes),
		cmocka_unit_test(
			ddp_without_a_busy_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			tensor_parallel_without_a_busy_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			pipeline_without_a_busy_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			alternating_pipeline_without_a_busy_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			ddp_without_a_slow_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			tensor_parallel_without_a_slow_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			pipeline_without_a_slow_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			alternating_pipeline_without_a_slow_gpu_takes_what_it_truly_takes),
		cmocka_unit_test(
			stage_that_adds_up_in_another_communicator_is_known),
		cmocka_unit_test(
			jobs_whose_hosts_pause_take_what_they_truly_take),
		cmocka_unit_test(
			ddp_without_a_fault_now_and_then_takes_what_it_truly_takes),
		cmocka_unit_test(
			tensor_parallel_without_a_fault_now_and_then_takes_what_it_truly_takes),
		cmocka_unit_test(
			pipeline_without_a_fault_now_and_then_takes_what_it_truly_takes),
		cmocka_unit_test(receive_at_once_with_a_send_is_no_work),
		cmocka_unit_test(time_that_may_be_short_by_more_is_not_known),
		cmocka_unit_test(ddp_that_sends_once_is_known_as_other_ddp_is),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	truth_print_table();
	return failed;
}
