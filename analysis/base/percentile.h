/* SPDX-License-Identifier: MIT */
/* Percentiles of histograms of durations (ncclstat/histogram.h), and of values that
 * are all there: the value at a place of the sorted order, without sorting, which
 * takes linear time on average. Pure. */
#ifndef NCS_ANALYSIS_BASE_PERCENTILE_H
#define NCS_ANALYSIS_BASE_PERCENTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a percentile of a histogram of NCS_HISTOGRAM_BUCKETS in ns, or 0 if
 * it is empty. `fraction` is 0 to 1. The middle of a bucket stands for all
 * values in it; of the last one, which has no end, its beginning does. */
uint64_t ncs_percentile(const uint64_t *histogram, double fraction);

/* Returns the same for `count` buckets, each of which sums `width` adjacent
 * ones of a histogram; `first` is the place of the first one, counted in
 * buckets of that width. */
uint64_t ncs_percentile_of(const uint64_t *buckets, unsigned first,
			   unsigned count, unsigned width, double fraction);

/* Tells whether a percentile is in the last bucket: at least so long. */
bool ncs_percentile_is_least(uint64_t time_ns);

/* Returns the value that would be values[place] if the values were sorted.
 * Reorders the values. `place` must be less than `count`; no value may be
 * NaN. */
double ncs_select(double *values, size_t count, size_t place);

/* Returns the least value that `percent` of the values do not exceed, or 0 if
 * there are none. `percent` is 1 to 100. Reorders the values. */
uint64_t ncs_percentile_of_values(uint64_t *values, size_t count,
				  unsigned percent);

#endif
