/* SPDX-License-Identifier: MIT */
/* Tests of the diagnosis: every fault is found, with its root, within 2 s of
 * being visible, in jobs of all sizes; a thousand healthy jobs raise no
 * alarm. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/diagnosis/diagnosis.h"
#include "tui/text/finding_text.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/simulator/sim_states.h"
#include "test/unit/support/unit.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define LOOK_NS (500 * MS)
#define FAULT_NS (10 * SECOND)

struct watch {
	struct sim_source *job;
	struct ncs_model model;
	struct ncs_diagnosis diagnosis;
	uint64_t now_ns;
};

static void watch_open(struct watch *watch, const struct sim_options *options)
{
	watch->job = sim_states_new(options);
	watch->now_ns = 0;
	ncs_model_init(&watch->model);
	ncs_diagnosis_init(&watch->diagnosis);
}

static void watch_close(struct watch *watch)
{
	ncs_diagnosis_release(&watch->diagnosis);
	ncs_model_release(&watch->model);
	sim_source_free(watch->job);
}

static void look(struct watch *watch)
{
	watch->now_ns += LOOK_NS;
	assert_int_equal(ncs_model_update(&watch->model, &watch->job->source,
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
	{ SIM_NETWORK, NCS_VERDICT_SLOW_NETWORK, SLOW, 0 },
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
	return finding->root.rank ?
		       (int)finding->root.rank->process.pid - 1000 :
		       -1;
}

static void describe(const struct watch *watch, const char *when, size_t i,
		     const struct sim_options *options)
{
	const struct ncs_diagnosis *diagnosis = &watch->diagnosis;

	print_message("%s: %s, %u ranks in groups of %u, seed %llu, victim %u,"
		      " at %llu ms, visible at %llu ms:\n",
		      when, sim_fault_name(scenarios[i].fault), options->ranks,
		      options->neighbours, (unsigned long long)options->seed,
		      options->victim, (unsigned long long)(watch->now_ns / MS),
		      (unsigned long long)(watch->job->visible_ns / MS));
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
		visible_ns = watch.job->visible_ns;
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

UNIT_FIXTURE(scripted_setup, scripted_teardown)

TEST(every_fault_is_found_with_its_root)
{
	static const unsigned sizes[] = { 2, 8, 64 };

	for (size_t i = 0; i < SCENARIOS; i++) {
		for (size_t k = 0; k < 3; k++) {
			for (unsigned groups = 0; groups < 2; groups++) {
				struct sim_options options = {
					.seed = i + k,
					.ranks = sizes[k],
					.neighbours = groups ? 2 : 0,
					.channels = 2,
					.api_version = 5,
					.work_ns = 20 * MS,
					.jitter = 0.5,
					.fault = scenarios[i].fault,
					.from_ns = FAULT_NS,
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
		.work_ns = 20 * MS,
		.fault = fault,
		.from_ns = FAULT_NS,
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

TEST(a_missing_rank_is_named_though_only_others_are_seen)
{
	struct sim_options options = eight_ranks(SIM_MISSING);
	const struct ncs_finding *found;
	struct watch watch;

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

TEST(faults_are_found_with_old_releases_of_nccl)
{
	static const enum sim_fault faults[] = { SIM_MISSING,  SIM_DIED,
						 SIM_ORDER,    SIM_SIZE,
						 SIM_DEADLOCK, SIM_STUCK_LINK };

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

TEST(a_job_without_network_is_judged_by_its_calls)
{
	struct sim_options options = eight_ranks(SIM_MISSING);
	const struct ncs_finding *found;
	struct watch watch;

	options.is_nvlink = true;
	found = find(&watch, &options);
	assert_int_equal(found->verdict, NCS_VERDICT_RANK_MISSING);
	assert_int_equal(found->confidence, NCS_CONFIDENCE_LIKELY);
	assert_int_equal(process_of(found), 4);
	assert_int_equal(found->waiting, 7);
	watch_close(&watch);
}

TEST(a_single_update_tells_a_hang_by_its_age)
{
	struct sim_options options = eight_ranks(SIM_MISSING);
	struct watch watch;

	for (uint64_t age_s = 4; age_s <= 8; age_s += 4) {
		watch_open(&watch, &options);
		watch.now_ns = FAULT_NS + age_s * SECOND;
		look(&watch);
		assert_int_equal(ncs_diagnosis_severity(&watch.diagnosis),
				 age_s == 8 ? NCS_SEVERITY_STUCK :
					      NCS_SEVERITY_SLOW);
		assert_int_equal(process_of(watch.diagnosis.findings), 4);
		watch_close(&watch);
	}
}

/* --- A process that begins late ------------------------------------------- */

/* Before it begins it is a rank that is not seen and that others wait for. The
 * other rank of its group has then still to come to the others. */
static bool is_of_late_process(const struct ncs_finding *finding,
			       const struct sim_options *options)
{
	int process = process_of(finding);

	if (finding->severity != NCS_SEVERITY_SLOW)
		return false;
	if (finding->verdict == NCS_VERDICT_CAME_LATE)
		return process == (int)options->victim;
	if (finding->verdict == NCS_VERDICT_PEER_WAIT)
		return process < 0;
	return finding->verdict == NCS_VERDICT_RANK_MISSING &&
	       (process < 0 || process == (int)options->victim + 1);
}

/* Returns whether it is said to have come late. */
static bool look_at_late_process(struct watch *watch,
				 const struct sim_options *options)
{
	const struct ncs_diagnosis *diagnosis = &watch->diagnosis;
	bool is_told = false;

	look(watch);
	for (size_t k = 0; k < diagnosis->count; k++) {
		const struct ncs_finding *finding = &diagnosis->findings[k];

		if (!is_of_late_process(finding, options))
			fail_msg("%s, %s, process %d, at %llu ms",
				 ncs_verdict_name(finding->verdict),
				 ncs_severity_name(finding->severity),
				 process_of(finding),
				 (unsigned long long)(watch->now_ns / MS));
		is_told |= finding->verdict == NCS_VERDICT_CAME_LATE;
	}
	return is_told;
}

TEST(a_process_that_begins_late_is_accused_of_nothing_else)
{
	for (unsigned i = 0; i < 16; i++) {
		struct sim_options options = eight_ranks(SIM_HEALTHY);
		struct watch watch;
		bool is_told = false;

		options.from_ns = UINT64_MAX;
		options.seed = i;
		options.api_version = i % 2 ? 5 : 4;
		options.neighbours = i % 4 / 2 ? 2 : 0;
		options.work_ns = 500 * MS;
		options.birth_ns = 5 * SECOND + i * 50 * MS;
		watch_open(&watch, &options);
		while (watch.now_ns < 12 * SECOND)
			is_told |= look_at_late_process(&watch, &options);
		assert_true(is_told);
		watch_close(&watch);
	}
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

/* Returns how bad it is at a second that rank 1 has not called what rank 0 has since 10 s:
 * the first operation, or the second one. Ends are told of AllReduce alone. */
static enum ncs_verdict_severity
severity_of_absence(unsigned function, unsigned operation, unsigned at_s)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;
	struct scripted_rank *ranks[2];
	enum ncs_verdict_severity severity;

	scripted_init(&scripted);
	for (int i = 0; i < 2; i++) {
		ranks[i] = add(&scripted, i, 7);
		ranks[i]->snapshot.functions[function].operations = operation;
	}
	enqueued(ranks[0], function, operation);
	if (function != NCS_FUNCTION_ALL_REDUCE)
		ranks[0]->snapshot.functions[function].with_children = 0;
	ncs_diagnosis_init(&diagnosis);
	for (unsigned i = 0; i < 2; i++) {
		scripted_pass(&scripted, (at_s + i - 1) * SECOND);
		assert_int_equal(ncs_diagnose(&diagnosis, &scripted.model), 0);
	}
	severity = ncs_diagnosis_severity(&diagnosis);
	if (severity != NCS_SEVERITY_WELL)
		assert_int_equal(diagnosis.findings[0].verdict,
				 NCS_VERDICT_RANK_MISSING);
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
	return severity;
}

/* Ranks are seconds apart at their first call: they load and compile before it. */
TEST(a_first_call_may_come_seconds_later)
{
	const unsigned function = NCS_FUNCTION_ALL_REDUCE;

	assert_int_equal(severity_of_absence(function, 0, 14),
			 NCS_SEVERITY_WELL);
	assert_int_equal(severity_of_absence(function, 0, 17),
			 NCS_SEVERITY_STUCK);
	assert_int_equal(severity_of_absence(function, 1, 12),
			 NCS_SEVERITY_SLOW);
	assert_int_equal(severity_of_absence(function, 1, 17),
			 NCS_SEVERITY_STUCK);
}

TEST(all_ranks_are_waited_for_where_no_end_is_told)
{
	assert_int_equal(severity_of_absence(NCS_FUNCTION_ALL_GATHER_V, 1, 17),
			 NCS_SEVERITY_STUCK);
	assert_int_equal(severity_of_absence(NCS_FUNCTION_BROADCAST, 1, 17),
			 NCS_SEVERITY_WELL);
}

TEST(calls_in_another_order_are_an_order_mismatch)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;
	struct scripted_rank *odd;

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

/* Rank 0 waits for data of rank 1, which has finalized its communicator: before the call,
 * or in the middle of it. */
TEST(a_rank_that_left_is_missing_only_where_it_did_not_call)
{
	for (unsigned has_called = 0; has_called < 2; has_called++) {
		struct ncs_diagnosis diagnosis;
		struct scripted scripted;
		struct scripted_rank *rank;

		scripted_init(&scripted);
		rank = add(&scripted, 0, 7);
		enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 5);
		waits(rank, 1);
		rank->channels[0].operation = rank->operations[0].number;
		rank = add(&scripted, 1, 7);
		enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 4 + has_called);
		rank->snapshot.operation_count = 0;
		rank->snapshot.liveness = NCS_FINISHED;
		diagnose(&diagnosis, &scripted);
		assert_int_equal(diagnosis.count, 1);
		assert_int_equal(diagnosis.findings[0].root.number, 1);
		assert_string_equal(
			ncs_verdict_name(diagnosis.findings[0].verdict),
			has_called ? "peer_wait" : "rank_missing");
		ncs_diagnosis_release(&diagnosis);
		scripted_release(&scripted);
	}
}

/* A rank with less data has finished: only its record shows the size. */
TEST(a_rank_that_finished_with_less_data_is_a_size_mismatch)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;
	struct scripted_rank *rank;

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

TEST(a_call_that_starts_no_operation_is_suspicious)
{
	struct ncs_lane_view lane = { 0 };
	struct ncs_diagnosis diagnosis;
	struct scripted_rank *rank;
	struct scripted scripted;

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
TEST(a_circle_across_communicators_is_a_deadlock)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;

	scripted_init(&scripted);
	waits(add(&scripted, 0, 7), 1);
	add(&scripted, 1, 7);
	add(&scripted, 0, 8);
	waits(add(&scripted, 1, 8), 0);
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_DEADLOCK);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	/* Two processes, though four ranks of communicators. */
	assert_int_equal(diagnosis.findings[0].waiting, 2);
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
}

/* The GPU of process 3 is late in one communicator; it has not come to the other one,
 * where the same processes wait for it, too. */
TEST(a_process_that_waits_in_two_communicators_counts_once)
{
	struct ncs_channel_view *channel;
	struct ncs_diagnosis diagnosis;
	struct scripted_rank *rank;
	struct scripted scripted;

	scripted_init(&scripted);
	for (uint64_t comm_id = 7; comm_id < 9; comm_id++)
		for (int i = 0; i < 3; i++) {
			rank = add(&scripted, i, comm_id);
			enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 5);
			waits(rank, 3);
		}
	add(&scripted, 3, 8);
	rank = add(&scripted, 3, 7);
	enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 5);
	channel = scripted_channel(rank, 0, true, 0);
	channel->state = NCS_CHANNEL_SEND_GPU_WAIT;
	channel->since_ns = 10 * SECOND;
	channel->function = NCS_FUNCTION_ALL_REDUCE;
	diagnose(&diagnosis, &scripted);
	assert_true(diagnosis.count > 0);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_GPU_LATE);
	assert_int_equal(diagnosis.findings[0].waiting, 3);
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
}

/* NCCL has noticed and closed its channels; the call stays in progress. */
TEST(a_dead_rank_is_found_though_its_peers_have_no_channels)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;

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
TEST(dead_ranks_of_an_earlier_job_are_ignored)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;

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

/* --- Over NVLink ----------------------------------------------------------- */

/* Ranks of communicators of two ranks, whose launches are followed. Launch 5 of
 * each is that of AllReduce 4. */
#define LAUNCH 5
#define CALL 4

static struct scripted_rank *on_stream(struct scripted *scripted, int number,
				       uint64_t comm_id)
{
	struct scripted_rank *rank = add(scripted, number, comm_id);

	rank->header.process_start = rank->header.pid;
	rank->snapshot.identity.nranks = 2;
	scripted_follow(rank, LAUNCH, CALL, 9 * SECOND);
	return rank;
}

/* Calls a function at 10 s; its kernel begins at once, or is queued. */
static struct ncs_operation_view *launch(struct scripted_rank *rank,
					 unsigned function, bool begins)
{
	struct ncs_snapshot *snapshot = &rank->snapshot;
	struct ncs_operation_view *operation =
		&rank->operations[snapshot->operation_count++];
	bool is_p2p = function != NCS_FUNCTION_ALL_REDUCE;

	*operation = (struct ncs_operation_view){
		.number = LAUNCH,
		.start_ns = 10 * SECOND,
		.enqueued_ns = 10 * SECOND + 1,
		.sequence_number = is_p2p ? NCS_NO_SEQUENCE_NUMBER : CALL,
		.event = is_p2p ? NCS_EVENT_P2P : NCS_EVENT_COLL,
		.function = function,
		.peer = 1 - snapshot->identity.rank,
		.launch = LAUNCH,
	};
	snapshot->functions[function].operations++;
	if (!is_p2p)
		snapshot->functions[function].last_sequence_number = CALL;
	snapshot->launches.followed = snapshot->launches.launched = LAUNCH;
	if (begins) {
		snapshot->launches.begun = LAUNCH;
		snapshot->launches.begun_ns = 10 * SECOND;
	}
	return operation;
}

/* Asserts that there is one finding, that it is stuck, and what it blames. */
static void assert_stuck(const struct ncs_diagnosis *diagnosis,
			 enum ncs_verdict verdict, int root,
			 enum ncs_confidence confidence)
{
	const struct ncs_finding *found = diagnosis->findings;

	assert_int_equal(diagnosis->count, 1);
	assert_string_equal(ncs_verdict_name(found->verdict),
			    ncs_verdict_name(verdict));
	assert_int_equal(found->root.number, root);
	assert_int_equal(found->severity, NCS_SEVERITY_STUCK);
	assert_int_equal(found->confidence, confidence);
	assert_true(found->waiting > 0);
}

/* Looks twice, and asserts this of each look. */
static void assert_found(struct scripted *scripted, enum ncs_verdict verdict,
			 int root, enum ncs_confidence confidence)
{
	struct ncs_diagnosis diagnosis;

	ncs_diagnosis_init(&diagnosis);
	for (unsigned i = 0; i < 2; i++) {
		scripted_pass(scripted, (40 + i) * SECOND);
		assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
		assert_stuck(&diagnosis, verdict, root, confidence);
	}
	ncs_diagnosis_release(&diagnosis);
}

TEST(a_kernel_that_has_begun_waits_for_a_rank_that_has_not_called)
{
	struct scripted *scripted = *state;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, true);
	on_stream(scripted, 1, 7);
	assert_found(scripted, NCS_VERDICT_RANK_MISSING, 1,
		     NCS_CONFIDENCE_CERTAIN);
}

/* Rank 0 is in an operation of a replay; rank 1 does not report all launches that rank 0
 * does, and may be in it, too, unless it has not begun the replay. */
TEST(a_rank_that_reports_less_of_a_replay_is_possibly_missing)
{
	static const struct {
		uint64_t of_0, of_1; /* ncs_graphs.stamped */
		bool hides;
	} cases[] = {
		{ 4, 8, true },
		{ 4, 4, false },
		{ 4, 1, false },
		{ 16 | UINT64_C(32) << 32, 16, true },
		{ 16 | UINT64_C(33) << 32, 16, false },
		{ 16 | UINT64_C(32) << 32, 16 | UINT64_C(32) << 32, false },
		{ 16 | UINT64_C(32) << 32, 1, false },
		{ 4, 0, false },
		{ UINT64_C(32) << 32, 0, false },
		{ 0, 4, false },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++)
		for (uint64_t replays = 4; replays <= 5; replays++) {
			bool is_hidden = cases[c].hides && replays == 5;
			struct scripted *scripted = *state;
			struct ncs_late_now now;

			for (int i = 0; i < 2; i++)
				on_stream(scripted, i, 7)->snapshot.graphs =
					(struct ncs_graphs_view){
						.are_replays = true,
						.replays = i ? replays : 5,
						.stamped = i ? cases[c].of_1 :
							       cases[c].of_0,
					};
			launch(&scripted->ranks[0], NCS_FUNCTION_ALL_REDUCE,
			       true);
			assert_found(scripted, NCS_VERDICT_RANK_MISSING, 1,
				     is_hidden ? NCS_CONFIDENCE_POSSIBLE :
						 NCS_CONFIDENCE_CERTAIN);
			ncs_rank_late_now(scripted->model.ranks[1], &now);
			assert_int_equal(now.late_ns > 0, !is_hidden);
			scripted_release(scripted);
			scripted_init(scripted);
		}
}

TEST(a_kernel_that_is_queued_behind_other_work_is_a_late_gpu)
{
	struct scripted *scripted = *state;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, true);
	launch(on_stream(scripted, 1, 7), NCS_FUNCTION_ALL_REDUCE, false);
	assert_found(scripted, NCS_VERDICT_GPU_LATE, 1, NCS_CONFIDENCE_CERTAIN);
}

/* One process has four GPUs; or four containers began at one time, and each of their
 * processes is the first there. */
TEST(ranks_that_share_a_number_of_a_process_count_each)
{
	for (unsigned is_one = 0; is_one < 2; is_one++) {
		struct ncs_diagnosis diagnosis;
		struct scripted *scripted = *state;

		for (int i = 0; i < 4; i++) {
			struct scripted_rank *rank = on_stream(scripted, i, 7);

			rank->header.pid = rank->header.process_start = 1;
			rank->snapshot.identity.nranks = 4;
			if (is_one)
				snprintf(rank->snapshot.identity.gpu,
					 sizeof(rank->snapshot.identity.gpu),
					 "0000:%d:00.0", i);
			else
				rank->header.pid_namespace = 100 + (uint64_t)i;
			if (i > 0)
				launch(rank, NCS_FUNCTION_ALL_REDUCE, true);
		}
		diagnose(&diagnosis, scripted);
		assert_int_equal(diagnosis.count, 1);
		assert_int_equal(diagnosis.findings[0].root.number, 0);
		assert_int_equal(diagnosis.findings[0].waiting, 3);
		ncs_diagnosis_release(&diagnosis);
		scripted_release(scripted);
		scripted_init(scripted);
	}
}

/* Calls AllReduce 0. */
static struct ncs_operation_view *launch_first(struct scripted_rank *rank,
					       bool begins)
{
	struct ncs_operation_view *operation =
		launch(rank, NCS_FUNCTION_ALL_REDUCE, begins);

	operation->sequence_number = 0;
	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].last_sequence_number =
		0;
	return operation;
}

/* Adds three ranks: rank 0 is in its first AllReduce since 10 s, and has its
 * communicator since 5 s, the others, of one host, since `born_ns`. Returns rank 1. */
static struct scripted_rank *come_late(struct scripted *scripted,
				       uint64_t born_ns)
{
	struct scripted_rank *ranks[] = { on_stream(scripted, 0, 7),
					  on_stream(scripted, 1, 7),
					  on_stream(scripted, 2, 7) };

	for (size_t i = 0; i < 3; i++) {
		ranks[i]->header.created = i == 0 ? 5 * SECOND : born_ns;
		ranks[i]->snapshot.identity.nranks = 3;
		ranks[i]->snapshot.launches = (struct ncs_launches_view){
			.status = NCS_STREAM_ALL,
		};
		ranks[i]->snapshot.functions[NCS_FUNCTION_ALL_REDUCE] =
			(struct ncs_function_view){
				.last_sequence_number = NCS_NO_SEQUENCE_NUMBER,
			};
		ranks[i]->snapshot.last_call_ns = 0;
	}
	launch_first(ranks[0], true);
	return ranks[1];
}

static const struct ncs_evidence *
evidence_of(const struct ncs_finding *finding, enum ncs_evidence_kind kind)
{
	for (size_t i = 0; i < finding->evidence_count; i++)
		if (finding->evidence[i].kind == kind)
			return &finding->evidence[i];
	fail_msg("no evidence of kind %d", kind);
	return NULL;
}

/* Asserts that rank 1 is said to have come late, by so much, and so many others, and
 * nothing else. */
static void assert_came_late(struct scripted *scripted, uint64_t late_ns,
			     size_t alike)
{
	const struct ncs_finding *found;
	struct ncs_diagnosis diagnosis;

	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 1);
	found = diagnosis.findings;
	assert_string_equal(ncs_verdict_name(found->verdict), "came_late");
	assert_int_equal(found->severity, NCS_SEVERITY_SLOW);
	assert_int_equal(found->root.number, 1);
	assert_int_equal(found->alike, alike);
	assert_int_equal(evidence_of(found, NCS_EVIDENCE_BORN)->duration_ns,
			 late_ns);
	ncs_diagnosis_release(&diagnosis);
}

TEST(a_rank_that_came_late_and_has_not_called_is_not_missing)
{
	struct scripted *scripted = *state;

	come_late(scripted, 38 * SECOND);
	assert_came_late(scripted, 33 * SECOND, 1);
}

TEST(a_rank_that_came_late_has_no_late_gpu)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = come_late(scripted, 38 * SECOND);

	launch_first(rank, false)->start_ns = 41 * SECOND - SECOND / 4;
	assert_came_late(scripted, 33 * SECOND, 1);
}

TEST(a_rank_that_came_late_and_does_not_call_is_missing)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	come_late(scripted, 35 * SECOND);
	diagnose(&diagnosis, scripted);
	assert_stuck(&diagnosis, NCS_VERDICT_RANK_MISSING, 1,
		     NCS_CONFIDENCE_CERTAIN);
	ncs_diagnosis_release(&diagnosis);
}

/* The host called a moment ago: until then, its GPU had nothing to begin. */
TEST(a_kernel_is_not_late_before_it_is_called)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	struct scripted_rank *rank;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, true);
	rank = on_stream(scripted, 1, 7);
	launch(rank, NCS_FUNCTION_ALL_REDUCE, false);
	rank->operations[0].start_ns = 41 * SECOND - SECOND / 4;
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_string_equal(ncs_verdict_name(diagnosis.findings[0].verdict),
			    "peer_wait");
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_SLOW);
	ncs_diagnosis_release(&diagnosis);
	rank->operations[0].start_ns = 38 * SECOND;
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_GPU_LATE);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_SLOW);
	assert_int_equal(diagnosis.findings[0].duration_ns, 3 * SECOND);
	ncs_diagnosis_release(&diagnosis);
}

TEST(kernels_that_are_all_queued_are_healthy)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, false);
	launch(on_stream(scripted, 1, 7), NCS_FUNCTION_ALL_REDUCE, false);
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 0);
	ncs_diagnosis_release(&diagnosis);
}

/* The hosts have run ahead: they called at 10 s, and it is 41 s now. A kernel that
 * began a moment ago is no proxy thread that sleeps. */
TEST(a_kernel_that_has_just_begun_is_no_sleeping_proxy)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	for (int i = 0; i < 2; i++) {
		struct scripted_rank *rank = on_stream(scripted, i, 7);
		struct ncs_snapshot *snapshot = &rank->snapshot;

		launch(rank, NCS_FUNCTION_ALL_REDUCE, true);
		snapshot->proxy.state = NCS_PROXY_SLEEP;
		snapshot->functions[NCS_FUNCTION_ALL_REDUCE].with_children = 4;
		if (i == 1) {
			snapshot->launches.begun_ns = 41 * SECOND - SECOND / 2;
			continue;
		}
		waits(rank, 1);
	}
	diagnose(&diagnosis, scripted);
	for (size_t i = 0; i < diagnosis.count; i++)
		assert_string_not_equal(
			ncs_verdict_name(diagnosis.findings[i].verdict),
			"proxy_asleep");
	ncs_diagnosis_release(&diagnosis);
}

/* The launch of the killed rank had begun, too. */
TEST(a_kernel_waits_for_a_process_that_died)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, true);
	rank = on_stream(scripted, 1, 7);
	launch(rank, NCS_FUNCTION_ALL_REDUCE, true);
	rank->snapshot.liveness = NCS_DEAD;
	assert_found(scripted, NCS_VERDICT_RANK_DIED, 1,
		     NCS_CONFIDENCE_CERTAIN);
}

/* It had not called what the other waits in since 10 s, when it died 2 s later:
 * its death does not hide that. */
TEST(a_death_tells_that_the_rank_was_missing_before)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank;
	struct ncs_diagnosis diagnosis;
	const struct ncs_finding *finding;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, true);
	rank = on_stream(scripted, 1, 7);
	rank->snapshot.last_call_ns = 10 * SECOND;
	rank->snapshot.liveness = NCS_DEAD;
	rank->snapshot.alive_ns = 12 * SECOND;
	diagnose(&diagnosis, scripted);
	finding = &diagnosis.findings[0];
	assert_int_equal(finding->verdict, NCS_VERDICT_RANK_DIED);
	assert_int_equal(finding->evidence[0].kind, NCS_EVIDENCE_GONE);
	assert_int_equal(finding->evidence[1].kind, NCS_EVIDENCE_BEHIND);
	assert_int_equal(finding->evidence[1].call.sequence_number, CALL);
	assert_int_equal(finding->evidence[2].kind, NCS_EVIDENCE_IDLE);
	assert_int_equal(finding->evidence[2].duration_ns, 2 * SECOND);
	ncs_diagnosis_release(&diagnosis);
}

TEST(a_stopped_process_explains_its_victims)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, true);
	rank = on_stream(scripted, 1, 7);
	launch(rank, NCS_FUNCTION_ALL_REDUCE, false);
	rank->snapshot.process_stopped = true;
	assert_found(scripted, NCS_VERDICT_RANK_STOPPED, 1,
		     NCS_CONFIDENCE_CERTAIN);
}

/* A watchdog ends the job, the stopped process last. */
TEST(a_process_that_was_stopped_until_the_end_is_told_then)
{
	struct scripted *scripted = *state;
	struct scripted_rank *ranks[2];
	struct ncs_diagnosis diagnosis;
	const struct ncs_finding *finding;

	for (int i = 0; i < 2; i++) {
		ranks[i] = on_stream(scripted, i, 7);
		launch(ranks[i], NCS_FUNCTION_ALL_REDUCE, i == 0);
		ranks[i]->snapshot.last_call_ns = 10 * SECOND;
	}
	ranks[1]->snapshot.process_stopped = true;
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_RANK_STOPPED);
	ncs_diagnosis_release(&diagnosis);
	for (int i = 0; i < 2; i++) {
		ranks[i]->snapshot.liveness = NCS_DEAD;
		ranks[i]->snapshot.process_stopped = false;
	}
	diagnose(&diagnosis, scripted);
	finding = &diagnosis.findings[0];
	assert_int_equal(finding->verdict, NCS_VERDICT_RANK_STOPPED);
	assert_int_equal(finding->root.number, 1);
	ncs_diagnosis_release(&diagnosis);
}

/* Over sockets its channel says that its GPU is late, and both ends of the other
 * channel wait for the network. */
TEST(a_stopped_process_is_neither_a_late_gpu_nor_the_network)
{
	struct scripted *scripted = *state;
	struct ncs_channel_view *channel;
	struct scripted_rank *rank;

	for (int i = 0; i < 2; i++) {
		rank = add(scripted, i, 7);
		enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 5);
		waits(rank, 1 - i);
		channel = scripted_channel(rank, 0, true, 1 - i);
		channel->state = i == 0 ? NCS_CHANNEL_SEND_WAIT :
					  NCS_CHANNEL_SEND_GPU_WAIT;
		channel->since_ns = 10 * SECOND;
		channel->function = NCS_FUNCTION_ALL_REDUCE;
	}
	rank->snapshot.process_stopped = true;
	assert_found(scripted, NCS_VERDICT_RANK_STOPPED, 1,
		     NCS_CONFIDENCE_CERTAIN);
}

/* A job that the batch system has suspended: nobody waits. */
TEST(processes_that_are_all_stopped_are_one_finding)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	char text[NCS_SENTENCE_MAX];

	for (int comm = 7; comm < 9; comm++)
		for (int i = 0; i < 2; i++) {
			struct scripted_rank *rank =
				on_stream(scripted, i, (uint64_t)comm);

			rank->header.pid = rank->header.process_start =
				100 + (unsigned)i;
			rank->snapshot.process_stopped = true;
		}
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	ncs_finding_sentence(diagnosis.findings, text, sizeof(text));
	assert_string_equal(text,
			    "the process of rank 0 of 0000000000000007 is"
			    " stopped; no rank waits for it; the same applies to"
			    " 1 other rank (31.0s so far)");
	ncs_diagnosis_release(&diagnosis);
}

/* Tools that read stacks do so, of all processes at once. */
TEST(a_pause_of_all_processes_changes_nothing)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, true);
	on_stream(scripted, 1, 7);
	diagnose(&diagnosis, scripted);
	for (int i = 0; i < 2; i++)
		scripted->ranks[i].snapshot.process_stopped = true;
	for (uint64_t at = 42; at < 44; at++) {
		scripted_pass(scripted, at * SECOND);
		assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
		assert_int_equal(diagnosis.count, 1);
		assert_string_equal(
			ncs_verdict_name(diagnosis.findings[0].verdict),
			"rank_missing");
	}
	scripted_pass(scripted, 44 * SECOND);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	assert_string_equal(ncs_verdict_name(diagnosis.findings[0].verdict),
			    "rank_stopped");
	ncs_diagnosis_release(&diagnosis);
}

/* A rank that has finished the call which another one is in. */
static void finish(struct scripted_rank *rank)
{
	struct ncs_snapshot *snapshot = &rank->snapshot;

	launch(rank, NCS_FUNCTION_ALL_REDUCE, true);
	snapshot->operation_count = 0;
	snapshot->functions[NCS_FUNCTION_ALL_REDUCE].operations_done++;
	snapshot->launches.ended = LAUNCH;
	snapshot->launches.ended_ns = 11 * SECOND;
}

/* Two H200 over NVLink, of which one called AllReduce and Broadcast and the other
 * the same the other way round: one of them finished both. */
TEST(a_kernel_that_goes_on_alone_is_left_behind)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	finish(on_stream(scripted, 0, 7));
	launch(on_stream(scripted, 1, 7), NCS_FUNCTION_ALL_REDUCE, true);
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_string_equal(ncs_verdict_name(diagnosis.findings[0].verdict),
			    "left_behind");
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	assert_int_equal(diagnosis.findings[0].root.number, 1);
	assert_int_equal(diagnosis.findings[0].call.sequence_number, CALL);
	/* It is 41 s now. */
	assert_int_equal(diagnosis.findings[0].duration_ns, 31 * SECOND);
	ncs_diagnosis_release(&diagnosis);
}

/* Its end may come between the looks at the two. */
TEST(a_kernel_is_not_left_behind_at_the_moment_of_its_end)
{
	struct scripted *scripted = *state;
	struct scripted_rank *first = on_stream(scripted, 0, 7);
	struct ncs_diagnosis diagnosis;

	finish(first);
	first->snapshot.launches.ended_ns = 41 * SECOND - SECOND / 2;
	launch(on_stream(scripted, 1, 7), NCS_FUNCTION_ALL_REDUCE, true);
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 0);
	ncs_diagnosis_release(&diagnosis);
}

static void assert_nothing(struct scripted *scripted)
{
	struct ncs_diagnosis diagnosis;

	diagnose(&diagnosis, scripted);
	if (diagnosis.count > 0)
		print_message("found: %s\n",
			      ncs_verdict_name(diagnosis.findings[0].verdict));
	assert_int_equal(diagnosis.count, 0);
	ncs_diagnosis_release(&diagnosis);
}

/* Adds two ranks of a communicator whose kernels began an AllReduce 31 s ago. */
static struct scripted_rank *hang_together(struct scripted *scripted, int first,
					   uint64_t comm_id, uint64_t bytes)
{
	struct scripted_rank *rank = NULL;

	for (int i = 0; i < 2; i++) {
		rank = on_stream(scripted, i, comm_id);
		rank->header.pid = rank->header.process_start =
			100 + (unsigned)(first + i);
		launch(rank, NCS_FUNCTION_ALL_REDUCE, true)->bytes = bytes;
	}
	return rank;
}

TEST(a_collective_that_all_have_begun_and_none_ends_is_stuck)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	char text[NCS_SENTENCE_MAX];

	hang_together(scripted, 0, 7, 1 << 20);
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 1);
	ncs_finding_sentence(diagnosis.findings, text, sizeof(text));
	assert_string_equal(text, "all ranks of the communicator of rank 0 have"
				  " begun AllReduce #4, and none ends (31.0s so"
				  " far)");
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	ncs_diagnosis_release(&diagnosis);
}

/* Much data may take that long. */
TEST(a_large_collective_may_take_5_s_for_each_gib)
{
	hang_together(*state, 0, 7, UINT64_C(7) << 30);
	assert_nothing(*state);
}

TEST(a_collective_that_one_rank_has_begun_late_is_not_stuck_yet)
{
	hang_together(*state, 0, 7, 1 << 20)->snapshot.launches.begun_ns =
		38 * SECOND;
	assert_nothing(*state);
}

/* Two communicators of the same processes: their kernels take each other's room. */
TEST(two_communicators_that_hang_together_are_one_finding)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	hang_together(scripted, 0, 7, 1 << 20);
	hang_together(scripted, 0, 8, 1 << 20);
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_string_equal(ncs_verdict_name(diagnosis.findings[0].verdict),
			    "not_ended");
	ncs_diagnosis_release(&diagnosis);
}

/* Nothing goes through the proxy thread of a communicator of one node without a
 * channel. */
TEST(a_proxy_that_is_not_needed_is_not_blamed)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 2; i++) {
		struct scripted_rank *rank = add(scripted, i, 7);

		rank->snapshot.identity.nranks = 2;
		rank->snapshot.identity.known |= NCS_KNOWN_NNODES;
		rank->snapshot.identity.nnodes = 1;
		rank->snapshot.proxy.state = NCS_PROXY_UNKNOWN;
		enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 5);
		rank->operations[0].children_started = 0;
	}
	assert_nothing(scripted);
}

/* It may wait for a rank that is not seen. */
TEST(a_kernel_is_not_left_behind_by_ranks_that_are_not_seen)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	finish(on_stream(scripted, 0, 7));
	launch(on_stream(scripted, 1, 7), NCS_FUNCTION_ALL_REDUCE, true);
	for (int i = 0; i < 2; i++)
		scripted->ranks[i].snapshot.identity.nranks = 3;
	diagnose(&diagnosis, scripted);
	for (size_t i = 0; i < diagnosis.count; i++)
		assert_string_not_equal(
			ncs_verdict_name(diagnosis.findings[i].verdict),
			"left_behind");
	ncs_diagnosis_release(&diagnosis);
}

/* Makes a Broadcast of what a rank has called. */
static void make_broadcast(struct scripted_rank *rank)
{
	struct ncs_function_view *functions = rank->snapshot.functions;

	functions[NCS_FUNCTION_BROADCAST] = functions[NCS_FUNCTION_ALL_REDUCE];
	functions[NCS_FUNCTION_ALL_REDUCE] = (struct ncs_function_view){
		.last_sequence_number = NCS_NO_SEQUENCE_NUMBER,
	};
	for (size_t i = 0; i < rank->snapshot.operation_count; i++) {
		rank->operations[i].function = NCS_FUNCTION_BROADCAST;
		rank->operations[i].peer = 0;
	}
	for (size_t i = 0; i < rank->snapshot.channel_count; i++)
		rank->channels[i].function = NCS_FUNCTION_BROADCAST;
}

/* Its channel tells whose data it waits for, which is more than that it is the
 * last. */
TEST(a_leaf_that_waits_for_data_is_not_left_behind)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 3; i++) {
		struct scripted_rank *rank = on_stream(scripted, i, 7);

		rank->snapshot.identity.nranks = 3;
		if (i < 2) {
			finish(rank);
		} else {
			launch(rank, NCS_FUNCTION_ALL_REDUCE, true);
			waits(rank, 1);
		}
		make_broadcast(rank);
	}
	assert_found(scripted, NCS_VERDICT_PEER_WAIT, 1,
		     NCS_CONFIDENCE_POSSIBLE);
}

/* Each stream is held by the communicator that the other rank has queued. */
TEST(streams_with_communicators_in_another_order_are_a_deadlock)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 2; i++)
		for (uint64_t id = 7; id <= 8; id++)
			launch(on_stream(scripted, i, id),
			       NCS_FUNCTION_ALL_REDUCE, (id == 7) == (i == 0));
	assert_found(scripted, NCS_VERDICT_DEADLOCK, 0, NCS_CONFIDENCE_LIKELY);
}

TEST(kernels_that_all_receive_are_a_deadlock)
{
	struct scripted *scripted = *state;

	for (int i = 0; i < 2; i++)
		launch(on_stream(scripted, i, 7), NCS_FUNCTION_RECV, true);
	assert_found(scripted, NCS_VERDICT_DEADLOCK, 0, NCS_CONFIDENCE_CERTAIN);
}

TEST(a_kernel_that_receives_waits_for_one_that_sends)
{
	struct scripted *scripted = *state;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_RECV, true);
	on_stream(scripted, 1, 7);
	assert_found(scripted, NCS_VERDICT_P2P_UNMET, 1,
		     NCS_CONFIDENCE_LIKELY);
}

TEST(kernels_that_send_and_receive_move_data)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_RECV, true);
	launch(on_stream(scripted, 1, 7), NCS_FUNCTION_SEND, true);
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 0);
	ncs_diagnosis_release(&diagnosis);
}

/* --- Calls that NCCL has not begun ----------------------------------------- */

/* A rank of two that has been inside a call since 10 s. */
static void be_inside(struct scripted *scripted, int number, unsigned function,
		      struct ncs_lane_view *lane)
{
	struct scripted_rank *rank = add(scripted, number, 7);

	rank->snapshot.identity.nranks = 2;
	rank->snapshot.lanes = lane;
	rank->snapshot.lane_count = 1;
	rank->snapshot.functions[function].calls = 1;
	lane->open_since_ns[NCS_EVENT_GROUP_API] = 10 * SECOND;
}

TEST(a_receive_that_nobody_sends_to_is_stuck)
{
	struct scripted *scripted = *state;
	struct ncs_lane_view lane = { 0 };

	be_inside(scripted, 0, NCS_FUNCTION_RECV, &lane);
	add(scripted, 1, 7)->snapshot.identity.nranks = 2;
	assert_found(scripted, NCS_VERDICT_P2P_UNMET, 1,
		     NCS_CONFIDENCE_LIKELY);
}

TEST(receives_without_a_send_are_stuck)
{
	struct scripted *scripted = *state;
	struct ncs_lane_view lanes[2] = { 0 };

	be_inside(scripted, 0, NCS_FUNCTION_RECV, &lanes[0]);
	be_inside(scripted, 1, NCS_FUNCTION_RECV, &lanes[1]);
	assert_found(scripted, NCS_VERDICT_DEADLOCK, 0, NCS_CONFIDENCE_LIKELY);
}

TEST(a_pair_that_connects_for_long_is_only_slow)
{
	struct scripted *scripted = *state;
	struct ncs_lane_view lanes[2] = { 0 };
	struct ncs_diagnosis diagnosis;

	be_inside(scripted, 0, NCS_FUNCTION_RECV, &lanes[0]);
	be_inside(scripted, 1, NCS_FUNCTION_SEND, &lanes[1]);
	lanes[0].open_since_ns[NCS_EVENT_GROUP_API] = 32 * SECOND;
	lanes[1].open_since_ns[NCS_EVENT_GROUP_API] = 32 * SECOND;
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 0); /* many jobs take as long */
	ncs_diagnosis_release(&diagnosis);
	lanes[0].open_since_ns[NCS_EVENT_GROUP_API] = 10 * SECOND;
	lanes[1].open_since_ns[NCS_EVENT_GROUP_API] = 10 * SECOND;
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_NOT_BEGUN);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_SLOW);
	assert_int_equal(diagnosis.findings[0].confidence,
			 NCS_CONFIDENCE_POSSIBLE);
	ncs_diagnosis_release(&diagnosis);
}

/* --- Jobs that were killed ------------------------------------------------- */

/* Watches two ranks from 20 s on, all of whose processes die at 30 s. */
static void kill_at_30_s(struct scripted *scripted,
			 struct ncs_diagnosis *diagnosis)
{
	ncs_diagnosis_init(diagnosis);
	for (uint64_t i = 20; i < 90; i++) {
		for (size_t k = 0; k < 2 && i == 30; k++)
			scripted->ranks[k].snapshot.liveness = NCS_DEAD;
		scripted_pass(scripted, i * SECOND);
		assert_int_equal(ncs_diagnose(diagnosis, &scripted->model), 0);
	}
}

TEST(a_verdict_stays_when_a_stuck_job_is_killed)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, true);
	on_stream(scripted, 1, 7);
	kill_at_30_s(scripted, &diagnosis);
	assert_int_equal(diagnosis.findings[0].verdict,
			 NCS_VERDICT_RANK_MISSING);
	assert_int_equal(diagnosis.findings[0].root.number, 1);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	/* It had waited from 10 s until it was last seen alive. */
	assert_int_equal(diagnosis.findings[0].duration_ns, 19 * SECOND);
	ncs_diagnosis_release(&diagnosis);
}

/* Makes a rank one whose process died, and whose last heartbeat was then; 0: it
 * had none. */
static void killed(struct scripted_rank *rank, uint64_t alive_ns)
{
	rank->snapshot.liveness = NCS_DEAD;
	rank->snapshot.alive_ns = alive_ns;
}

/* Two ranks of one communicator, the first in a launch, were killed at different
 * times, or at the same. */
static void two_killed(struct scripted *scripted, uint64_t first_ns,
		       uint64_t second_ns)
{
	launch(on_stream(scripted, 0, 7), NCS_FUNCTION_ALL_REDUCE, true);
	on_stream(scripted, 1, 7);
	killed(&scripted->ranks[0], first_ns);
	killed(&scripted->ranks[1], second_ns);
}

/* Returns the severity of the wait for rank 1, which began at 10 s, at the first look:
 * both processes were killed, and their last heartbeats were then. */
static enum ncs_verdict_severity severity_of_killed(struct scripted *scripted,
						    uint64_t alive_ns)
{
	enum ncs_verdict_severity severity = NCS_SEVERITY_WELL;
	struct ncs_diagnosis diagnosis;

	two_killed(scripted, alive_ns, alive_ns);
	diagnose(&diagnosis, scripted);
	for (size_t i = 0; i < diagnosis.count; i++)
		if (diagnosis.findings[i].verdict == NCS_VERDICT_RANK_MISSING)
			severity = diagnosis.findings[i].severity;
	ncs_diagnosis_release(&diagnosis);
	return severity;
}

/* A process lives on for up to 0.6 s after its last heartbeat. */
TEST(a_hang_that_ended_between_two_heartbeats_is_told)
{
	assert_int_equal(severity_of_killed(*state, 14400 * MS),
			 NCS_SEVERITY_STUCK);
}

TEST(what_was_killed_sooner_has_not_hung)
{
	assert_int_not_equal(severity_of_killed(*state, 14399 * MS),
			     NCS_SEVERITY_STUCK);
}

/* Returns the severity of the wait for rank 1, which began at 10 s, at a look at this
 * time, the first one after 9 s. */
static enum ncs_verdict_severity severity_after_9_s(struct scripted *scripted,
						    uint64_t now_ns)
{
	enum ncs_verdict_severity severity;
	struct ncs_diagnosis diagnosis;

	ncs_diagnosis_init(&diagnosis);
	on_stream(scripted, 0, 7);
	on_stream(scripted, 1, 7)->snapshot.last_call_ns = 8 * SECOND;
	scripted_pass(scripted, 9 * SECOND);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	assert_int_equal(diagnosis.count, 0);
	launch(&scripted->ranks[0], NCS_FUNCTION_ALL_REDUCE, true);
	/* The kernel of the call before ends after that look. */
	scripted->ranks[1].snapshot.launches.ended_ns = 9900 * MS;
	scripted_pass(scripted, now_ns);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	assert_int_equal(diagnosis.findings[0].verdict,
			 NCS_VERDICT_RANK_MISSING);
	severity = diagnosis.findings[0].severity;
	ncs_diagnosis_release(&diagnosis);
	return severity;
}

TEST(looks_far_apart_tell_a_hang_by_its_age)
{
	assert_int_equal(severity_after_9_s(*state, 16 * SECOND),
			 NCS_SEVERITY_STUCK);
}

TEST(a_younger_wait_is_no_hang_between_looks_far_apart)
{
	assert_int_equal(severity_after_9_s(*state, 14500 * MS),
			 NCS_SEVERITY_SLOW);
}

/* Returns how many processes a finding says may have died before its root. */
static uint64_t deaths_before(const struct ncs_finding *finding)
{
	for (size_t i = 0; i < finding->evidence_count; i++)
		if (finding->evidence[i].kind == NCS_EVIDENCE_ORDER)
			return finding->evidence[i].number;
	return 0;
}

/* Checks the first two findings on two ranks that were dead at the first
 * look. */
static void assert_found_later(struct scripted *scripted,
			       struct ncs_diagnosis *diagnosis,
			       enum ncs_verdict first, enum ncs_verdict second)
{
	diagnose(diagnosis, scripted);
	assert_int_equal(diagnosis->count, 2);
	assert_string_equal(ncs_verdict_name(diagnosis->findings[0].verdict),
			    ncs_verdict_name(first));
	assert_string_equal(ncs_verdict_name(diagnosis->findings[1].verdict),
			    ncs_verdict_name(second));
}

TEST(a_killed_job_has_its_verdict_at_the_first_look)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	two_killed(scripted, 30 * SECOND, 30 * SECOND);
	assert_found_later(scripted, &diagnosis, NCS_VERDICT_RANK_MISSING,
			   NCS_VERDICT_RANK_DIED);
	assert_int_equal(diagnosis.findings[0].root.number, 1);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	assert_int_equal(diagnosis.findings[0].confidence,
			 NCS_CONFIDENCE_CERTAIN);
	/* From 10 s until its death at 30 s; it is 41 s now. */
	assert_int_equal(diagnosis.findings[0].duration_ns, 20 * SECOND);
	assert_int_equal(diagnosis.findings[1].alike, 1);
	assert_int_equal(deaths_before(&diagnosis.findings[1]), 1);
	assert_int_equal(diagnosis.findings[1].duration_ns, 11 * SECOND);
	ncs_diagnosis_release(&diagnosis);
}

TEST(the_first_to_die_is_told_at_the_first_look)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	two_killed(scripted, 30 * SECOND, 12 * SECOND);
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_RANK_DIED);
	assert_int_equal(diagnosis.findings[0].root.number, 1);
	assert_int_equal(diagnosis.findings[0].waiting, 1);
	assert_int_equal(diagnosis.findings[0].alike, 1);
	ncs_diagnosis_release(&diagnosis);
}

#define WATCHED 4

/* Adds ranks that are in a launch, but for one that has not called. */
static void add_watched(struct scripted *scripted, int missing)
{
	for (int i = 0; i < WATCHED; i++) {
		struct scripted_rank *rank = on_stream(scripted, i, 7);

		rank->snapshot.identity.nranks = WATCHED;
		if (i != missing)
			launch(rank, NCS_FUNCTION_ALL_REDUCE, true);
	}
}

/* Returns how many processes may have died before rank 3, which others wait for:
 * it died at 11 s, and rank 0 so much later, before all had waited for long. */
static uint64_t deaths_before_rank_3(uint64_t later_ns, const char *host,
				     bool has_heartbeat)
{
	struct ncs_diagnosis diagnosis;
	struct scripted scripted;
	const struct ncs_finding *finding;
	uint64_t count;

	scripted_init(&scripted);
	add_watched(&scripted, 3);
	killed(&scripted.ranks[3], has_heartbeat ? 11 * SECOND : 0);
	killed(&scripted.ranks[0], 11 * SECOND + later_ns);
	snprintf(scripted.ranks[0].header.host,
		 sizeof(scripted.ranks[0].header.host), "%s", host);
	diagnose(&diagnosis, &scripted);
	assert_int_equal(diagnosis.count, 1);
	finding = &diagnosis.findings[0];
	assert_int_equal(finding->verdict, NCS_VERDICT_RANK_DIED);
	assert_int_equal(finding->root.number, 3);
	assert_int_equal(finding->waiting, 2);
	assert_int_equal(finding->alike, 1);
	count = deaths_before(finding);
	ncs_diagnosis_release(&diagnosis);
	scripted_release(&scripted);
	return count;
}

/* Its heartbeat came each 0.5 s. */
TEST(the_first_of_several_deaths_is_the_root)
{
	assert_int_equal(deaths_before_rank_3(SECOND, "", true), 0);
	assert_int_equal(deaths_before_rank_3(SECOND / 2, "", true), 1);
	assert_int_equal(deaths_before_rank_3(SECOND, "", false), 1);
	assert_int_equal(deaths_before_rank_3(SECOND, "other", true), 1);
}

/* Checks what is told of ranks of which rank 1 has not called, after each of them
 * has ended in this order, 1 s apart. */
static void assert_hang_stays(const int order[WATCHED])
{
	for (unsigned ended = 1; ended <= WATCHED; ended++) {
		struct ncs_diagnosis diagnosis;
		struct scripted scripted;

		scripted_init(&scripted);
		add_watched(&scripted, 1);
		for (unsigned i = 0; i < ended; i++)
			killed(&scripted.ranks[order[i]], (20 + i) * SECOND);
		assert_found_later(&scripted, &diagnosis,
				   NCS_VERDICT_RANK_MISSING,
				   NCS_VERDICT_RANK_DIED);
		assert_int_equal(diagnosis.findings[0].root.number, 1);
		assert_int_equal(diagnosis.findings[0].severity,
				 NCS_SEVERITY_STUCK);
		assert_int_equal(diagnosis.findings[0].waiting, WATCHED - 1);
		assert_int_equal(diagnosis.findings[1].severity,
				 NCS_SEVERITY_SLOW);
		assert_int_equal(diagnosis.findings[1].alike, ended - 1);
		assert_int_equal(diagnosis.findings[1].root.number, order[0]);
		ncs_diagnosis_release(&diagnosis);
		scripted_release(&scripted);
	}
}

TEST(a_hang_stays_first_when_watchdogs_end_its_ranks)
{
	static const int victim_first[] = { 0, 2, 1, 3 };
	static const int culprit_first[] = { 1, 0, 2, 3 };

	assert_hang_stays(victim_first);
	assert_hang_stays(culprit_first);
}

TEST(a_deadlock_stays_first_when_one_of_its_ranks_ends)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	for (int i = 0; i < 2; i++)
		launch(on_stream(scripted, i, 7), NCS_FUNCTION_RECV, true);
	killed(&scripted->ranks[0], 30 * SECOND);
	assert_found_later(scripted, &diagnosis, NCS_VERDICT_DEADLOCK,
			   NCS_VERDICT_RANK_DIED);
	ncs_diagnosis_release(&diagnosis);
}

/* It had waited for the other since 10 s, as for one that writes a checkpoint:
 * the other called at 32 s, and waits since then. */
TEST(a_rank_that_died_while_it_waited_is_told_once_others_moved)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank;

	rank = on_stream(scripted, 0, 7);
	launch(rank, NCS_FUNCTION_ALL_REDUCE, true)->start_ns = 32 * SECOND;
	rank->snapshot.launches.begun_ns = 32 * SECOND;
	rank = on_stream(scripted, 1, 7);
	launch(rank, NCS_FUNCTION_ALL_REDUCE, true);
	killed(rank, 30 * SECOND);
	assert_found(scripted, NCS_VERDICT_RANK_DIED, 1,
		     NCS_CONFIDENCE_CERTAIN);
}

/* Nobody knows how long the others had waited: perhaps for a moment. */
TEST(a_death_without_a_date_leaves_what_is_possible)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	struct scripted_rank *rank;

	for (int i = 0; i < 3; i++) {
		rank = add(scripted, i, 7);
		enqueued(rank, NCS_FUNCTION_ALL_REDUCE, 5);
		rank->snapshot.last_call_ns = 10 * SECOND + MS;
		killed(rank, 0);
	}
	rank->snapshot.operation_count = 0;
	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].operations = 5;
	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].with_children = 5;
	rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE].last_sequence_number =
		4;
	assert_found_later(scripted, &diagnosis, NCS_VERDICT_RANK_DIED,
			   NCS_VERDICT_RANK_MISSING);
	assert_int_equal(diagnosis.findings[1].root.number, 2);
	assert_int_equal(diagnosis.findings[1].waiting, 2);
	assert_int_equal(diagnosis.findings[1].severity, NCS_SEVERITY_SLOW);
	assert_int_equal(diagnosis.findings[1].confidence,
			 NCS_CONFIDENCE_POSSIBLE);
	ncs_diagnosis_release(&diagnosis);
}

/* The ends of all processes at once explain no circle of waits. */
TEST(a_deadlock_is_told_with_the_deaths_of_a_killed_job)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	for (int i = 0; i < 2; i++) {
		launch(on_stream(scripted, i, 7), NCS_FUNCTION_RECV, true);
		killed(&scripted->ranks[i], 30 * SECOND);
	}
	assert_found_later(scripted, &diagnosis, NCS_VERDICT_DEADLOCK,
			   NCS_VERDICT_RANK_DIED);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	assert_int_equal(diagnosis.findings[0].duration_ns, 20 * SECOND);
	assert_int_equal(diagnosis.findings[1].alike, 1);
	ncs_diagnosis_release(&diagnosis);
}

TEST(a_deadlock_and_the_deaths_are_told_where_they_were_watched)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	for (int i = 0; i < 2; i++)
		launch(on_stream(scripted, i, 7), NCS_FUNCTION_RECV, true);
	kill_at_30_s(scripted, &diagnosis);
	assert_int_equal(diagnosis.count, 2);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_DEADLOCK);
	assert_int_equal(diagnosis.findings[1].verdict, NCS_VERDICT_RANK_DIED);
	ncs_diagnosis_release(&diagnosis);
}

TEST(a_job_that_was_well_until_it_was_killed_has_no_finding)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;

	on_stream(scripted, 0, 7);
	on_stream(scripted, 1, 7);
	kill_at_30_s(scripted, &diagnosis);
	assert_int_equal(diagnosis.count, 0);
	ncs_diagnosis_release(&diagnosis);
}

TEST(a_mismatch_is_not_hidden_by_a_death)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	struct scripted_rank *rank;

	for (int i = 0; i < 3; i++)
		enqueued(add(scripted, i, 7), NCS_FUNCTION_ALL_REDUCE, 5);
	rank = &scripted->ranks[2];
	rank->operations[0].count = 8;
	scripted_pass(scripted, 30 * SECOND);
	rank->snapshot.liveness = NCS_DEAD;
	diagnose(&diagnosis, scripted);
	assert_int_equal(diagnosis.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(diagnosis.findings[i].root.number, 2);
	assert_int_equal(diagnosis.findings[0].verdict,
			 NCS_VERDICT_SIZE_MISMATCH);
	assert_int_equal(diagnosis.findings[1].verdict, NCS_VERDICT_RANK_DIED);
	ncs_diagnosis_release(&diagnosis);
}

TEST(processes_without_anything_to_do_have_ended)
{
	for (int dead = 1; dead <= 2; dead++) {
		struct ncs_diagnosis diagnosis;
		struct scripted scripted;

		scripted_init(&scripted);
		for (int i = 0; i < 2; i++)
			on_stream(&scripted, i, 7);
		for (int i = 0; i < dead; i++)
			killed(&scripted.ranks[i], 20 * (i + 1) * SECOND);
		diagnose(&diagnosis, &scripted);
		assert_int_equal(diagnosis.count, 0);
		ncs_diagnosis_release(&diagnosis);
		scripted_release(&scripted);
	}
}

/* One owed a call, the other is in one. */
TEST(processes_with_something_to_do_have_died)
{
	for (int i = 0; i < 2; i++) {
		struct ncs_diagnosis diagnosis;
		struct scripted scripted;

		scripted_init(&scripted);
		two_killed(&scripted, 10 * SECOND + 700 * MS,
			   10 * SECOND + 700 * MS);
		if (i == 0)
			scripted.ranks[0].snapshot.operation_count = 0;
		else
			launch(&scripted.ranks[1], NCS_FUNCTION_ALL_REDUCE,
			       true);
		diagnose(&diagnosis, &scripted);
		assert_int_equal(diagnosis.count, 1);
		assert_int_equal(diagnosis.findings[0].verdict,
				 NCS_VERDICT_RANK_DIED);
		assert_int_equal(diagnosis.findings[0].severity,
				 NCS_SEVERITY_SLOW);
		ncs_diagnosis_release(&diagnosis);
		scripted_release(&scripted);
	}
}

/* The replays of graphs had no time of a call: it was told that a rank had waited
 * since the machine was started. */
TEST(a_wait_since_an_unknown_call_is_not_told)
{
	for (uint64_t call_ns = 0; call_ns <= 10 * SECOND;
	     call_ns += 10 * SECOND) {
		struct ncs_diagnosis diagnosis;
		struct scripted scripted;

		scripted_init(&scripted);
		for (int i = 0; i < 2; i++) {
			struct scripted_rank *rank = add(&scripted, i, 7);
			struct ncs_function_view *reduces =
				&rank->snapshot.functions
					 [NCS_FUNCTION_ALL_REDUCE];

			rank->snapshot.last_call_ns = call_ns;
			reduces->operations = (uint64_t)(7 - i);
			reduces->last_sequence_number = (uint64_t)(6 - i);
		}
		diagnose(&diagnosis, &scripted);
		assert_int_equal(diagnosis.count, call_ns > 0);
		ncs_diagnosis_release(&diagnosis);
		scripted_release(&scripted);
	}
}

/* The plugin looks at kernels now and then: a process that waits for its last one,
 * and ends at once, is seen in it. So is one that is killed, of which nothing
 * tells that it lacked anything. But not one that dies before the other. */
TEST(processes_that_end_together_in_a_new_operation_have_ended)
{
	for (int later = 0; later <= 3; later += 3) {
		struct ncs_diagnosis diagnosis;
		struct scripted scripted;

		scripted_init(&scripted);
		two_killed(&scripted, 10 * SECOND + MS,
			   10 * SECOND + MS + later * SECOND);
		launch(&scripted.ranks[1], NCS_FUNCTION_ALL_REDUCE, true);
		diagnose(&diagnosis, &scripted);
		assert_int_equal(diagnosis.count, later > 0);
		ncs_diagnosis_release(&diagnosis);
		scripted_release(&scripted);
	}
}

TEST(a_death_is_told_at_once)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	struct scripted_rank *rank;

	rank = on_stream(scripted, 0, 7);
	launch(rank, NCS_FUNCTION_ALL_REDUCE, true)->start_ns = 20 * SECOND;
	rank->snapshot.launches.begun_ns = 20 * SECOND;
	on_stream(scripted, 1, 7);
	scripted_pass(scripted, 20 * SECOND);
	scripted->ranks[1].snapshot.liveness = NCS_DEAD;
	scripted_pass(scripted, 20 * SECOND + 500 * MS);
	ncs_diagnosis_init(&diagnosis);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_RANK_DIED);
	assert_int_equal(diagnosis.findings[0].duration_ns, 500 * MS);
	ncs_diagnosis_release(&diagnosis);
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
		.neighbours = r >> 3 & 1 ? 2 : 0,
		.channels = 1 + (unsigned)(r >> 4 & 1),
		.api_version = 1 + (unsigned)(r >> 5 & 7) % 7,
		.is_nvlink = (r >> 8 & 7) == 0,
		.work_ns = (5 + (r >> 11 & 63)) * MS,
		.jitter = (double)(r >> 17 & 3),
		.stall_ns = (r >> 19 & 1) ? 600 * MS : 0,
		.phase_ns = (r >> 20 & 3) ? (r >> 20 & 3) * 7 * SECOND : 0,
		.is_queued = r >> 22 & 1,
		.is_idle = (r >> 23 & 3) == 0,
		.from_ns = 4 * SECOND,
	};
	if ((r >> 25 & 3) == 0)
		options->seen = (options->ranks + 1) / 2;
}

TEST(a_thousand_healthy_jobs_raise_no_alarm)
{
	struct sim_options options;
	struct watch watch;

	for (uint64_t seed = 0; seed < 1000; seed++) {
		make_healthy(&options, seed);
		watch_open(&watch, &options);
		for (unsigned k = 0; k < 40; k++) {
			look(&watch);
			/* Where a rank is not seen, it may not be known. */
			if (ncs_diagnosis_severity(&watch.diagnosis) <=
			    (options.seen ? NCS_SEVERITY_UNSEEN :
					    NCS_SEVERITY_WELL))
				continue;
			describe(&watch, "alarm", 0, &options);
			fail();
		}
		watch_close(&watch);
	}
}
