/* SPDX-License-Identifier: MIT */
/* Jobs whose truth is known: what a rank costs is told as what the same job gains
 * without the fault, as the live view tells it of the job's records.
 *
 * truth_tally.h says how to make one of them again. With TRUTH_VERBOSE each job's
 * true and told cost is printed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"
#include "analysis/model/stragglers.h"
#include "test/unit/support/simulator/sim_source.h"
#include "test/unit/support/truth_tally.h"
#include "test/unit/support/unit.h"

#define MS 1e6
#define LOOK_NS UINT64_C(250000000)

/* A cost may be wrong by so much of the time, or by this share of it. */
#define ERROR 0.01
#define ERROR_SHARE 0.1

/* Number of jobs of each kind. */
#define JOBS 3u

/* Anchors are known from this step on. */
#define FIRST_STEP 5u

struct truth_cost {
	const char *name;
	enum sim_shape shape;
	unsigned ahead;
	enum sim_fault fault;
	double size;
	unsigned from_step, period;
	/* Per cent of jobs of which the cost is known and right, at least. */
	unsigned right;
};

#define KIND(name) "cost/" name

static const struct truth_cost faulty[] = {
	{ KIND("ddp/gpu-5"), SIM_DDP, 0, SIM_GPU, 1.05, 0, 0, 100 },
	{ KIND("ddp/gpu-10"), SIM_DDP, 0, SIM_GPU, 1.1, 0, 0, 100 },
	{ KIND("ddp/gpu-20"), SIM_DDP, 0, SIM_GPU, 1.2, 0, 0, 100 },
	{ KIND("ddp/gpu-50"), SIM_DDP, 0, SIM_GPU, 1.5, 0, 0, 100 },
	{ KIND("ddp-ahead/gpu-20"), SIM_DDP, 2, SIM_GPU, 1.2, 0, 0, 100 },
	{ KIND("ddp/throttles"), SIM_DDP, 0, SIM_GPU, 1.15, 75, 0, 100 },
	{ KIND("ddp/tenth-gpu-x2"), SIM_DDP, 0, SIM_GPU, 2, 0, 10, 100 },
	{ KIND("ddp/tenth-gpu-x4"), SIM_DDP, 0, SIM_GPU, 4, 0, 10, 100 },
	{ KIND("moe/gpu-20"), SIM_MOE, 0, SIM_GPU, 1.2, 0, 0, 100 },
	{ KIND("moe/gpu-50"), SIM_MOE, 0, SIM_GPU, 1.5, 0, 0, 100 },
	{ KIND("tensor/gpu-20"), SIM_TENSOR, 0, SIM_GPU, 1.2, 0, 0, 100 },
	{ KIND("fsdp/gpu-20"), SIM_FSDP, 0, SIM_GPU, 1.2, 0, 0, 100 },
	{ KIND("ddp/host"), SIM_DDP, 0, SIM_HOST, 5 * MS, 0, 0, 100 },
	{ KIND("ddp/tenth-host"), SIM_DDP, 0, SIM_HOST, 25 * MS, 0, 10, 100 },
	{ KIND("tensor/host"), SIM_TENSOR, 0, SIM_HOST, 5 * MS, 0, 0, 100 },
	{ KIND("fsdp/host"), SIM_FSDP, 0, SIM_HOST, 5 * MS, 0, 0, 100 },
	{ KIND("ddp-ahead/host"), SIM_DDP, 2, SIM_HOST, 40 * MS, 0, 0, 60 },
	/* If the root is late by one time always, each of the others may as well be slow
	 * from its own call on, by as much. */
	{ KIND("buffers/gpu-20"), SIM_BUFFERS, 0, SIM_GPU, 1.2, 0, 0, 60 },
	{ KIND("buffers/gpu-50"), SIM_BUFFERS, 0, SIM_GPU, 1.5, 0, 0, 100 },
	{ KIND("buffers/host"), SIM_BUFFERS, 0, SIM_HOST, 5 * MS, 0, 0, 60 },
	{ KIND("buffers/tenth-gpu-x2"), SIM_BUFFERS, 0, SIM_GPU, 2, 0, 10,
	  100 },
	{ KIND("buffers/tenth-gpu-x4"), SIM_BUFFERS, 0, SIM_GPU, 4, 0, 10,
	  100 },
	{ KIND("buffers-ahead/gpu-20"), SIM_BUFFERS, 2, SIM_GPU, 1.2, 0, 0,
	  100 },
	{ KIND("buffers-ahead/host"), SIM_BUFFERS, 2, SIM_HOST, 40 * MS, 0, 0,
	  30 },
};

/* No rank costs anything in these. */
static const struct truth_cost blameless[] = {
	{ KIND("ddp/healthy"), SIM_DDP, 0, SIM_HEALTHY, 1, 0, 0, 100 },
	{ KIND("ddp-ahead/healthy"), SIM_DDP, 2, SIM_HEALTHY, 1, 0, 0, 100 },
	{ KIND("fsdp/healthy"), SIM_FSDP, 0, SIM_HEALTHY, 1, 0, 0, 100 },
	{ KIND("tensor/healthy"), SIM_TENSOR, 0, SIM_HEALTHY, 1, 0, 0, 100 },
	{ KIND("moe/healthy"), SIM_MOE, 0, SIM_HEALTHY, 1, 0, 0, 100 },
	{ KIND("ddp-ahead/hidden"), SIM_DDP, 2, SIM_HOST, 4 * MS, 0, 0, 100 },
	{ KIND("ddp/link"), SIM_DDP, 0, SIM_NETWORK, 4, 0, 0, 100 },
	{ KIND("buffers/healthy"), SIM_BUFFERS, 0, SIM_HEALTHY, 1, 0, 0, 100 },
	{ KIND("buffers-ahead/healthy"), SIM_BUFFERS, 2, SIM_HEALTHY, 1, 0, 0,
	  100 },
};

/* It cannot be known in these. */
static const struct truth_cost unknown[] = {
	{ KIND("pipeline/gpu-20"), SIM_PIPELINE, 0, SIM_GPU, 1.2, 0, 0, 0 },
	{ KIND("pipeline/gpu-50"), SIM_PIPELINE, 2, SIM_GPU, 1.5, 0, 0, 0 },
	{ KIND("server/healthy"), SIM_SERVER, 0, SIM_HEALTHY, 1, 0, 0, 0 },
};

/* Transfers take so many times longer in these: the truth is what the job gains if they
 * take no time. */
static const struct truth_cost exposed[] = {
	{ KIND("exposed/ddp-half"), SIM_DDP, 0, SIM_NETWORK, 0.5, 0, 0, 100 },
	{ KIND("exposed/ddp"), SIM_DDP, 0, SIM_NETWORK, 1, 0, 0, 100 },
	{ KIND("exposed/ddp-ahead"), SIM_DDP, 2, SIM_NETWORK, 1, 0, 0, 100 },
	/* When buckets that always wait for the one before were ready, is not seen. */
	{ KIND("exposed/ddp-x4"), SIM_DDP, 0, SIM_NETWORK, 4, 0, 0, 0 },
	{ KIND("exposed/fsdp"), SIM_FSDP, 0, SIM_NETWORK, 1, 0, 0, 60 },
	{ KIND("exposed/fsdp-x4"), SIM_FSDP, 0, SIM_NETWORK, 4, 0, 0, 100 },
	{ KIND("exposed/tensor"), SIM_TENSOR, 0, SIM_NETWORK, 1, 0, 0, 100 },
	{ KIND("exposed/moe"), SIM_MOE, 0, SIM_NETWORK, 1, 0, 0, 100 },
	{ KIND("exposed/pipeline"), SIM_PIPELINE, 0, SIM_NETWORK, 1, 0, 0,
	  100 },
};

static struct sim_options some_job(const struct truth_cost *kind, unsigned seed)
{
	static const unsigned ranks[] = { 4, 8, 2 };
	static const double noises[] = { 0.01, 0.03, 0.003 };
	struct sim_options options = sim_plain(kind->shape, seed);

	options.ranks = ranks[seed % 3];
	if (kind->shape == SIM_PIPELINE)
		options.ranks = 4;
	options.noise = noises[seed / 2 % 3];
	/* Only the root of a server does what no other rank does. */
	options.victim = kind->shape == SIM_SERVER ? 0 : seed % options.ranks;
	options.barrier_period = seed / 3 % 2 * 20;
	options.ahead = kind->ahead;
	options.fault = kind->fault;
	options.fault_size = kind->size;
	options.from_step = kind->from_step;
	options.period = kind->period;
	return options;
}

/* --- Told ----------------------------------------------------------------- */

/* Sets `costs` to what is told of each rank at the end of a job, unless it is NULL, and
 * *step to the job's step. */
static void read_costs(const struct sim_options *options,
		       struct ncs_cost_of_rank *costs,
		       struct ncs_job_step *step)
{
	struct sim_source *job = sim_source_new(options);
	uint64_t now_ns = SIM_BEGIN_NS;
	struct ncs_model model;

	ncs_model_init(&model);
	for (; now_ns < sim_source_end_ns(job) + LOOK_NS; now_ns += LOOK_NS)
		assert_int_equal(ncs_model_update(&model, &job->source, now_ns),
				 0);
	for (size_t i = 0; i < model.rank_count; i++) {
		const struct ncs_rank *rank = model.ranks[i];
		const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

		assert_non_null(view);
		assert_true(ncs_rank_step(&model, rank, step));
		if (costs)
			costs[rank->now.identity.rank] = view->cost;
	}
	/* The model is gone after this. */
	step->latest = NULL;
	ncs_model_release(&model);
	sim_source_free(job);
}

/* --- Judging -------------------------------------------------------------- */

static bool is_near(double told, double share)
{
	return fabs(told - share) <= fmax(ERROR, ERROR_SHARE * share);
}

static enum truth_answer judge(bool is_known, double told, double least,
			       double most, double share)
{
	if (!is_known)
		return TRUTH_UNKNOWN;
	if (is_near(told, share))
		return TRUTH_RIGHT;
	return least <= share && share <= most && most - least < 1 ?
		       TRUTH_BOUNDED :
		       TRUTH_WRONG;
}

/* Judges what is told of the victim, whose true cost is `share`, and of the others,
 * which cost nothing. */
static void judge_job(const struct truth_cost *kind, unsigned seed)
{
	struct sim_options options = some_job(kind, seed);
	double share = sim_share(&options, FIRST_STEP);
	struct ncs_cost_of_rank costs[SIM_RANKS_MAX] = { 0 };
	struct ncs_job_step step;
	const struct ncs_cost_of_rank *victim = &costs[options.victim];
	enum truth_answer answer;

	if (kind->fault == SIM_NETWORK)
		share = 0;
	read_costs(&options, costs, &step);
	answer = judge(victim->unknown == NCS_COST_KNOWN, victim->share,
		       victim->least, victim->most, share);
	for (size_t i = 0; i < options.ranks; i++)
		if (i != options.victim && costs[i].unknown == NCS_COST_KNOWN &&
		    costs[i].share > ERROR)
			answer = TRUTH_WRONG;
	if (answer == TRUTH_WRONG || getenv("TRUTH_VERBOSE"))
		print_message("%-24s seed %u: true %5.1f, told %5.1f [%.1f .."
			      " %.1f] %s, %u steps\n",
			      kind->name, seed, 100 * share,
			      100 * victim->share, 100 * victim->least,
			      100 * victim->most,
			      victim->unknown ? ncs_cost_unknown_name(
							victim->unknown) :
						"known",
			      victim->steps);
	truth_count(kind->name, seed, answer);
}

static unsigned judge_kind(const struct truth_cost *kind)
{
	unsigned jobs = truth_jobs(kind->name, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++)
		judge_job(kind, truth_seed(i));
	return jobs;
}

#define COUNT(kinds) (sizeof(kinds) / sizeof((kinds)[0]))

TEST(a_rank_costs_what_the_job_gains_without_its_fault)
{
	for (size_t i = 0; i < COUNT(faulty); i++) {
		unsigned jobs = judge_kind(&faulty[i]);

		assert_int_equal(truth_counted(faulty[i].name, TRUTH_WRONG), 0);
		assert_in_range(truth_counted(faulty[i].name, TRUTH_RIGHT),
				faulty[i].right * jobs / 100, jobs);
	}
}

TEST(no_rank_costs_anything_where_nothing_is_lost)
{
	for (size_t i = 0; i < COUNT(blameless); i++) {
		unsigned jobs = judge_kind(&blameless[i]);

		assert_int_equal(truth_counted(blameless[i].name, TRUTH_RIGHT),
				 jobs);
	}
}

TEST(the_cost_of_a_rank_without_peer_is_not_known)
{
	for (size_t i = 0; i < COUNT(unknown); i++) {
		unsigned jobs = judge_kind(&unknown[i]);

		assert_int_equal(truth_counted(unknown[i].name, TRUTH_UNKNOWN),
				 jobs);
	}
}

/* Judges what is told of the time that the transfers of a job take. */
static void judge_exposed(const struct truth_cost *kind, unsigned seed)
{
	struct sim_options options = some_job(kind, seed), without = options;
	double ns = sim_step_ns(&options, FIRST_STEP), exposed_ns;
	struct ncs_job_step step;
	enum truth_answer answer;

	without.fault_size = 0;
	exposed_ns = ns - sim_step_ns(&without, FIRST_STEP);
	read_costs(&options, NULL, &step);
	answer = judge(step.exposed_unknown == NCS_COST_KNOWN,
		       step.exposed_ns / ns, step.exposed_least_ns / ns,
		       step.exposed_most_ns / ns, exposed_ns / ns);
	assert_int_equal(step.step.unknown, NCS_COST_KNOWN);
	assert_float_equal(step.step.ns, ns, 0.01 * ns);
	if (answer == TRUTH_WRONG || getenv("TRUTH_VERBOSE"))
		print_message("%-24s seed %u: step true %.2f, told %.2f; exposed"
			      " true %.2f, told %.2f [%.2f .. %.2f] ms\n",
			      kind->name, seed, ns / MS, step.step.ns / MS,
			      exposed_ns / MS, step.exposed_ns / MS,
			      step.exposed_least_ns / MS,
			      step.exposed_most_ns / MS);
	truth_count(kind->name, seed, answer);
}

TEST(a_step_has_the_time_of_transfers_that_nothing_hides)
{
	for (size_t i = 0; i < COUNT(exposed); i++) {
		const char *name = exposed[i].name;
		unsigned jobs = truth_jobs(name, JOBS, 100);

		for (unsigned k = 0; k < jobs; k++)
			judge_exposed(&exposed[i], truth_seed(k));
		assert_int_equal(truth_counted(name, TRUTH_WRONG), 0);
		assert_in_range(truth_counted(name, TRUTH_RIGHT),
				exposed[i].right * jobs / 100, jobs);
	}
}

/* A rank that surely costs something is named, with what it costs a step. */
TEST(a_step_tells_for_whom_ranks_wait)
{
	struct sim_options options = sim_plain(SIM_DDP, 1);
	struct sim_source *job;
	uint64_t now_ns = SIM_BEGIN_NS;
	struct ncs_job_step step;
	struct ncs_model model;

	options.fault = SIM_GPU;
	options.fault_size = 1.2;
	job = sim_source_new(&options);
	ncs_model_init(&model);
	for (; now_ns < sim_source_end_ns(job) + LOOK_NS; now_ns += LOOK_NS)
		assert_int_equal(ncs_model_update(&model, &job->source, now_ns),
				 0);
	assert_true(ncs_rank_step(&model, model.ranks[0], &step));
	assert_non_null(step.latest);
	assert_int_equal(step.latest->now.identity.rank, options.victim);
	assert_float_equal(step.waiting_ns,
			   sim_share(&options, FIRST_STEP) *
				   sim_step_ns(&options, FIRST_STEP),
			   0.2 * MS);
	ncs_model_release(&model);
	sim_source_free(job);
}

int main(void)
{
	int failed = unit_run();

	truth_print_table();
	return failed;
}
