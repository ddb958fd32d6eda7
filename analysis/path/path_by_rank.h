/* SPDX-License-Identifier: MIT */
/* The arrivals and ends of an operation's parts, rank by rank. Private to the
 * pass.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_BY_RANK_H
#define NCS_ANALYSIS_PATH_PATH_BY_RANK_H

#include "analysis/path/path_state.h"

/* Makes all parts arrive, of which the first has this place: fills in the path's
 * arrivals and *start in all runs. */
void ncs_path_arrive_by_rank(struct ncs_path *path,
			     const struct ncs_part *parts,
			     const struct ncs_part_times *part_times,
			     size_t count, size_t place,
			     struct ncs_path_start *start);

/* Makes all parts end, which have arrived as *start says. Returns the last end,
 * as recorded. */
double ncs_path_end_by_rank(struct ncs_path *path,
			    const struct ncs_path_pending *pending,
			    const struct ncs_path_start *start,
			    const struct ncs_part_times *part_times,
			    size_t count);

#endif
