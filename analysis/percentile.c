/* Percentiles of a duration histogram (ncclstat/histogram.h). Pure; the
 * middle of a bucket stands for all values in it. */
#include "analysis/model.h"

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

uint64_t ncs_percentile_of(const uint64_t *buckets, unsigned first,
			   unsigned count, double fraction)
{
	uint64_t total = 0, wanted, seen = 0;

	for (unsigned i = 0; i < count; i++)
		total += buckets[i];
	if (total == 0)
		return 0;
	wanted = values_wanted(total, fraction);
	for (unsigned i = 0; i < count; i++) {
		seen += buckets[i];
		if (seen >= wanted)
			return ncs_histogram_middle(first + i);
	}
	return ncs_histogram_middle(first + count - 1);
}

uint64_t ncs_percentile(const uint64_t *histogram, double fraction)
{
	return ncs_percentile_of(histogram, 0, NCS_HISTOGRAM_BUCKETS, fraction);
}
