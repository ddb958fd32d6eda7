/* SPDX-License-Identifier: MIT */
/* Frames of a stack; see stack.h. */
#include "fleet/stacks/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "shm/array.h"
#include "shm/labels.h"
#include "shm/process.h"

void ncs_stack_identify(struct ncs_stack *stack,
			const struct ncs_process *process, const char *labels)
{
	const char *here = ncs_labels_value(labels, "host_pid");

	*stack = (struct ncs_stack){
		.pid = here ? (uint32_t)strtoul(here, NULL, 10) : process->pid,
		.start = here ? 0 : process->start,
		.pid_namespace = here ? 0 : process->pid_namespace,
	};
}

void ncs_stack_say(struct ncs_stack *stack, const char *why)
{
	ncs_utf8_clean(stack->why, sizeof(stack->why), why, false);
}

void ncs_stack_add(struct ncs_stack *stack, const char *function,
		   const char *file, uint32_t line)
{
	struct ncs_stack_frame *frame;

	if (stack->count == NCS_STACK_FRAMES_TAKEN ||
	    ncs_array_reserve(&stack->frames, &stack->capacity,
			      stack->count + 1, sizeof(*stack->frames)) != 0) {
		stack->is_cut = true;
		return;
	}
	frame = &stack->frames[stack->count++];
	ncs_utf8_clean(frame->function, sizeof(frame->function), function,
		       false);
	ncs_utf8_clean(frame->file, sizeof(frame->file), file, false);
	frame->line = line;
}

/* Leaves frames in the middle out. */
static void shorten(struct ncs_stack *stack)
{
	const size_t outer = NCS_STACK_FRAMES / 2;
	const size_t inner = NCS_STACK_FRAMES - outer - 1;
	struct ncs_stack_frame *gap = &stack->frames[outer];

	*gap = (struct ncs_stack_frame){ .line = 0 };
	snprintf(gap->function, sizeof(gap->function), "(%zu frames left out)",
		 stack->count - outer - inner);
	memmove(gap + 1, stack->frames + stack->count - inner,
		inner * sizeof(*gap));
	stack->count = NCS_STACK_FRAMES;
}

void ncs_stack_finish(struct ncs_stack *stack)
{
	if (stack->is_cut && stack->count > 0) {
		stack->count -= stack->count == NCS_STACK_FRAMES_TAKEN;
		ncs_stack_add(stack, "(more frames)", "", 0);
	}
	for (size_t i = 0; i < stack->count / 2; i++) {
		struct ncs_stack_frame *other =
			&stack->frames[stack->count - 1 - i];
		struct ncs_stack_frame frame = stack->frames[i];

		stack->frames[i] = *other;
		*other = frame;
	}
	if (stack->count > NCS_STACK_FRAMES)
		shorten(stack);
}

void ncs_stack_forget(struct ncs_stack *stack)
{
	free(stack->frames);
	stack->frames = NULL;
	stack->count = stack->capacity = 0;
	stack->is_cut = false;
}

/* --- Trees ---------------------------------------------------------------- */

static int compare_frames(const struct ncs_stack_frame *a,
			  const struct ncs_stack_frame *b)
{
	int order = strcmp(a->file, b->file);

	if (order == 0)
		order = (a->line > b->line) - (a->line < b->line);
	return order != 0 ? order : strcmp(a->function, b->function);
}

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
	       compare_frames(&a->frames[count], &b->frames[count]) == 0)
		count++;
	return count;
}

static int compare_leaves(const void *left, const void *right)
{
	const struct ncs_stack_leaf *a = left, *b = right;
	size_t place = common(a->stack, b->stack);

	if (place < a->stack->count && place < b->stack->count)
		return compare_frames(&a->stack->frames[place],
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
