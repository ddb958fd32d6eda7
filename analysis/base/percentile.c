/* SPDX-License-Identifier: MIT */
/* Percentiles of histograms of durations; see percentile.h. */
#include "analysis/base/percentile.h"

#include "ncclstat/histogram.h"

/* Returns the least number of values, at least one, that make up the
 * fraction. */
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

uint64_t ncs_percentile_of(const uint64_t *buckets, unsigned first,
			   unsigned count, unsigned width, double fraction)
{
	uint64_t total = 0, wanted, seen = 0, low_ns, high_ns;
	unsigned place;

	for (unsigned i = 0; i < count; i++)
		total += buckets[i];
	if (total == 0)
		return 0;
	wanted = values_wanted(total, fraction);
	for (place = 0; place + 1 < count; place++) {
		seen += buckets[place];
		if (seen >= wanted)
			break;
	}
	low_ns = ncs_histogram_low((first + place) * width);
	if ((first + place + 1) * width == NCS_HISTOGRAM_BUCKETS)
		return low_ns;
	high_ns = ncs_histogram_low((first + place + 1) * width);
	return low_ns + (high_ns - low_ns) / 2;
}

uint64_t ncs_percentile(const uint64_t *histogram, double fraction)
{
	return ncs_percentile_of(histogram, 0, NCS_HISTOGRAM_BUCKETS, 1,
				 fraction);
}

/* Buckets are as wide as those of a histogram, or of a history or a range,
 * which have four of them. Elsewhere a percentile is never the beginning of
 * these two. */
bool ncs_percentile_is_least(uint64_t time_ns)
{
	return time_ns == ncs_histogram_low(NCS_HISTOGRAM_BUCKETS - 1) ||
	       time_ns == ncs_histogram_low(NCS_HISTOGRAM_BUCKETS - 4);
}
