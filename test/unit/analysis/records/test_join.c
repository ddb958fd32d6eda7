/* SPDX-License-Identifier: MIT */
/* Tests of joining parts: parts are joined in whatever order they come, and
 * operations that stay incomplete are given out as they are. */
#include <stdlib.h>
#include <string.h>

#include "analysis/records/join.h"
#include "analysis/records/operation_record.h"
#include "test/unit/support/unit.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define RANKS 8

static int setup(void **state)
{
	struct ncs_join *join = ncs_join_new(0, true);

	assert_non_null(join);
	for (int rank = 0; rank < RANKS; rank++)
		assert_int_equal(ncs_join_expect(join, 7, rank), 0);
	*state = join;
	return 0;
}

static int teardown(void **state)
{
	ncs_join_free(*state);
	return 0;
}

static struct ncs_part part_of(int rank, unsigned function, uint64_t number,
			       uint64_t begin_ns)
{
	struct ncs_part part = {
		.comm_id = 7,
		.rank = rank,
		.nranks = RANKS,
		.function = (uint8_t)function,
		.peer = -1,
		.number = number,
		.operation = (uint32_t)number + 1,
	};

	part.at_ns[NCS_MOMENT_OPERATION] = begin_ns;
	part.at_ns[NCS_MOMENT_LAST_END] = begin_ns + MS;
	return part;
}

static void add(struct ncs_join *join, const struct ncs_part *part)
{
	assert_int_equal(ncs_join_add(join, part), 0);
}

static void add_all_reduce(struct ncs_join *join, int rank, uint64_t number)
{
	struct ncs_part part = part_of(rank, NCS_FUNCTION_ALL_REDUCE, number,
				       SECOND + number * 10 * MS + rank);

	add(join, &part);
}

UNIT_FIXTURE(setup, teardown)

TEST(ranks_may_be_added_one_after_the_other)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;

	for (int rank = RANKS - 1; rank >= 0; rank--)
		for (uint64_t number = 0; number < 300; number++)
			add_all_reduce(join, rank, number);
	ncs_join_advance(join, UINT64_MAX);
	for (uint64_t number = 0; number < 300; number++) {
		joined = ncs_join_next(join);
		assert_non_null(joined);
		assert_int_equal(joined->number, number);
		assert_true(joined->is_complete);
		assert_true(joined->is_whole);
		assert_int_equal(joined->wait_rule, NCS_WAIT_FOR_ALL);
		assert_int_equal(joined->count, RANKS);
		for (int rank = 0; rank < RANKS; rank++)
			assert_int_equal(joined->parts[rank].rank, rank);
	}
	assert_null(ncs_join_next(join));
	assert_int_equal(ncs_join_count(join)->complete, 300);
	assert_int_equal(ncs_join_count(join)->incomplete, 0);
}

TEST(operation_waits_until_no_earlier_one_can_come)
{
	struct ncs_join *join = *state;

	for (int rank = 0; rank < RANKS; rank++)
		add_all_reduce(join, rank, 1);
	ncs_join_advance(join, SECOND);
	assert_null(ncs_join_next(join));
	for (int rank = 0; rank < RANKS - 1; rank++)
		add_all_reduce(join, rank, 0);
	ncs_join_advance(join, SECOND + 100 * MS);
	assert_null(ncs_join_next(join));
	add_all_reduce(join, RANKS - 1, 0);
	ncs_join_advance(join, SECOND + 100 * MS);
	assert_int_equal(ncs_join_next(join)->number, 0);
	assert_int_equal(ncs_join_next(join)->number, 1);
}

TEST(incomplete_operation_is_given_up_after_later_ones)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;

	for (uint64_t number = 0; number < 200; number++)
		for (int rank = 0; rank < RANKS; rank++)
			if (number > 0 || rank != 3)
				add_all_reduce(join, rank, number);
	ncs_join_advance(join, SECOND + 200 * 10 * MS);
	joined = ncs_join_next(join);
	assert_non_null(joined);
	assert_int_equal(joined->number, 0);
	assert_false(joined->is_complete);
	assert_int_equal(joined->count, RANKS - 1);
	assert_int_equal(ncs_join_next(join)->number, 1);
}

/* The process of one rank was killed, so it reports no more parts. */
TEST(silent_rank_delays_operations_for_ten_seconds)
{
	struct ncs_join *join = *state;

	for (uint64_t number = 0; number < 10; number++)
		for (int rank = 0; rank < RANKS - 1; rank++)
			add_all_reduce(join, rank, number);
	ncs_join_advance(join, 5 * SECOND);
	assert_null(ncs_join_next(join));
	ncs_join_advance(join, 20 * SECOND);
	for (uint64_t number = 0; number < 10; number++)
		assert_int_equal(ncs_join_next(join)->number, number);
}

TEST(memory_is_bounded)
{
	struct ncs_join *join = ncs_join_new(1000, true);
	size_t count = 0;

	for (int rank = 0; rank < RANKS; rank++)
		assert_int_equal(ncs_join_expect(join, 7, rank), 0);
	for (uint64_t number = 0; number < 2000; number++) {
		add_all_reduce(join, 0, number);
		ncs_join_advance(join, SECOND);
		while (ncs_join_next(join))
			count++;
	}
	assert_in_range(count, 1000, 1001);
	ncs_join_free(join);
}

TEST(replays_of_a_graph_are_distinguished)
{
	struct ncs_join *join = *state;
	struct ncs_part part;

	for (int rank = 0; rank < RANKS; rank++)
		for (uint64_t i = 0; i < 3; i++) {
			part = part_of(rank, NCS_FUNCTION_ALL_GATHER, 4,
				       SECOND + i * 10 * MS);
			add(join, &part);
		}
	ncs_join_advance(join, UINT64_MAX);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ncs_join_next(join)->repeat, i);
	assert_int_equal(ncs_join_count(join)->complete, 3);
}

static struct ncs_part transfer(int rank, bool send, int peer,
				uint32_t operation, uint64_t bytes,
				uint64_t begin_ns)
{
	struct ncs_part part =
		part_of(rank, send ? NCS_FUNCTION_SEND : NCS_FUNCTION_RECV,
			NCS_NO_SEQUENCE_NUMBER, begin_ns);

	part.flags = NCS_PART_P2P;
	part.peer = peer;
	part.bytes = bytes;
	part.operation = operation;
	return part;
}

TEST(sends_are_joined_with_their_receives)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;
	struct ncs_part part;

	for (unsigned i = 0; i < 3; i++) {
		/* The first send is added last. */
		unsigned k = (i + 1) % 3;

		part = transfer(2, true, 5, k + 1, 100 + k,
				SECOND + k * 10 * MS);
		add(join, &part);
	}
	for (unsigned i = 0; i < 3; i++) {
		part = transfer(5, false, 2, i + 9, 100 + i,
				SECOND + i * 10 * MS + (i == 1 ? 5 * MS : 0));
		add(join, &part);
	}
	ncs_join_advance(join, UINT64_MAX);
	for (unsigned i = 0; i < 3; i++) {
		joined = ncs_join_next(join);
		assert_true(joined->is_complete);
		assert_int_equal(joined->function, NCS_FUNCTION_SEND_RECV);
		assert_int_equal(joined->count, 2);
		assert_int_equal(joined->parts[0].rank, 2);
		assert_int_equal(joined->parts[1].rank, 5);
		assert_int_equal(joined->parts[0].bytes, 100 + i);
		assert_int_equal(joined->parts[1].bytes, 100 + i);
		assert_int_equal(joined->wait_rule,
				 i == 1 ? NCS_WAIT_FOR_ROOT : NCS_WAIT_FOR_ALL);
	}
}

TEST(missing_send_does_not_shift_later_transfers)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;
	size_t complete = 0, incomplete = 0;
	struct ncs_part part;

	for (unsigned i = 0; i < 10; i++) {
		part = transfer(2, true, 5, i + 1, 100, SECOND + i * 10 * MS);
		if (i != 4)
			add(join, &part);
		part = transfer(5, false, 2, i + 1, 100, SECOND + i * 10 * MS);
		add(join, &part);
	}
	ncs_join_advance(join, UINT64_MAX);
	while ((joined = ncs_join_next(join))) {
		complete += joined->is_complete;
		incomplete += !joined->is_complete;
		if (joined->count == 2)
			assert_int_equal(
				joined->parts[0].at_ns[NCS_MOMENT_OPERATION],
				joined->parts[1].at_ns[NCS_MOMENT_OPERATION]);
	}
	assert_int_equal(complete, 9);
	assert_int_equal(incomplete, 1);
}

static void add_numbered(struct ncs_join *join, bool send, uint64_t number,
			 uint64_t bytes, uint64_t begin_ns)
{
	struct ncs_part part = transfer(send ? 2 : 5, send, send ? 5 : 2,
					(uint32_t)number + 1 + 100u * send,
					bytes, begin_ns);

	part.flags |= NCS_PART_NUMBERED;
	part.number = number;
	add(join, &part);
}

/* Records of both ends are lost, and the reader of one came later. */
TEST(transfers_are_joined_by_their_numbers)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;
	unsigned complete = 0, incomplete = 0;

	for (uint64_t i = 100; i < 200; i++) {
		if (i >= 120 && i % 7 != 0)
			add_numbered(join, true, i, 100, SECOND + i * MS);
		if (i % 11 != 0)
			add_numbered(join, false, i, 100, SECOND + i * MS);
	}
	ncs_join_advance(join, UINT64_MAX);
	while ((joined = ncs_join_next(join))) {
		complete += joined->is_complete;
		incomplete += !joined->is_complete;
		for (size_t i = 0; i < joined->count; i++)
			assert_int_equal(joined->parts[i].number,
					 joined->number);
	}
	/* In 120 to 199, 11 are multiples of 7, 8 of 11, and 154 of both. */
	assert_int_equal(complete, 80 - 11 - 8 + 1);
	assert_int_equal(incomplete, 11 + 8 - 2 + 20 - 1);
	assert_int_equal(ncs_join_count(join)->distrusted, 0);
}

TEST(lost_transfer_holds_up_later_ones_for_a_while_only)
{
	struct ncs_join *join = ncs_join_new(0, false);
	unsigned complete = 0;

	assert_int_equal(ncs_join_expect(join, 7, 2), 0);
	assert_int_equal(ncs_join_expect(join, 7, 5), 0);
	for (uint64_t i = 0; i < 40; i++) {
		add_numbered(join, true, i, 100, SECOND + i * MS);
		if (i != 3)
			add_numbered(join, false, i, 100, SECOND + i * MS);
		ncs_join_advance(join, SECOND + i * MS);
		while (ncs_join_next(join))
			complete += ncs_join_count(join)->complete > complete;
		if (i == 10)
			assert_int_equal(complete, 3);
	}
	assert_int_equal(complete, 39);
	ncs_join_free(join);
}

/* Each end counted differently. The first pair that cannot be one tells. */
TEST(numbers_that_contradict_their_pairs_are_not_used)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;
	uint64_t first = UINT64_MAX;

	for (uint64_t i = 0; i < 50; i++) {
		add_numbered(join, true, i, i == 20 ? 200 : 100,
			     SECOND + i * MS);
		add_numbered(join, false, i, i == 21 ? 200 : 100,
			     SECOND + i * MS);
	}
	ncs_join_advance(join, UINT64_MAX);
	while ((joined = ncs_join_next(join)))
		if (!joined->is_complete && joined->number < first)
			first = joined->number;
		else if (joined->is_complete)
			assert_true(joined->number < 20);
	assert_int_equal(first, 20);
	assert_int_equal(ncs_join_count(join)->complete, 20);
	assert_int_equal(ncs_join_count(join)->distrusted, 2);
}

TEST(receive_before_its_send_is_no_pair)
{
	struct ncs_join *join = *state;

	for (uint64_t i = 0; i < 20; i++) {
		add_numbered(join, true, i, 100, SECOND + (i + 1) * 50 * MS);
		add_numbered(join, false, i, 100, SECOND + i * 50 * MS);
	}
	ncs_join_advance(join, UINT64_MAX);
	while (ncs_join_next(join))
		;
	assert_int_equal(ncs_join_count(join)->complete, 0);
	assert_true(ncs_join_count(join)->distrusted > 0);
}

TEST(transfer_without_a_number_is_no_pair_of_one_with_it)
{
	struct ncs_join *join = *state;
	struct ncs_part part = transfer(5, false, 2, 1, 100, SECOND);

	add(join, &part);
	add_numbered(join, true, 0, 100, SECOND);
	ncs_join_advance(join, UINT64_MAX);
	while (ncs_join_next(join))
		;
	assert_int_equal(ncs_join_count(join)->complete, 0);
	assert_int_equal(ncs_join_count(join)->incomplete, 2);
}

/* It was buffered: on the stream of the sender it was over before the receiver
 * was there. */
TEST(sender_that_ended_before_the_receiver_came_did_not_wait)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;
	struct ncs_part part;

	for (unsigned i = 0; i < 2; i++) {
		part = transfer(i ? 5 : 2, !i, i ? 2 : 5, 1, 100, SECOND);
		part.at_ns[NCS_MOMENT_STREAM] = SECOND + (i ? 3 : 1) * MS;
		part.at_ns[NCS_MOMENT_STREAM_END] = SECOND + (i ? 4 : 2) * MS;
		part.at_ns[NCS_MOMENT_LAST_END] = SECOND + 5 * MS;
		add(join, &part);
	}
	ncs_join_advance(join, UINT64_MAX);
	joined = ncs_join_next(join);
	assert_int_equal(joined->count, 2);
	assert_int_equal(joined->wait_rule, NCS_WAIT_FOR_ROOT);
	assert_int_equal(joined->end, NCS_MOMENT_STREAM_END);
}

TEST(arrival_is_the_latest_stage_known_of_all_parts)
{
	struct ncs_join *join = *state;
	struct ncs_part part;

	for (int rank = 0; rank < RANKS; rank++) {
		part = part_of(rank, NCS_FUNCTION_ALL_REDUCE, 0, SECOND);
		part.at_ns[NCS_MOMENT_PROXY] = SECOND + 10;
		part.at_ns[NCS_MOMENT_DATA] = rank == 3 ? 0 : SECOND + 20;
		add(join, &part);
	}
	ncs_join_advance(join, UINT64_MAX);
	assert_int_equal(ncs_join_next(join)->arrival, NCS_MOMENT_PROXY);
}

TEST(part_times_are_those_of_the_parts)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;

	for (int rank = 0; rank < RANKS; rank++) {
		struct ncs_part part =
			part_of(rank, NCS_FUNCTION_ALL_REDUCE, 0, 5000);

		part.owner = (size_t)rank + 10;
		part.at_ns[NCS_MOMENT_CALL] = rank > 0 ? 3000 : 0;
		part.at_ns[NCS_MOMENT_OPERATION] = 3500;
		part.at_ns[NCS_MOMENT_PROXY] = 4000 + (uint64_t)rank;
		part.slowest.steps = 4;
		part.slowest.send = rank == 2;
		part.slowest.channel = 7;
		part.slowest.peer = 1;
		part.slowest.wait_ns[NCS_CHANNEL_RECV_WAIT] = 60;
		part.slowest.wait_ns[NCS_CHANNEL_SEND_GPU_WAIT] = 70;
		add(join, &part);
	}
	ncs_join_advance(join, UINT64_MAX);
	joined = ncs_join_next(join);
	assert_non_null(joined);
	assert_non_null(joined->part_times);
	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part_times *times = &joined->part_times[i];

		assert_int_equal(times->owner, 10 + i);
		assert_int_equal(times->call_ns, i > 0 ? 3000 : 3500);
		assert_int_equal(times->begin_ns, 3500);
		assert_int_equal(times->arrival_ns, 4000 + i);
		assert_int_equal(times->end_ns,
				 joined->parts[i].at_ns[NCS_MOMENT_LAST_END]);
		assert_true(times->last_channel.is_known);
		assert_int_equal(times->last_channel.channel, 7);
		assert_int_equal(times->last_channel.send, i == 2);
		assert_true(times->last_channel.wait_ns[0] ==
			    (i == 2 ? 70 : 60));
	}
}

/* A proxy thread may send long after a kernel has handed out its last data. */
TEST(part_may_have_ended_once_its_last_data_was_there)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;

	for (int rank = 0; rank < RANKS; rank++) {
		struct ncs_part part =
			part_of(rank, NCS_FUNCTION_ALL_REDUCE, 0, SECOND);

		part.at_ns[NCS_MOMENT_PROXY] = SECOND;
		part.at_ns[NCS_MOMENT_LAST_END] = SECOND + 60 * MS;
		part.last_data_ns = rank == 0 ? 0 : SECOND + 40 * MS;
		add(join, &part);
	}
	ncs_join_advance(join, UINT64_MAX);
	joined = ncs_join_next(join);
	assert_non_null(joined);
	assert_int_equal(joined->part_times[0].least_end_ns,
			 SECOND + 60 * MS - NCS_TAIL_NS);
	assert_int_equal(joined->part_times[1].least_end_ns,
			 SECOND + 40 * MS - NCS_TAIL_NS);
	/* Operations come in the order of their ends all the same. */
	assert_int_equal(joined->turn_ns, SECOND + 60 * MS - NCS_TAIL_NS);
}

/* Adds an operation in which the last rank begins at `last_ns`. All ranks know
 * when it began and ended on the stream and by the proxy; kernels end early. */
static const struct ncs_joined *
with_ends(struct ncs_join *join, uint64_t last_ns, uint64_t kernel_end_ns,
	  uint64_t stream_end_ns, uint64_t last_end_ns)
{
	for (int rank = 0; rank < RANKS; rank++) {
		struct ncs_part part =
			part_of(rank, NCS_FUNCTION_ALL_REDUCE, 0, SECOND);

		part.at_ns[NCS_MOMENT_PROXY] = rank == RANKS - 1 ? last_ns :
								   SECOND + MS;
		part.at_ns[NCS_MOMENT_KERNEL_END] = kernel_end_ns;
		part.at_ns[NCS_MOMENT_STREAM_END] = stream_end_ns;
		part.at_ns[NCS_MOMENT_LAST_END] = last_end_ns;
		add(join, &part);
	}
	ncs_join_advance(join, UINT64_MAX);
	return ncs_join_next(join);
}

TEST(end_is_the_streams_then_the_kernels_then_the_last)
{
	const struct ncs_joined *joined;

	joined = with_ends(*state, SECOND + 2 * MS, SECOND + 5 * MS,
			   SECOND + 6 * MS, SECOND + 7 * MS);
	assert_int_equal(joined->end, NCS_MOMENT_STREAM_END);
	assert_true(joined->end_is_trusted);
	assert_int_equal(joined->first_end_ns, SECOND + 6 * MS);
	assert_int_equal(joined->part_times[0].end_ns, SECOND + 6 * MS);
	joined = with_ends(*state, SECOND + 2 * MS, SECOND + 5 * MS, 0,
			   SECOND + 7 * MS);
	assert_int_equal(joined->end, NCS_MOMENT_KERNEL_END);
	assert_int_equal(joined->first_end_ns, SECOND + 5 * MS);
	joined = with_ends(*state, SECOND + 2 * MS, 0, 0, SECOND + 7 * MS);
	assert_int_equal(joined->end, NCS_MOMENT_LAST_END);
	assert_true(joined->end_is_trusted);
}

/* With TREE, the kernel's channels stop one by one, long before the rank that
 * comes last has begun. */
TEST(end_before_the_last_arrival_is_no_end)
{
	const struct ncs_joined *joined = with_ends(
		*state, SECOND + 42 * MS, SECOND + 2 * MS, 0, SECOND + 45 * MS);
	struct ncs_moving_part moving;

	assert_int_equal(joined->end, NCS_MOMENT_LAST_END);
	assert_true(joined->end_is_trusted);
	assert_int_equal(joined->first_end_ns, SECOND + 45 * MS);
	assert_int_equal(joined->part_times[RANKS - 1].arrival_ns,
			 SECOND + 42 * MS);
	assert_true(ncs_joined_moving(joined, &moving));
	assert_int_equal(moving.end_ns - moving.begin_ns, 3 * MS);
}

/* The launch of the operation has its times on the stream, which its other
 * operations share. */
TEST(moving_part_on_the_stream_begins_before_data_that_is_late)
{
	const struct ncs_joined *joined;
	struct ncs_moving_part moving;

	for (int rank = 0; rank < RANKS; rank++) {
		struct ncs_part part =
			part_of(rank, NCS_FUNCTION_ALL_REDUCE, 0, SECOND);

		part.at_ns[NCS_MOMENT_STREAM] =
			SECOND + (rank == 2 ? 2 : 1) * MS;
		part.at_ns[NCS_MOMENT_DATA] =
			SECOND + (rank == 1 ? 9 : 2) * MS;
		part.at_ns[NCS_MOMENT_STREAM_END] = SECOND + 12 * MS;
		add(*state, &part);
	}
	ncs_join_advance(*state, UINT64_MAX);
	joined = ncs_join_next(*state);
	assert_non_null(joined);
	assert_int_equal(joined->arrival, NCS_MOMENT_DATA);
	assert_true(ncs_joined_moving(joined, &moving));
	assert_int_equal(moving.begin_ns, SECOND + 2 * MS);
	assert_int_equal(moving.end_ns, SECOND + 12 * MS);
}

/* All ranks have begun by then, and data comes to the first rank after that. */
TEST(end_before_data_came_is_no_end)
{
	const struct ncs_joined *joined;

	for (unsigned late = 0; late < 2; late++) {
		for (int rank = 0; rank < RANKS; rank++) {
			struct ncs_part part = part_of(
				rank, NCS_FUNCTION_ALL_REDUCE, late, SECOND);

			part.at_ns[NCS_MOMENT_PROXY] = SECOND + MS;
			part.at_ns[NCS_MOMENT_KERNEL_END] = SECOND + 4 * MS;
			part.at_ns[NCS_MOMENT_LAST_END] = SECOND + 8 * MS;
			if (late && rank == 0)
				part.flags |= NCS_PART_KERNEL_END_EARLY;
			add(*state, &part);
		}
		ncs_join_advance(*state, UINT64_MAX);
		joined = ncs_join_next(*state);
		assert_int_equal(joined->end, late ? NCS_MOMENT_LAST_END :
						     NCS_MOMENT_KERNEL_END);
		assert_true(joined->end_is_trusted);
	}
}

TEST(end_that_no_source_knows_is_not_trusted)
{
	const struct ncs_joined *joined =
		with_ends(*state, SECOND + 42 * MS, SECOND + 2 * MS,
			  SECOND + 3 * MS, SECOND + 4 * MS);

	assert_false(joined->end_is_trusted);
	assert_int_equal(joined->part_times[RANKS - 1].arrival_ns,
			 SECOND + 42 * MS);
	assert_int_equal(joined->part_times[0].end_ns, SECOND + 42 * MS);
	assert_int_equal(joined->first_end_ns, SECOND + 42 * MS);
}

TEST(end_within_the_error_of_the_clocks_is_trusted)
{
	struct ncs_join *join = *state;
	const struct ncs_joined *joined;

	for (int rank = 0; rank < RANKS; rank++) {
		struct ncs_part part =
			part_of(rank, NCS_FUNCTION_ALL_REDUCE, 0, SECOND);

		part.at_ns[NCS_MOMENT_STREAM] = SECOND + rank * 1000;
		part.at_ns[NCS_MOMENT_STREAM_END] = SECOND + 6000;
		part.at_ns[NCS_MOMENT_LAST_END] = SECOND + 6000;
		part.stream_error_ns = 600;
		add(join, &part);
	}
	ncs_join_advance(join, UINT64_MAX);
	joined = ncs_join_next(join);
	assert_int_equal(joined->arrival, NCS_MOMENT_STREAM);
	assert_int_equal(joined->end, NCS_MOMENT_STREAM_END);
	assert_true(joined->end_is_trusted);
	/* No part ends before the last arrival all the same. */
	assert_int_equal(joined->part_times[0].end_ns, SECOND + 7000);
}

TEST(hostile_parts_do_no_harm)
{
	struct ncs_join *join = *state;
	struct ncs_part part = part_of(0, NCS_FUNCTION_ALL_REDUCE, 0, SECOND);

	part.rank = INT32_MAX;
	add(join, &part);
	part.rank = -5;
	add(join, &part);
	part.rank = 0;
	part.function = 255;
	add(join, &part);
	part.function = NCS_FUNCTION_SEND;
	part.flags = NCS_PART_P2P;
	part.peer = -1;
	add(join, &part);
	assert_int_equal(ncs_join_count(join)->unidentified, 4);
	ncs_join_advance(join, UINT64_MAX);
	assert_null(ncs_join_next(join));
}
