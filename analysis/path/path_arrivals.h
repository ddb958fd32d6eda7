/* SPDX-License-Identifier: MIT */
/* Arrivals of parts in each run of the pass: their times and their causes.
 * Private to the pass. Times are ns since its base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_ARRIVALS_H
#define NCS_ANALYSIS_PATH_PATH_ARRIVALS_H

#include "analysis/path/path_state.h"

/* Returns when a part arrives that, by its gaps alone, would arrive at `at_ns`:
 * not before its call, and not before the previous operation of its
 * communicator has ended. */
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

/* Returns when a part arrives in run k. `usual_ns` is the result of
 * ncs_path_usual_ns() if the run makes stragglers faster; negative
 * otherwise. */
double ncs_path_arrival_ns(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part,
			   const struct ncs_path_arrival *arrival,
			   double usual_ns);

/* Returns the time in ns that a straggler would take before its arrival if it
 * were like the other parts: the median of all parts, or of all but those of
 * the rank that the scenario names. Returns a negative number if there are no
 * parts to compare with. Reads the arrivals' totals. */
double ncs_path_usual_ns(const struct ncs_path *path,
			 const struct ncs_scenario *scenario,
			 const struct ncs_part *parts, size_t count);

/* Returns whether a part belongs to the straggler that run k makes faster. Such
 * a part never arrives later than without the change, so its new arrival
 * matters only if all others came before its old one. */
bool ncs_path_is_straggler(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part);

/* Notes the arrivals of all parts in a run that needs all of them at a time, or
 * more facts about each. */
void ncs_path_arrive_separately(const struct ncs_path *path,
				const struct ncs_part *parts, size_t count,
				size_t k, struct ncs_path_start *start);

/* Fills in the node of a part that arrives last in run k, at `at_ns`: its
 * predecessor, and its gaps. */
void ncs_path_explain(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival, double usual_ns,
		      double at_ns, struct ncs_path_node *node);

#endif
