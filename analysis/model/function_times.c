/* SPDX-License-Identifier: MIT */
/* Chooses the time over which percentiles are taken, and computes them; see
 * function_times.h. */
#include "analysis/model/function_times.h"

#include "analysis/base/busbw.h"
#include "analysis/base/percentile.h"
#include "analysis/model/communicators.h"

/* Returns the longest time of a function's classes; 0 if they are not known to
 * have timed all of its operations. */
static uint64_t longest_of_classes(const struct ncs_rank *rank,
				   unsigned function)
{
	const struct ncs_function_view *view = &rank->now.functions[function];
	unsigned timing = ncs_function_timing(view);
	uint64_t timed = 0, longest_ns = 0;

	for (size_t i = 0;
	     timing < NCS_TIMING_COUNT && i < rank->now.class_count; i++) {
		const struct ncs_class_view *class = &rank->now.classes[i];
		const struct ncs_class_times *times = &class->times[timing];

		if (class->function != function || times->timed == 0)
			continue;
		if (times->longest_ns == 0)
			return 0;
		timed += times->timed;
		if (times->longest_ns > longest_ns)
			longest_ns = times->longest_ns;
	}
	return timed > 0 && timed == view->timed[timing] ? longest_ns : 0;
}

uint64_t ncs_rank_longest_ns(const struct ncs_rank *rank, unsigned function)
{
	const uint64_t *histogram =
		ncs_function_histogram(&rank->now.functions[function]);
	uint64_t longest_ns = longest_of_classes(rank, function);

	if (!histogram)
		return 0;
	return longest_ns > 0 ? longest_ns : ncs_percentile(histogram, 1);
}

uint64_t ncs_rank_percentile(const struct ncs_rank *rank, unsigned function,
			     double fraction)
{
	const struct ncs_function_view *view = &rank->now.functions[function];
	const uint64_t *histogram = ncs_function_histogram(view);
	/* Nothing was timed before the window, or it is the latest interval. */
	bool is_all = !rank->base || rank->base->time_count == 0;
	uint64_t counts[NCS_HISTORY_BUCKETS], time_ns, longest_ns;

	if (!histogram)
		return 0;
	longest_ns = longest_of_classes(rank, function);
	if (is_all && fraction >= 1 && longest_ns > 0)
		return longest_ns;
	if (is_all) {
		time_ns = ncs_percentile(histogram, fraction);
	} else {
		ncs_counters_times(rank->base, function,
				   ncs_function_timing(view), histogram,
				   counts);
		time_ns = ncs_percentile_of(counts, 0, NCS_HISTORY_BUCKETS,
					    NCS_HISTORY_BUCKET, fraction);
	}
	/* The middle of the last bucket may be longer than any in it. */
	return longest_ns > 0 && time_ns > longest_ns ? longest_ns : time_ns;
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
