/* SPDX-License-Identifier: MIT */
/* The operations of a join: new, finished, released; see join.h.
 */
#include <stdlib.h>

#include "analysis/records/join_internal.h"
#include "shm/array.h"

void ncs_join_pending_free(struct ncs_join *join, struct pending *pending)
{
	if (!pending)
		return;
	join->parts -= pending->joined.count;
	if (pending->is_finished)
		join->finished_parts -= pending->joined.count;
	free(pending->parts);
	free(pending->part_times);
	free(pending);
}

bool ncs_join_is_expected(const struct join_comm *comm, int32_t rank)
{
	return rank >= 0 && (size_t)rank < comm->rank_capacity &&
	       comm->is_expected[rank];
}

/* --- Finished operations, by their turns ---------------------------------- */

bool ncs_join_is_before(const void *left, const void *right)
{
	const struct pending *a = left, *b = right;

	if (a->joined.turn_ns != b->joined.turn_ns)
		return a->joined.turn_ns < b->joined.turn_ns;
	return a->order < b->order;
}

int ncs_join_reserve(struct ncs_join *join)
{
	return ncs_array_reserve(&join->finished.items,
				 &join->finished.capacity,
				 join->finished.count + 1,
				 sizeof(*join->finished.items));
}

/* Computes the times of an operation's parts. If there is no memory, readers of
 * the operation compute the times themselves. */
static void make_part_times(struct pending *pending)
{
	struct ncs_joined *joined = &pending->joined;

	pending->part_times =
		malloc(joined->count * sizeof(*pending->part_times));
	for (size_t i = 0; pending->part_times && i < joined->count; i++)
		ncs_part_times_make(&pending->part_times[i], joined,
				    &joined->parts[i]);
	joined->part_times = pending->part_times;
}

void ncs_join_finish(struct ncs_join *join, struct pending *pending)
{
	struct ncs_joined *joined = &pending->joined;

	joined->is_complete = joined->count == pending->expected;
	joined->is_whole = joined->is_complete &&
			   joined->parts[0].nranks >= 0 &&
			   (ncs_joined_is_transfer(joined) ||
			    joined->count == (size_t)joined->parts[0].nranks);
	ncs_joined_finish(joined);
	make_part_times(pending);
	if (joined->is_complete)
		join->count.complete++;
	else
		join->count.incomplete++;
	pending->is_finished = true;
	join->finished_parts += joined->count;
	pending->order = join->order++;
	(void)ncs_heap_push(&join->finished, pending, ncs_join_is_before);
}

struct pending *ncs_join_pending_new(struct ncs_join *join,
				     struct join_comm *comm,
				     const struct ncs_joined *joined,
				     size_t parts)
{
	struct pending *pending;

	if (ncs_join_reserve(join) != 0)
		return NULL;
	pending = calloc(1, sizeof(*pending));
	if (!pending)
		return NULL;
	pending->parts = malloc(parts * sizeof(*pending->parts));
	if (!pending->parts) {
		free(pending);
		return NULL;
	}
	pending->joined = *joined;
	pending->joined.parts = pending->parts;
	pending->joined.first_end_ns = UINT64_MAX;
	pending->comm = comm;
	pending->expected = parts;
	return pending;
}
