/* SPDX-License-Identifier: MIT */
/* The finished parts of a rank that can be predecessors of its later parts: their places,
 * and the search among them. */
#include "analysis/path/path_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of finished parts that are remembered of a rank whose
 * operations run side by side. */
#define FINISHED_MAX 1024u

bool ncs_path_finished_init(const struct ncs_path *path,
			    struct ncs_path_rank *rank)
{
	rank->capacity = NCS_PATH_ENDS;
	rank->latest = NCS_PATH_ENDS - 1; /* the first place is the next one */
	rank->latest_ns = INFINITY;
	rank->least_ns = calloc(NCS_PATH_ENDS, sizeof(double));
	rank->finished = calloc(NCS_PATH_ENDS, path->finished_bytes);
	return rank->least_ns && rank->finished;
}

/* Whether the part at place `a` ended later than that at `b`. If both ended at
 * the same time, the part that was processed later counts as the later one. */
static inline bool is_later(const struct ncs_path *path,
			    const struct ncs_path_rank *rank, uint32_t a,
			    uint32_t b)
{
	if (rank->least_ns[a] != rank->least_ns[b])
		return rank->least_ns[a] > rank->least_ns[b];
	return ncs_path_finished_at(path, rank, a)->operation >
	       ncs_path_finished_at(path, rank, b)->operation;
}

const struct ncs_path_finished *
ncs_path_finished_before(const struct ncs_path *path,
			 const struct ncs_path_rank *rank, double until_ns,
			 const struct ncs_path_finished **earliest)
{
	uint32_t found = UINT32_MAX, first = 0;

	*earliest = NULL;
	if (rank->count == 0)
		return NULL;
	if (rank->latest_ns <= until_ns)
		return ncs_path_finished_at(path, rank, rank->latest);
	for (uint32_t i = 0; i < rank->count; i++) {
		if (rank->least_ns[i] <= until_ns &&
		    (found == UINT32_MAX || is_later(path, rank, i, found)))
			found = i;
		if (is_later(path, rank, first, i))
			first = i;
	}
	if (found != UINT32_MAX)
		return ncs_path_finished_at(path, rank, found);
	if (rank->forgets)
		*earliest = ncs_path_finished_at(path, rank, first);
	return NULL;
}

/* Doubles the number of places. Returns 0 or -ENOMEM. */
static int grow(struct ncs_path *path, struct ncs_path_rank *rank)
{
	size_t capacity = 2 * (size_t)rank->capacity;
	double *least_ns = realloc(rank->least_ns, capacity * sizeof(double));
	char *finished;

	if (!least_ns)
		return -ENOMEM;
	rank->least_ns = least_ns;
	finished = realloc(rank->finished, capacity * path->finished_bytes);
	if (!finished)
		return -ENOMEM;
	rank->finished = finished;
	rank->capacity = (uint32_t)capacity;
	return 0;
}

/* Finds a place for a part that arrived at `arrival_ns`, in a rank whose operations run
 * side by side. Another part cannot be a predecessor any more, and its place is free, if
 * one ended later and by then. Returns 0 or -ENOMEM. */
static int find_place(struct ncs_path *path, struct ncs_path_rank *rank,
		      double arrival_ns, uint32_t *place)
{
	uint32_t oldest = 0, last_before = UINT32_MAX;

	if (rank->count < rank->capacity) {
		*place = rank->count++;
		return 0;
	}
	for (uint32_t i = 0; i < rank->count; i++) {
		if (is_later(path, rank, oldest, i))
			oldest = i;
		if (rank->least_ns[i] <= arrival_ns &&
		    (last_before == UINT32_MAX ||
		     is_later(path, rank, i, last_before)))
			last_before = i;
	}
	*place = oldest;
	rank->forgets = true;
	if ((last_before != UINT32_MAX && oldest != last_before) ||
	    rank->capacity >= FINISHED_MAX)
		return 0;
	if (grow(path, rank) != 0)
		return -ENOMEM;
	*place = rank->count++;
	return 0;
}

/* Remembers the end of a send beside which its rank goes on: the next one may be
 * queued behind it. Returns 0 or -ENOMEM. */
static int end_overlap(const struct ncs_path *path, struct ncs_path_rank *rank,
		       const struct ncs_path_finished *finished)
{
	if (!rank->send) {
		rank->send = calloc(1, path->finished_bytes);
		if (!rank->send)
			return -ENOMEM;
	} else if (finished->at_ns < rank->send->at_ns) {
		return 0;
	}
	memcpy(rank->send, finished, path->finished_bytes);
	return 0;
}

/* Finds a place for a part in a rank whose operations do not overlap: the
 * oldest one. */
static uint32_t next_place(struct ncs_path_rank *rank)
{
	if (rank->count < NCS_PATH_ENDS)
		rank->count++;
	else
		rank->forgets = true;
	return (rank->latest + 1) % NCS_PATH_ENDS;
}

/* Notes when the part at a place of a rank may have ended. */
static void order(struct ncs_path_rank *rank, uint32_t place, double least_ns)
{
	rank->least_ns[place] = least_ns;
	if (rank->count == 1 || least_ns >= rank->latest_ns) {
		rank->latest = place;
		rank->latest_ns = least_ns;
	}
}

/* Fills in a part that ended as `times` say, in all runs. */
static void
fill(const struct ncs_path *path, const struct ncs_path_ready *ready,
     const struct ncs_path_edits *edits, const struct ncs_part_times *times,
     const struct ncs_path_arrival *arrival, struct ncs_path_finished *finished)
{
	double end_ns = ncs_since(path->base_ns, times->end_ns);

	finished->at_ns = end_ns;
	finished->least_ns = ncs_since(path->base_ns, times->least_end_ns);
	finished->operation = ready->operation;
	finished->owner = times->owner;
	finished->last_channel = times->last_channel;
	finished->unknown = edits->unknown;
	for (size_t k = 0; k < path->run_count; k++) {
		finished->runs[k].end_ns =
			ncs_path_end_ns(path, k, arrival, ready, edits, end_ns);
		finished->runs[k].transfer_ns =
			finished->runs[k].end_ns - ready->in_ns[k];
	}
}

void ncs_path_finished_add(struct ncs_path *path,
			   const struct ncs_path_ready *ready,
			   const struct ncs_path_edits *edits,
			   const struct ncs_part_times *times,
			   const struct ncs_path_arrival *arrival)
{
	struct ncs_path_rank *rank = path->members[times->owner].rank;
	struct ncs_path_finished *latest = path->members[times->owner].latest;
	struct ncs_path_finished *finished = path->overlap_end;
	uint32_t place = 0;

	if (!arrival->send_overlaps) {
		if (!rank->overlaps) {
			place = next_place(rank);
		} else if (find_place(path, rank, arrival->at_ns, &place) !=
			   0) {
			path->error = -ENOMEM;
			return;
		}
		finished = ncs_path_finished_at(path, rank, place);
	}
	fill(path, ready, edits, times, arrival, finished);
	finished->call_ns = arrival->call_ns;
	finished->is_send = arrival->is_send;
	finished->number = arrival->number;
	for (size_t k = 0; k < path->run_count; k++) {
		if (finished->runs[k].end_ns > path->ends_ns[k]) {
			path->ends_ns[k] = finished->runs[k].end_ns;
			path->ends[k] = ncs_path_finished_end(
				&(struct ncs_path_before){ finished, 0 }, k);
		}
	}
	if (arrival->send_overlaps) {
		if (end_overlap(path, rank, finished) != 0)
			path->error = -ENOMEM;
		return;
	}
	order(rank, place, finished->least_ns);
	if (latest &&
	    (isinf(latest->at_ns) || finished->least_ns >= latest->least_ns))
		memcpy(latest, finished, path->finished_bytes);
}

void ncs_path_keep_overlap(struct ncs_path *path,
			   const struct ncs_path_arrival *arrival)
{
	struct ncs_path_rank *rank = arrival->member->rank;
	uint32_t place;

	if (find_place(path, rank, arrival->at_ns, &place) != 0) {
		path->error = -ENOMEM;
		return;
	}
	memcpy(ncs_path_finished_at(path, rank, place), path->overlap,
	       path->finished_bytes);
	order(rank, place, path->overlap->least_ns);
}
