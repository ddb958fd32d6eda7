/* SPDX-License-Identifier: MIT */
/* Arrivals of parts in each run of the pass: their times and their causes.
 * Private to the pass. Times are ns since its base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_ARRIVALS_H
#define NCS_ANALYSIS_PATH_PATH_ARRIVALS_H

#include "analysis/path/path_state.h"

/* Returns when a part arrives that, by its gaps alone, would arrive at `at_ns`:
 * not before its call, which comes `saved_ns` earlier than by the end before
 * it, and not before the previous operation of its communicator has ended. */
static inline double
ncs_path_not_before_ns(const struct ncs_path_arrival *arrival, size_t k,
		       double saved_ns, double at_ns)
{
	const struct ncs_path_before *queued = &arrival->comm_predecessor;

	if (arrival->call_predecessor.finished)
		at_ns = ncs_larger(
			at_ns,
			ncs_path_before_ns(&arrival->call_predecessor, k) +
				(arrival->call_gap_ns - saved_ns));
	if (queued->finished)
		at_ns = ncs_larger(at_ns, ncs_path_before_ns(queued, k) +
						  arrival->comm_gap_ns);
	return at_ns;
}

/* Returns when a part arrives in run k. */
double ncs_path_arrival_ns(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part,
			   const struct ncs_path_arrival *arrival);

/* Notes the arrivals of all parts in a run that needs more facts about each. */
void ncs_path_arrive_separately(struct ncs_path *path,
				const struct ncs_part *parts, size_t count,
				size_t k, struct ncs_path_start *start);

/* Fills in the node of a part that arrives last in run k, at `at_ns`: its
 * predecessor, and its gaps. */
void ncs_path_explain(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival, double at_ns,
		      struct ncs_path_node *node);

#endif
