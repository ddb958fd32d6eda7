/* SPDX-License-Identifier: MIT */
/* A decoder of Perfetto's protobuf; see decoded_trace.h. */
#include "test/unit/support/decoded_trace.h"

#include <stdlib.h>
#include <string.h>

#include "shm/array.h"
#include "test/unit/support/unit.h"

/* Tables of interned strings: categories, event names, names and texts of
 * arguments. */
enum { CATEGORIES, NAMES, ARGUMENTS, TEXTS, TABLES };
#define WORDS 4096

struct decoded_words {
	char *text[TABLES][WORDS];
	char *others[WORDS]; /* names of tracks */
	size_t other_count;
};

/* The rest of a message. */
struct decoded_message {
	const uint8_t *at;
	const uint8_t *end;
};

struct decoded_field {
	unsigned number;
	unsigned wire;
	uint64_t value;
	struct decoded_message inner;
};

static uint64_t take_varint(struct decoded_message *message)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte;

		assert_true(message->at < message->end);
		byte = *message->at++;
		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (!(byte & 0x80))
			return value;
	}
	fail_msg("a number of more than ten bytes");
	return 0;
}

/* Takes the next field. Returns false at the end of the message. */
static bool take(struct decoded_message *message, struct decoded_field *field)
{
	uint64_t tag;

	if (message->at == message->end)
		return false;
	tag = take_varint(message);
	field->number = (unsigned)(tag >> 3);
	field->wire = tag & 7;
	if (field->wire == 0) {
		field->value = take_varint(message);
	} else if (field->wire == 1) {
		assert_true(message->end - message->at >= 8);
		memcpy(&field->value, message->at, 8);
		message->at += 8;
	} else {
		uint64_t length;

		assert_int_equal(field->wire, 2);
		length = take_varint(message);
		assert_true(length <= (uint64_t)(message->end - message->at));
		field->inner = (struct decoded_message){ message->at,
							 message->at + length };
		message->at += length;
	}
	return true;
}

static char *text_of(const struct decoded_message *message)
{
	return strndup((const char *)message->at,
		       (size_t)(message->end - message->at));
}

static const char *keep(struct decoded_words *words, char *text)
{
	assert_true(words->other_count < WORDS);
	words->others[words->other_count++] = text;
	return text;
}

static const char *word(const struct decoded_trace *trace, unsigned table,
			uint64_t id)
{
	assert_true(id > 0 && id < WORDS);
	assert_non_null(trace->words->text[table][id]);
	return trace->words->text[table][id];
}

static void read_interned(struct decoded_trace *trace,
			  struct decoded_message data)
{
	struct decoded_field table, field;

	while (take(&data, &table)) {
		unsigned of = table.number == 1  ? CATEGORIES :
			      table.number == 2  ? NAMES :
			      table.number == 3  ? ARGUMENTS :
			      table.number == 29 ? TEXTS :
						   TABLES;
		uint64_t id = 0;
		char *text = NULL;

		assert_int_not_equal(of, TABLES);
		while (take(&table.inner, &field)) {
			if (field.number == 1)
				id = field.value;
			else
				text = text_of(&field.inner);
		}
		assert_true(id > 0 && id < WORDS && text);
		assert_null(trace->words->text[of][id]); /* defined once */
		trace->words->text[of][id] = text;
	}
}

static void read_track(struct decoded_trace *trace, struct decoded_message data)
{
	struct decoded_track track = { 0 };
	struct decoded_field field, inner;

	while (take(&data, &field)) {
		if (field.number == 1)
			track.uuid = field.value;
		else if (field.number == 2)
			track.name = keep(trace->words, text_of(&field.inner));
		else if (field.number == 5)
			track.parent = field.value;
		else if (field.number == 8)
			while (take(&field.inner, &inner))
				track.unit = keep(trace->words,
						  text_of(&inner.inner));
		else if (field.number == 12)
			track.place = field.value;
		else
			assert_int_equal(field.number, 11);
	}
	assert_null(decoded_track(trace, track.uuid));
	assert_true(track.parent == 0 ||
		    decoded_track(trace, track.parent) != NULL);
	assert_int_equal(
		ncs_array_reserve(&trace->tracks, &trace->track_capacity,
				  trace->track_count + 1, sizeof(track)),
		0);
	trace->tracks[trace->track_count++] = track;
}

static void read_snapshot(struct decoded_trace *trace,
			  struct decoded_message data)
{
	struct decoded_field clock, field;
	uint64_t clocks[129] = { 0 };

	while (take(&data, &clock)) {
		uint64_t id = 0, at = 0;

		while (take(&clock.inner, &field))
			*(field.number == 1 ? &id : &at) = field.value;
		assert_true(id < 129);
		clocks[id] = at;
	}
	assert_int_equal(clocks[128], 0);
	trace->base_ns = clocks[6];
	trace->realtime_ns = clocks[1];
	assert_int_equal(clocks[3], clocks[6]);
}

static void read_argument(const struct decoded_trace *trace,
			  struct decoded_event *event,
			  struct decoded_message data)
{
	static const char kinds[] = { [2] = 'b', [3] = 'u', [4] = 'i' };
	struct decoded_argument *argument;
	struct decoded_field field;

	assert_true(event->argument_count < DECODED_ARGUMENTS_MAX);
	argument = &event->arguments[event->argument_count++];
	while (take(&data, &field)) {
		if (field.number == 1) {
			argument->name = word(trace, ARGUMENTS, field.value);
		} else if (field.number == 17) {
			argument->kind = 's';
			argument->text = word(trace, TEXTS, field.value);
		} else {
			assert_in_range(field.number, 2, 4);
			argument->kind = kinds[field.number];
			argument->number = field.value;
		}
	}
	assert_non_null(argument->name);
}

static void read_event(struct decoded_trace *trace, struct decoded_message data,
		       uint64_t at_ns)
{
	struct decoded_event event = { .at_ns = at_ns,
				       .order = trace->event_count };
	struct decoded_field field;

	while (take(&data, &field)) {
		switch (field.number) {
		case 3:
			event.category = word(trace, CATEGORIES, field.value);
			break;
		case 4:
			read_argument(trace, &event, field.inner);
			break;
		case 9:
			event.type = field.value;
			break;
		case 10:
			event.name = word(trace, NAMES, field.value);
			break;
		case 11:
			event.track = field.value;
			break;
		case 44:
			assert_int_equal(field.wire, 1);
			memcpy(&event.value, &field.value, 8);
			break;
		case 47:
			assert_int_equal(field.wire, 1);
			event.flow = field.value;
			event.flow_ns = at_ns;
			break;
		case 52:
			event.correlation = field.value;
			break;
		default:
			fail_msg("unknown field %u", field.number);
		}
	}
	assert_non_null(decoded_track(trace, event.track));
	assert_int_equal(
		ncs_array_reserve(&trace->events, &trace->event_capacity,
				  trace->event_count + 1, sizeof(event)),
		0);
	trace->events[trace->event_count++] = event;
}

static void read_packet(struct decoded_trace *trace,
			struct decoded_message packet)
{
	struct decoded_message event = { 0 };
	uint64_t at_ns = 0, clock = 128;
	struct decoded_field field;

	while (take(&packet, &field)) {
		switch (field.number) {
		case 6:
			read_snapshot(trace, field.inner);
			break;
		case 8:
			at_ns = field.value;
			break;
		case 11:
			event = field.inner;
			break;
		case 12:
			read_interned(trace, field.inner);
			break;
		case 58:
			clock = field.value;
			break;
		case 60:
			read_track(trace, field.inner);
			break;
		default:
			assert_true(field.number == 10 || field.number == 13 ||
				    field.number == 59);
		}
	}
	if (event.at)
		read_event(trace, event,
			   at_ns + (clock == 128 ? trace->base_ns : 0));
}

/* --- Slices --------------------------------------------------------------- */

/* Events at the same time stay in the order of the file. */
static int compare(const void *left, const void *right)
{
	const struct decoded_event *a = left, *b = right;

	if (a->at_ns != b->at_ns)
		return a->at_ns > b->at_ns ? 1 : -1;
	return (a->order > b->order) - (a->order < b->order);
}

static size_t most_tracks(const struct decoded_trace *trace)
{
	uint64_t most = 0;

	for (size_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].uuid > most)
			most = trace->tracks[i].uuid;
	assert_true(most < 1 << 20);
	return most + 1;
}

/* Joins beginnings and ends as a viewer does: an end belongs to the slice that
 * began last. */
static void nest(struct decoded_trace *trace)
{
	struct decoded_event *events = trace->events;
	/* The open slice of each track, and the slice around each slice:
	 * indexes from 1. */
	size_t *open = calloc(most_tracks(trace), sizeof(*open));
	size_t *around = calloc(trace->event_count + 1, sizeof(*around));
	size_t kept = 0;

	for (size_t i = 0; i < trace->event_count; i++) {
		struct decoded_event event = events[i];
		size_t *last = &open[event.track];

		if (event.type == 2) {
			struct decoded_event *slice = &events[*last - 1];

			assert_int_not_equal(*last, 0);
			slice->end_ns = event.at_ns;
			if (event.flow) {
				slice->flow = event.flow;
				slice->flow_ns = event.at_ns;
			}
			*last = around[*last];
			continue;
		}
		event.depth = *last ? events[*last - 1].depth + 1 : 0;
		events[kept++] = event;
		if (event.type == 1) {
			around[kept] = *last;
			*last = kept;
		}
	}
	trace->event_count = kept;
	for (size_t i = 0; i < most_tracks(trace); i++)
		assert_int_equal(open[i], 0);
	free(open);
	free(around);
}

void decoded_trace_read(struct decoded_trace *trace, const void *bytes,
			size_t size)
{
	struct decoded_message file = { bytes, (const uint8_t *)bytes + size };
	struct decoded_field packet;

	memset(trace, 0, sizeof(*trace));
	trace->words = calloc(1, sizeof(*trace->words));
	while (take(&file, &packet)) {
		assert_int_equal(packet.number, 1);
		assert_int_equal(packet.wire, 2);
		read_packet(trace, packet.inner);
	}
	if (trace->event_count > 0)
		qsort(trace->events, trace->event_count, sizeof(*trace->events),
		      compare);
	nest(trace);
}

void decoded_trace_release(struct decoded_trace *trace)
{
	for (unsigned i = 0; i < TABLES; i++)
		for (unsigned k = 0; k < WORDS; k++)
			free(trace->words->text[i][k]);
	for (size_t i = 0; i < trace->words->other_count; i++)
		free(trace->words->others[i]);
	free(trace->words);
	free(trace->events);
	free(trace->tracks);
}

/* --- Reading it ----------------------------------------------------------- */

const struct decoded_track *decoded_track(const struct decoded_trace *trace,
					  uint64_t uuid)
{
	for (size_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].uuid == uuid)
			return &trace->tracks[i];
	return NULL;
}

const struct decoded_event *decoded_next(const struct decoded_trace *trace,
					 const char *category, size_t *at)
{
	while (*at < trace->event_count) {
		const struct decoded_event *event = &trace->events[(*at)++];

		if (event->category && strcmp(event->category, category) == 0)
			return event;
	}
	return NULL;
}

size_t decoded_count(const struct decoded_trace *trace, const char *category)
{
	size_t count = 0, at = 0;

	while (decoded_next(trace, category, &at))
		count++;
	return count;
}

const struct decoded_argument *
decoded_argument(const struct decoded_event *event, const char *name)
{
	for (unsigned i = 0; i < event->argument_count; i++)
		if (strcmp(event->arguments[i].name, name) == 0)
			return &event->arguments[i];
	return NULL;
}

size_t decoded_flows(const struct decoded_trace *trace)
{
	size_t pairs = 0;

	for (size_t i = 0; i < trace->event_count; i++) {
		size_t others = 0;

		for (size_t k = i + 1;
		     trace->events[i].flow != 0 && k < trace->event_count; k++)
			others += trace->events[k].flow ==
				  trace->events[i].flow;
		assert_in_range(others, 0, 1);
		pairs += others;
	}
	return pairs;
}
