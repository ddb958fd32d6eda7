/* SPDX-License-Identifier: MIT */
/* A profiler plugin that writes down every call it gets, to be compared.
 *
 * A test opens the same file as the plugin under test does, finds `recorder` in
 * it, says how it should behave, and reads what came. Any thread may call it.
 *
 * Each file exports the tables of the versions in its name only:
 * recorder-all.so, recorder-5.so, recorder-1-2-3.so ...
 *
 * In a job that is not a test of ours RECORDER_REPORT names a file; each
 * finalize adds a line to it: the counts below, no text. (Jobs may end without
 * running destructors.)
 */
#ifndef NCS_TEST_PLUGIN_NEXT_RECORDING_PLUGIN_H
#define NCS_TEST_PLUGIN_NEXT_RECORDING_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its handles are odd and tell the event's bit number and which one it is; its
 * contexts are even. None of them may be dereferenced. */
#define RECORDER_HANDLE(number, event) \
	((uint64_t)(number) << 8 | (uint64_t)(event) << 1 | 1)
#define RECORDER_CONTEXT(number) ((uint64_t)(number) << 8)

struct recorder {
	/* How it behaves: from recorder_reset() on everything at once. */
	int mask;		/* asked for at each init */
	bool fails_init;
	bool gives_no_context;
	uint32_t gives_nothing_for; /* event bits: NULL handles */
	size_t body_bytes;	/* of descriptors, to be compared; 0: all */
	bool counts_only;	/* no text */

	/* What came. */
	char *text;		/* a line a call; "": none */
	uint64_t calls;
	uint64_t starts[16];	/* by event */
	uint64_t stops[16];	/* by the handle's event */
	uint64_t states;
	uint64_t broken;	/* handles, parents, contexts never given */
	int *mask_word;		/* where init was told to store */
	unsigned version;	/* of the table whose init was called */

	void (*reset)(void);	/* forgets all; behaves as one usually does */
};

#endif
