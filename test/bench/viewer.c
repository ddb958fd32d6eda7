/* SPDX-License-Identifier: MIT */
/* The live view in a terminal; see viewer.h. */
#include "test/bench/viewer.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shm/clock.h"
#include "test/bench/caller.h"

#define MS UINT64_C(1000000)

void viewer_start(struct viewer *view, char *const *arguments,
		  unsigned short columns, unsigned short rows)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };

	view->bytes = 0;
	view->started_ns = ncs_clock_monotonic_ns();
	view->pid = forkpty(&view->terminal, NULL, NULL, &size);
	if (view->pid < 0)
		bench_fail("forkpty", strerror(errno));
	if (view->pid == 0) {
		setenv("TERM", "xterm-256color", 1);
		execv(arguments[0], arguments);
		_exit(127);
	}
}

bool viewer_read_until(struct viewer *view, uint64_t until_ns, const char *text)
{
	static char seen[65536];
	size_t used = 0;

	for (;;) {
		struct pollfd wait = { .fd = view->terminal, .events = POLLIN };
		uint64_t now = ncs_clock_monotonic_ns();
		ssize_t n;

		if (now >= until_ns)
			return true;
		poll(&wait, 1, (int)((until_ns - now) / MS) + 1);
		if (!wait.revents)
			continue;
		if (used > sizeof(seen) / 2)
			used = 0;
		n = read(view->terminal, seen + used, sizeof(seen) / 2 - 1);
		if (n <= 0)
			return false;
		view->bytes += (uint64_t)n;
		used += (size_t)n;
		seen[used] = '\0';
		if (text && strstr(seen, text))
			return true;
	}
}

void viewer_press(struct viewer *view, const char *key)
{
	if (write(view->terminal, key, 1) != 1)
		bench_fail("the terminal", strerror(errno));
}

uint64_t viewer_processor_ns(const struct viewer *view)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(view->pid, &clock) != 0 ||
	    clock_gettime(clock, &used) != 0)
		bench_fail("the view", "it has ended");
	return (uint64_t)used.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)used.tv_nsec;
}

unsigned long viewer_memory_kib(const struct viewer *view, const char *name)
{
	unsigned long kib = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)view->pid);
	file = fopen(path, "re");
	if (!file)
		bench_fail(path, strerror(errno));
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			sscanf(line + strlen(name), ": %lu", &kib);
	fclose(file);
	return kib;
}
