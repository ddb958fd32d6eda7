/* SPDX-License-Identifier: MIT */
/* Jobs whose truth is known: what a rank costs is told as what the same job gains
 * without the fault, by the rule of analysis/cost. The table also shows what the
 * live view's rule tells of the same records (kinds of live/cost/...), which must
 * prove nothing here.
 *
 * truth_tally.h says how to make one of them again. With TRUTH_VERBOSE each job's
 * true and told cost is printed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/model/model.h"
#include "analysis/model/stragglers.h"
#include "analysis/records/join.h"
#include "shm/array.h"
#include "test/unit/support/cost_job.h"
#include "test/unit/support/truth_tally.h"

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
	const char *name, *live;
	enum cost_shape shape;
	unsigned ahead;
	enum cost_fault fault;
	double size;
	unsigned from_step, period;
	/* Per cent of jobs of which the cost is known and right, at least. */
	unsigned right;
};

#define KIND(name) "cost/" name, "live/cost/" name

static const struct truth_cost faulty[] = {
	{ KIND("ddp/gpu-5"), COST_DDP, 0, COST_GPU, 1.05, 0, 0, 100 },
	{ KIND("ddp/gpu-10"), COST_DDP, 0, COST_GPU, 1.1, 0, 0, 100 },
	{ KIND("ddp/gpu-20"), COST_DDP, 0, COST_GPU, 1.2, 0, 0, 100 },
	{ KIND("ddp/gpu-50"), COST_DDP, 0, COST_GPU, 1.5, 0, 0, 100 },
	{ KIND("ddp-ahead/gpu-20"), COST_DDP, 2, COST_GPU, 1.2, 0, 0, 100 },
	{ KIND("ddp/throttles"), COST_DDP, 0, COST_GPU, 1.15, 75, 0, 100 },
	{ KIND("ddp/tenth-gpu-x2"), COST_DDP, 0, COST_GPU, 2, 0, 10, 100 },
	{ KIND("ddp/tenth-gpu-x4"), COST_DDP, 0, COST_GPU, 4, 0, 10, 100 },
	{ KIND("moe/gpu-20"), COST_MOE, 0, COST_GPU, 1.2, 0, 0, 100 },
	{ KIND("moe/gpu-50"), COST_MOE, 0, COST_GPU, 1.5, 0, 0, 100 },
	{ KIND("tensor/gpu-20"), COST_TENSOR, 0, COST_GPU, 1.2, 0, 0, 100 },
	{ KIND("fsdp/gpu-20"), COST_FSDP, 0, COST_GPU, 1.2, 0, 0, 100 },
	{ KIND("ddp/host"), COST_DDP, 0, COST_HOST, 5 * MS, 0, 0, 100 },
	{ KIND("ddp/tenth-host"), COST_DDP, 0, COST_HOST, 25 * MS, 0, 10, 100 },
	{ KIND("tensor/host"), COST_TENSOR, 0, COST_HOST, 5 * MS, 0, 0, 100 },
	{ KIND("fsdp/host"), COST_FSDP, 0, COST_HOST, 5 * MS, 0, 0, 100 },
	{ KIND("ddp-ahead/host"), COST_DDP, 2, COST_HOST, 40 * MS, 0, 0, 60 },
};

/* No rank costs anything in these. */
static const struct truth_cost blameless[] = {
	{ KIND("ddp/healthy"), COST_DDP, 0, COST_HEALTHY, 1, 0, 0, 100 },
	{ KIND("ddp-ahead/healthy"), COST_DDP, 2, COST_HEALTHY, 1, 0, 0, 100 },
	{ KIND("fsdp/healthy"), COST_FSDP, 0, COST_HEALTHY, 1, 0, 0, 100 },
	{ KIND("tensor/healthy"), COST_TENSOR, 0, COST_HEALTHY, 1, 0, 0, 100 },
	{ KIND("moe/healthy"), COST_MOE, 0, COST_HEALTHY, 1, 0, 0, 100 },
	{ KIND("ddp-ahead/hidden"), COST_DDP, 2, COST_HOST, 4 * MS, 0, 0, 100 },
	{ KIND("ddp/link"), COST_DDP, 0, COST_LINK, 4, 0, 0, 100 },
};

/* It cannot be known in these. */
static const struct truth_cost unknown[] = {
	{ KIND("pipeline/gpu-20"), COST_PIPELINE, 0, COST_GPU, 1.2, 0, 0, 0 },
	{ KIND("pipeline/gpu-50"), COST_PIPELINE, 2, COST_GPU, 1.5, 0, 0, 0 },
};

static struct cost_options some_job(const struct truth_cost *kind,
				    unsigned seed)
{
	static const unsigned ranks[] = { 4, 8, 2 };
	static const double noises[] = { 0.01, 0.03, 0.003 };
	struct cost_options options = cost_job_options(kind->shape, seed);

	options.ranks = ranks[seed % 3];
	if (kind->shape == COST_PIPELINE)
		options.ranks = 4;
	options.noise = noises[seed / 2 % 3];
	options.victim = seed % options.ranks;
	options.barrier_period = seed / 3 % 2 * 20;
	options.ahead = kind->ahead;
	options.fault = kind->fault;
	options.size = kind->size;
	options.from_step = kind->from_step;
	options.period = kind->period;
	return options;
}

/* --- Told by records ------------------------------------------------------ */

/* A job's records, joined. */
struct reader {
	struct ncs_join *join;
	struct ncs_parts *parts[COST_JOB_RANKS_MAX];
	struct ncs_cost_part *cost_parts;
	size_t count, capacity;
};

static void take_joined(struct reader *reader)
{
	const struct ncs_joined *joined;

	while ((joined = ncs_join_next(reader->join)))
		for (size_t i = 0; i < joined->count; i++) {
			const struct ncs_part *part = &joined->parts[i];

			assert_int_equal(
				ncs_array_reserve(&reader->cost_parts,
						  &reader->capacity,
						  reader->count + 1,
						  sizeof(*reader->cost_parts)),
				0);
			reader->cost_parts[reader->count++] = ncs_cost_part_of(
				joined, part, (uint32_t)part->owner);
		}
}

static void take_sample(struct reader *reader, size_t i,
			const struct ncs_sample *sample, uint64_t now_ns)
{
	const struct ncs_identity *identity = &sample->snapshot->identity;
	const struct ncs_part *part;

	if (!reader->parts[i]) {
		reader->parts[i] = ncs_parts_new(sample->header, i);
		assert_non_null(reader->parts[i]);
		assert_int_equal(
			ncs_parts_learn(reader->parts[i], sample->snapshot), 0);
		assert_int_equal(ncs_join_expect(reader->join,
						 identity->comm_id,
						 identity->rank),
				 0);
	}
	assert_int_equal(ncs_parts_take(reader->parts[i], sample->records,
					sample->record_count, 0, now_ns),
			 0);
	ncs_parts_settle(reader->parts[i], now_ns);
	while ((part = ncs_parts_next(reader->parts[i])))
		assert_int_equal(ncs_join_add(reader->join, part), 0);
}

/* Returns the cost of all ranks, by the records of a job. */
static struct ncs_cost *read_cost(const struct cost_options *options)
{
	struct cost_job *job = cost_job_new(options);
	struct ncs_source *source = cost_job_source(job);
	struct reader reader = { .join = ncs_join_new_unordered(0) };
	uint64_t now_ns = COST_JOB_BEGIN_NS;
	struct ncs_cost *cost;

	assert_non_null(reader.join);
	while (now_ns < cost_job_end_ns(job) + LOOK_NS) {
		struct ncs_sample sample;

		assert_int_equal(source->begin(source, now_ns, NULL, 0), 0);
		for (size_t i = 0; source->next(source, &sample); i++)
			take_sample(&reader, i, &sample, now_ns);
		take_joined(&reader);
		now_ns += LOOK_NS;
	}
	ncs_join_advance(reader.join, UINT64_MAX);
	take_joined(&reader);
	cost = ncs_cost_new(reader.cost_parts, reader.count);
	assert_non_null(cost);
	assert_int_equal(ncs_cost_compute(cost, -1), 0);
	for (size_t i = 0; i < options->ranks; i++)
		ncs_parts_free(reader.parts[i]);
	ncs_join_free(reader.join);
	free(reader.cost_parts);
	cost_job_free(job);
	return cost;
}

/* --- Told live ------------------------------------------------------------ */

/* Sets `views` to what the live view tells of each rank; zeros if it tells
 * nothing. */
static void read_live(const struct cost_options *options,
		      struct ncs_lateness_view *views)
{
	struct cost_job *job = cost_job_new(options);
	uint64_t now_ns = COST_JOB_BEGIN_NS;
	struct ncs_model model;

	ncs_model_init(&model);
	for (; now_ns < cost_job_end_ns(job) + LOOK_NS; now_ns += LOOK_NS)
		assert_int_equal(ncs_model_update(&model, cost_job_source(job),
						  now_ns),
				 0);
	for (size_t i = 0; i < model.rank_count; i++) {
		const struct ncs_rank *rank = model.ranks[i];
		const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

		if (view)
			views[rank->now.identity.rank] = *view;
	}
	ncs_model_release(&model);
	cost_job_free(job);
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
	struct cost_options options = some_job(kind, seed);
	double share = cost_job_share(&options, FIRST_STEP);
	struct ncs_lateness_view views[COST_JOB_RANKS_MAX] = { 0 };
	struct ncs_cost *cost = read_cost(&options);
	size_t count;
	const struct ncs_cost_of_rank *ranks = ncs_cost_ranks(cost, &count);
	const struct ncs_cost_of_rank *victim = &ranks[options.victim];
	const struct ncs_lateness_view *live = &views[options.victim];
	enum truth_answer answer, live_answer;

	assert_int_equal(count, options.ranks);
	if (kind->fault == COST_LINK)
		share = 0;
	answer = judge(victim->unknown == NCS_COST_KNOWN, victim->share,
		       victim->least, victim->most, share);
	read_live(&options, views);
	live_answer = judge(live->cost >= 0, live->cost, live->cost_at_least,
			    live->cost_at_most, share);
	for (size_t i = 0; i < count; i++) {
		if (i == options.victim)
			continue;
		if (ranks[i].unknown == NCS_COST_KNOWN &&
		    ranks[i].share > ERROR)
			answer = TRUTH_WRONG;
		if (views[i].is_straggler)
			live_answer = TRUTH_WRONG;
	}
	if (answer == TRUTH_WRONG || getenv("TRUTH_VERBOSE"))
		print_message("%-24s seed %u: true %5.1f, told %5.1f [%.1f .."
			      " %.1f]%s, live %5.1f [%.1f .. %.1f]\n",
			      kind->name, seed, 100 * share,
			      100 * victim->share, 100 * victim->least,
			      100 * victim->most,
			      victim->unknown ? " not known" : "",
			      100 * live->cost, 100 * live->cost_at_least,
			      100 * live->cost_at_most);
	truth_count(kind->name, seed, answer);
	truth_count(kind->live, seed,
		    live_answer == TRUTH_WRONG ? TRUTH_WRONG : live_answer);
	ncs_cost_free(cost);
}

static unsigned judge_kind(const struct truth_cost *kind)
{
	unsigned jobs = truth_jobs(kind->name, JOBS, 100);

	for (unsigned i = 0; i < jobs; i++)
		judge_job(kind, truth_seed(i));
	return jobs;
}

#define COUNT(kinds) (sizeof(kinds) / sizeof((kinds)[0]))

static void a_rank_costs_what_the_job_gains_without_its_fault(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(faulty); i++) {
		unsigned jobs = judge_kind(&faulty[i]);

		assert_int_equal(truth_counted(faulty[i].name, TRUTH_WRONG), 0);
		assert_in_range(truth_counted(faulty[i].name, TRUTH_RIGHT),
				faulty[i].right * jobs / 100, jobs);
	}
}

static void no_rank_costs_anything_where_nothing_is_lost(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(blameless); i++) {
		unsigned jobs = judge_kind(&blameless[i]);

		assert_int_equal(truth_counted(blameless[i].name, TRUTH_RIGHT),
				 jobs);
	}
}

static void the_cost_of_a_stage_is_not_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(unknown); i++) {
		unsigned jobs = judge_kind(&unknown[i]);

		assert_int_equal(truth_counted(unknown[i].name, TRUTH_UNKNOWN),
				 jobs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_rank_costs_what_the_job_gains_without_its_fault),
		cmocka_unit_test(no_rank_costs_anything_where_nothing_is_lost),
		cmocka_unit_test(the_cost_of_a_stage_is_not_known),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	truth_print_table();
	return failed;
}
