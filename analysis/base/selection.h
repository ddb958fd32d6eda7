/* SPDX-License-Identifier: MIT */
/* The value at a place of the sorted order, without sorting: medians and
 * percentiles of values that are all there. Takes linear time on average.
 * Pure. For percentiles of histograms see percentile.h.
 */
#ifndef NCS_ANALYSIS_BASE_SELECTION_H
#define NCS_ANALYSIS_BASE_SELECTION_H

#include <stddef.h>
#include <stdint.h>

/* Returns the value that would be values[place] if the values were sorted.
 * Reorders the values. `place` must be less than `count`; no value may be
 * NaN. */
double ncs_select(double *values, size_t count, size_t place);

/* Returns the least value that `percent` of the values do not exceed, or 0 if
 * there are none. `percent` is 1 to 100. Reorders the values. */
uint64_t ncs_percentile_of_values(uint64_t *values, size_t count,
				  unsigned percent);

#endif
