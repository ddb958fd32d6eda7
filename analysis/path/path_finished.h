/* SPDX-License-Identifier: MIT */
/* The finished parts of a rank that can be predecessors of its later parts:
 * their ends, as recorded and in each run of the pass. Private to the pass.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_FINISHED_H
#define NCS_ANALYSIS_PATH_PATH_FINISHED_H

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/path/path_state.h"

/* Makes room for the first parts of a rank. Returns false if there is no
 * memory. */
bool ncs_path_finished_init(const struct ncs_path *path,
			    struct ncs_path_rank *rank);

/* Returns the part of a rank that ended last by `until_ns`, as recorded.
 * Returns NULL if there is none, or if it is forgotten. If parts were
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

/* Finds a place for a part in a rank whose operations do not overlap: the
 * oldest one. */
static inline uint32_t ncs_path_finished_next(struct ncs_path_rank *rank)
{
	if (rank->count < NCS_PATH_ENDS)
		rank->count++;
	else
		rank->forgets = true;
	return (rank->latest + 1) % NCS_PATH_ENDS;
}

/* Fills in a part that ends at `end_ns`, as recorded, in all runs. */
static inline void
ncs_path_finished_fill(size_t run_count, const struct ncs_path_ready *ready,
		       const struct ncs_path_edits *edits, uint32_t owner,
		       const struct ncs_last_channel *last_channel,
		       double end_ns, struct ncs_path_finished *finished)
{
	double transfer_ns = end_ns - ready->ns;

	finished->at_ns = end_ns;
	finished->operation = ready->operation;
	finished->owner = owner;
	finished->last_channel = *last_channel;
	finished->unknown = edits->unknown;
	for (size_t k = 0; k < run_count; k++) {
		double edited_ns = ncs_path_transfer_ns(edits, k, transfer_ns);

		finished->times_ns[k] = ready->in_ns[k] + edited_ns;
		finished->times_ns[run_count + k] = edited_ns;
	}
}

/* Returns the end of a finished part in run k, as the predecessor of a node. */
static inline struct ncs_path_end
ncs_path_finished_end(const struct ncs_path *path,
		      const struct ncs_path_finished *finished, size_t k)
{
	return (struct ncs_path_end){
		.operation = finished->operation,
		.owner = finished->owner,
		.is_unknown = finished->unknown >> k & 1,
		.last_channel = finished->last_channel,
		.transfer_ns = finished->times_ns[path->run_count + k],
	};
}

/* Adds the end of a part that arrived at `arrival_ns`, as recorded. `run_count`
 * is the path's: a constant where there is only the replay. Inline, as it is
 * called for each part. */
static inline void
ncs_path_finished_add(struct ncs_path *path, size_t run_count,
		      const struct ncs_path_ready *ready,
		      const struct ncs_path_edits *edits, uint32_t owner,
		      const struct ncs_last_channel *last_channel,
		      double arrival_ns, double end_ns)
{
	struct ncs_path_rank *rank = path->members[owner].rank;
	struct ncs_path_finished *latest = path->members[owner].latest;
	struct ncs_path_finished *finished;
	uint32_t place;

	if (!rank->overlaps) {
		place = ncs_path_finished_next(rank);
	} else if (ncs_path_finished_place(path, rank, arrival_ns, &place) !=
		   0) {
		path->error = -ENOMEM;
		return;
	}
	finished = ncs_path_finished_at(path, rank, place);
	ncs_path_finished_fill(run_count, ready, edits, owner, last_channel,
			       end_ns, finished);
	for (size_t k = 0; k < run_count; k++) {
		if (finished->times_ns[k] > path->ends_ns[k]) {
			path->ends_ns[k] = finished->times_ns[k];
			path->ends[k] =
				ncs_path_finished_end(path, finished, k);
		}
	}
	rank->at_ns[place] = end_ns;
	if (rank->count == 1 || end_ns >= rank->latest_ns) {
		rank->latest = place;
		rank->latest_ns = end_ns;
	}
	if (latest && (isinf(latest->at_ns) || end_ns >= latest->at_ns))
		memcpy(latest, finished, path->finished_bytes);
}

#endif
