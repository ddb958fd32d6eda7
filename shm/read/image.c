/* SPDX-License-Identifier: MIT */
/* Taking an image of a live segment; see image.h. What is mapped is hostile: it
 * is copied, and what it says is only believed as far as it was checked. */
#include "shm/read/image.h"

#include <string.h>

#include "shm/read/discover.h"
#include "shm/read/reader_internal.h"
#include "shm/segment.h"

/* An image that is being taken. */
struct taking {
	struct ncs_reader *reader;
	char *image;
	ncs_image_piece *piece;
	void *context;
	bool torn;
};

static size_t offset_of(const struct taking *taking, const void *mapped)
{
	return (size_t)((const char *)mapped - taking->reader->mapping);
}

static void tell(const struct taking *taking, size_t offset, size_t bytes)
{
	if (taking->piece)
		taking->piece(taking->context, offset, bytes);
}

/* Words that are valid each by itself. */
static void copy_words(const struct taking *taking, const void *mapped,
		       size_t bytes)
{
	uint64_t *copy =
		(uint64_t *)(taking->image + offset_of(taking, mapped));
	const uint64_t *words = mapped;

	for (size_t i = 0; i < bytes / sizeof(*copy); i++)
		copy[i] = ncs_load_relaxed(&words[i]);
}

static void take_words(const struct taking *taking, const void *mapped,
		       size_t bytes)
{
	copy_words(taking, mapped, bytes);
	tell(taking, offset_of(taking, mapped), bytes);
}

/* A block under a sequence, which stays odd where it is not whole. */
static void copy_block(struct taking *taking, const void *mapped, size_t bytes)
{
	uint64_t *copy =
		(uint64_t *)(taking->image + offset_of(taking, mapped));

	if (!ncs_seqlock_read(copy, mapped, bytes / sizeof(*copy))) {
		copy[0] |= 1;
		taking->torn = true;
	}
}

/* What it says of the geometry and of the clock is what was validated; what we
 * do not know of it is not in the image. */
static void take_header(struct taking *taking)
{
	const struct ncs_reader *reader = taking->reader;
	const struct ncs_header *mapped = ncs_reader_mapped_header(reader);
	struct ncs_header *copy = (struct ncs_header *)taking->image;

	*copy = reader->header;
	if (copy->header_bytes > sizeof(*copy))
		copy->header_bytes = sizeof(*copy);
	copy_words(taking, &mapped->event_mask,
		   offsetof(struct ncs_header, classes) -
			   offsetof(struct ncs_header, event_mask));
	copy_block(taking, &mapped->identity, sizeof(mapped->identity));
	copy_block(taking, &mapped->proxy, sizeof(mapped->proxy));
	copy_block(taking, &mapped->gpu_clock, sizeof(mapped->gpu_clock));
	copy_words(taking, &mapped->kernel, sizeof(mapped->kernel));
	copy_words(taking, &mapped->sampling, sizeof(mapped->sampling));
	copy_block(taking, &mapped->settings, sizeof(mapped->settings));
	if (ncs_reader_tells_filled(reader))
		copy_words(taking, &mapped->filled, sizeof(mapped->filled));
	if (ncs_segment_tells_ranges(&reader->header))
		copy_words(taking, &mapped->ranges_filled,
			   sizeof(mapped->ranges_filled));
	if (ncs_segment_tells_cupti(&reader->header))
		copy_words(taking, &mapped->cupti, sizeof(mapped->cupti));
	tell(taking, 0, sizeof(*copy));
}

/* With the head of its ring, but none of its records. */
static void take_lane(struct taking *taking, size_t index)
{
	const struct ncs_reader *reader = taking->reader;
	const struct ncs_lane *lane =
		ncs_reader_entry(reader, &reader->header.lanes, index);
	const struct ncs_ring *ring =
		ncs_reader_entry(reader, &reader->header.rings, index);

	if (!ncs_reader_uses_lane(reader, index))
		return;
	copy_words(taking, lane, offsetof(struct ncs_lane, functions));
	for (size_t i = 0; i < NCS_FUNCTION_MAX; i++)
		copy_block(taking, &lane->functions[i],
			   sizeof(lane->functions[i]));
	tell(taking, offset_of(taking, lane), sizeof(*lane));
	take_words(taking, &ring->head, sizeof(ring->head));
}

static void take_channels(struct taking *taking)
{
	const struct ncs_reader *reader = taking->reader;
	size_t count = ncs_reader_channels(reader);

	for (size_t i = 0; i < count; i++) {
		const struct ncs_channel *channel =
			ncs_reader_entry(reader, &reader->header.channels, i);

		if (ncs_load_relaxed(&channel->key) == 0)
			continue;
		copy_block(taking, channel, sizeof(*channel));
		tell(taking, offset_of(taking, channel), sizeof(*channel));
	}
}

/* A slot that is empty, or just changing, is empty in the image. */
static void take_operations(struct taking *taking)
{
	struct ncs_reader *reader = taking->reader;
	const struct ncs_table *table = &reader->header.operations;

	ncs_reader_mark_operations(reader);
	for (size_t i = 0; i < table->count; i++) {
		size_t offset = table->offset + i * table->stride;
		struct ncs_operation *held =
			(struct ncs_operation *)(taking->image + offset);
		struct ncs_operation copy = { 0 };

		if (!ncs_reader_holds(reader, i))
			continue;
		if (!ncs_reader_copy_operation(reader, i, &copy)) {
			if (held->number == 0)
				continue;
			memset(&copy, 0, sizeof(copy));
		}
		*held = copy;
		tell(taking, offset, sizeof(copy));
	}
}

static void take_classes(struct taking *taking)
{
	const struct ncs_reader *reader = taking->reader;
	const struct ncs_table *table = &reader->header.classes;

	for (size_t i = 0; i < table->count; i++) {
		const struct ncs_class *class =
			ncs_reader_entry(reader, table, i);

		/* ORDER: pairs with claim() (plugin/state/class.c): the key is there
		 * before any count. */
		if (ncs_load_acquire(&class->key) != 0)
			take_words(taking, class, sizeof(*class));
	}
}

/* Only the buckets that may hold counts. */
static void take_histogram(const struct taking *taking,
			   const struct ncs_histogram *histogram)
{
	struct ncs_histogram *copy =
		(struct ncs_histogram *)(taking->image +
					 offset_of(taking, histogram));
	uint64_t first, end;

	take_words(taking, &histogram->key, sizeof(histogram->key));
	take_words(taking, &histogram->time_ns,
		   sizeof(*histogram) -
			   offsetof(struct ncs_histogram, time_ns));
	first = copy->first;
	end = copy->end;
	if (end == 0 || end > NCS_HISTOGRAM_BUCKETS)
		end = NCS_HISTOGRAM_BUCKETS;
	if (first == 0 || first > end)
		first = 1;
	take_words(taking, &histogram->buckets[first - 1],
		   (end - (first - 1)) * sizeof(uint64_t));
}

static void take_histograms(struct taking *taking)
{
	const struct ncs_reader *reader = taking->reader;
	const struct ncs_table *table = &reader->header.histograms;

	for (size_t i = 0; i < table->count; i++) {
		const struct ncs_histogram *histogram =
			ncs_reader_entry(reader, table, i);

		/* ORDER: pairs with claim() (plugin/state/class.c): the key is there
		 * before any count. */
		if (ncs_load_acquire(&histogram->key) == 0)
			break; /* those in use come first */
		take_histogram(taking, histogram);
	}
}

static void take_ranges(struct taking *taking)
{
	const struct ncs_reader *reader = taking->reader;
	const struct ncs_header *header = &reader->header;
	const struct ncs_header *copy = (struct ncs_header *)taking->image;
	const struct ncs_table *table = &header->range_histograms;

	if (!ncs_segment_tells_ranges(header))
		return;
	for (size_t i = 0; i < copy->ranges_filled && i < header->ranges.count;
	     i++) {
		const struct ncs_range *range =
			ncs_reader_entry(reader, &header->ranges, i);

		/* ORDER: pairs with ncs_range_publish() (plugin/events/range_stats.c):
		 * the name is there before the key. */
		if (ncs_load_acquire(&range->key) != 0)
			take_words(taking, range, sizeof(*range));
	}
	for (size_t i = 0; copy->ranges_filled > 0 && i < table->count; i++) {
		const struct ncs_range_histogram *histogram =
			ncs_reader_entry(reader, table, i);

		/* ORDER: pairs with claim_histogram() (plugin/events/range_stats.c):
		 * the key is there before any count. */
		if (ncs_load_acquire(&histogram->key) != 0)
			take_words(taking, histogram, sizeof(*histogram));
	}
}

bool ncs_image_take(struct ncs_reader *reader, void *image,
		    ncs_image_piece *piece, void *context)
{
	struct taking taking = {
		.reader = reader,
		.image = image,
		.piece = piece,
		.context = context,
	};

	take_header(&taking);
	for (size_t i = 0; i < reader->header.lanes.count; i++)
		take_lane(&taking, i);
	take_channels(&taking);
	take_operations(&taking);
	take_classes(&taking);
	take_histograms(&taking);
	take_ranges(&taking);
	return !taking.torn;
}

struct ncs_image_fate ncs_image_fate(const struct ncs_reader *reader,
				     uint64_t now_ns)
{
	struct ncs_fate fate = ncs_process_fate_at(&reader->header, now_ns);

	return (struct ncs_image_fate){
		.gone = fate.gone,
		.stopped = fate.stopped,
	};
}
