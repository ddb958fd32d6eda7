/* SPDX-License-Identifier: MIT */
/* A profiler plugin that records every call it gets, for comparison.
 *
 * A test opens the same file as the plugin under test does, finds `recorder` in
 * it, sets how it should behave, and reads the recorded calls. Any thread may
 * call the plugin. Each file exports only the tables of the versions in its
 * name: recorder-all.so, recorder-5.so, recorder-1-2-3.so ...
 *
 * In processes other than tests, RECORDER_REPORT names a file; each finalize
 * appends a line with the counts below. (Jobs may end without running
 * destructors.)
 */
#ifndef NCS_TEST_PLUGIN_NEXT_RECORDING_PLUGIN_H
#define NCS_TEST_PLUGIN_NEXT_RECORDING_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The plugin's handles are odd and contain the event's bit number and a serial
 * number; its contexts are even. None of them may be dereferenced. */
#define RECORDER_HANDLE(number, event) \
	((uint64_t)(number) << 8 | (uint64_t)(event) << 1 | 1)
#define RECORDER_CONTEXT(number) ((uint64_t)(number) << 8)

struct recorder {
	/* How the plugin behaves; recorder_reset() restores the default. */
	int mask;		/* mask requested at each init */
	bool fails_init;
	bool gives_no_context;
	uint32_t gives_nothing_for; /* event bits: NULL handles */
	size_t body_bytes;	/* bytes compared of descriptors; 0 for all */
	bool counts_only;	/* do not record lines */

	/* The recorded calls. */
	char *text;		/* one line per call; "" if there are none */
	uint64_t calls;
	uint64_t starts[16];	/* by event */
	uint64_t stops[16];	/* by the handle's event */
	uint64_t states;
	uint64_t broken;	/* unknown handles, parents and contexts */
	int *mask_word;		/* the mask's address, as passed to init */
	unsigned version;	/* of the table whose init was called */

	void (*reset)(void);	/* forgets all, restores defaults */
};

#endif
