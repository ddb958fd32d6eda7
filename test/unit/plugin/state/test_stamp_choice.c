/* SPDX-License-Identifier: MIT */
/* Which launches of a graph get stamps: as many as cost at most 0.5 % of a replay, by
 * what the stamps of earlier graphs have told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The plugin's objects are not linked to unit tests. */
#include "plugin/state/captured.c"
#include "plugin/state/stamp_choice.c"

#define US UINT64_C(1000)
#define MS (1000 * US)

/* Communicators, by address only. */
static char comms[4];

static uint64_t captures;

/* Adds the graph of a communicator in the latest capture, by AUTO. Returns how many
 * of its launches have stamps. */
static uint32_t add_graph(unsigned comm, uint32_t launches)
{
	struct ncs_graph *graph =
		&ncs_captured.graphs[ncs_captured.graphs_used++];
	uint32_t stamped = 0;

	graph->comm = (struct ncs_comm *)(void *)&comms[comm];
	graph->context = comm + 1;
	graph->capture = captures;
	ncs_stamp_choose(graph);
	for (graph->launches = 1; graph->launches <= launches;
	     graph->launches++)
		if (ncs_stamp_is_chosen(graph, graph->launches)) {
			graph->last_stamped = graph->launches;
			stamped++;
		}
	graph->launches = launches;
	return stamped;
}

static uint32_t capture(uint32_t launches)
{
	captures++;
	return add_graph(0, launches);
}

/* Replays the graph that was added `before` ones before the latest: its launches come
 * one after the other, in `busy_ns`, and then the GPU is idle. */
static void replay_of(unsigned before, unsigned count, uint64_t busy_ns,
		      uint64_t idle_ns)
{
	static uint64_t now_ns = UINT64_C(1) << NCS_STAMP_TIME_BITS;
	struct ncs_graph *graph =
		&ncs_captured.graphs[ncs_captured.graphs_used - 1 - before];
	uint64_t each_ns = busy_ns / graph->launches;

	for (unsigned i = 0; i < count; i++) {
		for (uint32_t k = 1; k <= graph->launches; k++) {
			struct ncs_captured_launch launch = { .number = k };
			uint64_t mask =
				(UINT64_C(1) << NCS_STAMP_TIME_BITS) - 1;

			if (!ncs_stamp_is_chosen(graph, k)) {
				now_ns += each_ns;
				continue;
			}
			ncs_stamp_note_time(graph, &launch, false,
					    now_ns & mask);
			now_ns += each_ns;
			ncs_stamp_note_time(graph, &launch, true,
					    now_ns & mask);
		}
		now_ns += idle_ns;
	}
}

static void replay(uint64_t busy_ns, uint64_t idle_ns)
{
	replay_of(0, NCS_STAMP_REPLAYS + 1, busy_ns, idle_ns);
}

static int set_up(void **state)
{
	(void)state;
	ncs_captured_forget();
	return 0;
}

/* A decode loop of 500 us that is replayed each 50 ms, and a graph of one long launch. */
static void graph_that_is_known_tells_nothing_of_a_longer_one(void **state)
{
	(void)state;
	assert_int_equal(capture(32), 1);
	replay(500000, 49500000);
	assert_int_equal(capture(1), 1);
	replay(2000000, 0);
	/* The last launch is to tell how long the 32 take: too short for more. */
	assert_int_equal(capture(32), 2);
	replay(500000, 49500000);
	assert_int_equal(capture(32), 1);
}

static void graph_whose_replays_were_lost_tells_nothing(void **state)
{
	(void)state;
	assert_int_equal(capture(32), 1);
	for (unsigned i = 0; i <= NCS_STAMP_REPLAYS; i++) {
		replay_of(0, 1, 2000000, 0);
		ncs_stamp_note_lost();
	}
	assert_int_equal(capture(32), 1);
	replay(500000000, 0);
	assert_int_equal(capture(32), 2);
}

static void first_graph_reports_by_its_first_launch(void **state)
{
	(void)state;
	assert_int_equal(capture(32), 1);
	/* Nothing was replayed yet. */
	assert_int_equal(capture(32), 1);
}

static void all_launches_of_long_replays_report(void **state)
{
	(void)state;
	capture(4);
	/* One launch alone takes longer than four with stamps may. */
	replay(16 * MS, 0);
	assert_int_equal(capture(4), 4);
	replay(16 * MS, 0);
	assert_int_equal(capture(4), 4);
}

/* A replay whose first launch is short: a second one tells how long it is. */
static void second_launch_is_stamped_to_learn_how_long_a_replay_is(void **state)
{
	(void)state;
	capture(64);
	replay(80 * MS, 0);
	assert_int_equal(capture(64), 2);
	assert_int_equal(ncs_captured.graphs[1].last_stamped, 64);
	replay(80 * MS, 0);
	assert_int_equal(capture(64), 64);
}

static void short_replays_report_by_their_first_launch(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(capture(32), 1);
		replay(875 * US, 0);
	}
}

/* The time from one replay to the next may be any: the GPU may be idle. */
static void idle_time_between_replays_is_not_theirs(void **state)
{
	(void)state;
	capture(32);
	replay(875 * US, 50 * MS);
	assert_int_equal(capture(32), 2);
	replay(875 * US, 50 * MS);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(capture(32), 1);
		replay(875 * US, 50 * MS);
	}
}

static void in_between_one_launch_in_n_reports(void **state)
{
	static const struct {
		uint64_t busy_ns;
		uint32_t stamped;
	} cases[] = {
		/* Stamps of 64, 32, 16 and so on launches cost so much. */
		{ 65 * MS, 64 }, { 63 * MS, 32 }, { 33 * MS, 32 },
		{ 31 * MS, 16 }, { 9 * MS, 8 },   { 5 * MS, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t stamped;

		ncs_captured_forget();
		for (unsigned k = 0; k < 2; k++) {
			capture(64);
			replay(cases[i].busy_ns, 0);
		}
		stamped = capture(64);
		assert_int_equal(stamped, cases[i].stamped);
		assert_true(stamped * NCS_STAMP_COST_NS * 1000 <=
			    cases[i].busy_ns * NCS_STAMP_SHARE);
	}
}

/* It is not known which of them the next one is like. */
static void shortest_of_several_graphs_decides(void **state)
{
	(void)state;
	capture(4);
	replay(16 * MS, 0);
	capture(8);
	assert_int_equal(ncs_captured.graphs[1].last_stamped, 8);
	replay(5 * MS, 0);
	assert_int_equal(capture(8), 4);
	replay(500 * US, 0);
	assert_int_equal(capture(8), 1);
	replay_of(2, NCS_STAMP_REPLAYS, 16 * MS, 0);
	assert_int_equal(capture(8), 1);
}

static void graph_is_not_judged_by_its_first_replays(void **state)
{
	(void)state;
	capture(4);
	replay_of(0, 1, 2000 * MS, 0);
	assert_int_equal(capture(4), 1);
	replay_of(1, NCS_STAMP_REPLAYS, 100 * US, 0);
	assert_int_equal(capture(4), 1);
}

static void stamps_of_all_communicators_of_a_capture_count(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		uint32_t stamped = capture(4);
		uint32_t others = add_graph(1, 4);

		/* 4 launches may cost as much, 8 may not. */
		assert_int_equal(stamped, i == 2 ? 2 : i + 1);
		assert_int_equal(others, i == 2 ? 2 : i + 1);
		replay_of(0, NCS_STAMP_REPLAYS + 1, 5 * MS, 0);
		replay_of(1, NCS_STAMP_REPLAYS + 1, 5 * MS, 0);
	}
}

static void communicator_learns_from_its_own_graphs(void **state)
{
	(void)state;
	capture(4);
	replay(16 * MS, 0);
	captures++;
	assert_int_equal(add_graph(1, 4), 1);
}

static void times_across_lost_stamps_are_not_used(void **state)
{
	(void)state;
	capture(4);
	for (unsigned i = 0; i < 2 * NCS_STAMP_REPLAYS; i++) {
		struct ncs_captured_launch launch = { .number = 1 };
		struct ncs_graph *graph = &ncs_captured.graphs[0];

		ncs_stamp_note_time(graph, &launch, false, i * MS * 100);
		ncs_stamp_note_lost();
		ncs_stamp_note_time(graph, &launch, true,
				    i * MS * 100 + MS * 99);
	}
	assert_int_equal(ncs_captured.graphs[0].span_ns, 0);
	assert_int_equal(ncs_captured.graphs[0].apart_ns, 0);
	assert_int_equal(capture(4), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(first_graph_reports_by_its_first_launch,
				       set_up),
		cmocka_unit_test_setup(all_launches_of_long_replays_report,
				       set_up),
		cmocka_unit_test_setup(
			second_launch_is_stamped_to_learn_how_long_a_replay_is,
			set_up),
		cmocka_unit_test_setup(
			short_replays_report_by_their_first_launch, set_up),
		cmocka_unit_test_setup(idle_time_between_replays_is_not_theirs,
				       set_up),
		cmocka_unit_test_setup(in_between_one_launch_in_n_reports,
				       set_up),
		cmocka_unit_test_setup(shortest_of_several_graphs_decides,
				       set_up),
		cmocka_unit_test_setup(graph_is_not_judged_by_its_first_replays,
				       set_up),
		cmocka_unit_test_setup(
			stamps_of_all_communicators_of_a_capture_count, set_up),
		cmocka_unit_test_setup(communicator_learns_from_its_own_graphs,
				       set_up),
		cmocka_unit_test_setup(
			graph_that_is_known_tells_nothing_of_a_longer_one,
			set_up),
		cmocka_unit_test_setup(
			graph_whose_replays_were_lost_tells_nothing, set_up),
		cmocka_unit_test_setup(times_across_lost_stamps_are_not_used,
				       set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
