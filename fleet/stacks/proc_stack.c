/* SPDX-License-Identifier: MIT */
/* Reads /proc; see proc_stack.h. */
#include "fleet/stacks/proc_stack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/process.h"

/* Reads the beginning of a file of the process. Returns false, with an empty
 * text, if it cannot be read or is empty. */
static bool read_file(uint32_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t bytes = -1;
	int file;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0) {
		bytes = read(file, text, size - 1);
		close(file);
	}
	text[bytes > 0 ? bytes : 0] = '\0';
	return bytes > 0;
}

/* --- May it be read? ------------------------------------------------------ */

static enum ncs_proc_permit refuse(struct ncs_stack *stack, const char *why)
{
	ncs_stack_say(stack, why);
	return NCS_PROC_REFUSED;
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
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file >= 0)
		close(file);
	return file >= 0;
}

enum ncs_proc_permit ncs_proc_permit(struct ncs_stack *stack)
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
		return NCS_PROC_REFUSED;
	}
	if (strstr(status, "\nState:\tT"))
		return refuse(stack, "it is stopped by a signal");
	if (may_attach(stack->pid))
		return NCS_PROC_ANY;
	if (status_number(status, "\nUid:") != geteuid()) {
		snprintf(stack->why, sizeof(stack->why),
			 "it is of user %lu: only that user and root may read"
			 " its stack",
			 status_number(status, "\nUid:"));
		return NCS_PROC_REFUSED;
	}
	refuse(stack, "this kernel lets only root attach to it"
		      " (kernel.yama.ptrace_scope)");
	return NCS_PROC_ONLY;
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

void ncs_stack_take_proc(struct ncs_stack *stack)
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
