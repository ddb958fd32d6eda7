/* SPDX-License-Identifier: MIT */
/* Runs tools that read stacks; see read_stacks.h. */
#include "fleet/stacks/read_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "fleet/launch/answer.h"
#include "fleet/launch/launchers.h"
#include "fleet/stacks/proc_stack.h"
#include "fleet/stacks/stack_tools.h"
#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "shm/process.h"

#define TOOL_BYTES ((size_t)4 << 20)
#define NODE_BYTES ((size_t)64 << 20)
/* Time for all stacks of a machine; for a node, with the time to reach it. */
#define STACKS_NS UINT64_C(3000000000)
#define NODE_NS UINT64_C(10000000000)
#define NODE_LATE_NS UINT64_C(17000000000)
/* Room for what a program says. */
#define WHY_BYTES 200

/* --- Tools ---------------------------------------------------------------- */

/* The tools, the best one first. Each has until so long before the end of all,
 * so that another one can still be tried. */
static const struct stack_tool {
	const char *name;
	uint64_t before_end_ns;
	bool (*take)(struct ncs_stack *stack, const char *output);
	const char *words[20]; /* %u is the process */
} tools[] = {
	{ "py-spy",
	  UINT64_C(1500000000),
	  ncs_stack_take_pyspy,
	  { "py-spy", "dump", "--json", "--pid", "%u" } },
	{ "gdb",
	  UINT64_C(500000000),
	  ncs_stack_take_gdb,
	  { "gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
	    "-iex", "set print frame-arguments none", "-iex", "set width 0",
	    "-p", "%u", "-ex", "thread 1", "-ex", "py-bt", "-ex",
	    "echo \\n" NCS_STACK_GDB_MARK "\\n", "-ex", "bt 4000" } },
	{ "eu-stack",
	  0,
	  ncs_stack_take_eu_stack,
	  { "eu-stack", "-1", "-p", "%u" } },
};

#define TOOL_COUNT (sizeof(tools) / sizeof(*tools))

/* The processes whose stacks are read, and the tool that each is at. */
struct reading_stacks {
	struct ncs_stack *stacks;
	size_t tools[NCS_STACKS_MAX];
	uint64_t end_ns;
};

/* Begins to run a tool. Returns 0 or -errno. */
static int start_tool(const struct reading_stacks *reading,
		      const struct stack_tool *tool, struct ncs_stack *stack,
		      struct ncs_answer *answer, struct ncs_guard *guard)
{
	uint64_t now_ns = ncs_clock_monotonic_ns();
	uint64_t until_ns = reading->end_ns - tool->before_end_ns;
	struct ncs_words words = { .count = 0 };
	char why[WHY_BYTES], pid[16];
	int error;

	if (now_ns >= until_ns) {
		snprintf(why, sizeof(why), "no time is left for %s",
			 tool->name);
		if (!stack->why[0])
			ncs_stack_say(stack, why);
		return -ETIMEDOUT;
	}
	snprintf(pid, sizeof(pid), "%u", stack->pid);
	for (size_t i = 0; tool->words[i]; i++)
		ncs_words_add(&words, "%s",
			      strcmp(tool->words[i], "%u") == 0 ?
				      pid :
				      tool->words[i]);
	error = ncs_answer_begin(answer, guard, &words, NULL, TOOL_BYTES,
				 until_ns - now_ns, why, sizeof(why));
	ncs_words_release(&words);
	if (error && error != -ENOENT)
		ncs_stack_say(stack, why);
	return error;
}

/* Begins to run the first tool, from that which a process is at, that can be
 * run; the last resort is /proc, which needs none. Returns whether a tool
 * runs. */
static bool go_on(struct reading_stacks *reading, size_t task,
		  struct ncs_answer *answer, struct ncs_guard *guard)
{
	struct ncs_stack *stack = &reading->stacks[task];

	for (; reading->tools[task] < TOOL_COUNT; reading->tools[task]++)
		if (start_tool(reading, &tools[reading->tools[task]], stack,
			       answer, guard) == 0)
			return true;
	ncs_stack_take_proc(stack);
	if (!stack->why[0])
		ncs_stack_say(stack, "none of py-spy, gdb and eu-stack is"
				     " installed");
	return false;
}

static bool begin_stack(void *context, size_t task, struct ncs_answer *answer,
			struct ncs_guard *guard)
{
	struct reading_stacks *reading = context;
	enum ncs_proc_permit permit = ncs_proc_permit(&reading->stacks[task]);

	reading->tools[task] = permit == NCS_PROC_ANY ? 0 : TOOL_COUNT;
	return permit != NCS_PROC_REFUSED &&
	       go_on(reading, task, answer, guard);
}

/* Takes what a tool has written; if that is no stack, tries the next one. */
static bool next_tool(void *context, size_t task, struct ncs_answer *answer,
		      int turn)
{
	struct reading_stacks *reading = context;
	const struct stack_tool *tool = &tools[reading->tools[task]++];
	struct ncs_stack *stack = &reading->stacks[task];
	char *output, why[WHY_BYTES] = "";

	ncs_answer_end(answer, tool->name, turn, &output, why, sizeof(why));
	/* One that was killed while it attached leaves the process stopped, or
	 * about to be stopped. */
	if (turn < 0)
		kill((pid_t)stack->pid, SIGCONT);
	if (output && tool->take(stack, output)) {
		free(output);
		snprintf(stack->tool, sizeof(stack->tool), "%s", tool->name);
		ncs_stack_finish(stack);
		return false;
	}
	free(output);
	if (!why[0])
		snprintf(why, sizeof(why), "%s has found no frames",
			 tool->name);
	ncs_stack_say(stack, why);
	return go_on(reading, task, answer, answer->guard);
}

void ncs_stacks_read(struct ncs_stack *stacks, size_t count)
{
	struct reading_stacks reading = {
		.stacks = stacks,
		.end_ns = ncs_clock_monotonic_ns() + STACKS_NS,
	};
	const struct ncs_answer_tasks tasks = { &reading, begin_stack,
						next_tool };
	int error;

	for (; count > NCS_STACKS_MAX; count--)
		ncs_stack_say(&stacks[count - 1], "it is one of too many here");
	error = ncs_answers_run(&tasks, count);
	for (size_t i = 0; error && i < count; i++)
		ncs_stack_say(&stacks[i], strerror(-error));
}

void ncs_stacks_read_lines(struct ncs_reader *const *readers, char **lines,
			   size_t count)
{
	struct ncs_stack *stacks = calloc(count, sizeof(*stacks));
	size_t *places = calloc(count, sizeof(*places)), processes = 0, size;

	for (size_t i = 0; stacks && places && i < count; i++) {
		struct ncs_stack *added = &stacks[processes];
		struct ncs_process process;

		ncs_process_of_header(ncs_reader_header(readers[i]), &process);
		ncs_stack_identify(added, &process,
				   ncs_reader_labels(readers[i]));
		while (stacks[places[i]].pid != added->pid ||
		       stacks[places[i]].start != added->start)
			places[i]++;
		processes += places[i] == processes;
	}
	if (stacks && places)
		ncs_stacks_read(stacks, processes);
	for (size_t i = 0; i < count; i++) {
		FILE *file = stacks && places ? open_memstream(&lines[i], &size) :
						NULL;

		if (!file)
			continue;
		ncs_stack_print(file, &stacks[places[i]]);
		fclose(file);
	}
	for (size_t i = 0; i < processes; i++)
		ncs_stack_forget(&stacks[i]);
	free(stacks);
	free(places);
}

/* --- Nodes ---------------------------------------------------------------- */

/* Says why to those of which the node has told nothing. */
static void say_all(struct ncs_node_stacks *node, const char *why)
{
	for (size_t i = 0; i < node->count; i++)
		if (node->stacks[i].count == 0 && !node->stacks[i].why[0])
			ncs_stack_say(&node->stacks[i], why);
}

static bool begin_node(void *context, size_t task, struct ncs_answer *answer,
		       struct ncs_guard *guard)
{
	struct ncs_node_stacks *node = &((struct ncs_node_stacks *)context)[task];
	char list[64 * NCS_STACKS_MAX] = "", why[WHY_BYTES];
	struct ncs_words words = { .count = 0 };
	int error;

	/* Those that find no room say so at the end. */
	for (size_t i = 0; i < (node->is_late ? 1 : node->count) &&
			   i < NCS_STACKS_MAX;
	     i++)
		ncs_append(list, sizeof(list), "%s%u:%" PRIu64 ":%" PRIu64,
			   i > 0 ? "," : "", node->stacks[i].pid,
			   node->stacks[i].start,
			   node->stacks[i].pid_namespace);
	ncs_words_add_split(&words, node->reach);
	ncs_words_add_split(&words, node->command);
	ncs_words_add(&words, "--stacks-of=%s", list);
	if (node->is_late)
		ncs_words_add(&words, "--stacks=late");
	error = ncs_answer_begin(answer, guard, &words, NULL, NODE_BYTES,
				 node->is_late ? NODE_LATE_NS : NODE_NS, why,
				 sizeof(why));
	if (error)
		say_all(node, why);
	ncs_words_release(&words);
	return error == 0;
}

static bool end_node(void *context, size_t task, struct ncs_answer *answer,
		     int turn)
{
	struct ncs_node_stacks *node = &((struct ncs_node_stacks *)context)[task];
	char *output, why[WHY_BYTES] = "ncclstat on its node tells nothing";
	char program[64];

	snprintf(program, sizeof(program), "%.*s",
		 (int)strcspn(node->reach, " "), node->reach);
	ncs_answer_end(answer, program, turn, &output, why, sizeof(why));
	if (output)
		ncs_stacks_take(node->stacks, node->count, output);
	free(output);
	say_all(node, why);
	return false;
}

void ncs_stacks_read_nodes(struct ncs_node_stacks *nodes, size_t count)
{
	const struct ncs_answer_tasks tasks = { nodes, begin_node, end_node };
	int error = ncs_answers_run(&tasks, count);

	for (size_t i = 0; error && i < count; i++)
		say_all(&nodes[i], strerror(-error));
}

size_t ncs_stacks_parse(const char *text, struct ncs_stack **stacks)
{
	size_t count = 0;
	int length = 0;

	*stacks = calloc(NCS_STACKS_MAX, sizeof(**stacks));
	while (*stacks && count < NCS_STACKS_MAX) {
		struct ncs_stack *stack = &(*stacks)[count++];

		if (sscanf(text, "%9" SCNu32 ":%20" SCNu64 ":%20" SCNu64 "%n",
			   &stack->pid, &stack->start, &stack->pid_namespace,
			   &length) != 3 ||
		    stack->pid == 0)
			break;
		text += length;
		if (!*text)
			return count;
		if (*text++ != ',')
			break;
	}
	free(*stacks);
	*stacks = NULL;
	return 0;
}
