/* SPDX-License-Identifier: MIT */
/* The orders in which NCCL's releases report groups within groups: whatever the
 * order, each call, launch and operation counts once, and nothing is lost.
 *
 * From 2.28 on a group is reported from its first call on. Up to 2.30.7 NCCL
 * then counts group ends of which it did not count the starts: those of an
 * explicit group that begins later, of a split and of a window's registration.
 * So it ends the event within the group, and the next call begins another one,
 * whose depth is 2 as if it were explicit. Launches come at the true end, with
 * the first of the events as their parent. From 2.31 on both are counted. */
#include <signal.h>
#include <unistd.h>

#include "test/plugin/calls.h"
#include "test/unit/support/unit.h"

#define LAST_API 7

/* The steps of a group, one character each: `c` a call, `(` and `)` an explicit
 * group within it, `s` a split, `w` a window's registration. */
static const char *const groups[] = {
	"c",        "cc",   "c(c)c",  "c(c)",    "(c)c",     "((c)c)c",
	"c((c)c)c", "csc",  "scc",    "ccsc",    "cs",       "cwc",
	"c(c)swc",  "c()c", "c()()c", "cs(c)sc", "(c(c)c)c",
};

/* NCCL's side of a thread. */
struct thread {
	struct guest *guest;
	bool counts_all; /* group starts, too */
	int depth;       /* of all groups */
	int counted;     /* depth as the profiler counts it */
	void *group;     /* the event; NULL if there is none */
	void *first;     /* the first one of the outermost group */
	unsigned groups; /* events so far */
	unsigned calls;
};

static void begin_group(struct thread *thread)
{
	thread->depth++;
	if (thread->counts_all && thread->counted > 0)
		thread->counted++;
}

static void launch(struct thread *thread)
{
	struct guest *guest = thread->guest;
	void *plan, *coll;

	stop(guest, start_type(guest, NCCL_EVENT_KERNEL_LAUNCH, thread->first));
	plan = start_type(guest, NCCL_EVENT_GROUP, NULL);
	for (unsigned i = 0; i < thread->calls; i++) {
		coll = start_coll(guest, i, 1);
		stop(guest, coll);
	}
	stop(guest, plan);
}

static void end_group(struct thread *thread)
{
	if (thread->counted > 0)
		thread->counted--;
	if (thread->group && thread->counted == 0)
		record_without_args(thread->guest, thread->group,
				    NCCL_STATE_GROUP_END_API_START);
	if (--thread->depth == 0)
		launch(thread);
	if (thread->group && thread->counted == 0) {
		stop(thread->guest, thread->group);
		thread->group = NULL;
	}
}

static void call(struct thread *thread)
{
	struct host_event group = { .type = NCCL_EVENT_GROUP_API };
	struct host_event event = {
		.type = NCCL_EVENT_COLL_API,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
		.count = 1,
	};

	/* A call is a group of its own within the others. */
	thread->depth++;
	if (thread->counted > 0) {
		thread->counted++;
	} else {
		group.depth = thread->counted = thread->depth;
		thread->group = start(thread->guest, &group);
		record_without_args(thread->guest, thread->group,
				    NCCL_STATE_GROUP_START_API_STOP);
		thread->groups++;
	}
	if (!thread->first)
		thread->first = thread->group;
	event.parent = thread->group;
	stop(thread->guest, start(thread->guest, &event));
	thread->calls++;
	end_group(thread);
}

static void play_steps(struct thread *thread, const char *steps)
{
	begin_group(thread);
	for (; *steps; steps++) {
		if (*steps == 'c')
			call(thread);
		if (*steps == '(' || *steps == 's' || *steps == 'w')
			begin_group(thread);
		if (*steps == ')' || *steps == 's' || *steps == 'w')
			end_group(thread);
	}
	end_group(thread);
}

struct nesting {
	int api;
	const char *steps;
};

static void nest(void *argument)
{
	const struct nesting *nesting = argument;
	const struct ncs_function_view *function;
	struct guest guest;
	struct thread thread = { .guest = &guest,
				 .counts_all = nesting->api >= 7 };
	int mask;

	guest_open(&guest, nesting->api);
	mask = host_mask();
	play_steps(&thread, nesting->steps);
	CHECK_EQUAL(thread.depth, 0, "the test's own count");
	CHECK(!thread.counts_all || thread.groups == 1, "one event");
	check_losses(&guest, nesting->steps, END_OF_LOSSES);
	function = &guest.view.now.functions[NCS_FUNCTION_ALL_REDUCE];
	CHECK_EQUAL(function->calls, thread.calls, nesting->steps);
	CHECK_EQUAL(function->operations, thread.calls, nesting->steps);
	CHECK_EQUAL(guest.view.now.events[NCS_EVENT_GROUP_API], thread.groups,
		    nesting->steps);
	CHECK_EQUAL(guest.view.now.events[NCS_EVENT_KERNEL_LAUNCH], 1,
		    nesting->steps);
	CHECK_EQUAL(host_mask(), mask, nesting->steps);
	guest_close(&guest);
}

TEST(groups_within_groups_count_once)
{
	struct nesting nesting;

	for (nesting.api = 5; nesting.api <= LAST_API; nesting.api++)
		for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
			nesting.steps = groups[i];
			scenario_play(nest, &nesting);
		}
}

/* Up to 2.27 NCCL reports no calls: only what a group has launched. */
static void launch_only(void *argument)
{
	struct guest guest;
	struct thread thread = { .guest = &guest, .calls = 3 };
	void *plan;

	guest_open(&guest, *(const int *)argument);
	plan = start_type(&guest, NCCL_EVENT_GROUP, NULL);
	for (unsigned i = 0; i < thread.calls; i++)
		stop(&guest, start_coll(&guest, i, 1));
	stop(&guest, plan);
	check_losses(&guest, "no calls", END_OF_LOSSES);
	CHECK_EQUAL(
		guest.view.now.functions[NCS_FUNCTION_ALL_REDUCE].operations, 3,
		"operations");
	guest_close(&guest);
}

TEST(releases_without_calls_count_what_they_launch)
{
	for (int api = 1; api < 5; api++)
		scenario_play(launch_only, &api);
}
