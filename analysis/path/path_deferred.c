/* SPDX-License-Identifier: MIT */
/* Deferred parts in a heap, by time. */
#include "analysis/path/path_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static bool is_before(const void *left, const void *right)
{
	const struct ncs_path_deferred *a = left, *b = right;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	return a->order < b->order;
}

static int push(struct ncs_path *path, struct ncs_path_pending *pending,
		const struct ncs_joined *joined, const struct ncs_part *part,
		enum ncs_path_role role, double at_ns)
{
	struct ncs_path_deferred *deferred = malloc(sizeof(*deferred));

	if (!deferred)
		return -ENOMEM;
	*deferred = (struct ncs_path_deferred){
		.at_ns = at_ns,
		.order = path->deferred_count++,
		.role = role,
		.pending = pending,
		.index = (size_t)(part - joined->parts),
		.part = *part,
	};
	ncs_part_times_make(&deferred->times, joined, part);
	if (ncs_heap_push(&path->deferred, deferred, is_before) != 0) {
		free(deferred);
		return -ENOMEM;
	}
	pending->references++;
	return 0;
}

static void release(struct ncs_path_pending *pending)
{
	if (--pending->references == 0)
		free(pending);
}

struct ncs_path_deferred *ncs_path_deferred_next(struct ncs_path *path,
						 double until_ns)
{
	const struct ncs_path_deferred *first;

	if (path->deferred.count == 0)
		return NULL;
	first = path->deferred.items[0];
	return first->at_ns <= until_ns ?
		       ncs_heap_pop(&path->deferred, is_before) :
		       NULL;
}

void ncs_path_deferred_free(struct ncs_path_deferred *deferred)
{
	release(deferred->pending);
	free(deferred);
}

/* Returns the turn of the root; INFINITY if it has no part. */
static double root_turn_ns(const struct ncs_path *path,
			  const struct ncs_joined *joined)
{
	double root_ns = INFINITY;

	for (size_t i = 0; i < joined->count; i++)
		if (ncs_joined_is_root(joined, &joined->parts[i]))
			root_ns = ncs_since(
				path->base_ns,
				ncs_joined_turn_ns(joined, &joined->parts[i]));
	return root_ns;
}

/* Pushes the parts that wait for others if `waits` is true, else all the other
 * parts. Returns 0 or -ENOMEM. */
static int push_parts(struct ncs_path *path, const struct ncs_joined *joined,
		      struct ncs_path_pending *pending, bool waits)
{
	double root_ns = root_turn_ns(path, joined);
	double first_ns = ncs_since(path->base_ns, joined->turn_ns);
	int error = 0;

	for (size_t i = 0; i < joined->count && !error; i++) {
		const struct ncs_part *part = &joined->parts[i];
		bool is_root = ncs_joined_is_root(joined, part);
		double at_ns = ncs_since(path->base_ns,
					 ncs_joined_turn_ns(joined, part));
		enum ncs_path_role role = NCS_PATH_ROLE_WAITED_FOR;

		if (ncs_is_waiting(joined->wait_rule, is_root) != waits)
			continue;
		if (joined->wait_rule == NCS_WAIT_FOR_NONE)
			role = NCS_PATH_ROLE_ALONE;
		else if (waits)
			role = NCS_PATH_ROLE_WAITS;
		else if (joined->wait_rule == NCS_WAIT_FOR_ROOT)
			at_ns = first_ns;
		else
			at_ns = ncs_smaller(at_ns, root_ns);
		error = push(path, pending, joined, part, role, at_ns);
	}
	return error;
}

int ncs_path_defer(struct ncs_path *path, const struct ncs_joined *joined,
		   const struct ncs_path_pending *pending)
{
	struct ncs_path_pending *kept = malloc(sizeof(*kept));
	int error;

	if (!kept)
		return -ENOMEM;
	*kept = *pending;
	kept->references = 1;
	/* Parts that are waited for come before those that wait. */
	error = push_parts(path, joined, kept, false);
	if (!error)
		error = push_parts(path, joined, kept, true);
	release(kept);
	return error;
}
