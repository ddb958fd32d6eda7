/* SPDX-License-Identifier: MIT */
/* Pushes and finds ranges; see ranges.h. */
#include "test/plugin/ranges.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

struct ranges_calls ranges;

static void find(void *library, const char *name, void *call)
{
	void *symbol = dlsym(library, name);

	CHECK(symbol, "the plugin has no %s", name);
	memcpy(call, &symbol, sizeof(symbol));
}

void ranges_open(void)
{
	void *library = dlopen(NCS_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL);

	CHECK(library, "%s", dlerror());
	find(library, "ncclstat_range_push", &ranges.push);
	find(library, "ncclstat_range_pop", &ranges.pop);
	find(library, "ncclstat_range_start", &ranges.start);
	find(library, "ncclstat_range_end", &ranges.end);
	find(library, "ncclstat_range_mark", &ranges.mark);
}

void *ranges_call(struct guest *guest, void *context, const char *func)
{
	bool p2p = strcmp(func, "Send") == 0 || strcmp(func, "Recv") == 0;
	struct host_event group = { .type = NCCL_EVENT_GROUP_API, .depth = 1 };
	struct host_event event = {
		.type = p2p ? NCCL_EVENT_P2P_API : NCCL_EVENT_COLL_API,
		.func = func,
		.datatype = "ncclFloat32",
		.count = GUEST_COLL_ELEMENTS,
	};
	void *call;

	event.parent = start_in(guest, context, &group);
	call = start_in(guest, context, &event);
	stop(guest, call);
	stop(guest, event.parent);
	return call;
}

void ranges_play(struct guest *guest, void *context, void *call)
{
	struct host_event coll = coll_event_of(call);
	struct host_event op = {
		.type = NCCL_EVENT_PROXY_OP,
		.parent = start_in(guest, context, &coll),
		.pid = (int)getpid(),
		.channel = 3,
		.is_send = 1,
		.peer = 2,
		.steps = 1,
	};
	struct host_event step = { .type = NCCL_EVENT_PROXY_STEP };

	stop(guest, op.parent);
	step.parent = start_in(guest, context, &op);
	op.parent = start_in(guest, context, &step);
	record(guest, op.parent, NCCL_STATE_STEP_SEND_GPU_WAIT);
	let_time_pass();
	record_size(guest, op.parent, NCCL_STATE_STEP_SEND_WAIT,
		    GUEST_STEP_BYTES);
	stop(guest, op.parent);
	stop(guest, step.parent);
}

void ranges_call_and_play(struct guest *guest, void *context)
{
	ranges_play(guest, context, ranges_call(guest, context, "AllReduce"));
}

static const struct ncs_range_view *find_in(const struct view *view,
					    uint32_t parent, const char *name,
					    size_t length)
{
	for (size_t i = 0; i < view->now.range_count; i++) {
		const struct ncs_range_view *range = &view->now.ranges[i];

		if (range->parent == parent && strlen(range->name) == length &&
		    memcmp(range->name, name, length) == 0)
			return range;
	}
	return NULL;
}

const struct ncs_range_view *ranges_find(const struct view *view,
					 const char *path)
{
	const struct ncs_range_view *range = NULL;

	for (;;) {
		size_t length = strcspn(path, "/");

		range = find_in(view, range ? range->number : 0, path, length);
		if (!range || path[length] == '\0')
			return range;
		path += length + 1;
	}
}

void ranges_expect_calls(struct view *view, const char *path, uint64_t calls,
			 const char *when)
{
	const struct ncs_range_view *range;

	view_take(view);
	range = ranges_find(view, path);
	CHECK(range || calls == 0, "%s: there is no range %s", when, path);
	if (range && range->calls != calls)
		scenario_fail(__FILE__, __LINE__, NULL,
			      "%s: %s has %llu calls, not %llu", when, path,
			      (unsigned long long)range->calls,
			      (unsigned long long)calls);
}
