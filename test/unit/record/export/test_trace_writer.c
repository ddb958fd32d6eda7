/* SPDX-License-Identifier: MIT */
/* Tests that viewers can read the traces: tracks, slices, instants, counters
 * and arrows. Perfetto's format is read by a decoder in the tests, Chrome's by
 * jansson. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/export/trace_writer.h"
#include "test/unit/support/decoded_trace.h"
#include "test/unit/support/unit.h"

#define BASE_NS UINT64_C(1000000000000)

struct written_trace {
	struct ncs_trace_writer *writer;
	FILE *file;
	char *text;
	size_t size;
};

static void begin(struct written_trace *written, enum ncs_trace_format format)
{
	const struct ncs_trace_base base = { BASE_NS, 7 };

	written->file = open_memstream(&written->text, &written->size);
	written->writer = ncs_trace_open(format, written->file, &base);
	assert_non_null(written->writer);
}

static void end(struct written_trace *written)
{
	assert_int_equal(ncs_trace_close(written->writer), 0);
	fclose(written->file);
}

static void decode(struct written_trace *written, struct decoded_trace *trace)
{
	end(written);
	decoded_trace_read(trace, written->text, written->size);
	free(written->text);
}

static json_t *parse(struct written_trace *written)
{
	json_error_t error;
	json_t *root;

	end(written);
	root = json_loadb(written->text, written->size, 0, &error);
	if (!root)
		fail_msg("%s at %d: %s", error.text, error.position,
			 written->text);
	free(written->text);
	return root;
}

/* Counts the events of a type. */
static size_t count_json(const json_t *root, const char *type,
			 const json_t **last)
{
	const json_t *events = json_object_get(root, "traceEvents");
	size_t count = 0, i;
	json_t *event;

	json_array_foreach(events, i, event)
	{
		if (strcmp(json_string_value(json_object_get(event, "ph")),
			   type) != 0)
			continue;
		count++;
		*last = event;
	}
	return count;
}

static const char *text_json(const json_t *event, const char *key)
{
	return json_string_value(json_object_get(event, key));
}

/* Writes one of each kind of event. */
static void write_all(struct ncs_trace_writer *writer)
{
	uint32_t process = ncs_trace_process(writer, 0, "rank 0", 3);
	uint32_t channel = ncs_trace_track(writer, process, "channel 1", 5);
	uint32_t track = ncs_trace_track(writer, channel, "send -> 1", 6);
	uint32_t counter =
		ncs_trace_counter(writer, process, "busbw", "GB/s", 1);
	const struct ncs_trace_argument arguments[] = {
		{ ncs_trace_word(writer, "bytes"), NCS_TRACE_NUMBER,
		  UINT64_MAX },
		{ ncs_trace_word(writer, "less"), NCS_TRACE_WHOLE,
		  (uint64_t)-5 },
		{ ncs_trace_word(writer, "graph"), NCS_TRACE_FLAG, 1 },
		{ ncs_trace_word(writer, "range"), NCS_TRACE_WORD,
		  ncs_trace_word(writer, "a \"b\\c\"") },
	};
	const struct ncs_trace_event outer = {
		.name = ncs_trace_word(writer, "AllReduce"),
		.category = ncs_trace_word(writer, "coll"),
		.correlation = UINT64_C(1) << 63,
		.arguments = arguments,
		.argument_count = 4,
	};
	const struct ncs_trace_event inner = {
		.name = ncs_trace_word(writer, "wait"),
		.flow = 99,
	};
	const struct ncs_trace_event arrival = {
		.name = ncs_trace_word(writer, "other"),
		.flow = 99,
		.is_flow_at_end = true,
	};

	ncs_trace_slice(writer, track, BASE_NS + 1500, BASE_NS + 9750, &outer);
	ncs_trace_slice(writer, track, BASE_NS + 2000, BASE_NS + 9750, &inner);
	ncs_trace_slice(writer, track, BASE_NS + 9750, BASE_NS + 9800,
			&arrival);
	/* An event before the trace's base. */
	ncs_trace_instant(writer, process, BASE_NS - 1001, &outer);
	ncs_trace_count(writer, counter, BASE_NS, 1.25);
}

TEST(perfetto_trace_has_everything_written)
{
	const struct decoded_event *event;
	struct written_trace written;
	struct decoded_trace trace;

	begin(&written, NCS_TRACE_PERFETTO);
	write_all(written.writer);
	decode(&written, &trace);
	assert_int_equal(trace.base_ns, BASE_NS);
	assert_int_equal(trace.realtime_ns, BASE_NS + 7);
	assert_int_equal(trace.track_count, 4);
	assert_int_equal(trace.event_count, 5);

	event = &trace.events[0];
	assert_int_equal(event->type, 3);
	assert_int_equal(event->at_ns, BASE_NS - 1001);
	assert_string_equal(decoded_track(&trace, event->track)->name,
			    "rank 0");
	assert_int_equal(decoded_track(&trace, event->track)->place, 3);

	event = &trace.events[1];
	assert_int_equal(event->type, 4);
	assert_true(event->value > 1.2 && event->value < 1.3);
	assert_string_equal(decoded_track(&trace, event->track)->unit, "GB/s");

	event = &trace.events[2];
	assert_string_equal(event->name, "AllReduce");
	assert_string_equal(event->category, "coll");
	assert_int_equal(event->at_ns, BASE_NS + 1500);
	assert_int_equal(event->end_ns, BASE_NS + 9750);
	assert_true(event->correlation == UINT64_C(1) << 63);
	assert_true(decoded_argument(event, "bytes")->number == UINT64_MAX);
	assert_int_equal(decoded_argument(event, "less")->kind, 'i');
	assert_int_equal((int64_t)decoded_argument(event, "less")->number, -5);
	assert_int_equal(decoded_argument(event, "graph")->kind, 'b');
	assert_string_equal(decoded_argument(event, "range")->text,
			    "a \"b\\c\"");

	event = &trace.events[3];
	assert_int_equal(event->depth, 1);
	assert_int_equal(event->flow, 99);
	assert_int_equal(event->flow_ns, BASE_NS + 2000);
	event = &trace.events[4];
	assert_int_equal(event->depth, 0);
	assert_int_equal(event->flow_ns, BASE_NS + 9800);
	assert_int_equal(decoded_flows(&trace), 1);
	decoded_trace_release(&trace);
}

TEST(chrome_trace_has_everything_written)
{
	const json_t *event = NULL, *arguments;
	struct written_trace written;
	json_t *root;

	begin(&written, NCS_TRACE_CHROME);
	write_all(written.writer);
	root = parse(&written);
	assert_string_equal(text_json(json_object_get(root, "otherData"),
				      "base_monotonic_ns"),
			    "0");
	assert_int_equal(count_json(root, "X", &event), 3);
	assert_int_equal(count_json(root, "i", &event), 1);
	assert_true(json_number_value(json_object_get(event, "ts")) ==
		    999999998.999);
	arguments = json_object_get(event, "args");
	assert_int_equal(json_integer_value(json_object_get(arguments, "less")),
			 -5);
	assert_true(json_is_true(json_object_get(arguments, "graph")));
	assert_string_equal(text_json(arguments, "bytes"),
			    "18446744073709551615");
	assert_string_equal(text_json(arguments, "range"), "a \"b\\c\"");
	assert_string_equal(text_json(arguments, "correlation_id"),
			    "0x8000000000000000");
	assert_int_equal(count_json(root, "C", &event), 1);
	assert_true(json_number_value(json_object_get(
			    json_object_get(event, "args"), "GB/s")) == 1.25);
	assert_int_equal(count_json(root, "s", &event), 1);
	assert_true(json_number_value(json_object_get(event, "ts")) ==
		    1000000002.0);
	assert_int_equal(count_json(root, "f", &event), 1);
	/* The last point in time inside the slice. */
	assert_true(json_number_value(json_object_get(event, "ts")) ==
		    1000000009.799);
	/* The process and one thread, each with name and order. */
	assert_int_equal(count_json(root, "M", &event), 6);
	json_decref(root);
}

TEST(names_are_written_once_and_only_if_used)
{
	struct written_trace written;
	struct decoded_trace trace;
	uint32_t track, word;

	begin(&written, NCS_TRACE_PERFETTO);
	track = ncs_trace_track(written.writer, 0, "one", 0);
	ncs_trace_track(written.writer, 0, "nothing is on it", 0);
	for (unsigned i = 0; i < 3000; i++) {
		struct ncs_trace_event event;
		char text[16];

		snprintf(text, sizeof(text), "%u", i / 2);
		word = ncs_trace_word(written.writer, text);
		assert_int_equal(word, ncs_trace_word(written.writer, text));
		event = (struct ncs_trace_event){ .name = word };
		ncs_trace_slice(written.writer, track, BASE_NS + i,
				BASE_NS + i + 1, &event);
	}
	decode(&written, &trace);
	assert_int_equal(trace.track_count, 1);
	assert_int_equal(trace.event_count, 3000);
	assert_string_equal(trace.events[2999].name, "1499");
	decoded_trace_release(&trace);
}

TEST(hostile_names_are_cleaned)
{
	static const char hostile[] = "a\x01\n\xff\xc3z\xe2\x82\xac";
	static const char clean[] = "a????z\xe2\x82\xac";
	enum ncs_trace_format formats[] = { NCS_TRACE_PERFETTO,
					    NCS_TRACE_CHROME };

	for (unsigned i = 0; i < 2; i++) {
		const json_t *found = NULL;
		struct ncs_trace_event event = { 0 };
		struct written_trace written;
		struct decoded_trace trace;
		uint32_t track;
		json_t *root;

		begin(&written, formats[i]);
		track = ncs_trace_process(written.writer, 0, hostile, 0);
		event.name = ncs_trace_word(written.writer, hostile);
		ncs_trace_slice(written.writer, track, BASE_NS, BASE_NS + 1,
				&event);
		if (formats[i] == NCS_TRACE_PERFETTO) {
			decode(&written, &trace);
			assert_string_equal(trace.tracks[0].name, clean);
			assert_string_equal(trace.events[0].name, clean);
			decoded_trace_release(&trace);
			continue;
		}
		root = parse(&written);
		assert_int_equal(count_json(root, "X", &found), 1);
		assert_string_equal(text_json(found, "name"), clean);
		json_decref(root);
	}
}

TEST(slices_of_a_track_never_overlap)
{
	struct ncs_slice_tracks tracks = { .name = "track" };
	struct written_trace written;
	struct decoded_trace trace;
	struct ncs_trace_event event = { 0 };
	uint32_t seed = 1;

	begin(&written, NCS_TRACE_PERFETTO);
	event.category = ncs_trace_word(written.writer, "step");
	tracks.parent = ncs_trace_track(written.writer, 0, "parent", 0);
	for (unsigned i = 0; i < 500; i++) {
		uint64_t end, start;

		seed = seed * 1103515245u + 12345u;
		end = BASE_NS + 10000 + i * 10;
		start = end - (seed >> 16) % 70;
		ncs_trace_slice(written.writer,
				ncs_slice_tracks_take(&tracks, written.writer,
						      start, end),
				start, end, &event);
	}
	decode(&written, &trace);
	assert_int_equal(trace.event_count, 500);
	for (size_t i = 0; i < trace.event_count; i++)
		assert_int_equal(trace.events[i].depth, 0);
	/* There are no more tracks than slices that overlap at any time. */
	assert_in_range(tracks.count, 2, 7);
	for (size_t i = 1; i < trace.track_count; i++)
		assert_string_equal(trace.tracks[i].name, "track");
	decoded_trace_release(&trace);
}

TEST(excess_slice_tracks_are_still_made)
{
	struct ncs_slice_tracks tracks = { .name = "track" };
	struct written_trace written;

	begin(&written, NCS_TRACE_PERFETTO);
	for (unsigned i = 0; i < 2 * NCS_SLICE_TRACKS_MAX; i++)
		assert_int_not_equal(
			ncs_slice_tracks_take(&tracks, written.writer, 5, 100),
			0);
	assert_int_equal(tracks.count, NCS_SLICE_TRACKS_MAX);
	end(&written);
	free(written.text);
}

static void put_end(struct written_trace *written, uint32_t track,
		    uint64_t at_ns, uint64_t flow)
{
	const struct ncs_trace_event event = { .flow = flow };

	ncs_trace_slice(written->writer, track, at_ns, at_ns + 1, &event);
}

TEST(ends_of_an_arrow_are_joined)
{
	struct written_trace written;
	const json_t *found = NULL;
	uint32_t track;
	json_t *root, *one;
	size_t k;

	begin(&written, NCS_TRACE_CHROME);
	track = ncs_trace_process(written.writer, 0, "rank", 0);
	/* Many of these ends have the same first slot. */
	for (uint64_t i = 1; i <= 3000; i++)
		put_end(&written, track, 1000 * i, i);
	for (uint64_t i = 3000; i >= 1; i -= 2)
		put_end(&written, track, BASE_NS, i);
	for (uint64_t i = 1; i < 3000; i += 2)
		put_end(&written, track, BASE_NS, i);
	/* Those are joined, so that these wait for others. */
	for (uint64_t i = 1; i <= 3000; i++)
		put_end(&written, track, BASE_NS, i);
	root = parse(&written);
	assert_int_equal(count_json(root, "s", &found), 3000);
	assert_int_equal(count_json(root, "f", &found), 3000);
	json_array_foreach(json_object_get(root, "traceEvents"), k, one)
	{
		if (strcmp(text_json(one, "ph"), "s") != 0)
			continue;
		assert_int_equal(json_number_value(json_object_get(one, "ts")),
				 strtoull(text_json(one, "id"), NULL, 16));
	}
	json_decref(root);
}

TEST(full_disk_is_an_error)
{
	const struct ncs_trace_base base = { BASE_NS, 0 };
	FILE *file = fopen("/dev/full", "w");

	assert_non_null(file);
	assert_int_equal(
		ncs_trace_close(ncs_trace_open(NCS_TRACE_CHROME, file, &base)),
		-ENOSPC);
	fclose(file);
}
