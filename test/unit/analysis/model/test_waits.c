/* SPDX-License-Identifier: MIT */
/* Waits by the progress of launches: what the oldest operation of a rank waits
 * for, and what is not known. */
#include <string.h>

#include "analysis/model/communicators.h"
#include "analysis/model/waits.h"
#include "test/unit/support/scripted_source.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)
#define NOW (100 * SECOND)
#define RANKS 3
/* The AllReduce that all ranks call, and its launch. */
#define NUMBER 4
#define LAUNCH 5

/* Adds a rank of a communicator of RANKS ranks that has called the AllReduce
 * 3 s ago. Its launch has ended. */
static struct scripted_rank *add(struct scripted *job, int number)
{
	struct scripted_rank *rank = scripted_add(job, number);
	struct ncs_function_view *function =
		&rank->snapshot.functions[NCS_FUNCTION_ALL_REDUCE];

	rank->snapshot.identity.known |= NCS_KNOWN_COMM_ID;
	rank->snapshot.identity.comm_id = 7;
	rank->snapshot.identity.nranks = RANKS;
	rank->snapshot.last_call_ns = NOW - 3 * SECOND;
	rank->snapshot.launches = (struct ncs_launches_view){
		.status = NCS_STREAM_ALL,
		.ended = LAUNCH,
		.begun = LAUNCH,
		.followed = LAUNCH,
		.launched = LAUNCH,
		.begun_ns = NOW - 2 * SECOND,
		.ended_ns = NOW - SECOND,
		.launched_ns = NOW - 3 * SECOND,
	};
	function->operations = NUMBER + 1;
	function->last_sequence_number = NUMBER;
	return rank;
}

static int setup(void **state)
{
	static struct scripted job;

	scripted_init(&job);
	for (int i = 0; i < RANKS; i++)
		add(&job, i);
	*state = &job;
	return 0;
}

static int teardown(void **state)
{
	scripted_release(*state);
	return 0;
}

static struct ncs_operation_view *put_in_flight(struct scripted_rank *rank)
{
	struct ncs_snapshot *snapshot = &rank->snapshot;
	struct ncs_operation_view *operation =
		&rank->operations[snapshot->operation_count++];

	*operation = (struct ncs_operation_view){
		.number = NUMBER + 1,
		.start_ns = NOW - 3 * SECOND,
		.sequence_number = NUMBER,
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.launch = LAUNCH,
	};
	return operation;
}

/* Its launch is queued. */
static struct ncs_operation_view *queue(struct scripted *job, int number)
{
	struct scripted_rank *rank = &job->ranks[number];

	rank->snapshot.launches.begun = rank->snapshot.launches.ended =
		LAUNCH - 1;
	return put_in_flight(rank);
}

/* Its launch has begun. */
static struct ncs_operation_view *begin(struct scripted *job, int number)
{
	struct scripted_rank *rank = &job->ranks[number];

	rank->snapshot.launches.ended = LAUNCH - 1;
	return put_in_flight(rank);
}

/* It has not called it yet. */
static void take_back(struct scripted *job, int number)
{
	job->ranks[number]
		.snapshot.functions[NCS_FUNCTION_ALL_REDUCE]
		.last_sequence_number = NUMBER - 1;
}

static struct ncs_launch_wait wait_of(struct scripted *job, int number)
{
	scripted_pass(job, NOW);
	return ncs_rank_launch_wait(scripted_rank(job, number));
}

static void assert_wait(struct scripted *job, int number, const char *name,
			uint64_t duration_ns)
{
	struct ncs_launch_wait wait = wait_of(job, number);

	assert_non_null(wait.operation);
	assert_string_equal(ncs_launch_wait_name(wait.kind), name);
	assert_int_equal(wait.duration_ns, duration_ns);
}

UNIT_FIXTURE(setup, teardown)

TEST(rank_without_operations_in_flight_does_not_wait)
{
	struct ncs_launch_wait wait = wait_of(*state, 0);

	assert_null(wait.operation);
	assert_string_equal(ncs_launch_wait_name(wait.kind), "unknown");
	assert_string_equal(ncs_launch_wait_help(wait.kind), "unknown");
}

TEST(launch_that_has_not_begun_waits_for_its_stream)
{
	queue(*state, 0);
	assert_wait(*state, 0, "stream", 3 * SECOND);
}

TEST(launch_that_has_begun_waits_for_one_that_has_not)
{
	begin(*state, 0);
	begin(*state, 1);
	queue(*state, 2);
	assert_wait(*state, 0, "peer", 2 * SECOND);
	assert_wait(*state, 1, "peer", 2 * SECOND);
	assert_wait(*state, 2, "stream", 3 * SECOND);
}

TEST(launch_that_has_begun_waits_for_a_rank_that_has_not_called)
{
	begin(*state, 0);
	take_back(*state, 1);
	assert_wait(*state, 0, "peer", 2 * SECOND);
}

/* At rank 2 it is over. */
TEST(launch_that_has_begun_everywhere_moves)
{
	begin(*state, 0);
	begin(*state, 1);
	assert_wait(*state, 0, "moving", 2 * SECOND);
}

TEST(launch_runs_if_not_all_ranks_are_known)
{
	struct scripted *job = *state;

	begin(job, 0);
	job->ranks[2].is_there = false;
	assert_wait(job, 0, "running", 2 * SECOND);
	/* It may be one of those that are not followed. */
	job->ranks[2].is_there = true;
	job->ranks[2].snapshot.launches.status = NCS_STREAM_SOME;
	assert_wait(job, 0, "running", 2 * SECOND);
	/* Its launch is not known. */
	begin(job, 2)->launch = 0;
	assert_wait(job, 0, "running", 2 * SECOND);
	/* One that is known is enough. */
	take_back(job, 1);
	assert_wait(job, 0, "peer", 2 * SECOND);
}

TEST(broadcast_waits_for_its_root_only)
{
	struct scripted *job = *state;

	for (int i = 0; i < RANKS; i++) {
		struct ncs_operation_view *operation = i == 1 ? queue(job, i) :
								begin(job, i);

		operation->function = NCS_FUNCTION_BROADCAST;
		operation->peer = 2;
		job->ranks[i]
			.snapshot.functions[NCS_FUNCTION_BROADCAST]
			.last_sequence_number = NUMBER;
	}
	assert_wait(job, 0, "moving", 2 * SECOND);
	assert_wait(job, 1, "stream", 3 * SECOND);
	assert_wait(job, 2, "running", 2 * SECOND);
	job->ranks[0].operations[0].peer = 1;
	assert_wait(job, 0, "peer", 2 * SECOND);
}

TEST(send_runs)
{
	struct ncs_operation_view *operation = begin(*state, 0);

	operation->event = NCS_EVENT_P2P;
	operation->function = NCS_FUNCTION_SEND;
	operation->sequence_number = NCS_NO_SEQUENCE_NUMBER;
	assert_wait(*state, 0, "running", 2 * SECOND);
}

TEST(operation_of_an_unknown_launch_is_passed_over)
{
	struct scripted *job = *state;

	queue(job, 0)->launch = 0;
	assert_null(wait_of(job, 0).operation);
	put_in_flight(&job->ranks[0]);
	assert_wait(job, 0, "stream", 3 * SECOND);
}

TEST(host_is_ahead_by_the_launches_that_have_not_begun)
{
	struct scripted *job = *state;
	struct ncs_launches_view *launches = &job->ranks[0].snapshot.launches;

	scripted_pass(job, NOW);
	assert_int_equal(ncs_rank_launches_ahead(scripted_rank(job, 0)), 0);
	launches->followed = LAUNCH + 2;
	launches->launched = LAUNCH + 3;
	scripted_pass(job, NOW);
	assert_int_equal(ncs_rank_launches_ahead(scripted_rank(job, 0)), 3);
	/* Launches after the last one that is followed may be over. */
	launches->followed = LAUNCH;
	scripted_pass(job, NOW);
	assert_int_equal(ncs_rank_launches_ahead(scripted_rank(job, 0)), -1);
	launches->followed = LAUNCH + 2;
	launches->status = NCS_STREAM_FAILED;
	scripted_pass(job, NOW);
	assert_int_equal(ncs_rank_launches_ahead(scripted_rank(job, 0)), -1);
}

TEST(last_rank_is_at_the_earliest_launch)
{
	struct scripted *job = *state;

	begin(job, 1);
	scripted_pass(job, NOW);
	assert_int_equal(
		ncs_communicator_last_launch(&job->model.communicators[0])
			->now.identity.rank,
		1);
	queue(job, 2);
	scripted_pass(job, NOW);
	assert_int_equal(
		ncs_communicator_last_launch(&job->model.communicators[0])
			->now.identity.rank,
		2);
	for (int i = 0; i < RANKS; i++)
		job->ranks[i].snapshot.launches.status = NCS_STREAM_OFF;
	scripted_pass(job, NOW);
	assert_null(ncs_communicator_last_launch(&job->model.communicators[0]));
}

/* Without channels, as over NVLink. */
TEST(oldest_wait_is_that_of_a_launch)
{
	struct scripted *job = *state;
	const struct ncs_communicator *found;

	scripted_pass(job, NOW);
	assert_null(ncs_rank_oldest(scripted_rank(job, 0)).rank);
	assert_null(job->model.communicators[0].oldest.rank);
	begin(job, 0);
	queue(job, 1);
	scripted_pass(job, NOW);
	found = &job->model.communicators[0];
	assert_int_equal(ncs_rank_oldest(scripted_rank(job, 0)).duration_ns,
			 2 * SECOND);
	assert_ptr_equal(found->oldest.rank, scripted_rank(job, 1));
	assert_int_equal(found->oldest.duration_ns, 3 * SECOND);
	assert_int_equal(found->oldest.since_ns, NOW - 3 * SECOND);
	job->ranks[1].snapshot.liveness = NCS_DEAD;
	scripted_pass(job, NOW);
	found = &job->model.communicators[0];
	assert_ptr_equal(found->oldest.rank, scripted_rank(job, 0));
}

/* A channel that moves tells more than its operation's launch. */
TEST(oldest_wait_is_that_of_a_channel_where_one_is_busy)
{
	struct scripted *job = *state;
	struct ncs_channel_view *channel;

	begin(job, 0);
	channel = scripted_channel(&job->ranks[0], 0, true, 1);
	channel->state = NCS_CHANNEL_SEND_WAIT;
	channel->since_ns = NOW - SECOND;
	scripted_pass(job, NOW);
	assert_int_equal(ncs_rank_oldest(scripted_rank(job, 0)).duration_ns,
			 SECOND);
	assert_int_equal(job->model.communicators[0].oldest.duration_ns,
			 SECOND);
}

/* The host runs ahead of the GPU: a rank waits only once its kernel has
 * begun. */
TEST(rank_is_late_for_kernels_that_have_begun)
{
	struct scripted *job = *state;
	struct ncs_late_now now;

	take_back(job, 2);
	queue(job, 0);
	scripted_pass(job, NOW);
	ncs_rank_late_now(scripted_rank(job, 2), &now);
	assert_int_equal(now.waiting, 0);
	begin(job, 1);
	scripted_pass(job, NOW);
	ncs_rank_late_now(scripted_rank(job, 2), &now);
	assert_int_equal(now.waiting, 1);
	assert_int_equal(now.late_ns, 2 * SECOND);
}
