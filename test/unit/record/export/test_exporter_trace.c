/* SPDX-License-Identifier: MIT */
/* Tests of exporting records to a trace: which slices and arrows the records
 * become, and on which tracks. With any contents of records, nothing is lost
 * and nothing overlaps. */
#include <stdlib.h>
#include <string.h>

#include "ncclstat/abi_clock.h"
#include "record/export/exporter.h"
#include "test/unit/support/decoded_trace.h"
#include "test/unit/support/unit.h"

#define BASE_NS UINT64_C(1000000000)
#define RANKS 2

struct exported_trace {
	struct ncs_export_rank ranks[RANKS];
	struct ncs_export_request request;
	struct ncs_exporter exporter;
	char *text;
	size_t size;
	struct decoded_trace decoded;
};

/* Sets up two ranks of a communicator, whose ticks are ns. */
static int setup(void **state)
{
	struct exported_trace *exported = calloc(1, sizeof(*exported));

	if (!exported)
		return -1;
	for (int i = 0; i < RANKS; i++)
		exported->ranks[i] = (struct ncs_export_rank){
			.host = "host",
			.pid = 100 + (uint32_t)i,
			.clock = { .kind = NCS_CLOCK_MONOTONIC,
				   .multiplier = UINT64_C(1) << 32 },
			.identity = { .known = NCS_KNOWN_COMM_ID |
					       NCS_KNOWN_RANK,
				      .comm_id = 7,
				      .rank = i },
			.communicator = "world",
		};
	exported->request = (struct ncs_export_request){
		.format = NCS_EXPORT_PERFETTO,
		.file = open_memstream(&exported->text, &exported->size),
	};
	exported->exporter = (struct ncs_exporter){
		.request = &exported->request,
		.ranks = exported->ranks,
		.rank_count = RANKS,
		.base = { BASE_NS, 0 },
	};
	*state = exported;
	return ncs_exporter_trace.begin(&exported->exporter);
}

static int teardown(void **state)
{
	struct exported_trace *exported = *state;

	decoded_trace_release(&exported->decoded);
	ncs_operation_table_release(&exported->exporter.operations);
	free(exported->text);
	free(exported);
	return 0;
}

static const struct decoded_trace *finish(struct exported_trace *exported)
{
	assert_int_equal(ncs_exporter_trace.end(&exported->exporter), 0);
	fclose(exported->request.file);
	decoded_trace_read(&exported->decoded, exported->text, exported->size);
	return &exported->decoded;
}

static void put_on(struct exported_trace *exported, size_t rank,
		   uint64_t stream, struct ncs_record record)
{
	assert_int_equal(ncs_exporter_trace.record(&exported->exporter, rank, 1,
						   stream, &record),
			 0);
}

static void put(struct exported_trace *exported, size_t rank,
		struct ncs_record record)
{
	put_on(exported, rank, 0, record);
}

static struct ncs_record step(uint32_t operation, bool send, int peer,
			      uint64_t number)
{
	return (struct ncs_record){
		.start = BASE_NS + 1000 + number * 100 + (send ? 300 : 0),
		.event = NCS_EVENT_PROXY_STEP,
		.flags = send ? NCS_RECORD_SEND : 0,
		.channel = 3,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = operation,
		.peer = peer,
		.value = 4096,
		.number = number,
		.duration = send ? 1000 : 3000,
		.delta = { send ? 600 : 2000, send ? 800 : 2500 },
	};
}

static struct ncs_record collective(uint32_t operation, uint64_t sequence)
{
	return (struct ncs_record){
		.start = BASE_NS + 500,
		.event = NCS_EVENT_COLL,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.operation = operation,
		.peer = -1,
		.value = 1 << 20,
		.number = sequence,
		.duration = 9000,
		.delta = { 100, 400 },
	};
}

static struct ncs_record p2p(uint32_t operation, bool send, int peer)
{
	struct ncs_record record =
		collective(operation, NCS_NO_SEQUENCE_NUMBER);

	record.event = NCS_EVENT_P2P;
	record.function = send ? NCS_FUNCTION_SEND : NCS_FUNCTION_RECV;
	record.peer = peer;
	return record;
}

/* Writes a message from rank 0 to rank 1, in operation `a` of rank 0 and `b` of
 * rank 1. */
static void put_message(struct exported_trace *exported, uint32_t a, uint32_t b,
			uint64_t number)
{
	put(exported, 0, step(a, true, 1, number));
	put(exported, 1, step(b, false, 0, number));
}

/* Writes a message of a send and a receive. */
static void put_p2p(struct exported_trace *exported, uint32_t operation,
		    uint64_t number)
{
	struct ncs_record send = step(operation, true, 1, number);
	struct ncs_record recv = step(operation, false, 0, number);

	send.function = NCS_FUNCTION_SEND;
	recv.function = NCS_FUNCTION_RECV;
	put(exported, 0, send);
	put(exported, 1, recv);
}

static const struct decoded_event *first(const struct decoded_trace *trace,
					 const char *category)
{
	size_t at = 0;

	return decoded_next(trace, category, &at);
}

static const char *track_name(const struct decoded_trace *trace,
			      const struct decoded_event *event)
{
	return decoded_track(trace, event->track)->name;
}

static const char *parent_name(const struct decoded_trace *trace,
			       const struct decoded_event *event)
{
	return decoded_track(trace, decoded_track(trace, event->track)->parent)
		->name;
}

/* --- Steps and arrows ---------------------------------------------------- */

UNIT_FIXTURE(setup, teardown)

TEST(waits_fill_their_step)
{
	static const char *const names[] = { "send_gpu_wait", "send_peer_wait",
					     "send_wait" };
	static const uint64_t ends[] = { 600, 800, 1000 };
	const struct decoded_event *event;
	const struct decoded_trace *trace;
	struct exported_trace *exported = *state;
	uint64_t at_ns;
	size_t at = 0;

	put(exported, 0, step(5, true, 1, 0));
	put(exported, 0, collective(5, 42));
	trace = finish(exported);
	event = first(trace, "proxy_step");
	assert_string_equal(event->name, "AllReduce");
	assert_string_equal(track_name(trace, event), "send -> 1");
	assert_string_equal(parent_name(trace, event), "channel 3");
	assert_int_equal(event->end_ns - event->at_ns, 1000);
	assert_int_equal(decoded_argument(event, "bytes")->number, 4096);
	assert_int_equal(decoded_argument(event, "step")->number, 0);
	/* The sequence number is in the operation's record, which comes
	 * later. */
	assert_int_equal(decoded_argument(event, "sequence_number")->number,
			 42);
	assert_null(decoded_argument(event, "operation"));
	at_ns = event->at_ns;
	for (unsigned i = 0; i < 3; i++) {
		const struct decoded_event *wait =
			decoded_next(trace, "wait", &at);

		assert_string_equal(wait->name, names[i]);
		assert_int_equal(wait->track, event->track);
		assert_int_equal(wait->depth, 1);
		assert_int_equal(wait->at_ns, at_ns);
		at_ns = event->at_ns + ends[i];
		assert_int_equal(wait->end_ns, at_ns);
	}
}

TEST(operation_slice_holds_queued_and_running)
{
	const struct decoded_event *event, *queued, *running;
	const struct decoded_trace *trace;
	struct exported_trace *exported = *state;
	size_t at = 0;

	put(exported, 0, collective(5, 42));
	put(exported, 1, collective(9, 42));
	put(exported, 1, collective(10, 43));
	trace = finish(exported);
	event = decoded_next(trace, "coll", &at);
	assert_string_equal(track_name(trace, event), "AllReduce");
	assert_string_equal(parent_name(trace, event),
			    "rank 0 (host, pid 100)");
	assert_int_equal(decoded_argument(event, "first_child_ns")->number,
			 400);
	/* The parts of an operation have the same number in all ranks; other
	 * operations have another number. */
	assert_int_not_equal(event->correlation, 0);
	assert_true(event->correlation ==
		    decoded_next(trace, "coll", &at)->correlation);
	assert_true(event->correlation !=
		    decoded_next(trace, "coll", &at)->correlation);
	at = 0;
	queued = decoded_next(trace, "part", &at);
	assert_string_equal(queued->name, "queued");
	assert_int_equal(queued->end_ns - queued->at_ns, 400);
	while ((running = decoded_next(trace, "part", &at)) &&
	       strcmp(running->name, "running") != 0)
		;
	assert_int_equal(running->at_ns, queued->end_ns);
	assert_int_equal(running->end_ns, event->end_ns);
}

TEST(operations_lie_below_their_stream)
{
	static const char *const parents[] = {
		"stream 0x7f0012345678",
		"rank 0 (host, pid 100)",
		"stream 0x0",
		"stream 0x7f0012345678",
		"stream 0x0",
	};
	const struct decoded_event *event, *events[5];
	const struct decoded_trace *trace;
	struct exported_trace *exported = *state;
	size_t at = 0;

	for (uint32_t i = 0; i < 5; i++) {
		struct ncs_record record = collective(i + 1, i);

		record.start += i * 10000;
		put_on(exported, i < 4 ? 0 : 1,
		       i == 1     ? 0 :
		       i % 3 == 0 ? NCS_RECORD_STREAM(0x7f0012345678) :
				    NCS_RECORD_STREAM(NULL),
		       record);
	}
	trace = finish(exported);
	for (unsigned i = 0; i < 5; i++) {
		events[i] = event = decoded_next(trace, "coll", &at);
		assert_non_null(event);
		assert_string_equal(track_name(trace, event), "AllReduce");
		assert_string_equal(parent_name(trace, event), parents[i]);
		/* The track shows the stream. */
		assert_null(decoded_argument(event, "stream"));
	}
	assert_int_equal(events[0]->track, events[3]->track);
	/* Every rank has its own streams. */
	assert_true(decoded_track(trace, events[2]->track)->parent !=
		    decoded_track(trace, events[4]->track)->parent);
}

static struct ncs_record launched(uint32_t operation, uint64_t start_ns,
				  uint64_t begin_ns)
{
	struct ncs_record record = collective(operation, operation);

	record.start = BASE_NS + start_ns;
	record.flags = NCS_RECORD_ON_STREAM;
	record.delta[1] = begin_ns - start_ns;
	record.duration = record.delta[1] + 500;
	return record;
}

/* The second and the third operation are of one launch; the record of another
 * ring was read between them. */
TEST(each_launch_lies_on_its_stream_once)
{
	static const uint64_t begin_ns[] = { 1000, 2000, 3000 };
	const uint64_t stream = NCS_RECORD_STREAM(0x7f0012345678);
	const struct decoded_event *event, *operation;
	const struct decoded_trace *trace;
	struct exported_trace *exported = *state;
	size_t at = 0, operations_at = 0;

	put_on(exported, 0, stream, launched(1, 500, 1000));
	put_on(exported, 0, stream, launched(2, 600, 2000));
	put_on(exported, 0, stream, launched(4, 900, 3000));
	put_on(exported, 0, stream, launched(3, 650, 2000));
	put_on(exported, 0, stream, collective(5, 5));
	put_on(exported, 0, 0, launched(6, 100, 4000));
	trace = finish(exported);
	assert_int_equal(decoded_count(trace, "launch"), 4);
	for (unsigned i = 0; i < 3; i++) {
		event = decoded_next(trace, "launch", &at);
		assert_string_equal(track_name(trace, event), "launches");
		assert_string_equal(parent_name(trace, event),
				    "stream 0x7f0012345678");
		assert_string_equal(event->name, "AllReduce");
		assert_int_equal(event->at_ns, BASE_NS + begin_ns[i]);
		assert_int_equal(event->end_ns, event->at_ns + 500);
		if (i > 0)
			continue;
		while ((operation =
				decoded_next(trace, "coll", &operations_at)))
			if (operation->correlation == event->correlation)
				break;
		assert_non_null(operation);
	}
	event = decoded_next(trace, "launch", &at);
	assert_string_equal(parent_name(trace, event),
			    "rank 0 (host, pid 100)");
}

TEST(excess_streams_are_named_in_arguments)
{
	const struct decoded_event *event = NULL, *next;
	const struct decoded_trace *trace;
	struct exported_trace *exported = *state;
	size_t at = 0;

	for (uint32_t i = 0; i < 257; i++) {
		struct ncs_record record = collective(i + 1, i);

		record.start += i * 10000;
		put_on(exported, 0, NCS_RECORD_STREAM((uint64_t)i * 16),
		       record);
	}
	trace = finish(exported);
	assert_int_equal(decoded_count(trace, "coll"), 257);
	while ((next = decoded_next(trace, "coll", &at)))
		event = next;
	assert_string_equal(parent_name(trace, event),
			    "rank 0 (host, pid 100)");
	assert_string_equal(decoded_argument(event, "stream")->text, "0x1000");
}

TEST(arrow_leaves_and_arrives_with_the_data)
{
	const struct decoded_event *send = NULL, *recv = NULL, *event;
	const struct decoded_trace *trace;
	struct exported_trace *exported = *state;
	size_t at = 0;

	/* Operation numbers differ between ranks; sequence numbers do not. */
	put_message(exported, 5, 8, 0);
	put(exported, 0, collective(5, 42));
	put(exported, 1, collective(8, 42));
	trace = finish(exported);
	assert_int_equal(decoded_flows(trace), 1);
	while ((event = decoded_next(trace, "wait", &at)))
		if (event->flow)
			*(strncmp(event->name, "send", 4) == 0 ? &send :
								 &recv) = event;
	assert_string_equal(send->name, "send_wait");
	assert_string_equal(recv->name, "recv_flush_wait");
	/* The receiver's step began earlier. */
	assert_true(send->flow_ns < recv->flow_ns);
	assert_int_equal(recv->flow_ns, recv->at_ns);
}

TEST(arrow_has_both_ends_or_does_not_exist)
{
	struct exported_trace *exported = *state;
	struct ncs_record other = step(5, true, 17, 0);
	const struct decoded_trace *trace;

	/* Messages without an arrow: of another collective, of no operation, to
	 * a rank that is not in the trace, and of an operation whose record is
	 * missing. */
	put_message(exported, 5, 8, 0);
	put(exported, 0, collective(5, 42));
	put(exported, 1, collective(8, 43));
	put_message(exported, 0, 0, 1);
	put(exported, 0, other);
	put_message(exported, 77, 77, 2);
	trace = finish(exported);
	assert_int_equal(decoded_flows(trace), 0);
	for (size_t i = 0; i < trace->event_count; i++)
		if (strcmp(track_name(trace, &trace->events[i]),
			   "send -> 17") == 0)
			assert_int_equal(trace->events[i].flow, 0);
}

TEST(unflushed_data_arrives_as_the_pipe_is_read)
{
	struct exported_trace *exported = *state;
	struct ncs_record record = step(8, false, 0, 0);
	const struct decoded_trace *trace;
	const struct decoded_event *event;
	size_t at = 0;

	/* The step and its only wait end together, so either may have the
	 * arrow. */
	record.delta[0] = record.delta[1] = 0; /* no waits are known */
	put(exported, 0, step(5, true, 1, 0));
	put(exported, 1, record);
	put(exported, 0, collective(5, 42));
	put(exported, 1, collective(8, 42));
	trace = finish(exported);
	assert_int_equal(decoded_flows(trace), 1);
	while ((event = decoded_next(trace, "proxy_step", &at)) && !event->flow)
		;
	assert_non_null(event);
	assert_int_equal(event->flow_ns, event->end_ns);
}

TEST(messages_without_sequence_numbers_are_matched_by_count)
{
	struct exported_trace *exported = *state;

	for (uint32_t i = 1; i <= 3; i++) {
		put_p2p(exported, i, 0);
		put_p2p(exported, i, 1);
		put(exported, 0, p2p(i, true, 1));
		put(exported, 1, p2p(i, false, 0));
	}
	assert_int_equal(decoded_flows(finish(exported)), 6);
}

TEST(order_of_ends_does_not_change_matching)
{
	struct exported_trace *exported = *state;

	/* Two messages at the same time on one connection, which end in
	 * different orders at its two ends. */
	for (uint32_t i = 1; i <= 2; i++)
		for (uint64_t k = 0; k < i; k++)
			put_p2p(exported, i, k);
	for (uint32_t i = 1; i <= 2; i++) {
		put(exported, 0, p2p(i, true, 1));
		put(exported, 1, p2p(3 - i, false, 0));
	}
	/* One step of the first, two of the second: if they were mixed up, one
	 * would find no other end. */
	assert_int_equal(decoded_flows(finish(exported)), 3);
}

TEST(lost_records_end_matching_by_count)
{
	struct exported_trace *exported = *state;

	put_p2p(exported, 1, 0);
	put(exported, 0, p2p(1, true, 1));
	put(exported, 1, p2p(1, false, 0));
	assert_int_equal(ncs_exporter_trace.lose(&exported->exporter, 0), 0);
	put_p2p(exported, 2, 0);
	put(exported, 0, p2p(2, true, 1));
	put(exported, 1, p2p(2, false, 0));
	/* NCCL numbers collectives. */
	put_message(exported, 3, 3, 0);
	put(exported, 0, collective(3, 42));
	put(exported, 1, collective(3, 42));
	assert_int_equal(decoded_flows(finish(exported)), 2);
}

TEST(repeated_graph_launches_have_arrows_of_their_own)
{
	struct exported_trace *exported = *state;

	/* All messages have the same sequence number; if they were mixed up,
	 * decoded_flows() would see three ends of one arrow. */
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t operation = 1 + 2 * i + k;

			put_message(exported, operation, operation, 0);
			put(exported, 0, collective(operation, k));
			put(exported, 1, collective(operation, k));
		}
	assert_int_equal(decoded_flows(finish(exported)), 6);
}

/* --- Other records ------------------------------------------------------- */

TEST(kernel_slice_follows_the_gpu_clock)
{
	struct exported_trace *exported = *state;
	struct ncs_gpu_reading readings[] = {
		{ BASE_NS + 1000 + 50000, BASE_NS + 1000, 10 },
		{ BASE_NS + 900000 + 50000, BASE_NS + 900000, 20 },
	};
	struct ncs_record record = {
		.start = BASE_NS + 2000,
		.event = NCS_EVENT_KERNEL_CH,
		.channel = 9,
		.function = NCS_FUNCTION_ALL_REDUCE,
		.peer = -1,
		.value = BASE_NS + 1500 + 50000,
		.number = 300,
		.duration = 5000,
	};
	const struct decoded_trace *trace;
	const struct decoded_event *event;
	size_t at = 0;

	exported->ranks[0].gpu = (struct ncs_gpu_readings){
		.readings = readings,
		.count = 2,
	};
	put(exported, 0, record);
	record.start += 899000;
	record.value += 899000;
	put(exported, 0, record);
	put(exported, 1, record);
	trace = finish(exported);
	event = decoded_next(trace, "kernel_ch", &at);
	assert_string_equal(track_name(trace, event), "kernel");
	assert_string_equal(parent_name(trace, event), "channel 9");
	assert_int_equal(event->at_ns, BASE_NS + 1500);
	assert_int_equal(event->end_ns - event->at_ns, 300);
	assert_int_equal(decoded_argument(event, "gpu_error_ns")->number, 20);
	event = decoded_next(trace, "kernel_ch", &at);
	assert_int_equal(event->at_ns, BASE_NS + 1500 + 899000);
	/* The kernel of a rank without GPU clock readings is at the time that
	 * NCCL reported. */
	event = decoded_next(trace, "kernel_ch", &at);
	assert_int_equal(event->at_ns, record.start);
	assert_int_equal(event->end_ns - event->at_ns, 5000);
	assert_null(decoded_argument(event, "gpu_error_ns"));
}

/* The operation of collective() with a kernel's channel that stops `stop_ns`
 * after the operation began, and a proxy operation or not. The GPU's clock is
 * ahead by 50 us. */
static const struct decoded_trace *
put_kernel_of(struct exported_trace *exported, uint64_t duration_ns,
	      uint64_t stop_ns, bool has_proxy)
{
	static struct ncs_gpu_reading readings[] = {
		{ BASE_NS + 50000, BASE_NS, 10 },
		{ BASE_NS + 9000000 + 50000, BASE_NS + 9000000, 10 },
	};
	struct ncs_record whole = collective(5, 42);
	struct ncs_record kernel = {
		.start = whole.start + 900,
		.event = NCS_EVENT_KERNEL_CH,
		.channel = 9,
		.operation = 5,
		.peer = -1,
		.value = whole.start + 700 + 50000,
		.number = stop_ns - 700,
		.duration = stop_ns,
	};

	exported->ranks[0].gpu = (struct ncs_gpu_readings){
		.readings = readings,
		.count = 2,
	};
	put(exported, 0, kernel);
	kernel.channel = 10;
	kernel.value += 100;
	kernel.number -= 200;
	put(exported, 0, kernel);
	whole.duration = duration_ns;
	if (!has_proxy)
		whole.delta[1] = 0;
	put(exported, 0, whole);
	return finish(exported);
}

static void assert_ran(const struct decoded_trace *trace, uint64_t begin_ns,
		       const char *begin_source, uint64_t end_ns,
		       const char *end_source)
{
	const struct decoded_event *event = first(trace, "coll");
	const struct decoded_event *queued, *running;
	size_t at = 0;

	queued = decoded_next(trace, "part", &at);
	running = decoded_next(trace, "part", &at);
	assert_non_null(running);
	assert_int_equal(queued->end_ns - event->at_ns, begin_ns);
	assert_int_equal(running->end_ns - event->at_ns, end_ns);
	assert_string_equal(decoded_argument(event, "begin_source")->text,
			    begin_source);
	assert_string_equal(decoded_argument(event, "end_source")->text,
			    end_source);
}

TEST(operation_runs_as_its_kernel_does)
{
	assert_ran(put_kernel_of(*state, 9000, 8000, true), 700, "kernel", 8000,
		   "kernel");
}

/* Puts a proxy operation of put_kernel_of()'s operation that ends 600 us after
 * that began. */
static void put_proxy(struct exported_trace *exported, bool send)
{
	put(exported, 0,
	    (struct ncs_record){
		    .start = collective(5, 42).start + 400,
		    .event = NCS_EVENT_PROXY_OP,
		    .flags = send ? NCS_RECORD_SEND : 0,
		    .operation = 5,
		    .peer = 1,
		    .duration = 600000 - 400,
	    });
}

TEST(early_stop_of_a_kernel_does_not_end_an_operation)
{
	put_proxy(*state, false);
	assert_ran(put_kernel_of(*state, 600000, 8000, true), 700, "kernel",
		   600000, "proxy");
}

TEST(kernel_may_end_before_the_network_has_sent)
{
	const struct decoded_event *event;
	const struct decoded_trace *trace;

	put_proxy(*state, true);
	trace = put_kernel_of(*state, 600000, 8000, true);
	assert_ran(trace, 700, "kernel", 8000, "kernel");
	/* Its slice holds those of its proxy operations. */
	event = first(trace, "coll");
	assert_int_equal(event->end_ns - event->at_ns, 600000);
}

TEST(kernel_ends_before_data_comes_are_no_ends)
{
	struct ncs_record step = {
		.start = collective(5, 42).start + 400,
		.event = NCS_EVENT_PROXY_STEP,
		.operation = 5,
		.peer = 1,
		.duration = 8800 - 400,
		.delta = { 8500 - 400 },
	};

	put(*state, 0, step);
	assert_ran(put_kernel_of(*state, 9000, 8000, true), 700, "kernel", 9000,
		   "proxy");
}

TEST(kernel_ends_an_operation_without_proxy_operations)
{
	assert_ran(put_kernel_of(*state, 600000, 8000, false), 700, "kernel",
		   8000, "kernel");
}

/* The table says what the records of other ranks tell of that operation. */
TEST(kernel_before_the_last_arrival_does_not_end_an_operation)
{
	struct exported_trace *exported = *state;
	struct ncs_operation_table *operations = &exported->exporter.operations;
	struct ncs_exported_operation *facts =
		ncs_operation_table_take(operations, 0, 5);

	assert_non_null(facts);
	facts->is_joined = true;
	facts->kernel_end_is_wrong = true;
	assert_ran(put_kernel_of(exported, 9000, 8000, true), 700, "kernel",
		   9000, "proxy");
}

TEST(operation_without_a_kernel_tells_its_proxy)
{
	struct exported_trace *exported = *state;

	put(exported, 0, collective(5, 42));
	assert_ran(finish(exported), 400, "proxy", 9000, "proxy");
}

TEST(operation_on_a_stream_runs_as_that_tells)
{
	struct exported_trace *exported = *state;
	struct ncs_record record = collective(5, 42);

	record.flags = NCS_RECORD_ON_STREAM;
	put(exported, 0, record);
	assert_ran(finish(exported), 400, "stream", 9000, "stream");
}

TEST(end_that_nccl_reported_is_called_so)
{
	struct exported_trace *exported = *state;
	struct ncs_record record = collective(5, 42);
	const struct decoded_event *event;

	record.delta[1] = 0;
	put(exported, 0, record);
	event = first(finish(exported), "coll");
	assert_null(decoded_argument(event, "begin_source"));
	assert_string_equal(decoded_argument(event, "end_source")->text,
			    "report");
}

TEST(calls_marks_and_ranges_are_in_the_trace)
{
	struct exported_trace *exported = *state;
	struct ncs_export_range_path paths[] = {
		{ 2, (char *)(uintptr_t) "step" },
		{ 5, (char *)(uintptr_t) "step/oops" }
	};
	struct ncs_record call = {
		.start = BASE_NS + 100,
		.event = NCS_EVENT_COLL_API,
		.flags = NCS_RECORD_GRAPH,
		.function = NCS_FUNCTION_BROADCAST,
		.peer = 4,
		.value = 77,
		.number = 2,
		.duration = 50,
	};
	struct ncs_record group = {
		.start = BASE_NS + 50,
		.event = NCS_EVENT_GROUP_API,
		.number = 1,
		.duration = 500,
		.delta = { 10, 400 },
	};
	struct ncs_record mark = {
		.start = BASE_NS + 300,
		.event = NCS_EVENT_MARK,
		.value = 5,
	};
	const struct decoded_trace *trace;
	const struct decoded_event *event;

	exported->ranks[0].paths = paths;
	exported->ranks[0].path_count = 2;
	put_on(exported, 0, NCS_RECORD_STREAM(NULL), call);
	put(exported, 0, group);
	put(exported, 0, mark);
	trace = finish(exported);
	event = first(trace, "coll_api");
	assert_string_equal(event->name, "Broadcast");
	assert_string_equal(track_name(trace, event), "API");
	assert_string_equal(decoded_argument(event, "range")->text, "step");
	assert_string_equal(decoded_argument(event, "stream")->text, "0x0");
	assert_int_equal(decoded_argument(event, "root")->number, 4);
	assert_int_equal(decoded_argument(event, "graph")->number, 1);
	event = first(trace, "group_api");
	assert_int_equal(event->depth, 0);
	assert_string_equal(track_name(trace, event), "API");
	assert_int_equal(decoded_argument(event, "group_end_ns")->number, 400);
	event = first(trace, "mark");
	assert_int_equal(event->type, 3);
	assert_string_equal(event->name, "oops");
	assert_string_equal(decoded_argument(event, "range")->text,
			    "step/oops");
}

TEST(children_without_an_operation_are_exported)
{
	struct exported_trace *exported = *state;
	const struct decoded_trace *trace;

	for (uint64_t i = 0; i < 1000; i++)
		put(exported, 0, step(1 + (uint32_t)i % 300, true, 1, i));
	trace = finish(exported);
	assert_int_equal(decoded_count(trace, "proxy_step"), 1000);
	assert_int_equal(decoded_argument(first(trace, "proxy_step"),
					  "operation")
				 ->number,
			 1);
}

/* Files may contain any bytes. */
TEST(any_record_content_is_exported_safely)
{
	struct exported_trace *exported = *state;
	const struct decoded_trace *trace;
	uint64_t seed = 88172645463325252;
	size_t instants = 0, found = 0;

	for (unsigned i = 0; i < 2000; i++) {
		struct ncs_record record;
		uint64_t words[NCS_RECORD_WORDS];

		for (unsigned k = 0; k < NCS_RECORD_WORDS; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			words[k] = seed >> seed % 64;
		}
		memcpy(&record, words, sizeof(record));
		record.event = (uint8_t)(record.event % 40);
		record.start %= UINT64_C(1) << 62;
		record.duration %= UINT64_C(1) << (seed % 62);
		put(exported, i % RANKS, record);
	}
	trace = finish(exported);
	for (size_t i = 0; i < trace->event_count; i++) {
		const struct decoded_event *event = &trace->events[i];

		instants += event->type == 3;
		found += event->type == 1 &&
			 (!event->category ||
			  (strcmp(event->category, "wait") != 0 &&
			   strcmp(event->category, "launch") != 0 &&
			   strcmp(event->category, "part") != 0));
	}
	assert_true(instants > 0);
	assert_int_equal(found + instants, 2000);
}
