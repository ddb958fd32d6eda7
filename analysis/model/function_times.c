/* SPDX-License-Identifier: MIT */
/* Chooses the time over which percentiles are taken, and computes them; see
 * function_times.h. */
#include "analysis/model/function_times.h"

#include "analysis/base/busbw.h"
#include "analysis/base/percentile.h"
#include "analysis/model/communicators.h"

uint64_t ncs_rank_percentile(const struct ncs_rank *rank, unsigned function,
			     double fraction)
{
	const struct ncs_function_view *view = &rank->now.functions[function];
	const uint64_t *histogram = ncs_function_histogram(view);
	uint64_t counts[NCS_HISTORY_BUCKETS];

	if (!histogram)
		return 0;
	/* Nothing was timed before the window, or it is the latest interval. */
	if (!rank->base || rank->base->time_count == 0)
		return ncs_percentile(histogram, fraction);
	ncs_counters_times(rank->base, function, ncs_function_timing(view),
			   histogram, counts);
	return ncs_percentile_of(counts, 0, NCS_HISTORY_BUCKETS,
				 NCS_HISTORY_BUCKET, fraction);
}

uint64_t ncs_communicator_time_ns(const struct ncs_communicator *communicator,
				  unsigned function)
{
	uint64_t counts[NCS_HISTOGRAM_BUCKETS] = { 0 };

	for (size_t i = 0; i < communicator->rank_count; i++) {
		uint64_t time_ns = ncs_rank_percentile(communicator->ranks[i],
						       function, 0.50);

		if (ncs_percentile_is_least(time_ns))
			counts[NCS_HISTOGRAM_BUCKETS - 1]++;
		else if (time_ns > 0)
			counts[ncs_histogram_bucket(time_ns)]++;
	}
	return ncs_percentile(counts, 0.50);
}
