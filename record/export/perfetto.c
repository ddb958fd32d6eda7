/* SPDX-License-Identifier: MIT */
/* Writes traces in Perfetto's format: a sequence of packets in protobuf's
 * encoding.
 *
 * Messages and field numbers are those of Perfetto's public trace format
 * (protos/perfetto/trace: trace_packet, track_event, track_descriptor,
 * interned_data, clock_snapshot). There is one sequence of packets. Names are
 * written once, and then referred to by number. Times are by a clock that
 * begins with the trace, so that the numbers are small.
 */
#include <string.h>

#include "record/export/trace_format.h"

enum {
	/* Trace */
	PACKET = 1,
	/* TracePacket */
	CLOCK_SNAPSHOT = 6,
	TIMESTAMP = 8,
	SEQUENCE_ID = 10,
	TRACK_EVENT = 11,
	INTERNED_DATA = 12,
	SEQUENCE_FLAGS = 13,
	TIMESTAMP_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	TRACK_DESCRIPTOR = 60,
	/* TracePacketDefaults */
	DEFAULT_CLOCK_ID = 58,
	/* ClockSnapshot, and its Clock */
	CLOCKS = 1,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	/* TrackDescriptor, and its CounterDescriptor */
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT_UUID = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDERING = 11,
	TRACK_SIBLING_ORDER_RANK = 12,
	COUNTER_UNIT_NAME = 6,
	/* TrackEvent */
	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_DOUBLE_COUNTER_VALUE = 44,
	EVENT_FLOW_IDS = 47,
	EVENT_CORRELATION_ID = 52,
	/* DebugAnnotation */
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING_IID = 17,
	/* InternedData, and its entries */
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_ANNOTATION_STRINGS = 29,
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,
};

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { EXPLICIT_ORDER = 3 };

/* Ids of clocks. Traces may define ids from 128 on. */
enum { REALTIME = 1, MONOTONIC = 3, BOOTTIME = 6, SINCE_BASE = 128 };

#define SEQUENCE 1

/* Bits of ncs_trace_word.written_in: the tables of the file that have the
 * word. */
enum {
	IN_CATEGORIES = 1,
	IN_NAMES = 2,
	IN_ANNOTATION_NAMES = 4,
	IN_ANNOTATION_STRINGS = 8,
};

/* --- Protobuf ------------------------------------------------------------ */

enum wire { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

/* A message being built. The longest one is the beginning of a slice with all
 * arguments, of at most 24 bytes each, or a message with one word. */
struct protobuf_message {
	size_t bytes;
	uint8_t data[8192];
};

static inline void put_varint(struct protobuf_message *message, uint64_t value)
{
	uint8_t *data = &message->data[message->bytes];

	while (value >= 0x80) {
		*data++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*data++ = (uint8_t)value;
	message->bytes = (size_t)(data - message->data);
}

static inline void put_tag(struct protobuf_message *message, unsigned field,
			   enum wire wire)
{
	put_varint(message, (uint64_t)field << 3 | wire);
}

static inline void put_number(struct protobuf_message *message, unsigned field,
			      uint64_t value)
{
	put_tag(message, field, VARINT);
	put_varint(message, value);
}

static inline void put_fixed(struct protobuf_message *message, unsigned field,
			     uint64_t value)
{
	put_tag(message, field, FIXED64);
	for (unsigned i = 0; i < 8; i++)
		message->data[message->bytes++] = (uint8_t)(value >> 8 * i);
}

static inline void put_bytes(struct protobuf_message *message, unsigned field,
			     const void *data, size_t bytes)
{
	put_tag(message, field, LENGTH);
	put_varint(message, bytes);
	memcpy(&message->data[message->bytes], data, bytes);
	message->bytes += bytes;
}

static inline void put_message(struct protobuf_message *message, unsigned field,
			       const struct protobuf_message *inner)
{
	put_bytes(message, field, inner->data, inner->bytes);
}

static void put_text(struct protobuf_message *message, unsigned field,
		     const char *text)
{
	put_bytes(message, field, text, strlen(text));
}

static void write_packet(struct ncs_trace_writer *writer,
			 const struct protobuf_message *packet)
{
	struct protobuf_message head = { .bytes = 0 };

	put_tag(&head, PACKET, LENGTH);
	put_varint(&head, packet->bytes);
	fwrite_unlocked(head.data, 1, head.bytes, writer->file);
	fwrite_unlocked(packet->data, 1, packet->bytes, writer->file);
}

/* --- Clocks, tracks and words -------------------------------------------- */

static void put_clock(struct protobuf_message *snapshot, unsigned id,
		      uint64_t at_ns)
{
	struct protobuf_message clock = { .bytes = 0 };

	put_number(&clock, CLOCK_ID, id);
	put_number(&clock, CLOCK_TIMESTAMP, at_ns);
	put_message(snapshot, CLOCKS, &clock);
}

static void begin(struct ncs_trace_writer *writer)
{
	uint64_t base_ns = writer->base.base_ns;
	struct protobuf_message packet = { .bytes = 0 }, inner = { .bytes = 0 };

	put_number(&packet, SEQUENCE_ID, SEQUENCE);
	put_number(&packet, SEQUENCE_FLAGS, STATE_CLEARED);
	put_number(&inner, DEFAULT_CLOCK_ID, SINCE_BASE);
	put_message(&packet, PACKET_DEFAULTS, &inner);
	write_packet(writer, &packet);

	packet.bytes = inner.bytes = 0;
	put_number(&packet, SEQUENCE_ID, SEQUENCE);
	put_clock(&inner, BOOTTIME, base_ns);
	put_clock(&inner, SINCE_BASE, 0);
	put_clock(&inner, MONOTONIC, base_ns);
	put_clock(&inner, REALTIME,
		  base_ns + (uint64_t)writer->base.realtime_offset_ns);
	put_message(&packet, CLOCK_SNAPSHOT, &inner);
	write_packet(writer, &packet);
}

static void write_track(struct ncs_trace_writer *writer, uint32_t track)
{
	const struct ncs_trace_track *shown = &writer->tracks[track];
	struct protobuf_message packet = { .bytes = 0 },
				descriptor = { .bytes = 0 },
				counter = { .bytes = 0 };

	put_number(&descriptor, TRACK_UUID, track);
	put_text(&descriptor, TRACK_NAME, writer->words[shown->name]->text);
	if (shown->parent != 0)
		put_number(&descriptor, TRACK_PARENT_UUID, shown->parent);
	put_number(&descriptor, TRACK_CHILD_ORDERING, EXPLICIT_ORDER);
	put_number(&descriptor, TRACK_SIBLING_ORDER_RANK, shown->place);
	if (shown->kind == NCS_TRACE_COUNTER) {
		put_text(&counter, COUNTER_UNIT_NAME,
			 writer->words[shown->unit]->text);
		put_message(&descriptor, TRACK_COUNTER, &counter);
	}
	put_number(&packet, SEQUENCE_ID, SEQUENCE);
	put_message(&packet, TRACK_DESCRIPTOR, &descriptor);
	write_packet(writer, &packet);
}

static void write_word(struct ncs_trace_writer *writer, uint32_t word,
		       unsigned table)
{
	static const unsigned fields[] = {
		[IN_CATEGORIES] = INTERNED_CATEGORIES,
		[IN_NAMES] = INTERNED_NAMES,
		[IN_ANNOTATION_NAMES] = INTERNED_ANNOTATION_NAMES,
		[IN_ANNOTATION_STRINGS] = INTERNED_ANNOTATION_STRINGS,
	};
	struct protobuf_message packet = { .bytes = 0 }, data = { .bytes = 0 },
				entry = { .bytes = 0 };

	put_number(&entry, INTERNED_IID, word);
	put_text(&entry, INTERNED_TEXT, writer->words[word]->text);
	put_message(&data, fields[table], &entry);
	put_number(&packet, SEQUENCE_ID, SEQUENCE);
	put_message(&packet, INTERNED_DATA, &data);
	put_number(&packet, SEQUENCE_FLAGS, NEEDS_STATE);
	write_packet(writer, &packet);
	writer->words[word]->written_in |= (uint8_t)table;
}

static inline void write_new_word(struct ncs_trace_writer *writer,
				  uint32_t word, unsigned table)
{
	if (__builtin_expect(
		    word != 0 && !(writer->words[word]->written_in & table), 0))
		write_word(writer, word, table);
}

/* --- Events -------------------------------------------------------------- */

static void write_new_words(struct ncs_trace_writer *writer,
			    const struct ncs_trace_event *event)
{
	write_new_word(writer, event->name, IN_NAMES);
	write_new_word(writer, event->category, IN_CATEGORIES);
	for (unsigned i = 0; i < event->argument_count; i++) {
		const struct ncs_trace_argument *argument =
			&event->arguments[i];

		write_new_word(writer, argument->name, IN_ANNOTATION_NAMES);
		if (argument->kind == NCS_TRACE_WORD)
			write_new_word(writer, (uint32_t)argument->value,
				       IN_ANNOTATION_STRINGS);
	}
}

/* An event is built inside its packet, behind two bytes reserved for its
 * length, and need not be moved. Protobuf allows numbers longer than
 * necessary. */
#define LENGTH_BYTES 2u
#define PACKET_HEAD_BYTES 24u

static inline size_t begin_event(struct protobuf_message *packet,
				 const struct ncs_trace_writer *writer,
				 uint64_t at_ns, unsigned type, uint32_t track)
{
	size_t length_at;

	/* Leave room for the packet's own tag and length. */
	packet->bytes = PACKET_HEAD_BYTES;
	if (__builtin_expect(at_ns < writer->base.base_ns, 0)) {
		put_number(packet, TIMESTAMP, at_ns);
		put_number(packet, TIMESTAMP_CLOCK_ID, BOOTTIME);
	} else {
		put_number(packet, TIMESTAMP, at_ns - writer->base.base_ns);
	}
	put_number(packet, SEQUENCE_ID, SEQUENCE);
	put_number(packet, SEQUENCE_FLAGS, NEEDS_STATE);
	put_tag(packet, TRACK_EVENT, LENGTH);
	length_at = packet->bytes;
	packet->bytes += LENGTH_BYTES;
	put_number(packet, EVENT_TYPE, type);
	put_number(packet, EVENT_TRACK_UUID, track);
	return length_at;
}

/* Sets the reserved length to the number of bytes behind it. */
static inline void fill_length(struct protobuf_message *packet,
			       size_t length_at)
{
	size_t length = packet->bytes - length_at - LENGTH_BYTES;

	packet->data[length_at] = (uint8_t)(length | 0x80);
	packet->data[length_at + 1] = (uint8_t)(length >> 7);
}

static inline void end_event(struct ncs_trace_writer *writer,
			     struct protobuf_message *packet, size_t length_at)
{
	size_t bytes = packet->bytes - PACKET_HEAD_BYTES;
	size_t at = PACKET_HEAD_BYTES;

	fill_length(packet, length_at);
	if (bytes >= 0x80)
		packet->data[--at] = (uint8_t)(bytes >> 7);
	packet->data[--at] = (uint8_t)(bytes >= 0x80 ? bytes | 0x80 : bytes);
	packet->data[--at] = PACKET << 3 | LENGTH;
	fwrite_unlocked(&packet->data[at], 1, packet->bytes - at, writer->file);
}

static void put_argument(struct protobuf_message *event,
			 const struct ncs_trace_argument *argument)
{
	static const unsigned fields[] = {
		[NCS_TRACE_NUMBER] = ANNOTATION_UINT,
		[NCS_TRACE_WHOLE] = ANNOTATION_INT,
		[NCS_TRACE_FLAG] = ANNOTATION_BOOL,
		[NCS_TRACE_WORD] = ANNOTATION_STRING_IID,
	};
	size_t length_at;

	put_tag(event, EVENT_DEBUG_ANNOTATIONS, LENGTH);
	length_at = event->bytes++; /* always below 128 */
	put_number(event, ANNOTATION_NAME_IID, argument->name);
	put_number(event, fields[argument->kind], argument->value);
	event->data[length_at] = (uint8_t)(event->bytes - length_at - 1);
}

static void put_details(struct protobuf_message *event,
			const struct ncs_trace_event *details)
{
	if (details->name != 0)
		put_number(event, EVENT_NAME_IID, details->name);
	if (details->category != 0)
		put_number(event, EVENT_CATEGORY_IIDS, details->category);
	for (unsigned i = 0; i < details->argument_count; i++)
		put_argument(event, &details->arguments[i]);
	if (details->correlation != 0)
		put_number(event, EVENT_CORRELATION_ID, details->correlation);
}

/* Writes the number of an arrow. Neither end is marked as the last one, because
 * the clocks decide which end is later. */
static void put_flow(struct protobuf_message *event, uint64_t flow)
{
	if (flow != 0)
		put_fixed(event, EVENT_FLOW_IDS, flow);
}

static void write_slice(struct ncs_trace_writer *writer, uint32_t track,
			uint64_t start_ns, uint64_t end_ns,
			const struct ncs_trace_event *event)
{
	struct protobuf_message packet;
	size_t length_at;

	write_new_words(writer, event);
	length_at = begin_event(&packet, writer, start_ns, SLICE_BEGIN, track);
	put_details(&packet, event);
	put_flow(&packet, event->is_flow_at_end ? 0 : event->flow);
	end_event(writer, &packet, length_at);
	length_at = begin_event(&packet, writer, end_ns, SLICE_END, track);
	put_flow(&packet, event->is_flow_at_end ? event->flow : 0);
	end_event(writer, &packet, length_at);
}

static void write_instant(struct ncs_trace_writer *writer, uint32_t track,
			  uint64_t at_ns, const struct ncs_trace_event *event)
{
	struct protobuf_message packet;
	size_t length_at;

	write_new_words(writer, event);
	length_at = begin_event(&packet, writer, at_ns, INSTANT, track);
	put_details(&packet, event);
	end_event(writer, &packet, length_at);
}

static void write_count(struct ncs_trace_writer *writer, uint32_t track,
			uint64_t at_ns, double value)
{
	struct protobuf_message packet;
	size_t length_at;
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	length_at = begin_event(&packet, writer, at_ns, COUNTER, track);
	put_fixed(&packet, EVENT_DOUBLE_COUNTER_VALUE, bits);
	end_event(writer, &packet, length_at);
}

static void end(struct ncs_trace_writer *writer)
{
	(void)writer; /* the file may end after any packet */
}

const struct ncs_trace_functions ncs_trace_perfetto = {
	.begin = begin,
	.track = write_track,
	.slice = write_slice,
	.instant = write_instant,
	.count = write_count,
	.end = end,
};
