/* SPDX-License-Identifier: MIT */
/* Sums over trees of ranges; see range_totals.h. */
#include "analysis/model/range_totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/percentile.h"
#include "analysis/base/timings.h"

static void add(struct ncs_range_sum *to, const struct ncs_range_sum *from)
{
	to->calls += from->calls;
	to->operations += from->operations;
	to->bytes += from->bytes;
	to->size_unknown += from->size_unknown;
	to->with_children += from->with_children;
	to->with_children_bytes += from->with_children_bytes;
	for (size_t i = 0; i < NCS_TIMING_COUNT; i++) {
		to->timed[i] += from->timed[i];
		to->time_ns[i] += from->time_ns[i];
	}
	for (size_t i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		to->channel_time_ns[i] += from->channel_time_ns[i];
	to->gpu.compute_kernels += from->gpu.compute_kernels;
	to->gpu.compute_ns += from->gpu.compute_ns;
	to->gpu.communication_kernels += from->gpu.communication_kernels;
	to->gpu.communication_ns += from->gpu.communication_ns;
	to->gpu.hidden_ns += from->gpu.hidden_ns;
}

static struct ncs_range_sum own(const struct ncs_range_view *range)
{
	struct ncs_range_sum sum = {
		.range = range,
		.calls = range->calls,
		.operations = range->operations,
		.bytes = range->bytes,
		.size_unknown = range->size_unknown,
		.with_children = range->with_children,
		.with_children_bytes = range->with_children_bytes,
		.gpu = range->gpu,
	};

	memcpy(sum.timed, range->timed, sizeof(sum.timed));
	memcpy(sum.time_ns, range->time_ns, sizeof(sum.time_ns));
	memcpy(sum.channel_time_ns, range->channel_time_ns,
	       sizeof(sum.channel_time_ns));
	return sum;
}

void ncs_range_append_path(const struct ncs_snapshot *snapshot, uint32_t number,
			   char *text, size_t size)
{
	size_t place = ncs_range_place(snapshot, number);
	const struct ncs_range_view *range;

	if (place == snapshot->range_count)
		return;
	range = &snapshot->ranges[place];
	/* A range is never inside one that came later: the reader checks
	 * this. */
	if (range->parent != 0 && range->parent < number) {
		ncs_range_append_path(snapshot, range->parent, text, size);
		ncs_append(text, size, "/");
	}
	ncs_append(text, size, "%s", range->name);
}

/* A range's place in the tree; after the last range of a snapshot, that of all
 * outermost ones together. */
struct place {
	size_t parent; /* a place in the snapshot */
	size_t ranges; /* in it, and itself */
	size_t at;     /* its place in the order of the tree … */
	size_t next;   /* … and that of the next range inside it */
};

/* A range has a larger number than the one around it: the reader checks this. */
static void find_places(const struct ncs_snapshot *snapshot,
			struct place *places)
{
	size_t count = snapshot->range_count;

	for (size_t i = count; i-- > 0;) {
		size_t parent =
			snapshot->ranges[i].parent ?
				ncs_range_place(snapshot,
						snapshot->ranges[i].parent) :
				count;

		places[i].parent = parent < i ? parent : count;
		places[i].ranges++;
		places[places[i].parent].ranges += places[i].ranges;
	}
	for (size_t i = 0; i < count; i++) {
		struct place *parent = &places[places[i].parent];

		places[i].at = parent->next;
		places[i].next = places[i].at + 1;
		parent->next += places[i].ranges;
	}
}

int ncs_ranges_sum(const struct ncs_snapshot *snapshot,
		   struct ncs_range_sum *sums)
{
	size_t count = snapshot->range_count;
	struct place *places = calloc(count + 1, sizeof(*places));

	if (!places)
		return -ENOMEM;
	find_places(snapshot, places);
	for (size_t i = 0; i < count; i++) {
		struct ncs_range_sum *sum = &sums[places[i].at];

		*sum = own(&snapshot->ranges[i]);
		if (places[i].parent < count)
			sum->depth =
				sums[places[places[i].parent].at].depth + 1;
	}
	for (size_t i = count; i-- > 0;)
		if (places[i].parent < count)
			add(&sums[places[places[i].parent].at],
			    &sums[places[i].at]);
	free(places);
	return 0;
}

/* Whether a range has this number, or is inside the range that has it. */
static bool is_within(const struct ncs_snapshot *snapshot,
		      const struct ncs_range_view *range, uint32_t number)
{
	while (range->number > number) {
		size_t place = ncs_range_place(snapshot, range->parent);

		if (range->parent == 0 || place == snapshot->range_count)
			return false;
		range = &snapshot->ranges[place];
	}
	return range->number == number;
}

uint64_t ncs_range_percentile(const struct ncs_snapshot *snapshot,
			      const struct ncs_range_sum *sum, double fraction)
{
	uint64_t histogram[NCS_HISTOGRAM_BUCKETS] = { 0 };
	unsigned timing = ncs_best_timing(sum->timed);

	if (timing == NCS_TIMING_COUNT)
		return 0;
	for (size_t i = 0; i < snapshot->range_count; i++) {
		const struct ncs_range_view *range = &snapshot->ranges[i];
		const uint64_t *buckets = ncs_range_buckets(
			snapshot, range, (enum ncs_timing)timing);

		if (!buckets || !is_within(snapshot, range, sum->range->number))
			continue;
		for (unsigned k = 0; k < NCS_RANGE_BUCKETS - 1; k++)
			histogram[ncs_range_bucket_middle(k)] += buckets[k];
		histogram[NCS_HISTOGRAM_BUCKETS - 1] +=
			buckets[NCS_RANGE_BUCKETS - 1];
	}
	return ncs_percentile(histogram, fraction);
}

double ncs_range_busy_bandwidth(const struct ncs_range_sum *sum)
{
	if (sum->size_unknown > 0)
		return -1;
	return ncs_algorithm_bandwidth(sum->with_children_bytes,
				       sum->range->busy_ns);
}

enum ncs_channel_state ncs_range_wait(const struct ncs_range_sum *sum,
				      double *share)
{
	enum ncs_channel_state longest = NCS_CHANNEL_IDLE;
	uint64_t total_ns = 0, longest_ns = 0;

	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++) {
		total_ns += sum->channel_time_ns[i];
		if (sum->channel_time_ns[i] <= longest_ns)
			continue;
		longest_ns = sum->channel_time_ns[i];
		longest = (enum ncs_channel_state)i;
	}
	*share = total_ns > 0 ? (double)longest_ns / (double)total_ns : 0;
	return longest;
}
