/* SPDX-License-Identifier: MIT */
/* Makes API calls as NCCL does; see calls.h. */
#include "test/plugin/calls.h"

#include <string.h>

void make_group(struct guest *guest, void *context, const struct call *calls,
		unsigned count, int *masks)
{
	struct host_event group = {
		.type = NCCL_EVENT_GROUP_API,
		.depth = count > 1 ? 2 : 1,
	};
	void *handle = NULL, *call;

	for (unsigned i = 0; i < count; i++) {
		bool p2p = strcmp(calls[i].func, "Send") == 0 ||
			   strcmp(calls[i].func, "Recv") == 0;
		struct host_event event = {
			.type = p2p ? NCCL_EVENT_P2P_API : NCCL_EVENT_COLL_API,
			.func = calls[i].func,
			.datatype = "ncclFloat32",
			.count = 1,
			.graph_captured = calls[i].captured,
		};

		masks[i] = host_mask();
		if (i == 0) {
			group.graph_captured = calls[i].captured;
			handle = start_in(guest, context, &group);
			record(guest, handle, NCCL_STATE_GROUP_START_API_STOP);
		}
		event.parent = handle;
		call = start_in(guest, context, &event);
		stop(guest, call);
	}
	record(guest, handle, NCCL_STATE_GROUP_END_API_START);
	stop(guest, handle);
}

bool make_call(struct guest *guest, void *context, const char *func,
	       bool captured)
{
	struct call call = { .func = func, .captured = captured };
	int mask;

	make_group(guest, context, &call, 1, &mask);
	return mask & CALL_MASK_KERNEL;
}

unsigned make_calls(struct guest *guest, void *context, unsigned count)
{
	unsigned timed = 0;

	for (unsigned i = 0; i < count; i++)
		timed += make_call(guest, context, "AllReduce", false);
	return timed;
}

enum ncs_kernel_status status_of(struct view *view)
{
	view_take(view);
	return view->now.kernel.status;
}

void expect_status(struct guest *guest, enum ncs_kernel_status status,
		   const char *when)
{
	CHECK_EQUAL(status_of(&guest->view), status, when);
}
