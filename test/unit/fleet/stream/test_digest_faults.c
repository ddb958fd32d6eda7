/* SPDX-License-Identifier: MIT */
/* Digests in the place of states change no verdict: simulated jobs with faults
 * are diagnosed from all states, and beside that from what agents would tell of
 * them, each of some ranks. At each look both say the same of a job that hangs;
 * of one that is slow they do so once there were states of all ranks again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/model.h"
#include "fleet/stream/digests.h"
#include "ncclstat/abi_header.h"
#include "test/unit/support/simulated_job.h"

#define MS UINT64_C(1000000)
#define SECOND (UINT64_C(1000) * MS)
#define LOOK_NS (500 * MS)
#define LOOKS 60u
#define FAULT_NS (10 * SECOND)
#define NODES_MAX 8u
#define SEGMENTS_MAX 256u

/* A look of each agent that stands alone, of so many looks. */
#define KEY_EVERY 20u

/* The looks of agents at a job. */
struct told {
	struct ncs_source source; /* must be first: is cast to this struct */
	struct ncs_source *job;
	struct ncs_digests nodes[NODES_MAX];
	unsigned ranks_a_node;
	char *ids[SEGMENTS_MAX]; /* of the segments, in the order of numbers */
	size_t count;
	unsigned looks;
	struct ncs_sample all; /* the latest sample, with its snapshot */
	struct ncs_level level;
	struct ncs_level_function functions[NCS_FUNCTION_COUNT];
	uint64_t digests; /* number of those that were told */
};

static size_t number_of(struct told *told, const char *id)
{
	for (size_t i = 0; i < told->count; i++)
		if (strcmp(told->ids[i], id) == 0)
			return i;
	assert_true(told->count < SEGMENTS_MAX);
	told->ids[told->count] = strdup(id);
	assert_non_null(told->ids[told->count]);
	return told->count++;
}

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct told *told = (struct told *)source;
	bool is_key = told->looks < 2 || told->looks % KEY_EVERY == 0;

	told->looks++;
	for (size_t i = 0; i < NODES_MAX; i++) {
		ncs_digests_end(&told->nodes[i]);
		ncs_digests_begin(&told->nodes[i], is_key);
	}
	return told->job->begin(told->job, now_ns, why, why_size);
}

/* Replaces the snapshot by the digest that was made last. */
static void replace(struct told *told, const struct ncs_digests *digests,
		    struct ncs_sample *sample)
{
	size_t last = digests->rank_count - 1, count = 0;

	for (size_t i = 0; i < digests->function_count; i++)
		if (digests->functions[i].place == last)
			told->functions[count++] = (struct ncs_level_function){
				digests->functions[i].function,
				digests->functions[i].operations,
				digests->functions[i].sequence_number,
			};
	told->level = (struct ncs_level){
		.taken_ns = sample->snapshot->taken_ns,
		.operation_ns = digests->ranks[last].operation_ns,
		.wait_ns = digests->ranks[last].wait_ns,
		.functions = told->functions,
		.function_count = count,
	};
	told->digests++;
	sample->snapshot = NULL;
	sample->is_old = true;
	sample->level = &told->level;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct told *told = (struct told *)source;
	struct ncs_digests *node;
	int taken;

	if (!told->job->next(told->job, sample))
		return false;
	told->all = *sample;
	node = &told->nodes[(sample->header->pid - 1000) / told->ranks_a_node];
	taken = ncs_digests_judge(node, number_of(told, sample->id), false,
				  sample->snapshot);
	assert_in_range(taken, 0, 1);
	if (taken)
		replace(told, node, sample);
	return true;
}

/* The model has seen all ranks at the first look. */
static bool complete(struct ncs_source *source, struct ncs_sample *sample)
{
	(void)source;
	(void)sample;
	fail_msg("the model has lost a rank");
	return false;
}

struct watch {
	struct ncs_source *source;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
};

static void watch_open(struct watch *watch, struct ncs_source *source)
{
	watch->source = source;
	ncs_model_init(&watch->model);
	ncs_diagnosis_init(&watch->diagnosis);
}

static void watch_close(struct watch *watch)
{
	ncs_diagnosis_release(&watch->diagnosis);
	ncs_model_release(&watch->model);
}

static void look(struct watch *watch, uint64_t now_ns)
{
	assert_int_equal(ncs_model_update(&watch->model, watch->source, now_ns),
			 0);
	assert_int_equal(ncs_diagnose(&watch->diagnosis, &watch->model), 0);
}

static int process_of(const struct ncs_finding *finding)
{
	return finding->root.rank ? (int)finding->root.rank->process.pid : -1;
}

static void describe(const char *who, const struct watch *watch)
{
	print_message("%s:\n", who);
	for (size_t i = 0; i < watch->diagnosis.count; i++) {
		const struct ncs_finding *finding =
			&watch->diagnosis.findings[i];

		print_message("  %s, %s, %s, process %d\n",
			      ncs_verdict_name(finding->verdict),
			      ncs_severity_name(finding->severity),
			      ncs_confidence_name(finding->confidence),
			      process_of(finding));
	}
}

/* Whether both say the same first. */
static bool are_alike(const struct watch *a, const struct watch *b)
{
	const struct ncs_finding *of_a = a->diagnosis.findings;
	const struct ncs_finding *of_b = b->diagnosis.findings;

	if (a->diagnosis.count == 0 || b->diagnosis.count == 0)
		return a->diagnosis.count == b->diagnosis.count;
	return of_a->verdict == of_b->verdict &&
	       of_a->severity == of_b->severity &&
	       of_a->confidence == of_b->confidence &&
	       process_of(of_a) == process_of(of_b);
}

/* Whether ranks get on in spite of the fault, and rates tell of it. */
static bool is_slow(enum sim_fault fault)
{
	return fault == SIM_SLOW_PEER || fault == SIM_SLOW_LINK;
}

/* Plays a job. Returns the share of states that digests have replaced. */
static double play(const struct sim_options *options)
{
	struct ncs_source *plain = sim_open(options);
	struct told told = {
		.source = { .begin = begin, .next = next,
			    .complete = complete },
		.job = sim_open(options),
		.ranks_a_node = options->ranks > 8 ? 8 : options->ranks / 2,
	};
	struct watch all, digested;
	double share;

	watch_open(&all, plain);
	watch_open(&digested, &told.source);
	for (unsigned k = 1; k <= LOOKS; k++) {
		look(&all, k * LOOK_NS);
		look(&digested, k * LOOK_NS);
		if (are_alike(&all, &digested) ||
		    (is_slow(options->fault) && k < LOOKS))
			continue;
		print_message("%s, %u ranks in groups of %u, at %llu ms,"
			      " visible at %llu ms:\n",
			      sim_fault_name(options->fault), options->ranks,
			      options->groups,
			      (unsigned long long)(k * LOOK_NS / MS),
			      (unsigned long long)(sim_visible_ns(plain) / MS));
		describe("by all states", &all);
		describe("by digests", &digested);
		fail();
	}
	share = (double)told.digests / (double)told.count / LOOKS;
	watch_close(&all);
	watch_close(&digested);
	plain->close(plain);
	told.job->close(told.job);
	for (size_t i = 0; i < told.count; i++)
		free(told.ids[i]);
	for (size_t i = 0; i < NODES_MAX; i++)
		ncs_digests_release(&told.nodes[i]);
	return share;
}

static void test_all_faults_have_the_same_verdict(void **state)
{
	static const unsigned sizes[] = { 2, 8, 64 };

	(void)state;
	for (unsigned fault = 0; fault < SIM_FAULTS; fault++)
		for (size_t k = 0; k < 3; k++) {
			struct sim_options options = {
				.seed = fault + k,
				.ranks = sizes[k],
				.groups = fault == SIM_ELSEWHERE ? 2 : 0,
				.channels = 2,
				.api_version = 5,
				.compute_ns = 20 * MS,
				.jitter = 0.5,
				.fault = (enum sim_fault)fault,
				.fault_ns = FAULT_NS,
				.victim = sizes[k] / 2 & ~1u,
			};

			/* With two ranks the peer would be the victim. */
			if (fault == SIM_ELSEWHERE && sizes[k] == 2)
				continue;
			play(&options);
		}
}

static void test_of_a_job_that_is_well_most_states_are_left_out(void **state)
{
	const struct sim_options options = {
		.seed = 3,
		.ranks = 64,
		.channels = 2,
		.api_version = 5,
		.compute_ns = 20 * MS,
		.jitter = 0.5,
	};

	(void)state;
	assert_true(play(&options) > 0.9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_faults_have_the_same_verdict),
		cmocka_unit_test(
			test_of_a_job_that_is_well_most_states_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
