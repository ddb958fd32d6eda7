/* SPDX-License-Identifier: MIT */
/* Tests of making parts: a part has exactly what the records of its operation
 * report, and leaves unknown what they do not. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/move_clock.h"
#include "analysis/records/parts.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/size_class.h"
#include "shm/clock.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define RECORDS 4096

struct parts_fixture {
	struct ncs_header header;
	struct ncs_parts *parts;
	struct ncs_record records[RECORDS];
	size_t count;
};

static int setup(void **state)
{
	static struct parts_fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	/* A tick is 2 ns; tick 1000 is at 2 s. */
	fixture.header.clock = (struct ncs_clock){
		.kind = NCS_CLOCK_TSC,
		.base_ticks = 1000,
		.base_monotonic_ns = 2 * SECOND,
		.multiplier = UINT64_C(2) << 32,
	};
	fixture.header.identity = (struct ncs_identity){
		.known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK | NCS_KNOWN_NRANKS,
		.comm_id = 77,
		.rank = 3,
		.nranks = 8,
	};
	fixture.parts = ncs_parts_new(&fixture.header, 5);
	assert_non_null(fixture.parts);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct parts_fixture *fixture = *state;

	ncs_parts_free(fixture->parts);
	return 0;
}

static uint64_t ticks(uint64_t ns)
{
	return 1000 + (ns - 2 * SECOND) / 2;
}

static struct ncs_record *put(struct parts_fixture *fixture, unsigned event,
			      uint64_t start_ns, uint64_t duration_ns)
{
	struct ncs_record *record = &fixture->records[fixture->count++];

	assert_true(fixture->count <= RECORDS);
	*record = (struct ncs_record){
		.start = ticks(start_ns),
		.event = (uint8_t)event,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.peer = -1,
		.duration = duration_ns / 2,
	};
	return record;
}

static struct ncs_record *put_step(struct parts_fixture *fixture,
				   uint32_t operation, unsigned channel,
				   bool send, int32_t peer, uint64_t start_ns)
{
	struct ncs_record *record =
		put(fixture, NCS_EVENT_PROXY_STEP, start_ns, 100 * US);

	record->operation = operation;
	record->channel = (uint8_t)channel;
	record->flags = send ? NCS_RECORD_SEND : 0;
	record->peer = peer;
	record->value = 4096;
	record->delta[0] = 10 * US / 2;
	record->delta[1] = 40 * US / 2;
	return record;
}

static void put_operation(struct parts_fixture *fixture, uint32_t operation,
			  uint64_t number, uint64_t start_ns)
{
	struct ncs_record *record =
		put(fixture, NCS_EVENT_COLL, start_ns, 500 * US);

	record->operation = operation;
	record->number = number;
	record->value = 1 << 20;
	record->channel = 9;
	record->delta[0] = 20 * US / 2;
	record->delta[1] = 30 * US / 2;
}

static void take(struct parts_fixture *fixture, uint64_t lost,
		 uint64_t drained_ns)
{
	assert_int_equal(ncs_parts_take(fixture->parts, fixture->records,
					fixture->count, lost, drained_ns),
			 0);
	fixture->count = 0;
}

static const struct ncs_part *the_only(struct parts_fixture *fixture)
{
	const struct ncs_part *part;

	ncs_parts_settle(fixture->parts, UINT64_MAX);
	part = ncs_parts_next(fixture->parts);
	assert_non_null(part);
	return part;
}

UNIT_FIXTURE(setup, teardown)

TEST(part_has_all_that_records_report)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;
	const struct ncs_part *part;
	struct ncs_record *kernel;
	struct ncs_snapshot snapshot = {
		.gpu_clock = { .known = true, .offset_ns = 1 << 30 },
	};

	ncs_parts_learn(fixture->parts, &snapshot);
	put(fixture, NCS_EVENT_COLL_API, begin_ns - 300 * US, 10 * US);
	put(fixture, NCS_EVENT_KERNEL_LAUNCH, begin_ns - 100 * US, 50 * US);
	put_step(fixture, 4, 0, true, 2, begin_ns + 100 * US);
	put_step(fixture, 4, 1, false, 6, begin_ns + 300 * US);
	put_step(fixture, 4, 0, true, 2, begin_ns + 150 * US);
	put(fixture, NCS_EVENT_PROXY_OP, begin_ns + 60 * US, 200 * US)
		->operation = 4;
	fixture->records[fixture->count - 1].flags = NCS_RECORD_SEND;
	fixture->records[fixture->count - 1].peer = 2;
	kernel = put(fixture, NCS_EVENT_KERNEL_CH, begin_ns + 90 * US, 0);
	kernel->operation = 4;
	kernel->value = (1 << 30) + begin_ns + 80 * US;
	kernel->number = 390 * US;
	put_operation(fixture, 4, 17, begin_ns);
	take(fixture, 0, 6 * SECOND);
	assert_null(ncs_parts_next(fixture->parts));

	part = the_only(fixture);
	assert_int_equal(part->comm_id, 77);
	assert_int_equal(part->rank, 3);
	assert_int_equal(part->nranks, 8);
	assert_int_equal(part->owner, 5);
	assert_int_equal(part->operation, 4);
	assert_int_equal(part->number, 17);
	assert_int_equal(part->bytes, 1 << 20);
	assert_int_equal(part->range, 9);
	assert_int_equal(part->flags, 0);
	assert_int_equal(part->at_ns[NCS_MOMENT_CALL], begin_ns - 300 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_LAUNCH], begin_ns - 100 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_OPERATION], begin_ns);
	assert_int_equal(part->at_ns[NCS_MOMENT_ENQUEUED], begin_ns + 20 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_PROXY], begin_ns + 30 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_KERNEL], begin_ns + 80 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_DATA], begin_ns + 110 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_KERNEL_END],
			 begin_ns + 470 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_LAST_END], begin_ns + 500 * US);
	assert_int_equal(part->channels, 2);
	assert_int_equal(part->slowest.channel, 1);
	assert_false(part->slowest.send);
	assert_int_equal(part->slowest.peer, 6);
	assert_int_equal(part->slowest.bytes, 4096);
	assert_int_equal(part->slowest.wait_ns[NCS_CHANNEL_RECV_WAIT], 10 * US);
	assert_int_equal(part->wire.channel, 0);
	assert_int_equal(part->wire.wait_ns[NCS_CHANNEL_SEND_WAIT], 120 * US);
	assert_int_equal(part->wait_ns[NCS_CHANNEL_SEND_GPU_WAIT], 20 * US);
	assert_int_equal(part->wait_ns[NCS_CHANNEL_SEND_PEER_WAIT], 60 * US);
	assert_int_equal(part->wait_ns[NCS_CHANNEL_SEND_WAIT], 120 * US);
	assert_int_equal(part->wait_ns[NCS_CHANNEL_RECV_GPU_WAIT], 60 * US);
	assert_null(ncs_parts_next(fixture->parts));
}

/* Puts an operation whose kernel's channel stops after 200 us, and returns its
 * part. */
static const struct ncs_part *stop_early(struct parts_fixture *fixture)
{
	const uint64_t begin_ns = 5 * SECOND;
	struct ncs_snapshot snapshot = {
		.gpu_clock = { .known = true,
			       .told_ns = begin_ns,
			       .offset_ns = 1 << 30 },
	};
	struct ncs_record *kernel;

	ncs_parts_learn(fixture->parts, &snapshot);
	kernel = put(fixture, NCS_EVENT_KERNEL_CH, begin_ns + 90 * US, 0);
	kernel->operation = 1;
	kernel->value = (1 << 30) + begin_ns + 80 * US;
	kernel->number = 120 * US;
	put_operation(fixture, 1, 0, begin_ns);
	take(fixture, 0, 6 * SECOND);
	return the_only(fixture);
}

/* Learns of a first look that can read operations since 4 s, and the records of
 * their children since 5 s. */
static void learn_reach(struct parts_fixture *fixture, uint64_t taken_ns)
{
	const struct ncs_snapshot snapshot = {
		.taken_ns = taken_ns,
		.calls_reach = { .overwritten = 9, .from_ns = 4 * SECOND },
		.children_reach = { .overwritten = 99, .from_ns = 5 * SECOND },
	};

	assert_int_equal(ncs_parts_learn(fixture->parts, &snapshot), 0);
}

TEST(records_from_before_a_short_look_count_as_lost)
{
	struct parts_fixture *fixture = *state;
	const struct ncs_parts_count *count = ncs_parts_count(fixture->parts);

	learn_reach(fixture, 6 * SECOND);
	assert_int_equal(count->lost, 9);
	assert_int_equal(count->from_ns, 4 * SECOND);
	/* Later looks find more overwritten, which this one has read. */
	learn_reach(fixture, 13 * SECOND);
	assert_int_equal(count->lost, 9);
	take(fixture, 2, 13 * SECOND);
	assert_int_equal(count->lost, 11);
	learn_reach(fixture, 14 * SECOND);
	assert_int_equal(count->lost, 2);
	assert_int_equal(count->from_ns, 0);
}

TEST(records_from_before_a_look_that_reaches_back_do_not_count)
{
	struct parts_fixture *fixture = *state;

	learn_reach(fixture, 14 * SECOND);
	assert_int_equal(ncs_parts_count(fixture->parts)->lost, 0);
	assert_int_equal(ncs_parts_count(fixture->parts)->from_ns, 0);
}

/* Two threads end operations in turn, and the lane of one comes first. */
TEST(parts_of_two_lanes_come_in_the_order_of_their_ends)
{
	struct parts_fixture *fixture = *state;

	for (unsigned lane = 0; lane < 2; lane++) {
		for (unsigned i = lane; i < 200; i += 2)
			put_operation(fixture, 1 + i, i, i * 50 * MS);
		take(fixture, 0, 20 * SECOND);
	}
	ncs_parts_settle(fixture->parts, UINT64_MAX);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(ncs_parts_next(fixture->parts)->number, i);
	assert_null(ncs_parts_next(fixture->parts));
}

TEST(operations_from_before_their_childrens_records_lack_children)
{
	struct parts_fixture *fixture = *state;
	const struct ncs_part *part;

	learn_reach(fixture, 6 * SECOND);
	put_operation(fixture, 1, 0, 4500 * MS);
	put_operation(fixture, 2, 1, 5500 * MS);
	take(fixture, 0, 6 * SECOND);
	ncs_parts_settle(fixture->parts, UINT64_MAX);
	part = ncs_parts_next(fixture->parts);
	assert_true(part->flags & NCS_PART_LEFT_OUT);
	part = ncs_parts_next(fixture->parts);
	assert_false(part->flags & NCS_PART_LEFT_OUT);
}

/* Puts a step of the first channel that ends after the kernel at 200 us, and one
 * that ends before it, and returns the part. */
static const struct ncs_part *with_steps(struct parts_fixture *fixture,
					 bool send, unsigned other_channel)
{
	const struct ncs_part *part;

	put_step(fixture, 1, 0, send, 2, 5 * SECOND + 300 * US);
	put_step(fixture, 1, other_channel, false, 2, 5 * SECOND + 100 * US);
	part = stop_early(fixture);
	assert_int_equal(part->at_ns[NCS_MOMENT_KERNEL_END],
			 5 * SECOND + 200 * US);
	return part;
}

TEST(kernels_end_before_data_came_is_early)
{
	const struct ncs_part *part;

	/* It came after 310 us; on the other channel after 110. */
	part = with_steps(*state, false, 1);
	assert_int_equal(part->at_ns[NCS_MOMENT_KERNEL], 5 * SECOND + 80 * US);
	assert_true(part->flags & NCS_PART_KERNEL_END_EARLY);
}

TEST(kernels_end_before_data_was_sent_is_not_early)
{
	const struct ncs_part *part = with_steps(*state, true, 0);

	assert_false(part->flags & NCS_PART_KERNEL_END_EARLY);
}

/* Checks a time to a tick. */
static void assert_time(const struct ncs_clock *clock, uint64_t found_ns,
			uint64_t before_ns)
{
	uint64_t wanted_ns = ncs_clock_ns(clock, ticks(before_ns));

	assert_in_range(found_ns, wanted_ns - 2, wanted_ns + 2);
}

/* A host's clock is found again and again, while its operations go on. */
TEST(parts_follow_a_clock_that_is_moved)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;
	const struct ncs_clock_move earlier = { .offset_ns = -(int64_t)SECOND },
				    later = { .offset_ns = 7 * MS,
					      .drift = 100e-6,
					      .at_ns = 5 * SECOND };
	struct ncs_clock clock = fixture->header.clock;
	struct ncs_snapshot snapshot = {
		.gpu_clock = { .known = true, .offset_ns = 1 << 30,
			       .told_ns = 3 * SECOND },
	};
	const struct ncs_part *part;
	struct ncs_record *kernel;

	ncs_parts_learn(fixture->parts, &snapshot);
	ncs_clock_move(&clock, &earlier);
	ncs_parts_move(fixture->parts, &clock);
	put(fixture, NCS_EVENT_COLL_API, begin_ns - 300 * US, 10 * US);
	put_step(fixture, 4, 0, true, 2, begin_ns + 100 * US);
	kernel = put(fixture, NCS_EVENT_KERNEL_CH, begin_ns + 90 * US, 0);
	kernel->operation = 4;
	kernel->value = (1 << 30) + begin_ns + 80 * US;
	kernel->number = 390 * US;
	take(fixture, 0, 4 * SECOND + MS);

	clock = fixture->header.clock;
	ncs_clock_move(&clock, &later);
	ncs_parts_move(fixture->parts, &clock);
	snapshot.gpu_clock.told_ns = ncs_clock_ns(&clock, ticks(begin_ns));
	snapshot.gpu_clock.offset_ns -= 7 * MS;
	ncs_parts_learn(fixture->parts, &snapshot);
	put_operation(fixture, 4, 17, begin_ns);
	/* It is read a moment after it ended. */
	take(fixture, 0, begin_ns + 8 * MS);
	assert_null(ncs_parts_next(fixture->parts));
	ncs_parts_settle_ended(fixture->parts, begin_ns + 7 * MS + 499 * US);
	assert_null(ncs_parts_next(fixture->parts));
	ncs_parts_settle_ended(fixture->parts, begin_ns + 7 * MS + 501 * US);
	part = ncs_parts_next(fixture->parts);
	assert_non_null(part);
	assert_time(&clock, part->at_ns[NCS_MOMENT_CALL], begin_ns - 300 * US);
	assert_time(&clock, part->at_ns[NCS_MOMENT_OPERATION], begin_ns);
	assert_time(&clock, part->at_ns[NCS_MOMENT_PROXY], begin_ns + 30 * US);
	assert_time(&clock, part->at_ns[NCS_MOMENT_KERNEL], begin_ns + 80 * US);
	assert_time(&clock, part->at_ns[NCS_MOMENT_LAST_END],
		    begin_ns + 500 * US);
	assert_time(&clock, part->slowest.end_ns, begin_ns + 200 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_STREAM], 0);
	/* A span is no time: it stays as long as it was. */
	assert_int_equal(part->wait_ns[NCS_CHANNEL_SEND_GPU_WAIT], 10 * US);
}

TEST(times_from_the_stream_stand_beside_the_proxys)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;
	struct ncs_snapshot snapshot = { .launches = { .error_ns = 2500 } };
	const struct ncs_part *part;
	struct ncs_record *record;

	ncs_parts_learn(fixture->parts, &snapshot);
	record = put(fixture, NCS_EVENT_PROXY_OP, begin_ns + 60 * US, 700 * US);
	record->operation = 4;
	record->flags = NCS_RECORD_SEND;
	put_operation(fixture, 4, 17, begin_ns);
	fixture->records[fixture->count - 1].flags = NCS_RECORD_ON_STREAM;
	take(fixture, 0, 6 * SECOND);

	part = the_only(fixture);
	assert_int_equal(part->at_ns[NCS_MOMENT_STREAM], begin_ns + 30 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_STREAM_END],
			 begin_ns + 500 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_PROXY], begin_ns + 60 * US);
	assert_int_equal(part->at_ns[NCS_MOMENT_LAST_END], begin_ns + 760 * US);
	assert_int_equal(ncs_part_first_end_ns(part), begin_ns + 500 * US);
	assert_int_equal(ncs_part_error_ns(part, NCS_MOMENT_STREAM), 2500);
	assert_int_equal(ncs_part_error_ns(part, NCS_MOMENT_PROXY), 0);
}

TEST(times_from_the_proxy_are_not_taken_for_the_streams)
{
	struct parts_fixture *fixture = *state;
	const struct ncs_part *part;

	put_operation(fixture, 4, 17, 5 * SECOND);
	take(fixture, 0, 6 * SECOND);
	part = the_only(fixture);
	assert_int_equal(part->at_ns[NCS_MOMENT_STREAM], 0);
	assert_int_equal(part->at_ns[NCS_MOMENT_STREAM_END], 0);
	assert_int_equal(part->at_ns[NCS_MOMENT_PROXY], 5 * SECOND + 30 * US);
}

TEST(records_of_another_lane_may_come_later)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;
	const struct ncs_part *part;

	put_operation(fixture, 1, 0, begin_ns);
	take(fixture, 0, 6 * SECOND);
	put(fixture, NCS_EVENT_COLL_API, begin_ns - 300 * US, 10 * US);
	take(fixture, 0, 6 * SECOND + 1 * MS);
	assert_null(ncs_parts_next(fixture->parts));
	take(fixture, 0, 6 * SECOND + 20 * MS);
	part = ncs_parts_next(fixture->parts);
	assert_non_null(part);
	assert_int_equal(part->at_ns[NCS_MOMENT_CALL], begin_ns - 300 * US);
}

/* The whole ring of one lane is taken, then the ring of the other lane. */
TEST(lanes_may_be_taken_one_after_the_other)
{
	struct parts_fixture *fixture = *state;
	const struct ncs_part *part;
	size_t count = 0;

	for (unsigned i = 0; i < 1000; i++)
		put(fixture, NCS_EVENT_COLL_API, 3 * SECOND + i * MS - 100 * US,
		    0);
	take(fixture, 0, 6 * SECOND);
	for (unsigned i = 0; i < 1000; i++)
		put_operation(fixture, i + 1, i, 3 * SECOND + i * MS);
	take(fixture, 0, 6 * SECOND);
	ncs_parts_settle(fixture->parts, UINT64_MAX);
	while ((part = ncs_parts_next(fixture->parts))) {
		assert_int_equal(part->number, count);
		assert_int_equal(part->at_ns[NCS_MOMENT_CALL],
				 part->at_ns[NCS_MOMENT_OPERATION] - 100 * US);
		count++;
	}
	assert_int_equal(count, 1000);
}

TEST(lost_records_leave_times_unknown)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;
	const struct ncs_part *part;

	put(fixture, NCS_EVENT_COLL_API, begin_ns - 300 * US, 10 * US);
	take(fixture, 0, 5 * SECOND);
	put_step(fixture, 1, 0, true, 2, begin_ns + 100 * US);
	put_operation(fixture, 1, 0, begin_ns);
	take(fixture, 10, 6 * SECOND);
	part = the_only(fixture);
	assert_int_equal(part->flags, NCS_PART_LEFT_OUT);
	assert_int_equal(part->at_ns[NCS_MOMENT_CALL], 0);
	assert_int_equal(part->at_ns[NCS_MOMENT_DATA], 0);
	assert_int_equal(ncs_parts_count(fixture->parts)->lost, 10);
}

/* Only the children since then have records: its first data is not known. */
TEST(operation_that_turned_out_to_be_slow_lacks_children)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;
	const struct ncs_part *part;

	put_step(fixture, 1, 0, true, 2, begin_ns + 100 * US)->flags |=
		NCS_RECORD_AT_LEVEL(NCS_LEVEL_SLOW);
	put_operation(fixture, 1, 0, begin_ns);
	fixture->records[fixture->count - 1].flags |=
		NCS_RECORD_AT_LEVEL(NCS_LEVEL_SLOW);
	take(fixture, 0, 6 * SECOND);
	part = the_only(fixture);
	assert_int_equal(part->flags, NCS_PART_LEFT_OUT);
	assert_int_equal(part->at_ns[NCS_MOMENT_DATA], 0);
	assert_int_equal(part->last_data_ns, 0);
	assert_int_equal(part->link_count, 0);
}

/* Puts an operation that begins at `begin_ns` and sends to rank 2, which it
 * receives from, too. Its first data to send is ready after 400 us. */
static void put_both_ways(struct parts_fixture *fixture, uint64_t begin_ns)
{
	struct ncs_record *record;

	for (unsigned i = 0; i < 2; i++) {
		record = put(fixture, NCS_EVENT_PROXY_OP, begin_ns, US);
		record->operation = 1;
		record->peer = 2;
		record->flags = i ? NCS_RECORD_SEND : 0;
	}
	put_step(fixture, 1, 0, true, 2, begin_ns + 100 * US)->delta[0] =
		300 * US / 2;
	put_operation(fixture, 1, 0, begin_ns);
}

TEST(data_time_is_a_rank_s_own_unless_data_came_before)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;

	put_both_ways(fixture, begin_ns);
	/* On another channel, and too late. */
	put_step(fixture, 1, 1, false, 2, begin_ns + 100 * US);
	put_step(fixture, 1, 0, false, 2, begin_ns + 390 * US)->delta[0] =
		20 * US / 2;
	take(fixture, 0, 6 * SECOND);
	assert_int_equal(the_only(fixture)->at_ns[NCS_MOMENT_DATA],
			 begin_ns + 400 * US);
}

TEST(data_time_lacks_the_wait_for_data_that_came_before)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;
	const struct ncs_part *part;

	put_both_ways(fixture, begin_ns);
	put_step(fixture, 1, 0, false, 1, begin_ns + 20 * US)->delta[0] =
		50 * US / 2;
	/* Its buffer was there after 50 us. */
	put_step(fixture, 1, 0, false, 2, begin_ns + 50 * US)->delta[0] =
		300 * US / 2;
	put_step(fixture, 1, 0, false, 2, begin_ns + 351 * US)->delta[0] =
		1 * US;
	take(fixture, 0, 6 * SECOND);
	part = the_only(fixture);
	assert_int_equal(part->at_ns[NCS_MOMENT_DATA], begin_ns + 100 * US);
	assert_true(part->flags & NCS_PART_DATA_COMPUTED);
}

/* put_step() says after 40 us that the network has the data of a send, and after
 * 10 us that data came. */
TEST(links_tell_when_data_went_and_came)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;
	const struct ncs_part_link *send, *receive;
	const struct ncs_part *part;
	struct ncs_part_link far;

	for (unsigned channel = 0; channel < 2; channel++)
		for (unsigned step = 0; step < 3; step++) {
			uint64_t at_ns = begin_ns + (channel + step) * 50 * US;

			put_step(fixture, 1, channel, true, 2, at_ns);
			put_step(fixture, 1, channel, false, 3, at_ns);
		}
	put_step(fixture, 1, 0, true, 4, begin_ns)->delta[1] = 0;
	put_operation(fixture, 1, 0, begin_ns);
	take(fixture, 0, 6 * SECOND);
	part = the_only(fixture);
	/* One step does not tell. */
	assert_int_equal(part->last_data_ns, 0);
	assert_int_equal(part->link_count, 3);
	send = ncs_part_link_of(part, 2, true);
	receive = ncs_part_link_of(part, 3, false);
	assert_null(ncs_part_link_of(part, 2, false));
	assert_int_equal(send->steps, 6);
	assert_int_equal(send->channels, 2);
	assert_int_equal(send->mean_ns, begin_ns + 75 * US + 40 * US);
	assert_int_equal(receive->mean_ns, begin_ns + 75 * US + 10 * US);
	assert_int_equal(ncs_part_link_of(part, 4, true)->mean_ns, 0);

	/* The other end has them 5 us later, or when it has a buffer. */
	far = *receive;
	far.mean_ns = send->mean_ns + 5 * US;
	assert_true(ncs_link_message_ns(send, &far) == 5e3);
	far.wait_ns = 3e3f;
	assert_true(ncs_link_message_ns(send, &far) == 3e3);
	far.steps--;
	assert_true(ncs_link_message_ns(send, &far) == 0);
}

TEST(last_data_is_the_latest_of_all_channels)
{
	struct parts_fixture *fixture = *state;
	const uint64_t begin_ns = 5 * SECOND;

	for (unsigned step = 0; step < 3; step++) {
		put_step(fixture, 1, 0, true, 2, begin_ns + step * 50 * US);
		put_step(fixture, 1, 1, false, 3, begin_ns + step * 70 * US);
	}
	put_operation(fixture, 1, 0, begin_ns);
	take(fixture, 0, 6 * SECOND);
	assert_int_equal(the_only(fixture)->last_data_ns,
			 begin_ns + 140 * US + 10 * US);
}

TEST(algorithm_is_known_if_a_size_has_only_one)
{
	struct parts_fixture *fixture = *state;
	struct ncs_class_view classes[] = {
		{ .function = NCS_FUNCTION_ALL_REDUCE,
		  .size_class = ncs_size_class(1 << 20),
		  .algorithm = 1,
		  .protocol = 2,
		  .operations = 5 },
		{ .function = NCS_FUNCTION_ALL_REDUCE,
		  .size_class = ncs_size_class(1 << 20),
		  .algorithm = 2,
		  .protocol = 2,
		  .operations = 1 },
	};
	struct ncs_snapshot snapshot = { .classes = classes, .class_count = 1 };
	const struct ncs_part *part;

	ncs_parts_learn(fixture->parts, &snapshot);
	put_operation(fixture, 1, 0, 5 * SECOND);
	take(fixture, 0, 6 * SECOND);
	part = the_only(fixture);
	assert_int_equal(part->algorithm, 1);
	assert_int_equal(part->protocol, 2);
	snapshot.class_count = 2;
	ncs_parts_learn(fixture->parts, &snapshot);
	put_operation(fixture, 2, 1, 5 * SECOND);
	take(fixture, 0, 7 * SECOND);
	assert_int_equal(the_only(fixture)->algorithm, NCS_CLASS_OTHER);
}

/* Memory is bounded whatever the numbers are, and operations that end are given
 * out. */
TEST(operations_that_never_end_make_room)
{
	struct parts_fixture *fixture = *state;
	size_t count = 0;

	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t i = 1; i <= 1000; i++)
			put_step(fixture, round * 1000 + i, 0, true, 1,
				 3 * SECOND);
		put_operation(fixture, round * 1000 + 500, round, 3 * SECOND);
		take(fixture, 0, 4 * SECOND + round * SECOND);
		while (ncs_parts_next(fixture->parts))
			count++;
	}
	ncs_parts_settle(fixture->parts, UINT64_MAX);
	while (ncs_parts_next(fixture->parts))
		count++;
	assert_int_equal(count, 40);
	assert_true(ncs_parts_count(fixture->parts)->dropped > 30000);
}

/* Reads what a ring still has of operations from `first` on: the first one's own
 * record was overwritten. */
static void take_what_is_left(struct parts_fixture *fixture, uint32_t first,
			      uint64_t at_ns)
{
	put_step(fixture, first, 0, true, 1, at_ns - MS);
	for (uint32_t i = 1; i <= 25; i++) {
		put_step(fixture, first + i, 0, true, 1, at_ns - MS);
		put_operation(fixture, first + i, first + i, at_ns - MS);
	}
	take(fixture, 100000, at_ns);
	ncs_parts_settle_ended(fixture->parts, at_ns - 10 * MS);
}

/* Reads so many rings that were overwritten in between, each after a different
 * number of operations. Returns the number of parts. */
static size_t take_rings(struct parts_fixture *fixture, uint32_t from,
			 uint32_t rings)
{
	size_t count = 0;

	for (uint32_t i = from; i < from + rings; i++) {
		take_what_is_left(fixture, 1 + 31337 * i,
				  (4 + i) * (uint64_t)SECOND);
		while (ncs_parts_next(fixture->parts))
			count++;
	}
	return count;
}

static size_t bytes_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* A viewer that reads a busy ring twice a second for half an hour. */
TEST(operations_whose_records_were_lost_take_no_memory)
{
	struct parts_fixture *fixture = *state;
	size_t parts = take_rings(fixture, 0, 100), bytes = bytes_in_use();

	parts += take_rings(fixture, 100, 3500);
	assert_true(bytes_in_use() <= bytes + 4096);
	assert_int_equal(parts, 25 * 3599);
	assert_true(ncs_parts_count(fixture->parts)->dropped >= 3598);
}

TEST(operation_in_progress_is_kept_while_others_are_lost)
{
	struct parts_fixture *fixture = *state;
	const struct ncs_part *part;

	put_step(fixture, 7, 0, true, 1, 3 * SECOND);
	take(fixture, 0, 4 * SECOND);
	for (uint32_t i = 1; i <= 20; i++) {
		take_what_is_left(fixture, i * 200, (4 + i) * SECOND);
		while (ncs_parts_next(fixture->parts))
			;
	}
	put_operation(fixture, 7, 7, 25 * SECOND);
	take(fixture, 0, 26 * SECOND);
	ncs_parts_settle(fixture->parts, UINT64_MAX);
	while ((part = ncs_parts_next(fixture->parts)) && part->operation != 7)
		;
	assert_non_null(part);
	assert_int_equal(part->channels, 1);
}
