/* SPDX-License-Identifier: MIT */
/* Findings of many looks become episodes: from when to when, what, and what it cost
 * on average; the worst first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diagnosis/episodes.h"

#define SECOND UINT64_C(1000000000)

static struct ncs_episodes episodes;
static struct ncs_communicator world = { .key = "world" };
static struct ncs_communicator other = { .key = "other" };

static void describe(const struct ncs_finding *finding, char *text, size_t size)
{
	snprintf(text, size, "%s of %d at %.2f",
		 ncs_verdict_name(finding->verdict), finding->root.number,
		 finding->share);
}

static int begin(void **state)
{
	(void)state;
	memset(&episodes, 0, sizeof(episodes));
	episodes.describe = describe;
	return 0;
}

static struct ncs_finding found(enum ncs_verdict verdict,
				enum ncs_verdict_severity severity, int rank,
				double share)
{
	return (struct ncs_finding){
		.verdict = verdict,
		.severity = severity,
		.root = { NULL, &world, rank },
		.share = share,
	};
}

/* A look at `second` finds one thing. */
static void look(uint64_t second, struct ncs_finding finding)
{
	struct ncs_diagnosis diagnosis = {
		.findings = &finding,
		.count = 1,
	};

	ncs_episodes_add(&episodes, &diagnosis, second * SECOND);
}

static void late(uint64_t second, int rank, double share)
{
	look(second, found(NCS_VERDICT_LATE_RANK, NCS_SEVERITY_SLOW, rank,
			   share));
}

static void a_finding_of_many_looks_is_one_episode(void **state)
{
	(void)state;
	for (uint64_t second = 10; second < 20; second++)
		late(second, 3, second < 15 ? 0.1 : 0.3);
	assert_int_equal(episodes.count, 1);
	assert_int_equal(episodes.all[0].from_ns, 10 * SECOND);
	assert_int_equal(episodes.all[0].until_ns, 19 * SECOND);
	assert_string_equal(episodes.all[0].sentence,
			    "late_rank of 3 at 0.20");
}

static void a_short_gap_ends_no_episode_and_a_long_one_does(void **state)
{
	(void)state;
	late(10, 3, 0.1);
	late(15, 3, 0.1);
	assert_int_equal(episodes.count, 1);
	late(21, 3, 0.1);
	assert_int_equal(episodes.count, 2);
	assert_int_equal(episodes.all[0].until_ns, 15 * SECOND);
	assert_int_equal(episodes.all[1].from_ns, 21 * SECOND);
}

static void other_ranks_and_communicators_have_episodes_of_their_own(
	void **state)
{
	struct ncs_finding finding =
		found(NCS_VERDICT_LATE_RANK, NCS_SEVERITY_SLOW, 3, 0.1);

	(void)state;
	late(10, 3, 0.1);
	late(10, 4, 0.1);
	finding.root.communicator = &other;
	look(10, finding);
	assert_int_equal(episodes.count, 3);
}

static void an_episode_begins_with_its_wait(void **state)
{
	struct ncs_finding finding = found(NCS_VERDICT_RANK_MISSING,
					   NCS_SEVERITY_SLOW, 3, 0);

	(void)state;
	finding.duration_ns = 2 * SECOND;
	look(10, finding);
	finding.severity = NCS_SEVERITY_STUCK;
	finding.duration_ns = 6 * SECOND;
	look(14, finding);
	finding.severity = NCS_SEVERITY_SLOW;
	look(15, finding);
	assert_int_equal(episodes.count, 1);
	assert_int_equal(episodes.all[0].from_ns, 8 * SECOND);
	assert_int_equal(episodes.all[0].seen_ns, 10 * SECOND);
	assert_int_equal(episodes.all[0].severity, NCS_SEVERITY_STUCK);
}

static void each_death_is_an_episode(void **state)
{
	struct ncs_finding finding =
		found(NCS_VERDICT_RANK_DIED, NCS_SEVERITY_STUCK, 0, 0);

	(void)state;
	look(10, finding);
	look(11, finding);
	finding.alike = 1;
	look(12, finding);
	assert_int_equal(episodes.count, 2);
}

/* Rank 1 hangs from 5 s on, and ranks leave from 20 s on: 2, then 3; a wait that begins
 * later is no part of it. */
static void ranks_that_leave_a_hang_are_no_other_one(void **state)
{
	struct ncs_rank left = { .now.liveness = NCS_FINISHED };
	struct ncs_finding finding;

	(void)state;
	for (uint64_t second = 12; second < 20; second++) {
		finding = found(NCS_VERDICT_RANK_MISSING, NCS_SEVERITY_STUCK, 1,
				0);
		finding.duration_ns = (second - 5) * SECOND;
		look(second, finding);
	}
	for (uint64_t second = 20; second < 24; second++) {
		finding = found(NCS_VERDICT_PEER_WAIT, NCS_SEVERITY_STUCK,
				second < 22 ? 2 : 3, 0);
		finding.root.rank = &left;
		finding.duration_ns = (second - 5) * SECOND;
		look(second, finding);
	}
	assert_int_equal(episodes.count, 1);
	assert_int_equal(episodes.all[0].rank, 1);
	assert_int_equal(episodes.all[0].from_ns, 5 * SECOND);
	assert_int_equal(episodes.all[0].until_ns, 23 * SECOND);
	assert_string_equal(episodes.all[0].sentence,
			    "rank_missing of 1 at 0.00");
	finding.duration_ns = 6 * SECOND;
	look(24, finding);
	assert_int_equal(episodes.count, 2);
	left.now.liveness = NCS_ALIVE;
	finding.root.number = 4;
	finding.duration_ns = 20 * SECOND;
	look(25, finding);
	assert_int_equal(episodes.count, 3);
}

static void the_worst_comes_first(void **state)
{
	(void)state;
	for (uint64_t second = 1; second < 10; second++)
		late(second, 1, 0.1);
	for (uint64_t second = 11; second < 15; second++)
		late(second, 2, 0.5);
	look(20, found(NCS_VERDICT_DEADLOCK, NCS_SEVERITY_STUCK, 3, 0));
	ncs_episodes_sort(&episodes);
	assert_int_equal(episodes.all[0].rank, 3);
	assert_int_equal(episodes.all[1].rank, 2);
	assert_int_equal(episodes.all[2].rank, 1);
}

static void nodes_that_are_not_seen_are_no_episode(void **state)
{
	(void)state;
	look(10, found(NCS_VERDICT_NODE_UNSEEN, NCS_SEVERITY_UNSEEN, -1, 0));
	assert_int_equal(episodes.count, 0);
}

static void no_more_are_kept_than_there_is_room_for(void **state)
{
	(void)state;
	for (int i = 0; i < NCS_EPISODE_MAX + 10; i++)
		late(10, i, 0.1);
	assert_int_equal(episodes.count, NCS_EPISODE_MAX);
	late(11, 5, 0.1);
	assert_int_equal(episodes.all[5].until_ns, 11 * SECOND);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
	const struct CMUnitTest tests[] = {
		TEST(a_finding_of_many_looks_is_one_episode),
		TEST(a_short_gap_ends_no_episode_and_a_long_one_does),
		TEST(other_ranks_and_communicators_have_episodes_of_their_own),
		TEST(an_episode_begins_with_its_wait),
		TEST(each_death_is_an_episode),
		TEST(ranks_that_leave_a_hang_are_no_other_one),
		TEST(the_worst_comes_first),
		TEST(nodes_that_are_not_seen_are_no_episode),
		TEST(no_more_are_kept_than_there_is_room_for),
	};

	return cmocka_run_group_tests_name("episodes", tests, NULL, NULL);
}
