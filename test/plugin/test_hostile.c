/* SPDX-License-Identifier: MIT */
/* Calls that NCCL must not make but does make: handles that come back twice,
 * too late or from elsewhere, missing or garbage arguments, calls in the wrong
 * order. Each must be counted and must break nothing, and correct calls at the
 * same time must be followed as if nothing had happened. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/control_object.h"
#include "plugin/state/handle.h"
#include "shm/read/paths.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define LAST_STATE NCCL_STATE_KERNEL_PHASE_STOP

/* The event type that has each state. */
static const enum ncs_event event_of_state[] = {
	[0] = NCS_EVENT_PROXY_OP,    [1] = NCS_EVENT_PROXY_OP,
	[2] = NCS_EVENT_PROXY_OP,    [3] = NCS_EVENT_PROXY_OP,
	[4] = NCS_EVENT_PROXY_OP,    [5] = NCS_EVENT_PROXY_OP,
	[6] = NCS_EVENT_PROXY_OP,    [7] = NCS_EVENT_PROXY_OP,
	[8] = NCS_EVENT_PROXY_STEP,  [9] = NCS_EVENT_PROXY_STEP,
	[10] = NCS_EVENT_PROXY_STEP, [11] = NCS_EVENT_PROXY_STEP,
	[12] = NCS_EVENT_PROXY_STEP, [13] = NCS_EVENT_PROXY_CTRL,
	[14] = NCS_EVENT_PROXY_CTRL, [15] = NCS_EVENT_PROXY_CTRL,
	[16] = NCS_EVENT_PROXY_CTRL, [17] = NCS_EVENT_PROXY_CTRL,
	[18] = NCS_EVENT_PROXY_CTRL, [19] = NCS_EVENT_PROXY_OP,
	[20] = NCS_EVENT_PROXY_STEP, [21] = NCS_EVENT_NET_PLUGIN,
	[22] = NCS_EVENT_KERNEL_CH,  [23] = NCS_EVENT_GROUP_API,
	[24] = NCS_EVENT_GROUP_API,  [25] = NCS_EVENT_CE_COLL,
	[26] = NCS_EVENT_CE_COLL,    [27] = NCS_EVENT_CE_SYNC,
	[28] = NCS_EVENT_CE_SYNC,    [29] = NCS_EVENT_CE_BATCH,
	[30] = NCS_EVENT_CE_BATCH,   [31] = NCS_EVENT_KERNEL_PHASE,
};

/* --- Unchanged state --------------------------------------------------- */

/* All published values except losses and the time of the latest call. */
struct published {
	uint64_t events[NCS_EVENT_COUNT];
	struct ncs_function_view functions[NCS_FUNCTION_COUNT];
	struct ncs_channel_view channels[64];
	struct ncs_proxy_view proxy;
	size_t channel_count;
	size_t operation_count;
	uint64_t records;
};

static void take_published(struct guest *guest, struct published *published)
{
	const struct ncs_snapshot *now = &guest->view.now;

	memset(published, 0, sizeof(*published));
	published->records = count_published(guest);
	memcpy(published->events, now->events, sizeof(now->events));
	memcpy(published->functions, now->functions, sizeof(now->functions));
	CHECK(now->channel_count <= 64, "more than the tests here have");
	published->channel_count = now->channel_count;
	memcpy(published->channels, now->channels,
	       now->channel_count * sizeof(*now->channels));
	published->operation_count = now->operation_count;
	published->proxy = now->proxy;
	/* These advance by themselves. */
	memset(published->proxy.time_ns, 0, sizeof(published->proxy.time_ns));
	for (size_t i = 0; i < now->channel_count; i++)
		memset(published->channels[i].time_ns, 0,
		       sizeof(published->channels[i].time_ns));
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		memset(published->functions[i].histogram, 0,
		       sizeof(published->functions[i].histogram));
}

static void check_same(struct guest *guest, const struct published *before,
		       const char *when)
{
	struct published after;

	take_published(guest, &after);
	CHECK_EQUAL(after.records, before->records, when);
	CHECK_EQUAL(after.channel_count, before->channel_count, when);
	CHECK_EQUAL(after.operation_count, before->operation_count, when);
	CHECK(memcmp(after.events, before->events, sizeof(after.events)) == 0,
	      "%s: events", when);
	CHECK(memcmp(after.functions, before->functions,
		     sizeof(after.functions)) == 0,
	      "%s: functions", when);
	CHECK(memcmp(after.channels, before->channels,
		     sizeof(after.channels)) == 0,
	      "%s: channels", when);
	CHECK(memcmp(&after.proxy, &before->proxy, sizeof(after.proxy)) == 0,
	      "%s: proxy", when);
}

/* --- Handles ----------------------------------------------------------- */

GUEST_SCENARIO(second_stop_changes_nothing_and_is_counted, LAST_API)
{
	struct published before;
	int stale = 0;

	for (int event = 0; event < NCS_EVENT_COUNT; event++) {
		void *handle = start_any(guest, (enum ncs_event)event);
		const char *name = event_name((enum ncs_event)event);

		CHECK(handle, "%s is not followed", name);
		stop(guest, handle);
		take_published(guest, &before);
		stop(guest, handle);
		stop(guest, handle);
		check_same(guest, &before, name);
		stale += 2;
		check_losses(guest, name, NCS_LOSS_STALE, stale, END_OF_LOSSES);
	}
	check_still_follows(guest, "after second stops");
}

GUEST_SCENARIO(stop_of_null_is_counted, 2)
{
	struct published before;

	take_published(guest, &before);
	stop(guest, NULL);
	record(guest, NULL, NCCL_STATE_STEP_SEND_WAIT);
	check_same(guest, &before, "stop and state of NULL");
	check_losses(guest, "stop and state of NULL", NCS_LOSS_STALE, 2,
		     END_OF_LOSSES);
}

/* Starts an event: a step or phase of the one `parent`, any other with parents
 * of its own, as in start_any(). */
static void *start_under(struct guest *guest, enum ncs_event event,
			 void *parent, int step)
{
	if (event == NCS_EVENT_PROXY_STEP)
		return start_step(guest, parent, step);
	if (event == NCS_EVENT_KERNEL_PHASE)
		return start_type(guest, NCCL_EVENT_KERNEL_PHASE, parent);
	return start_any(guest, event);
}

/* Starts and stops events of a type until one takes the slot of the first.
 * Returns that event, still open. */
static void *take_slot_again(struct guest *guest, enum ncs_event event,
			     void *parent, void *first)
{
	struct ncs_handle old = ncs_handle_decode((uint64_t)(uintptr_t)first);

	for (unsigned i = 0; i < 5000; i++) {
		void *handle = start_under(guest, event, parent, (int)i + 1);
		struct ncs_handle new =
			ncs_handle_decode((uint64_t)(uintptr_t)handle);

		CHECK(handle != first, "%s: one handle for two events",
		      event_name(event));
		if (new.slot == old.slot &&new.lane == old.lane)
			return handle;
		stop(guest, handle);
	}
	scenario_fail(__FILE__, __LINE__, NULL, "%s: no slot is used again",
		      event_name(event));
}

/* Tells whether a later stop is the first one: it publishes a record, or ends
 * the enqueueing of an operation. */
static bool is_open(struct guest *guest, void *handle)
{
	uint64_t stale;

	view_take(&guest->view);
	stale = guest->view.now.losses[NCS_LOSS_STALE];
	stop(guest, handle);
	view_take(&guest->view);
	return guest->view.now.losses[NCS_LOSS_STALE] == stale;
}

GUEST_SCENARIO(stale_handle_does_not_affect_the_next_user_of_its_slot, LAST_API)
{
	struct published before;
	int stale = 0;

	for (int number = 0; number < NCS_EVENT_COUNT; number++) {
		enum ncs_event event = (enum ncs_event)number;
		const char *name = event_name(event);
		void *parent = start_any(guest, event == NCS_EVENT_PROXY_STEP ?
							NCS_EVENT_PROXY_OP :
							NCS_EVENT_KERNEL_CH);
		void *old = start_under(guest, event, parent, 0);
		void *next;

		stop(guest, old);
		next = take_slot_again(guest, event, parent, old);
		take_published(guest, &before);
		stop(guest, old);
		stale++;
		for (int state = 0; state <= LAST_STATE; state++) {
			record_size(guest, old, state, 1 << 20);
			stale++;
		}
		check_same(guest, &before, name);
		check_losses(guest, name, NCS_LOSS_STALE, stale, END_OF_LOSSES);
		CHECK(is_open(guest, next),
		      "%s: an old handle ended the slot's next event", name);
	}
	check_still_follows(guest, "after stale handles");
}

/* Stale handles as parents: of an operation, a proxy operation, a step and a
 * kernel whose slots now belong to others. */
GUEST_SCENARIO(stale_parent_is_ignored, LAST_API)
{
	struct ncs_record found;
	void *coll, *op, *step, *kernel, *child;

	coll = start_any(guest, NCS_EVENT_COLL);
	stop(guest, coll);
	take_slot_again(guest, NCS_EVENT_COLL, NULL, coll);
	op = start_any(guest, NCS_EVENT_PROXY_OP);
	stop(guest, op);
	take_slot_again(guest, NCS_EVENT_PROXY_OP, NULL, op);
	step = start_step(guest, start_any(guest, NCS_EVENT_PROXY_OP), 0);
	stop(guest, step);
	kernel = start_any(guest, NCS_EVENT_KERNEL_CH);
	stop(guest, kernel);
	take_slot_again(guest, NCS_EVENT_KERNEL_CH, NULL, kernel);
	read_all_records(guest);

	child = start_proxy_op(guest, coll, 9, false, 0, 1);
	CHECK(child, "NCCL starts no steps without a proxy operation");
	stop(guest, child);
	found = expect_record(guest, NCS_EVENT_PROXY_OP, "stale Coll");
	CHECK_EQUAL(found.operation, 0, "belongs to no operation");
	CHECK_EQUAL(found.function, NCS_FUNCTION_OTHER,
		    "the function is unknown");
	check_losses(guest, "stale Coll", NCS_LOSS_ORPHAN, 1, END_OF_LOSSES);
	stop(guest, start_step(guest, op, 0));
	check_losses(guest, "stale ProxyOp", NCS_LOSS_ORPHAN, 2, END_OF_LOSSES);
	stop(guest, start_kernel(guest, coll, 9, 0));
	found = expect_record(guest, NCS_EVENT_KERNEL_CH, "stale Coll");
	CHECK_EQUAL(found.operation, 0, "belongs to no operation");
	CHECK_EQUAL(found.function, NCS_FUNCTION_OTHER,
		    "the function is unknown");
	stop(guest, start_type(guest, NCCL_EVENT_NET_PLUGIN, step));
	found = expect_record(guest, NCS_EVENT_NET_PLUGIN, "stale step");
	CHECK_EQUAL(found.function, NCS_FUNCTION_OTHER,
		    "the function is unknown");
	stop(guest, start_type(guest, NCCL_EVENT_KERNEL_PHASE, kernel));
	found = expect_record(guest, NCS_EVENT_KERNEL_PHASE, "stale kernel");
	CHECK_EQUAL(found.function, NCS_FUNCTION_OTHER,
		    "the function is unknown");
	check_losses(guest, "stale parents", NCS_LOSS_ORPHAN, 5, END_OF_LOSSES);
	CHECK_EQUAL(guest->view.now.functions[COLL_FUNCTION].with_children, 0,
		    "no operation got a child");
	check_still_follows(guest, "after stale parents");
}

/* Parents of a type that the event cannot have. */
GUEST_SCENARIO(parent_of_the_wrong_kind_makes_an_orphan, LAST_API)
{
	static const enum ncs_event children[] = {
		NCS_EVENT_PROXY_OP,     NCS_EVENT_PROXY_STEP,
		NCS_EVENT_KERNEL_CH,    NCS_EVENT_NET_PLUGIN,
		NCS_EVENT_KERNEL_PHASE,
	};
	static const enum ncs_event parents[] = {
		NCS_EVENT_COLL,       NCS_EVENT_PROXY_OP,  NCS_EVENT_COLL,
		NCS_EVENT_PROXY_STEP, NCS_EVENT_KERNEL_CH,
	};
	int orphans = 0;

	for (unsigned i = 0; i < 5; i++) {
		for (int event = 0; event < NCS_EVENT_COUNT; event++) {
			void *parent = start_any(guest, (enum ncs_event)event);
			struct host_event facts = {
				.type = UINT64_C(1) << children[i],
				.parent = parent,
				.pid = (int)getpid(),
				.channel = 1,
			};
			void *child;

			if (event == (int)parents[i] ||
			    (parents[i] == NCS_EVENT_COLL &&
			     event == NCS_EVENT_P2P))
				continue;
			child = start(guest, &facts);
			orphans++;
			check_losses(guest, event_name(children[i]),
				     NCS_LOSS_ORPHAN, orphans, END_OF_LOSSES);
			stop(guest, child);
			stop(guest, parent);
		}
	}
	check_still_follows(guest, "after wrong parents");
}

/* Tells whether records of this type have a stream in place of a time. */
static bool has_stream(enum ncs_event event)
{
	return event == NCS_EVENT_COLL_API || event == NCS_EVENT_P2P_API ||
	       event == NCS_EVENT_KERNEL_LAUNCH || event == NCS_EVENT_CE_COLL;
}

GUEST_SCENARIO(state_of_another_event_type_changes_nothing, LAST_API)
{
	struct published before;
	struct ncs_record found;
	int stale = 0;

	for (int event = 0; event < NCS_EVENT_COUNT; event++) {
		const char *name = event_name((enum ncs_event)event);
		void *handle = start_any(guest, (enum ncs_event)event);

		take_published(guest, &before);
		for (int state = 0; state <= LAST_STATE; state++) {
			if ((int)event_of_state[state] == event)
				continue;
			record_size(guest, handle, state, 1 << 20);
			stale++;
			check_losses(guest, name, NCS_LOSS_STALE, stale,
				     END_OF_LOSSES);
		}
		check_same(guest, &before, name);
		read_all_records(guest);
		stop(guest, handle);
		if (!next_record(guest, &found))
			continue; /* Coll, P2p: no child; ProxyCtrl: no state */
		CHECK_EQUAL(found.event, event, name);
		CHECK_EQUAL(found.delta[0],
			    has_stream((enum ncs_event)event) ?
				    NCS_RECORD_STREAM(NULL) :
				    0,
			    name);
		CHECK_EQUAL(found.delta[1], 0, name);
		CHECK_EQUAL(found.value, 0, name);
	}
}

GUEST_SCENARIO(state_or_stop_before_any_start_is_counted, LAST_API)
{
	static const uint64_t garbage[] = {
		UINT64_C(0xa5a5a5a5a5a5a5a5),
		UINT64_MAX,
		1,
		2,
		8,
		0xf,
		UINT64_C(0x7ffe12345678),
		UINT64_C(0x8000000000000000),
	};
	struct published before;
	uint64_t value = 1;

	start_any(guest, NCS_EVENT_COLL);
	start_any(guest, NCS_EVENT_PROXY_STEP);
	take_published(guest, &before);
	for (unsigned i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		void *handle = (void *)(uintptr_t)garbage[i];

		stop(guest, handle);
		for (int state = 0; state <= LAST_STATE; state++)
			record_size(guest, handle, state, 1 << 20);
	}
	for (unsigned i = 0; i < 100000; i++) {
		/* xorshift64: arbitrary bits, the same in every run */
		value ^= value << 13;
		value ^= value >> 7;
		value ^= value << 17;
		stop(guest, (void *)(uintptr_t)value);
		record_size(guest, (void *)(uintptr_t)value,
			    (int)(i % (LAST_STATE + 1)), value);
	}
	check_same(guest, &before, "handles that were never given out");
	/* Placeholder handles of events that are not followed carry no tag, so
	 * any of them is accepted. */
	CHECK(guest->view.now.losses[NCS_LOSS_STALE] > 150000,
	      "only %llu of 200264 were counted",
	      (unsigned long long)guest->view.now.losses[NCS_LOSS_STALE]);
	check_still_follows(guest, "after garbage");
}

/* --- Missing arguments ------------------------------------------------- */

GUEST_SCENARIOS(states_without_args_mean_unknown_sizes, 1, LAST_API)
{
	void *op, *step, *ctrl;

	op = start_proxy_op(guest, NULL, 3, true, 2, 4);
	step = start_step(guest, op, 0);
	for (int state = 0; state <= NCCL_STATE_OP_RECV_DONE; state++)
		record_without_args(guest, op, state);
	for (int state = NCCL_STATE_STEP_SEND_GPU_WAIT;
	     state <= NCCL_STATE_STEP_RECV_GPU_WAIT; state++)
		record_without_args(guest, step, state);
	ctrl = start_type(guest, NCCL_EVENT_PROXY_CTRL, NULL);
	for (int state = NCCL_STATE_CTRL_IDLE;
	     state <= NCCL_STATE_CTRL_APPEND_END; state++)
		record_without_args(guest, ctrl, state);
	stop(guest, ctrl);
	if (api >= 4) {
		void *kernel = start_any(guest, NCS_EVENT_KERNEL_CH);
		void *net = start_any(guest, NCS_EVENT_NET_PLUGIN);

		record_without_args(guest, op, NCCL_STATE_OP_IN_PROGRESS);
		record_without_args(guest, step,
				    NCCL_STATE_STEP_SEND_PEER_WAIT);
		record_without_args(guest, net, NCCL_STATE_NET_PLUGIN_UPDATE);
		record_without_args(guest, kernel, NCCL_STATE_KERNEL_CH_STOP);
		stop(guest, net);
		stop(guest, kernel);
	}
	stop(guest, step);
	stop(guest, op);
	check_losses(guest, "states without args", END_OF_LOSSES);
	CHECK_EQUAL(guest->view.now.proxy.appended_operations, 0,
		    "the number was not reported");
	CHECK_EQUAL(guest->view.now.channels[0].bytes, 0,
		    "no size was reported");
	CHECK_EQUAL(guest->view.now.channels[0].size_unknown, 1,
		    "the unknown size is counted");
	CHECK_EQUAL(guest->view.now.channels[0].steps_done, 1,
		    "the step is counted");
	check_still_follows(guest, "after states without args");
}

GUEST_SCENARIOS(operation_with_null_texts_is_of_function_other, 1, LAST_API)
{
	const struct ncs_function_view *other;
	int calls = 0;
	struct host_event event = {
		.func_number = 255,
		.datatype_number = 255,
		.algorithm_number = 255,
		.protocol_number = 255,
		.count = 100,
	};

	other = &guest->view.now.functions[NCS_FUNCTION_OTHER];
	event.type = NCCL_EVENT_COLL;
	stop(guest, start(guest, &event));
	event.type = NCCL_EVENT_P2P;
	stop(guest, start(guest, &event));
	if (api >= 5) {
		event.type = NCCL_EVENT_COLL_API;
		stop(guest, start(guest, &event));
		event.type = NCCL_EVENT_P2P_API;
		stop(guest, start(guest, &event));
		calls = 2;
	}
	if (api >= 6) {
		event.type = NCCL_EVENT_CE_COLL;
		stop(guest, start(guest, &event));
	}
	if (api >= 7) {
		event.type = NCCL_EVENT_KERNEL_PHASE;
		event.parent = start_any(guest, NCS_EVENT_KERNEL_CH);
		stop(guest, start(guest, &event));
	}
	check_losses(guest, "texts that are NULL", END_OF_LOSSES);
	CHECK_EQUAL(other->operations, 2, "Coll and P2p without a name");
	CHECK_EQUAL(other->calls, calls, "calls without a name");
	CHECK_EQUAL(other->bytes, 200, "an unknown element is one byte");
	CHECK_EQUAL(guest->view.now.identity.known & NCS_KNOWN_COMM_NAME,
		    api >= 4 ? NCS_KNOWN_COMM_NAME : 0, "no name was reported");
	check_still_follows(guest, "after texts that are NULL");
}

/* NCCL's texts are literals. If NCCL is unloaded and loaded again, another text
 * may be at the same address. */
GUEST_SCENARIO(texts_are_compared_by_content, LAST_API)
{
	static const struct {
		const char *name;
		enum ncs_function_id id;
	} functions[] = {
		{ "AllReduce", NCS_FUNCTION_ALL_REDUCE },
		{ "Broadcast", NCS_FUNCTION_BROADCAST },
		{ "AllReduceX", NCS_FUNCTION_OTHER },
		{ "AllReduc", NCS_FUNCTION_OTHER },
		{ "AllGather", NCS_FUNCTION_ALL_GATHER },
		{ "", NCS_FUNCTION_OTHER },
		{ "ncclInt8", NCS_FUNCTION_OTHER },
		{ "AllReduce", NCS_FUNCTION_ALL_REDUCE },
	};
	char text[32];
	struct host_event event = {
		.type = NCCL_EVENT_COLL,
		.func = text,
		.datatype = "ncclInt8",
	};
	uint64_t before;

	for (unsigned i = 0; i < 8; i++) {
		before = guest->view.now.functions[functions[i].id].operations;
		snprintf(text, sizeof(text), "%s", functions[i].name);
		stop(guest, start(guest, &event));
		view_take(&guest->view);
		CHECK_EQUAL(
			guest->view.now.functions[functions[i].id].operations,
			before + 1, functions[i].name);
	}
}

/* --- Contexts ---------------------------------------------------------- */

static void start_everything_in(void *argument)
{
	struct published before;
	struct guest guest;
	void *context = *(void **)argument;
	int foreign = 0;

	guest_open(&guest, LAST_API);
	take_published(&guest, &before);
	for (int event = 0; event < NCS_EVENT_COUNT; event++) {
		struct host_event facts = {
			.type = UINT64_C(1) << event,
			.pid = (int)getpid(),
			.channel = 1,
		};
		void *handle = start_in(&guest, context, &facts);
		const char *name = event_name((enum ncs_event)event);

		foreign++;
		if (event == NCS_EVENT_PROXY_OP)
			CHECK(handle, "NCCL starts no steps without");
		if (event != NCS_EVENT_PROXY_OP &&
		    event != NCS_EVENT_PROXY_STEP)
			CHECK(!handle, "%s without a context is followed",
			      name);
		check_losses(&guest, name, NCS_LOSS_FOREIGN, foreign,
			     END_OF_LOSSES);
		if (handle)
			stop(&guest, handle);
	}
	check_same(&guest, &before, "events with a foreign context");
	check_losses(&guest, "after stops", NCS_LOSS_FOREIGN, foreign,
		     END_OF_LOSSES);
	check_still_follows(&guest, "after foreign contexts");
	guest_close(&guest);
}

TEST(events_without_a_context_are_counted_as_foreign)
{
	void *context = NULL;

	scenario_play(start_everything_in, &context);
}

TEST(events_with_a_foreign_context_are_counted_as_foreign)
{
	static const uint64_t contexts[] = {
		UINT64_MAX,
		2,
		0x100,
		UINT64_C(0x7f1234567890),
		UINT64_C(0xa5a5a5a5a5a5a5a5),
	};

	for (unsigned i = 0; i < 5; i++) {
		void *context = (void *)(uintptr_t)contexts[i];

		scenario_play(start_everything_in, &context);
	}
}

/* PXN: NCCL lets this rank's proxy thread move data of another process. */
GUEST_SCENARIOS(proxy_operations_of_other_processes_are_counted_as_foreign, 1,
		LAST_API)
{
	struct host_event op = {
		.type = NCCL_EVENT_PROXY_OP,
		.rank = 3,
		.pid = (int)getpid() + 1,
		.channel = 5,
		.peer = 0,
		.steps = 8,
		.is_send = 1,
	};
	void *foreign_context = (void *)(uintptr_t)UINT64_C(0x123456789abc01);
	struct published before;
	int foreign = 0;

	/* The parent looks like a valid handle of this process, which can
	 * happen. */
	op.parent = start_coll(guest, 0, 1);
	take_published(guest, &before);
	for (int ours = 0; ours < 2; ours++) {
		void *context = ours ? guest->context : foreign_context;
		void *handle = start_in(guest, context, &op);

		CHECK(handle, "NCCL up to 2.27 starts no steps without it");
		foreign++;
		record_size(guest, handle, NCCL_STATE_OP_SEND_POSTED, 1);
		for (int number = 0; number < 8; number++) {
			struct host_event facts = {
				.type = NCCL_EVENT_PROXY_STEP,
				.parent = handle,
				.rank = 3,
				.step = number,
			};
			void *step = start_in(guest, context, &facts);

			CHECK(step, "NCCL records no states without it");
			foreign++;
			record(guest, step, NCCL_STATE_STEP_SEND_GPU_WAIT);
			record_size(guest, step, NCCL_STATE_STEP_SEND_WAIT,
				    1 << 20);
			stop(guest, step);
		}
		stop(guest, handle);
	}
	check_same(guest, &before, "another process's operation");
	check_losses(guest, "another process's operation", NCS_LOSS_FOREIGN,
		     foreign, END_OF_LOSSES);
	check_still_follows(guest, "after PXN");
}

/* The parent decides: NCCL passes the context of the thread that posted the
 * work. */
GUEST_SCENARIO(step_belongs_to_its_operation_whatever_its_context, LAST_API)
{
	struct host_event facts = { .type = NCCL_EVENT_PROXY_STEP };
	void *step;

	facts.parent = start_proxy_op(guest, NULL, 5, true, 0, 8);
	step = start_in(guest, (void *)(uintptr_t)0x123456789ab1, &facts);
	record_size(guest, step, NCCL_STATE_STEP_SEND_WAIT, 4096);
	stop(guest, step);
	check_losses(guest, "a step of our operation", END_OF_LOSSES);
	CHECK_EQUAL(guest->view.now.channels[0].steps_done, 1,
		    "the step is ours");
	CHECK_EQUAL(guest->view.now.channels[0].bytes, 4096,
		    "the step is ours");
}

/* --- Finalize ---------------------------------------------------------- */

SCENARIO(callbacks_after_finalize_are_counted_as_late)
{
	void *handles[NCS_EVENT_COUNT];
	struct published before;
	struct guest guest;
	int late = 0;

	guest_open(&guest, LAST_API);
	for (int event = 0; event < NCS_EVENT_COUNT; event++)
		handles[event] = start_any(&guest, (enum ncs_event)event);
	CHECK(host_finalize(guest.host, guest.context) == NCCL_SUCCESS,
	      "finalize never fails");
	take_published(&guest, &before);
	CHECK_EQUAL(guest.view.now.liveness, NCS_FINISHED, "finalized");
	for (int event = 0; event < NCS_EVENT_COUNT; event++) {
		const char *name = event_name((enum ncs_event)event);
		struct host_event facts = {
			.type = UINT64_C(1) << event,
			.pid = (int)getpid(),
		};

		CHECK(!start(&guest, &facts), "%s is followed after the end",
		      name);
		record(&guest, handles[event], LAST_STATE);
		stop(&guest, handles[event]);
		late += 3;
		check_losses(&guest, name, NCS_LOSS_LATE, late, END_OF_LOSSES);
	}
	check_same(&guest, &before, "after finalize");
	CHECK_EQUAL(guest.view.now.liveness, NCS_FINISHED, "stays finished");
	view_close(&guest.view);
	host_close(guest.host);
}

GUEST_SCENARIO(finalize_of_null_unknown_or_finalized_context_is_harmless,
	       LAST_API)
{
	static const uint64_t unknown[] = { 0, 1, 2, UINT64_MAX, 0x7f1234 };
	struct view other;
	void *second;

	second = init_comm(guest->host, "second", 2);
	view_open(&other, 1);
	for (unsigned i = 0; i < 5; i++)
		CHECK(host_finalize(guest->host,
				    (void *)(uintptr_t)unknown[i]) ==
			      NCCL_SUCCESS,
		      "finalize never fails");
	check_still_follows(guest, "after finalize of no one");
	view_take(&other);
	CHECK_EQUAL(other.now.liveness, NCS_ALIVE,
		    "the other communicator lives on");
	for (unsigned i = 0; i < 3; i++)
		CHECK(host_finalize(guest->host, second) == NCCL_SUCCESS,
		      "finalize never fails");
	view_take(&other);
	CHECK_EQUAL(other.now.liveness, NCS_FINISHED,
		    "the communicator is finalized");
	check_still_follows(guest, "after finalize of another");
	view_close(&other);
}

/* --- Unknown types and states ------------------------------------------ */

GUEST_SCENARIOS(unknown_event_types_are_counted, 1, LAST_API)
{
	/* The first bit unknown to this version. */
	static const unsigned first_unknown[] = { 0, 6, 6, 8, 8, 12, 15, 16 };
	unsigned bits = api <= 4 ? 8 : 64;
	struct published before;
	int unknown = 0;

	take_published(guest, &before);
	for (unsigned bit = first_unknown[api]; bit < bits; bit++) {
		CHECK(!start_type(guest, UINT64_C(1) << bit, NULL),
		      "API %d has no event type 1 << %u", api, bit);
		unknown++;
		check_losses(guest, "an unknown type", NCS_LOSS_UNKNOWN,
			     unknown, END_OF_LOSSES);
	}
	for (unsigned bit = 1; bit < first_unknown[api]; bit++) {
		CHECK(!start_type(guest, UINT64_C(1) << bit | 1, NULL),
		      "an event is of one type");
		unknown++;
	}
	CHECK(!start_type(guest, 0, NULL), "an event is of some type");
	unknown++;
	check_losses(guest, "several types", NCS_LOSS_UNKNOWN, unknown,
		     END_OF_LOSSES);
	check_same(guest, &before, "unknown types");
	check_still_follows(guest, "after unknown types");
}

static void record_unknown_states(void *argument)
{
	static const int first_unknown[] = { 0, 19, 19, 19, 23, 25, 31, 32 };
	static const int wild[] = { 33, 64, 255, 256, INT_MAX, INT_MIN, -1 };
	int api = *(const int *)argument, unknown = 0;
	void *handles[NCS_EVENT_PROXY_CTRL + 1];
	struct published before;
	struct guest guest;

	guest_open(&guest, api);
	for (int event = 0; event <= NCS_EVENT_PROXY_CTRL; event++)
		handles[event] = start_any(&guest, (enum ncs_event)event);
	take_published(&guest, &before);
	for (int event = 0; event <= NCS_EVENT_PROXY_CTRL; event++) {
		for (int state = first_unknown[api]; state <= 32; state++) {
			record_size(&guest, handles[event], state, 1);
			unknown++;
		}
		for (unsigned i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
			record_size(&guest, handles[event], wild[i], 1);
			unknown++;
		}
	}
	check_losses(&guest, "unknown states", NCS_LOSS_UNKNOWN, unknown,
		     END_OF_LOSSES);
	check_same(&guest, &before, "unknown states");
	check_still_follows(&guest, "after unknown states");
	guest_close(&guest);
}

TEST(unknown_states_are_counted)
{
	for (int api = 1; api <= LAST_API; api++)
		scenario_play(record_unknown_states, &api);
}

/* --- Init -------------------------------------------------------------- */

SCENARIO(init_without_mask_name_and_logger_publishes)
{
	struct host *host = open_plugin(LAST_API);
	void *library = dlopen(NCS_PLUGIN_PATH, RTLD_NOW | RTLD_LOCAL);
	const struct nccl_profiler *table;
	void *context = NULL, *handle = HOST_GARBAGE_HANDLE;
	struct view view;
	int mask = 0;

	CHECK(library, "%s", dlerror());
	table = dlsym(library, "ncclProfiler_v7");
	CHECK(table, "no table");
	CHECK(table->init.v5(&context, 7, NULL, NULL, -1, -1, -1, NULL) ==
		      NCCL_SUCCESS,
	      "init may never fail");
	CHECK(context, "a context");
	CHECK(table->init.v5(NULL, 8, &mask, NULL, 0, 0, 0, NULL) == NCCL_SUCCESS,
	      "init may never fail");
	CHECK(mask != 0, "a mask");
	CHECK(table->start_event(context, &handle, NULL) == NCCL_SUCCESS,
	      "startEvent never fails");
	CHECK(!handle, "NCCL would stop the old value of *handle");
	CHECK(table->start_event(context, NULL, NULL) == NCCL_SUCCESS,
	      "startEvent never fails");
	view_open(&view, 0);
	CHECK_EQUAL(view.now.identity.known & ~(uint64_t)NCS_KNOWN_GPU &
			    ~(uint64_t)NCS_KNOWN_NCCL_VERSION,
		    NCS_KNOWN_COMM_ID, "nothing else was reported");
	CHECK_EQUAL(view.now.identity.rank, -1, "unknown");
	CHECK_EQUAL(view.now.identity.nranks, -1, "unknown");
	view_close(&view);
	table->finalize(context);
	dlclose(library);
	host_close(host);
}

static void give_wild_names(void *argument)
{
	int api = *(const int *)argument;
	char name[10001], expected[128], last;
	struct host *host;
	int file;
	struct view view;
	struct guest guest = { 0 };

	for (unsigned i = 0; i < sizeof(name) - 1; i++)
		name[i] = (char)(i % 255 + 1); /* control characters */
	name[sizeof(name) - 1] = '\0';
	memcpy(expected, name, 127);
	expected[127] = '\0';
	host = open_plugin(api);
	guest.host = host;
	guest.context = init_comm(host, name, GUEST_RANK);
	if (api < 4) {
		struct host_event event = {
			.type = NCCL_EVENT_COLL,
			.rank = GUEST_RANK,
			.comm_name = name,
			.comm_hash = GUEST_COMM_ID,
		};

		stop(&guest, start(&guest, &event));
	}
	view_open(&view, 0);
	CHECK(memcmp(view.now.identity.comm_name, expected, 128) == 0,
	      "the name is not cut at 127 bytes, or not ended");
	CHECK_EQUAL(view.now.identity.gpu[0], 0, "the text overran its field");
	file = open(ncs_reader_path(view.reader), O_RDONLY);
	CHECK(pread(file, &last, 1,
		    offsetof(struct ncs_header, identity.comm_name) + 127) == 1,
	      "%s", ncs_reader_path(view.reader));
	CHECK_EQUAL(last, 0, "a reader that trusts it runs over");
	close(file);
	CHECK_EQUAL(view.now.identity.comm_id, GUEST_COMM_ID, "beside it");
	CHECK_EQUAL(view.now.identity.rank, GUEST_RANK, "beside it");
	view_close(&view);
	host_finalize(host, guest.context);
	host_close(host);
}

TEST(long_communicator_name_is_truncated)
{
	for (int api = 1; api <= LAST_API; api++)
		scenario_play(give_wild_names, &api);
}

/* --- Random descriptors ------------------------------------------------ */

GUEST_SCENARIOS(random_proxy_operations_and_steps_do_no_harm, 1, LAST_API)
{
	static const int wild[] = { INT_MIN, -1, 0, 255, INT_MAX };
	struct ncs_record found;
	uint64_t steps = 0, done = 0;

	for (unsigned i = 0; i < 5; i++) {
		struct host_event event = {
			.type = NCCL_EVENT_PROXY_OP,
			.rank = wild[i],
			.pid = (int)getpid(),
			.channel = 255,
			.peer = wild[i],
			.steps = wild[i],
			.chunk_bytes = wild[i],
			.is_send = wild[i],
		};
		void *op = start(guest, &event), *open[5];

		for (unsigned k = 0; k < 5; k++) {
			open[k] = start_step(guest, op, wild[k]);
			CHECK(open[k], "step %d", wild[k]);
			record_size(guest, open[k], NCCL_STATE_STEP_SEND_WAIT,
				    UINT64_MAX);
			record_size(guest, open[k],
				    NCCL_STATE_STEP_RECV_FLUSH_WAIT,
				    UINT64_MAX);
			record_size(guest, op, NCCL_STATE_OP_SEND_POSTED,
				    UINT64_MAX - k);
		}
		/* -1, 255 and INT_MAX share a slot; INT_MIN and 0 share
		 * another. */
		read_all_records(guest);
		stop(guest, open[4]);
		found = expect_record(guest, NCS_EVENT_PROXY_STEP, "INT_MAX");
		CHECK_EQUAL(found.channel, 255, "as reported");
		CHECK_EQUAL(found.peer, wild[i], "as reported");
		CHECK_EQUAL(found.number, INT_MAX, "as reported");
		stop(guest, op);
	}
	check_losses(guest, "wild proxy operations", NCS_LOSS_MISSING_STOP, 20,
		     END_OF_LOSSES);
	CHECK_EQUAL(guest->view.now.channel_count, 5, "one a peer");
	for (size_t i = 0; i < 5; i++) {
		CHECK_EQUAL(guest->view.now.channels[i].channel, 255,
			    "channel");
		CHECK_EQUAL(guest->view.now.channels[i].state, NCS_CHANNEL_IDLE,
			    "nothing is under way");
		steps += guest->view.now.channels[i].steps_started;
		done += guest->view.now.channels[i].steps_done;
	}
	CHECK_EQUAL(steps, 25, "each step counts");
	CHECK_EQUAL(done, 25, "each step ends");
	check_still_follows(guest, "after wild proxy operations");
}

GUEST_SCENARIOS(random_values_in_other_events_do_no_harm, 1, LAST_API)
{
	const struct ncs_function_view *function;
	struct host_event event = {
		.rank = INT_MIN,
		.comm_name = "",
		.comm_hash = UINT64_MAX,
		.seq_number = UINT64_MAX,
		.func = "ReduceScatter",
		.func_number = 3,
		.datatype = "ncclFloat64",
		.datatype_number = 8,
		.algorithm = "",
		.protocol = "a protocol that does not exist",
		.count = SIZE_MAX,
		.root = INT_MIN,
		.peer = INT_MIN,
		.channels = 255,
		.warps = 255,
		.depth = INT_MIN,
		.nranks = INT_MIN,
		.ops = INT_MIN,
		.total_bytes = SIZE_MAX,
		.graph_captured = 255,
		.phase = 255,
		.channel = 255,
		.gpu_timer_ns = UINT64_MAX,
		.net_id = -1,
		.net_data = (void *)(uintptr_t)8,
		.parent_group = (void *)(uintptr_t)8,
		.stream = (void *)(uintptr_t)8,
	};

	for (int bit = 0; bit < NCS_EVENT_COUNT; bit++) {
		void *handle;

		event.type = UINT64_C(1) << bit;
		if (event.type == NCCL_EVENT_PROXY_OP ||
		    event.type == NCCL_EVENT_PROXY_STEP ||
		    (api <= 4 && bit >= 8))
			continue;
		handle = start(guest, &event);
		if (handle)
			stop(guest, handle);
	}
	view_take(&guest->view);
	function = &guest->view.now.functions[NCS_FUNCTION_REDUCE_SCATTER];
	CHECK_EQUAL(function->last_sequence_number, NCS_NO_SEQUENCE_NUMBER,
		    "no number can be that large");
	CHECK_EQUAL(function->operations, 2, "Coll and P2p");
	check_still_follows(guest, "after wild operations");
}

GUEST_SCENARIO(implausible_gpu_times_are_counted_and_not_used, LAST_API)
{
	static const uint64_t times[][2] = {
		{ 0, 5 },
		{ 5, 0 },
		{ 5, 5 },
		{ 6, 5 },
		{ 5, UINT64_MAX },
		{ UINT64_MAX, 5 },
		{ 1, UINT64_C(3600000000002) },
	};
	const unsigned count = sizeof(times) / sizeof(times[0]);
	const struct ncs_function_view *function;
	struct ncs_record found;
	void *coll, *kernel;

	function = &guest->view.now.functions[COLL_FUNCTION];
	for (unsigned i = 0; i < count; i++) {
		coll = start_coll(guest, i, 1);
		stop(guest, coll);
		kernel = start_kernel(guest, coll, 1, times[i][0]);
		record_timer(guest, kernel, NCCL_STATE_KERNEL_CH_STOP,
			     times[i][1]);
		stop(guest, kernel);
		check_losses(guest, "a time that cannot be",
			     NCS_LOSS_BAD_PTIMER, (int)i + 1, END_OF_LOSSES);
		CHECK_EQUAL(function->operations_done, i + 1,
			    "the operation has ended");
		CHECK_EQUAL(function->timed[NCS_TIMING_KERNEL], 0,
			    "no time is known");
		expect_record(guest, NCS_EVENT_COLL, "its last child ended");
		found = expect_record(guest, NCS_EVENT_KERNEL_CH, "kernel");
		CHECK_EQUAL(found.value, 0, "no time is known");
		CHECK_EQUAL(found.number, 0, "no time is known");
	}
}

/* --- Another process that writes into the segments ---------------------- */

/* Returns a word that is wrong in one way or another; *seed is not 0. */
static uint64_t wrong_word(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	switch (*seed >> 60 & 3) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return *seed & 0xffff;
	default:
		return *seed;
	}
}

/* Writes into an object: all words of the header again and again, since init is
 * short, then any words. */
static void scribble_in(const char *path, uint64_t *seed)
{
	int file = open(path, O_RDWR);
	struct stat status;
	uint64_t *words;
	size_t count;

	if (file < 0)
		return;
	if (fstat(file, &status) != 0 || status.st_size < 4096) {
		close(file);
		return;
	}
	count = (size_t)status.st_size / 8;
	words = mmap(NULL, 8 * count, PROT_READ | PROT_WRITE, MAP_SHARED, file,
		     0);
	close(file);
	if (words == MAP_FAILED)
		return;
	for (unsigned i = 0; i < 20000; i++)
		words[i % (sizeof(struct ncs_header) / 8)] = wrong_word(seed);
	for (unsigned i = 0; i < 20000; i++)
		words[wrong_word(seed) % count] = wrong_word(seed);
	munmap(words, 8 * count);
}

/* Writes into the newest object, now and then into all of them. Names end with a
 * number that grows. */
static void scribble(bool everywhere, uint64_t *seed)
{
	DIR *entries = opendir(scenario_directory);
	char path[512], newest[512] = "";
	struct dirent *found;
	int latest = -1;

	while (entries && (found = readdir(entries))) {
		const char *number = strrchr(found->d_name, '.');

		if (found->d_name[0] == '.' || !number)
			continue;
		snprintf(path, sizeof(path), "%s/%s", scenario_directory,
			 found->d_name);
		if (everywhere)
			scribble_in(path, seed);
		if (atoi(number + 1) > latest) {
			latest = atoi(number + 1);
			strcpy(newest, path);
		}
	}
	if (entries)
		closedir(entries);
	if (latest >= 0)
		scribble_in(newest, seed);
}

static void scribble_for_ever(void)
{
	uint64_t seed = 88172645463325252u;

	for (unsigned i = 0;; i++)
		scribble(i % 64 == 63, &seed);
}

static pid_t start_scribbler(void)
{
	pid_t parent = getpid(), pid = fork();

	CHECK(pid >= 0, "fork");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		scribble_for_ever();
	_exit(EXIT_FAILURE);
}

/* Takes back the requests that wrong words in the control object happened to
 * make: the plugin obeys a valid one whoever made it, in all communicators of
 * the process, until there is another. */
static void take_requests_back(struct guest *guest)
{
	const uint64_t no_request = 0;
	struct ncs_paths paths;
	int file;

	CHECK_EQUAL(ncs_discover_controls(scenario_directory, &paths), 0,
		    "find the control object");
	CHECK_EQUAL(paths.count, 1, "one control object a process");
	file = open(paths.path[0], O_WRONLY);
	CHECK(file >= 0, "open the control object");
	CHECK_EQUAL(pwrite(file, &no_request, sizeof(no_request),
			   offsetof(struct ncs_control, request)),
		    sizeof(no_request), "write a request");
	close(file);
	ncs_paths_release(&paths);
	/* The plugin reads requests at the start of a group. */
	stop(guest, start_type(guest, NCCL_EVENT_GROUP_API, NULL));
}

/* Publishes while all that it publishes is overwritten. */
SCENARIO(process_that_overwrites_segments_does_no_harm)
{
	struct guest guest = { 0 };
	pid_t scribbler = start_scribbler();

	guest.host = open_plugin(LAST_API);
	for (unsigned life = 0; life < 150; life++) {
		guest.context = init_comm(guest.host, "overwritten", 0);
		for (unsigned i = 0; i < 20; i++) {
			for (int event = 0; event < NCS_EVENT_COUNT; event++)
				stop(&guest, start_any(&guest,
						       (enum ncs_event)event));
			play_coll(&guest, i);
		}
		host_finalize(guest.host, guest.context);
	}
	kill(scribbler, SIGKILL);
	waitpid(scribbler, NULL, 0);
	guest.context = init_comm(guest.host, "left alone", GUEST_RANK);
	view_open(&guest.view, count_objects() - 1);
	take_requests_back(&guest);
	check_still_follows(&guest, "a communicator left alone");
	guest_close(&guest);
}
