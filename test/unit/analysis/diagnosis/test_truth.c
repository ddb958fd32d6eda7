/* SPDX-License-Identifier: MIT */
/* Jobs whose truth is known: the diagnosis names the rank that has the fault,
 * why it is late and what that costs, which is the time that the same job takes
 * without the fault; and it finds nothing in a healthy job.
 *
 * Four times as many jobs are healthy as have each fault. truth_tally.h says how to
 * make one of them again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/stragglers.h"
#include "test/unit/support/simulator/sim_source.h"
#include "test/unit/support/truth_tally.h"
#include "test/unit/support/unit.h"

#define MS UINT64_C(1000000)

/* Number of jobs with each fault. */
#define JOBS 15u

/* A rank that costs less than this need not be found, and one that costs less
 * than the other must not be. */
#define COST_FOUND 0.06
#define COST_HIDDEN 0.04

/* The largest error of a cost: a tenth of it, and the steps at both ends. */
#define COST_ERROR 0.10
#define COST_ENDS 0.01

/* A job that ncclstat watches. */
struct truth_watch {
	struct sim_options options;
	struct sim_source *job;
	struct sim_source *healthy; /* the same one without the fault */
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	uint64_t now_ns;
	/* It is said that the cost is not known, or bounds are told that it is
	 * between. */
	bool is_unknown, is_bounded;
	/* Nobody can tell whether kernels or proxy threads were late. */
	bool hides_kernels;
	char why[256]; /* what is wrong with the answer; "" if nothing */
};

/* --- Jobs ----------------------------------------------------------------- */

/* Returns the options of a job: all kinds of jobs come in turn. */
static struct sim_options some_job(unsigned seed, enum sim_fault fault)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 32, 64, 6, 12, 8, 4, 2 };
	static const unsigned hosts[] = { SIM_RANKS_MAX, 4, 1 };
	struct sim_options options =
		sim_options(seed, fault, ranks[seed % 11], hosts[seed / 7 % 3]);

	options.shape = fault == SIM_HEALTHY ? seed % 3 : seed % 2;
	options.communicators = 1 + seed / 5 % 4;
	options.each = seed / 17 % 2;
	options.from_step = seed / 19 % 2 * 20;
	/* In DDP, nobody can tell how much of the others' work before a bucket
	 * ran while they waited: there, a fault comes once a step and is longer
	 * than that work. */
	if (options.shape == SIM_DDP)
		options.each = false;
	options.fault_size = (options.each ? 3e6 : 5e6) * (1 + seed % 3);
	if (options.ranks > 16)
		options.steps = 26;
	return options;
}

static void start(struct truth_watch *watch, const struct sim_options *options)
{
	struct sim_options healthy = *options;

	healthy.fault = SIM_HEALTHY;
	*watch = (struct truth_watch){ .options = *options };
	watch->job = sim_source_new(options);
	watch->healthy = sim_source_new(&healthy);
	ncs_model_init(&watch->model);
	ncs_diagnosis_init(&watch->diagnosis);
	watch->now_ns = SIM_BEGIN_NS;
}

static void stop(struct truth_watch *watch)
{
	ncs_diagnosis_release(&watch->diagnosis);
	ncs_model_release(&watch->model);
	sim_source_free(watch->job);
	sim_source_free(watch->healthy);
}

/* Looks at the job. Returns false if it had ended by the look before. */
static bool look(struct truth_watch *watch, uint64_t after_ns)
{
	if (watch->now_ns > sim_source_end_ns(watch->job) + 20 * MS)
		return false;
	watch->now_ns += after_ns;
	assert_int_equal(ncs_model_update(&watch->model, &watch->job->source,
					  watch->now_ns),
			 0);
	assert_int_equal(ncs_diagnose(&watch->diagnosis, &watch->model), 0);
	return true;
}

/* --- Answers -------------------------------------------------------------- */

static int rank_of(const struct ncs_finding *finding)
{
	return finding->root.rank ?
		       (int)finding->root.rank->process.pid - 1000 :
		       -1;
}

static void judge(struct truth_watch *watch, bool is_good, const char *what)
{
	const struct ncs_finding *finding = watch->diagnosis.findings;

	if (is_good || watch->why[0])
		return;
	if (watch->diagnosis.count == 0)
		snprintf(watch->why, sizeof(watch->why), "%s: no finding",
			 what);
	else
		snprintf(watch->why, sizeof(watch->why),
			 "%s: %s, rank %d, %s, %.3f (%.3f to %.3f)", what,
			 ncs_verdict_name(finding->verdict), rank_of(finding),
			 ncs_late_cause_name(finding->cause), finding->share,
			 finding->share_least, finding->share_most);
}

/* Returns the share of the time that the fault costs, as far as collectives of a
 * communicator tell. */
static double true_cost(const struct truth_watch *watch, uint64_t comm_id)
{
	const double *ready_ns = sim_source_comm(watch->job, comm_id)->ready_ns;
	const double *healthy_ns =
		sim_source_comm(watch->healthy, comm_id)->ready_ns;
	size_t last = sim_source_comm(watch->job, comm_id)->collectives - 1;
	double with_ns, without_ns;

	while (ready_ns[last] >= (double)(watch->now_ns - SIM_BEGIN_NS))
		last--;
	with_ns = ready_ns[last] - ready_ns[0];
	without_ns = healthy_ns[last] - healthy_ns[0];
	return (with_ns - without_ns) / with_ns;
}

/* Returns that share for the whole job. */
static double whole_cost(const struct truth_watch *watch)
{
	double with_ns = (double)(sim_source_end_ns(watch->job) - SIM_BEGIN_NS);
	double without_ns =
		(double)(sim_source_end_ns(watch->healthy) - SIM_BEGIN_NS);

	return (with_ns - without_ns) / with_ns;
}

/* Returns that share for some of its steps. */
static double cost_of_steps(const struct truth_watch *watch, unsigned from,
			    unsigned until)
{
	double with_ns = sim_source_step_ns(watch->job, until) -
			 sim_source_step_ns(watch->job, from);
	double without_ns = sim_source_step_ns(watch->healthy, until) -
			    sim_source_step_ns(watch->healthy, from);

	return (with_ns - without_ns) / with_ns;
}

static unsigned cause_of(enum sim_fault fault)
{
	switch (fault) {
	case SIM_HOST:
		return NCS_LATE_HOST;
	case SIM_PROXY:
	case SIM_ASLEEP:
		return NCS_LATE_PROXY;
	default:
		return NCS_LATE_STREAM;
	}
}

static bool is_cost_near(const struct ncs_finding *finding, double cost)
{
	return fabs(finding->share - cost) <= COST_ERROR * cost + COST_ENDS;
}

/* Whether what the finding says of its cost is true: it is near, or within the
 * bounds that it tells. */
static bool is_cost_right(const struct ncs_finding *finding, double cost)
{
	double error = COST_ERROR * cost + COST_ENDS;

	return is_cost_near(finding, cost) ||
	       (finding->share_least <= cost + error &&
		finding->share_most >= cost - error);
}

/* Returns that share without the wait at the first operation, which comes
 * once: the largest of its communicators. */
static double cost_again(const struct truth_watch *watch)
{
	double most = 0;

	for (size_t i = 0; i < watch->model.rank_count; i++) {
		const struct ncs_rank *rank = watch->model.ranks[i];

		if (rank->process.pid == 1000 + watch->options.victim)
			most = fmax(most,
				    true_cost(watch,
					      rank->now.identity.comm_id));
	}
	return most;
}

static void judge_late_rank(struct truth_watch *watch)
{
	const struct ncs_finding *finding = watch->diagnosis.findings;
	double whole = whole_cost(watch), cost;

	if (watch->diagnosis.count == 0 || whole < COST_HIDDEN) {
		watch->is_unknown = watch->diagnosis.count == 0 &&
				    truth_says_unknown(&watch->model,
						       watch->options.victim);
		judge(watch,
		      watch->diagnosis.count == 0 ?
			      watch->is_unknown ||
				      cost_again(watch) < COST_FOUND :
			      finding->share < COST_FOUND,
		      "the rank is to be found if it costs enough");
		return;
	}
	cost = true_cost(watch, finding->root.rank->now.identity.comm_id);
	judge(watch, finding->verdict == NCS_VERDICT_LATE_RANK, "verdict");
	judge(watch, rank_of(finding) == (int)watch->options.victim, "rank");
	judge(watch,
	      finding->cause == cause_of(watch->options.fault) ||
		      (watch->hides_kernels &&
		       finding->cause == NCS_LATE_STREAM &&
		       truth_has_evidence(finding, NCS_EVIDENCE_NO_DATA)),
	      "cause");
	watch->is_unknown = finding->share == 0;
	judge(watch, watch->is_unknown || is_cost_right(finding, cost), "cost");
	watch->is_bounded = !is_cost_near(finding, cost);
	if (watch->why[0] && strlen(watch->why) + 16 < sizeof(watch->why))
		sprintf(watch->why + strlen(watch->why), " (true %.3f)", cost);
}

/* Counts the answer for a job of a kind, and prints the job if it is wrong. */
static void report(const char *kind, const struct truth_watch *watch)
{
	static const char *const shapes[] = { "DDP", "tensor", "pipeline" };
	static const char *const transports[] = { "NVLink", "ring", "tree",
						  "mixed" };
	const struct sim_options *options = &watch->options;

	if (!watch->why[0]) {
		truth_count(kind, (unsigned)options->seed,
			    watch->is_unknown ? TRUTH_UNKNOWN :
			    watch->is_bounded ? TRUTH_BOUNDED :
						TRUTH_RIGHT);
		return;
	}
	print_message("seed %u: %s, %s, %u ranks, %u a host, %u communicators,"
		      " %u steps ahead, jitter %.2f, rank %u %.1f ms %s from"
		      " step %u on: %s\n",
		      (unsigned)options->seed, shapes[options->shape],
		      transports[options->transport], options->ranks,
		      options->ranks_per_host, options->communicators,
		      options->ahead, options->jitter, options->victim,
		      options->fault_size / 1e6,
		      options->each ? "each operation" : "each step",
		      options->from_step, watch->why);
	truth_count(kind, (unsigned)options->seed, TRUTH_WRONG);
}

/* Stops a job that was watched, and counts its answer. */
static void end(const char *kind, struct truth_watch *watch)
{
	report(kind, watch);
	stop(watch);
}

static void assert_none_is_wrong(const char *kind)
{
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
}

/* One cost of so many, and one more, may be told wrong: the generator knows of no rule that it is
 * learned by. */
#define WRONG_ONE_IN 6u

/* --- Tests ---------------------------------------------------------------- */

/* Looks at healthy jobs of a kind all the time. */
static void watch_healthy(const char *kind,
			  struct sim_options (*job)(unsigned seed),
			  unsigned percent)
{
	unsigned jobs = truth_jobs(kind, JOBS, percent);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options = job(truth_seed(i));
		struct truth_watch watch;

		start(&watch, &options);
		while (look(&watch, 100 * MS))
			judge(&watch, watch.diagnosis.count == 0, "healthy");
		end(kind, &watch);
	}
	assert_none_is_wrong(kind);
}

static struct sim_options healthy_job(unsigned seed)
{
	return some_job(seed, SIM_HEALTHY);
}

TEST(healthy_jobs_have_no_finding)
{
	watch_healthy("diagnosis/healthy", healthy_job, 400);
}

/* A job in which each host has work of its own in each step, as to load data, and
 * waits for its GPU after each step, runs one or two steps ahead, or never waits. */
static struct sim_options busy_hosts(unsigned seed, enum sim_fault fault)
{
	static const unsigned aheads[] = { 0, 1, 2, SIM_AHEAD_FREE };
	struct sim_options options = some_job(seed, fault);

	options.ahead = aheads[seed / 2 % 4];
	options.pause_period = 1;
	options.pause_ns = 10e6 * (1 + seed / 3 % 4);
	options.jitter = 0.02 * (1 + seed / 5 % 3);
	if (options.ranks <= 16)
		options.steps = 100;
	return options;
}

static struct sim_options healthy_with_busy_hosts(unsigned seed)
{
	return busy_hosts(seed, SIM_HEALTHY);
}

TEST(healthy_jobs_whose_hosts_are_busy_have_no_finding)
{
	watch_healthy("diagnosis/healthy/pauses", healthy_with_busy_hosts, 200);
}

static void watch_late_rank(const char *kind, const struct sim_options *options,
			    bool hides_kernels)
{
	struct truth_watch watch;

	start(&watch, options);
	watch.hides_kernels = hides_kernels;
	while (look(&watch, 500 * MS))
		;
	judge_late_rank(&watch);
	end(kind, &watch);
}

/* Watches all jobs of a kind, with a late rank each. */
static void watch_late_ranks(const char *kind,
			     struct sim_options (*job)(unsigned seed),
			     bool hides_kernels)
{
	unsigned jobs = truth_jobs(kind, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options = job(truth_seed(i));

		watch_late_rank(kind, &options, hides_kernels);
	}
	assert_in_range(truth_counted(kind, TRUTH_WRONG), 0,
			jobs / WRONG_ONE_IN + 1);
}

static struct sim_options late_host(unsigned seed)
{
	return some_job(seed, SIM_HOST);
}

TEST(rank_with_a_late_host_is_found_with_its_cost)
{
	watch_late_ranks("diagnosis/host", late_host, false);
}

static struct sim_options busy_gpu(unsigned seed)
{
	return some_job(seed, SIM_STREAM);
}

TEST(rank_with_a_busy_gpu_is_found_with_its_cost)
{
	watch_late_ranks("diagnosis/stream", busy_gpu, false);
}

static struct sim_options late_among_busy_hosts(unsigned seed)
{
	return busy_hosts(seed, SIM_HOST);
}

TEST(late_host_among_busy_hosts_is_found_with_its_cost)
{
	watch_late_ranks("diagnosis/host/pauses", late_among_busy_hosts, false);
}

static struct sim_options busy_gpu_beside_busy_hosts(unsigned seed)
{
	return busy_hosts(seed, SIM_STREAM);
}

TEST(busy_gpu_beside_busy_hosts_is_found_with_its_cost)
{
	watch_late_ranks("diagnosis/stream/pauses", busy_gpu_beside_busy_hosts,
			 false);
}

/* In DDP, nobody can tell how much of the others' work before a bucket ran while
 * they waited for it: the cost is a lower bound then. */
static struct sim_options hidden_work(unsigned seed)
{
	struct sim_options options =
		some_job(seed, seed % 2 ? SIM_HOST : SIM_STREAM);

	options.shape = SIM_DDP;
	options.each = seed / 2 % 2;
	options.fault_size = (1 + seed % 5) * 1e6;
	return options;
}

TEST(ranks_of_hidden_work_cost_at_least)
{
	watch_late_ranks("diagnosis/hidden", hidden_work, false);
}

/* Its lags go on from bucket to bucket, which chance nearly hides. */
TEST(lag_that_hardly_seems_to_go_on_costs_at_most)
{
	static const char kind[] = "diagnosis/lag";
	struct sim_options options = hidden_work(620);

	if (truth_jobs(kind, JOBS, 100) > 0)
		watch_late_rank(kind, &options, false);
	assert_none_is_wrong(kind);
}

static struct sim_options slow_gpu(unsigned seed)
{
	struct sim_options options = some_job(seed, SIM_GPU);

	options.fault_size = 1.3 + 0.4 * (seed % 5);
	return options;
}

TEST(slow_gpu_is_found_with_its_cost)
{
	watch_late_ranks("diagnosis/gpu", slow_gpu, false);
}

static struct sim_options late_proxy(unsigned seed)
{
	struct sim_options options =
		some_job(seed, seed / 2 % 2 ? SIM_PROXY : SIM_ASLEEP);

	options.communicators = 1;
	options.ranks_per_host = 1;
	options.fault_size = (1 + seed % 3) * 2e6;
	return options;
}

static struct sim_options late_proxy_in_a_ring(unsigned seed)
{
	struct sim_options options = late_proxy(seed);

	options.transport = SIM_RING;
	options.ranks += 2 * (options.ranks == 2);
	return options;
}

TEST(late_proxy_thread_is_found_with_its_rank)
{
	watch_late_ranks("diagnosis/proxy", late_proxy_in_a_ring, false);
}

/* In a tree, and between two, each rank sends to those that it receives from. */
static struct sim_options late_proxy_both_ways(unsigned seed)
{
	struct sim_options options = late_proxy(seed);

	options.transport = seed % 3 ? SIM_TREE : SIM_RING;
	if (options.transport == SIM_RING || seed % 5 == 0)
		options.ranks = 2;
	options.victim %= options.ranks;
	return options;
}

TEST(late_proxy_thread_between_two_or_in_a_tree_is_found)
{
	watch_late_ranks("diagnosis/proxy/both-ways", late_proxy_both_ways,
			 false);
}

/* Where only the times on streams are known, a GPU without room for the kernel
 * looks like a late proxy thread: the rank is found, and that is said. */
static struct sim_options late_proxy_beside_streams(unsigned seed)
{
	struct sim_options options = late_proxy(seed);

	options.transport = SIM_MIXED;
	return options;
}

TEST(late_proxy_thread_beside_times_on_streams_is_found)
{
	watch_late_ranks("diagnosis/proxy/stream", late_proxy_beside_streams,
			 true);
}

/* Ranks compute while data is on the way, so that the cost is an upper bound; it
 * is the cost where they wait for each operation. */
static void watch_slow_link(const char *kind, const struct sim_options *options)
{
	const struct ncs_finding *finding;
	struct truth_watch watch;
	double cost;

	start(&watch, options);
	while (watch.now_ns + 60 * MS < sim_source_end_ns(watch.job))
		look(&watch, 50 * MS);
	finding = watch.diagnosis.findings;
	judge(&watch,
	      watch.diagnosis.count > 0 &&
		      finding->verdict == NCS_VERDICT_SLOW_NETWORK &&
		      rank_of(finding) == (int)options->victim,
	      "network");
	cost = options->from_step == 0 ?
		       whole_cost(&watch) :
		       cost_of_steps(&watch, options->from_step,
				     options->steps - 1);
	if (watch.diagnosis.count > 0)
		judge(&watch,
		      finding->share_least == 0 &&
			      finding->share >=
				      cost * (1 - COST_ERROR) - COST_ENDS,
		      "it costs at most");
	if (watch.diagnosis.count > 0 && options->from_step == 0 &&
	    options->shape == SIM_TENSOR && options->communicators == 1)
		judge(&watch, is_cost_near(finding, whole_cost(&watch)),
		      "cost of the network");
	end(kind, &watch);
}

static struct sim_options slow_link(unsigned seed)
{
	struct sim_options options = some_job(seed, SIM_NETWORK);

	options.transport = SIM_RING;
	if (options.communicators == 1)
		options.transport = SIM_TREE;
	options.ranks_per_host = 1;
	options.steps = 120;
	options.fault_size = 20;
	return options;
}

TEST(link_that_turns_slow_is_found_with_its_sender)
{
	static const char kind[] = "diagnosis/network/turns";
	unsigned jobs = truth_jobs(kind, JOBS, 50);

	for (unsigned i = 0; i < jobs; i++) {
		unsigned seed = truth_seed(i);
		struct sim_options options = slow_link(seed);

		options.from_step = 60;
		watch_slow_link(kind, &options);
	}
	assert_none_is_wrong(kind);
}

TEST(link_that_is_slow_from_the_start_is_found_with_its_sender)
{
	static const char kind[] = "diagnosis/network/start";
	unsigned jobs = truth_jobs(kind, JOBS, 50);

	for (unsigned i = 0; i < jobs; i++) {
		unsigned seed = truth_seed(i);
		struct sim_options options = slow_link(seed);

		options.steps = 60;
		options.from_step = 0;
		watch_slow_link(kind, &options);
	}
	assert_none_is_wrong(kind);
}

/* A link that is slow for some steps: its sender is found at all looks but five
 * until it ends, and no more a second later; no other rank is. */
static void watch_link_for_a_while(const char *kind,
				   const struct sim_options *options)
{
	unsigned looks = 0, found = 0;
	struct truth_watch watch;
	uint64_t from_ns, until_ns;

	start(&watch, options);
	from_ns = SIM_BEGIN_NS +
		  (uint64_t)sim_source_step_ns(watch.job, options->from_step);
	until_ns = SIM_BEGIN_NS +
		   (uint64_t)sim_source_step_ns(watch.job, options->until_step);
	while (look(&watch, 50 * MS)) {
		bool is_slow = watch.now_ns > from_ns &&
			       watch.now_ns < until_ns;
		bool is_found = watch.diagnosis.count > 0;

		looks += is_slow;
		found += is_slow && is_found;
		if (is_found)
			judge(&watch,
			      rank_of(watch.diagnosis.findings) ==
				      (int)options->victim,
			      "rank");
		if (watch.now_ns > until_ns + 1000 * MS)
			judge(&watch, !is_found, "after its end");
	}
	judge(&watch, looks > 20 && found + 5 >= looks, "while it lasts");
	end(kind, &watch);
}

TEST(link_that_is_slow_for_a_while_is_found_only_then)
{
	static const char kind[] = "diagnosis/network/while";
	unsigned jobs = truth_jobs(kind, JOBS, 50);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options = slow_link(truth_seed(i));

		options.steps = 400;
		options.from_step = 60;
		options.until_step = 120;
		watch_link_for_a_while(kind, &options);
	}
	assert_none_is_wrong(kind);
}

/* Sockets take data at once: at the sender nothing is slow. Between two ranks
 * neither waits more than the other. */
static struct sim_options buffered_link(unsigned seed)
{
	struct sim_options options = slow_link(seed);

	options.buffered = true;
	options.transport = seed % 3 == 0 ? SIM_RING :
			    seed % 3 == 1 ? SIM_TREE :
					    SIM_MIXED;
	if (seed % 2)
		options.ranks = 2;
	if (options.ranks > 16)
		options.ranks = 16;
	options.victim %= options.ranks;
	options.communicators = 1;
	return options;
}

static void judge_buffered_link(struct truth_watch *watch, double cost)
{
	const struct ncs_finding *finding = watch->diagnosis.findings;

	if (watch->diagnosis.count == 0) {
		judge(watch, cost < COST_FOUND, "it costs enough");
		return;
	}
	judge(watch, finding->verdict == NCS_VERDICT_SLOW_NETWORK, "network");
	judge(watch, rank_of(finding) == (int)watch->options.victim, "rank");
	judge(watch, finding->peer.rank != NULL, "both ends");
	judge(watch, is_cost_right(finding, cost), "it costs at most");
}

TEST(buffered_link_that_turns_slow_is_found_with_both_ends)
{
	static const char kind[] = "diagnosis/network/buffered";
	unsigned jobs = truth_jobs(kind, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options = buffered_link(truth_seed(i));
		struct truth_watch watch;

		options.from_step = 60;
		start(&watch, &options);
		while (watch.now_ns + 60 * MS < sim_source_end_ns(watch.job))
			look(&watch, 50 * MS);
		judge_buffered_link(&watch, cost_of_steps(&watch, 60, 119));
		end(kind, &watch);
	}
	assert_none_is_wrong(kind);
}

/* In one look there is no past but that of the records. */
TEST(buffered_link_that_turned_slow_is_found_in_one_look)
{
	static const char kind[] = "diagnosis/network/one-look";
	unsigned jobs = truth_jobs(kind, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options = buffered_link(truth_seed(i));
		struct truth_watch watch;

		options.from_step = 60;
		start(&watch, &options);
		look(&watch, sim_source_end_ns(watch.job) - SIM_BEGIN_NS);
		judge_buffered_link(&watch, cost_of_steps(&watch, 60, 119));
		end(kind, &watch);
	}
	assert_none_is_wrong(kind);
}

/* It cannot be known that a link is slow which never was faster. */
TEST(nothing_wrong_is_said_of_links_that_were_always_slow)
{
	static const char kind[] = "diagnosis/network/always";
	unsigned jobs = truth_jobs(kind, JOBS, 50);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options = buffered_link(truth_seed(i));
		struct truth_watch watch;

		start(&watch, &options);
		while (look(&watch, 50 * MS))
			if (watch.diagnosis.count > 0)
				judge(&watch,
				      rank_of(watch.diagnosis.findings) ==
					      (int)options.victim,
				      "rank");
		end(kind, &watch);
	}
	assert_none_is_wrong(kind);
}

/* In this job, the time of a link's messages is known only while it is slow. */
TEST(link_is_not_found_once_its_times_are_unknown)
{
	static const char kind[] = "diagnosis/network/unknown-after";
	struct sim_options options = slow_link(21021);

	options.steps = 400;
	options.from_step = 60;
	options.until_step = 120;
	if (truth_jobs(kind, 1, 100) > 0)
		watch_link_for_a_while(kind, &options);
	assert_none_is_wrong(kind);
}

/* Receivers that wait for the slow link take no data of others. */
TEST(slow_link_of_a_tree_costs_no_more_than_is_told)
{
	static const char kind[] = "diagnosis/network/start-tree";
	struct sim_options options = slow_link(31061);

	options.steps = 60;
	options.from_step = 0;
	if (truth_jobs(kind, 1, 100) > 0)
		watch_slow_link(kind, &options);
	assert_none_is_wrong(kind);
}

TEST(buffered_link_is_found_only_while_it_is_slow)
{
	static const char kind[] = "diagnosis/network/buffered-while";
	unsigned jobs = truth_jobs(kind, JOBS, 50);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options = buffered_link(truth_seed(i));
		struct truth_watch watch;
		uint64_t until_ns;

		options.steps = 400;
		options.from_step = 60;
		options.until_step = 120;
		start(&watch, &options);
		until_ns = SIM_BEGIN_NS +
			   (uint64_t)sim_source_step_ns(watch.job, 120);
		while (look(&watch, 50 * MS)) {
			if (watch.diagnosis.count == 0)
				continue;
			judge(&watch,
			      rank_of(watch.diagnosis.findings) ==
				      (int)options.victim,
			      "rank");
			judge(&watch, watch.now_ns < until_ns + 1000 * MS,
			      "after its end");
		}
		end(kind, &watch);
	}
	assert_none_is_wrong(kind);
}

/* Ten seconds after its end, and while it lasts, if it costs enough: what is done
 * while the GPU has work does not. */
TEST(fault_that_ends_is_found_no_more)
{
	static const char kind[] = "diagnosis/ended";
	unsigned jobs = truth_jobs(kind, JOBS, 10);

	for (unsigned i = 0; i < jobs; i++) {
		unsigned seed = truth_seed(i);
		struct sim_options options =
			some_job(seed, seed % 2 ? SIM_HOST : SIM_STREAM);
		struct truth_watch watch;
		uint64_t until_ns;
		double cost;

		options.shape = SIM_TENSOR;
		options.ranks = 4;
		options.victim = seed % 4;
		options.steps = 1600;
		options.from_step = 100;
		options.until_step = 200;
		start(&watch, &options);
		until_ns = SIM_BEGIN_NS +
			   (uint64_t)sim_source_step_ns(watch.job, 200);
		while (watch.now_ns + 200 * MS < until_ns)
			look(&watch, 100 * MS);
		cost = cost_of_steps(&watch, 100, 200);
		judge(&watch,
		      watch.diagnosis.count > 0 ?
			      rank_of(watch.diagnosis.findings) ==
				      (int)options.victim :
			      cost < COST_FOUND,
		      "while it lasts");
		while (look(&watch, 100 * MS))
			if (watch.now_ns > until_ns + 11000 * MS)
				judge(&watch, watch.diagnosis.count == 0,
				      "after its end");
		judge(&watch, watch.now_ns > until_ns + 12000 * MS,
		      "the job is long enough");
		end(kind, &watch);
	}
	assert_none_is_wrong(kind);
}

/* Returns whether a finding is on calls that differ, and names the rank that is
 * alone with its call. Between two, either may be the one. */
static bool is_mismatch_of(const struct ncs_finding *finding, unsigned victim)
{
	return finding->verdict == NCS_VERDICT_SIZE_MISMATCH &&
	       finding->severity == NCS_SEVERITY_SLOW &&
	       truth_has_evidence(finding, NCS_EVIDENCE_ENDED) &&
	       (rank_of(finding) == (int)victim ||
		(finding->confidence == NCS_CONFIDENCE_LIKELY &&
		 finding->peer.rank->process.pid == 1000 + victim));
}

/* Nothing waits for calls that differ but end. */
TEST(calls_that_differ_but_end_are_found)
{
	static const char kind[] = "diagnosis/unlike";
	unsigned jobs = truth_jobs(kind, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		unsigned seed = truth_seed(i);
		struct sim_options options = some_job(seed, SIM_HEALTHY);
		struct truth_watch watch;
		uint64_t from_ns;

		options.transport = SIM_NVLINK;
		options.ranks_per_host = SIM_RANKS_MAX;
		options.unlike_step = 5 + seed % 10;
		start(&watch, &options);
		from_ns = SIM_BEGIN_NS +
			  (uint64_t)sim_source_step_ns(watch.job,
						       options.unlike_step);
		while (look(&watch, 100 * MS))
			if (watch.now_ns < from_ns)
				judge(&watch, watch.diagnosis.count == 0,
				      "before");
		judge(&watch, watch.diagnosis.count > 0, "calls that differ");
		for (size_t k = 0; k < watch.diagnosis.count; k++)
			judge(&watch,
			      is_mismatch_of(&watch.diagnosis.findings[k],
					     options.victim),
			      "calls that differ");
		end(kind, &watch);
	}
	assert_none_is_wrong(kind);
}

int main(void)
{
	int failed = unit_run();

	truth_print_table();
	return failed;
}
