/* SPDX-License-Identifier: MIT */
/* Pipelines whose truth is known: a stage that is late is found with its cause
 * and with the time that the same job takes without its lateness; a stage that
 * others wait for by design is not found. So are ranks of jobs that are tensor,
 * pipeline and data parallel, wherever in a step they are late.
 *
 * Four times as many jobs are healthy as have each fault. truth_tally.h says how to
 * make one of them again. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/base/value_names.h"
#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/stragglers.h"
#include "test/unit/support/truth_job.h"
#include "test/unit/support/truth_tally.h"

#define MS UINT64_C(1000000)

/* Number of jobs with each fault. */
#define JOBS 48u

/* The largest error of a cost: a tenth of it, and the steps at both ends. */
#define COST_ERROR 0.10
#define COST_ENDS 0.01

/* A stage that costs less than this need not be found. */
#define COST_FOUND 0.06

/* A stage has its like in a pipeline of so many; in a shorter one, its cost may
 * be known only within bounds. */
#define RANKS_ALIKE 4u

/* One job of so many may tell bounds, though its stages have their like. */
#define VAGUE_ONE_IN 50u

static struct truth_options some_job(unsigned seed, enum truth_fault fault)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 3, 6, 12 };
	static const unsigned hosts[] = { TRUTH_RANKS_MAX, 4, 1 };
	struct truth_options options = truth_options(
		seed, fault, ranks[seed % 7], hosts[seed / 5 % 3]);

	options.shape = TRUTH_PIPELINE;
	options.blocks = seed / 2 % 3 == 1;
	options.communicators = 1 + seed / 2 % 2;
	options.each = seed % 2;
	options.from_step = seed / 19 % 2 * 20;
	options.fault_size = (options.each ? 1e6 : 12e6) * (1 + seed % 3);
	return options;
}

/* Returns a job with four communicators a process: a rank is late before its
 * first call in one of them. */
static struct truth_options some_3d_job(unsigned seed, enum truth_fault fault)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 2 };
	static const unsigned hosts[] = { TRUTH_RANKS_MAX, 4, 1 };
	struct truth_options options = truth_options(
		seed, fault, ranks[seed % 5], hosts[seed / 5 % 3]);

	options.shape = TRUTH_3D;
	options.group = seed / 2 % 4;
	options.from_step = seed / 19 % 2 * 20;
	options.fault_size = 5e6 * (1 + seed % 3);
	/* A host that is late while its GPU has work costs nothing. */
	if (fault == TRUTH_HOST)
		options.ahead = 0;
	return options;
}

/* Looks at a job until it ends. Returns whether there was a finding before the
 * last look. */
static bool watch(struct truth_job *job, struct ncs_model *model,
		  struct ncs_diagnosis *diagnosis, uint64_t every_ns)
{
	uint64_t now_ns = truth_job_begin_ns(job);
	bool found = false;

	ncs_model_init(model);
	ncs_diagnosis_init(diagnosis);
	while (now_ns < truth_job_end_ns(job) + 20 * MS) {
		now_ns += every_ns;
		assert_int_equal(ncs_model_update(model, truth_job_source(job),
						  now_ns),
				 0);
		assert_int_equal(ncs_diagnose(diagnosis, model), 0);
		found |= diagnosis->count > 0;
	}
	return found;
}

static int rank_of(const struct ncs_finding *finding)
{
	return finding->root.rank ? (int)finding->root.rank->header.pid - 1000 :
				    -1;
}

static void print_job(const struct truth_options *options)
{
	if (options->shape == TRUTH_3D)
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

static void print_answer(const struct truth_options *options,
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

/* Returns how long a job takes from a step on, or from its first collective on: what
 * a rank does before its first operation is not seen. */
static double length_ns(const struct truth_job *job, unsigned step)
{
	return (double)(truth_job_end_ns(job) - truth_job_begin_ns(job)) -
	       (step > 0 ? truth_job_step_ns(job, step) :
			   truth_job_met_ns(job));
}

/* Returns whether a finding tells the cost as a number, not as bounds. */
static bool is_told(const struct ncs_finding *finding)
{
	return finding->share_least >= finding->share * (1 - COST_ERROR) &&
	       finding->share_most <= finding->share * (1 + COST_ERROR);
}

/* Returns whether a finding tells how often the rank was last, or how long others
 * waited for it, and no such figure that is none. */
static bool tells_waits(const struct ncs_finding *finding)
{
	bool tells = false;

	for (size_t i = 0; i < finding->evidence_count; i++) {
		const struct ncs_evidence *evidence = &finding->evidence[i];

		if (evidence->kind != NCS_EVIDENCE_LATE &&
		    evidence->kind != NCS_EVIDENCE_WAITED)
			continue;
		if (evidence->number == 0 || evidence->duration_ns == 0)
			return false;
		tells = true;
	}
	return tells;
}

/* Returns whether the cost is what a finding says. */
static bool is_its_cost(const struct ncs_finding *finding, double cost)
{
	double error = COST_ERROR * cost + COST_ENDS;

	if (is_told(finding))
		return fabs(finding->share - cost) <= error;
	return cost >= finding->share_least - error &&
	       cost <= finding->share_most + error;
}

/* Returns whether a job's stages are seen before one of them is late. */
static bool has_past(const struct truth_options *options, unsigned step)
{
	return options->from_step > step;
}

/* Returns whether a finding tells the cost from above, and nearly: GPUs that rest make
 * up for less than a third. */
static bool is_from_above(const struct ncs_finding *finding)
{
	return truth_has_evidence(finding, NCS_EVIDENCE_RESTED) &&
	       finding->share_most <= finding->share * (1 + COST_ERROR) &&
	       finding->share_least >= finding->share * 2 / 3;
}

/* Returns whether a finding says why it tells bounds. */
static bool says_why(const struct truth_options *options,
		     const struct ncs_finding *finding, unsigned step)
{
	if (options->alternates)
		return truth_has_evidence(finding, NCS_EVIDENCE_TURNS);
	return truth_has_evidence(finding, NCS_EVIDENCE_UNLIKE) ||
	       (has_past(options, step) ?
			truth_has_evidence(finding, NCS_EVIDENCE_RESTED) :
			is_from_above(finding));
}

/* Counts the answer for a job: right, or wrong if it is another rank or cause, none,
 * or not the cost, or bounded if that is within bounds. Returns whether it is
 * within bounds though its stages have their like. */
static bool judge_from(const char *kind, const struct truth_options *options,
		       unsigned step)
{
	struct truth_options without = *options;
	struct ncs_diagnosis diagnosis;
	struct ncs_model model;
	struct truth_job *job = truth_job_new(options), *healthy;
	const struct ncs_finding *finding;
	bool is_right, is_vague = false;
	double cost;

	without.fault = TRUTH_HEALTHY;
	healthy = truth_job_new(&without);
	cost = 1 - length_ns(healthy, step) / length_ns(job, step);
	if (step > 0)
		truth_job_forget(job, step, TRUTH_PAST_NONE);
	watch(job, &model, &diagnosis, 500 * MS);
	finding = diagnosis.count > 0 ? diagnosis.findings : NULL;
	if (!finding) {
		is_right = cost < COST_FOUND;
	} else {
		is_right = finding->verdict == NCS_VERDICT_LATE_RANK &&
			   rank_of(finding) == (int)options->victim &&
			   finding->cause == (options->fault == TRUTH_HOST ?
						      NCS_LATE_HOST :
						      NCS_LATE_STREAM) &&
			   is_its_cost(finding, cost) && tells_waits(finding);
		is_vague = !is_told(finding) &&
			   (options->ranks >= RANKS_ALIKE ||
			    options->shape == TRUTH_3D);
	}
	if (finding && !is_told(finding))
		is_right &= says_why(options, finding, step);
	/* A delay that goes to and fro is known from below only, and one that nobody
	 * saw begin from above. */
	if (is_vague)
		is_vague = !options->alternates &&
			   (has_past(options, step) || !is_from_above(finding));
	if (!is_right || is_vague)
		print_answer(options, finding, cost);
	truth_count(kind, (unsigned)options->seed,
		    !is_right                    ? TRUTH_WRONG :
		    !finding || is_told(finding) ? TRUTH_RIGHT :
						   TRUTH_BOUNDED);
	ncs_diagnosis_release(&diagnosis);
	ncs_model_release(&model);
	truth_job_free(job);
	truth_job_free(healthy);
	return is_vague;
}

static bool judge(const char *kind, const struct truth_options *options)
{
	return judge_from(kind, options, 0);
}

/* Judges a healthy job: it has no finding. */
static void find_in(const char *kind, const struct truth_options *options)
{
	struct truth_job *job = truth_job_new(options);
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
	truth_job_free(job);
}

/* Judges healthy jobs: none has a finding. */
static void find_in_healthy(const char *kind, bool alternates)
{
	unsigned jobs = truth_jobs(kind, JOBS, 400);

	for (unsigned i = 0; i < jobs; i++) {
		struct truth_options options =
			some_job(truth_seed(i), TRUTH_HEALTHY);

		options.alternates = alternates;
		find_in(kind, &options);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
}

static void bubbles_of_a_pipeline_are_no_finding(void **state)
{
	(void)state;
	find_in_healthy("diagnosis/pipeline/healthy", false);
}

static void stages_that_take_turns_are_no_finding(void **state)
{
	(void)state;
	find_in_healthy("diagnosis/1f1b/healthy", true);
}

static void stage_with_a_late_host_is_found_with_its_cost(void **state)
{
	static const char kind[] = "diagnosis/pipeline/host";
	unsigned jobs = truth_jobs(kind, JOBS, 100), vague = 0;

	(void)state;
	for (unsigned i = 0; i < jobs; i++) {
		struct truth_options options =
			some_job(truth_seed(i), TRUTH_HOST);

		vague += judge(kind, &options);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
	assert_in_range(vague, 0, jobs / VAGUE_ONE_IN);
}

static void stage_with_a_busy_gpu_is_found_with_its_cost(void **state)
{
	static const char kind[] = "diagnosis/pipeline/stream";
	unsigned jobs = truth_jobs(kind, JOBS, 100), vague = 0;

	(void)state;
	for (unsigned i = 0; i < jobs; i++) {
		struct truth_options options =
			some_job(truth_seed(i), TRUTH_STREAM);

		vague += judge(kind, &options);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
	assert_in_range(vague, 0, jobs / VAGUE_ONE_IN);
}

/* One microbatch forward, one backward: the rank and the cause are known, and its
 * cost from below. */
static void stage_that_is_late_in_turns_is_found(void **state)
{
	static const char *const kinds[] = { "diagnosis/1f1b/stream",
					     "diagnosis/1f1b/host" };

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		unsigned jobs = truth_jobs(kinds[k], JOBS, 100);

		for (unsigned i = 0; i < jobs; i++) {
			struct truth_options options = some_job(
				truth_seed(i), k ? TRUTH_HOST : TRUTH_STREAM);

			options.alternates = true;
			judge(kinds[k], &options);
		}
		assert_int_equal(truth_counted(kinds[k], TRUTH_WRONG), 0);
	}
}

/* An end of a pipeline has fewer operations than the stages between, and so
 * less time between them: its like is the other end. */
static void first_stage_is_compared_with_the_last(void **state)
{
	static const unsigned seeds[] = { 260, 316 };
	struct truth_options healthy = some_job(737, TRUTH_HEALTHY);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct truth_options options = some_job(seeds[i], TRUTH_HOST);

		assert_false(judge("diagnosis/pipeline/ends", &options));
	}
	find_in("diagnosis/pipeline/ends", &healthy);
	assert_int_equal(truth_counted("diagnosis/pipeline/ends", TRUTH_WRONG),
			 0);
}

/* When an operation in a tree ended is not known, and so how long the work after
 * it was: of two stages, it costs less at least. */
static void stage_of_two_in_trees_is_found_with_its_cost(void **state)
{
	static const unsigned seeds[] = { 763, 8323, 700231 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct truth_options options = some_job(seeds[i], TRUTH_HOST);

		judge("diagnosis/pipeline/trees", &options);
	}
	assert_int_equal(truth_counted("diagnosis/pipeline/trees", TRUTH_WRONG),
			 0);
}

/* All stages take long in the second step, where the late one is late, too: without
 * that one its lateness still costs the rest. */
static void late_stage_is_found_though_all_warm_up(void **state)
{
	static const char kind[] = "diagnosis/pipeline/warm-up";
	unsigned jobs = truth_jobs(kind, 16, 100);

	(void)state;
	for (unsigned i = 0; i < jobs; i++) {
		struct truth_options options =
			some_job(truth_seed(i), TRUTH_HOST);

		options.warm_up_ns = 800e6;
		options.from_step = 0;
		judge(kind, &options);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
}

/* The last of two stages works after its sends, as the first one never does:
 * that is no delay, and a delay is not taken for it. */
static void work_after_a_send_is_not_taken_for_a_delay(void **state)
{
	struct truth_options options = some_job(413, TRUTH_HOST);

	(void)state;
	options.alternates = true;
	judge("diagnosis/1f1b/two", &options);
	assert_int_equal(truth_counted("diagnosis/1f1b/two", TRUTH_WRONG), 0);
}

/* Makes the stages of a 3D job take turns, unless it has one: two ranks share
 * their layers. */
static void alternate(struct truth_options *options)
{
	options->alternates = options->ranks > 2;
}

static void nothing_is_found_in_healthy_3d_jobs(void **state)
{
	static const char kind[] = "diagnosis/3d/healthy";
	unsigned jobs = truth_jobs(kind, JOBS, 400);

	(void)state;
	for (unsigned i = 0; i < jobs; i++) {
		struct truth_options options =
			some_3d_job(truth_seed(i), TRUTH_HEALTHY);

		if (i % 2)
			alternate(&options);
		find_in(kind, &options);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
}

static void rank_of_a_3d_job_is_found_with_its_cost(void **state)
{
	static const char *const kinds[] = { "diagnosis/3d/stream",
					     "diagnosis/3d/host" };

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		unsigned jobs = truth_jobs(kinds[k], JOBS, 100), vague = 0;

		for (unsigned i = 0; i < jobs; i++) {
			struct truth_options options = some_3d_job(
				truth_seed(i), k ? TRUTH_HOST : TRUTH_STREAM);

			vague += judge(kinds[k], &options);
		}
		assert_int_equal(truth_counted(kinds[k], TRUTH_WRONG), 0);
		assert_in_range(vague, 0, jobs / VAGUE_ONE_IN);
	}
}

/* GPUs that rest while they wait compute faster: without the wait, the others
 * would take longer. That is seen where the job was well before. */
static void rank_whose_waits_are_rests_costs_less(void **state)
{
	static const char kind[] = "diagnosis/3d/rest";
	unsigned jobs = truth_jobs(kind, JOBS / 2, 100), vague = 0;

	(void)state;
	for (unsigned i = 0; i < jobs; i++) {
		struct truth_options options =
			some_3d_job(truth_seed(i), TRUTH_STREAM);

		options.from_step = 20;
		options.rest = 0.05;
		vague += judge(kind, &options);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
	assert_in_range(vague, 0, jobs / VAGUE_ONE_IN);
}

/* The step from which on such a job is watched, after its rank turned late. */
#define WATCHED_FROM 22u

/* A rank of a 3D job computes for so long in a step. */
#define WORK_NS 17e6

/* Returns a job whose GPUs rest while they wait: they make up for up to 0.28 of what
 * the fault costs, or for nothing. */
#define RESTED 0.07

static struct truth_options some_resting_job(unsigned seed)
{
	struct truth_options options =
		some_3d_job(seed, seed / 4 % 2 ? TRUTH_HOST : TRUTH_STREAM);

	options.rest = seed / 3 % 5 * RESTED * options.fault_size / WORK_NS;
	return options;
}

static void rank_whose_waits_may_be_rests_costs_at_most(void **state)
{
	static const char *const kinds[] = { "diagnosis/3d/rest-start",
					     "diagnosis/3d/rest-late",
					     "diagnosis/3d/rest-seen" };
	static const unsigned from_step[] = { 0, 20, 20 };
	static const unsigned steps[] = { 40, 60, 40 };
	unsigned wrong = 0;

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		unsigned jobs = truth_jobs(kinds[k], JOBS, 100);

		for (unsigned i = 0; i < jobs; i++) {
			struct truth_options options =
				some_resting_job(truth_seed(i));

			options.from_step = from_step[k];
			options.steps = steps[k];
			judge_from(kinds[k], &options,
				   k == 1 ? WATCHED_FROM : 0);
		}
		wrong += truth_counted(kinds[k], TRUTH_WRONG);
	}
	assert_int_equal(wrong, 0);
}

static void rank_of_a_3d_job_is_found_in_turns(void **state)
{
	static const char *const kinds[] = { "diagnosis/3d-1f1b/stream",
					     "diagnosis/3d-1f1b/host" };

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		unsigned jobs = truth_jobs(kinds[k], JOBS, 100);

		for (unsigned i = 0; i < jobs; i++) {
			struct truth_options options = some_3d_job(
				truth_seed(i), k ? TRUTH_HOST : TRUTH_STREAM);

			alternate(&options);
			judge(kinds[k], &options);
		}
		assert_int_equal(truth_counted(kinds[k], TRUTH_WRONG), 0);
	}
}

/* The stage is late for some 3 s of more than 20. */
static void stage_that_was_slow_for_a_while_is_found_only_then(void **state)
{
	struct truth_options options = {
		.seed = 1,
		.shape = TRUTH_PIPELINE,
		.transport = TRUTH_MIXED,
		.ranks = 4,
		.ranks_per_host = 2,
		.communicators = 1,
		.steps = 700,
		.ahead = 1,
		.fault = TRUTH_STREAM,
		.victim = 2,
		.fault_size = 10e6,
		.from_step = 100,
		.until_step = 200,
	};
	struct truth_job *job = truth_job_new(&options);
	uint64_t begin_ns = truth_job_begin_ns(job);
	uint64_t from_ns =
		begin_ns + (uint64_t)truth_job_step_ns(job, options.from_step);
	uint64_t until_ns =
		begin_ns + (uint64_t)truth_job_step_ns(job, options.until_step);
	bool found_before = false, found_then = false, found_after = false;
	struct ncs_diagnosis diagnosis;
	struct ncs_model model;

	(void)state;
	ncs_model_init(&model);
	ncs_diagnosis_init(&diagnosis);
	for (uint64_t now_ns = begin_ns; now_ns < truth_job_end_ns(job);
	     now_ns += 500 * MS) {
		assert_int_equal(ncs_model_update(&model, truth_job_source(job),
						  now_ns),
				 0);
		assert_int_equal(ncs_diagnose(&diagnosis, &model), 0);
		if (diagnosis.count == 0)
			continue;
		assert_int_equal(rank_of(diagnosis.findings), options.victim);
		found_before |= now_ns < from_ns;
		found_then |= now_ns < until_ns;
		/* By then it was before the time that counts. */
		found_after |= now_ns >
			       until_ns + NCS_COST_WINDOW_NS + 500 * MS;
	}
	assert_true(truth_job_end_ns(job) >
		    until_ns + NCS_COST_WINDOW_NS + 1000 * MS);
	assert_false(found_before);
	assert_true(found_then);
	assert_false(found_after);
	ncs_diagnosis_release(&diagnosis);
	ncs_model_release(&model);
	truth_job_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bubbles_of_a_pipeline_are_no_finding),
		cmocka_unit_test(stage_with_a_late_host_is_found_with_its_cost),
		cmocka_unit_test(stage_with_a_busy_gpu_is_found_with_its_cost),
		cmocka_unit_test(stages_that_take_turns_are_no_finding),
		cmocka_unit_test(stage_that_is_late_in_turns_is_found),
		cmocka_unit_test(first_stage_is_compared_with_the_last),
		cmocka_unit_test(stage_of_two_in_trees_is_found_with_its_cost),
		cmocka_unit_test(late_stage_is_found_though_all_warm_up),
		cmocka_unit_test(work_after_a_send_is_not_taken_for_a_delay),
		cmocka_unit_test(
			stage_that_was_slow_for_a_while_is_found_only_then),
		cmocka_unit_test(nothing_is_found_in_healthy_3d_jobs),
		cmocka_unit_test(rank_of_a_3d_job_is_found_with_its_cost),
		cmocka_unit_test(rank_whose_waits_are_rests_costs_less),
		cmocka_unit_test(rank_whose_waits_may_be_rests_costs_at_most),
		cmocka_unit_test(rank_of_a_3d_job_is_found_in_turns),
	};

	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	truth_print_table();
	return failed;
}
