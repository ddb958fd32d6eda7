/* SPDX-License-Identifier: MIT */
/* Classes of operations; see class_stats.h. */
#include "analysis/model/class_stats.h"

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
