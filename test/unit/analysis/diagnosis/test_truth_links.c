/* SPDX-License-Identifier: MIT */
/* Links that turned slow before ncclstat began to look: they are found by what the
 * segments have kept of the time before, and it is said where they kept nothing.
 * Messages whose sizes change make no link slow. A slow link does not cost what
 * that of another job does. truth_tally.h says how to make
 * one of the jobs again. */
#include <math.h>
#include <stdio.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/slow_links.h"
#include "test/unit/support/simulator/sim_source.h"
#include "test/unit/support/truth_tally.h"
#include "test/unit/support/unit.h"

#define MS UINT64_C(1000000)

/* Number of jobs of each kind. */
#define JOBS 15u

/* A link that costs less than this need not be found. */
#define COST_FOUND 0.06

#define STEPS 120u
#define CHANGE 80u

struct watch {
	struct sim_source *job;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	uint64_t now_ns;
};

static void start(struct watch *watch, const struct sim_options *options,
		  enum sim_past past)
{
	watch->job = sim_source_new(options);
	/* GPUs come to a step later than the hosts that are ahead of them. */
	sim_source_forget(watch->job, CHANGE + 1 + options->ahead, past);
	ncs_model_init(&watch->model);
	ncs_diagnosis_init(&watch->diagnosis);
	watch->model.diagnosis = &watch->diagnosis;
	watch->now_ns = SIM_BEGIN_NS;
}

static void look(struct watch *watch, uint64_t now_ns)
{
	watch->now_ns = now_ns;
	assert_int_equal(ncs_model_update(&watch->model, &watch->job->source,
					  now_ns),
			 0);
	assert_int_equal(ncs_diagnose(&watch->diagnosis, &watch->model), 0);
}

/* Looks once at the end, and a moment before. */
static void look_late(struct watch *watch)
{
	uint64_t end_ns = sim_source_end_ns(watch->job);

	look(watch, end_ns - 50 * MS);
	look(watch, end_ns);
}

static void stop(struct watch *watch)
{
	ncs_diagnosis_release(&watch->diagnosis);
	ncs_model_release(&watch->model);
	sim_source_free(watch->job);
}

/* The slow link is the one from the victim to the next rank. */
static struct sim_options slow_link(unsigned seed, unsigned transport)
{
	static const unsigned ranks[] = { 2, 4, 8, 16, 6, 12, 2 };
	struct sim_options options =
		sim_options(seed, SIM_NETWORK, ranks[seed % 7], 1);

	options.shape = seed % 2 ? SIM_TENSOR : SIM_DDP;
	options.transport = transport;
	options.communicators = 1;
	options.buffered = true;
	options.steps = STEPS;
	options.from_step = CHANGE;
	options.fault_size = 20;
	return options;
}

/* Returns the share of the time that the slow link costs from when it is slow. */
static double cost_of(const struct sim_options *options,
		      const struct sim_source *job)
{
	struct sim_options healthy = *options;
	struct sim_source *without;
	double with_ns, without_ns;

	healthy.fault = SIM_HEALTHY;
	without = sim_source_new(&healthy);
	with_ns = sim_source_step_ns(job, STEPS - 1) -
		  sim_source_step_ns(job, CHANGE);
	without_ns = sim_source_step_ns(without, STEPS - 1) -
		     sim_source_step_ns(without, CHANGE);
	sim_source_free(without);
	return (with_ns - without_ns) / with_ns;
}

static bool is_right(const struct watch *watch,
		     const struct sim_options *options)
{
	const struct ncs_finding *finding = watch->diagnosis.findings;

	if (watch->diagnosis.count == 0)
		return cost_of(options, watch->job) < COST_FOUND;
	return finding->verdict == NCS_VERDICT_SLOW_NETWORK &&
	       finding->root.rank && finding->peer.rank &&
	       finding->root.rank->process.pid == 1000 + options->victim;
}

static void answer(const char *kind, struct watch *watch,
		   const struct sim_options *options, bool good)
{
	const struct ncs_finding *finding = watch->diagnosis.findings;
	unsigned seed = (unsigned)options->seed;

	truth_count(kind, seed, good ? TRUTH_RIGHT : TRUTH_WRONG);
	if (!good)
		print_message("%s, seed %u: transport %u, %u ranks, victim %u:"
			      " %s, pid %u, cost %.3f\n",
			      kind, seed, options->transport, options->ranks,
			      options->victim,
			      watch->diagnosis.count > 0 ?
				      ncs_verdict_name(finding->verdict) :
				      "no finding",
			      watch->diagnosis.count > 0 && finding->root.rank ?
				      finding->root.rank->process.pid :
				      0,
			      cost_of(options, watch->job));
	stop(watch);
}

static enum ncs_link_check check_of(const struct watch *watch)
{
	return ncs_diagnosis_links(&watch->diagnosis,
				   &watch->model.communicators[0]);
}

/* Looks late at the job of this number, which has a slow link. Returns whether
 * there is a finding. */
static bool late_look_finds(unsigned number, enum sim_past past,
			    struct sim_options *options, struct watch *watch)
{
	*options = slow_link(truth_seed(number), SIM_MIXED);
	start(watch, options, past);
	look_late(watch);
	return watch->diagnosis.count > 0;
}

/* Rings of steps are short, those of operations are long. */
TEST(slow_link_is_found_by_operations_without_steps)
{
	static const char kind[] = "links/late-look/operations";
	unsigned jobs = truth_jobs(kind, JOBS, 100), found = 0;

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options;
		struct watch watch;
		bool finds = late_look_finds(i, SIM_PAST_OPERATIONS, &options,
					     &watch);

		found += finds;
		if (finds)
			assert_int_equal(watch.diagnosis.findings->confidence,
					 NCS_CONFIDENCE_POSSIBLE);
		answer(kind, &watch, &options, is_right(&watch, &options));
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
	assert_true(jobs < JOBS || 2 * found > jobs);
}

TEST(slow_link_is_found_by_counters_without_records)
{
	static const char kind[] = "links/late-look/counters";
	unsigned jobs = truth_jobs(kind, JOBS, 100), found = 0;

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options;
		struct watch watch;
		bool finds =
			late_look_finds(i, SIM_PAST_COUNTERS, &options, &watch);
		bool says_so;

		found += finds;
		says_so = !finds || truth_has_evidence(watch.diagnosis.findings,
						       NCS_EVIDENCE_TOOK);
		answer(kind, &watch, &options,
		       is_right(&watch, &options) && says_so &&
			       check_of(&watch) == NCS_LINKS_CHECKED);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
	assert_true(jobs < JOBS || 2 * found > jobs);
}

/* Counters of times from the first proxy operation on do not tell what is usual,
 * if the host is ahead. */
TEST(slow_link_is_found_or_not_checked_without_streams)
{
	static const char kind[] = "links/late-look/proxies";
	unsigned jobs = truth_jobs(kind, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		unsigned seed = truth_seed(i);
		struct sim_options options =
			slow_link(seed, seed % 2 ? SIM_RING : SIM_TREE);
		struct watch watch;

		start(&watch, &options, SIM_PAST_COUNTERS);
		look_late(&watch);
		answer(kind, &watch, &options,
		       is_right(&watch, &options) ||
			       (watch.diagnosis.count == 0 &&
				check_of(&watch) == NCS_LINKS_UNCHECKED));
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
}

TEST(links_without_a_past_are_not_checked)
{
	static const char kind[] = "links/late-look/none";
	unsigned jobs = truth_jobs(kind, JOBS, 50);

	for (unsigned i = 0; i < jobs; i++) {
		struct sim_options options =
			slow_link(truth_seed(i), SIM_MIXED);
		struct watch watch;

		start(&watch, &options, SIM_PAST_NONE);
		look_late(&watch);
		answer(kind, &watch, &options,
		       watch.diagnosis.count == 0 &&
			       check_of(&watch) == NCS_LINKS_UNCHECKED);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
}

/* Whether a link is taken for slow, however little that costs. */
static bool has_slow_link(const struct ncs_model *model)
{
	struct ncs_slow_link link;

	for (size_t i = 0; i < model->communicator_count; i++)
		if (ncs_communicator_slow_link(model, &model->communicators[i],
					       &link))
			return true;
	return false;
}

TEST(sizes_that_change_make_no_link_slow)
{
	static const char kind[] = "links/sizes";
	static const double sizes[] = { 0.1, 1.9, 1.2, 1.9, 0.6, 1.8, 4, 20 };
	unsigned jobs = truth_jobs(kind, 4 * JOBS, 100);

	for (unsigned i = 0; i < jobs; i++) {
		unsigned seed = truth_seed(i);
		struct sim_options options =
			slow_link(seed, SIM_RING + seed % 3);
		enum sim_past past = seed / 3 % 4;
		bool found = false;
		struct watch watch;

		options.fault = SIM_HEALTHY;
		options.steps = 200; /* slow for long enough to be told */
		options.buffered = seed / 5 % 2;
		options.ranks_per_host = seed / 7 % 2 ? 4 : 1;
		options.communicators = 1 + seed / 11 % 4;
		options.resize = sizes[seed / 2 % 8];
		options.resize_step = CHANGE;
		start(&watch, &options, past);
		if (past != SIM_PAST_WHOLE)
			watch.now_ns +=
				(uint64_t)sim_source_step_ns(watch.job, CHANGE);
		while (watch.now_ns < sim_source_end_ns(watch.job)) {
			look(&watch, watch.now_ns + 100 * MS);
			found |= watch.diagnosis.count > 0 ||
				 has_slow_link(&watch.model);
		}
		answer(kind, &watch, &options, !found);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
}

/* Two jobs on the same machines, and each of them alone. */
struct two_jobs {
	struct ncs_source source; /* must be first: is cast to this struct */
	struct sim_source *jobs[2];
	unsigned at;
};

static int begin_both(struct ncs_source *source, uint64_t now_ns, char *why,
		      size_t why_size)
{
	struct two_jobs *two = (struct two_jobs *)source;
	int error = 0;

	two->at = 0;
	for (unsigned i = 0; i < 2; i++) {
		struct ncs_source *job = &two->jobs[i]->source;

		error |= job->begin(job, now_ns, why, why_size);
	}
	return error;
}

static bool next_of_both(struct ncs_source *source, struct ncs_sample *sample)
{
	struct two_jobs *two = (struct two_jobs *)source;

	for (; two->at < 2; two->at++) {
		struct ncs_source *job = &two->jobs[two->at]->source;

		if (job->next(job, sample))
			return true;
	}
	return false;
}

static void watch_until(struct ncs_model *model, struct ncs_source *source,
			uint64_t now_ns, uint64_t end_ns)
{
	ncs_model_init(model);
	for (; now_ns < end_ns; now_ns += 500 * MS)
		assert_int_equal(ncs_model_update(model, source, now_ns), 0);
	assert_int_equal(ncs_model_update(model, source, end_ns), 0);
}

/* Returns whether the links of a job's communicators are as slow beside another
 * job as they are alone, and cost as much. Counts those that are. */
static bool are_alike(const struct ncs_model *alone,
		      const struct ncs_model *beside, unsigned *found)
{
	for (size_t i = 0; i < alone->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&alone->communicators[i];
		const struct ncs_communicator *same =
			ncs_communicator_of_key(beside, communicator->key);
		struct ncs_slow_link link = { 0 }, other = { 0 };

		if (!same ||
		    ncs_communicator_slow_link(alone, communicator, &link) !=
			    ncs_communicator_slow_link(beside, same, &other))
			return false;
		*found += link.share > 0;
		if (fabs(link.share - other.share) > 1e-9)
			return false;
	}
	return true;
}

/* Makes two jobs of a seed, with a slow link each. */
static void make_two(struct two_jobs *two, unsigned seed)
{
	for (unsigned i = 0; i < 2; i++) {
		struct sim_options options = slow_link(seed + i, SIM_MIXED);

		options.number = i;
		options.steps = 160;
		options.communicators = 1 + (seed + i) / 2 % 2;
		options.from_step = CHANGE / 2 + 10 * i;
		options.fault_size = 20 + 20 * i;
		two->jobs[i] = sim_source_new(&options);
	}
}

/* A link is not told to cost what another job's does. */
TEST(slow_links_of_two_jobs_cost_as_they_do_alone)
{
	static const char kind[] = "links/two-jobs";
	unsigned jobs = truth_jobs(kind, JOBS, 100), found = 0;

	for (unsigned i = 0; i < jobs; i++) {
		unsigned seed = truth_seed(i);
		struct two_jobs two = { .source = { .begin = begin_both,
						    .next = next_of_both } };
		struct ncs_model beside;
		uint64_t begin_ns, end_ns;
		bool alike = true;

		make_two(&two, seed);
		begin_ns = SIM_BEGIN_NS;
		end_ns = sim_source_end_ns(two.jobs[0]);
		if (sim_source_end_ns(two.jobs[1]) < end_ns)
			end_ns = sim_source_end_ns(two.jobs[1]);
		watch_until(&beside, &two.source, begin_ns, end_ns);
		for (unsigned k = 0; k < 2; k++)
			sim_source_free(two.jobs[k]);
		make_two(&two, seed);
		for (unsigned k = 0; k < 2; k++) {
			struct ncs_model alone;

			watch_until(&alone, &two.jobs[k]->source, begin_ns,
				    end_ns);
			alike &= are_alike(&alone, &beside, &found);
			ncs_model_release(&alone);
			sim_source_free(two.jobs[k]);
		}
		ncs_model_release(&beside);
		truth_count(kind, seed, alike ? TRUTH_RIGHT : TRUTH_WRONG);
	}
	assert_int_equal(truth_counted(kind, TRUTH_WRONG), 0);
	assert_true(jobs < JOBS || found > jobs);
}

int main(void)
{
	int failed = unit_run();

	truth_print_table();
	return failed;
}
