/* SPDX-License-Identifier: MIT */
/* Merges stacks; see merge_stacks.h. */
#include "fleet/stacks/merge_stacks.h"

#include <stdlib.h>

#include "shm/array.h"

struct merge {
	const struct ncs_stack_leaf *leaves;
	struct ncs_stack_branch *branches;
	size_t count;
	size_t capacity;
	bool failed;
};

/* Returns how many frames two stacks have in common. */
static size_t common(const struct ncs_stack *a, const struct ncs_stack *b)
{
	size_t count = 0;

	while (count < a->count && count < b->count &&
	       ncs_stack_frame_compare(&a->frames[count], &b->frames[count]) ==
		       0)
		count++;
	return count;
}

static int compare_leaves(const void *left, const void *right)
{
	const struct ncs_stack_leaf *a = left, *b = right;
	size_t place = common(a->stack, b->stack);

	if (place < a->stack->count && place < b->stack->count)
		return ncs_stack_frame_compare(&a->stack->frames[place],
					       &b->stack->frames[place]);
	if (a->stack->count != b->stack->count)
		return a->stack->count < b->stack->count ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static size_t culprits_of(const struct merge *merge, size_t first, size_t count)
{
	size_t culprits = 0;

	for (size_t i = first; i < first + count; i++)
		culprits += merge->leaves[i].is_culprit;
	return culprits;
}

/* Adds the branch of leaves that agree before frame `from`, and at that frame;
 * and those that come out of it. Leaves are sorted: frames that the first and
 * the last one share are those of all. */
static void add_branch(struct merge *merge, size_t first, size_t count,
		       size_t from, unsigned level, bool may_be_apart)
{
	const struct ncs_stack_leaf *leaves = merge->leaves;
	const struct ncs_stack *stack = leaves[first].stack;
	size_t end = common(stack, leaves[first + count - 1].stack);
	size_t culprits = culprits_of(merge, first, count);
	size_t next = first, past;

	if (ncs_array_reserve(&merge->branches, &merge->capacity,
			      merge->count + 1,
			      sizeof(*merge->branches)) != 0) {
		merge->failed = true;
		return;
	}
	merge->branches[merge->count++] = (struct ncs_stack_branch){
		.first = first,
		.count = count,
		.from = from,
		.end = end,
		.level = level,
		.is_apart = may_be_apart && culprits == count,
	};
	for (; next < first + count && !merge->failed; next = past) {
		past = next + 1;
		while (past < first + count &&
		       (common(leaves[next].stack, leaves[past].stack) > end ||
			leaves[past].stack->count == end))
			past++;
		if (past - next < count)
			add_branch(merge, next, past - next, end, level + 1,
				   culprits < count);
	}
}

struct ncs_stack_branch *ncs_stacks_merge(struct ncs_stack_leaf *leaves,
					  size_t count, size_t *branch_count)
{
	struct merge merge = { .leaves = leaves };
	size_t culprits, past;

	*branch_count = 0;
	if (count == 0)
		return NULL;
	qsort(leaves, count, sizeof(*leaves), compare_leaves);
	culprits = culprits_of(&merge, 0, count);
	for (size_t next = 0; next < count && !merge.failed; next = past) {
		past = next + 1;
		while (past < count &&
		       common(leaves[next].stack, leaves[past].stack) > 0)
			past++;
		add_branch(&merge, next, past - next, 0, 0, culprits < count);
	}
	if (merge.failed) {
		free(merge.branches);
		return NULL;
	}
	*branch_count = merge.count;
	return merge.branches;
}
