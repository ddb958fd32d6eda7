/* SPDX-License-Identifier: MIT */
/* Jobs whose truth is known, without their fault: what the critical path says of
 * the job without its straggler is the time of the same job that was made
 * without the fault, or between the bounds that are told, or the answer says that
 * it cannot know.
 *
 * truth_tally.h says how to make one of them again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/path/critical_path.h"
#include "analysis/records/parts.h"
#include "ncclstat/abi_header.h"
#include "shm/array.h"
#include "test/unit/support/simulator/sim_source.h"
#include "test/unit/support/truth_tally.h"
#include "test/unit/support/unit.h"

#define MS UINT64_C(1000000)
#define LOOK_NS (20 * MS)

/* The largest error of the elapsed time, as a share of it. */
#define ERROR 0.05

/* Per cent of the answers that may be wrong: jobs that repeat to the nanosecond, or
 * whose hosts are ever further ahead, mislead. */
#define WRONG 5u

/* Number of jobs of each kind. */
#define JOBS 20u

#define OWNERS_MAX (SIM_RANKS_MAX * 4)

/* A job as a reader of its records knows it. */
struct truth_reader {
	const struct sim_options *options;
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
	ncs_parts_set_clock(reader->parts[i], host, sample->clock_error_ns,
			    sample->clock_is_by_realtime);
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

/* Reads all of a job, and passes along its path, or with `without` only keeps its
 * parts there. */
static void follow(struct ncs_path *path, struct ncs_without *without,
		   struct truth_reader *reader, struct sim_source *job)
{
	const struct ncs_joined *joined;
	struct ncs_source *source = &job->source;
	uint64_t now_ns = SIM_BEGIN_NS;

	while (now_ns < sim_source_end_ns(job) + LOOK_NS) {
		now_ns += LOOK_NS;
		read_until(reader, source, now_ns);
	}
	for (size_t i = 0; i < reader->owner_count; i++) {
		ncs_parts_settle(reader->parts[i], UINT64_MAX);
		join_parts(reader, i);
		ncs_parts_free(reader->parts[i]);
	}
	ncs_join_advance(reader->join, UINT64_MAX);
	while ((joined = ncs_join_next(reader->join))) {
		if (without)
			assert_int_equal(ncs_without_add(without, joined,
							 reader->owners),
					 0);
		assert_int_equal(ncs_path_add(path, joined, true, NCS_NO_STEP),
				 0);
	}
	assert_int_equal(ncs_path_end(path), 0);
}

/* Makes a pass along a job's path: without a scenario, it learns the work of
 * stages. Returns the pass, to be freed. */
static struct ncs_path *pass(const struct sim_options *options,
			     const struct ncs_scenario *scenario,
			     struct ncs_path_lines *lines,
			     struct ncs_without *without)
{
	struct sim_source *job = sim_source_new(options);
	struct truth_reader reader = { .options = options,
				       .join = ncs_join_new(0, true) };
	struct ncs_path *path;

	assert_non_null(reader.join);
	/* All segments are there from the beginning. */
	read_until(&reader, &job->source, SIM_BEGIN_NS);
	path = ncs_path_new(&(struct ncs_path_options){
		.owners = reader.owners,
		.owner_count = reader.owner_count,
		.rank_count = options->ranks,
		.scenarios = scenario,
		.scenario_count = scenario ? 1 : 0,
		.lines = lines,
		.learns = !scenario,
		.without = scenario ? without : NULL,
	});
	assert_non_null(path);
	follow(path, scenario ? NULL : without, &reader, job);
	ncs_join_free(reader.join);
	sim_source_free(job);
	return path;
}

/* Returns the time that a job took, and what it would take by a scenario. */
static void measure(const struct sim_options *options,
		    const struct ncs_scenario *scenario, double *elapsed_ns,
		    struct ncs_path_sum *without, struct ncs_cost_of_rank *cost)
{
	struct ncs_path_line ranks[SIM_RANKS_MAX] = { { 0 } };
	struct ncs_path_lines lines = { .ranks = ranks };
	struct ncs_without *answers = ncs_without_new();
	struct ncs_path *path;

	assert_non_null(answers);
	ncs_path_free(pass(options, NULL, &lines, answers));
	assert_int_equal(ncs_without_compute(answers, scenario, 1), 0);
	path = pass(options, scenario, &lines, answers);
	*elapsed_ns = ncs_path_report(path)->measured_ns;
	*without = ncs_path_report(path)->sums[1];
	*cost = *without->cost;
	ncs_path_free(path);
	ncs_without_free(answers);
}

/* A kind of jobs. */
struct truth_what_if {
	const char *name;
	enum sim_fault fault;
	enum sim_shape shape;
	/* Per cent of the answers that are known and right, at least, and that are
	 * right or have bounds that are. */
	unsigned right, told;
	bool alternates;
	unsigned period; /* the fault comes each time of so many; 0: always */
	bool pauses;     /* all hosts pause together in some steps */
};

static struct sim_options some_job(unsigned seed,
				   const struct truth_what_if *kind)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 6, 12, 32, 3 };
	struct sim_options options =
		sim_options(seed, kind->fault, ranks[seed % 8],
			    seed / 7 % 2 ? 4 : SIM_RANKS_MAX);

	options.shape = kind->shape;
	options.communicators = 1 + seed / 5 % 4;
	options.steps = 30;
	options.fault_size = 1e7 * (1 + seed % 3);
	options.from_step = 1;
	options.each = kind->shape != SIM_DDP && seed / 17 % 2;
	if (kind->fault == SIM_GPU) {
		options.each = false;
		options.fault_size = 1.4 + 0.3 * (seed % 5);
	}
	return options;
}

static struct sim_options some_pipeline(unsigned seed,
					const struct truth_what_if *kind)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 3, 6, 12 };
	static const unsigned hosts[] = { SIM_RANKS_MAX, 4, 1 };
	struct sim_options options = sim_options(
		seed, kind->fault, ranks[seed % 7], hosts[seed / 5 % 3]);

	options.shape = SIM_PIPELINE;
	options.alternates = kind->alternates;
	options.blocks = seed / 2 % 3 == 1;
	options.communicators = 1 + seed / 2 % 2;
	options.steps = 30;
	options.each = seed % 2;
	options.from_step = seed / 19 % 2;
	options.fault_size = (options.each ? 1e6 : 12e6) * (1 + seed % 3);
	if (kind->fault == SIM_GPU) {
		options.each = false;
		options.fault_size = 1.4 + 0.3 * (seed % 5);
	}
	return options;
}

static void print_job(const struct sim_options *options,
		      const struct ncs_path_sum *without,
		      const struct ncs_cost_of_rank *cost, double with_ns,
		      double true_ns)
{
	print_message("seed %u: transport %d, %u ranks, %u a host, %u"
		      " communicators, %u ahead, jitter %.2f%s%s, rank %u %.1f"
		      "e6 from %u on: %.1f ms without it of %.1f, truly %.1f,"
		      " not known %.1f, between %.1f and %.1f, %u steps, %s\n",
		      (unsigned)options->seed, options->transport,
		      options->ranks, options->ranks_per_host,
		      options->communicators, options->ahead, options->jitter,
		      options->blocks ? ", sends block" : "",
		      options->each ? ", each operation" : "", options->victim,
		      options->fault_size / 1e6, options->from_step,
		      without->elapsed_ns / 1e6, with_ns / 1e6, true_ns / 1e6,
		      without->unknown_ns / 1e6, without->at_least_ns / 1e6,
		      without->at_most_ns / 1e6, cost->steps,
		      cost->unknown ? ncs_cost_unknown_name(cost->unknown) :
				      "known");
}

/* Bounds may be wrong by as much as a time. */
static bool is_within(const struct ncs_path_sum *sum, double ns)
{
	return sum->at_least_ns * (1 - ERROR) <= ns &&
	       ns <= sum->at_most_ns * (1 + ERROR);
}

static enum truth_answer judge(const struct sim_options *options)
{
	struct sim_options healthy = *options;
	struct ncs_path_sum without, of_healthy;
	struct ncs_cost_of_rank cost, healthy_cost;
	struct ncs_scenario scenario;
	enum truth_answer answer = TRUTH_WRONG;
	double with_ns, true_ns;
	char text[32], why[128];

	snprintf(text, sizeof(text), "without:%u", options->victim);
	assert_true(ncs_scenario_parse(&scenario, text, why, sizeof(why)));
	healthy.fault = SIM_HEALTHY;
	measure(options, &scenario, &with_ns, &without, &cost);
	measure(&healthy, &scenario, &true_ns, &of_healthy, &healthy_cost);
	if (!without.is_known)
		answer = TRUTH_UNKNOWN;
	else if (fabs(without.elapsed_ns - true_ns) <= ERROR * true_ns)
		answer = TRUTH_RIGHT;
	else if (is_within(&without, true_ns))
		answer = TRUTH_BOUNDED;
	if (answer == TRUTH_WRONG || getenv("TRUTH_VERBOSE"))
		print_job(options, &without, &cost, with_ns, true_ns);
	return answer;
}

/* Lets all hosts of a job pause together in some steps. They wait for their GPUs after
 * each step, run one or two steps ahead, or never wait. */
static void add_pauses(struct sim_options *options, unsigned seed)
{
	static const unsigned aheads[] = { 0, 1, 2, SIM_AHEAD_FREE };

	options->ahead = aheads[seed / 4 % 4];
	options->pause_period = 1 + seed % 2 * 3;
	options->pause_ns = 30e6 * (1 + seed / 2 % 4);
}

/* Judges the jobs of a kind. Returns their number. */
static unsigned judge_jobs(const struct truth_what_if *kind)
{
	unsigned jobs = truth_jobs(kind->name, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		unsigned seed = truth_seed(i);
		struct sim_options options = kind->shape == SIM_PIPELINE ?
						     some_pipeline(seed, kind) :
						     some_job(seed, kind);

		options.period = kind->period;
		if (kind->pauses)
			add_pauses(&options, seed);
		truth_count(kind->name, seed, judge(&options));
	}
	assert_in_range(100 * truth_counted(kind->name, TRUTH_WRONG), 0,
			WRONG * jobs);
	return jobs;
}

#define KIND(name) "what-if/" name

static const struct truth_what_if known[] = {
	{ KIND("host/ddp"), SIM_HOST, SIM_DDP, 70, 70, false, 0, false },
	{ KIND("host/tensor"), SIM_HOST, SIM_TENSOR, 55, 65, false, 0, false },
	{ KIND("stream/ddp"), SIM_STREAM, SIM_DDP, 20, 45, false, 0, false },
	{ KIND("stream/tensor"), SIM_STREAM, SIM_TENSOR, 60, 85, false, 0,
	  false },
	{ KIND("gpu/ddp"), SIM_GPU, SIM_DDP, 95, 95, false, 0, false },
	{ KIND("gpu/tensor"), SIM_GPU, SIM_TENSOR, 85, 85, false, 0, false },
	{ KIND("host/ddp/third"), SIM_HOST, SIM_DDP, 50, 50, false, 3, false },
	{ KIND("stream/ddp/third"), SIM_STREAM, SIM_DDP, 20, 20, false, 3,
	  false },
	{ KIND("host/tensor/third"), SIM_HOST, SIM_TENSOR, 50, 50, false, 3,
	  false },
	{ KIND("stream/tensor/third"), SIM_STREAM, SIM_TENSOR, 45, 50, false, 3,
	  false },
	{ KIND("host/ddp/pauses"), SIM_HOST, SIM_DDP, 20, 20, false, 0, true },
	{ KIND("host/tensor/pauses"), SIM_HOST, SIM_TENSOR, 30, 35, false, 0,
	  true },
	{ KIND("stream/ddp/pauses"), SIM_STREAM, SIM_DDP, 30, 40, false, 0,
	  true },
	{ KIND("stream/tensor/pauses"), SIM_STREAM, SIM_TENSOR, 30, 40, false,
	  0, true },
	{ KIND("gpu/ddp/pauses"), SIM_GPU, SIM_DDP, 30, 30, false, 0, true },
	{ KIND("gpu/tensor/pauses"), SIM_GPU, SIM_TENSOR, 30, 30, false, 0,
	  true },
};

static const struct truth_what_if stages[] = {
	{ KIND("host/pipeline"), SIM_HOST, SIM_PIPELINE, 0, 0, false, 0,
	  false },
	{ KIND("host/1f1b"), SIM_HOST, SIM_PIPELINE, 0, 0, true, 0, false },
	{ KIND("stream/pipeline"), SIM_STREAM, SIM_PIPELINE, 0, 0, false, 3,
	  false },
	{ KIND("gpu/1f1b"), SIM_GPU, SIM_PIPELINE, 0, 0, true, 0, false },
};

#define COUNT(kinds) (sizeof(kinds) / sizeof((kinds)[0]))

TEST(a_job_without_a_late_rank_takes_what_it_truly_takes)
{
	for (size_t i = 0; i < COUNT(known); i++) {
		const struct truth_what_if *kind = &known[i];
		unsigned jobs = judge_jobs(kind), right, bounded;

		/* A few jobs may be such that cannot be known. */
		if (jobs < JOBS)
			continue;
		right = truth_counted(kind->name, TRUTH_RIGHT);
		bounded = truth_counted(kind->name, TRUTH_BOUNDED);
		assert_in_range(right, kind->right * jobs / 100, jobs);
		assert_in_range(right + bounded, kind->told * jobs / 100, jobs);
	}
}

/* No other rank does the same work. */
TEST(what_a_job_takes_without_a_stage_is_not_known)
{
	for (size_t i = 0; i < COUNT(stages); i++) {
		unsigned jobs = judge_jobs(&stages[i]);

		assert_int_equal(truth_counted(stages[i].name, TRUTH_UNKNOWN),
				 jobs);
	}
}

/* A host waits in one place, for as long as another one is late at all its calls: both
 * have one period, so that the wait looks like work. */
TEST(bounds_allow_for_waits_that_look_like_work)
{
	struct sim_options options = some_job(1008, &known[1]);

	assert_int_not_equal(judge(&options), TRUTH_WRONG);
	options.period = 3;
	assert_int_not_equal(judge(&options), TRUTH_WRONG);
}

/* One send does not make stages of its ranks. */
TEST(ddp_that_sends_once_is_known_as_other_ddp_is)
{
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct sim_options options = some_job(seed, &known[0]);

		enum truth_answer answer;

		options.victim = seed % 2;
		answer = judge(&options);
		options.greets = true;
		assert_int_equal(judge(&options), answer);
	}
}

int main(void)
{
	int failed = unit_run();

	truth_print_table();
	return failed;
}
