/* SPDX-License-Identifier: MIT */
/* Ranges of a program, for tests: pushed as programs do, and looked at. */
#ifndef NCS_TEST_PLUGIN_RANGES_H
#define NCS_TEST_PLUGIN_RANGES_H

#include "test/plugin/scenario.h"

/* The plugin's own functions, not the stubs. Set by ranges_open(). */
extern struct ranges_calls {
	int (*push)(const char *name);
	int (*pop)(void);
	uint64_t (*start)(const char *name);
	void (*end)(uint64_t range);
	void (*mark)(const char *name);
} ranges;

void ranges_open(void);

/* A call to NCCL (CollApi, in its group) by the calling thread; its handle,
 * which is stopped already. */
void *ranges_call(struct guest *guest, void *context, const char *func);

/* Operations of a call, and all that they consist of: one send of
 * GUEST_STEP_BYTES, of GUEST_COLL_ELEMENTS elements. */
void ranges_play(struct guest *guest, void *context, void *call);

/* Both. */
void ranges_call_and_play(struct guest *guest, void *context);

/* The range at a path like "epoch/step"; NULL: there is none. Looks at what
 * view_take() took. */
const struct ncs_range_view *ranges_find(const struct view *view,
					 const char *path);

/* Takes a view, and checks how many calls a range has. */
void ranges_expect_calls(struct view *view, const char *path, uint64_t calls,
			 const char *when);

#endif
