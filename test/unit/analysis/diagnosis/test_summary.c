/* SPDX-License-Identifier: MIT */
/* Tests of the summary of a job: counts of waits, and the chain of waits, which
 * ends at the rank that holds the others up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/support/scripted_source.h"
#include "analysis/diagnosis/summary.h"

#define SECOND UINT64_C(1000000000)
#define NOW (100 * SECOND)

static struct scripted_rank *add(struct scripted *scripted, int rank)
{
	struct scripted_rank *added = scripted_add(scripted, rank);

	added->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	added->snapshot.identity.comm_id = 7;
	added->snapshot.last_call_ns = NOW;
	return added;
}

/* Makes a rank wait for this number of seconds. */
static void waits(struct scripted_rank *rank, enum ncs_channel_state wait,
		  int peer, uint64_t seconds)
{
	bool send = wait == NCS_CHANNEL_SEND_GPU_WAIT ||
		    wait == NCS_CHANNEL_SEND_PEER_WAIT ||
		    wait == NCS_CHANNEL_SEND_WAIT;
	struct ncs_channel_view *channel =
		scripted_channel(rank, 0, send, peer);

	channel->state = wait;
	channel->since_ns = NOW - seconds * SECOND;
}

static void summarize(struct ncs_summary *summary, struct scripted *scripted)
{
	scripted_pass(scripted, NOW);
	ncs_summarize(summary, &scripted->model);
}

static int last_of_chain(const struct ncs_summary *summary)
{
	assert_true(summary->chain_length > 0);
	return summary->chain[summary->chain_length - 1]->now.identity.rank;
}

static void no_job_gives_an_empty_summary(void **state)
{
	struct ncs_summary summary;

	summarize(&summary, *state);
	assert_int_equal(summary.ranks, 0);
	assert_int_equal(summary.chain_length, 0);
	assert_null(ncs_suspect(&summary));
}

static void waits_are_counted_by_state(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *live = add(scripted, 0);
	struct scripted_rank *dead = add(scripted, 1);
	struct ncs_summary summary;

	waits(live, NCS_CHANNEL_RECV_WAIT, 1, 0);
	waits(live, NCS_CHANNEL_SEND_WAIT, 2, 50);
	scripted_channel(live, 1, true, 3);
	waits(dead, NCS_CHANNEL_RECV_WAIT, 0, 90);
	dead->snapshot.liveness = NCS_DEAD;
	dead->snapshot.losses[NCS_LOSS_STALE] = 4;
	summarize(&summary, scripted);
	/* A dead rank does not wait. */
	assert_int_equal(summary.ranks, 2);
	assert_int_equal(summary.dead, 1);
	assert_int_equal(summary.lost, 4);
	assert_int_equal(summary.channels, 3);
	assert_int_equal(summary.states[NCS_CHANNEL_RECV_WAIT], 1);
	assert_int_equal(summary.states[NCS_CHANNEL_SEND_WAIT], 1);
	assert_int_equal(summary.states[NCS_CHANNEL_IDLE], 1);
	assert_int_equal(summary.long_waits, 1);
	assert_true(summary.oldest.duration_ns == 50 * SECOND);
}

/* Makes a rank's AllReduce wait for a launch that has begun so many seconds
 * ago, or is queued. */
static void launches(struct scripted_rank *rank, bool begun, uint64_t seconds)
{
	struct ncs_snapshot *snapshot = &rank->snapshot;

	snapshot->launches = (struct ncs_launches_view){
		.status = NCS_STREAM_ALL,
		.begun = begun,
		.followed = 1,
		.launched = 1,
		.begun_ns = begun ? NOW - seconds * SECOND : 0,
		.launched_ns = NOW - seconds * SECOND,
	};
	rank->operations[snapshot->operation_count++] =
		(struct ncs_operation_view){
			.number = 1,
			.start_ns = NOW - seconds * SECOND,
			.event = NCS_EVENT_COLL,
			.function = NCS_FUNCTION_ALL_REDUCE,
			.launch = 1,
		};
}

static void waits_of_launches_are_counted_without_channels(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *busy = add(scripted, 3);
	struct ncs_summary summary;

	launches(add(scripted, 0), true, 40);
	launches(add(scripted, 1), false, 50);
	launches(add(scripted, 2), false, 0);
	/* It moves. */
	launches(busy, true, 60);
	waits(busy, NCS_CHANNEL_SEND_WAIT, 0, 0);
	summarize(&summary, scripted);
	assert_int_equal(summary.launching, 4);
	assert_int_equal(summary.launches[NCS_LAUNCH_WAIT_STREAM], 2);
	assert_int_equal(summary.launches[NCS_LAUNCH_WAIT_RUNNING] +
				 summary.launches[NCS_LAUNCH_WAIT_PEER],
			 1);
	assert_int_equal(summary.long_waits, 2);
	assert_int_equal(summary.oldest.rank->now.identity.rank, 1);
	assert_true(summary.oldest.duration_ns == 50 * SECOND);
	assert_int_equal(summary.chain_length, 0);
}

static void short_waits_make_no_chain(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_summary summary;

	add(scripted, 1);
	waits(add(scripted, 0), NCS_CHANNEL_RECV_WAIT, 1, 0);
	summarize(&summary, scripted);
	assert_int_equal(summary.chain_length, 0);
	assert_non_null(summary.channel_wait.channel);
	assert_non_null(summary.oldest.rank);
}

static void the_chain_ends_at_a_rank_without_an_operation(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_summary summary;

	waits(add(scripted, 0), NCS_CHANNEL_RECV_WAIT, 3, 40);
	waits(add(scripted, 3), NCS_CHANNEL_RECV_WAIT, 2, 39);
	add(scripted, 2);
	summarize(&summary, scripted);
	assert_int_equal(summary.chain_length, 3);
	assert_int_equal(summary.chain_end, NCS_CHAIN_ABSENT);
	assert_int_equal(last_of_chain(&summary), 2);
	assert_ptr_equal(ncs_suspect(&summary), scripted_rank(scripted, 2));
}

static void a_peer_explains_a_wait_for_the_gpu(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *rank = add(scripted, 0);
	struct ncs_summary summary;

	/* Its GPU waits for data of rank 1. */
	waits(rank, NCS_CHANNEL_SEND_GPU_WAIT, 2, 41);
	waits(rank, NCS_CHANNEL_RECV_WAIT, 1, 40);
	waits(add(scripted, 1), NCS_CHANNEL_SEND_GPU_WAIT, 0, 40);
	summarize(&summary, scripted);
	assert_int_equal(summary.chain_end, NCS_CHAIN_LOCAL);
	assert_int_equal(last_of_chain(&summary), 1);
	assert_int_equal(summary.last.channel->state,
			 NCS_CHANNEL_SEND_GPU_WAIT);
}

static void the_chain_ends_at_a_dead_rank(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_summary summary;

	waits(add(scripted, 0), NCS_CHANNEL_SEND_PEER_WAIT, 1, 40);
	add(scripted, 1)->snapshot.liveness = NCS_DEAD;
	summarize(&summary, scripted);
	assert_int_equal(summary.chain_end, NCS_CHAIN_ENDED);
	assert_int_equal(last_of_chain(&summary), 1);
}

static void the_chain_ends_at_a_rank_that_is_not_seen(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_summary summary;

	waits(add(scripted, 0), NCS_CHANNEL_RECV_WAIT, 9, 40);
	summarize(&summary, scripted);
	assert_int_equal(summary.chain_end, NCS_CHAIN_UNSEEN);
	assert_int_equal(summary.peer, 9);
	assert_null(ncs_suspect(&summary));
}

static void a_circle_of_waits_ends_the_chain(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_summary summary;

	waits(add(scripted, 0), NCS_CHANNEL_RECV_WAIT, 1, 40);
	waits(add(scripted, 1), NCS_CHANNEL_RECV_WAIT, 2, 40);
	waits(add(scripted, 2), NCS_CHANNEL_RECV_WAIT, 0, 40);
	summarize(&summary, scripted);
	assert_int_equal(summary.chain_length, 3);
	assert_int_equal(summary.chain_end, NCS_CHAIN_CIRCLE);
	assert_int_equal(summary.peer, 0);
}

static void the_chain_ends_at_a_rank_that_makes_progress(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_summary summary;

	waits(add(scripted, 0), NCS_CHANNEL_RECV_WAIT, 1, 40);
	waits(add(scripted, 1), NCS_CHANNEL_SEND_WAIT, 2, 0);
	summarize(&summary, scripted);
	assert_int_equal(summary.chain_end, NCS_CHAIN_MOVING);
	assert_null(ncs_suspect(&summary));
}

static void ranks_of_other_communicators_are_no_peers(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *other = add(scripted, 1);
	struct ncs_summary summary;

	other->snapshot.identity.comm_id = 8;
	waits(add(scripted, 0), NCS_CHANNEL_RECV_WAIT, 1, 40);
	summarize(&summary, scripted);
	assert_int_equal(summary.chain_end, NCS_CHAIN_UNSEEN);
	/* Ranks without an identity are no peers either. */
	other->snapshot.identity.known = NCS_KNOWN_RANK;
	summarize(&summary, scripted);
	assert_int_equal(summary.chain_end, NCS_CHAIN_UNSEEN);
}

/* --- Ranks that are behind ------------------------------------------------ */

static void at(struct scripted_rank *rank, uint64_t sequence)
{
	struct ncs_function_view *function =
		&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];

	function->operations = sequence + 1;
	function->last_sequence_number = sequence;
}

static void a_stalled_job_has_a_rank_that_is_behind(void **state)
{
	struct scripted *scripted = *state;
	struct ncs_summary summary;

	at(add(scripted, 0), 42);
	at(add(scripted, 1), 42);
	at(add(scripted, 2), 41);
	scripted_pass(scripted, NOW - SECOND);
	summarize(&summary, scripted);
	assert_non_null(summary.behind.rank);
	assert_int_equal(summary.behind.rank->now.identity.rank, 2);
	assert_int_equal(summary.behind.function, NCS_FUNCTION_ALL_REDUCE);
	assert_int_equal(summary.behind.at, 41);
	assert_int_equal(summary.behind.others_at, 42);
	assert_int_equal(summary.behind.count, 1);
}

static void a_running_job_has_no_rank_that_is_behind(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *fast = add(scripted, 0);
	struct ncs_summary summary;

	at(fast, 41);
	at(add(scripted, 1), 41);
	scripted_pass(scripted, NOW - SECOND);
	at(fast, 42);
	summarize(&summary, scripted);
	assert_null(summary.behind.rank);
}

static void a_rank_that_moves_in_a_stuck_job_is_not_behind(void **state)
{
	struct scripted *scripted = *state;
	struct scripted_rank *slow = add(scripted, 1);
	struct scripted_rank *stuck = add(scripted, 0);
	struct ncs_summary summary;

	waits(stuck, NCS_CHANNEL_RECV_WAIT, 1, 40);
	at(stuck, 50);
	at(slow, 40);
	scripted_pass(scripted, NOW - SECOND);
	at(slow, 41);
	summarize(&summary, scripted);
	assert_null(summary.behind.rank);
	summarize(&summary, scripted);
	assert_non_null(summary.behind.rank);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scripted_setup, scripted_teardown)
		TEST(no_job_gives_an_empty_summary),
		TEST(waits_are_counted_by_state),
		TEST(waits_of_launches_are_counted_without_channels),
		TEST(short_waits_make_no_chain),
		TEST(the_chain_ends_at_a_rank_without_an_operation),
		TEST(a_peer_explains_a_wait_for_the_gpu),
		TEST(the_chain_ends_at_a_dead_rank),
		TEST(the_chain_ends_at_a_rank_that_is_not_seen),
		TEST(a_circle_of_waits_ends_the_chain),
		TEST(the_chain_ends_at_a_rank_that_makes_progress),
		TEST(ranks_of_other_communicators_are_no_peers),
		TEST(a_stalled_job_has_a_rank_that_is_behind),
		TEST(a_running_job_has_no_rank_that_is_behind),
		TEST(a_rank_that_moves_in_a_stuck_job_is_not_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
