/* SPDX-License-Identifier: MIT */
/* API calls as NCCL makes them: it reads the mask, then calls the plugin. */
#ifndef NCS_TEST_PLUGIN_CALLS_H
#define NCS_TEST_PLUGIN_CALLS_H

#include <stdbool.h>

#include "test/plugin/scenario.h"

struct call {
	const char *func; /* "Send" and "Recv" are point-to-point */
	bool captured;
};

#define CALL_MASK_KERNEL (1 << NCS_EVENT_KERNEL_CH)

/* Makes one group: the calls one after the other, then its end. Sets masks[i]
 * to the mask that NCCL read for call i. */
void make_group(struct guest *guest, void *context, const struct call *calls,
		unsigned count, int *masks);

/* Makes a group of one call. Returns true if it is to be timed. */
bool make_call(struct guest *guest, void *context, const char *func,
	       bool captured);

/* Makes `count` AllReduces that are not captured. Returns how many are to be
 * timed. */
unsigned make_calls(struct guest *guest, void *context, unsigned count);

/* Returns the status in a communicator's segment. */
enum ncs_kernel_status status_of(struct view *view);
void expect_status(struct guest *guest, enum ncs_kernel_status status,
		   const char *when);

#endif
