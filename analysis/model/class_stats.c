/* SPDX-License-Identifier: MIT */
/* Times of classes and functions; see class_stats.h. */
#include "analysis/model/class_stats.h"

#include "analysis/base/percentile.h"
#include "analysis/base/timings.h"
#include "analysis/model/communicators.h"
#include "ncclstat/size_class.h"

uint64_t ncs_class_percentile(const struct ncs_rank *rank,
			      const struct ncs_class_times *times,
			      double fraction)
{
	uint64_t time_ns =
		ncs_percentile_of(&rank->now.class_buckets[times->place],
				  times->first, times->count, 1, fraction);

	/* The middle of the last bucket may be longer than any in it. */
	if (times->longest_ns > 0 && time_ns > times->longest_ns)
		return times->longest_ns;
	return time_ns;
}

static bool is_of_class(const struct ncs_class_view *view, unsigned function,
			const struct ncs_moving_class *class)
{
	return view->function == function && !ncs_class_is_other(view) &&
	       view->size_class == class->size_class &&
	       (class->algorithm == NCS_CLASS_OTHER ||
		(view->algorithm == class->algorithm &&
		 view->protocol == class->protocol));
}

uint64_t ncs_rank_class_time_ns(const struct ncs_rank *rank, unsigned function,
				const struct ncs_moving_class *class,
				enum ncs_timing timing, uint64_t least,
				double *bytes)
{
	const struct ncs_class_times *found = NULL;

	for (size_t i = 0; i < rank->now.class_count; i++) {
		const struct ncs_class_view *view = &rank->now.classes[i];

		if (!is_of_class(view, function, class))
			continue;
		if (found)
			return 0;
		found = &view->times[timing];
	}
	if (!found || found->timed == 0 || found->timed < least)
		return 0;
	*bytes = (double)found->bytes / (double)found->timed;
	return ncs_class_percentile(rank, found, 0.50);
}

bool ncs_class_bytes_known(const struct ncs_rank *rank,
			   const struct ncs_class_view *view)
{
	if (ncs_class_is_other(view))
		return rank->now.functions[view->function].size_unknown == 0;
	return view->size_class != NCS_SIZE_CLASS_UNKNOWN;
}

struct ncs_moving_view ncs_class_moving(const struct ncs_rank *rank,
					const struct ncs_class_view *view)
{
	const struct ncs_moving_class only = {
		.size_class = (uint8_t)view->size_class,
		.algorithm = (uint8_t)view->algorithm,
		.protocol = (uint8_t)view->protocol,
	};

	if (!rank->communicator || !ncs_class_bytes_known(rank, view) ||
	    ncs_class_is_other(view))
		return (struct ncs_moving_view){ .algbw = -1, .busbw = -1 };
	return ncs_communicator_moving(rank->communicator, view->function,
				       &only);
}

/* --- Functions ---------------------------------------------------------- */

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
