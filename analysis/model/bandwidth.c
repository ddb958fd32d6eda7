/* SPDX-License-Identifier: MIT */
/* Chooses the time over which percentiles and bandwidth are taken, and computes
 * them; see bandwidth.h. */
#include "analysis/model/bandwidth.h"

#include "analysis/base/busbw.h"
#include "analysis/base/percentile.h"

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

/* Returns the bandwidth of operations timed since `base`; negative if it is not
 * known. */
static double algorithm_bandwidth_since(const struct ncs_function_view *view,
					unsigned timing,
					const struct ncs_timed *base)
{
	/* Bytes of unknown size are missing from the sum. */
	if (view->size_unknown != base->size_unknown ||
	    view->timed_bytes[timing] < base->bytes ||
	    view->time_ns[timing] < base->time_ns)
		return -1;
	return ncs_algorithm_bandwidth(view->timed_bytes[timing] - base->bytes,
				       view->time_ns[timing] - base->time_ns);
}

static double bus_bandwidth(const struct ncs_rank *rank, unsigned function,
			    double bandwidth)
{
	const struct ncs_identity *identity = &rank->now.identity;
	int nranks = identity->known & NCS_KNOWN_NRANKS ? identity->nranks : 0;
	double factor = ncs_bus_factor(function, nranks);

	return bandwidth >= 0 && factor >= 0 ? bandwidth * factor : -1;
}

double ncs_bus_bandwidth_since(const struct ncs_rank *rank, unsigned function,
			       const struct ncs_counters *base)
{
	const struct ncs_function_view *view = &rank->now.functions[function];
	unsigned timing = ncs_function_timing(view);

	if (timing == NCS_TIMING_COUNT)
		return -1;
	return bus_bandwidth(rank, function,
			     algorithm_bandwidth_since(
				     view, timing,
				     &base->functions[function].timed[timing]));
}

double ncs_rank_algorithm_bandwidth(const struct ncs_rank *rank,
				    unsigned function)
{
	const struct ncs_function_view *view = &rank->now.functions[function];
	unsigned timing = ncs_function_timing(view);
	const struct ncs_timed *base;

	if (timing == NCS_TIMING_COUNT)
		return -1;
	base = &rank->timed_before[function][timing];
	if (rank->base &&
	    view->time_ns[timing] >
		    rank->base->functions[function].timed[timing].time_ns)
		base = &rank->base->functions[function].timed[timing];
	return algorithm_bandwidth_since(view, timing, base);
}

double ncs_rank_bus_bandwidth(const struct ncs_rank *rank, unsigned function)
{
	return bus_bandwidth(rank, function,
			     ncs_rank_algorithm_bandwidth(rank, function));
}
