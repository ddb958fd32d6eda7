/* SPDX-License-Identifier: MIT */
/* Tests of facts from collectives: the latest beginning and the earliest end
 * count, and what is not certain does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/clocks/barriers.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)
#define START_NS (100 * S)

struct barrier_fixture {
	struct ncs_alignment *alignment;
	struct ncs_barriers *barriers;
	struct ncs_rank_operations *operations[4];
	struct ncs_aligned aligned[2];
	struct ncs_alignment_quality quality;
};

/* Ranks 0 and 1 on host 0, ranks 2 and 3 on host 1; all clocks are one. */
static int setup(void **state)
{
	static const struct ncs_clock plain = { .kind = NCS_CLOCK_MONOTONIC,
						.multiplier = UINT64_C(1)
							      << 32 };
	struct ncs_identity identity = { .known = NCS_KNOWN_COMM_ID,
					 .comm_id = 7 };
	struct barrier_fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->alignment = ncs_alignment_new(2);
	fixture->barriers = ncs_barriers_new(fixture->alignment, 2, 0);
	for (size_t i = 0; i < 4; i++)
		fixture->operations[i] = ncs_rank_operations_new(0);
	for (size_t i = 0; i < 4; i++)
		if (ncs_barriers_expect(fixture->barriers, i, i / 2, &identity,
					&plain) != 0)
			return -1;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct barrier_fixture *fixture = *state;

	ncs_barriers_free(fixture->barriers);
	for (size_t i = 0; i < 4; i++)
		ncs_rank_operations_free(fixture->operations[i]);
	ncs_alignment_free(fixture->alignment);
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
		.duration = end_ns - begin_ns,
	};
}

static void take(struct barrier_fixture *fixture, size_t rank,
		 struct ncs_record record)
{
	const struct ncs_child_visitor visitor = { 0 }; /* of no children */
	const struct ncs_known_operation *known;

	assert_int_equal(ncs_rank_operations_take(fixture->operations[rank],
						  &record, &visitor, &known),
			 0);
	assert_int_equal(ncs_barriers_take(fixture->barriers, rank, &record,
					   known),
			 0);
}

static void solve(struct barrier_fixture *fixture)
{
	assert_int_equal(ncs_barriers_flush(fixture->barriers), 0);
	assert_int_equal(ncs_alignment_solve(fixture->alignment, 0, START_NS,
					     START_NS + 10 * S,
					     fixture->aligned,
					     &fixture->quality),
			 0);
}

/* A rank of each host is 100 us before the other, and ends 100 us after it. */
static void latest_beginning_and_earliest_end_count(void **state)
{
	struct barrier_fixture *fixture = *state;

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
	assert_int_equal(ncs_barriers_count(fixture->barriers), 100);
}

static void single_host_gives_no_fact(void **state)
{
	struct barrier_fixture *fixture = *state;

	for (uint64_t i = 0; i < 10; i++) {
		take(fixture, 0, collective(i, 0, 50 * US));
		take(fixture, 1, collective(i, 0, 50 * US));
	}
	solve(fixture);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
	assert_int_equal(ncs_barriers_count(fixture->barriers), 0);
}

/* Broadcasts end at the root before others have arrived. */
static void broadcasts_give_no_fact(void **state)
{
	struct barrier_fixture *fixture = *state;
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
static void end_that_was_withdrawn_is_not_used(void **state)
{
	struct barrier_fixture *fixture = *state;

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

/* Replays of a graph repeat a number: it is not known which one is meant. */
static void repeated_numbers_give_no_fact(void **state)
{
	struct barrier_fixture *fixture = *state;

	for (uint64_t i = 0; i < 10; i++)
		for (size_t k = 0; k < 4; k++) {
			struct ncs_record record = collective(i, 0, 50 * US);

			record.number = 3;
			take(fixture, k, record);
		}
	solve(fixture);
	assert_int_equal(fixture->aligned[1].by, NCS_ALIGNED_BY_NOTHING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(latest_beginning_and_earliest_end_count),
		TEST(single_host_gives_no_fact),
		TEST(broadcasts_give_no_fact),
		TEST(end_that_was_withdrawn_is_not_used),
		TEST(repeated_numbers_give_no_fact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
