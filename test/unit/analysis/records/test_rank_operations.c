/* SPDX-License-Identifier: MIT */
/* Tests of finding the operations of children: each child is handed out once,
 * with its operation where that is known, and with its place. */
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/records/operation_record.h"
#include "analysis/records/rank_operations.h"
#include "test/unit/support/unit.h"

#define FOUND 64

struct found_child {
	uint32_t of; /* operation in its record */
	uint64_t step;
	uint64_t place;
	bool is_known;
	struct ncs_known_operation known;
};

struct operations_fixture {
	struct ncs_rank_operations *operations;
	struct found_child found[FOUND];
	size_t count;
};

static int note(void *context, const struct ncs_child *child)
{
	struct operations_fixture *fixture = context;

	if (fixture->count < FOUND) {
		struct found_child *found = &fixture->found[fixture->count];

		found->of = child->record->operation;
		found->step = child->record->number;
		found->place = child->place;
		found->is_known = child->operation;
		if (child->operation)
			found->known = *child->operation;
	}
	fixture->count++;
	return 0;
}

static int setup_of(void **state, size_t children_max)
{
	struct operations_fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->operations = ncs_rank_operations_new(children_max);
	*state = fixture;
	return fixture->operations ? 0 : -1;
}

static int setup(void **state)
{
	return setup_of(state, 0);
}

static int setup_small(void **state)
{
	return setup_of(state, 100);
}

static int teardown(void **state)
{
	struct operations_fixture *fixture = *state;

	ncs_rank_operations_free(fixture->operations);
	free(fixture);
	return 0;
}

static struct ncs_record step(unsigned function, uint32_t operation,
			      uint64_t number)
{
	return (struct ncs_record){
		.event = NCS_EVENT_PROXY_STEP,
		.flags = NCS_RECORD_SEND,
		.channel = 3,
		.function = (uint8_t)function,
		.operation = operation,
		.peer = 1,
		.number = number,
	};
}

static struct ncs_record own(unsigned event, unsigned function,
			     uint32_t operation, uint64_t number)
{
	return (struct ncs_record){
		.event = (uint8_t)event,
		.function = (uint8_t)function,
		.operation = operation,
		.number = number,
	};
}

/* Returns what the record of an operation says, if it is one. */
static const struct ncs_known_operation *
take(struct operations_fixture *fixture, struct ncs_record record)
{
	const struct ncs_child_visitor visitor = { note, fixture };
	const struct ncs_known_operation *known = NULL;

	if (ncs_record_is_operation(&record))
		assert_int_equal(ncs_rank_operations_take(fixture->operations,
							  &record, &visitor,
							  &known),
				 0);
	else
		assert_int_equal(
			ncs_rank_operations_take_child(fixture->operations,
						       &record, &visitor),
			0);
	return known;
}

static void flush(struct operations_fixture *fixture)
{
	const struct ncs_child_visitor visitor = { note, fixture };

	assert_int_equal(
		ncs_rank_operations_flush(fixture->operations, &visitor), 0);
}

UNIT_FIXTURE(setup, teardown)

TEST(children_wait_for_their_operation)
{
	struct operations_fixture *fixture = *state;

	for (uint64_t i = 0; i < 3; i++) {
		take(fixture, step(NCS_FUNCTION_ALL_REDUCE, 7, i));
		take(fixture, step(NCS_FUNCTION_ALL_REDUCE, 8, i));
	}
	assert_int_equal(fixture->count, 0);
	take(fixture, own(NCS_EVENT_COLL, NCS_FUNCTION_ALL_REDUCE, 8, 42));
	take(fixture, step(NCS_FUNCTION_ALL_REDUCE, 8, 3));
	assert_int_equal(fixture->count, 4);
	for (uint64_t i = 0; i < 4; i++) {
		const struct found_child *found = &fixture->found[i];

		assert_true(found->is_known);
		assert_int_equal(found->step, i);
		assert_int_equal(found->place, 0);
		assert_int_equal(found->known.operation, 8);
		assert_int_equal(found->known.number, 42);
		assert_int_equal(found->known.function,
				 NCS_FUNCTION_ALL_REDUCE);
	}
	flush(fixture);
	assert_int_equal(fixture->count, 7);
	assert_false(fixture->found[4].is_known);
	assert_int_equal(fixture->found[4].of, 7);
}

/* Replays of a graph report its numbers again; an operation that is reported
 * again is none. */
TEST(repeats_of_a_number_are_counted)
{
	struct operations_fixture *fixture = *state;
	uint32_t operation = 0;

	for (uint32_t repeat = 0; repeat < 3; repeat++)
		for (uint64_t number = 0; number < 200; number++) {
			struct ncs_record record = own(NCS_EVENT_COLL,
						       NCS_FUNCTION_ALL_REDUCE,
						       ++operation, number);

			assert_int_equal(take(fixture, record)->repeat, repeat);
			record.flags = NCS_RECORD_AGAIN;
			assert_int_equal(take(fixture, record)->repeat, repeat);
		}
	assert_int_equal(take(fixture,
			      own(NCS_EVENT_COLL, NCS_FUNCTION_BROADCAST,
				  ++operation, 5))
				 ->repeat,
			 0);
}

/* Transfers have the places in which they began, not those in which they
 * ended. */
TEST(transfers_have_their_places)
{
	struct operations_fixture *fixture = *state;
	struct ncs_record other = step(NCS_FUNCTION_SEND, 3, 0);

	other.channel = 4;
	take(fixture, step(NCS_FUNCTION_SEND, 1, 0));
	take(fixture, step(NCS_FUNCTION_SEND, 2, 0));
	take(fixture, other);
	for (uint32_t i = 3; i > 0; i--)
		take(fixture, own(NCS_EVENT_P2P, NCS_FUNCTION_SEND, i,
				  NCS_NO_SEQUENCE_NUMBER));
	assert_int_equal(fixture->count, 3);
	assert_int_equal(fixture->found[0].place, 1); /* on its own channel */
	assert_int_equal(fixture->found[1].place, 2);
	assert_int_equal(fixture->found[2].place, 1);
	ncs_rank_operations_lose(fixture->operations);
	take(fixture, step(NCS_FUNCTION_SEND, 4, 0));
	take(fixture,
	     own(NCS_EVENT_P2P, NCS_FUNCTION_SEND, 4, NCS_NO_SEQUENCE_NUMBER));
	assert_int_equal(fixture->found[3].place, 0);
}

/* Sampling leaves out the children of some transfers. */
TEST(places_are_unknown_once_some_are_left_out)
{
	struct operations_fixture *fixture = *state;
	struct ncs_record left_out = own(NCS_EVENT_P2P, NCS_FUNCTION_SEND, 1,
					 NCS_NO_SEQUENCE_NUMBER);

	left_out.flags = NCS_RECORD_LEFT_OUT;
	take(fixture, left_out);
	take(fixture, step(NCS_FUNCTION_SEND, 2, 0));
	take(fixture,
	     own(NCS_EVENT_P2P, NCS_FUNCTION_SEND, 2, NCS_NO_SEQUENCE_NUMBER));
	assert_true(fixture->found[0].is_known);
	assert_int_equal(fixture->found[0].place, 0);
	assert_false(ncs_rank_operations_are_whole(fixture->operations));
}

TEST(first_records_of_a_lane_make_it_whole)
{
	struct operations_fixture *fixture = *state;
	struct ncs_record record = { .position = 0 };

	ncs_rank_operations_begin(fixture->operations, 1, &record);
	record.position = 17;
	ncs_rank_operations_begin(fixture->operations, 1, &record);
	assert_true(ncs_rank_operations_are_whole(fixture->operations));
	ncs_rank_operations_begin(fixture->operations, 2, &record);
	assert_false(ncs_rank_operations_are_whole(fixture->operations));
}

/* If there are too many children, those of the oldest operation are handed out
 * without it. */
TEST_WITH(number_of_waiting_children_is_bounded, setup_small, teardown)
{
	struct operations_fixture *fixture = *state;

	for (uint32_t i = 0; i < 104; i++)
		take(fixture, step(NCS_FUNCTION_ALL_REDUCE, 1 + i / 4, i % 4));
	assert_int_equal(fixture->count, 4);
	for (uint64_t i = 0; i < 4; i++) {
		assert_false(fixture->found[i].is_known);
		assert_int_equal(fixture->found[i].of, 1);
		assert_int_equal(fixture->found[i].step, i);
	}
	flush(fixture);
	assert_int_equal(fixture->count, 104);
}

TEST(child_of_no_operation_does_not_wait)
{
	struct operations_fixture *fixture = *state;

	take(fixture, step(NCS_FUNCTION_ALL_REDUCE, 0, 5));
	assert_int_equal(fixture->count, 1);
	assert_false(fixture->found[0].is_known);
}
