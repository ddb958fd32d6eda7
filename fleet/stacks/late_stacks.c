/* SPDX-License-Identifier: MIT */
/* Samples a process while it is late; see late_stacks.h. */
#include "fleet/stacks/late_stacks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fleet/launch/answer.h"
#include "fleet/launch/launchers.h"
#include "fleet/stacks/proc_stack.h"
#include "fleet/stacks/stack_tools.h"
#include "shm/clock.h"

#define SAMPLES_NS UINT64_C(10000000000)
/* The part of it in which py-spy must have read a stack, or is left. */
#define PYTHON_NS UINT64_C(5000000000)
/* Between two looks pass one to two of these: an even pace would see the same part
 * of each step of the job. */
#define STEP_NS UINT64_C(5000000)
#define TOOL_NS UINT64_C(1500000000)
#define TOOL_BYTES ((size_t)4 << 20)

/* Takes frames of Python. Returns false if there are none. */
static bool take_python(struct ncs_stack *stack, struct ncs_guard *guard)
{
	struct ncs_words words = { .count = 0 };
	char *output = NULL, why[200];
	struct ncs_answer answer;
	int turn;

	ncs_words_add_split(&words, "py-spy dump --nonblocking --json --pid");
	ncs_words_add(&words, "%u", stack->pid);
	if (ncs_answer_begin(&answer, guard, &words, NULL, TOOL_BYTES, TOOL_NS,
			     why, sizeof(why)) == 0) {
		turn = ncs_answer_wait(&answer);
		strcpy(why, "py-spy has found no frames");
		ncs_answer_end(&answer, "py-spy", turn, &output, why,
			       sizeof(why));
	}
	ncs_words_release(&words);
	if (output && ncs_stack_take_pyspy(stack, output)) {
		strcpy(stack->tool, "py-spy");
		ncs_stack_finish(stack);
	} else {
		ncs_stack_say(stack, why);
	}
	free(output);
	return stack->count > 0;
}

size_t ncs_stacks_sample_late(struct ncs_stack stacks[NCS_LATE_STACKS_MAX],
			      ncs_lateness_now *lateness, void *context)
{
	enum ncs_proc_permit permit = ncs_proc_permit(&stacks[0]);
	uint64_t begun_ns = ncs_clock_monotonic_ns(), now_ns = begun_ns;
	struct ncs_stack process = stacks[0];
	struct ncs_guard guard = { .pid = 0 };
	bool by_pyspy = permit == NCS_PROC_ANY && ncs_guard_start(&guard) == 0;
	size_t count = 0;

	while (permit != NCS_PROC_REFUSED && count < NCS_LATE_STACKS_MAX &&
	       now_ns - begun_ns < SAMPLES_NS) {
		const struct timespec step = {
			.tv_nsec = (long)(STEP_NS + now_ns % STEP_NS),
		};
		struct ncs_stack *stack = &stacks[count];
		uint64_t late;

		nanosleep(&step, NULL);
		now_ns = ncs_clock_monotonic_ns();
		late = lateness(context);
		if (late == 0)
			continue;
		*stack = process;
		if (!by_pyspy) {
			ncs_stack_take_proc(stack);
		} else if (!take_python(stack, &guard)) {
			by_pyspy = false;
			process = *stack;
		}
		/* It was late only if it still is. */
		if (stack->count > 0 && lateness(context) == late) {
			count++;
			continue;
		}
		ncs_stack_forget(stack);
		*stack = process;
		if (by_pyspy && count == 0 && now_ns - begun_ns > PYTHON_NS) {
			by_pyspy = false;
			ncs_stack_say(&process,
				      "py-spy takes longer than it is late");
		}
	}
	ncs_guard_stop(&guard);
	if (count == 0 && !stacks[0].why[0])
		ncs_stack_say(&stacks[0], "the ranks of its machine did not see"
					  " its host late within 10 s");
	return count;
}
