/* SPDX-License-Identifier: MIT */
/* Ranges of a program, for tests: pushed as programs do, and found in
 * segments. */
#ifndef NCS_TEST_PLUGIN_RANGES_H
#define NCS_TEST_PLUGIN_RANGES_H

#include "test/plugin/scenario.h"

/* The plugin's own functions, not those of ncclstat/range.h. Set by
 * ranges_open(). */
extern struct ranges_calls {
	int (*push)(const char *name);
	int (*pop)(void);
	uint64_t (*start)(const char *name);
	void (*end)(uint64_t range);
	void (*mark)(const char *name);
} ranges;

void ranges_open(void);

/* Makes an NCCL call (CollApi in a group) by the calling thread. Returns its
 * handle, already stopped. */
void *ranges_call(struct guest *guest, void *context, const char *func);

/* Plays the operation of a call with all its parts: one send of
 * GUEST_STEP_BYTES, of GUEST_COLL_ELEMENTS elements. */
void ranges_play(struct guest *guest, void *context, void *call);

/* Does both of the above. */
void ranges_call_and_play(struct guest *guest, void *context);

/* Returns the range at a path like "epoch/step" in the view's current snapshot,
 * or NULL if there is none. */
const struct ncs_range_view *ranges_find(const struct view *view,
					 const char *path);

/* Takes a snapshot, and checks the number of calls in a range. */
void ranges_expect_calls(struct view *view, const char *path, uint64_t calls,
			 const char *when);

#endif
