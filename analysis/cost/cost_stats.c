/* SPDX-License-Identifier: MIT */
/* Medians, spreads and quantiles; see cost_stats.h. */
#include "analysis/cost/cost_stats.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/percentile.h"

double ncs_cost_median(double *values, size_t count)
{
	return ncs_cost_at_share(values, count, 0.5);
}

double ncs_cost_mean_of_least(double *values, size_t count, unsigned trim)
{
	size_t kept = count * (100 - trim) / 100;
	double sum = 0;

	if (kept == 0)
		kept = 1;
	if (kept < count)
		ncs_select(values, count, kept);
	for (size_t i = 0; i < kept; i++)
		sum += values[i];
	return sum / (double)kept;
}

double ncs_cost_at_share(double *values, size_t count, double share)
{
	double at = share * (double)(count - 1), value, next;
	size_t i = (size_t)at;

	value = ncs_select(values, count, i);
	if (i + 1 >= count)
		return value;
	next = values[i + 1];
	for (size_t k = i + 2; k < count; k++)
		if (values[k] < next)
			next = values[k];
	return value + (at - (double)i) * (next - value);
}

size_t ncs_cost_cut_outer(double *values, size_t count, size_t cut)
{
	if (cut == 0)
		return count;
	ncs_select(values, count, cut);
	count -= cut;
	memmove(values, values + cut, count * sizeof(*values));
	ncs_select(values, count, count - cut);
	return count - cut;
}

double ncs_cost_quantile(const float *sorted, size_t count, double share)
{
	double at = share * (double)(count - 1);
	size_t i = (size_t)at;

	if (i + 1 >= count)
		return sorted[count - 1];
	return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

static int compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

void ncs_cost_sort(float *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
}
