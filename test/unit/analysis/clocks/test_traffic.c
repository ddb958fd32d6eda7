/* SPDX-License-Identifier: MIT */
/* Tests of facts from collectives: the latest beginning and the earliest end
 * count, and what is not certain does not. */
#include <stdlib.h>

#include "analysis/clocks/traffic.h"
#include "ncclstat/abi_clock.h"
#include "ncclstat/names.h"
#include "ncclstat/size_class.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)
#define START_NS (100 * S)
#define BYTES 4096

struct traffic_fixture {
	struct ncs_traffic traffic;
	struct ncs_traffic_rank takers[4];
	struct ncs_traffic_facts ranks[4];
	struct ncs_aligned aligned[2];
	struct ncs_alignment_quality quality;
};

/* Ranks 0 and 1 on host 0, ranks 2 and 3 on host 1; all clocks are one. */
static int setup(void **state)
{
	static const struct ncs_clock plain = { .kind = NCS_CLOCK_MONOTONIC,
						.multiplier = UINT64_C(1)
							      << 32 };
	struct traffic_fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	if (ncs_traffic_init(&fixture->traffic, 2, 0, 0) != 0)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		fixture->takers[i] = (struct ncs_traffic_rank){
			.operations = ncs_rank_operations_new(0),
			.traffics = { &fixture->traffic },
			.owners = { i },
			.count = 1,
		};
		fixture->ranks[i].host = i / 2;
		fixture->ranks[i].clock = plain;
		fixture->ranks[i].identity.known = NCS_KNOWN_COMM_ID;
		fixture->ranks[i].identity.comm_id = 7;
		if (ncs_traffic_expect(&fixture->traffic, i,
				       &fixture->ranks[i]) != 0)
			return -1;
	}
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct traffic_fixture *fixture = *state;

	for (size_t i = 0; i < 4; i++)
		ncs_rank_operations_free(fixture->takers[i].operations);
	ncs_traffic_release(&fixture->traffic);
	free(fixture);
	return 0;
}

static struct ncs_record collective(uint64_t number, uint64_t begin_ns,
				    uint64_t end_ns)
{
	return (struct ncs_record){
		.start = START_NS + number * 100 * MS + begin_ns,
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = (uint32_t)number + 1,
		.number = number,
		.value = BYTES,
		.duration = end_ns - begin_ns,
		.delta = { 0, 1 * US }, /* its first proxy operation */
	};
}

static void take(struct traffic_fixture *fixture, size_t rank,
		 struct ncs_record record)
{
	const struct ncs_known_operation *known;

	assert_int_equal(
		ncs_traffic_take(&fixture->takers[rank], &record, &known), 0);
}

static void solve(struct traffic_fixture *fixture)
{
	assert_int_equal(ncs_traffic_flush(&fixture->traffic), 0);
	assert_int_equal(ncs_alignment_solve(fixture->traffic.alignment, 0,
					     START_NS, START_NS + 10 * S,
					     fixture->aligned,
					     &fixture->quality),
			 0);
}

UNIT_FIXTURE(setup, teardown)

/* A rank of each host is 100 us before the other, and ends 100 us after it. */
TEST(latest_beginning_and_earliest_end_count)
{
	struct traffic_fixture *fixture = *state;

	for (uint64_t i = 0; i < 100; i++) {
		take(fixture, 0, collective(i, 100 * US, 160 * US));
		take(fixture, 1, collective(i, 0, 260 * US));
		take(fixture, 2, collective(i, 0, 160 * US));
		take(fixture, 3, collective(i, 100 * US, 260 * US));
	}
	solve(fixture);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_TRAFFIC);
	assert_true(llabs(fixture->aligned[1].offset_ns) < 5 * (int)US);
	assert_true(fixture->aligned[1].error_ns < 65 * US);
	assert_int_equal(fixture->traffic.collectives, 100);
}

TEST(single_host_gives_no_fact)
{
	struct traffic_fixture *fixture = *state;

	for (uint64_t i = 0; i < 10; i++) {
		take(fixture, 0, collective(i, 0, 50 * US));
		take(fixture, 1, collective(i, 0, 50 * US));
	}
	solve(fixture);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
	assert_int_equal(fixture->traffic.collectives, 0);
}

/* Broadcasts end at the root before others have arrived. */
TEST(broadcasts_give_no_fact)
{
	struct traffic_fixture *fixture = *state;
	struct ncs_record record;

	for (uint64_t i = 0; i < 10; i++)
		for (size_t k = 0; k < 4; k++) {
			record = collective(i, 0, 50 * US);
			record.function = NCS_FUNCTION_BROADCAST;
			take(fixture, k, record);
		}
	solve(fixture);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
}

/* An operation that was reported as ended may be reopened. */
TEST(end_that_was_withdrawn_is_not_used)
{
	struct traffic_fixture *fixture = *state;

	for (uint64_t i = 0; i < 10; i++) {
		struct ncs_record again = collective(i, 0, 200 * US);

		again.flags = NCS_RECORD_AGAIN;
		take(fixture, 0, collective(i, 100 * US, 160 * US));
		take(fixture, 2, collective(i, 0, 20 * US));
		take(fixture, 2, again);
	}
	solve(fixture);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
	assert_int_equal(fixture->quality.one_way, 1);
}

/* Gives ranks of the same job to the traffic: without proxy operations, or on
 * streams. Those of host 1 arrive 40 ms late. Those of host 0 end 20 us after
 * they arrived, if `is_early`; else all end together. */
static void take_late(struct traffic_fixture *fixture, bool is_early,
		      bool on_stream)
{
	for (uint64_t i = 0; i < 100; i++)
		for (size_t k = 0; k < 4; k++) {
			uint64_t begin_ns = k < 2 ? 0 : 40 * MS;
			uint64_t end_ns = is_early && k < 2 ? 20 * US :
							      40 * MS + 60 * US;
			struct ncs_record record =
				collective(i, begin_ns, end_ns);

			record.delta[1] = on_stream ? 1 : 0;
			if (on_stream)
				record.flags = NCS_RECORD_ON_STREAM;
			take(fixture, k, record);
		}
	solve(fixture);
}

static void announce(struct traffic_fixture *fixture)
{
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ncs_traffic_expect(&fixture->traffic, i,
						    &fixture->ranks[i]),
				 0);
}

/* With TREE, a kernel's channels stop before the last rank has arrived. */
TEST(stop_of_a_kernel_channel_is_no_end)
{
	struct traffic_fixture *fixture = *state;

	take_late(fixture, true, false);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
}

/* Learns of two classes of AllReduce. */
static void learn(struct traffic_fixture *fixture, unsigned algorithm,
		  unsigned other_size, unsigned other)
{
	struct ncs_class_view views[] = {
		{ .function = NCS_FUNCTION_ALL_REDUCE,
		  .size_class = ncs_size_class(BYTES),
		  .algorithm = algorithm,
		  .operations = 100 },
		{ .function = NCS_FUNCTION_ALL_REDUCE,
		  .size_class = other_size,
		  .algorithm = other,
		  .operations = 1 },
	};
	struct ncs_snapshot snapshot = { .classes = views, .class_count = 2 };

	for (size_t i = 0; i < 4; i++) {
		snapshot.identity = fixture->ranks[i].identity;
		ncs_traffic_learn(&fixture->ranks[i], &snapshot);
	}
	announce(fixture);
}

TEST(stop_of_a_kernel_channel_ends_a_ring)
{
	struct traffic_fixture *fixture = *state;

	learn(fixture, NCS_ALGORITHM_RING, ncs_size_class(2 * BYTES),
	      NCS_ALGORITHM_TREE);
	take_late(fixture, false, false);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_TRAFFIC);
}

TEST(ring_that_may_be_a_tree_is_not_used)
{
	struct traffic_fixture *fixture = *state;

	learn(fixture, NCS_ALGORITHM_RING, ncs_size_class(BYTES),
	      NCS_ALGORITHM_TREE);
	take_late(fixture, true, false);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
}

TEST(ring_among_operations_of_no_known_size_is_not_used)
{
	struct traffic_fixture *fixture = *state;

	learn(fixture, NCS_ALGORITHM_RING, NCS_CLASS_OTHER, NCS_CLASS_OTHER);
	take_late(fixture, true, false);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
}

/* All ranks arrive and end within 60 us; times from the stream may be wrong by
 * 200 us. */
TEST(error_of_the_stream_widens_the_bound)
{
	struct traffic_fixture *fixture = *state;
	uint64_t error_ns = 200 * US;

	for (size_t i = 0; i < 4; i++)
		fixture->ranks[i].stream_error_ns = error_ns;
	announce(fixture);
	for (uint64_t i = 0; i < 100; i++)
		for (size_t k = 0; k < 4; k++) {
			struct ncs_record record = collective(i, 0, 60 * US);

			record.delta[1] = 1;
			record.flags = NCS_RECORD_ON_STREAM;
			take(fixture, k, record);
		}
	solve(fixture);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_TRAFFIC);
	assert_true(fixture->aligned[1].error_ns >= 2 * error_ns + 59 * US);
	assert_true(fixture->aligned[1].error_ns <= 2 * error_ns + 75 * US);
}

TEST(stream_of_unknown_error_gives_no_fact)
{
	struct traffic_fixture *fixture = *state;

	take_late(fixture, false, true);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
}

/* Replays of a graph repeat a number: it is not known which one is meant. */
TEST(repeated_numbers_give_no_fact)
{
	struct traffic_fixture *fixture = *state;

	for (uint64_t i = 0; i < 10; i++)
		for (size_t k = 0; k < 4; k++) {
			struct ncs_record record = collective(i, 0, 50 * US);

			record.number = 3;
			take(fixture, k, record);
		}
	solve(fixture);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
}
