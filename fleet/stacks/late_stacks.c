/* SPDX-License-Identifier: MIT */
/* Samples a process while it is late; see late_stacks.h. */
#include "fleet/stacks/late_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fleet/launch/answer.h"
#include "fleet/launch/launchers.h"
#include "fleet/stacks/proc_stack.h"
#include "fleet/stacks/stack_tools.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/read/job.h"

#define SAMPLES_NS UINT64_C(10000000000)
/* Between two looks at the segments pass one to two of these: an even pace would
 * see the same part of each step of the job. */
#define STEP_NS UINT64_C(5000000)
#define TOOL_NS UINT64_C(1500000000)
#define TOOL_BYTES ((size_t)4 << 20)

/* --- Is it late? ---------------------------------------------------------- */

/* How far a rank is. */
struct rank_place {
	uint64_t communicator; /* its id */
	bool is_own;           /* of the process */
	uint64_t numbers[NCS_FUNCTION_COUNT];
};

struct late_sampling {
	struct ncs_source *source;
	struct ncs_choice own;
	struct rank_place *places;
	size_t count;
	size_t capacity;
};

static bool wants_no_records(const void *context, const char *id)
{
	(void)context;
	(void)id;
	return false;
}

static bool is_behind(const struct rank_place *rank,
		      const struct rank_place *other)
{
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (rank->numbers[i] != NCS_NO_SEQUENCE_NUMBER &&
		    other->numbers[i] != NCS_NO_SEQUENCE_NUMBER &&
		    rank->numbers[i] < other->numbers[i])
			return true;
	return false;
}

/* Notes how far all ranks are, and how many operations the process has called.
 * Returns whether it has none in flight. */
static bool look(struct late_sampling *sampling, uint64_t *calls)
{
	struct ncs_source *source = sampling->source;
	struct ncs_sample sample;
	bool is_free = true;
	char why[64];

	sampling->count = *calls = 0;
	if (source->begin(source, ncs_clock_monotonic_ns(), why,
			  sizeof(why)) != 0)
		return false;
	while (source->next(source, &sample)) {
		struct rank_place place;

		if (!sample.snapshot ||
		    !(sample.snapshot->identity.known & NCS_KNOWN_COMM_ID))
			continue;
		place.communicator = sample.snapshot->identity.comm_id;
		place.is_own = ncs_choice_has(&sampling->own, sample.header,
					      sample.labels);
		for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
			const struct ncs_function_view *function =
				&sample.snapshot->functions[i];

			place.numbers[i] = function->last_sequence_number;
			*calls += place.is_own ? function->operations : 0;
		}
		if (place.is_own && sample.snapshot->operation_count > 0)
			is_free = false;
		if (ncs_array_reserve(&sampling->places, &sampling->capacity,
				      sampling->count + 1, sizeof(place)) == 0)
			sampling->places[sampling->count++] = place;
	}
	return is_free;
}

/* Returns by which number the process is late now: the same until it calls
 * something; 0 if it is not late. */
static uint64_t lateness(struct late_sampling *sampling)
{
	uint64_t calls;

	if (!look(sampling, &calls))
		return 0;
	for (size_t i = 0; i < sampling->count; i++)
		for (size_t k = 0; sampling->places[i].is_own &&
				   k < sampling->count;
		     k++)
			if (sampling->places[k].communicator ==
				    sampling->places[i].communicator &&
			    is_behind(&sampling->places[i],
				      &sampling->places[k]))
				return calls + 1;
	return 0;
}

/* --- Stacks --------------------------------------------------------------- */

/* Takes the frames of Python in the place of those that the stack has, if the
 * process stays late for so long. Returns false if py-spy cannot read it. */
static bool take_python(struct late_sampling *sampling, uint64_t late,
			struct ncs_guard *guard, struct ncs_stack *stack)
{
	struct ncs_stack python = { .pid = stack->pid };
	struct ncs_words words = { .count = 0 };
	char *output = NULL, why[200] = "there is no memory";
	struct ncs_answer answer;
	int turn = 0;

	ncs_words_add_split(&words, "py-spy dump --nonblocking --json --pid");
	ncs_words_add(&words, "%u", stack->pid);
	if (!words.failed &&
	    ncs_answer_begin(&answer, guard, words.words, NULL, TOOL_BYTES,
			     TOOL_NS, why, sizeof(why)) == 0) {
		while (turn == 0)
			turn = ncs_answer_turn(&answer, guard, 1);
		strcpy(why, "py-spy has found no frames");
		ncs_answer_end(&answer, guard, "py-spy", turn, &output, why,
			       sizeof(why));
	}
	ncs_words_release(&words);
	if (!output || !ncs_stack_take_pyspy(&python, output)) {
		ncs_stack_say(stack, why);
		free(output);
		return false;
	}
	free(output);
	if (lateness(sampling) == late) {
		ncs_stack_forget(stack);
		ncs_stack_finish(&python);
		*stack = python;
		strcpy(stack->tool, "py-spy");
	} else {
		ncs_stack_say(stack, "py-spy takes longer than it is late");
		ncs_stack_forget(&python);
	}
	return true;
}

/* Leaves stacks of /proc out if py-spy has read others. Returns how many are
 * left. */
static size_t keep_best(struct ncs_stack *stacks, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		kept += strcmp(stacks[i].tool, "py-spy") == 0;
	if (kept == 0 || kept == count)
		return count;
	kept = 0;
	for (size_t i = 0; i < count; i++) {
		struct ncs_stack stack = stacks[i];

		stacks[i] = (struct ncs_stack){ .pid = stack.pid };
		if (strcmp(stack.tool, "py-spy") == 0)
			stacks[kept++] = stack;
		else
			ncs_stack_forget(&stack);
	}
	return kept;
}

size_t ncs_stacks_sample_late(struct ncs_stack stacks[NCS_LATE_STACKS_MAX],
			      struct ncs_source *source)
{
	struct late_sampling sampling = { .source = source,
					  .own.pid = stacks[0].pid };
	enum ncs_proc_permit permit = ncs_proc_permit(&stacks[0]);
	struct ncs_stack process = stacks[0];
	uint64_t now_ns = ncs_clock_monotonic_ns(), end_ns = now_ns + SAMPLES_NS;
	struct ncs_guard guard = { .pid = 0 };
	bool has_pyspy = permit == NCS_PROC_ANY && ncs_guard_start(&guard) == 0;
	size_t count = 0;

	source->wants_records = wants_no_records;
	while (permit != NCS_PROC_REFUSED && count < NCS_LATE_STACKS_MAX &&
	       now_ns < end_ns) {
		const struct timespec step = {
			.tv_nsec = (long)(STEP_NS + now_ns % STEP_NS),
		};
		struct ncs_stack *stack = &stacks[count];
		uint64_t late;

		nanosleep(&step, NULL);
		late = lateness(&sampling);
		now_ns = ncs_clock_monotonic_ns();
		if (late == 0)
			continue;
		*stack = process;
		ncs_stack_take_proc(stack);
		/* Ranks are looked at one after the other: it was late only if it
		 * still is. */
		if (stack->count == 0 || lateness(&sampling) != late) {
			ncs_stack_forget(stack);
			*stack = process;
			continue;
		}
		count++;
		if (has_pyspy &&
		    !take_python(&sampling, late, &guard, stack)) {
			has_pyspy = false;
			ncs_stack_say(&process, stack->why);
		}
	}
	ncs_guard_stop(&guard);
	free(sampling.places);
	if (count == 0 && !stacks[0].why[0])
		ncs_stack_say(&stacks[0], "the ranks of its machine did not see"
					  " its host late within 10 s");
	return keep_best(stacks, count);
}
