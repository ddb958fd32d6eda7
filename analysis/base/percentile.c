/* SPDX-License-Identifier: MIT */
/* Percentiles of a duration histogram (ncclstat/histogram.h). Pure; the
 * middle of a bucket stands for all values in it. */
#include "analysis/model/model.h"

#include "ncclstat/histogram.h"

uint64_t ncs_histogram_total(const uint64_t *histogram)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < NCS_HISTOGRAM_BUCKETS; i++)
		total += histogram[i];
	return total;
}

/* The least number of values, at least one, that make up the fraction. */
static uint64_t values_wanted(uint64_t total, double fraction)
{
	uint64_t wanted;

	if (!(fraction > 0))
		return 1;
	if (fraction >= 1)
		return total;
	wanted = (uint64_t)((double)total * fraction);
	if ((double)wanted < (double)total * fraction)
		wanted++;
	return wanted > 0 ? wanted : 1;
}

/* Of `count` buckets from the place `first` on, each of which stands for
 * `width` of the histogram's. */
static uint64_t percentile(const uint64_t *counts, unsigned first,
			   unsigned count, unsigned width, double fraction)
{
	uint64_t total = 0, wanted, seen = 0, low_ns, high_ns;
	unsigned place;

	for (unsigned i = 0; i < count; i++)
		total += counts[i];
	if (total == 0)
		return 0;
	wanted = values_wanted(total, fraction);
	for (place = 0; place + 1 < count; place++) {
		seen += counts[place];
		if (seen >= wanted)
			break;
	}
	low_ns = ncs_histogram_low((first + place) * width);
	high_ns = ncs_histogram_low((first + place + 1) * width);
	return low_ns + (high_ns - low_ns) / 2;
}

uint64_t ncs_percentile_of(const uint64_t *buckets, unsigned first,
			   unsigned count, double fraction)
{
	return percentile(buckets, first, count, 1, fraction);
}

uint64_t ncs_percentile(const uint64_t *histogram, double fraction)
{
	return percentile(histogram, 0, NCS_HISTOGRAM_BUCKETS, 1, fraction);
}

uint64_t ncs_rank_percentile(const struct ncs_rank *rank, unsigned function,
			     double fraction)
{
	const struct ncs_function_view *view = &rank->now.functions[function];
	const uint64_t *histogram = ncs_function_histogram(view);
	uint64_t counts[NCS_HISTORY_BUCKETS];

	if (!histogram)
		return 0;
	/* Nothing had been timed by then, or it is the latest interval. */
	if (!rank->base || rank->base->time_count == 0)
		return ncs_percentile(histogram, fraction);
	ncs_counters_times(rank->base, function, ncs_function_timing(view),
			   histogram, counts);
	return percentile(counts, 0, NCS_HISTORY_BUCKETS, NCS_HISTORY_BUCKET,
			  fraction);
}
