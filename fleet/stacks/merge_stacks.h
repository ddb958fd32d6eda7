/* SPDX-License-Identifier: MIT */
/* Makes one tree of the stacks of many processes: branches of frames that the
 * same processes have, and where a culprit leaves the others. Pure. */
#ifndef NCS_FLEET_STACKS_MERGE_STACKS_H
#define NCS_FLEET_STACKS_MERGE_STACKS_H

#include "fleet/stacks/stack.h"

/* A stack to merge. */
struct ncs_stack_leaf {
	const struct ncs_stack *stack;
	size_t number; /* the caller's; orders equal stacks */
	bool is_culprit;
};

/* Frames that follow each other in the stacks of some leaves. */
struct ncs_stack_branch {
	size_t first, count; /* the leaves, in the order that merging made */
	size_t from, end;    /* frames of each of these leaves; may be none */
	unsigned level;      /* that of the branches of outermost frames is 0 */
	/* All its leaves are culprits, and others share the frames before. */
	bool is_apart;
};

/* Sorts the leaves, all of which have finished stacks with frames, and returns
 * their branches, each before those that come out of it, to be freed, and their
 * number. NULL if there are none, or no memory. */
struct ncs_stack_branch *ncs_stacks_merge(struct ncs_stack_leaf *leaves,
					  size_t count, size_t *branch_count);

#endif
