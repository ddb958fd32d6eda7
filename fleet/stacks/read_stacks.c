/* SPDX-License-Identifier: MIT */
/* Runs tools that read stacks; see read_stacks.h. */
#include "fleet/stacks/read_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/append.h"
#include "fleet/launch/answer.h"
#include "fleet/launch/launchers.h"
#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "shm/process.h"
#include "shm/read/containers.h"

#define TOOL_BYTES ((size_t)4 << 20)
#define NODE_BYTES ((size_t)64 << 20)
/* Time for all stacks of a machine; for a node, with the time to reach it. */
#define STACKS_NS UINT64_C(3000000000)
#define NODE_NS UINT64_C(10000000000)
#define NODE_LATE_NS UINT64_C(17000000000)
/* Time for the samples of a process that is late. */
#define SAMPLES_NS UINT64_C(10000000000)
/* The part of it in which py-spy must have read a stack, or is left. */
#define PYTHON_NS UINT64_C(5000000000)
/* Between two looks pass one to two of these: an even pace would see the same part
 * of each step of the job. */
#define STEP_NS UINT64_C(5000000)
#define TOOL_NS UINT64_C(1500000000)
/* Room for what a program says. */
#define WHY_BYTES 200

/* Reads the beginning of a file of the process. Returns false, with an empty
 * text, if it cannot be read or is empty. */
static bool read_file(uint32_t pid, const char *name, char *text, size_t size)
{
	FILE *file = ncs_process_file(pid, name);
	size_t bytes = file ? fread(text, 1, size - 1, file) : 0;

	text[bytes] = '\0';
	if (file)
		fclose(file);
	return bytes > 0;
}

/* --- May it be read? ------------------------------------------------------ */

enum permit {
	REFUSED,   /* it is to be left alone; the stack says why */
	PROC_ONLY, /* no tool may attach to it; likewise */
	ANY_TOOL,
};

static enum permit refuse(struct ncs_stack *stack, const char *why)
{
	ncs_stack_say(stack, why);
	return REFUSED;
}

/* Returns a number of /proc/PID/status. */
static unsigned long status_number(const char *status, const char *key)
{
	const char *line = strstr(status, key);

	return line ? strtoul(line + strlen(key), NULL, 10) : 0;
}

/* Whether this process may attach to it: the kernel lets the same processes
 * open its memory. */
static bool may_attach(uint32_t pid)
{
	FILE *file = ncs_process_file(pid, "mem");
	bool may = file != NULL;

	if (file)
		fclose(file);
	return may;
}

/* Tells whether a process is the one that is asked for, and may be attached to:
 * it runs, nothing traces it, and it is of this user, or this is root. */
static enum permit permit_of(struct ncs_stack *stack)
{
	struct ncs_process self;
	uint64_t start;
	char status[4096];
	unsigned long tracer;

	ncs_process_describe(&self);
	if (stack->pid_namespace && stack->pid_namespace != self.pid_namespace)
		return refuse(stack, "it is in another container; run ncclstat"
				     " there, or as root outside");
	start = ncs_process_start(stack->pid);
	if (start == 0 || (stack->start && stack->start != start))
		return refuse(stack, "its process is gone");
	if (!read_file(stack->pid, "status", status, sizeof(status)))
		return refuse(stack, "/proc does not show its process");
	tracer = status_number(status, "\nTracerPid:");
	if (tracer != 0) {
		snprintf(stack->why, sizeof(stack->why),
			 "it is traced already, by process %lu", tracer);
		return REFUSED;
	}
	if (strstr(status, "\nState:\tT"))
		return refuse(stack, "it is stopped by a signal");
	if (may_attach(stack->pid))
		return ANY_TOOL;
	if (status_number(status, "\nUid:") != geteuid()) {
		snprintf(stack->why, sizeof(stack->why),
			 "it is of user %lu: only that user and root may read"
			 " its stack",
			 status_number(status, "\nUid:"));
		return REFUSED;
	}
	refuse(stack, "this kernel lets only root attach to it"
		      " (kernel.yama.ptrace_scope)");
	return PROC_ONLY;
}

/* --- Where it waits ------------------------------------------------------- */

/* Adds the lines "[<0>] FUNCTION+0x2a/0x50" of the kernel's stack. */
static void add_kernel(struct ncs_stack *stack, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *function = strstr(line, "] ");

		if (!function)
			continue;
		function[strcspn(function, "+")] = '\0';
		ncs_stack_add(stack, function + 2, "kernel", 0);
	}
}

/* Takes frames from /proc: functions of the kernel as far as they may be read,
 * the system call, and the thread's name. */
static void take_proc(struct ncs_stack *stack)
{
	char text[4096], name[64];

	if (read_file(stack->pid, "stack", text, sizeof(text)))
		add_kernel(stack, text);
	else if (read_file(stack->pid, "wchan", text, sizeof(text)) &&
		 strcmp(text, "0") != 0)
		ncs_stack_add(stack, text, "kernel", 0);
	if (read_file(stack->pid, "syscall", text, sizeof(text))) {
		/* "running" if it is in none. */
		snprintf(name, sizeof(name), "%s%.*s",
			 text[0] == 'r' ? "" : "system call ",
			 (int)strcspn(text, " \n"), text);
		ncs_stack_add(stack, name, "", 0);
	}
	if (read_file(stack->pid, "comm", text, sizeof(text))) {
		snprintf(name, sizeof(name), "thread %.*s",
			 (int)strcspn(text, "\n"), text);
		ncs_stack_add(stack, name, "", 0);
	}
	if (stack->count > 0)
		snprintf(stack->tool, sizeof(stack->tool), "/proc");
	ncs_stack_finish(stack);
}

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
	take_proc(stack);
	if (!stack->why[0])
		ncs_stack_say(stack, "none of py-spy, gdb and eu-stack is"
				     " installed");
	return false;
}

static bool begin_stack(void *context, size_t task, struct ncs_answer *answer,
			struct ncs_guard *guard)
{
	struct reading_stacks *reading = context;
	enum permit permit = permit_of(&reading->stacks[task]);

	reading->tools[task] = permit == ANY_TOOL ? 0 : TOOL_COUNT;
	return permit != REFUSED && go_on(reading, task, answer, guard);
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

/* --- Moments -------------------------------------------------------------- */

/* Takes frames of Python. Returns false if there are none. */
static bool take_python(struct ncs_stack *stack, struct ncs_guard *guard)
{
	struct ncs_words words = { .count = 0 };
	char *output = NULL, why[WHY_BYTES];
	struct ncs_answer answer;
	int turn;

	ncs_words_add_split(&words, "py-spy dump --nonblocking --json --pid");
	ncs_words_add(&words, "%u", stack->pid);
	if (ncs_answer_begin(&answer, guard, &words, NULL, TOOL_BYTES, TOOL_NS,
			     why, sizeof(why)) == 0) {
		turn = ncs_answer_wait(&answer, 1);
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
	enum permit permit = permit_of(&stacks[0]);
	uint64_t begun_ns = ncs_clock_monotonic_ns(), now_ns = begun_ns;
	struct ncs_stack process = stacks[0];
	struct ncs_guard guard = { .pid = 0 };
	bool by_pyspy = permit == ANY_TOOL && ncs_guard_start(&guard) == 0;
	size_t count = 0;

	while (permit != REFUSED && count < NCS_LATE_STACKS_MAX &&
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
			take_proc(stack);
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
