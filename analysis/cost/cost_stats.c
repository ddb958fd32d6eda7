/* SPDX-License-Identifier: MIT */
/* Medians, spreads and quantiles; see cost_stats.h. */
#include "analysis/cost/cost_stats.h"

#include <stdlib.h>
#include <string.h>

/* Puts the value that belongs at `place` there, and no larger one before it
 * (Wirth's selection). */
static void select_place(double *values, size_t count, size_t place)
{
	ptrdiff_t low = 0, high = (ptrdiff_t)count - 1, at = (ptrdiff_t)place;

	while (low < high) {
		double pivot = values[at];
		ptrdiff_t i = low, j = high;

		do {
			while (values[i] < pivot)
				i++;
			while (pivot < values[j])
				j--;
			if (i <= j) {
				double swapped = values[i];

				values[i++] = values[j];
				values[j--] = swapped;
			}
		} while (i <= j);
		if (j < at)
			low = i;
		if (at < i)
			high = j;
	}
}

double ncs_cost_median(double *values, size_t count)
{
	double upper, lower;

	select_place(values, count, count / 2);
	upper = values[count / 2];
	if (count % 2)
		return upper;
	lower = values[0];
	for (size_t i = 1; i < count / 2; i++)
		if (values[i] > lower)
			lower = values[i];
	return (lower + upper) / 2;
}

double ncs_cost_mean_of_least(double *values, size_t count, unsigned trim)
{
	size_t kept = count * (100 - trim) / 100;
	double sum = 0;

	if (kept == 0)
		kept = 1;
	if (kept < count)
		select_place(values, count, kept);
	for (size_t i = 0; i < kept; i++)
		sum += values[i];
	return sum / (double)kept;
}

double ncs_cost_at_share(double *values, size_t count, double share)
{
	double at = share * (double)(count - 1), next;
	size_t i = (size_t)at;

	select_place(values, count, i);
	if (i + 1 >= count)
		return values[i];
	next = values[i + 1];
	for (size_t k = i + 2; k < count; k++)
		if (values[k] < next)
			next = values[k];
	return values[i] + (at - (double)i) * (next - values[i]);
}

size_t ncs_cost_cut_outer(double *values, size_t count, size_t cut)
{
	if (cut == 0)
		return count;
	select_place(values, count, cut);
	count -= cut;
	memmove(values, values + cut, count * sizeof(*values));
	select_place(values, count, count - cut);
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
