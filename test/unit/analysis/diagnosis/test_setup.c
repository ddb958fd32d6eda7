/* SPDX-License-Identifier: MIT */
/* The rule for communicators that nobody has called: a rank that has not joined is
 * named where it must be on a machine that is seen; a setup that may not end is no
 * verdict, and neither is a job that has called nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diagnosis/diagnosis.h"
#include "test/unit/support/scripted_source.h"
#include "tui/text/job_verdict.h"

#define SECOND UINT64_C(1000000000)
#define RANKS 4
/* When a rank joined, before its number is added. */
#define JOINED (10 * SECOND)

/* Adds a rank that has joined and called nothing. */
static struct scripted_rank *join(struct scripted *scripted, int number)
{
	struct scripted_rank *rank = scripted_add(scripted, number);
	struct ncs_identity *identity = &rank->snapshot.identity;

	identity->known |= NCS_KNOWN_COMM_ID | NCS_KNOWN_COMM_NAME |
			   NCS_KNOWN_NRANKS | NCS_KNOWN_NNODES;
	identity->comm_id = 7;
	strcpy(identity->comm_name, "world");
	identity->nranks = RANKS;
	identity->nnodes = 1;
	rank->header.created = JOINED + (uint64_t)number * SECOND;
	return rank;
}

static void join_all_but(struct scripted *scripted, int number)
{
	for (int i = 0; i < RANKS; i++)
		if (i != number)
			join(scripted, i);
}

/* Looks twice, at `at_ns` and half a second before; prints the verdict. */
static struct ncs_diagnosis diagnose(struct scripted *scripted, uint64_t at_ns,
				     char line[512])
{
	struct ncs_diagnosis diagnosis;

	ncs_diagnosis_init(&diagnosis);
	for (unsigned i = 0; i < 2; i++) {
		scripted_pass(scripted, at_ns - (1 - i) * SECOND / 2);
		assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	}
	ncs_verdict_line(&diagnosis, &scripted->model, line, 512);
	return diagnosis;
}

static void assert_verdict(struct scripted *scripted, uint64_t at_ns,
			   const char *expected)
{
	char line[512];
	struct ncs_diagnosis diagnosis = diagnose(scripted, at_ns, line);

	assert_string_equal(line, expected);
	ncs_diagnosis_release(&diagnosis);
}

static void a_rank_that_has_not_joined_is_named(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	char line[512];

	join_all_but(scripted, 2);
	diagnosis = diagnose(scripted, 40 * SECOND, line);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_NOT_JOINED);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_SLOW);
	assert_int_equal(diagnosis.findings[0].root.number, 2);
	assert_int_equal(diagnosis.findings[0].waiting, RANKS - 1);
	assert_int_equal(diagnosis.findings[0].alike, 0);
	/* The last one came at 13 s. */
	assert_int_equal(diagnosis.findings[0].duration_ns, 27 * SECOND);
	ncs_diagnosis_release(&diagnosis);
}

static void a_rank_that_does_not_join_for_a_minute_is_stuck(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	char line[512];

	join(scripted, 0);
	ncs_diagnosis_init(&diagnosis);
	scripted_pass(scripted, 80 * SECOND);
	assert_int_equal(ncs_diagnose(&diagnosis, &scripted->model), 0);
	assert_int_equal(ncs_diagnosis_severity(&diagnosis),
			 NCS_SEVERITY_STUCK);
	ncs_diagnosis_release(&diagnosis);
	diagnosis = diagnose(scripted, 81 * SECOND, line);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].severity, NCS_SEVERITY_STUCK);
	assert_int_equal(diagnosis.findings[0].root.number, 1);
	assert_int_equal(diagnosis.findings[0].alike, 2);
	ncs_diagnosis_release(&diagnosis);
}

static void a_rank_may_take_time_to_join(void **state)
{
	struct scripted *scripted = *state;

	join_all_but(scripted, 2);
	assert_verdict(scripted, 30 * SECOND,
		       "no verdict: no rank has called anything yet");
}

static void a_rank_on_a_node_that_is_not_seen_is_not_accused(void **state)
{
	struct scripted *scripted = *state;

	join_all_but(scripted, 2);
	for (int i = 0; i < RANKS - 1; i++)
		scripted->ranks[i].snapshot.identity.nnodes = 2;
	assert_verdict(scripted, 80 * SECOND,
		       "no verdict: no rank has called anything yet");
}

static void a_rank_is_missed_where_all_its_nodes_are_seen(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_diagnosis diagnosis;
	char line[512];

	join_all_but(scripted, 2);
	for (int i = 0; i < RANKS - 1; i++)
		scripted->ranks[i].snapshot.identity.nnodes = 2;
	snprintf(scripted->ranks[2].header.host,
		 sizeof(scripted->ranks[2].header.host), "another");
	diagnosis = diagnose(scripted, 40 * SECOND, line);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_NOT_JOINED);
	ncs_diagnosis_release(&diagnosis);
}

static void ranks_that_are_left_out_are_not_missed(void **state)
{
	struct scripted *scripted = *state;

	join_all_but(scripted, 2);
	scripted->source.shows_part = true;
	assert_verdict(scripted, 80 * SECOND,
		       "no verdict: no rank has called anything yet");
	scripted->source.shows_part = false;
	scripted->ranks[0].snapshot.losses[NCS_LOSS_UNPUBLISHED] = 1;
	assert_verdict(scripted, 81 * SECOND,
		       "no verdict: no rank has called anything yet");
}

static void a_setup_that_may_not_end_is_no_verdict(void **state)
{
	struct scripted *scripted = *state;

	join_all_but(scripted, RANKS);
	assert_verdict(scripted, 30 * SECOND,
		       "no verdict: no rank has called anything yet");
	assert_verdict(scripted, 40 * SECOND,
		       "no verdict: all ranks have joined the communicator of"
		       " rank 3 of world, and nothing was called since (27.0s so"
		       " far)");
}

/* Adds another communicator, of one rank, which called last at `at_ns`. */
static struct scripted_rank *add_used(struct scripted *scripted, uint64_t at_ns)
{
	struct scripted_rank *rank = join(scripted, 0);

	rank->snapshot.identity.comm_id = 8;
	rank->snapshot.identity.nranks = 1;
	scripted_follow(rank, 100, 100, at_ns);
	rank->snapshot.last_call_ns = at_ns;
	return rank;
}

static void a_spare_communicator_beside_one_in_use_is_well(void **state)
{
	struct scripted *scripted = *state;
	char line[512];
	struct ncs_diagnosis diagnosis;

	join_all_but(scripted, RANKS);
	add_used(scripted, 39 * SECOND);
	diagnosis = diagnose(scripted, 40 * SECOND, line);
	assert_int_equal(diagnosis.count, 0);
	assert_non_null(strstr(line, "well: "));
	assert_non_null(strstr(line, "4 have called nothing yet"));
	ncs_diagnosis_release(&diagnosis);
}

static void a_job_that_is_silent_since_a_setup_is_no_verdict(void **state)
{
	struct scripted *scripted = *state;
	char line[512];
	struct ncs_diagnosis diagnosis;

	join_all_but(scripted, RANKS);
	add_used(scripted, 12 * SECOND);
	diagnosis = diagnose(scripted, 40 * SECOND, line);
	assert_int_equal(diagnosis.count, 1);
	assert_int_equal(diagnosis.findings[0].verdict, NCS_VERDICT_IN_SETUP);
	assert_int_equal(ncs_job_severity(&diagnosis, &scripted->model),
			 NCS_SEVERITY_UNSEEN);
	ncs_diagnosis_release(&diagnosis);
}

static void a_rank_that_has_called_is_judged_by_other_rules(void **state)
{
	struct scripted *scripted = *state;
	char line[512];
	struct ncs_diagnosis diagnosis;

	join_all_but(scripted, 2);
	scripted->ranks[1].snapshot.functions[NCS_FUNCTION_ALL_REDUCE].calls = 1;
	diagnosis = diagnose(scripted, 80 * SECOND, line);
	for (size_t i = 0; i < diagnosis.count; i++)
		assert_int_not_equal(diagnosis.findings[i].verdict,
				     NCS_VERDICT_NOT_JOINED);
	ncs_diagnosis_release(&diagnosis);
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scripted_setup, scripted_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_rank_that_has_not_joined_is_named),
		TEST(a_rank_that_does_not_join_for_a_minute_is_stuck),
		TEST(a_rank_may_take_time_to_join),
		TEST(a_rank_on_a_node_that_is_not_seen_is_not_accused),
		TEST(a_rank_is_missed_where_all_its_nodes_are_seen),
		TEST(ranks_that_are_left_out_are_not_missed),
		TEST(a_setup_that_may_not_end_is_no_verdict),
		TEST(a_spare_communicator_beside_one_in_use_is_well),
		TEST(a_job_that_is_silent_since_a_setup_is_no_verdict),
		TEST(a_rank_that_has_called_is_judged_by_other_rules),
	};

	return cmocka_run_group_tests_name("setups", tests, NULL, NULL);
}
