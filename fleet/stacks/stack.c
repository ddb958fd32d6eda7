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

int ncs_stack_frame_compare(const struct ncs_stack_frame *a,
			    const struct ncs_stack_frame *b)
{
	int order = strcmp(a->file, b->file);

	if (order == 0)
		order = (a->line > b->line) - (a->line < b->line);
	return order != 0 ? order : strcmp(a->function, b->function);
}
