/* SPDX-License-Identifier: MIT */
/* Arrivals of parts, rank by rank, in each run of the pass: what they follow, their
 * times and their causes. Private to the pass. Times are ns since its base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_ARRIVALS_H
#define NCS_ANALYSIS_PATH_PATH_ARRIVALS_H

#include "analysis/path/path_state.h"

/* Returns when a part arrives in run k. */
double ncs_path_arrival_ns(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part,
			   const struct ncs_path_arrival *arrival);

/* Makes parts arrive, of which the first has this place: fills in the path's arrivals
 * and *start in all runs. */
void ncs_path_arrive(struct ncs_path *path, const struct ncs_part *parts,
		     const struct ncs_part_times *part_times, size_t count,
		     size_t place, struct ncs_path_start *start);

/* Fills in the node of a part that arrives last in run k, at `at_ns`: its
 * predecessor, and its gaps. */
void ncs_path_explain(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival, double at_ns,
		      struct ncs_path_node *node);

#endif
