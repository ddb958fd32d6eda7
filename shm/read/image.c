/* SPDX-License-Identifier: MIT */
/* Takes an image of a live segment; see image.h. A mapping is hostile input: of
 * the geometry only the validated copy is used. */
#include "shm/read/image.h"

#include <string.h>

#include "shm/atomics.h"
#include "shm/labels.h"
#include "shm/read/reader_internal.h"
#include "shm/segment.h"
#include "shm/seqlock.h"

/* An image in the making. */
struct image_writer {
	struct ncs_reader *reader;
	char *image;
	ncs_image_piece *piece;
	void *context;
	bool torn;
};

static size_t offset_of(const struct image_writer *writer, const void *mapped)
{
	return (size_t)((const char *)mapped - writer->reader->mapping);
}

static void report(const struct image_writer *writer, size_t offset,
		   size_t bytes)
{
	if (writer->piece)
		writer->piece(writer->context, offset, bytes);
}

/* Copies words that are valid each by itself. */
static void copy_words(const struct image_writer *writer, const void *mapped,
		       size_t bytes)
{
	ncs_load_words(writer->image + offset_of(writer, mapped), mapped,
		       bytes);
}

static void take_words(const struct image_writer *writer, const void *mapped,
		       size_t bytes)
{
	copy_words(writer, mapped, bytes);
	report(writer, offset_of(writer, mapped), bytes);
}

/* Copies a block under a seqlock. Its sequence is odd in the image if no
 * consistent copy was had. */
static void copy_block(struct image_writer *writer, const void *mapped,
		       size_t bytes)
{
	uint64_t *copy =
		(uint64_t *)(writer->image + offset_of(writer, mapped));

	if (!ncs_seqlock_read(copy, mapped, bytes / sizeof(*copy))) {
		copy[0] |= 1;
		writer->torn = true;
	}
}

/* Writes the labels as the reader has them, cleaned. */
static void take_labels(const struct image_writer *writer)
{
	const struct ncs_reader *reader = writer->reader;
	uint64_t offset = reader->header.labels.offset;

	if (!ncs_segment_has_labels(&reader->header))
		return;
	memcpy(writer->image + offset, reader->labels,
	       ncs_labels_bytes(reader->labels));
	report(writer, offset, sizeof(struct ncs_labels));
}

/* Geometry and clock are those of the validated header; fields of later minor
 * versions, which this program does not know, are left out. */
static void take_header(struct image_writer *writer)
{
#define MEMBER(name) \
	{ \
		offsetof(struct ncs_header, name), \
			sizeof(((struct ncs_header *)NULL)->name) \
	}
	/* Not in headers of all minor versions. */
	static const struct {
		size_t offset, bytes;
	} later[] = {
		MEMBER(filled),   MEMBER(ranges_filled), MEMBER(cupti),
		MEMBER(launches), MEMBER(alive),         MEMBER(other_context),
		MEMBER(graphs),
	};
#undef MEMBER
	const struct ncs_reader *reader = writer->reader;
	const struct ncs_header *mapped = ncs_reader_mapped_header(reader);
	struct ncs_header *copy = (struct ncs_header *)writer->image;

	*copy = reader->header;
	if (copy->header_bytes > sizeof(*copy))
		copy->header_bytes = sizeof(*copy);
	copy_words(writer, &mapped->event_mask,
		   offsetof(struct ncs_header, classes) -
			   offsetof(struct ncs_header, event_mask));
	copy_words(writer, &mapped->outside_code, sizeof(mapped->outside_code));
	copy_block(writer, &mapped->identity, sizeof(mapped->identity));
	copy_block(writer, &mapped->proxy, sizeof(mapped->proxy));
	copy_block(writer, &mapped->gpu_clock, sizeof(mapped->gpu_clock));
	copy_words(writer, &mapped->kernel, sizeof(mapped->kernel));
	copy_words(writer, &mapped->sampling, sizeof(mapped->sampling));
	copy_block(writer, &mapped->settings, sizeof(mapped->settings));
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (reader->header.header_bytes >=
		    later[i].offset + later[i].bytes)
			copy_words(writer, reader->mapping + later[i].offset,
				   later[i].bytes);
	report(writer, 0, sizeof(*copy));
}

/* Returns the bytes of a table's entry that are taken: the entries of an earlier
 * minor version may be shorter than ours. */
static size_t entry_bytes(const struct ncs_table *table, size_t bytes)
{
	return table->stride < bytes ? table->stride : bytes;
}

/* Takes a function's counters. Their sequence is odd in the image if no
 * consistent copy was had. */
static void take_function(struct image_writer *writer,
			  const struct ncs_lane *lane, unsigned function)
{
	struct ncs_lane *copy =
		(struct ncs_lane *)(writer->image + offset_of(writer, lane));
	struct ncs_stream_times times;

	if (!ncs_function_copy(writer->reader, lane, function,
			       &copy->functions[function], &times)) {
		copy->functions[function].sequence |= 1;
		writer->torn = true;
	}
	if (ncs_segment_has_stream_times(&writer->reader->header))
		copy->stream_times[function] = times;
}

/* Takes a lane with the heads of its rings, without records. */
static void take_lane(struct image_writer *writer, size_t index)
{
	const struct ncs_reader *reader = writer->reader;
	const struct ncs_lane *lane =
		ncs_reader_entry(reader, &reader->header.lanes, index);
	const struct ncs_ring *ring =
		ncs_reader_entry(reader, &reader->header.rings, index);
	const struct ncs_ring *own = ncs_reader_ring(reader, index).ring;

	if (!ncs_reader_uses_lane(reader, index))
		return;
	copy_words(writer, lane, offsetof(struct ncs_lane, functions));
	for (unsigned i = 0; i < NCS_FUNCTION_MAX; i++)
		take_function(writer, lane, i);
	report(writer, offset_of(writer, lane),
	       entry_bytes(&reader->header.lanes, sizeof(*lane)));
	take_words(writer, &ring->head, sizeof(ring->head));
	if (own != ring)
		take_words(writer, &own->head, sizeof(own->head));
}

static void take_channels(struct image_writer *writer)
{
	const struct ncs_reader *reader = writer->reader;
	size_t count = ncs_reader_channels(reader);

	for (size_t i = 0; i < count; i++) {
		const struct ncs_channel *channel =
			ncs_reader_entry(reader, &reader->header.channels, i);

		if (ncs_load_relaxed(&channel->key) == 0)
			continue;
		copy_block(writer, channel, sizeof(*channel));
		report(writer, offset_of(writer, channel), sizeof(*channel));
	}
}

/* A slot that is empty, or was being written, is empty in the image. */
static void take_operations(struct image_writer *writer)
{
	struct ncs_reader *reader = writer->reader;
	const struct ncs_table *table = &reader->header.operations;

	ncs_operation_slots_mark(reader);
	for (size_t i = ncs_operation_slot_next(reader, 0); i < table->count;
	     i = ncs_operation_slot_next(reader, i + 1)) {
		size_t offset = table->offset + i * table->stride;
		struct ncs_operation *slot =
			(struct ncs_operation *)(writer->image + offset);
		struct ncs_operation copy = { 0 };

		if (!ncs_operation_slot_copy(reader, i, &copy)) {
			if (slot->number == 0)
				continue;
			memset(&copy, 0, sizeof(copy));
		}
		*slot = copy;
		report(writer, offset, sizeof(copy));
	}
}

/* Takes those of a table's first `count` entries, all of which begin with a key,
 * that are in use. */
static void take_entries(const struct image_writer *writer,
			 const struct ncs_table *table, uint64_t count,
			 size_t bytes)
{
	for (size_t i = 0; i < count && i < table->count; i++) {
		const uint64_t *key =
			ncs_reader_entry(writer->reader, table, i);

		/* ORDER: pairs with claim() (plugin/state/class.c), and with
		 * ncs_range_publish() (plugin/events/range_stats.c), and with
		 * claim_histogram() (plugin/events/range_stats.c): a range's
		 * name is stored before the key, and the key before any
		 * count. */
		if (ncs_load_acquire(key) != 0)
			take_words(writer, key, entry_bytes(table, bytes));
	}
}

/* Takes the buckets that may hold counts, and all other words. */
static void take_histogram(const struct image_writer *writer,
			   const struct ncs_histogram *histogram)
{
	struct ncs_histogram *copy =
		(struct ncs_histogram *)(writer->image +
					 offset_of(writer, histogram));
	uint64_t first, end;

	take_words(writer, &histogram->key, sizeof(histogram->key));
	take_words(writer, &histogram->time_ns,
		   sizeof(*histogram) -
			   offsetof(struct ncs_histogram, time_ns));
	first = copy->first;
	end = copy->end;
	ncs_histogram_bounds(&first, &end);
	take_words(writer, &histogram->buckets[first],
		   (end - first) * sizeof(uint64_t));
}

static void take_histograms(struct image_writer *writer)
{
	const struct ncs_reader *reader = writer->reader;
	const struct ncs_table *table = &reader->header.histograms;

	for (size_t i = 0; i < table->count; i++) {
		const struct ncs_histogram *histogram =
			ncs_reader_entry(reader, table, i);

		/* ORDER: pairs with claim() (plugin/state/class.c): the key is
		 * stored before any count. */
		if (ncs_load_acquire(&histogram->key) == 0)
			break; /* those in use come first */
		take_histogram(writer, histogram);
	}
}

static void take_ranges(const struct image_writer *writer)
{
	const struct ncs_header *header = &writer->reader->header;
	const struct ncs_header *copy = (struct ncs_header *)writer->image;

	if (!NCS_SEGMENT_HAS(header, ranges_filled) || copy->ranges_filled == 0)
		return;
	take_entries(writer, &header->ranges, copy->ranges_filled,
		     sizeof(struct ncs_range));
	take_entries(writer, &header->range_histograms, UINT64_MAX,
		     sizeof(struct ncs_range_histogram));
}

bool ncs_image_take(struct ncs_reader *reader, void *image,
		    ncs_image_piece *piece, void *context)
{
	struct image_writer writer = {
		.reader = reader,
		.image = image,
		.piece = piece,
		.context = context,
	};

	take_header(&writer);
	take_labels(&writer);
	for (size_t i = 0; i < reader->header.lanes.count; i++)
		take_lane(&writer, i);
	take_channels(&writer);
	take_operations(&writer);
	take_entries(&writer, &reader->header.classes, UINT64_MAX,
		     sizeof(struct ncs_class));
	take_histograms(&writer);
	take_ranges(&writer);
	return !writer.torn;
}
