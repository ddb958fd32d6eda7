/* SPDX-License-Identifier: MIT */
/* Medians, spreads and quantiles of a few values. Pure. */
#ifndef NCS_ANALYSIS_COST_COST_STATS_H
#define NCS_ANALYSIS_COST_COST_STATS_H

#include <stddef.h>

/* Returns the median of values, of which there must be one at least; reorders
 * them. */
double ncs_cost_median(double *values, size_t count);

/* Returns the mean of all but the largest values, of which `trim` per cent are
 * left out; reorders them. */
double ncs_cost_mean_of_least(double *values, size_t count, unsigned trim);

/* Returns the value at a share from 0 to 1 of values in ascending order; reorders
 * them. */
double ncs_cost_at_share(double *values, size_t count, double share);

/* Moves all but the `cut` smallest and as many largest values to the front.
 * Returns their number. */
size_t ncs_cost_cut_outer(double *values, size_t count, size_t cut);

/* Returns the value at a share from 0 to 1 of values in ascending order. */
double ncs_cost_quantile(const float *sorted, size_t count, double share);

/* Sorts values in ascending order. */
void ncs_cost_sort(float *values, size_t count);

#endif
