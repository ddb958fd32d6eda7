/* SPDX-License-Identifier: MIT */
/* Tests of matching messages: both ends of a message are found in whatever
 * order their records come, and steps without another end are given up. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/records/messages.h"

#include "ncclstat/abi_clock.h"
#include "test/unit/support/unit.h"

#define COMM UINT64_C(0xc0ffee)
#define FOUND 64

#define RANKS 4

struct messages_fixture {
	struct ncs_messages *messages;
	struct ncs_rank_operations *operations[RANKS];
	size_t owner; /* whose record is taken */
	struct ncs_message found[FOUND];
	struct ncs_record sends[FOUND], receives[FOUND]; /* theirs */
	size_t count;
};

static void note(void *context, const struct ncs_message *message)
{
	struct messages_fixture *fixture = context;

	if (fixture->count < FOUND) {
		struct ncs_message *found = &fixture->found[fixture->count];

		*found = *message;
		found->send = &fixture->sends[fixture->count];
		found->receive = &fixture->receives[fixture->count];
		fixture->sends[fixture->count] = *message->send;
		fixture->receives[fixture->count] = *message->receive;
	}
	fixture->count++;
}

static const struct ncs_clock plain = { .kind = NCS_CLOCK_MONOTONIC,
					.multiplier = UINT64_C(1) << 32 };

static void expect_rank(struct messages_fixture *fixture, size_t owner,
			int32_t rank)
{
	struct ncs_identity identity = {
		.known = NCS_KNOWN_COMM_ID | NCS_KNOWN_RANK,
		.comm_id = COMM,
		.rank = rank,
	};

	assert_int_equal(ncs_messages_expect(fixture->messages, owner,
					     &identity, &plain),
			 0);
}

static int setup_of(void **state, size_t steps_max)
{
	struct messages_fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->messages = ncs_messages_new(steps_max, note, fixture);
	for (size_t i = 0; i < RANKS; i++)
		fixture->operations[i] = ncs_rank_operations_new(0);
	*state = fixture;
	return fixture->messages ? 0 : -1;
}

static int setup(void **state)
{
	return setup_of(state, 1024);
}

static int setup_small(void **state)
{
	return setup_of(state, 4);
}

static int teardown(void **state)
{
	struct messages_fixture *fixture = *state;

	ncs_messages_free(fixture->messages);
	for (size_t i = 0; i < RANKS; i++)
		ncs_rank_operations_free(fixture->operations[i]);
	free(fixture);
	return 0;
}

static struct ncs_record step(unsigned function, uint32_t operation, bool send,
			      int32_t peer, uint64_t number)
{
	return (struct ncs_record){
		.start = 1000 * number + 100,
		.event = NCS_EVENT_PROXY_STEP,
		.flags = send ? NCS_RECORD_SEND : 0,
		.channel = 3,
		.function = (uint8_t)function,
		.operation = operation,
		.peer = peer,
		.value = 4096,
		.number = number,
		.duration = 90,
		.delta = { 10, 40 },
	};
}

static struct ncs_record collective(uint32_t operation, uint64_t number)
{
	return (struct ncs_record){
		.start = 1,
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = operation,
		.number = number,
	};
}

static struct ncs_record transfer(unsigned function, uint32_t operation,
				  int32_t peer)
{
	return (struct ncs_record){
		.start = 1,
		.event = NCS_EVENT_P2P,
		.function = (uint8_t)function,
		.operation = operation,
		.peer = peer,
		.number = NCS_NO_SEQUENCE_NUMBER,
	};
}

static int take_child(void *context, const struct ncs_child *child)
{
	struct messages_fixture *fixture = context;

	ncs_messages_take(fixture->messages, fixture->owner,
			  fixture->operations[fixture->owner], child);
	return 0;
}

static void take(struct messages_fixture *fixture, size_t owner,
		 struct ncs_record record)
{
	const struct ncs_child_visitor visitor = { take_child, fixture };
	struct ncs_rank_operations *operations = fixture->operations[owner];
	const struct ncs_known_operation *known;

	fixture->owner = owner;
	ncs_rank_operations_begin(operations, 1, &record);
	assert_int_equal(record.event == NCS_EVENT_PROXY_STEP ?
				 ncs_rank_operations_take_child(
					 operations, &record, &visitor) :
				 ncs_rank_operations_take(operations, &record,
							  &visitor, &known),
			 0);
}

static void flush(struct messages_fixture *fixture)
{
	const struct ncs_child_visitor visitor = { take_child, fixture };

	for (size_t i = 0; i < RANKS; i++) {
		fixture->owner = i;
		assert_int_equal(ncs_rank_operations_flush(
					 fixture->operations[i], &visitor),
				 0);
	}
	ncs_messages_flush(fixture->messages);
}

UNIT_FIXTURE(setup, teardown)

/* Each rank counts its operations by itself. */
TEST(both_ends_of_a_step_are_found)
{
	struct messages_fixture *fixture = *state;
	const struct ncs_message *message = &fixture->found[0];

	expect_rank(fixture, 0, 5);
	expect_rank(fixture, 1, 6);
	take(fixture, 0, step(NCS_FUNCTION_ALL_REDUCE, 70, true, 6, 2));
	take(fixture, 1, step(NCS_FUNCTION_ALL_REDUCE, 80, false, 5, 2));
	take(fixture, 0, collective(70, 33));
	assert_int_equal(fixture->count, 0);
	take(fixture, 1, collective(80, 33));
	assert_int_equal(fixture->count, 1);
	assert_int_equal(message->key.comm_id, COMM);
	assert_int_equal(message->key.number, 33);
	assert_int_equal(message->key.step, 2);
	assert_int_equal(message->key.source, 5);
	assert_int_equal(message->key.destination, 6);
	assert_int_equal(message->key.channel, 3);
	assert_int_equal(message->sender, 0);
	assert_int_equal(message->receiver, 1);
	assert_int_equal(message->ready_ns, 2110);
	assert_int_equal(message->sent_ns, 2140);
	assert_int_equal(message->posted_ns, 2100);
	assert_int_equal(message->arrived_ns, 2110);
}

/* A lane may be drained after the one that reports the operation's end. */
TEST(steps_may_come_after_their_operation)
{
	struct messages_fixture *fixture = *state;

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 1, 1);
	take(fixture, 1, collective(9, 4));
	take(fixture, 1, step(NCS_FUNCTION_ALL_REDUCE, 9, false, 0, 0));
	take(fixture, 0, collective(8, 4));
	take(fixture, 0, step(NCS_FUNCTION_ALL_REDUCE, 8, true, 1, 0));
	assert_int_equal(fixture->count, 1);
}

TEST(steps_of_different_messages_are_not_matched)
{
	struct messages_fixture *fixture = *state;

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 1, 1);
	take(fixture, 0, step(NCS_FUNCTION_ALL_REDUCE, 8, true, 1, 0));
	take(fixture, 0, collective(8, 4));
	take(fixture, 1, step(NCS_FUNCTION_ALL_REDUCE, 9, false, 0, 1));
	take(fixture, 1, collective(9, 4));
	take(fixture, 1, step(NCS_FUNCTION_ALL_REDUCE, 10, false, 0, 0));
	take(fixture, 1, collective(10, 5));
	flush(fixture);
	assert_int_equal(fixture->count, 0);
}

/* Replays of a graph report one number again and again. */
TEST(replays_are_distinguished)
{
	struct messages_fixture *fixture = *state;

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 1, 1);
	for (uint32_t i = 1; i <= 3; i++) {
		take(fixture, 0, step(NCS_FUNCTION_ALL_REDUCE, i, true, 1, 0));
		take(fixture, 0, collective(i, 4));
	}
	for (uint32_t i = 1; i <= 3; i++) {
		take(fixture, 1,
		     step(NCS_FUNCTION_ALL_REDUCE, 10 + i, false, 0, 0));
		take(fixture, 1, collective(10 + i, 4));
	}
	assert_int_equal(fixture->count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(fixture->found[i].key.repeat, i);
}

/* An operation is reported again if it was not over at first. */
TEST(operation_reported_again_is_no_replay)
{
	struct messages_fixture *fixture = *state;

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 1, 1);
	take(fixture, 0, collective(1, 4));
	take(fixture, 0, step(NCS_FUNCTION_ALL_REDUCE, 1, true, 1, 0));
	take(fixture, 0, collective(1, 4));
	take(fixture, 1, step(NCS_FUNCTION_ALL_REDUCE, 1, false, 0, 0));
	take(fixture, 1, collective(1, 4));
	assert_int_equal(fixture->count, 1);
}

TEST(sends_are_matched_by_their_place)
{
	struct messages_fixture *fixture = *state;

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 1, 1);
	for (uint32_t i = 1; i <= 3; i++) {
		take(fixture, 0, step(NCS_FUNCTION_SEND, i, true, 1, 0));
		take(fixture, 0, transfer(NCS_FUNCTION_SEND, i, 1));
	}
	for (uint32_t i = 1; i <= 3; i++) {
		take(fixture, 1, step(NCS_FUNCTION_RECV, 7 * i, false, 0, 0));
		take(fixture, 1, transfer(NCS_FUNCTION_RECV, 7 * i, 0));
	}
	assert_int_equal(fixture->count, 3);
	assert_int_equal(fixture->found[2].key.number, 3);
	assert_int_equal(fixture->found[2].key.function,
			 NCS_FUNCTION_SEND_RECV);
	assert_int_equal(fixture->found[2].send->operation, 3);
	assert_int_equal(fixture->found[2].receive->operation, 21);
}

/* If the first sends are missing, the place of later ones is not known. */
TEST(sends_are_not_matched_if_earlier_ones_are_missing)
{
	struct messages_fixture *fixture = *state;
	struct ncs_record late = transfer(NCS_FUNCTION_SEND, 5, 1);

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 1, 1);
	late.position = 17;
	take(fixture, 0, late);
	take(fixture, 0, step(NCS_FUNCTION_SEND, 6, true, 1, 0));
	take(fixture, 0, transfer(NCS_FUNCTION_SEND, 6, 1));
	take(fixture, 1, step(NCS_FUNCTION_RECV, 1, false, 0, 0));
	take(fixture, 1, transfer(NCS_FUNCTION_RECV, 1, 0));
	flush(fixture);
	assert_int_equal(fixture->count, 0);
}

/* A number on the connection tells the place, whatever is missing. */
TEST(numbered_sends_are_matched_if_earlier_ones_are_missing)
{
	struct messages_fixture *fixture = *state;
	struct ncs_record late = transfer(NCS_FUNCTION_SEND, 5, 1);

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 1, 1);
	late.position = 17;
	take(fixture, 0, late);
	ncs_rank_operations_lose(fixture->operations[1]);
	for (uint32_t i = 0; i < 4; i++) {
		struct ncs_record send = transfer(NCS_FUNCTION_SEND, 6 + i, 1);
		struct ncs_record receive =
			transfer(NCS_FUNCTION_RECV, 1 + i, 0);

		send.flags = receive.flags = NCS_RECORD_NUMBERED;
		send.number = 30 + i;
		receive.number = 31 + i;
		take(fixture, 0, step(NCS_FUNCTION_SEND, 6 + i, true, 1, 0));
		take(fixture, 0, send);
		take(fixture, 1, step(NCS_FUNCTION_RECV, 1 + i, false, 0, 0));
		take(fixture, 1, receive);
	}
	assert_int_equal(fixture->count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(fixture->found[i].key.number, 31 + i);
		assert_int_equal(fixture->found[i].send->operation, 7 + i);
		assert_int_equal(fixture->found[i].receive->operation, 1 + i);
	}
}

/* An end that has no number may count otherwise. */
TEST(number_is_not_matched_with_a_place)
{
	struct messages_fixture *fixture = *state;
	struct ncs_record send = transfer(NCS_FUNCTION_SEND, 1, 1);

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 1, 1);
	send.flags = NCS_RECORD_NUMBERED;
	send.number = 1;
	take(fixture, 0, step(NCS_FUNCTION_SEND, 1, true, 1, 0));
	take(fixture, 0, send);
	take(fixture, 1, step(NCS_FUNCTION_RECV, 1, false, 0, 0));
	take(fixture, 1, transfer(NCS_FUNCTION_RECV, 1, 0));
	assert_int_equal(fixture->count, 0);
}

TEST(steps_do_not_wait_for_unannounced_ranks)
{
	struct messages_fixture *fixture = *state;

	expect_rank(fixture, 0, 0);
	take(fixture, 0, step(NCS_FUNCTION_ALL_REDUCE, 1, true, 1, 0));
	take(fixture, 0, collective(1, 1));
	expect_rank(fixture, 1, 1);
	take(fixture, 1, collective(1, 1));
	take(fixture, 1, step(NCS_FUNCTION_ALL_REDUCE, 1, false, 0, 0));
	assert_int_equal(fixture->count, 0);
}

/* The oldest steps without another end are given up to make room. */
TEST_WITH(number_of_waiting_steps_is_bounded, setup_small, teardown)
{
	struct messages_fixture *fixture = *state;

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 1, 1);
	for (uint32_t i = 1; i <= 6; i++) {
		take(fixture, 0, collective(i, i));
		take(fixture, 0, step(NCS_FUNCTION_ALL_REDUCE, i, true, 1, 0));
	}
	/* The first two are gone. */
	for (uint32_t i = 1; i <= 6; i++)
		take(fixture, 1, collective(i, i));
	for (uint32_t i = 6; i > 0; i--)
		take(fixture, 1, step(NCS_FUNCTION_ALL_REDUCE, i, false, 0, 0));
	assert_int_equal(fixture->count, 4);
	assert_int_equal(fixture->found[3].key.number, 3);
}

/* Random records must not crash the matcher. */
TEST(hostile_records_do_no_harm)
{
	struct messages_fixture *fixture = *state;
	uint64_t random = 1;

	expect_rank(fixture, 0, 0);
	expect_rank(fixture, 3, 1);
	for (unsigned i = 0; i < 50000; i++) {
		static const uint8_t events[] = { NCS_EVENT_PROXY_STEP,
						  NCS_EVENT_P2P,
						  NCS_EVENT_COLL };
		struct ncs_record record;

		random = random * UINT64_C(6364136223846793005) + 1;
		memset(&record, (int)(random >> 56), sizeof(record));
		record.event = events[random >> 33 & 1 ? 0 : i % 3];
		record.function = (uint8_t)(random >> 40 & 7);
		record.operation = random >> 44 & 3;
		record.peer = (int32_t)(random >> 47 & 1);
		record.flags = (uint8_t)(random >> 48 & 1);
		record.number = random >> 50 & 3;
		record.position = 0;
		take(fixture, random >> 36 & 3, record);
	}
	flush(fixture);
	assert_true(fixture->count > 0);
}
