/* SPDX-License-Identifier: MIT */
/* CUDA streams: those of calls, launches and copies, and the STREAM records by
 * which a ring reports the streams of operations. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7

#define HANDLE(number) ((void *)(uintptr_t)(0x7f0012340000 + 0x10 * (number)))
#define STREAM(number) NCS_RECORD_STREAM(HANDLE(number))

/* After this many operations the stream is recorded again. */
#define AGAIN 16

static struct guest guest;

/* --- Calls and operations ---------------------------------------------- */

static struct host_event call_event(void *stream)
{
	return (struct host_event){
		.type = NCCL_EVENT_COLL_API,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
		.count = GUEST_COLL_ELEMENTS,
		.stream = stream,
	};
}

/* Plays a call that has ended. */
static void *make_call_on(void *stream)
{
	struct host_event event = call_event(stream);
	void *call = start(&guest, &event);

	stop(&guest, call);
	return call;
}

static void *begin_operation(void *call)
{
	struct host_event event = coll_event_of(call);
	void *operation = start(&guest, &event);

	stop(&guest, operation);
	return operation;
}

static void end_operation(void *operation)
{
	stop(&guest, start_proxy_op(&guest, operation, 0, true, 2, 1));
}

static void play_on(void *stream)
{
	end_operation(begin_operation(make_call_on(stream)));
}

/* Reads up to the next operation's record. Returns true if a STREAM record came
 * right before it. */
static bool had_stream_record(uint64_t *stream)
{
	struct ncs_record found, before = { .event = NCS_EVENT_GROUP };

	for (;;) {
		CHECK(next_record(&guest, &found), "no operation");
		if (found.event == NCS_EVENT_COLL)
			break;
		CHECK(before.event != NCS_EVENT_STREAM,
		      "a STREAM record without an operation");
		before = found;
	}
	if (before.event != NCS_EVENT_STREAM)
		return false;
	CHECK_EQUAL(before.operation, 0, "belongs to no operation");
	CHECK_EQUAL(before.duration, 0, "has no duration");
	CHECK(before.start >= found.start, "when the operation ended");
	*stream = before.value;
	return true;
}

static void expect_stream_record(uint64_t stream, const char *what)
{
	uint64_t told = 0;

	CHECK(had_stream_record(&told), "%s: no STREAM record", what);
	CHECK_EQUAL(told, stream, what);
}

static void expect_no_stream_record(const char *what)
{
	uint64_t told;

	CHECK(!had_stream_record(&told), "%s: it was known", what);
}

/* --- Tests ------------------------------------------------------------- */

static void tell_calls(void *argument)
{
	int api = *(const int *)argument;
	struct host_event event = call_event(HANDLE(1));

	guest_open(&guest, api);
	stop(&guest, start(&guest, &event));
	CHECK_EQUAL(expect_record(&guest, NCS_EVENT_COLL_API, "").delta[0],
		    STREAM(1), "a collective's call");
	event.type = NCCL_EVENT_P2P_API;
	event.func = "Send";
	event.stream = HANDLE(2);
	stop(&guest, start(&guest, &event));
	CHECK_EQUAL(expect_record(&guest, NCS_EVENT_P2P_API, "").delta[0],
		    STREAM(2), "a call point to point");
	event.type = NCCL_EVENT_KERNEL_LAUNCH;
	event.stream = NULL;
	stop(&guest, start(&guest, &event));
	CHECK_EQUAL(expect_record(&guest, NCS_EVENT_KERNEL_LAUNCH, "").delta[0],
		    NCS_RECORD_STREAM(NULL), "a launch on the default stream");
	if (api >= 6) {
		event.type = NCCL_EVENT_CE_COLL;
		event.func = "AllGather";
		event.stream = HANDLE(3);
		stop(&guest, start(&guest, &event));
		CHECK_EQUAL(
			expect_record(&guest, NCS_EVENT_CE_COLL, "").delta[0],
			STREAM(3), "copies");
	}
	guest_close(&guest);
}

TEST(calls_launches_and_copies_have_their_stream)
{
	for (int api = 5; api <= LAST_API; api++)
		scenario_play(tell_calls, &api);
}

static void change_streams(void *argument)
{
	guest_open(&guest, *(const int *)argument);
	play_on(HANDLE(1));
	expect_stream_record(STREAM(1), "the first");
	play_on(HANDLE(1));
	expect_no_stream_record("the same");
	play_on(HANDLE(2));
	expect_stream_record(STREAM(2), "another");
	play_on(NULL);
	expect_stream_record(NCS_RECORD_STREAM(NULL), "the default stream");
	play_on(NULL);
	expect_no_stream_record("the same");
	play_on(HANDLE(2));
	expect_stream_record(STREAM(2), "back again");
	check_losses(&guest, "streams", END_OF_LOSSES);
	guest_close(&guest);
}

TEST(stream_record_precedes_the_operation)
{
	for (int api = 5; api <= LAST_API; api++)
		scenario_play(change_streams, &api);
}

SCENARIO(stream_records_follow_the_order_in_which_operations_end)
{
	void *first, *second;

	guest_open(&guest, LAST_API);
	/* Calls of a group whose operations end in another order. */
	first = make_call_on(HANDLE(1));
	second = make_call_on(HANDLE(2));
	first = begin_operation(first);
	second = begin_operation(second);
	end_operation(second);
	end_operation(first);
	expect_stream_record(STREAM(2), "what ended first");
	expect_stream_record(STREAM(1), "what began first");
	guest_close(&guest);
}

SCENARIO(stream_record_is_repeated_for_late_readers)
{
	guest_open(&guest, LAST_API);
	for (unsigned i = 0; i < 3 * AGAIN; i++) {
		play_on(HANDLE(1));
		if (i % AGAIN == 0)
			expect_stream_record(STREAM(1), "again");
		else
			expect_no_stream_record("meanwhile");
	}
	guest_close(&guest);
}

SCENARIO(stream_of_a_forgotten_call_is_unknown)
{
	void *old;

	guest_open(&guest, LAST_API);
	old = make_call_on(HANDLE(1));
	play_on(HANDLE(1));
	expect_stream_record(STREAM(1), "a call");
	for (unsigned i = 0; i < 5000; i++)
		make_call_on(HANDLE(1));
	read_all_records(&guest);
	end_operation(begin_operation(old));
	expect_stream_record(0, "of a call that is forgotten");
	end_operation(begin_operation(NULL));
	expect_no_stream_record("of no call");
	for (unsigned i = 0; i < 2 * AGAIN; i++) {
		end_operation(begin_operation(NULL));
		expect_no_stream_record("an unknown stream is not repeated");
	}
	play_on(HANDLE(1));
	expect_stream_record(STREAM(1), "a call");
	guest_close(&guest);
}

static void tell_none(void *argument)
{
	guest_open(&guest, *(const int *)argument);
	for (unsigned i = 0; i < 2 * AGAIN; i++) {
		play_coll(&guest, i);
		expect_no_stream_record("no API call has a stream");
	}
	guest_close(&guest);
}

TEST(no_stream_is_recorded_up_to_api_4)
{
	for (int api = 1; api <= 4; api++)
		scenario_play(tell_none, &api);
}

TEST(streams_need_no_ranges)
{
	int api = LAST_API;

	setenv("NCCLSTAT_RANGES", "0", 1);
	scenario_play(change_streams, &api);
	unsetenv("NCCLSTAT_RANGES");
}

SCENARIO(graph_operations_are_on_the_stream_of_the_capture)
{
	struct host_event event = call_event(HANDLE(1));
	void *captured;

	guest_open(&guest, LAST_API);
	event.graph_captured = 1;
	captured = start(&guest, &event);
	stop(&guest, captured);
	for (unsigned i = 0; i < 5000; i++)
		make_call_on(HANDLE(2));
	read_all_records(&guest);
	for (unsigned i = 0; i < 2; i++)
		end_operation(begin_operation(captured));
	expect_stream_record(STREAM(1), "long after the capture");
	expect_no_stream_record("at every launch");
	guest_close(&guest);
}

/* --- Several threads --------------------------------------------------- */

static void *end_in_thread(void *operation)
{
	end_operation(operation);
	return NULL;
}

SCENARIO(each_ring_has_its_own_stream_records)
{
	void *first, *second;
	pthread_t thread;

	guest_open(&guest, LAST_API);
	first = begin_operation(make_call_on(HANDLE(1)));
	second = begin_operation(make_call_on(HANDLE(1)));
	end_operation(first);
	expect_stream_record(STREAM(1), "in this thread's ring");
	CHECK(pthread_create(&thread, NULL, end_in_thread, second) == 0,
	      "no thread");
	pthread_join(thread, NULL);
	expect_stream_record(STREAM(1), "in the other one's");
	guest_close(&guest);
}
