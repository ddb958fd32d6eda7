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

/* Remembers the end of a send beside which its rank goes on: the next one may be
 * queued behind it. Returns 0 or -ENOMEM. */
int ncs_path_end_beside(const struct ncs_path *path, struct ncs_path_rank *rank,
			const struct ncs_path_finished *finished);

/* Returns a part, which may be NULL, as the one before a moment. */
static inline struct ncs_path_before
ncs_path_before_of(const struct ncs_path_finished *finished, double until_ns)
{
	return (struct ncs_path_before){
		finished,
		finished ? ncs_larger(finished->at_ns - until_ns, 0) : 0
	};
}

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

/* Fills in a part that ended as `times` say, in all runs. */
static inline void
ncs_path_finished_fill(const struct ncs_path *path, size_t run_count,
		       const struct ncs_path_ready *ready,
		       const struct ncs_path_edits *edits,
		       const struct ncs_part_times *times,
		       const struct ncs_path_arrival *arrival,
		       struct ncs_path_finished *finished)
{
	double end_ns = ncs_since(path->base_ns, times->end_ns);

	finished->at_ns = end_ns;
	finished->least_ns = ncs_since(path->base_ns, times->least_end_ns);
	finished->operation = ready->operation;
	finished->owner = times->owner;
	finished->last_channel = times->last_channel;
	finished->unknown = edits->unknown;
	for (size_t k = 0; k < run_count; k++) {
		finished->runs[k].end_ns = ncs_path_end_ns(
			path, k, arrival, ready, edits, end_ns);
		finished->runs[k].transfer_ns =
			finished->runs[k].end_ns - ready->in_ns[k];
	}
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

/* Adds the end of a part that arrived as *arrival says. `run_count`
 * is the path's: a constant where there is only the replay. Inline, as it is
 * called for each part. */
static inline void ncs_path_finished_add(struct ncs_path *path,
					 size_t run_count,
					 const struct ncs_path_ready *ready,
					 const struct ncs_path_edits *edits,
					 const struct ncs_part_times *times,
					 const struct ncs_path_arrival *arrival)
{
	struct ncs_path_rank *rank = path->members[times->owner].rank;
	struct ncs_path_finished *latest = path->members[times->owner].latest;
	struct ncs_path_finished *finished = path->beside_end;
	uint32_t place = 0;

	if (!arrival->is_beside) {
		if (!rank->overlaps) {
			place = ncs_path_finished_next(rank);
		} else if (ncs_path_finished_place(path, rank, arrival->at_ns,
						   &place) != 0) {
			path->error = -ENOMEM;
			return;
		}
		finished = ncs_path_finished_at(path, rank, place);
	}
	ncs_path_finished_fill(path, run_count, ready, edits, times, arrival,
			       finished);
	finished->call_ns = arrival->call_ns;
	finished->is_send = arrival->is_send;
	finished->number = arrival->number;
	for (size_t k = 0; k < run_count; k++) {
		if (finished->runs[k].end_ns > path->ends_ns[k]) {
			path->ends_ns[k] = finished->runs[k].end_ns;
			path->ends[k] = ncs_path_finished_end(
				&(struct ncs_path_before){ finished, 0 }, k);
		}
	}
	if (arrival->is_beside) {
		if (ncs_path_end_beside(path, rank, finished) != 0)
			path->error = -ENOMEM;
		return;
	}
	ncs_path_finished_order(rank, place, finished->least_ns);
	if (latest &&
	    (isinf(latest->at_ns) || finished->least_ns >= latest->least_ns))
		memcpy(latest, finished, path->finished_bytes);
}

#endif
