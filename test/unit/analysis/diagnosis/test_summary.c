/* SPDX-License-Identifier: MIT */
/* Tests of the summary of a job: counts of ranks and of waits. */
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

static void no_job_gives_an_empty_summary(void **state)
{
	struct ncs_summary summary;

	summarize(&summary, *state);
	assert_int_equal(summary.ranks, 0);
	assert_null(summary.oldest.rank);
}

static void dead_ranks_do_not_wait(void **state)
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
	assert_int_equal(summary.ranks, 2);
	assert_int_equal(summary.dead, 1);
	assert_int_equal(summary.lost, 4);
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

static void waits_of_launches_count_without_channels(void **state)
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
	assert_int_equal(summary.oldest.rank->now.identity.rank, 1);
	assert_true(summary.oldest.duration_ns == 50 * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scripted_setup, scripted_teardown)
		TEST(no_job_gives_an_empty_summary),
		TEST(dead_ranks_do_not_wait),
		TEST(waits_of_launches_count_without_channels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
