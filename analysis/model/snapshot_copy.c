/* SPDX-License-Identifier: MIT */
/* Copies of snapshots; see snapshot_copy.h. */
#include "analysis/model/snapshot_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Makes room in the array at `array` for exactly `count` items: snapshots have
 * no capacities. Returns 0 or -ENOMEM. */
static int resize(void *array, size_t count, size_t size)
{
	void *old, *resized;

	memcpy(&old, array, sizeof(old));
	resized = realloc(old, (count > 0 ? count : 1) * size);
	if (!resized)
		return -ENOMEM;
	memcpy(array, &resized, sizeof(resized));
	return 0;
}

static int resize_histogram(uint64_t **to, const uint64_t *from)
{
	if (from && !*to) {
		*to = malloc(NCS_HISTOGRAM_BUCKETS * sizeof(**to));
		return *to ? 0 : -ENOMEM;
	}
	if (!from) {
		free(*to);
		*to = NULL;
	}
	return 0;
}

/* Makes room in `to` for all that `from` points to. Returns 0 or -ENOMEM. */
static int snapshot_resize(struct ncs_snapshot *to,
			   const struct ncs_snapshot *from)
{
	int error = 0;

	error |= resize(&to->channels, from->channel_count,
			sizeof(*to->channels));
	error |= resize(&to->operations, from->operation_count,
			sizeof(*to->operations));
	error |= resize(&to->lanes, from->lane_count, sizeof(*to->lanes));
	error |= resize(&to->classes, from->class_count, sizeof(*to->classes));
	error |= resize(&to->class_buckets, from->class_bucket_count,
			sizeof(*to->class_buckets));
	error |= resize(&to->ranges, from->range_count, sizeof(*to->ranges));
	error |= resize(&to->range_buckets,
			from->range_histogram_count * NCS_RANGE_BUCKETS,
			sizeof(*to->range_buckets));
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		for (size_t k = 0; k < NCS_TIMING_COUNT; k++)
			error |= resize_histogram(
				&to->functions[i].histogram[k],
				from->functions[i].histogram[k]);
	return error;
}

static void copy_array(void *to, const void *from, size_t count, size_t size)
{
	if (count > 0)
		memcpy(to, from, count * size);
}

int ncs_snapshot_copy(struct ncs_snapshot *to, const struct ncs_snapshot *from)
{
	struct ncs_snapshot old;

	if (snapshot_resize(to, from) != 0)
		return -ENOMEM;
	old = *to;
	*to = *from;
	to->channels = old.channels;
	to->operations = old.operations;
	to->lanes = old.lanes;
	to->classes = old.classes;
	to->class_buckets = old.class_buckets;
	to->ranges = old.ranges;
	to->range_buckets = old.range_buckets;
	copy_array(to->channels, from->channels, from->channel_count,
		   sizeof(*to->channels));
	copy_array(to->operations, from->operations, from->operation_count,
		   sizeof(*to->operations));
	copy_array(to->lanes, from->lanes, from->lane_count,
		   sizeof(*to->lanes));
	copy_array(to->classes, from->classes, from->class_count,
		   sizeof(*to->classes));
	copy_array(to->class_buckets, from->class_buckets,
		   from->class_bucket_count, sizeof(*to->class_buckets));
	copy_array(to->ranges, from->ranges, from->range_count,
		   sizeof(*to->ranges));
	copy_array(to->range_buckets, from->range_buckets,
		   from->range_histogram_count * NCS_RANGE_BUCKETS,
		   sizeof(*to->range_buckets));
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		for (size_t k = 0; k < NCS_TIMING_COUNT; k++) {
			uint64_t *histogram = old.functions[i].histogram[k];

			to->functions[i].histogram[k] = histogram;
			if (histogram)
				memcpy(histogram,
				       from->functions[i].histogram[k],
				       NCS_HISTOGRAM_BUCKETS *
					       sizeof(*histogram));
		}
	}
	return 0;
}
