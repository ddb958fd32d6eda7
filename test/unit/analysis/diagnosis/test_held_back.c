/* SPDX-License-Identifier: MIT */
/* The rule for what holds a rank back: evidence where it is more than with others,
 * and none where it is so everywhere, or nothing to compare with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diagnosis/rules.h"

#define RANKS 4u

static struct ncs_rank members[RANKS];
static struct ncs_rank *ranks[RANKS];
static struct ncs_communicator communicator;
static struct ncs_finding finding;
static struct ncs_diagnosis diagnosis;
static struct ncs_model model;

/* Four ranks on two machines; a finding blames rank 1. */
static int setup(void **state)
{
	(void)state;
	memset(members, 0, sizeof(members));
	communicator = (struct ncs_communicator){ .ranks = ranks,
						  .rank_count = RANKS };
	for (unsigned i = 0; i < RANKS; i++) {
		struct ncs_rank *rank = &members[i];

		rank->communicator = &communicator;
		rank->process.pid = 100 + i;
		rank->peaks = (struct ncs_rank_peaks){
			.clock_mhz = 1980,
			.clock_most_mhz = 1980,
			.ports = { .sent = 100000, .ports = 2 },
		};
		snprintf(rank->process.host, sizeof(rank->process.host), "n%u",
			 i / 2);
		ranks[i] = rank;
	}
	finding = (struct ncs_finding){ .root = { &members[1], &communicator,
						  1 } };
	diagnosis = (struct ncs_diagnosis){ .findings = &finding,
					    .count = 1,
					    .model = &model };
	model = (struct ncs_model){ .ranks = ranks, .rank_count = RANKS };
	return 0;
}

static void assert_evidence(size_t count)
{
	finding.evidence_count = 0;
	ncs_find_held_back(&diagnosis);
	assert_false(diagnosis.no_memory);
	assert_int_equal(finding.evidence_count, count);
}

static void level_machines_give_no_evidence(void **state)
{
	(void)state;
	assert_evidence(0);
	for (unsigned i = 0; i < RANKS; i++)
		members[i].peaks = (struct ncs_rank_peaks){ 0 };
	assert_evidence(0);
}

static void clock_that_is_held_down_is_evidence(void **state)
{
	(void)state;
	members[1].peaks.clock_mhz = 1290;
	members[1].peaks.held_by = 4;
	assert_evidence(1);
	assert_int_equal(finding.evidence[0].kind, NCS_EVIDENCE_CLOCK);
	assert_int_equal(finding.evidence[0].number, 1290);
	assert_int_equal(finding.evidence[0].expected, 1980);
	assert_int_equal(finding.evidence[0].held_by, 4);
	/* A clock is low while a GPU is idle. */
	members[1].peaks.held_by = 1;
	assert_evidence(0);
}

static void clock_that_is_held_down_everywhere_is_none(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RANKS; i++) {
		members[i].peaks.clock_mhz = 1500 - 100 * (i == 1);
		members[i].peaks.held_by = 4;
	}
	assert_evidence(0);
}

static void ports_of_other_machines_are_compared(void **state)
{
	(void)state;
	members[0].peaks.ports.resent = members[1].peaks.ports.resent =
		900;
	members[0].peaks.ports.errors = members[1].peaks.ports.errors = 5;
	members[0].peaks.ports.down = members[1].peaks.ports.down = 1;
	assert_evidence(3);
	assert_int_equal(finding.evidence[0].kind, NCS_EVIDENCE_RESENT);
	assert_int_equal(finding.evidence[0].number, 9);
	assert_int_equal(finding.evidence[1].kind, NCS_EVIDENCE_PORT_ERRORS);
	assert_int_equal(finding.evidence[2].kind, NCS_EVIDENCE_PORTS_DOWN);
	members[2].peaks = members[3].peaks = members[1].peaks;
	assert_evidence(0);
	/* Without another machine there is nothing to compare with. */
	communicator.rank_count = 2;
	assert_evidence(0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		TEST(level_machines_give_no_evidence),
		TEST(clock_that_is_held_down_is_evidence),
		TEST(clock_that_is_held_down_everywhere_is_none),
		TEST(ports_of_other_machines_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
