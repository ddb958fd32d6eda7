/* SPDX-License-Identifier: MIT */
/* The finished parts of a rank that can be predecessors of its later parts:
 * their ends, as recorded and in each run of the pass. Private to the pass.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_FINISHED_H
#define NCS_ANALYSIS_PATH_PATH_FINISHED_H

#include "analysis/path/path_state.h"

/* Makes room for the first parts of a rank. Returns false if there is no
 * memory. */
bool ncs_path_finished_init(const struct ncs_path *path,
			    struct ncs_path_rank *rank);

/* Returns the part of a rank that ended last by `until_ns`, as far as it may
 * have ended by then. Returns NULL if there is none, or if it is forgotten. If parts were
 * forgotten, *earliest is then the first part that is remembered; otherwise it
 * is NULL. */
const struct ncs_path_finished *
ncs_path_finished_before(const struct ncs_path *path,
			 const struct ncs_path_rank *rank, double until_ns,
			 const struct ncs_path_finished **earliest);

/* Finds a place for a part that arrived at `arrival_ns`, in a rank whose
 * operations run side by side. Returns 0 or -ENOMEM. */
int ncs_path_finished_place(struct ncs_path *path, struct ncs_path_rank *rank,
			    double arrival_ns, uint32_t *place);

/* Returns a part, which may be NULL, as the one before a moment. */
static inline struct ncs_path_before
ncs_path_before_of(const struct ncs_path_finished *finished, double until_ns)
{
	return (struct ncs_path_before){
		finished,
		finished ? ncs_larger(finished->at_ns - until_ns, 0) : 0
	};
}

/* Returns the end of a part before a moment in run k, as the predecessor of a
 * node. */
static inline struct ncs_path_end
ncs_path_finished_end(const struct ncs_path_before *before, size_t k)
{
	const struct ncs_path_finished *finished = before->finished;

	return (struct ncs_path_end){
		.operation = finished->operation,
		.owner = finished->owner,
		.is_unknown = finished->unknown >> k & 1,
		.last_channel = finished->last_channel,
		.transfer_ns = finished->runs[k].transfer_ns -
			       ncs_path_overlap_ns(before, k),
	};
}

/* Notes when the part at a place of a rank may have ended. */
static inline void ncs_path_finished_order(struct ncs_path_rank *rank,
					   uint32_t place, double least_ns)
{
	rank->least_ns[place] = least_ns;
	if (rank->count == 1 || least_ns >= rank->latest_ns) {
		rank->latest = place;
		rank->latest_ns = least_ns;
	}
}

/* Adds the end of a part that arrived as *arrival says. */
void ncs_path_finished_add(struct ncs_path *path,
			   const struct ncs_path_ready *ready,
			   const struct ncs_path_edits *edits,
			   const struct ncs_part_times *times,
			   const struct ncs_path_arrival *arrival);

#endif
