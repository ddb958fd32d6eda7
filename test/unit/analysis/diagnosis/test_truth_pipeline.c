/* SPDX-License-Identifier: MIT */
/* Pipelines whose truth is known: a stage that others wait for by design is not found.
 * What a late one costs is not known where no other rank does the same work, and that
 * is said; with data parallelism it is found with the time that the same job takes
 * without its lateness, wherever in a step it is late.
 *
 * Four times as many jobs are healthy as have each fault. truth_tally.h says how to
 * make one of them again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/value_names.h"
#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/stragglers.h"
#include "test/unit/support/simulator/sim_source.h"
#include "test/unit/support/truth_tally.h"
#include "test/unit/support/unit.h"

#define MS UINT64_C(1000000)

/* Number of jobs with each fault. */
#define JOBS 24u

/* The largest error of a cost: a tenth of it, and the steps at both ends. */
#define COST_ERROR 0.10
#define COST_ENDS 0.01

/* A stage that costs less than this need not be found. */
#define COST_FOUND 0.06

/* One answer of so many may be wrong, and one more. */
#define WRONG_ONE_IN 10u

static struct sim_options some_job(unsigned seed, enum sim_fault fault)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 3, 6, 12 };
	static const unsigned hosts[] = { SIM_RANKS_MAX, 4, 1 };
	struct sim_options options =
		sim_options(seed, fault, ranks[seed % 7], hosts[seed / 5 % 3]);

	options.shape = SIM_PIPELINE;
	options.blocks = seed / 2 % 3 == 1;
	options.communicators = 1 + seed / 2 % 2;
	options.each = seed % 2;
	options.from_step = seed / 19 % 2 * 20;
	options.fault_size = (options.each ? 1e6 : 12e6) * (1 + seed % 3);
	return options;
}

/* Returns a job with four communicators a process: a rank is late before its
 * first call in one of them. */
static struct sim_options some_3d_job(unsigned seed, enum sim_fault fault)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 2 };
	static const unsigned hosts[] = { SIM_RANKS_MAX, 4, 1 };
	struct sim_options options =
		sim_options(seed, fault, ranks[seed % 5], hosts[seed / 5 % 3]);

	options.shape = SIM_3D;
	options.group = seed / 2 % 4;
	options.from_step = seed / 19 % 2 * 20;
	options.fault_size = 5e6 * (1 + seed % 3);
	/* A host that is late while its GPU has work costs nothing. */
	if (fault == SIM_HOST)
		options.ahead = 0;
	return options;
}

/* Looks at a job until it ends. Returns whether there was a finding before the
 * last look. */
static bool watch(struct sim_source *job, struct ncs_model *model,
		  struct ncs_diagnosis *diagnosis, uint64_t every_ns)
{
	uint64_t now_ns = SIM_BEGIN_NS;
	bool found = false;

	ncs_model_init(model);
	ncs_diagnosis_init(diagnosis);
	while (now_ns < sim_source_end_ns(job) + 20 * MS) {
		now_ns += every_ns;
		assert_int_equal(ncs_model_update(model, &job->source, now_ns),
				 0);
		assert_int_equal(ncs_diagnose(diagnosis, model), 0);
		found |= diagnosis->count > 0;
	}
	return found;
}

static int rank_of(const struct ncs_finding *finding)
{
	return finding->root.rank ?
		       (int)finding->root.rank->process.pid - 1000 :
		       -1;
}

static void print_job(const struct sim_options *options)
{
	if (options->shape == SIM_3D)
		print_message("3D, before group %u%s, ", options->group,
			      options->alternates ? ", in turns" : "");
	print_message("seed %u: transport %u, %u ranks, %u a host, %u"
		      " communicators, %u ahead, jitter %.2f, rank %u %.1f ms"
		      " %s from %u on%s: ",
		      (unsigned)options->seed, options->transport,
		      options->ranks, options->ranks_per_host,
		      options->communicators, options->ahead, options->jitter,
		      options->victim, options->fault_size / 1e6,
		      options->each ? "each" : "a step", options->from_step,
		      options->blocks ? ", sends block" : "");
}

static void print_answer(const struct sim_options *options,
			 const struct ncs_finding *finding, double cost)
{
	print_job(options);
	if (finding)
		print_message("%s, rank %d, %s, %.3f, %.3f to %.3f (true"
			      " %.3f)\n",
			      ncs_verdict_name(finding->verdict),
			      rank_of(finding),
			      ncs_late_cause_name(finding->cause),
			      finding->share, finding->share_least,
			      finding->share_most, cost);
	else
		print_message("no finding (true %.3f)\n", cost);
}

/* Returns how long a job takes from its first collective on: what a rank does before
 * its first operation is not seen. */
static double length_ns(const struct sim_source *job)
{
	return (double)(sim_source_end_ns(job) - SIM_BEGIN_NS) -
	       sim_source_met_ns(job);
}

/* Returns whether a finding names the victim and the cause, and a cost within its
 * bounds. */
static bool is_right(const struct ncs_finding *finding,
		     const struct sim_options *options, double cost)
{
	double error = COST_ERROR * cost + COST_ENDS;

	return finding->verdict == NCS_VERDICT_LATE_RANK &&
	       rank_of(finding) == (int)options->victim &&
	       finding->cause == (options->fault == SIM_HOST ?
					  NCS_LATE_HOST :
					  NCS_LATE_STREAM) &&
	       (finding->share == 0 || (cost >= finding->share_least - error &&
					cost <= finding->share_most + error));
}

/* Counts the answer for a job. */
static void judge(const char *kind, const struct sim_options *options)
{
	struct sim_options without = *options;
	enum truth_answer answer = TRUTH_WRONG;
	struct ncs_diagnosis diagnosis;
	struct ncs_model model;
	struct sim_source *job = sim_source_new(options), *healthy;
	const struct ncs_finding *finding;
	double cost;

	without.fault = SIM_HEALTHY;
	healthy = sim_source_new(&without);
	cost = 1 - length_ns(healthy) / length_ns(job);
	watch(job, &model, &diagnosis, 500 * MS);
	finding = diagnosis.count > 0 ? diagnosis.findings : NULL;
	if (!finding && truth_says_unknown(&model, options->victim))
		answer = TRUTH_UNKNOWN;
	else if (!finding && cost < COST_FOUND)
		answer = TRUTH_RIGHT;
	else if (finding && is_right(finding, options, cost))
		answer = finding->share == 0 ? TRUTH_UNKNOWN :
			 fabs(finding->share - cost) <=
					 COST_ERROR * cost + COST_ENDS ?
					       TRUTH_RIGHT :
					       TRUTH_BOUNDED;
	if (answer == TRUTH_WRONG)
		print_answer(options, finding, cost);
	truth_count(kind, (unsigned)options->seed, answer);
	ncs_diagnosis_release(&diagnosis);
	ncs_model_release(&model);
	sim_source_free(job);
	sim_source_free(healthy);
}

/* Judges a healthy job: it has no finding. */
static void find_in(const char *kind, const struct sim_options *options)
{
	struct sim_source *job = sim_source_new(options);
	struct ncs_diagnosis diagnosis;
	struct ncs_model model;
	bool is_found = watch(job, &model, &diagnosis, 100 * MS);

	if (is_found) {
		print_job(options);
		print_message("a finding\n");
	}
	truth_count(kind, (unsigned)options->seed,
		    is_found ? TRUTH_WRONG : TRUTH_RIGHT);
	ncs_diagnosis_release(&diagnosis);
	ncs_model_release(&model);
	sim_source_free(job);
}

/* Judges healthy jobs: none has a finding. */
static void find_in_healthy(const char *kind, bool alternates)
{
	unsigned jobs = truth_jobs(kind, JOBS, 400);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options =
			some_job(truth_seed(i), SIM_HEALTHY);

		options.alternates = alternates;
		find_in(kind, &options);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
}

TEST(bubbles_of_a_pipeline_are_no_finding)
{
	find_in_healthy("diagnosis/pipeline/healthy", false);
}

TEST(stages_that_take_turns_are_no_finding)
{
	find_in_healthy("diagnosis/1f1b/healthy", true);
}

/* Judges jobs of a kind whose stages have no replicas. */
static void judge_stages(const char *kind, enum sim_fault fault,
			 bool alternates)
{
	unsigned jobs = truth_jobs(kind, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options = some_job(truth_seed(i), fault);

		options.alternates = alternates;
		judge(kind, &options);
	}
	assert_in_range(truth_counted(kind, TRUTH_WRONG), 0,
			jobs / WRONG_ONE_IN + 1);
}

TEST(cost_of_a_stage_without_replicas_is_said_to_be_unknown)
{
	judge_stages("diagnosis/pipeline/host", SIM_HOST, false);
	judge_stages("diagnosis/pipeline/stream", SIM_STREAM, false);
	judge_stages("diagnosis/1f1b/host", SIM_HOST, true);
	judge_stages("diagnosis/1f1b/stream", SIM_STREAM, true);
}

/* Makes the stages of a 3D job take turns, unless it has one: two ranks share
 * their layers. */
static void alternate(struct sim_options *options)
{
	options->alternates = options->ranks > 2;
}

TEST(nothing_is_found_in_healthy_3d_jobs)
{
	static const char kind[] = "diagnosis/3d/healthy";
	unsigned jobs = truth_jobs(kind, JOBS, 400);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options =
			some_3d_job(truth_seed(i), SIM_HEALTHY);

		if (i % 2)
			alternate(&options);
		find_in(kind, &options);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
}

static void judge_3d(const char *kind, enum sim_fault fault, bool alternates)
{
	unsigned jobs = truth_jobs(kind, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options = some_3d_job(truth_seed(i), fault);

		if (alternates)
			alternate(&options);
		judge(kind, &options);
	}
	assert_in_range(truth_counted(kind, TRUTH_WRONG), 0,
			jobs / WRONG_ONE_IN + 1);
}

TEST(rank_of_a_3d_job_is_found_with_its_cost)
{
	judge_3d("diagnosis/3d/stream", SIM_STREAM, false);
	judge_3d("diagnosis/3d/host", SIM_HOST, false);
	judge_3d("diagnosis/3d-1f1b/stream", SIM_STREAM, true);
	judge_3d("diagnosis/3d-1f1b/host", SIM_HOST, true);
}

int main(void)
{
	int failed = unit_run();

	truth_print_table();
	return failed;
}
