/* SPDX-License-Identifier: MIT */
/* API calls as NCCL makes them: the mask is read, then the plugin is told. */
#ifndef NCS_TEST_PLUGIN_CALLS_H
#define NCS_TEST_PLUGIN_CALLS_H

#include <stdbool.h>

#include "test/plugin/scenario.h"

struct call {
	const char *func; /* "Send" and "Recv" are from point to point */
	bool captured;
};

#define CALL_MASK_KERNEL (1 << NCS_EVENT_KERNEL_CH)

/* Of one group: the calls one after the other, then its end. `masks` gets what
 * NCCL has read for each. */
void make_group(struct guest *guest, void *context, const struct call *calls,
		unsigned count, int *masks);

/* A group of one. True if it is to be timed. */
bool make_call(struct guest *guest, void *context, const char *func,
	       bool captured);

/* So many AllReduces, not captured. How many are to be timed. */
unsigned make_calls(struct guest *guest, void *context, unsigned count);

/* AllReduces until the next one is to be timed. At most `limit`; false if that
 * did not happen. */
bool reach_window(struct guest *guest, void *context, unsigned limit);

/* What a communicator's segment says. */
enum ncs_kernel_status status_of(struct view *view);
void expect_status(struct guest *guest, enum ncs_kernel_status status,
		   const char *when);

#endif
