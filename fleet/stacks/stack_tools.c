/* SPDX-License-Identifier: MIT */
/* Reads the output of tools; see stack_tools.h. */
#include "fleet/stacks/stack_tools.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

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
