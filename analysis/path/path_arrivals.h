/* SPDX-License-Identifier: MIT */
/* Arrivals of parts in each run of the pass: when, and why then. Private to the
 * pass; times are ns since its base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_ARRIVALS_H
#define NCS_ANALYSIS_PATH_PATH_ARRIVALS_H

#include "analysis/path/path_state.h"

/* Returns when a part arrives that would by its gaps alone at `at_ns`: not
 * before its call, nor before its communicator's operation before it has
 * ended. */
static inline double
ncs_path_not_before_ns(const struct ncs_path_arrival *arrival, size_t k,
		       double host_factor, double at_ns)
{
	if (arrival->call_predecessor)
		at_ns = ncs_larger(at_ns,
				   arrival->call_predecessor->times_ns[k] +
					   arrival->call_gap_ns * host_factor);
	if (arrival->comm_predecessor)
		at_ns = ncs_larger(at_ns,
				   arrival->comm_predecessor->times_ns[k]);
	return at_ns;
}

/* Returns when a part arrives in run k. `usual_ns` is ncs_path_usual_ns() where
 * stragglers are made faster; negative otherwise. */
double ncs_path_arrival_ns(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part,
			   const struct ncs_path_arrival *arrival,
			   double usual_ns);

/* Returns the time before its arrival that a straggler would take: the median
 * of the parts, or without the rank that the scenario names. Negative if there
 * are no parts to compare with. Reads the arrivals' totals. */
double ncs_path_usual_ns(const struct ncs_path *path,
			 const struct ncs_scenario *scenario,
			 const struct ncs_part *parts, size_t count);

/* Returns whether a part is of the straggler that run k makes faster. It does
 * not arrive later than it did: when it arrives matters only if all others came
 * before it. */
bool ncs_path_is_straggler(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part);

/* Notes the arrivals of all parts in a run that needs to know all of them, or
 * more of each. */
void ncs_path_arrive_separately(const struct ncs_path *path,
				const struct ncs_part *parts, size_t count,
				size_t k, struct ncs_path_start *start);

/* Fills in the node of a part that arrives last in run k, at `at_ns`: what it
 * followed on, and its gaps. */
void ncs_path_explain(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival, double usual_ns,
		      double at_ns, struct ncs_path_node *node);

#endif
