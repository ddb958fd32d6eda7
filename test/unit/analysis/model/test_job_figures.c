/* SPDX-License-Identifier: MIT */
/* Figures of the whole job: the shares of its waits, its busiest class, and
 * what is kept of them. */
#include "analysis/model/communicators.h"
#include "analysis/model/moving.h"
#include "ncclstat/size_class.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define MIB (UINT64_C(1) << 20)

static void assert_share(const struct scripted *scripted,
			 enum ncs_wait_kind kind, double share)
{
	double is = scripted->model.waits.share[kind];

	if (is < share - 1e-9 || is > share + 1e-9)
		fail_msg("%s: %.12g is not %.12g", ncs_wait_name(kind), is,
			 share);
}

UNIT_FIXTURE(scripted_setup, scripted_teardown)

TEST(waits_of_no_rank_are_unknown)
{
	struct scripted *scripted = *state;

	scripted_pass(scripted, 10 * SECOND);
	assert_int_equal(scripted->model.waits.ranks, 0);
	assert_true(ncs_trend_at(&scripted->model.trend, 0)->share[0] < 0);
}

/* One of two ranks has no channel: each counts for a half, however many
 * channels the other has. */
TEST(each_rank_counts_alike)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	scripted_channel(rank, 0, true, 1);
	scripted_channel(rank, 1, false, 1);
	scripted_add(scripted, 1);
	scripted_pass(scripted, 10 * SECOND);
	rank->channels[0].time_ns[NCS_CHANNEL_SEND_GPU_WAIT] = SECOND / 2;
	rank->channels[0].time_ns[NCS_CHANNEL_SEND_WAIT] = SECOND / 2;
	rank->channels[1].time_ns[NCS_CHANNEL_RECV_WAIT] = SECOND / 4;
	rank->channels[1].time_ns[NCS_CHANNEL_RECV_FLUSH_WAIT] = SECOND / 2;
	rank->channels[1].time_ns[NCS_CHANNEL_RECV_GPU_WAIT] = SECOND / 4;
	scripted_pass(scripted, 11 * SECOND);
	assert_int_equal(scripted->model.waits.ranks, 2);
	assert_share(scripted, NCS_WAIT_GPU, 0.1875);
	assert_share(scripted, NCS_WAIT_NETWORK, 0.25);
	assert_share(scripted, NCS_WAIT_PEER, 0.0625);
	assert_share(scripted, NCS_WAIT_IDLE, 0.5);
}

/* Only the time of the window counts. */
TEST(waits_before_the_window_do_not_count)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_channel_view *channel = scripted_channel(rank, 0, true, 1);

	channel->time_ns[NCS_CHANNEL_SEND_PEER_WAIT] = 7 * SECOND;
	scripted_pass(scripted, 10 * SECOND);
	channel->time_ns[NCS_CHANNEL_SEND_WAIT] = SECOND;
	scripted_pass(scripted, 11 * SECOND);
	assert_share(scripted, NCS_WAIT_PEER, 0);
	assert_share(scripted, NCS_WAIT_NETWORK, 1);
}

/* Without times it is the states that count. */
TEST(states_count_where_there_are_no_times)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	scripted_channel(rank, 0, true, 1)->state = NCS_CHANNEL_SEND_WAIT;
	scripted_channel(rank, 1, true, 1)->state = NCS_CHANNEL_IDLE;
	scripted_pass(scripted, 10 * SECOND);
	assert_share(scripted, NCS_WAIT_NETWORK, 0.5);
	assert_share(scripted, NCS_WAIT_IDLE, 0.5);
}

TEST(dead_ranks_do_not_count)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);

	scripted_channel(rank, 0, true, 1)->state = NCS_CHANNEL_SEND_WAIT;
	rank->snapshot.liveness = NCS_DEAD;
	scripted_add(scripted, 1);
	scripted_pass(scripted, 10 * SECOND);
	assert_int_equal(scripted->model.waits.ranks, 1);
	assert_share(scripted, NCS_WAIT_IDLE, 1);
}

/* The class that carried the most bytes is the busiest, though another one has
 * more operations; and only the latest past counts. */
TEST(busiest_class_carried_most_bytes_lately)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = scripted_add(scripted, 0);
	struct ncs_class_view *large = scripted_class(
		rank, NCS_FUNCTION_ALL_REDUCE, 32 * MIB, 1, 2);
	struct ncs_class_view *small = scripted_class(
		rank, NCS_FUNCTION_ALL_GATHER, 1024, 1, 2);
	const struct ncs_busiest *busiest;

	large->operations = 10;
	small->operations = 100;
	scripted_pass(scripted, 10 * SECOND);
	busiest = &ncs_busiest_communicator(&scripted->model)->busiest;
	assert_int_equal(busiest->function, NCS_FUNCTION_ALL_REDUCE);
	assert_int_equal(busiest->which.size_class, ncs_size_class(32 * MIB));
	assert_true(busiest->view.busbw < 0);
	for (unsigned i = 1; i <= 300; i++) {
		small->operations++;
		scripted_pass(scripted, (10 + i) * SECOND);
	}
	busiest = &ncs_busiest_communicator(&scripted->model)->busiest;
	assert_int_equal(busiest->function, NCS_FUNCTION_ALL_GATHER);
}

TEST(nothing_is_busiest_before_the_first_call)
{
	struct scripted *scripted = *state;

	scripted_add(scripted, 0);
	scripted_pass(scripted, 10 * SECOND);
	assert_null(ncs_busiest_communicator(&scripted->model));
}

TEST(trend_keeps_the_latest_updates)
{
	struct scripted *scripted = *state;
	const struct ncs_trend *trend = &scripted->model.trend;

	assert_null(ncs_trend_at(trend, 0));
	for (unsigned i = 1; i <= NCS_TREND_LENGTH + 3; i++)
		scripted_pass(scripted, i * SECOND);
	assert_int_equal(ncs_trend_at(trend, 0)->time_ns,
			 (NCS_TREND_LENGTH + 3) * SECOND);
	assert_int_equal(ncs_trend_at(trend, NCS_TREND_LENGTH - 1)->time_ns,
			 4 * SECOND);
	assert_null(ncs_trend_at(trend, NCS_TREND_LENGTH));
}
