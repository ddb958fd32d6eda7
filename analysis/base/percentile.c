/* SPDX-License-Identifier: MIT */
/* Percentiles of histograms, and Hoare's quickselect; see percentile.h. */
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

/* --- Values --------------------------------------------------------------- */

/* Defines the function for one type. After each round the values up to `k` are
 * at most the pivot, those from `i` on are at least the pivot, and those
 * between equal it. */
#define DEFINE_SELECT(name, type) \
	type name(type *values, size_t count, size_t place) \
	{ \
		size_t low = 0, high = count - 1; \
\
		while (low < high) { \
			type pivot = values[low + (high - low) / 2]; \
			size_t i = low, k = high; \
\
			while (i <= k) { \
				while (values[i] < pivot) \
					i++; \
				while (values[k] > pivot) \
					k--; \
				if (i <= k) { \
					type value = values[i]; \
\
					values[i++] = values[k]; \
					values[k] = value; \
					if (k == 0) \
						break; \
					k--; \
				} \
			} \
			if (place <= k) \
				high = k; \
			else if (place >= i) \
				low = i; \
			else \
				break; \
		} \
		return values[place]; \
	}

/* clang-format off */
DEFINE_SELECT(ncs_select, double)
static DEFINE_SELECT(select_u64, uint64_t)
/* clang-format on */

uint64_t ncs_percentile_of_values(uint64_t *values, size_t count,
				  unsigned percent)
{
	if (count == 0)
		return 0;
	return select_u64(values, count, (count * percent + 99) / 100 - 1);
}
