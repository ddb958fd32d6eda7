/* SPDX-License-Identifier: MIT */
/* Bandwidth over the moving part: which operations count, how those of a launch
 * do, and that neither slow first calls nor waits for others spoil it. And the peak of
 * a communicator's links: when it is that of NVLinks, of network ports, or of neither. */
#include <stdio.h>
#include <string.h>

#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/moving.h"
#include "analysis/records/join.h"
#include "ncclstat/size_class.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define MB UINT64_C(1000000)
#define RANKS 4

/* NCCL's numbers of some algorithm and protocol. */
#define ALGORITHM 1
#define PROTOCOL 2

/* An operation of RANKS ranks, which begins on rank k at begin_ns[k]. */
struct operation {
	struct ncs_part parts[RANKS];
	struct ncs_joined joined;
};

static int setup(void **state)
{
	static struct ncs_moving moving;

	*state = &moving;
	return 0;
}

static int teardown(void **state)
{
	ncs_moving_release(*state);
	return 0;
}

static void assert_near(double is, double wanted)
{
	if (is < wanted - 1e-9 || is > wanted + 1e-9)
		fail_msg("%.12g is not %.12g", is, wanted);
}

/* Makes an AllReduce of 8 MB that all ranks begin and end together. */
static void make(struct operation *operation, uint64_t begin_ns,
		 uint64_t took_ns)
{
	*operation = (struct operation){
		.joined = {
			.function = NCS_FUNCTION_ALL_REDUCE,
			.is_complete = true,
			.arrival = NCS_MOMENT_STREAM,
			.end = NCS_MOMENT_STREAM_END,
			.end_is_trusted = true,
			.wait_rule = NCS_WAIT_FOR_ALL,
			.count = RANKS,
			.parts = operation->parts,
		},
	};
	for (int i = 0; i < RANKS; i++) {
		struct ncs_part *part = &operation->parts[i];

		part->rank = i;
		part->nranks = RANKS;
		part->bytes = 8 * MB;
		part->algorithm = ALGORITHM;
		part->protocol = PROTOCOL;
		part->at_ns[NCS_MOMENT_STREAM] = begin_ns;
		part->at_ns[NCS_MOMENT_STREAM_END] = begin_ns + took_ns;
	}
}

static void put(struct ncs_moving *moving, uint64_t begin_ns, uint64_t took_ns)
{
	struct operation operation;

	make(&operation, begin_ns, took_ns);
	assert_int_equal(ncs_moving_note(moving, &operation.joined), 0);
}

static struct ncs_moving_view view_of(const struct ncs_moving *moving)
{
	return ncs_moving_figures(moving, NCS_FUNCTION_ALL_REDUCE, NULL, 0);
}

UNIT_FIXTURE(setup, teardown)

TEST(time_runs_from_the_last_begin_to_the_last_end)
{
	struct operation operation;
	struct ncs_moving_view view;

	make(&operation, SECOND, 100 * US);
	/* Two ranks wait 20 ms for the last one. */
	operation.parts[1].at_ns[NCS_MOMENT_STREAM] -= 20 * MS;
	operation.parts[2].at_ns[NCS_MOMENT_STREAM] -= 20 * MS;
	operation.parts[2].at_ns[NCS_MOMENT_STREAM_END] -= 10 * US;
	ncs_moving_note(*state, &operation.joined);
	view = view_of(*state);
	assert_int_equal(view.operations, 1);
	assert_int_equal(view.moving_ns, 100 * US);
	assert_near(view.algbw, 80);
	assert_near(view.busbw, 80 * 1.5);
	assert_int_equal(view.ranks, RANKS);
	assert_int_equal(view.timing, NCS_TIMING_STREAM);
}

TEST(median_is_not_spoiled_by_slow_first_calls)
{
	struct ncs_moving_view view;

	for (uint64_t i = 0; i < 3; i++)
		put(*state, SECOND + i * 10 * MS, 5 * MS);
	for (uint64_t i = 3; i < 10; i++)
		put(*state, SECOND + i * 10 * MS, 100 * US);
	view = view_of(*state);
	assert_int_equal(view.operations, 10);
	assert_int_equal(view.moving_ns, 100 * US);
	assert_near(view.busbw, 120);
}

TEST(second_call_outweighs_a_slow_first_one)
{
	put(*state, SECOND, 5 * MS);
	put(*state, 2 * SECOND, 100 * US);
	assert_int_equal(view_of(*state).moving_ns, 100 * US);
	assert_near(view_of(*state).busbw, 120);
}

TEST(operations_of_one_launch_count_once_with_their_bytes)
{
	struct ncs_moving_view view;

	for (uint64_t i = 0; i < 5; i++)
		for (int k = 0; k < 3; k++)
			put(*state, SECOND + i * MS, 300 * US);
	view = view_of(*state);
	assert_int_equal(view.operations, 15);
	assert_int_equal(view.launches, 5);
	assert_int_equal(view.moving_ns, 300 * US);
	assert_near(view.algbw, 80);
	assert_near(view.busbw, 120);
}

TEST(bandwidth_of_a_launch_is_that_of_all_its_functions)
{
	struct operation operation;
	struct ncs_moving_view view;

	put(*state, SECOND, 200 * US);
	make(&operation, SECOND, 200 * US);
	operation.joined.function = NCS_FUNCTION_ALL_GATHER;
	ncs_moving_note(*state, &operation.joined);
	view = ncs_moving_figures(*state, NCS_FUNCTION_ALL_GATHER, NULL, 0);
	assert_int_equal(view.operations, 1);
	assert_near(view.algbw, 80);
	assert_near(view.busbw, 40 * (1.5 + 0.75));
	view = view_of(*state);
	assert_int_equal(view.operations, 1);
	assert_near(view.algbw, 80);
	assert_near(view.busbw, 40 * (1.5 + 0.75));
}

/* Launches on two streams may begin together, but do not end together. */
TEST(launches_that_only_begin_together_count_apart)
{
	put(*state, SECOND, 100 * US);
	put(*state, SECOND, 101 * US);
	assert_int_equal(view_of(*state).launches, 2);
	assert_near(view_of(*state).algbw, 80);
}

TEST(ends_that_are_not_trusted_do_not_count)
{
	struct operation operation;

	make(&operation, SECOND, 100 * US);
	operation.joined.end_is_trusted = false;
	ncs_moving_note(*state, &operation.joined);
	assert_int_equal(view_of(*state).operations, 0);
	assert_true(view_of(*state).busbw < 0);
	assert_true(view_of(*state).algbw < 0);
}

TEST(host_times_do_not_count)
{
	struct operation operation;

	make(&operation, SECOND, 100 * US);
	operation.joined.arrival = NCS_MOMENT_OPERATION;
	operation.joined.end = NCS_MOMENT_LAST_END;
	for (int i = 0; i < RANKS; i++) {
		operation.parts[i].at_ns[NCS_MOMENT_OPERATION] = SECOND;
		operation.parts[i].at_ns[NCS_MOMENT_LAST_END] = 2 * SECOND;
	}
	ncs_moving_note(*state, &operation.joined);
	assert_int_equal(view_of(*state).operations, 0);
}

TEST(an_end_before_the_last_begin_does_not_count)
{
	struct operation operation;

	make(&operation, SECOND, 100 * US);
	operation.parts[3].at_ns[NCS_MOMENT_STREAM] += MS;
	ncs_moving_note(*state, &operation.joined);
	assert_int_equal(view_of(*state).operations, 0);
}

TEST(errors_bound_the_median_and_hide_what_is_within_them)
{
	struct operation operation;
	struct ncs_moving_view view;

	for (uint64_t i = 0; i < 9; i++) {
		make(&operation, SECOND + i * MS, 100 * US + i);
		for (int k = 0; k < RANKS; k++)
			operation.parts[k].stream_error_ns = 10 * US;
		ncs_moving_note(*state, &operation.joined);
	}
	view = view_of(*state);
	assert_int_equal(view.moving_ns, 100 * US + 4);
	assert_int_equal(view.error_ns, 20 * US);
	assert_true(view.busbw > 0);
	for (uint64_t i = 0; i < 20; i++) {
		make(&operation, 2 * SECOND + i * MS, 15 * US);
		for (int k = 0; k < RANKS; k++)
			operation.parts[k].stream_error_ns = 10 * US;
		ncs_moving_note(*state, &operation.joined);
	}
	view = view_of(*state);
	assert_int_equal(view.moving_ns, 15 * US);
	assert_true(view.error_ns >= view.moving_ns);
	assert_true(view.algbw < 0);
	assert_true(view.busbw < 0);
}

TEST(sizes_that_are_not_known_give_a_time_only)
{
	struct operation operation;

	make(&operation, SECOND, 100 * US);
	operation.parts[0].bytes = 0;
	ncs_moving_note(*state, &operation.joined);
	assert_int_equal(view_of(*state).moving_ns, 100 * US);
	assert_true(view_of(*state).algbw < 0);
	assert_true(view_of(*state).busbw < 0);
}

TEST(bus_bandwidth_needs_the_number_of_ranks)
{
	struct operation operation;

	make(&operation, SECOND, 100 * US);
	operation.parts[0].nranks = 0;
	ncs_moving_note(*state, &operation.joined);
	assert_near(view_of(*state).algbw, 80);
	assert_true(view_of(*state).busbw < 0);
}

TEST(window_bounds_the_launches_but_keeps_enough_of_them)
{
	struct ncs_moving *moving = *state;
	struct ncs_moving_view view;

	for (uint64_t i = 0; i < 100; i++)
		put(moving, 10 * SECOND + i * MS, 200 * US);
	for (uint64_t i = 0; i < 60; i++)
		put(moving, 20 * SECOND + i * MS, 100 * US);
	ncs_moving_update(moving, 21 * SECOND);
	view = ncs_moving_figures(moving, NCS_FUNCTION_ALL_REDUCE, NULL,
				  2 * SECOND);
	assert_int_equal(view.launches, 60);
	assert_int_equal(view.moving_ns, 100 * US);
	view = ncs_moving_figures(moving, NCS_FUNCTION_ALL_REDUCE, NULL,
				  20 * SECOND);
	assert_int_equal(view.launches, 160);
	assert_int_equal(view.moving_ns, 200 * US);
	ncs_moving_update(moving, 40 * SECOND);
	view = ncs_moving_figures(moving, NCS_FUNCTION_ALL_REDUCE, NULL,
				  SECOND);
	assert_int_equal(view.launches, NCS_MOVING_LEAST);
	assert_int_equal(view.moving_ns, 100 * US);
}

TEST(only_the_latest_launches_are_kept)
{
	for (uint64_t i = 0; i < 2000; i++)
		put(*state, SECOND + i * MS, i < 1700 ? 200 * US : 100 * US);
	assert_int_equal(view_of(*state).launches, NCS_MOVING_RECENT);
	assert_int_equal(view_of(*state).moving_ns, 100 * US);
}

TEST(figures_go_stale_after_the_window)
{
	struct ncs_moving *moving = *state;
	struct ncs_moving_view view;

	put(moving, SECOND, 100 * US);
	ncs_moving_update(moving, 4 * SECOND);
	view = ncs_moving_figures(moving, NCS_FUNCTION_ALL_REDUCE, NULL,
				  SECOND);
	assert_int_equal(view.age_ns, 3 * SECOND - 100 * US);
	assert_false(view.is_stale);
	ncs_moving_update(moving, 8 * SECOND);
	assert_true(ncs_moving_figures(moving, NCS_FUNCTION_ALL_REDUCE, NULL,
				       SECOND)
			    .is_stale);
	assert_false(ncs_moving_figures(moving, NCS_FUNCTION_ALL_REDUCE, NULL,
					10 * SECOND)
			     .is_stale);
}

TEST(a_class_has_only_its_own_launches)
{
	struct ncs_moving_class only = { (uint8_t)ncs_size_class(8 * MB),
					 ALGORITHM, PROTOCOL };
	struct operation operation;
	struct ncs_moving_view view;

	put(*state, SECOND, 100 * US);
	make(&operation, 2 * SECOND, 50 * US);
	for (int i = 0; i < RANKS; i++)
		operation.parts[i].bytes = MB;
	ncs_moving_note(*state, &operation.joined);
	view = ncs_moving_figures(*state, NCS_FUNCTION_ALL_REDUCE, &only, 0);
	assert_int_equal(view.operations, 1);
	assert_near(view.algbw, 80);
	only.algorithm = ALGORITHM + 1;
	view = ncs_moving_figures(*state, NCS_FUNCTION_ALL_REDUCE, &only, 0);
	assert_int_equal(view.operations, 0);
}

TEST(a_launch_of_several_sizes_is_of_no_class)
{
	struct ncs_moving_class only = { (uint8_t)ncs_size_class(8 * MB),
					 ALGORITHM, PROTOCOL };
	struct operation operation;
	struct ncs_moving_view view;

	put(*state, SECOND, 100 * US);
	make(&operation, SECOND, 100 * US);
	operation.parts[0].bytes = MB;
	ncs_moving_note(*state, &operation.joined);
	view = ncs_moving_figures(*state, NCS_FUNCTION_ALL_REDUCE, &only, 0);
	assert_int_equal(view.operations, 0);
	assert_near(view_of(*state).algbw, 90);
}

TEST(fewest_ranks_of_any_launch_are_told)
{
	struct operation operation;

	put(*state, SECOND, 100 * US);
	make(&operation, 2 * SECOND, 100 * US);
	operation.joined.count = 2;
	ncs_moving_note(*state, &operation.joined);
	put(*state, 3 * SECOND, 100 * US);
	assert_int_equal(view_of(*state).ranks, 2);
}

TEST(only_stream_times_tell_a_launch)
{
	struct operation operation;

	for (int k = 0; k < 2; k++) {
		make(&operation, SECOND, 100 * US);
		operation.joined.arrival = NCS_MOMENT_PROXY;
		operation.joined.end = NCS_MOMENT_LAST_END;
		for (int i = 0; i < RANKS; i++) {
			uint64_t *at_ns = operation.parts[i].at_ns;

			at_ns[NCS_MOMENT_PROXY] = SECOND;
			at_ns[NCS_MOMENT_LAST_END] = SECOND + 100 * US;
		}
		ncs_moving_note(*state, &operation.joined);
	}
	assert_int_equal(view_of(*state).launches, 2);
	assert_int_equal(view_of(*state).timing, NCS_TIMING_PROXY);
}

TEST(times_of_a_worse_source_are_left_out)
{
	struct operation operation;

	for (uint64_t i = 1; i < 5; i++) {
		make(&operation, i * SECOND, MS);
		operation.joined.end = NCS_MOMENT_LAST_END;
		for (int k = 0; k < RANKS; k++)
			operation.parts[k].at_ns[NCS_MOMENT_LAST_END] =
				i * SECOND + MS;
		ncs_moving_note(*state, &operation.joined);
	}
	assert_int_equal(view_of(*state).timing, NCS_TIMING_PROXY);
	assert_int_equal(view_of(*state).launches, 4);
	put(*state, 3 * SECOND, 100 * US);
	assert_int_equal(view_of(*state).timing, NCS_TIMING_STREAM);
	assert_int_equal(view_of(*state).launches, 1);
	assert_int_equal(view_of(*state).moving_ns, 100 * US);
}

static double latest_bar(const struct ncs_moving *moving)
{
	struct ncs_skew_state skew = { .moving = *moving };
	const struct ncs_communicator communicator = { .skew = &skew };
	uint64_t count = 0;
	const struct ncs_recent *recent = ncs_communicator_busbw_recent(
		&communicator, NCS_FUNCTION_ALL_REDUCE, &count);

	assert_non_null(recent);
	assert_int_equal(count, moving->updates);
	return ncs_recent_latest(recent, count);
}

TEST(each_update_has_a_bar_of_its_own_launches)
{
	struct ncs_moving *moving = *state;

	ncs_moving_update(moving, SECOND);
	for (uint64_t i = 0; i < 50; i++)
		put(moving, SECOND + i * MS, 100 * US);
	ncs_moving_update(moving, 2 * SECOND);
	assert_near(latest_bar(moving), 120);
	put(moving, 2 * SECOND, 200 * US);
	ncs_moving_update(moving, 3 * SECOND);
	assert_near(latest_bar(moving), 60);
	ncs_moving_update(moving, 4 * SECOND);
	assert_true(latest_bar(moving) < 0);
}

/* Makes a send of 8 MB and its receive, which begins 1 ms earlier. */
static void make_transfer(struct operation *operation, uint64_t begin_ns,
			  uint64_t took_ns, int32_t from, int32_t to)
{
	make(operation, begin_ns, took_ns);
	operation->joined.function = NCS_FUNCTION_SEND_RECV;
	operation->joined.count = 2;
	operation->parts[0].function = NCS_FUNCTION_SEND;
	operation->parts[0].rank = from;
	operation->parts[1].function = NCS_FUNCTION_RECV;
	operation->parts[1].rank = to;
	operation->parts[1].at_ns[NCS_MOMENT_STREAM] -= 1 * MS;
}

TEST(transfer_moves_from_when_both_ends_are_there)
{
	struct operation operation;
	struct ncs_moving_view sent, received;

	make_transfer(&operation, SECOND, 100 * US, 0, 1);
	ncs_moving_note(*state, &operation.joined);
	sent = ncs_moving_figures(*state, NCS_FUNCTION_SEND, NULL, 0);
	received = ncs_moving_figures(*state, NCS_FUNCTION_RECV, NULL, 0);
	assert_int_equal(sent.operations, 1);
	assert_int_equal(sent.moving_ns, 100 * US);
	assert_near(sent.algbw, 80);
	assert_near(sent.busbw, 80);
	assert_near(received.algbw, 80);
	assert_near(received.busbw, 80);
	assert_int_equal(sent.ranks, ncs_moving_ranks(NCS_FUNCTION_SEND, 16));
}

TEST(transfers_of_a_launch_are_added_by_rank_and_direction)
{
	struct operation operation;
	struct ncs_moving_view sent, received;

	/* Rank 0 sends to two others and receives from one. */
	make_transfer(&operation, SECOND, 100 * US, 0, 1);
	ncs_moving_note(*state, &operation.joined);
	make_transfer(&operation, SECOND, 100 * US, 0, 2);
	ncs_moving_note(*state, &operation.joined);
	make_transfer(&operation, SECOND, 100 * US, 1, 0);
	ncs_moving_note(*state, &operation.joined);
	sent = ncs_moving_figures(*state, NCS_FUNCTION_SEND, NULL, 0);
	received = ncs_moving_figures(*state, NCS_FUNCTION_RECV, NULL, 0);
	assert_int_equal(sent.operations, 3);
	assert_int_equal(sent.launches, 2);
	assert_near(sent.algbw, 160);
	assert_int_equal(received.launches, 3);
	assert_near(received.algbw, 80);
}

/* Eight ranks send to each other, and the kernels of no two pairs are together for the
 * same time; then rank 0 sends to rank 1 once more in that launch. */
TEST(transfers_of_a_launch_are_added_with_all_pairs_between)
{
	struct operation operation;
	struct ncs_moving_view sent;

	for (int32_t from = 0; from < 8; from++)
		for (int32_t to = 0; to < 8; to++) {
			uint64_t pair = (uint64_t)from * 8 + (uint64_t)to;

			if (from == to)
				continue;
			make_transfer(&operation, SECOND + pair * US, 100 * US,
				      from, to);
			ncs_moving_note(*state, &operation.joined);
		}
	make_transfer(&operation, SECOND + US, 100 * US, 0, 1);
	ncs_moving_note(*state, &operation.joined);
	sent = ncs_moving_figures(*state, NCS_FUNCTION_SEND, NULL, 0);
	assert_int_equal(sent.operations, 57);
	assert_int_equal(sent.launches, 56);
}

TEST(buffered_or_lone_transfer_tells_no_bandwidth)
{
	struct operation operation;

	make_transfer(&operation, SECOND, 100 * US, 0, 1);
	operation.joined.wait_rule = NCS_WAIT_FOR_ROOT;
	ncs_moving_note(*state, &operation.joined);
	make_transfer(&operation, SECOND, 100 * US, 0, 1);
	operation.joined.count = 1;
	ncs_moving_note(*state, &operation.joined);
	assert_int_equal(ncs_moving_figures(*state, NCS_FUNCTION_SEND, NULL, 0)
				 .operations,
			 0);
	assert_int_equal(ncs_moving_figures(*state, NCS_FUNCTION_RECV, NULL, 0)
				 .operations,
			 0);
}

/* --- Peaks ---------------------------------------------------------------- */

static struct ncs_rank members[RANKS];
static struct ncs_rank *ranks[RANKS];
static struct ncs_communicator communicator;

/* A communicator on one machine, each of whose GPUs has NVLinks to the others. */
static int set_links(void **state)
{
	(void)state;
	memset(members, 0, sizeof(members));
	for (unsigned i = 0; i < RANKS; i++) {
		struct ncs_rank *rank = &members[i];

		rank->now.identity.known = NCS_KNOWN_NNODES | NCS_KNOWN_NRANKS;
		rank->now.identity.nnodes = 1;
		rank->now.identity.nranks = RANKS;
		rank->peaks = (struct ncs_rank_peaks){
			.network_mb_s = 50000,
			.nvlink_mb_s = 478116,
			.own = UINT64_C(1) << i,
			.reach = 0xff & ~(UINT64_C(1) << i),
		};
		snprintf(rank->process.host, sizeof(rank->process.host), "n1");
		ranks[i] = rank;
	}
	communicator = (struct ncs_communicator){
		.ranks = ranks,
		.rank_count = RANKS,
		.identity = &members[0].now.identity,
	};
	return 0;
}

static void assert_peak(enum ncs_peak_link link, double gigabytes)
{
	struct ncs_peak peak = ncs_communicator_peak(&communicator);

	assert_int_equal(peak.link, link);
	assert_true(peak.gigabytes > gigabytes - 1e-9 &&
		    peak.gigabytes < gigabytes + 1e-9);
}

TEST_WITH(nvlinks_are_the_peak_of_one_machine, set_links, NULL)
{
	assert_peak(NCS_PEAK_NVLINK, 478.116);
	/* The GPU with the fewest links holds up the others. */
	members[2].peaks.nvlink_mb_s = 200000;
	assert_peak(NCS_PEAK_NVLINK, 200);
}

TEST_WITH(network_is_the_peak_of_several_machines, set_links, NULL)
{
	for (unsigned i = 0; i < RANKS; i++)
		members[i].now.identity.nnodes = 2;
	assert_peak(NCS_PEAK_NETWORK, 50);
	members[1].peaks.network_mb_s = 12500;
	members[3].peaks.network_mb_s = 0;
	assert_peak(NCS_PEAK_NETWORK, 12.5);
	for (unsigned i = 0; i < RANKS; i++)
		members[i].peaks.network_mb_s = 0;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST_WITH(gpu_that_is_not_told_of_leaves_no_peak, set_links, NULL)
{
	members[3].peaks = (struct ncs_rank_peaks){ .network_mb_s = 50000 };
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST_WITH(gpu_without_nvlink_leaves_no_peak, set_links, NULL)
{
	members[3].peaks.nvlink_mb_s = 0;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

/* Two pairs with bridges: neither sends to the other by NVLink. */
TEST_WITH(pairs_of_gpus_leave_no_peak, set_links, NULL)
{
	for (unsigned i = 0; i < RANKS; i++)
		members[i].peaks.reach = UINT64_C(1) << (i ^ 1);
	assert_peak(NCS_PEAK_UNKNOWN, 0);
	communicator.rank_count = members[0].now.identity.nranks = 2;
	assert_peak(NCS_PEAK_NVLINK, 478.116);
}

/* Two agents, each of which sees one GPU, give both the same bit. */
TEST_WITH(ranks_of_two_agents_leave_no_peak, set_links, NULL)
{
	for (unsigned i = 0; i < RANKS; i++) {
		members[i].peaks.own = 1;
		members[i].peaks.reach = 0;
	}
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST_WITH(traffic_through_a_network_leaves_no_peak, set_links, NULL)
{
	members[1].now.channel_count = 2;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST_WITH(ranks_of_two_machines_leave_no_peak, set_links, NULL)
{
	snprintf(members[2].process.host, sizeof(members[2].process.host),
		 "n2");
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST_WITH(ranks_that_are_not_seen_leave_no_peak, set_links, NULL)
{
	communicator.rank_count = RANKS - 1;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
	communicator.rank_count = RANKS;
	members[0].now.identity.known = NCS_KNOWN_NNODES;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
	members[0].now.identity.known = 0;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}

TEST_WITH(rank_alone_has_no_peak, set_links, NULL)
{
	communicator.rank_count = members[0].now.identity.nranks = 1;
	assert_peak(NCS_PEAK_UNKNOWN, 0);
}
