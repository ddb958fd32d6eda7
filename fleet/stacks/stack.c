/* SPDX-License-Identifier: MIT */
/* Frames of a stack, and where they come from; see stack.h. */
#include "fleet/stacks/stack.h"

#include <inttypes.h>
#include <jansson.h>
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

/* Longer lines are cut. */
#define LINE_MAX_BYTES 2048

/* --- py-spy --------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Returns the main thread: that whose number is the process's, else that which
 * Python calls so. */
static const json_t *main_thread(const json_t *threads, uint32_t pid)
{
	const json_t *found = NULL;

	for (size_t i = 0; i < json_array_size(threads); i++) {
		const json_t *thread = json_array_get(threads, i);
		const json_t *number = json_object_get(thread, "os_thread_id");

		if (json_is_integer(number) &&
		    json_integer_value(number) == (json_int_t)pid)
			return thread;
		if (strcmp(text_of(thread, "thread_name"), "MainThread") == 0)
			found = thread;
	}
	return found;
}

bool ncs_stack_take_pyspy(struct ncs_stack *stack, const char *output)
{
	json_t *threads = json_loads(output, 0, NULL);
	const json_t *frames =
		json_object_get(main_thread(threads, stack->pid), "frames");

	for (size_t i = 0; i < json_array_size(frames); i++) {
		const json_t *frame = json_array_get(frames, i);
		json_int_t line =
			json_integer_value(json_object_get(frame, "line"));

		ncs_stack_add(stack, text_of(frame, "name"),
			      text_of(frame, "filename"),
			      line > 0 && line < INT32_MAX ? (uint32_t)line :
							     0);
	}
	json_decref(threads);
	return stack->count > 0;
}

/* --- Texts ---------------------------------------------------------------- */

/* Copies the next line of a text. Returns false at its end. */
static bool next_line(const char **text, char line[LINE_MAX_BYTES])
{
	size_t length = strcspn(*text, "\n");

	if (!**text)
		return false;
	snprintf(line, LINE_MAX_BYTES, "%.*s",
		 (int)(length < LINE_MAX_BYTES ? length : LINE_MAX_BYTES - 1),
		 *text);
	*text += length;
	*text += **text == '\n';
	return true;
}

/* Finds the last place of a word, cuts the text there, and returns what follows
 * the word; NULL if it is not there. */
static char *cut_at_last(char *text, const char *word)
{
	char *found = NULL;

	for (char *at = strstr(text, word); at; at = strstr(at + 1, word))
		found = at;
	if (!found)
		return NULL;
	*found = '\0';
	return found + strlen(word);
}

static uint32_t number_of(const char *text)
{
	unsigned long number = text ? strtoul(text, NULL, 10) : 0;

	return number < INT32_MAX ? (uint32_t)number : 0;
}

/* Returns what follows "#NUMBER  0xADDRESS in " or a part of this; the address
 * if it is all there is; NULL if the line is no frame. */
static char *frame_in(char *line)
{
	int begin = 0, end = 0;

	if (sscanf(line, "#%*u %n", &begin) != 0 || begin == 0 || !line[begin])
		return NULL;
	if (sscanf(line + begin, "0x%*x %n", &end) != 0 || !line[begin + end])
		return line + begin;
	line += begin + end;
	return strncmp(line, "in ", 3) == 0 ? line + 3 : line;
}

/* Adds "FUNCTION (ARGUMENTS) at FILE:LINE" or "... from FILE". Arguments are
 * printed without values. */
static void add_gdb_frame(struct ncs_stack *stack, char *text)
{
	char *file = cut_at_last(text, ") at "), *line = NULL;

	if (file)
		line = cut_at_last(file, ":");
	else
		file = cut_at_last(text, ") from ");
	cut_at_last(text, " (");
	ncs_stack_add(stack, text, file ? file : "", number_of(line));
}

/* Adds a line of gdb's py-bt: '  File "FILE", line LINE, in FUNCTION (...)'. */
static void add_python_frame(struct ncs_stack *stack, char *text)
{
	static const char head[] = "  File \"";
	char *line = cut_at_last(text, "\", line "), *function;

	if (!line || strncmp(text, head, sizeof(head) - 1) != 0)
		return;
	function = cut_at_last(line, ", in ");
	if (function)
		function[strcspn(function, " ")] = '\0';
	ncs_stack_add(stack, function ? function : "", text + sizeof(head) - 1,
		      number_of(line));
}

bool ncs_stack_take_gdb(struct ncs_stack *stack, const char *output)
{
	bool is_thread = false;
	char line[LINE_MAX_BYTES], *frame;

	while (next_line(&output, line)) {
		if (strcmp(line, NCS_STACK_GDB_MARK) == 0) {
			if (stack->count > 0)
				return true;
			is_thread = true;
		} else if (!is_thread) {
			add_python_frame(stack, line);
		} else if ((frame = frame_in(line))) {
			add_gdb_frame(stack, frame);
		} else if (strncmp(line, "(More ", 6) == 0) {
			stack->is_cut = true;
		}
	}
	/* Without the mark, gdb was ended before it was through. */
	if (!is_thread)
		ncs_stack_forget(stack);
	return stack->count > 0;
}

bool ncs_stack_take_eu_stack(struct ncs_stack *stack, const char *output)
{
	char line[LINE_MAX_BYTES], *frame;

	while (next_line(&output, line))
		if ((frame = frame_in(line)))
			ncs_stack_add(stack, frame, "", 0);
	return stack->count > 0;
}

/* --- Lines of another ncclstat -------------------------------------------- */

#define STACK_LINE "ncclstat-stack\t"
#define FRAME_LINE "ncclstat-frame\t"

void ncs_stack_print(FILE *file, const struct ncs_stack *stack)
{
	/* Texts are clean: they have no tabs. */
	fprintf(file, STACK_LINE "%u\t%s\t%s\n", stack->pid, stack->tool,
		stack->why);
	for (size_t i = 0; i < stack->count; i++)
		fprintf(file, FRAME_LINE "%u\t%s\t%s\n", stack->frames[i].line,
			stack->frames[i].file, stack->frames[i].function);
}

/* Takes the next text up to a tab off a line. */
static const char *next_text(char **line)
{
	const char *text = strsep(line, "\t");

	return text ? text : "";
}

void ncs_stacks_take(struct ncs_stack *stacks, size_t count, const char *output)
{
	struct ncs_stack *stack = NULL;
	char buffer[LINE_MAX_BYTES];

	while (next_line(&output, buffer)) {
		char *line = buffer + strlen(STACK_LINE);
		const char *first, *second;

		if (strncmp(buffer, STACK_LINE, strlen(STACK_LINE)) == 0) {
			uint32_t pid = number_of(next_text(&line));

			stack = NULL;
			for (size_t i = 0; i < count && !stack; i++)
				if ((stacks[i].pid == pid ||
				     stacks[i].pid == 0) &&
				    !stacks[i].tool[0] && !stacks[i].why[0])
					stack = &stacks[i];
			if (!stack)
				continue;
			stack->pid = pid;
			snprintf(stack->tool, sizeof(stack->tool), "%s",
				 next_text(&line));
			ncs_stack_say(stack, next_text(&line));
		} else if (stack && stack->count < NCS_STACK_FRAMES &&
			   strncmp(buffer, FRAME_LINE, strlen(FRAME_LINE)) ==
				   0) {
			first = next_text(&line);
			second = next_text(&line);
			ncs_stack_add(stack, next_text(&line), second,
				      number_of(first));
		}
	}
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
