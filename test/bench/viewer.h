/* SPDX-License-Identifier: MIT */
/* The program's live view in a terminal, for benchmarks: starts it, reads what
 * it draws, and measures its process. Functions end the benchmark if something
 * fails. Not thread-safe. */
#ifndef NCS_TEST_BENCH_VIEWER_H
#define NCS_TEST_BENCH_VIEWER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct viewer {
	pid_t pid;
	int terminal;
	uint64_t bytes; /* that were read */
	uint64_t started_ns;
};

/* Starts a program with its arguments, the last of which is NULL, in a terminal
 * of that size. */
void viewer_start(struct viewer *view, char *const *arguments,
		  unsigned short columns, unsigned short rows);

/* Reads the output of the view until a time (CLOCK_MONOTONIC), or until it
 * contains `text`, which may be NULL. Returns false if the view has ended. */
bool viewer_read_until(struct viewer *view, uint64_t until_ns,
		       const char *text);

void viewer_press(struct viewer *view, const char *key);

/* Returns the processor time of all threads of the view. */
uint64_t viewer_processor_ns(const struct viewer *view);

/* Returns a line of the status of the view's process, in KiB. */
unsigned long viewer_memory_kib(const struct viewer *view, const char *name);

#endif
