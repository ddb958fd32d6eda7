/* SPDX-License-Identifier: MIT */
/* Launches and operations of parts made by hand: operations are told by their
 * numbers, whatever is lost, there twice, or out of order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/cost/cost_window.h"
#include "ncclstat/abi_values.h"

#define RANKS 2u
#define MS UINT64_C(1000000)
#define BEGIN_NS UINT64_C(1000000000)

/* Returns the part of a rank in the AllReduce of a number, every 10 ms. */
static struct ncs_cost_part part_of(uint32_t rank, uint64_t number)
{
	uint64_t call_ns = BEGIN_NS + number * 10 * MS + rank * MS;

	return (struct ncs_cost_part){
		.comm_id = 7,
		.number = number,
		.bytes = 1 << 20,
		.stream = 1,
		.call_ns = call_ns,
		.launched_ns = call_ns + 10000,
		.begin_ns = call_ns + 2 * MS,
		.end_ns = BEGIN_NS + number * 10 * MS + 5 * MS,
		.rank = rank,
		.member = (int32_t)rank,
		.members = RANKS,
		.peer = -1,
		.function = NCS_FUNCTION_ALL_REDUCE,
	};
}

static size_t make_parts(struct ncs_cost_part *parts, size_t numbers)
{
	for (size_t i = 0; i < numbers; i++)
		for (uint32_t rank = 0; rank < RANKS; rank++)
			parts[i * RANKS + rank] = part_of(rank, i);
	return numbers * RANKS;
}

static void parts_become_launches_and_operations(void **state)
{
	struct ncs_cost_part parts[20];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	assert_int_equal(window.rank_count, RANKS);
	assert_int_equal(window.launch_count, 20);
	assert_int_equal(window.operation_count, 10);
	for (size_t i = 0; i < 20; i++) {
		const struct ncs_cost_launch *launch = &window.launches[i];

		assert_int_equal(launch->rank, i / 10);
		assert_int_equal(window.launch_operations[launch->operations],
				 i % 10);
		assert_int_equal(launch->before,
				 i % 10 ? i - 1 : NCS_COST_NONE);
		assert_false(launch->is_censored);
	}
	assert_float_equal(window.launches[13].begin_ns, 33. * MS, 1);
	ncs_cost_window_release(&window);
}

static void a_lost_part_is_made_up(void **state)
{
	struct ncs_cost_part parts[20];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	parts[4 * RANKS] = parts[--count];
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	assert_int_equal(window.launch_count, 20);
	assert_float_equal(window.launches[4].begin_ns,
			   window.launches[10 + 4].begin_ns, 1);
	ncs_cost_window_release(&window);
	/* One after all others may not have ended. */
	count = make_parts(parts, 10) - 1;
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	assert_int_equal(window.launch_count, 19);
	ncs_cost_window_release(&window);
}

static void a_part_that_is_there_twice_counts_once(void **state)
{
	struct ncs_cost_part parts[21];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	parts[count++] = parts[8];
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	assert_int_equal(window.launch_count, 20);
	ncs_cost_window_release(&window);
}

static void launches_are_in_the_order_of_numbers(void **state)
{
	struct ncs_cost_part parts[20];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	parts[4 * RANKS].call_ns = parts[7 * RANKS].call_ns;
	parts[4 * RANKS].launched_ns = parts[7 * RANKS].launched_ns;
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(
			window.launch_operations[window.launches[i].operations],
			i);
	ncs_cost_window_release(&window);
}

static void parts_of_a_group_are_one_launch(void **state)
{
	struct ncs_cost_part parts[20];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		struct ncs_cost_part *part = &parts[5 * RANKS + rank];

		*part = part_of(rank, 4);
		part->number = 5;
	}
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	assert_int_equal(window.operation_count, 10);
	assert_int_equal(window.launch_count, 18);
	assert_int_equal(window.launches[4].operation_count, 2);
	ncs_cost_window_release(&window);
}

static void the_two_ends_of_a_message_meet(void **state)
{
	struct ncs_cost_part parts[2] = { part_of(0, 3), part_of(1, 3) };
	struct ncs_cost_window window;

	(void)state;
	parts[0].function = NCS_FUNCTION_SEND;
	parts[0].peer = 1;
	parts[1].function = NCS_FUNCTION_RECV;
	parts[1].peer = 0;
	assert_int_equal(ncs_cost_window_make(&window, parts, 2), 0);
	assert_int_equal(window.operation_count, 1);
	assert_int_equal(window.operations[0].count, 2);
	assert_true(window.launches[0].token != window.launches[1].token);
	ncs_cost_window_release(&window);
}

static void a_launch_that_follows_its_host_or_stream_is_censored(void **state)
{
	struct ncs_cost_part parts[20];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	parts[4 * RANKS].begin_ns = parts[4 * RANKS].launched_ns + 10000;
	parts[6 * RANKS].end_ns = parts[7 * RANKS].begin_ns - 10000;
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(window.launches[i].is_censored,
				 i == 4 || i == 7);
	ncs_cost_window_release(&window);
}

static void parts_without_times_are_counted(void **state)
{
	struct ncs_cost_part parts[20];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	parts[0].begin_ns = 0;
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	assert_int_equal(window.ranks[0].seen, 10);
	assert_int_equal(window.ranks[0].unknown, 1);
	assert_int_equal(window.ranks[1].unknown, 0);
	ncs_cost_window_release(&window);
}

static void a_stream_that_is_not_known_is_that_of_the_communicator(void **state)
{
	struct ncs_cost_part parts[20];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	/* Rank 0 uses stream 1; nothing is known of rank 1. */
	for (size_t i = 0; i < count; i++)
		if (i % RANKS == 1 || i / RANKS % 2 == 0)
			parts[i].stream = 0;
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(window.launches[i].before,
				 i % 10 ? i - 1 : NCS_COST_NONE);
	assert_int_equal(window.launches[0].token, window.launches[9].token);
	ncs_cost_window_release(&window);
}

static void each_part_knows_its_launch(void **state)
{
	struct ncs_cost_part parts[21];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	parts[3].begin_ns = 0;
	parts[count++] = parts[8];
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	assert_int_equal(window.part_count, count);
	for (size_t i = 0; i < 20; i++)
		if (i != 3 && i != 8)
			assert_int_equal(window.part_launches[i],
					 10 * (i % RANKS) + i / RANKS);
	assert_int_equal(window.part_launches[3], NCS_COST_NONE);
	/* A part that is there twice has it once. */
	assert_true((window.part_launches[8] == NCS_COST_NONE) !=
		    (window.part_launches[20] == NCS_COST_NONE));
	ncs_cost_window_release(&window);
}

/* Rank 0 broadcasts to rank 1, and in each second operation ends before that begins. */
static void a_launch_that_ends_early_waits_for_none(void **state)
{
	struct ncs_cost_part parts[20];
	size_t count = make_parts(parts, 10);
	struct ncs_cost_window window;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		parts[i].function = NCS_FUNCTION_BROADCAST;
		parts[i].peer = 0;
		if (parts[i].rank == 0 && parts[i].number % 2 == 0)
			parts[i].end_ns = parts[i].begin_ns + MS / 2;
	}
	assert_int_equal(ncs_cost_window_make(&window, parts, count), 0);
	assert_int_equal(window.operation_count, 10 + 5);
	assert_int_equal(window.partial_count, 0);
	for (uint32_t i = 0; i < 10; i++) {
		const struct ncs_cost_launch *root = &window.launches[i];
		size_t index = window.launch_operations[root->operations];
		const struct ncs_cost_operation *operation =
			&window.operations[index];

		assert_int_equal(operation->is_separate, i % 2 == 0);
		assert_int_equal(operation->count, i % 2 == 0 ? 1 : 2);
		assert_int_equal(window.members[operation->first], i);
		assert_int_equal(window.operations[i].count, 2);
		assert_int_equal(ncs_cost_ends_with(&window, root, i),
				 i % 2 != 0);
	}
	ncs_cost_window_release(&window);
}

/* Makes the window of one operation of four ranks, which begin and end at these times, in
 * ms; peers are rank 0. */
static void make_four(struct ncs_cost_window *window, unsigned function,
		      const double times_ms[4][2])
{
	struct ncs_cost_part parts[4];

	for (uint32_t i = 0; i < 4; i++) {
		parts[i] = part_of(i, 0);
		parts[i].function = (uint8_t)function;
		parts[i].peer = 0;
		parts[i].members = 4;
		parts[i].call_ns = parts[i].launched_ns = BEGIN_NS;
		parts[i].begin_ns = BEGIN_NS + (uint64_t)(times_ms[i][0] * MS);
		parts[i].end_ns = BEGIN_NS + (uint64_t)(times_ms[i][1] * MS);
	}
	assert_int_equal(ncs_cost_window_make(window, parts, 4), 0);
}

/* Checks which launches an operation has that one of them ended with. */
static void assert_ends_with(const struct ncs_cost_window *window,
			     uint32_t index, uint32_t count,
			     const uint32_t *members)
{
	size_t at = window->launch_operations[window->launches[index].operations];
	const struct ncs_cost_operation *operation = &window->operations[at];

	assert_int_equal(operation->is_separate, count < 4);
	assert_int_equal(operation->count, count);
	for (uint32_t i = 0; i < count && count < 4; i++)
		assert_int_equal(window->members[operation->first + i],
				 members[i]);
}

static void a_leaf_that_ends_early_waited_for_its_root(void **state)
{
	static const double times_ms[4][2] = {
		{ 10, 10.1 }, { 8, 10.1 }, { 12, 12.1 }, { 20, 20.1 }
	};
	struct ncs_cost_window window;

	(void)state;
	make_four(&window, NCS_FUNCTION_BROADCAST, times_ms);
	assert_int_equal(window.whole_count, 1);
	assert_ends_with(&window, 0, 1, (const uint32_t[]){ 0 });
	assert_ends_with(&window, 1, 2, (const uint32_t[]){ 1, 0 });
	assert_ends_with(&window, 2, 2, (const uint32_t[]){ 2, 0 });
	assert_ends_with(&window, 3, 4, NULL);
	/* Both end with the begin of rank 0, for which rank 1 waited longer. */
	assert_false(window.operations[window.launch_operations[1]].waits_less);
	assert_true(window.operations[window.launch_operations[0]].waits_less);
	ncs_cost_window_release(&window);
}

/* Times say that it ended before those began that it has to wait for. */
static void a_launch_whose_times_cannot_be_ends_with_all(void **state)
{
	static const double early_ms[4][2] = {
		{ 10, 10.1 }, { 20, 20.1 }, { 20, 20.1 }, { 20, 20.1 }
	};
	static const double late_root_ms[4][2] = {
		{ 20, 20.1 }, { 10, 10.1 }, { 30, 30.1 }, { 30, 30.1 }
	};
	struct ncs_cost_window window;

	(void)state;
	make_four(&window, NCS_FUNCTION_REDUCE, early_ms);
	assert_ends_with(&window, 0, 4, NULL);
	ncs_cost_window_release(&window);
	make_four(&window, NCS_FUNCTION_ALL_REDUCE, early_ms);
	assert_ends_with(&window, 0, 4, NULL);
	ncs_cost_window_release(&window);
	make_four(&window, NCS_FUNCTION_BROADCAST, late_root_ms);
	assert_ends_with(&window, 1, 4, NULL);
	ncs_cost_window_release(&window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launch_that_ends_early_waits_for_none),
		cmocka_unit_test(a_leaf_that_ends_early_waited_for_its_root),
		cmocka_unit_test(a_launch_whose_times_cannot_be_ends_with_all),
		cmocka_unit_test(parts_become_launches_and_operations),
		cmocka_unit_test(a_lost_part_is_made_up),
		cmocka_unit_test(a_part_that_is_there_twice_counts_once),
		cmocka_unit_test(launches_are_in_the_order_of_numbers),
		cmocka_unit_test(parts_of_a_group_are_one_launch),
		cmocka_unit_test(the_two_ends_of_a_message_meet),
		cmocka_unit_test(
			a_launch_that_follows_its_host_or_stream_is_censored),
		cmocka_unit_test(parts_without_times_are_counted),
		cmocka_unit_test(
			a_stream_that_is_not_known_is_that_of_the_communicator),
		cmocka_unit_test(each_part_knows_its_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
