/* SPDX-License-Identifier: MIT */
/* The rule for late ranks: it finds them from the start of a job, with what they
 * cost and why, and nothing in a job that is level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/model/stragglers.h"
#include "shm/hash.h"
#include "test/unit/support/scripted_source.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define RANKS 3

struct late_fixture {
	struct scripted scripted;
	struct ncs_diagnosis diagnosis;
};

static int setup(void **state)
{
	static struct late_fixture fixture;

	scripted_init(&fixture.scripted);
	ncs_diagnosis_init(&fixture.diagnosis);
	for (int i = 0; i < RANKS; i++) {
		struct scripted_rank *rank = scripted_add(&fixture.scripted, i);

		rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
		rank->snapshot.identity.comm_id = 7;
	}
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct late_fixture *fixture = *state;

	ncs_diagnosis_release(&fixture->diagnosis);
	scripted_release(&fixture->scripted);
	return 0;
}

static void look(struct late_fixture *fixture, uint64_t now_ns)
{
	scripted_pass(&fixture->scripted, now_ns);
	for (size_t i = 0; i < SCRIPTED_RANKS; i++)
		fixture->scripted.ranks[i].record_count = 0;
	assert_int_equal(
		ncs_diagnose(&fixture->diagnosis, &fixture->scripted.model), 0);
}

/* There is no earlier time to compare with. */
static void rank_that_is_late_from_the_start_is_found_at_once(void **state)
{
	struct late_fixture *fixture = *state;
	const struct ncs_finding *finding;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	look(fixture, 2 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 1);
	finding = &fixture->diagnosis.findings[0];
	assert_int_equal(finding->verdict, NCS_VERDICT_LATE_RANK);
	assert_int_equal(finding->severity, NCS_SEVERITY_SLOW);
	assert_int_equal(finding->root.number, 1);
	assert_int_equal(finding->cause, NCS_LATE_HOST);
	/* 39 times 2 ms in 39 times 10 ms. */
	assert_true(finding->share > 0.199 && finding->share < 0.201);
	assert_int_equal(finding->evidence[0].kind, NCS_EVIDENCE_LATE);
	assert_int_equal(finding->evidence[0].number, 40);
}

static void level_ranks_are_healthy(void **state)
{
	struct late_fixture *fixture = *state;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, MS / 3);
	look(fixture, 2 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 0);
}

/* Costs decide nothing of ranks that nobody waits for, so that they are not computed. */
static void only_a_late_rank_is_waited_for(void **state)
{
	struct late_fixture *fixture = *state;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	look(fixture, 2 * SECOND);
	for (size_t i = 0; i < RANKS; i++)
		assert_int_equal(ncs_rank_is_waited_for(
					 fixture->scripted.model.ranks[i]),
				 i == 1);
}

static void lateness_that_is_over_is_not_a_finding(void **state)
{
	struct late_fixture *fixture = *state;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	look(fixture, 2 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 1);
	look(fixture, 2 * SECOND + NCS_COST_WINDOW_NS);
	assert_int_equal(fixture->diagnosis.count, 0);
}

static void end(struct late_fixture *fixture, size_t rank, uint64_t end_ns)
{
	struct ncs_snapshot *snapshot = &fixture->scripted.ranks[rank].snapshot;

	snapshot->liveness = NCS_FINISHED;
	snapshot->finished_ns = end_ns;
}

static void job_that_has_ended_is_judged_as_of_its_end(void **state)
{
	struct late_fixture *fixture = *state;
	const struct ncs_finding *finding;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	for (size_t i = 0; i < RANKS; i++)
		end(fixture, i, 2 * SECOND + i);
	look(fixture, 2 * SECOND + 3 * NCS_COST_WINDOW_NS);
	assert_int_equal(fixture->diagnosis.count, 1);
	finding = &fixture->diagnosis.findings[0];
	assert_int_equal(finding->verdict, NCS_VERDICT_LATE_RANK);
	assert_int_equal(finding->root.number, 1);
	assert_int_equal(finding->waiting, RANKS - 1);
}

static void
lateness_that_was_over_before_the_job_ended_is_not_a_finding(void **state)
{
	struct late_fixture *fixture = *state;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	for (size_t i = 0; i < RANKS; i++)
		end(fixture, i, 2 * SECOND + NCS_COST_WINDOW_NS);
	look(fixture, 2 * SECOND + NCS_COST_WINDOW_NS);
	assert_int_equal(fixture->diagnosis.count, 0);
}

/* A rank that has ended can hold up nobody any more. */
static void rank_that_ended_before_the_others_is_not_a_finding(void **state)
{
	struct late_fixture *fixture = *state;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	end(fixture, 1, 2 * SECOND);
	look(fixture, 2 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 0);
}

/* Its process is gone, with nothing in flight. */
static void leave(struct late_fixture *fixture, size_t rank, uint64_t alive_ns)
{
	struct ncs_snapshot *snapshot = &fixture->scripted.ranks[rank].snapshot;

	snapshot->liveness = NCS_DEAD;
	snapshot->alive_ns = alive_ns;
}

/* Its process is gone, in a call that had lasted for 0.7 s. */
static void kill_rank(struct late_fixture *fixture, size_t rank,
		      uint64_t alive_ns)
{
	struct scripted_rank *scripted = &fixture->scripted.ranks[rank];

	leave(fixture, rank, alive_ns);
	scripted->snapshot.operation_count = 1;
	scripted->operations[0] = (struct ncs_operation_view){
		.number = 41,
		.start_ns = alive_ns - 700 * MS,
		.sequence_number = 40,
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.peer = -1,
	};
}

static void assert_died_and_late(const struct late_fixture *fixture)
{
	const struct ncs_finding *findings = fixture->diagnosis.findings;

	assert_int_equal(fixture->diagnosis.count, 2);
	assert_int_equal(findings[0].verdict, NCS_VERDICT_RANK_DIED);
	assert_int_equal(findings[0].alike, RANKS - 1);
	assert_int_equal(findings[1].verdict, NCS_VERDICT_LATE_RANK);
	assert_int_equal(findings[1].root.number, 1);
	assert_true(findings[1].share > 0.199 && findings[1].share < 0.201);
}

static void late_rank_is_not_hidden_by_the_death_of_all(void **state)
{
	struct late_fixture *fixture = *state;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	look(fixture, 2 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 1);
	for (size_t i = 0; i < RANKS; i++)
		kill_rank(fixture, i, 2 * SECOND);
	for (unsigned i = 0; i < 3; i++) {
		look(fixture, (3 + 10 * i) * SECOND);
		assert_died_and_late(fixture);
	}
}

static void late_rank_is_found_after_the_death_of_all(void **state)
{
	struct late_fixture *fixture = *state;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	for (size_t i = 0; i < RANKS; i++)
		kill_rank(fixture, i, 2 * SECOND);
	look(fixture, 60 * SECOND);
	assert_died_and_late(fixture);
}

static void late_rank_is_found_after_the_end_of_all(void **state)
{
	struct late_fixture *fixture = *state;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	for (size_t i = 0; i < RANKS; i++)
		leave(fixture, i, 2 * SECOND);
	look(fixture, 60 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 1);
	assert_int_equal(fixture->diagnosis.findings[0].verdict,
			 NCS_VERDICT_LATE_RANK);
}

/* Adds an AllReduce with times on the stream. */
static void all_reduce(struct late_fixture *fixture, size_t rank, size_t number,
		       uint64_t call_ns, uint64_t begun_ns, uint64_t end_ns)
{
	struct scripted_rank *scripted = &fixture->scripted.ranks[rank];

	scripted->records[scripted->record_count++] = (struct ncs_record){
		.event = NCS_EVENT_COLL,
		.flags = NCS_RECORD_ON_STREAM,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = (uint32_t)number + 1,
		.number = number,
		.start = call_ns,
		.delta[1] = begun_ns - call_ns,
		.duration = end_ns - call_ns,
	};
}

/* Its death is told, and what the others did without it is theirs. */
static void late_rank_that_died_before_the_others_is_only_dead(void **state)
{
	struct late_fixture *fixture = *state;

	scripted_all_reduces(&fixture->scripted, 40, SECOND, 1, 2 * MS);
	for (size_t i = 0; i < RANKS; i++)
		kill_rank(fixture, i, i == 1 ? 2 * SECOND : 8 * SECOND);
	look(fixture, 60 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 1);
	assert_int_equal(fixture->diagnosis.findings[0].verdict,
			 NCS_VERDICT_RANK_DIED);
}

/* The job was level for minutes; of its latest ten seconds the rank costs
 * much. */
static void new_lateness_is_not_thinned_out_by_an_old_level_time(void **state)
{
	struct late_fixture *fixture = *state;
	uint64_t now_ns = SECOND;

	for (unsigned i = 0; i < 900; i++) {
		uint64_t late_ns = i >= 800 ? 20 * MS : 0;
		uint64_t end_ns = now_ns + late_ns + 30 * MS;

		for (size_t k = 0; k < RANKS; k++) {
			uint64_t call_ns = now_ns + (k == 1 ? late_ns : 0);

			all_reduce(fixture, k, i, call_ns, call_ns + 1, end_ns);
		}
		now_ns = end_ns + 70 * MS;
		if (i % 50 == 49)
			look(fixture, now_ns);
	}
	assert_int_equal(fixture->diagnosis.count, 1);
	/* 20 of 120 ms in the latest ten seconds. */
	assert_true(fixture->diagnosis.findings[0].share > 0.15);
}

/* Rank 1 is late by 20 of 120 ms for five seconds, or level for as long; then comes a
 * look. Returns when. */
static uint64_t five_seconds(struct late_fixture *fixture, uint64_t now_ns,
			     bool is_late)
{
	uint64_t late_ns = is_late ? 20 * MS : 0;

	for (unsigned i = 0; i < 50; i++) {
		uint64_t end_ns = now_ns + late_ns + 30 * MS;

		for (size_t k = 0; k < RANKS; k++) {
			uint64_t call_ns = now_ns + (k == 1 ? late_ns : 0);

			all_reduce(fixture, k, i + (is_late ? 0 : 50), call_ns,
				   call_ns + 1, end_ns);
		}
		now_ns = end_ns + 70 * MS;
	}
	look(fixture, now_ns);
	return now_ns;
}

/* Returns what rank 1 is found to cost after it was late, and then level. */
static double share_after_level_time(struct late_fixture *fixture)
{
	five_seconds(fixture, five_seconds(fixture, SECOND, true), false);
	assert_int_equal(fixture->diagnosis.count, 1);
	return fixture->diagnosis.findings[0].share;
}

static void cost_follows_what_comes(void **state)
{
	assert_true(share_after_level_time(*state) < 0.12);
}

/* A watch bounds what computing costs takes. */
static void cost_stays_until_it_may_be_computed_again(void **state)
{
	struct late_fixture *fixture = *state;

	fixture->scripted.model.costs_every_times = UINT64_C(1) << 30;
	assert_true(share_after_level_time(fixture) > 0.15);
}

/* Operations are kept for 160 s. */
static void cost_is_not_older_than_the_operations(void **state)
{
	struct late_fixture *fixture = *state;
	const struct ncs_lateness_view *view;
	uint64_t now_ns;

	fixture->scripted.model.costs_every_times = UINT64_C(1) << 30;
	now_ns = five_seconds(fixture, SECOND, true);
	assert_true(fixture->diagnosis.findings[0].share > 0.15);
	five_seconds(fixture, now_ns + 165 * SECOND, false);
	view = ncs_rank_lateness(fixture->scripted.model.ranks[1]);
	assert_true(!view || !(view->cost.share > 0.05));
}

static void
finding_names_the_operations_that_could_not_be_compared(void **state)
{
	struct late_fixture *fixture = *state;
	const struct ncs_finding *finding;

	scripted_all_reduces(&fixture->scripted, 60, SECOND, 1, 2 * MS);
	for (size_t k = 0; k < RANKS; k++)
		for (size_t i = 0; i < 40; i++) {
			struct ncs_record *record =
				&fixture->scripted.ranks[k].records[i];

			record->flags = 0;
			record->delta[1] = 0;
		}
	look(fixture, 3 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 1);
	finding = &fixture->diagnosis.findings[0];
	assert_int_equal(finding->evidence[2].kind, NCS_EVIDENCE_UNCOMPARED);
	assert_int_equal(finding->evidence[2].number, 20);
	assert_int_equal(finding->evidence[2].expected, 60);
}

/* --- Hosts that pause --------------------------------------------------------- */

#define PAUSED_STEPS 20u
#define PAUSED_NS (21 * SECOND)

/* Adds a step each 100 ms until PAUSED_NS. In the one in the middle rank 0 came
 * `pause_ns` late. Then the others begin the next step, which rank 0 does not
 * call. */
static void pause_rank_0(struct late_fixture *fixture, uint64_t pause_ns)
{
	uint64_t begin_ns = PAUSED_NS - pause_ns - PAUSED_STEPS * 100 * MS;

	for (unsigned i = 0; i < PAUSED_STEPS; i++) {
		uint64_t late_ns = i == PAUSED_STEPS / 2 ? pause_ns : 0;

		for (size_t k = 0; k < RANKS; k++) {
			uint64_t call_ns = begin_ns + (k == 0 ? late_ns : 0);

			all_reduce(fixture, k, i, call_ns, call_ns + 1,
				   begin_ns + late_ns + 30 * MS);
		}
		begin_ns += late_ns + 100 * MS;
	}
	for (size_t k = 0; k < RANKS; k++) {
		struct scripted_rank *rank = &fixture->scripted.ranks[k];
		struct ncs_snapshot *snapshot = &rank->snapshot;

		scripted_follow(rank, PAUSED_STEPS + 1, PAUSED_STEPS,
				PAUSED_NS - 70 * MS);
		snapshot->identity.nranks = RANKS;
		snapshot->last_call_ns = PAUSED_NS - 100 * MS;
		if (k == 0)
			continue;
		snapshot->launches.begun = snapshot->launches.followed =
			snapshot->launches.launched = PAUSED_STEPS + 1;
		snapshot->launches.begun_ns = PAUSED_NS;
		snapshot->functions[NCS_FUNCTION_ALL_REDUCE]
			.last_sequence_number = PAUSED_STEPS;
		snapshot->operation_count = 1;
		rank->operations[0] = (struct ncs_operation_view){
			.number = PAUSED_STEPS + 1,
			.start_ns = PAUSED_NS,
			.enqueued_ns = PAUSED_NS + 1,
			.sequence_number = PAUSED_STEPS,
			.event = NCS_EVENT_COLL,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.peer = -1,
			.launch = PAUSED_STEPS + 1,
		};
	}
}

/* Asserts what is said of rank 0 when the others have waited for so long, and how
 * long they are said to have waited before. */
static void assert_paused(struct late_fixture *fixture, uint64_t waited_ns,
			  const char *verdict,
			  enum ncs_verdict_severity severity,
			  uint64_t before_ns)
{
	const struct ncs_finding *found;
	bool is_told = false;

	look(fixture, PAUSED_NS + waited_ns - SECOND / 2);
	look(fixture, PAUSED_NS + waited_ns);
	assert_int_equal(fixture->diagnosis.count, 1);
	found = fixture->diagnosis.findings;
	assert_string_equal(ncs_verdict_name(found->verdict), verdict);
	assert_int_equal(found->severity, severity);
	assert_int_equal(found->root.number, 0);
	assert_int_equal(found->waiting, RANKS - 1);
	assert_int_equal(found->duration_ns, waited_ns);
	for (size_t i = 0; i < found->evidence_count; i++)
		is_told |= found->evidence[i].kind == NCS_EVIDENCE_HOST &&
			   found->evidence[i].duration_ns == before_ns &&
			   found->evidence[i].expected > 0;
	assert_true(is_told);
}

/* All of it is known at the first look. */
static void host_is_busy_until_it_takes_longer_than_before(void **state)
{
	struct late_fixture *fixture = *state;
	const uint64_t pause_ns = 15 * SECOND;

	pause_rank_0(fixture, pause_ns);
	assert_paused(fixture, 3 * SECOND, "host_busy", NCS_SEVERITY_SLOW,
		      pause_ns);
	assert_paused(fixture, 12 * SECOND, "host_busy", NCS_SEVERITY_SLOW,
		      pause_ns);
	assert_paused(fixture, 16 * SECOND, "rank_missing", NCS_SEVERITY_SLOW,
		      pause_ns);
	assert_paused(fixture, 21 * SECOND, "rank_missing", NCS_SEVERITY_STUCK,
		      pause_ns);
}

static void rank_that_never_paused_before_is_missing(void **state)
{
	struct late_fixture *fixture = *state;

	pause_rank_0(fixture, 0);
	assert_paused(fixture, 3 * SECOND, "rank_missing", NCS_SEVERITY_SLOW,
		      0);
	assert_paused(fixture, 6 * SECOND, "rank_missing", NCS_SEVERITY_STUCK,
		      0);
}

static void rank_that_goes_on_after_a_pause_is_not_late(void **state)
{
	struct late_fixture *fixture = *state;

	pause_rank_0(fixture, 8 * SECOND);
	for (size_t k = 1; k < RANKS; k++)
		fixture->scripted.ranks[k].snapshot.operation_count = 0;
	look(fixture, PAUSED_NS + SECOND / 2);
	assert_true(ncs_rank_lateness(scripted_rank(&fixture->scripted, 0))
			    ->waited_share > 0.8);
	assert_int_equal(fixture->diagnosis.count, 0);
}

/* --- Hosts with work of their own -------------------------------------------- */

#define STEPS 180u
#define KERNEL_NS (2 * MS)
#define NEVER_WAITS STEPS

/* Returns up to a tenth of a time, by chance; the same for the same number. */
static uint64_t jitter(uint64_t ns, uint64_t number)
{
	return ncs_hash(number) % (ns / 10);
}

/* A job of ranks 0 and 1 with an AllReduce in each step. Their hosts work for so long
 * before it, that of rank 1 for longer in each HICCUPth step, and wait for the step so
 * many before the latest one. */
struct busy_hosts {
	uint64_t work_ns[2], hiccup_ns;
	unsigned ahead, steps;
};

#define HICCUP 15u

/* Returns how long the host of a rank works in a step. */
static uint64_t work_of(const struct busy_hosts *hosts, size_t rank,
			unsigned step)
{
	uint64_t work_ns = hosts->work_ns[rank];

	work_ns += jitter(work_ns, 2 * step + rank);
	if (rank == 1 && step % HICCUP == HICCUP - 1)
		work_ns += hosts->hiccup_ns;
	return work_ns;
}

/* Records such a job. Returns when it ends. */
static uint64_t record_busy_hosts(struct late_fixture *fixture,
				  const struct busy_hosts *hosts)
{
	unsigned ahead = hosts->ahead;
	uint64_t calls_ns[2] = { SECOND, SECOND };
	uint64_t ends_ns[STEPS];

	fixture->scripted.ranks[2].is_there = false;
	for (unsigned i = 0; i < hosts->steps; i++) {
		uint64_t begun_ns = i > 0 ? ends_ns[i - 1] : 0;

		for (size_t k = 0; k < 2; k++) {
			if (i > ahead && ends_ns[i - 1 - ahead] > calls_ns[k])
				calls_ns[k] = ends_ns[i - 1 - ahead];
			calls_ns[k] += work_of(hosts, k, i);
			if (calls_ns[k] > begun_ns)
				begun_ns = calls_ns[k];
		}
		ends_ns[i] = begun_ns + KERNEL_NS;
		for (size_t k = 0; k < 2; k++) {
			uint64_t free_ns = i > 0 ? ends_ns[i - 1] : 0;

			all_reduce(fixture, k, i, calls_ns[k],
				   free_ns > calls_ns[k] ? free_ns :
							   calls_ns[k] + 1,
				   ends_ns[i]);
		}
	}
	return ends_ns[hosts->steps - 1];
}

static void look_at_busy_hosts(struct late_fixture *fixture,
			       const struct busy_hosts *hosts)
{
	look(fixture, record_busy_hosts(fixture, hosts) + MS);
}

/* The other host works for 20 of 30 ms, or 20 of 32 if it waits for each step. */
static void assert_costs(const struct late_fixture *fixture, double cost)
{
	const struct ncs_finding *finding = &fixture->diagnosis.findings[0];

	assert_int_equal(fixture->diagnosis.count, 1);
	assert_int_equal(finding->root.number, 1);
	assert_int_equal(finding->cause, NCS_LATE_HOST);
	assert_true(finding->share > 0.93 * cost);
	assert_true(finding->share < 1.07 * cost);
}

static void late_host_costs_what_it_works_longer_than_others(void **state)
{
	static const struct busy_hosts hosts = {
		.work_ns = { 20 * MS, 30 * MS },
		.steps = STEPS,
	};

	look_at_busy_hosts(*state, &hosts);
	assert_costs(*state, 10.0 / 33.5);
}

/* Operations wait for 28 of 30 ms, but the other host needs 20 of them. */
static void late_host_ahead_costs_what_other_hosts_do_not_work(void **state)
{
	static const struct busy_hosts hosts = {
		.work_ns = { 20 * MS, 30 * MS },
		.ahead = 1,
		.steps = STEPS,
	};

	look_at_busy_hosts(*state, &hosts);
	assert_costs(*state, 10.0 / 30);
}

/* Its steps take 3 s: the latest ten seconds have three of them. */
static void late_host_of_long_steps_is_found(void **state)
{
	static const struct busy_hosts hosts = {
		.work_ns = { 2 * SECOND, 3 * SECOND },
		.steps = 40,
	};

	look_at_busy_hosts(*state, &hosts);
	assert_costs(*state, 1.0 / 3.15);
}

/* Its steps are longer than ten seconds: there is none in the latest ones before the
 * next step ends. */
static void late_host_of_long_steps_stays_found(void **state)
{
	static const struct busy_hosts hosts = {
		.work_ns = { 9 * SECOND, 13 * SECOND },
		.steps = 20,
	};
	struct late_fixture *fixture = *state;
	uint64_t end_ns = record_busy_hosts(fixture, &hosts);

	for (unsigned i = 0; i < 14; i++) {
		look(fixture, end_ns + i * SECOND + MS);
		assert_int_equal(fixture->diagnosis.count, 1);
		assert_int_equal(fixture->diagnosis.findings[0].root.number, 1);
	}
	look(fixture, end_ns + 400 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 0);
}

static void late_host_that_never_waits_costs_as_much(void **state)
{
	static const struct busy_hosts hosts = {
		.work_ns = { 20 * MS, 30 * MS },
		.ahead = NEVER_WAITS,
		.steps = STEPS,
	};

	look_at_busy_hosts(*state, &hosts);
	assert_costs(*state, 10.0 / 30);
}

/* The job takes 20.9 ms for a step where the other host works for 20: operations wait
 * long since its lag grows. */
static void
host_that_is_hardly_slower_than_those_ahead_is_not_found(void **state)
{
	static const struct busy_hosts hosts = {
		.work_ns = { 20 * MS, 20900 * US },
		.ahead = 2,
		.steps = STEPS,
	};
	struct late_fixture *fixture = *state;

	look_at_busy_hosts(fixture, &hosts);
	assert_int_equal(fixture->diagnosis.count, 0);
	assert_true(ncs_rank_lateness(fixture->scripted.model.ranks[1])
			    ->cost.share < NCS_STRAGGLER_COST);
}

/* Each has its turns to be behind, and takes its lag from step to step. */
static void host_that_is_behind_by_chance_is_not_late(void **state)
{
	static const struct busy_hosts hosts = {
		.work_ns = { 20 * MS, 20 * MS },
		.ahead = NEVER_WAITS,
		.steps = STEPS,
	};
	struct late_fixture *fixture = *state;

	look_at_busy_hosts(fixture, &hosts);
	assert_int_equal(fixture->diagnosis.count, 0);
}

/* In twenty steps that is known within a third. */
static void host_is_late_by_little_among_hosts_that_never_wait(void **state)
{
	static const struct busy_hosts hosts = {
		.work_ns = { 20 * MS, 21800 * US },
		.ahead = NEVER_WAITS,
		.steps = 20,
	};
	struct late_fixture *fixture = *state;
	const struct ncs_finding *finding;

	look_at_busy_hosts(fixture, &hosts);
	assert_int_equal(fixture->diagnosis.count, 1);
	finding = &fixture->diagnosis.findings[0];
	assert_int_equal(finding->root.number, 1);
	assert_true(finding->share_least < 0.088);
	assert_true(finding->share > 0.06 && finding->share_most > 0.088);
}

/* Its steps take 21.8 ms on average, and those of the other host 21: that one never waits,
 * but calls before the end of a step only after a hiccup. */
static void host_whose_hiccups_cost_little_is_not_found(void **state)
{
	static const struct busy_hosts hosts = {
		.work_ns = { 20 * MS, 19 * MS },
		.hiccup_ns = 28 * MS,
		.ahead = NEVER_WAITS,
		.steps = STEPS,
	};
	struct late_fixture *fixture = *state;

	look_at_busy_hosts(fixture, &hosts);
	assert_int_equal(fixture->diagnosis.count, 0);
	assert_true(ncs_rank_lateness(fixture->scripted.model.ranks[1])
			    ->cost.share < 0.04);
}

/* --- A real job ------------------------------------------------------------- */

/* A training step of two H200, in us since its begin, by operation: when each rank
 * launched it and began, and when it ended. Rank 1 sleeps for 20 ms first. */
#define STEP_US 54400u
static const struct {
	uint32_t launched[2], begun[2], end;
} real_step[] = {
	{ { 4670, 26060 }, { 10110, 30400 }, 30570 },
	{ { 5750, 27570 }, { 30580, 33700 }, 33860 },
	{ { 6180, 28170 }, { 33860, 34940 }, 35100 },
	{ { 7220, 29790 }, { 35110, 38240 }, 38520 },
	{ { 8170, 31240 }, { 38530, 41610 }, 41760 },
	{ { 8580, 31750 }, { 41770, 42860 }, 43030 },
	{ { 9600, 33060 }, { 43040, 46160 }, 46340 },
	{ { 10580, 34360 }, { 46350, 49480 }, 49620 },
	{ { 10960, 34980 }, { 49630, 50730 }, 50900 },
	{ { 11790, 35990 }, { 50910, 53260 }, 53360 },
	{ { 13470, 37970 }, { 53970, 54220 }, 54230 },
};

/* Without the sleep a step of that job took 34.7 ms: it was 19.7 ms shorter, though
 * the first operation waited for 20.3 ms. */
static void bounds_of_a_real_job_hold_what_it_lost(void **state)
{
	struct late_fixture *fixture = *state;
	const size_t count = sizeof(real_step) / sizeof(real_step[0]);
	const struct ncs_finding *finding;

	fixture->scripted.ranks[2].is_there = false;
	for (size_t i = 0; i < 40 * count; i++)
		for (size_t k = 0; k < 2; k++) {
			uint64_t step_ns = SECOND + i / count * STEP_US * 1000;

			all_reduce(fixture, k, i,
				   step_ns + real_step[i % count].launched[k] *
						     UINT64_C(1000),
				   step_ns + real_step[i % count].begun[k] *
						     UINT64_C(1000),
				   step_ns + real_step[i % count].end *
						     UINT64_C(1000));
		}
	look(fixture, 4 * SECOND);
	assert_int_equal(fixture->diagnosis.count, 1);
	finding = &fixture->diagnosis.findings[0];
	assert_int_equal(finding->root.number, 1);
	assert_int_equal(finding->cause, NCS_LATE_HOST);
	assert_true(finding->share_least <= 19.7 / 54.4);
	assert_true(finding->share_most >= 19.7 / 54.4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(rank_that_is_late_from_the_start_is_found_at_once),
		TEST(level_ranks_are_healthy),
		TEST(only_a_late_rank_is_waited_for),
		TEST(cost_follows_what_comes),
		TEST(cost_stays_until_it_may_be_computed_again),
		TEST(cost_is_not_older_than_the_operations),
		TEST(lateness_that_is_over_is_not_a_finding),
		TEST(job_that_has_ended_is_judged_as_of_its_end),
		TEST(lateness_that_was_over_before_the_job_ended_is_not_a_finding),
		TEST(rank_that_ended_before_the_others_is_not_a_finding),
		TEST(late_rank_is_not_hidden_by_the_death_of_all),
		TEST(late_rank_is_found_after_the_death_of_all),
		TEST(late_rank_is_found_after_the_end_of_all),
		TEST(late_rank_that_died_before_the_others_is_only_dead),
		TEST(new_lateness_is_not_thinned_out_by_an_old_level_time),
		TEST(finding_names_the_operations_that_could_not_be_compared),
		TEST(host_is_busy_until_it_takes_longer_than_before),
		TEST(rank_that_never_paused_before_is_missing),
		TEST(rank_that_goes_on_after_a_pause_is_not_late),
		TEST(late_host_costs_what_it_works_longer_than_others),
		TEST(late_host_ahead_costs_what_other_hosts_do_not_work),
		TEST(late_host_of_long_steps_is_found),
		TEST(late_host_of_long_steps_stays_found),
		TEST(late_host_that_never_waits_costs_as_much),
		TEST(host_that_is_hardly_slower_than_those_ahead_is_not_found),
		TEST(host_that_is_behind_by_chance_is_not_late),
		TEST(host_is_late_by_little_among_hosts_that_never_wait),
		TEST(host_whose_hiccups_cost_little_is_not_found),
		TEST(bounds_of_a_real_job_hold_what_it_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
