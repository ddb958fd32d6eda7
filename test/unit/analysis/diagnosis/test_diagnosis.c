/* SPDX-License-Identifier: MIT */
/* Tests of the diagnosis: every fault is found, with its root, within 2 s of
 * being visible, in jobs of all sizes; a thousand healthy jobs raise no
 * alarm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diagnosis/diagnosis.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/simulated_job.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define LOOK_NS (500 * MS)
#define FAULT_NS (10 * SECOND)

struct watch {
	struct ncs_source *source;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	uint64_t now_ns;
};

static void watch_open(struct watch *watch, const struct sim_options *options)
{
	watch->source = sim_open(options);
	watch->now_ns = 0;
	ncs_model_init(&watch->model);
	ncs_diagnosis_init(&watch->diagnosis);
}

static void watch_close(struct watch *watch)
{
	ncs_diagnosis_release(&watch->diagnosis);
	ncs_model_release(&watch->model);
	watch->source->close(watch->source);
}

static void look(struct watch *watch)
{
	watch->now_ns += LOOK_NS;
	assert_int_equal(ncs_model_update(&watch->model, watch->source,
					  watch->now_ns),
			 0);
	assert_int_equal(ncs_diagnose(&watch->diagnosis, &watch->model), 0);
}

/* --- Faults --------------------------------------------------------------- */

static const struct {
	enum sim_fault fault;
	enum ncs_verdict verdict;
	enum ncs_verdict_severity severity; /* at the end of the run */
	int peer_of_victim; /* the root's number minus the victim's */
} scenarios[] = {
#define STUCK NCS_SEVERITY_STUCK
#define SLOW NCS_SEVERITY_SLOW
	{ SIM_MISSING, NCS_VERDICT_RANK_MISSING, STUCK, 0 },
	{ SIM_ELSEWHERE, NCS_VERDICT_RANK_MISSING, STUCK, 1 },
	{ SIM_STOPPED, NCS_VERDICT_RANK_STOPPED, STUCK, 0 },
	{ SIM_DIED, NCS_VERDICT_RANK_DIED, STUCK, 0 },
	{ SIM_ORDER, NCS_VERDICT_ORDER_MISMATCH, STUCK, 0 },
	{ SIM_SIZE, NCS_VERDICT_SIZE_MISMATCH, STUCK, 0 },
	{ SIM_GPU_LATE, NCS_VERDICT_GPU_LATE, STUCK, 0 },
	{ SIM_CONSUMER_LATE, NCS_VERDICT_CONSUMER_LATE, STUCK, 1 },
	{ SIM_SLOW_PEER, NCS_VERDICT_SLOW_RANK, SLOW, 0 },
	{ SIM_SLOW_LINK, NCS_VERDICT_SLOW_NETWORK, SLOW, 0 },
	{ SIM_STUCK_LINK, NCS_VERDICT_NETWORK, STUCK, 0 },
	{ SIM_PROXY_ASLEEP, NCS_VERDICT_PROXY_ASLEEP, STUCK, 0 },
	{ SIM_LAUNCHER, NCS_VERDICT_LAUNCHER_BLOCKED, STUCK, 0 },
	{ SIM_DEADLOCK, NCS_VERDICT_DEADLOCK, STUCK, 0 },
	{ SIM_UNMET, NCS_VERDICT_P2P_UNMET, STUCK, 0 },
#undef STUCK
#undef SLOW
};

#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static int process_of(const struct ncs_finding *finding)
{
	return finding->root.rank ? (int)finding->root.rank->header.pid - 1000 :
				    -1;
}

static void describe(const struct watch *watch, const char *when, size_t i,
		     const struct sim_options *options)
{
	const struct ncs_diagnosis *diagnosis = &watch->diagnosis;

	print_message("%s: %s, %u ranks in groups of %u, seed %llu, victim %u,"
		      " at %llu ms, visible at %llu ms:\n",
		      when, sim_fault_name(scenarios[i].fault), options->ranks,
		      options->groups, (unsigned long long)options->seed,
		      options->victim, (unsigned long long)(watch->now_ns / MS),
		      (unsigned long long)(sim_visible_ns(watch->source) / MS));
	for (size_t k = 0; k < diagnosis->count; k++)
		print_message(
			"  %s, %s, %s, process %d, call %u %lld\n",
			ncs_verdict_name(diagnosis->findings[k].verdict),
			ncs_severity_name(diagnosis->findings[k].severity),
			ncs_confidence_name(diagnosis->findings[k].confidence),
			process_of(&diagnosis->findings[k]),
			diagnosis->findings[k].call.function,
			(long long)diagnosis->findings[k].call.sequence_number);
}

/* Whether the first finding is the expected one, with the expected root. */
static bool is_found(const struct watch *watch, size_t i,
		     const struct sim_options *options)
{
	const struct ncs_finding *first = watch->diagnosis.findings;
	int root = (int)((options->victim +
			  (unsigned)scenarios[i].peer_of_victim) %
			 options->ranks);

	if (watch->diagnosis.count == 0)
		return false;
	/* Ranks outside the pair go on to the next collective. */
	if (scenarios[i].fault == SIM_UNMET && options->ranks > 2 &&
	    first->verdict == NCS_VERDICT_RANK_MISSING)
		return process_of(first) == root;
	if (first->verdict != scenarios[i].verdict)
		return false;
	/* In a disagreement or a circle any of the ranks may be named. */
	if (first->verdict == NCS_VERDICT_DEADLOCK ||
	    (options->ranks == 2 &&
	     (first->verdict == NCS_VERDICT_ORDER_MISMATCH ||
	      first->verdict == NCS_VERDICT_SIZE_MISMATCH)))
		return true;
	return process_of(first) == root;
}

static void play(size_t i, const struct sim_options *options)
{
	struct watch watch;
	bool found = false;

	watch_open(&watch, options);
	for (unsigned k = 0; k < 60; k++) {
		uint64_t visible_ns;

		look(&watch);
		visible_ns = sim_visible_ns(watch.source);
		if (visible_ns > watch.now_ns) {
			if (watch.diagnosis.count > 0) {
				describe(&watch, "too early", i, options);
				fail();
			}
			continue;
		}
		found |= is_found(&watch, i, options);
		if (found || watch.now_ns < visible_ns + 2 * SECOND)
			continue;
		describe(&watch, "not within 2 s", i, options);
		fail();
	}
	if (!found || !is_found(&watch, i, options) ||
	    watch.diagnosis.findings[0].severity != scenarios[i].severity) {
		describe(&watch, "in the end", i, options);
		fail();
	}
	watch_close(&watch);
}

static void every_fault_is_found_with_its_root(void **state)
{
	static const unsigned sizes[] = { 2, 8, 64 };

	(void)state;
	for (size_t i = 0; i < SCENARIOS; i++) {
		for (size_t k = 0; k < 3; k++) {
			for (unsigned groups = 0; groups < 2; groups++) {
				struct sim_options options = {
					.seed = i + k,
					.ranks = sizes[k],
					.groups = groups ? 2 : 0,
					.channels = 2,
					.api_version = 5,
					.compute_ns = 20 * MS,
					.jitter = 0.5,
					.fault = scenarios[i].fault,
					.fault_ns = FAULT_NS,
					.victim = sizes[k] / 2 & ~1u,
				};

				/* With two ranks the peer would be the
				 * victim itself. */
				if (options.fault == SIM_ELSEWHERE &&
				    (!groups || sizes[k] == 2))
					continue;
				play(i, &options);
			}
		}
	}
}

/* --- Little known --------------------------------------------------------- */

static struct sim_options eight_ranks(enum sim_fault fault)
{
	return (struct sim_options){
		.seed = 1,
		.ranks = 8,
		.channels = 1,
		.api_version = 5,
		.compute_ns = 20 * MS,
		.fault = fault,
		.fault_ns = FAULT_NS,
		.victim = 4,
	};
}

/* Returns the worst finding 8 s after the fault. */
static const struct ncs_finding *find(struct watch *watch,
				      const struct sim_options *options)
{
	watch_open(watch, options);
	while (watch->now_ns < FAULT_NS + 8 * SECOND)
		look(watch);
	assert_true(watch->diagnosis.count > 0);
	return watch->diagnosis.findings;
}

static void a_missing_rank_is_named_though_only_others_are_seen(void **state)
{
	struct sim_options options = eight_ranks(SIM_MISSING);
	const struct ncs_finding *found;
	struct watch watch;

	(void)state;
	options.seen = 4;
	found = find(&watch, &options);
	assert_int_equal(found->verdict, NCS_VERDICT_RANK_MISSING);
	assert_int_equal(found->severity, NCS_SEVERITY_STUCK);
	assert_int_equal(found->confidence, NCS_CONFIDENCE_LIKELY);
	assert_null(found->root.rank);
	assert_int_equal(found->root.number, 4);
	assert_non_null(found->root.communicator);
	watch_close(&watch);
}

static void faults_are_found_with_old_releases_of_nccl(void **state)
{
	static const enum sim_fault faults[] = { SIM_MISSING,  SIM_DIED,
						 SIM_ORDER,    SIM_SIZE,
						 SIM_DEADLOCK, SIM_STUCK_LINK };

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct sim_options options = eight_ranks(faults[i]);
		size_t scenario = 0;
		struct watch watch;

		while (scenarios[scenario].fault != faults[i])
			scenario++;
		options.api_version = 1;
		find(&watch, &options);
		if (!is_found(&watch, scenario, &options)) {
			describe(&watch, "API 1", scenario, &options);
			fail();
		}
		watch_close(&watch);
	}
}

static void a_job_without_network_is_judged_by_its_calls(void **state)
{
	struct sim_options options = eight_ranks(SIM_MISSING);
	const struct ncs_finding *found;
	struct watch watch;

	(void)state;
	options.nvlink = true;
	found = find(&watch, &options);
	assert_int_equal(found->verdict, NCS_VERDICT_RANK_MISSING);
	assert_int_equal(found->confidence, NCS_CONFIDENCE_LIKELY);
	assert_int_equal(process_of(found), 4);
	assert_int_equal(found->waiting, 7);
	watch_close(&watch);
}

static void a_single_update_never_reports_a_stuck_job(void **state)
{
	struct sim_options options = eight_ranks(SIM_MISSING);
	struct watch watch;

	(void)state;
	watch_open(&watch, &options);
	watch.now_ns = FAULT_NS + 8 * SECOND;
	look(&watch);
	assert_int_equal(ncs_diagnosis_severity(&watch.diagnosis),
			 NCS_SEVERITY_SLOW);
	assert_int_equal(process_of(watch.diagnosis.findings), 4);
	look(&watch);
	assert_int_equal(ncs_diagnosis_severity(&watch.diagnosis),
			 NCS_SEVERITY_STUCK);
	watch_close(&watch);
}

/* --- By hand -------------------------------------------------------------- */

static struct scripted_rank *add(struct scripted *scripted, int number,
				 uint64_t comm_id)
{
	struct scripted_rank *rank = scripted_add(scripted, number);

	rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	rank->snapshot.identity.comm_id = comm_id;
	rank->snapshot.last_call_ns = 10 * SECOND;
	return rank;
}

static void enqueued(struct scripted_rank *rank, unsigned function,
		     uint64_t sequence_number)
{
	size_t place = rank->snapshot.operation_count++;

	rank->operations[place] = (struct ncs_operation_view){
		.number = place + 1,
		.start_ns = 10 * SECOND + place,
		.sequence_number = sequence_number,
		.count = 7,
		.event = NCS_EVENT_COLL,
		.function = function,
		.enqueued_ns = 10 * SECOND + place + 1,
		.children_started = 1,
	};
	rank->snapshot.functions[function].operations = sequence_number + 1;
	rank->snapshot.functions[function].with_children = sequence_number + 1;
	rank->snapshot.functions[function].last_sequence_number =
		sequence_number;
}

/* Updates the model and diagnoses it at 40 s and at 41 s. */
static void diagnose(struct ncs_diagnosis *diagnosis, struct scripted *scripted)
{
	ncs_diagnosis_init(diagnosis);
	for (unsigned i = 0; i < 2; i++) {
		scripted_pass(scripted, (40 + i) * SECOND);
		assert_int_equal(ncs_diagnose(diagnosis, &scripted->model), 0);
	}
}

static void calls_in_another_order_are_an_order_mismatch(void **state)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;
	struct scripted_rank *odd;

	(void)state;
	scripted_init(&scripted);
	for (int i = 0; i < 3; i++) {
		struct scripted_rank *rank = add(&scripted, i, 7);

		enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 5);
		enqueued(rank, NCS_FUNCTION_ALL_GATHER, 2);
	}
	odd = add(&scripted, 3, 7);
	enqueued(odd, NCS_FUNCTION_ALL_GATHER, 2);
	enqueued(odd, NCS_FUNCTION_ALL_REDUCE, 5);
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict,
			 NCS_VERDICT_ORDER_MISMATCH);
	assert_int_equal(diagnosis.findings[0].root.number, 3);
	assert_int_equal(diagnosis.findings[0].call.function,
			 NCS_FUNCTION_ALL_GATHER);
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
}

static void waits(struct scripted_rank *rank, int peer)
{
	struct ncs_channel_view *channel =
		scripted_channel(rank, 0, false, peer);

	channel->state = NCS_CHANNEL_RECV_WAIT;
	channel->since_ns = 10 * SECOND;
	channel->function = NCS_FUNCTION_ALL_REDUCE;
	channel->step = 1;
}

/* A rank with less data has finished: only its record shows the size. */
static void a_rank_that_finished_with_less_data_is_a_size_mismatch(void **state)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;
	struct scripted_rank *rank;

	(void)state;
	scripted_init(&scripted);
	scripted.model.keeps_latest = true;
	for (int i = 0; i < 2; i++) {
		rank = add(&scripted, i, 7);
		enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 5);
		rank->operations[0].bytes = 4096;
		waits(rank, 2);
	}
	rank = add(&scripted, 2, 7);
	enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 5);
	rank->snapshot.operation_count = 0;
	rank->records[rank->record_count++] = (struct ncs_record){
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.number = 5,
		.value = 4096,
		.duration = 1,
	};
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_int_not_equal(diagnosis.findings[0].verdict,
			     NCS_VERDICT_SIZE_MISMATCH);
	ncs_diagnosis_release(&diagnosis);
	rank->records[0].value = 2048;
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict,
			 NCS_VERDICT_SIZE_MISMATCH);
	assert_int_equal(diagnosis.findings[0].confidence,
			 NCS_CONFIDENCE_CERTAIN);
	assert_int_equal(diagnosis.findings[0].root.number, 2);
	assert_int_equal(diagnosis.findings[0].call.sequence_number, 5);
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
}

static void a_call_that_starts_no_operation_is_suspicious(void **state)
{
	struct ncs_lane_view lane = { 0 };
	struct ncs_diagnosis diagnosis;
	struct scripted_rank *rank;
	struct scripted scripted;

	(void)state;
	scripted_init(&scripted);
	rank = add(&scripted, 0, 7);
	add(&scripted, 1, 7);
	rank->snapshot.lanes = &lane;
	rank->snapshot.lane_count = 1;
	rank->snapshot.functions[NCS_FUNCTION_RECV].calls = 1;
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 0); /* no thread is inside the API */
	ncs_diagnosis_release(&diagnosis);
	lane.open_since_ns[NCS_EVENT_GROUP_API] = 10 * SECOND;
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_NOT_BEGUN);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_SLOW);
	assert_int_equal(diagnosis.findings[0].root.number, 0);
	assert_int_equal(diagnosis.findings[0].call.function,
			 NCS_FUNCTION_RECV);
	ncs_diagnosis_release(&diagnosis);
	rank->snapshot.functions[NCS_FUNCTION_RECV].operations = 1;
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 0); /* the operation has begun */
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
}

/* Each of two processes waits in a communicator that the other has not
 * called. */
static void a_circle_across_communicators_is_a_deadlock(void **state)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;

	(void)state;
	scripted_init(&scripted);
	waits(add(&scripted, 0, 7), 1);
	add(&scripted, 1, 7);
	add(&scripted, 0, 8);
	waits(add(&scripted, 1, 8), 0);
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_DEADLOCK);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
}

/* NCCL has noticed and closed its channels; the call stays in progress. */
static void a_dead_rank_is_found_though_its_peers_have_no_channels(void **state)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;

	(void)state;
	scripted_init(&scripted);
	enqueued(add(&scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, 5);
	add(&scripted, 1, 7)->snapshot.liveness = NCS_DEAD;
	diagnose(&diagnosis, &scripted);
	assert_true(diagnosis.count > 0);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_RANK_DIED);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	assert_int_equal(diagnosis.findings[0].root.number, 1);
	assert_int_equal(diagnosis.findings[0].waiting, 1);
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
}

/* All processes of the earlier job were killed long ago. */
static void dead_ranks_of_an_earlier_job_are_ignored(void **state)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;

	(void)state;
	scripted_init(&scripted);
	add(&scripted, 0, 7);
	add(&scripted, 1, 7);
	add(&scripted, 0, 8)->snapshot.liveness = NCS_DEAD;
	add(&scripted, 1, 8)->snapshot.liveness = NCS_DEAD;
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 0);
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
}

/* --- Healthy jobs --------------------------------------------------------- */

static void make_healthy(struct sim_options *options, uint64_t seed)
{
	static const unsigned sizes[] = { 1, 2, 3, 4, 8, 8, 16, 64 };
	uint64_t r = seed * UINT64_C(0x9e3779b97f4a7c15);

	r ^= r >> 29;
	*options = (struct sim_options){
		.seed = seed,
		.ranks = sizes[r % 8],
		.groups = r >> 3 & 1 ? 2 : 0,
		.channels = 1 + (unsigned)(r >> 4 & 1),
		.api_version = 1 + (unsigned)(r >> 5 & 7) % 7,
		.nvlink = (r >> 8 & 7) == 0,
		.compute_ns = (5 + (r >> 11 & 63)) * MS,
		.jitter = (double)(r >> 17 & 3),
		.stall_ns = (r >> 19 & 1) ? 600 * MS : 0,
		.phase_ns = (r >> 20 & 3) ? (r >> 20 & 3) * 7 * SECOND : 0,
		.queued = r >> 22 & 1,
		.idle = (r >> 23 & 3) == 0,
		.fault_ns = 4 * SECOND,
	};
	if ((r >> 25 & 3) == 0)
		options->seen = (options->ranks + 1) / 2;
}

static void a_thousand_healthy_jobs_raise_no_alarm(void **state)
{
	struct sim_options options;
	struct watch watch;

	(void)state;
	for (uint64_t seed = 0; seed < 1000; seed++) {
		make_healthy(&options, seed);
		watch_open(&watch, &options);
		for (unsigned k = 0; k < 40; k++) {
			look(&watch);
			if (watch.diagnosis.count == 0)
				continue;
			describe(&watch, "alarm", 0, &options);
			fail();
		}
		watch_close(&watch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fault_is_found_with_its_root),
		cmocka_unit_test(
			a_missing_rank_is_named_though_only_others_are_seen),
		cmocka_unit_test(faults_are_found_with_old_releases_of_nccl),
		cmocka_unit_test(a_job_without_network_is_judged_by_its_calls),
		cmocka_unit_test(a_single_update_never_reports_a_stuck_job),
		cmocka_unit_test(calls_in_another_order_are_an_order_mismatch),
		cmocka_unit_test(
			a_rank_that_finished_with_less_data_is_a_size_mismatch),
		cmocka_unit_test(a_call_that_starts_no_operation_is_suspicious),
		cmocka_unit_test(a_circle_across_communicators_is_a_deadlock),
		cmocka_unit_test(
			a_dead_rank_is_found_though_its_peers_have_no_channels),
		cmocka_unit_test(dead_ranks_of_an_earlier_job_are_ignored),
		cmocka_unit_test(a_thousand_healthy_jobs_raise_no_alarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
