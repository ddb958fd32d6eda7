/* SPDX-License-Identifier: MIT */
/* Places for finished parts, and the search among them; see path_finished.h. */
#include "analysis/path/path_finished.h"

#include <stdlib.h>

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

/* A part cannot be a predecessor any more, and its place is free, if another
 * part ended later and by `arrival_ns`. */
int ncs_path_finished_place(struct ncs_path *path, struct ncs_path_rank *rank,
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

int ncs_path_end_beside(const struct ncs_path *path, struct ncs_path_rank *rank,
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
