/* SPDX-License-Identifier: MIT */
/* Classes of operations; see class_stats.h. */
#include "analysis/model/class_stats.h"

#include "analysis/base/busbw.h"
#include "analysis/base/class_names.h"
#include "analysis/base/percentile.h"

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

bool ncs_class_bytes_known(const struct ncs_rank *rank,
			   const struct ncs_class_view *view)
{
	if (ncs_class_is_other(view))
		return rank->now.functions[view->function].size_unknown == 0;
	return view->size_class != NCS_SIZE_CLASS_UNKNOWN;
}

double ncs_class_algorithm_bandwidth(const struct ncs_rank *rank,
				     const struct ncs_class_view *view)
{
	const struct ncs_class_times *times = ncs_times_of_class(view);

	if (!times || !ncs_class_bytes_known(rank, view))
		return -1;
	return ncs_algorithm_bandwidth(times->bytes, times->time_ns);
}

double ncs_class_bus_bandwidth(const struct ncs_rank *rank,
			       const struct ncs_class_view *view)
{
	const struct ncs_identity *identity = &rank->now.identity;
	int nranks = identity->known & NCS_KNOWN_NRANKS ? identity->nranks : 0;
	double bandwidth = ncs_class_algorithm_bandwidth(rank, view);
	double factor = ncs_bus_factor(view->function, nranks);

	return bandwidth >= 0 && factor >= 0 ? bandwidth * factor : -1;
}
