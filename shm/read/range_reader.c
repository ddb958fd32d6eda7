/* SPDX-License-Identifier: MIT */
/* Copies ranges and their histograms; see reader_internal.h. */
#include "shm/read/reader_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/atomics.h"
#include "shm/clock.h"
#include "shm/segment.h"

int ncs_ranges_init(struct ncs_snapshot *snapshot,
		    const struct ncs_header *header)
{
	if (!NCS_SEGMENT_HAS(header, ranges_filled))
		return 0;
	snapshot->ranges =
		malloc((header->ranges.count + 1) * sizeof(*snapshot->ranges));
	snapshot->range_buckets = malloc((header->range_histograms.count + 1) *
					 NCS_RANGE_BUCKETS * sizeof(uint64_t));
	return snapshot->ranges && snapshot->range_buckets ? 0 : -ENOMEM;
}

void ncs_ranges_release(struct ncs_snapshot *snapshot)
{
	free(snapshot->ranges);
	free(snapshot->range_buckets);
}

/* Loads a number of ticks, in ns. */
static uint64_t load_ns(const struct ncs_reader *reader, const uint64_t *ticks)
{
	return ncs_clock_duration_ns(&reader->header.clock,
				     ncs_load_relaxed(ticks));
}

static void take_times(struct ncs_range_view *view,
		       const struct ncs_range *range, bool has_stream_times)
{
	const struct ncs_stream_times *stream = &range->stream_times;

	for (size_t i = 0; i < NCS_TIMING_STREAM; i++) {
		view->timed[i] = ncs_load_relaxed(&range->timed[i]);
		view->time_ns[i] = ncs_load_relaxed(&range->time_ns[i]);
		view->timed_bytes[i] = ncs_load_relaxed(&range->timed_bytes[i]);
	}
	if (!has_stream_times)
		return;
	view->timed[NCS_TIMING_STREAM] = ncs_load_relaxed(&stream->timed);
	view->time_ns[NCS_TIMING_STREAM] = ncs_load_relaxed(&stream->time_ns);
	view->timed_bytes[NCS_TIMING_STREAM] =
		ncs_load_relaxed(&stream->timed_bytes);
}

static void take_range(struct ncs_snapshot *snapshot,
		       const struct ncs_reader *reader, uint32_t number,
		       const struct ncs_range *range, uint64_t key)
{
	struct ncs_range_view *view = &snapshot->ranges[snapshot->range_count];

	memset(view, 0, sizeof(*view));
	view->number = number;
	view->parent = NCS_RANGE_KEY_PARENT(key);
	/* A parent comes before its children, so a tree has no loops. */
	if (view->parent >= number)
		return;
	ncs_load_words(view->name, range->name, sizeof(view->name));
	view->name[sizeof(view->name) - 1] = '\0';
	view->calls = ncs_load_relaxed(&range->calls);
	view->operations = ncs_load_relaxed(&range->operations);
	view->bytes = ncs_load_relaxed(&range->bytes);
	view->size_unknown = ncs_load_relaxed(&range->size_unknown);
	view->with_children = ncs_load_relaxed(&range->with_children);
	view->with_children_bytes =
		ncs_load_relaxed(&range->with_children_bytes);
	view->busy = NCS_RANGE_BUSY(ncs_load_relaxed(&range->busy));
	view->busy_ns = load_ns(reader, &range->busy_time);
	if (view->busy != 0)
		view->busy_since_ns =
			ncs_clock_ns(&reader->header.clock,
				     ncs_load_relaxed(&range->busy_since));
	view->busy_ns += ncs_snapshot_running_ns(snapshot, view->busy_since_ns);
	take_times(view, range, ncs_segment_has_stream_times(&reader->header));
	for (size_t i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		view->channel_time_ns[i] = load_ns(reader, &range->time[i]);
	view->gpu = ncs_gpu_time_load(&range->gpu);
	snapshot->range_count++;
}

size_t ncs_range_place(const struct ncs_snapshot *snapshot, uint64_t number)
{
	size_t low = 0, high = snapshot->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (snapshot->ranges[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < snapshot->range_count &&
			       snapshot->ranges[low].number == number ?
		       low :
		       snapshot->range_count;
}

static void take_range_histogram(struct ncs_snapshot *snapshot,
				 const struct ncs_range_histogram *histogram)
{
	/* ORDER: pairs with claim_histogram() (plugin/events/range_stats.c):
	 * the key is stored before any count. */
	uint64_t key = ncs_load_acquire(&histogram->key);
	uint64_t timing = key & 0xff, *buckets;
	size_t place = snapshot->range_histogram_count;
	size_t range;

	if (key == 0 || timing >= NCS_TIMING_COUNT)
		return;
	range = ncs_range_place(snapshot, key << 1 >> 9);
	if (range == snapshot->range_count)
		return;
	buckets = &snapshot->range_buckets[place * NCS_RANGE_BUCKETS];
	for (size_t i = 0; i < NCS_RANGE_BUCKETS; i++)
		buckets[i] = ncs_load_relaxed(&histogram->buckets[i]);
	snapshot->ranges[range].histogram[timing] = (uint32_t)(place + 1);
	snapshot->range_histogram_count++;
}

void ncs_ranges_take(struct ncs_snapshot *snapshot,
		     const struct ncs_reader *reader)
{
	const struct ncs_header *header = &reader->header;
	const struct ncs_table *table = &header->range_histograms;
	uint64_t filled;

	snapshot->range_count = snapshot->range_histogram_count = 0;
	if (!NCS_SEGMENT_HAS(header, ranges_filled))
		return;
	filled = ncs_load_relaxed(
		&ncs_reader_mapped_header(reader)->ranges_filled);
	if (filled > header->ranges.count)
		filled = header->ranges.count;
	for (uint32_t i = 0; i < filled; i++) {
		const struct ncs_range *range =
			ncs_reader_entry(reader, &header->ranges, i);
		/* ORDER: pairs with ncs_range_publish()
		 * (plugin/events/range_stats.c): the name is stored before the
		 * key. */
		uint64_t key = ncs_load_acquire(&range->key);

		if (key != 0)
			take_range(snapshot, reader, i + 1, range, key);
	}
	for (size_t i = 0; snapshot->range_count > 0 && i < table->count; i++)
		take_range_histogram(snapshot,
				     ncs_reader_entry(reader, table, i));
}
