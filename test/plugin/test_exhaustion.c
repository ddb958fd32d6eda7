/* SPDX-License-Identifier: MIT */
/* Exhaustion: too many communicators, events in flight, channels, peers,
 * functions, or too little memory. Events that are not followed are counted,
 * NCCL gets the handles that it needs, memory stays bounded, and once there is
 * room again all works as before. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/state/comm.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7

#define DEFAULT_BUDGET (UINT64_C(16) << 20)

/* --- Communicators ----------------------------------------------------- */

#define MANY 200

/* A context that is not followed must accept every call, and return no handle
 * that NCCL would pass back needlessly. */
static void use_unseen(struct guest *guest, void *context)
{
	for (int event = 0; event < NCS_EVENT_COUNT; event++) {
		struct host_event facts = {
			.type = UINT64_C(1) << event,
			.pid = (int)getpid(),
		};
		void *handle = start_in(guest, context, &facts);

		CHECK(!handle, "%s of an unseen communicator is followed",
		      event_name((enum ncs_event)event));
	}
}

static unsigned count_alive(size_t objects)
{
	unsigned alive = 0;

	for (size_t i = 0; i < objects; i++) {
		struct view view;

		view_open(&view, i);
		alive += view.now.liveness == NCS_ALIVE;
		view_close(&view);
	}
	return alive;
}

SCENARIO(communicators_beyond_the_limit_are_not_published)
{
	static void *contexts[MANY];
	struct guest guest = { 0 };
	unsigned seen, lines;
	size_t objects;
	uint64_t unpublished = 0;

	guest.host = open_plugin(LAST_API);
	contexts[0] = init_comm(guest.host, "many", 0);
	CHECK(host_mask() != 0, "the first fits");
	for (unsigned i = 1; i < MANY; i++)
		contexts[i] = init_comm(guest.host, "many", (int)i);
	objects = count_objects();
	lines = host_log_count();
	CHECK(objects >= 8, "a process has at least some");
	CHECK(objects < MANY, "there is a limit");
	CHECK_EQUAL(count_alive(objects), objects, "each object is alive");
	CHECK(count_object_bytes() <= DEFAULT_BUDGET, "%llu bytes",
	      (unsigned long long)count_object_bytes());
	/* Lines of the log: one for loading, one for each published
	 * communicator, and one for those that are not. */
	CHECK_EQUAL(lines, 1 + objects + 1, "one line for all the others");
	for (unsigned i = 0; i < MANY; i++) {
		struct host_event coll = { .type = NCCL_EVENT_COLL };

		if (start_in(&guest, contexts[i], &coll))
			continue;
		use_unseen(&guest, contexts[i]);
	}
	seen = 0;
	for (size_t i = 0; i < objects; i++) {
		struct view view;

		view_open(&view, i);
		seen += view.now.events[NCS_EVENT_COLL] == 1;
		unpublished += view.now.losses[NCS_LOSS_UNPUBLISHED];
		for (unsigned k = 0; k < NCS_LOSS_UNPUBLISHED; k++)
			CHECK_EQUAL(view.now.losses[k], 0,
				    "events of the unseen count nowhere");
		view_close(&view);
	}
	CHECK_EQUAL(unpublished, MANY - objects, "the unseen are counted");
	CHECK_EQUAL(seen, objects, "each has its own event");
	for (unsigned i = 0; i < MANY; i++)
		CHECK(host_finalize(guest.host, contexts[i]) == NCCL_SUCCESS,
		      "finalize never fails");
	CHECK_EQUAL(count_alive(objects), 0, "all were finalized");
	contexts[0] = init_comm(guest.host, "after", 7);
	CHECK_EQUAL(count_objects(), objects, "one has made room for it");
	view_open(&guest.view, objects - 1);
	CHECK_EQUAL(guest.view.now.liveness, NCS_ALIVE, "the newest");
	CHECK_EQUAL(guest.view.now.identity.rank, 7, "the newest");
	guest.context = contexts[0];
	check_still_follows(&guest, "in the place of another");
	guest_close(&guest);
}

static unsigned count_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned count = 0;
	int character;

	CHECK(file, "/proc is not there");
	while ((character = getc(file)) != EOF)
		count += character == '\n';
	fclose(file);
	return count;
}

#define CYCLES 1000

/* Mappings that come without a leak: those of libc and of the sanitizer. If
 * each cycle leaked one, there would be 800. */
#ifdef __SANITIZE_ADDRESS__
#define MAPPINGS_MARGIN 100
#else
#define MAPPINGS_MARGIN 8
#endif

SCENARIO(thousand_consecutive_communicators_leave_no_trace)
{
	struct guest guest = { 0 };
	unsigned long kib = 0;
	unsigned mappings = 0;
	size_t objects = 0;
	void *late = NULL;

	guest.host = open_plugin(LAST_API);
	for (unsigned i = 0; i < CYCLES; i++) {
		guest.context = init_comm(guest.host, "cycle", (int)(i % 8));
		play_coll(&guest, 0);
		if (late) /* a handle of an earlier communicator */
			stop(&guest, late);
		late = start_any(&guest, NCS_EVENT_GROUP);
		CHECK(late, "cycle %u is not followed", i);
		CHECK(host_finalize(guest.host, guest.context) == NCCL_SUCCESS,
		      "finalize never fails");
		if (i == CYCLES / 5) {
			kib = resident_kib();
			mappings = count_mappings();
			objects = count_objects();
		}
	}
	CHECK(count_objects() <= objects, "objects pile up: %zu, then %zu",
	      objects, count_objects());
	CHECK(count_object_bytes() <= DEFAULT_BUDGET, "%llu bytes",
	      (unsigned long long)count_object_bytes());
	CHECK(count_mappings() <= mappings + MAPPINGS_MARGIN,
	      "mappings pile up: %u to %u", mappings, count_mappings());
	/* If each cycle leaked a segment or the private part, it would be 100
	 * MiB. */
	CHECK(resident_kib() < kib + 16384, "memory piles up: %lu to %lu KiB",
	      kib, resident_kib());
	guest.context = init_comm(guest.host, "last", 3);
	view_open(&guest.view, count_objects() - 1);
	CHECK_EQUAL(guest.view.now.identity.rank, 3, "the newest");
	CHECK_EQUAL(guest.view.now.events[NCS_EVENT_COLL], 0,
		    "nothing is left of the former ones");
	check_still_follows(&guest, "after 1000 communicators");
	guest_close(&guest);
}

/* --- Memory of a rank -------------------------------------------------- */

/* 4 MiB; the kernel counts resident memory to within 64 pages a thread. */
#define RANK_KIB (4096 + 256)
#define RANK_CHANNELS 32

static void play_wide_coll(struct guest *guest, uint64_t seq_number)
{
	void *coll = start_coll(guest, seq_number, 1000);
	void *ops[RANK_CHANNELS], *step;

	stop(guest, coll);
	for (unsigned i = 0; i < RANK_CHANNELS; i++)
		ops[i] = start_proxy_op(guest, coll, i, true, 2, 8);
	for (unsigned i = 0; i < RANK_CHANNELS; i++) {
		step = start_step(guest, ops[i], 0);
		record_size(guest, step, NCCL_STATE_STEP_SEND_WAIT, 4096);
		stop(guest, step);
		stop(guest, ops[i]);
	}
}

SCENARIO(rank_of_32_channels_takes_at_most_4_mib)
{
	struct guest guest = { 0 };
	unsigned long before, early = 0;

	guest.host = open_plugin(LAST_API);
	before = resident_kib();
	guest.context = init_comm(guest.host, "wide", 1);
	for (unsigned i = 0; i < 10000; i++) {
		play_wide_coll(&guest, i);
		if (i == 2000)
			early = resident_kib();
	}
	CHECK(resident_kib() <= early + 64,
	      "memory grows: %lu KiB after 2000 collectives, %lu after 10000",
	      early, resident_kib());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(resident_kib() <= before + RANK_KIB,
	      "a rank takes %lu KiB, more than %d", resident_kib() - before,
	      RANK_KIB);
#else
	(void)before;
#endif
	CHECK(host_finalize(guest.host, guest.context) == NCCL_SUCCESS,
	      "finalize never fails");
	host_close(guest.host);
}

/* A reused entry starts empty, and handles and contexts of its former
 * communicator are invalid. */
static void reuse_entry(void *argument)
{
	void *handles[NCS_EVENT_COUNT], *former;
	struct guest guest = { 0 };
	struct view view;

	(void)argument;
	guest.host = open_plugin(LAST_API);
	guest.context = former = init_comm(guest.host, "former", 1);
	CHECK_EQUAL(count_objects(), 1, "room for one");
	for (int event = 0; event < NCS_EVENT_COUNT; event++)
		handles[event] = start_any(&guest, (enum ncs_event)event);
	play_coll(&guest, 5);
	host_finalize(guest.host, former);
	guest.context = init_comm(guest.host, "next", 2);
	CHECK(guest.context != former, "one context for two communicators");
	CHECK_EQUAL(count_objects(), 1, "the next in its place");
	view_open(&view, 0);
	CHECK_EQUAL(view.now.identity.rank, 2, "the next");
	CHECK_EQUAL(view.now.channel_count, 0, "nothing of the former");
	CHECK_EQUAL(view.now.operation_count, 0, "nothing of the former");
	for (size_t i = 0; i < view.now.lane_count; i++)
		CHECK_EQUAL(view.now.lanes[i].published, 0,
			    "nothing of the former");
	view_close(&view);
	view_open(&guest.view, 0);
	for (int event = 0; event < NCS_EVENT_COUNT; event++)
		stop(&guest, handles[event]);
	check_losses(&guest, "handles of the former", NCS_LOSS_STALE,
		     NCS_EVENT_COUNT, END_OF_LOSSES);
	CHECK(!start_in(&guest, former,
			&(struct host_event){ .type = NCCL_EVENT_COLL }),
	      "the former communicator is still followed");
	check_losses(&guest, "the former's context", NCS_LOSS_STALE,
		     NCS_EVENT_COUNT, NCS_LOSS_FOREIGN, 1, END_OF_LOSSES);
	CHECK(host_finalize(guest.host, former) == NCCL_SUCCESS, "again");
	check_still_follows(&guest, "in the place of another");
	CHECK_EQUAL(guest.view.now.liveness, NCS_ALIVE, "not the one meant");
	guest_close(&guest);
}

TEST(reused_communicator_entry_starts_empty)
{
	setenv("NCCLSTAT_SHM_BYTES", "62K", 1);
	scenario_play(reuse_entry, NULL);
	unsetenv("NCCLSTAT_SHM_BYTES");
}

/* --- Memory ------------------------------------------------------------ */

/* Returns how many communicators the segments tell of that have none. */
static uint64_t count_unpublished(void)
{
	uint64_t count = 0;

	for (size_t i = 0; i < count_objects(); i++) {
		struct view view;

		view_open(&view, i);
		view_take(&view);
		count += view.now.losses[NCS_LOSS_UNPUBLISHED];
		view_close(&view);
	}
	return count;
}

static void init_in_budget(void *argument)
{
	uint64_t budget = *(const uint64_t *)argument;
	struct guest guest = { 0 };
	void *contexts[20];
	unsigned followed = 0;

	guest.host = open_plugin(LAST_API);
	for (unsigned i = 0; i < 20; i++)
		contexts[i] = init_comm(guest.host, "budget", (int)i);
	CHECK(count_object_bytes() <= budget, "%llu bytes, not %llu",
	      (unsigned long long)count_object_bytes(),
	      (unsigned long long)budget);
	CHECK_EQUAL(host_mask() != 0, count_objects() != 0,
		    "nothing is asked for where nothing can be published");
	for (unsigned i = 0; i < 20; i++) {
		struct host_event coll = { .type = NCCL_EVENT_COLL };

		if (start_in(&guest, contexts[i], &coll))
			followed++;
		else
			use_unseen(&guest, contexts[i]);
	}
	CHECK_EQUAL(followed, count_objects(), "all that are published");
	CHECK(followed < 20, "the budget is no limit");
	CHECK_EQUAL(count_unpublished(), followed > 0 ? 20 - followed : 0,
		    "viewers see how many they miss");
	CHECK(host_log_has("NCCLSTAT_SHM_BYTES"),
	      "the line does not say what to do");
	CHECK_EQUAL(host_log_count(), 1 + followed + 1, "one line");
	for (unsigned i = 0; i < 20; i++)
		host_finalize(guest.host, contexts[i]);
	host_close(guest.host);
}

TEST(budget_of_shared_memory_is_kept)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} budgets[] = {
		{ "0", 0 },        { "1", 1 },
		{ "4096", 4096 },  { "300k", 300 << 10 },
		{ "1M", 1 << 20 },
	};

	for (unsigned i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
		uint64_t bytes = budgets[i].bytes;

		setenv("NCCLSTAT_SHM_BYTES", budgets[i].text, 1);
		scenario_play(init_in_budget, &bytes);
		unsetenv("NCCLSTAT_SHM_BYTES");
	}
}

/* --- Events in progress ------------------------------------------------ */

#define SPANS (3 * (int)NCS_SPAN_MAX)

GUEST_SCENARIO(spans_beyond_the_pool_are_counted_and_slots_return, LAST_API)
{
	static void *handles[SPANS];
	uint64_t published;

	for (unsigned round = 1; round <= 3; round++) {
		published = count_published(guest);
		for (int i = 0; i < SPANS; i++) {
			handles[i] = start_any(guest, NCS_EVENT_GROUP);
			CHECK(handles[i],
			      "NCCL up to 2.27 takes a Group"
			      " without a handle for one without operations");
		}
		check_losses(guest, "more than fit", NCS_LOSS_POOL_FULL,
			     (int)round * (SPANS - (int)NCS_SPAN_MAX),
			     END_OF_LOSSES);
		CHECK_EQUAL(guest->view.now.events[NCS_EVENT_GROUP],
			    round * SPANS + round - 1, "each event is counted");
		for (int i = 0; i < SPANS; i++)
			stop(guest, handles[i]);
		CHECK_EQUAL(count_published(guest) - published, NCS_SPAN_MAX,
			    "each that was followed has a record");
		stop(guest, start_any(guest, NCS_EVENT_GROUP));
		CHECK_EQUAL(count_published(guest) - published,
			    NCS_SPAN_MAX + 1, "there is room again");
	}
	check_still_follows(guest, "after too many spans");
}

#define PROXY_OPS ((int)NCS_PROXY_OP_MAX + 500)

/* Each has a step in progress, so that none can be mistaken for a forgotten
 * one. */
GUEST_SCENARIO(proxy_operations_beyond_the_pool_are_counted, LAST_API)
{
	static void *ops[PROXY_OPS], *steps[PROXY_OPS];
	const struct ncs_channel_view *channel;

	for (int i = 0; i < PROXY_OPS; i++) {
		ops[i] = start_proxy_op(guest, NULL, 1, true, 2, 1);
		CHECK(ops[i], "NCCL starts no steps without");
		steps[i] = start_step(guest, ops[i], 0);
		CHECK(steps[i], "NCCL records no states without");
	}
	check_losses(guest, "more than fit", NCS_LOSS_POOL_FULL,
		     2 * (PROXY_OPS - (int)NCS_PROXY_OP_MAX), END_OF_LOSSES);
	for (int i = 0; i < PROXY_OPS; i++) {
		record_size(guest, steps[i], NCCL_STATE_STEP_SEND_WAIT, 10);
		stop(guest, steps[i]);
		stop(guest, ops[i]);
	}
	check_losses(guest, "their ends", NCS_LOSS_POOL_FULL,
		     2 * (PROXY_OPS - (int)NCS_PROXY_OP_MAX), END_OF_LOSSES);
	channel = view_channel(&guest->view, 1, true, 2);
	CHECK_EQUAL(channel->operations_started, NCS_PROXY_OP_MAX, "followed");
	CHECK_EQUAL(channel->operations_done, NCS_PROXY_OP_MAX, "followed");
	CHECK_EQUAL(channel->steps_done, NCS_PROXY_OP_MAX, "followed");
	CHECK_EQUAL(channel->bytes, 10 * NCS_PROXY_OP_MAX, "followed");
	CHECK_EQUAL(channel->state, NCS_CHANNEL_IDLE, "nothing is under way");
	check_still_follows(guest, "after too many proxy operations");
}

/* CollNet and copy engines: NCCL starts these events and never stops them. */
static void *start_never_stopped(struct guest *guest, void *parent)
{
	void *op = start_proxy_op(guest, parent, 1, false, 2, 1);

	CHECK(op, "NCCL starts no steps without");
	return op;
}

/* Fills the pool with proxy operations that are never stopped, and goes on
 * until they are known to be of that kind. */
static void fill_with_never_stopped(struct guest *guest)
{
	for (unsigned i = 0; i < NCS_PROXY_OP_AGE + NCS_PROXY_OP_MAX; i++)
		start_never_stopped(guest, NULL);
}

/* Until then, events that found no slot are counted; afterwards there is room
 * for all others. */
static void never_stop_proxy_ops(void *argument)
{
	const int count = 5000;
	const struct ncs_channel_view *channel;
	uint64_t full;
	struct guest guest;
	void *first;

	(void)argument;
	guest_open(&guest, LAST_API);
	first = start_never_stopped(&guest, NULL);
	fill_with_never_stopped(&guest);
	view_take(&guest.view);
	full = guest.view.now.losses[NCS_LOSS_POOL_FULL];
	CHECK(full > 0 && full <= NCS_PROXY_OP_AGE + NCS_PROXY_OP_MAX, "%llu",
	      (unsigned long long)full);
	for (int i = 0; i < count; i++) {
		start_never_stopped(&guest, NULL);
		/* An ordinary operation at the same time. */
		play_coll(&guest, (uint64_t)i);
	}
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_POOL_FULL], full,
		    "there is room for all");
	CHECK(guest.view.now.losses[NCS_LOSS_FORGOTTEN] >= (uint64_t)count,
	      "they were not given up");
	CHECK_EQUAL(guest.view.now.functions[COLL_FUNCTION].operations_done,
		    count, "those beside them");
	channel = view_channel(&guest.view, 1, false, 2);
	CHECK_EQUAL(channel->operations_done, 0, "none was stopped");
	channel = view_channel(&guest.view, 3, true, 2);
	CHECK_EQUAL(channel->operations_done, count, "those beside them");
	CHECK_EQUAL(channel->state, NCS_CHANNEL_IDLE, "nothing is under way");
	stop(&guest, first);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_STALE], 1,
		    "forgotten, then stopped");
	guest_close(&guest);
}

#define TRANSFERS ((int)NCS_PROXY_OP_MAX * 4)

/* An all-to-all of more transfers than fit, all of which NCCL appends before
 * the first has a step. Its receives look like those that are never stopped. */
GUEST_SCENARIO(proxy_operation_is_not_given_up_before_its_first_step, LAST_API)
{
	static void *ops[TRANSFERS];
	const struct ncs_channel_view *channel;
	uint64_t done = 0;

	for (int i = 0; i < TRANSFERS; i++)
		ops[i] = start_proxy_op(guest, NULL, 1, i % 2 == 0, i / 2 % 8,
					2);
	check_losses(guest, "more than fit", NCS_LOSS_POOL_FULL,
		     TRANSFERS - (int)NCS_PROXY_OP_MAX, END_OF_LOSSES);
	for (int number = 0; number < 2; number++)
		for (unsigned i = 0; i < NCS_PROXY_OP_MAX; i++) {
			stop(guest, start_step(guest, ops[i], number));
			/* There is no room, though none has a step now. */
			if (number == 0)
				start_proxy_op(guest, NULL, 1, true, 9, 1);
		}
	for (unsigned i = 0; i < NCS_PROXY_OP_MAX; i++)
		stop(guest, ops[i]);
	check_losses(guest, "those that fit are followed", NCS_LOSS_POOL_FULL,
		     TRANSFERS, END_OF_LOSSES);
	for (size_t i = 0; i < guest->view.now.channel_count; i++) {
		channel = &guest->view.now.channels[i];
		CHECK_EQUAL(channel->steps_done, 2 * channel->operations_done,
			    "each has both steps");
		done += channel->operations_done;
	}
	CHECK_EQUAL(done, NCS_PROXY_OP_MAX, "all that fit");
	check_still_follows(guest, "after an all-to-all");
}

/* The channel of one that seemed to be never stopped has steps after all. */
GUEST_SCENARIO(channel_with_a_late_first_step_is_followed, LAST_API)
{
	static void *ops[NCS_PROXY_OP_MAX];

	fill_with_never_stopped(guest);
	/* Each takes the place of one of the others. */
	for (unsigned i = 0; i < NCS_PROXY_OP_MAX; i++)
		ops[i] = start_proxy_op(guest, NULL, 2, true, 2, 1);
	stop(guest, ops[0]);
	stop(guest, start_step(guest, start_never_stopped(guest, NULL), 0));
	for (unsigned i = 1; i < NCS_PROXY_OP_MAX; i++)
		stop(guest, ops[i]);
	for (unsigned i = 0; i < NCS_PROXY_OP_MAX - 1; i++)
		ops[i] = start_never_stopped(guest, NULL);
	/* Two cursor's rounds find one that has had its step, no other. */
	for (unsigned i = 0; i < 2 * NCS_PROXY_OP_MAX; i++)
		start_proxy_op(guest, NULL, 2, true, 2, 1);
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.losses[NCS_LOSS_STALE], 0, "none is stale");
	for (unsigned i = 0; i < NCS_PROXY_OP_MAX - 1; i++)
		stop(guest, ops[i]);
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.losses[NCS_LOSS_STALE], 0,
		    "all are followed to their end");
}

/* Operations that reuse the slots are of another channel, and must not change
 * the forgotten ones' channels. */
static void take_slots_of_given_up(void *argument)
{
	const struct ncs_channel_view *channel;
	struct guest guest;

	(void)argument;
	guest_open(&guest, LAST_API);
	fill_with_never_stopped(&guest);
	for (unsigned i = 0; i < NCS_PROXY_OP_MAX / 2; i++)
		start_step(&guest, start_proxy_op(&guest, NULL, 9, true, 2, 1),
			   0);
	view_take(&guest.view);
	channel = view_channel(&guest.view, 1, false, 2);
	CHECK_EQUAL(channel->state, NCS_CHANNEL_IDLE, "none of its own");
	channel = view_channel(&guest.view, 9, true, 2);
	CHECK_EQUAL(channel->steps_started, NCS_PROXY_OP_MAX / 2,
		    "each has a slot");
	CHECK_EQUAL(channel->state, NCS_CHANNEL_SEND_GPU_WAIT, "its own");
	guest_close(&guest);
}

/* An operation whose children are no longer followed must not stay in flight
 * for ever, as if it hung. */
static void give_up_children(void *argument)
{
	struct guest guest;
	void *colls[2], *op;

	(void)argument;
	guest_open(&guest, LAST_API);
	for (unsigned i = 0; i < 2; i++) {
		colls[i] = start_coll(&guest, i, 1);
		stop(&guest, colls[i]);
		start_proxy_op(&guest, colls[i], 1, false, 2, 1);
	}
	/* The second operation has another child, which is alive. */
	op = start_proxy_op(&guest, colls[1], 2, true, 2, 1);
	start_step(&guest, op, 0);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.operation_count, 2, "both are in flight");
	fill_with_never_stopped(&guest);
	for (unsigned i = 0; i < NCS_PROXY_OP_MAX; i++)
		start_never_stopped(&guest, NULL);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.operation_count, 1, "one has lost its all");
	CHECK_EQUAL(guest.view.now.operations[0].number, 2,
		    "the second operation is in flight");
	stop(&guest, op);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.operation_count, 0, "now it is done");
	guest_close(&guest);
}

TEST(proxy_operations_never_stopped_are_forgotten)
{
	scenario_play(never_stop_proxy_ops, NULL);
	scenario_play(give_up_children, NULL);
	scenario_play(take_slots_of_given_up, NULL);
}

GUEST_SCENARIO(operations_beyond_the_pool_are_counted, LAST_API)
{
	const struct ncs_function_view *function;
	void **colls, **kernels;
	int room, count;

	room = (int)ncs_reader_header(guest->view.reader)->operations.count;
	count = room + 300;
	colls = calloc((size_t)count, sizeof(*colls));
	kernels = calloc((size_t)count, sizeof(*kernels));
	CHECK(colls && kernels, "out of memory");
	function = &guest->view.now.functions[COLL_FUNCTION];
	/* Never stopped: the oldest are forgotten. */
	for (int i = 0; i < count; i++)
		CHECK(colls[i] = start_coll(guest, (uint64_t)i, 1), "%d", i);
	check_losses(guest, "more than fit", NCS_LOSS_FORGOTTEN, 300,
		     END_OF_LOSSES);
	for (int i = 0; i < count; i++)
		stop(guest, colls[i]);
	check_losses(guest, "then stopped", NCS_LOSS_FORGOTTEN, 300,
		     NCS_LOSS_STALE, 300, END_OF_LOSSES);
	/* While a child of an operation is alive, the operation cannot be
	 * forgotten. */
	for (int i = 0; i < count; i++) {
		colls[i] = start_coll(guest, (uint64_t)i, 1);
		CHECK(colls[i], "NCCL up to 2.27 starts no children without");
		stop(guest, colls[i]);
		kernels[i] = start_proxy_op(guest, colls[i], 1, true, 2, 1);
		start_step(guest, kernels[i], 0);
	}
	view_take(&guest->view);
	CHECK_EQUAL(function->operations, 2 * count,
		    "each operation is counted");
	CHECK_EQUAL(guest->view.now.losses[NCS_LOSS_ORPHAN], 0,
		    "placeholder handles are recognised");
	CHECK(guest->view.now.losses[NCS_LOSS_POOL_FULL] >= 300,
	      "those without a slot are not counted");
	for (int i = 0; i < count; i++)
		stop(guest, kernels[i]);
	view_take(&guest->view);
	CHECK_EQUAL(function->operations_done, function->with_children,
		    "each that was followed");
	CHECK(function->operations_done > (uint64_t)room - 100 &&
		      function->operations_done <= (uint64_t)room,
	      "%llu in %d slots", (unsigned long long)function->operations_done,
	      room);
	CHECK_EQUAL(guest->view.now.operation_count, 0, "none is in flight");
	check_still_follows(guest, "after too many operations");
	free(colls);
	free(kernels);
}

#define CHILDREN ((1 << 20) + 1000)

GUEST_SCENARIO(operation_with_any_number_of_children_is_done_once, LAST_API)
{
	const struct ncs_function_view *function;
	void *coll, *last;

	function = &guest->view.now.functions[COLL_FUNCTION];
	coll = start_coll(guest, 0, 1);
	stop(guest, coll);
	for (int i = 0; i < CHILDREN; i++)
		stop(guest, start_proxy_op(guest, coll, 1, true, 2, 1));
	last = start_proxy_op(guest, coll, 1, true, 2, 1);
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.operation_count, 1, "it is in flight");
	CHECK_EQUAL(guest->view.now.operations[0].children_started,
		    CHILDREN + 1, "all are counted");
	CHECK_EQUAL(function->operations_done, 0, "it is not done");
	stop(guest, last);
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.operation_count, 0, "it is done");
	CHECK_EQUAL(function->operations_done, 1, "it is done once");
	CHECK_EQUAL(function->with_children, 1, "it is one operation");
	check_still_follows(guest, "after too many children");
}

/* --- Tables ------------------------------------------------------------ */

GUEST_SCENARIO(channels_beyond_the_table_are_counted_and_recorded, LAST_API)
{
	struct ncs_record found;
	unsigned room, rounds;
	uint64_t full, steps;
	void *op, *step;

	room = ncs_reader_header(guest->view.reader)->channels.count;
	for (rounds = 0; rounds < 2; rounds++) {
		for (int peer = 0; peer < (int)(2 * room); peer++) {
			op = start_proxy_op(guest, NULL, 1, true, peer, 1);
			step = start_step(guest, op, 0);
			record_size(guest, step, NCCL_STATE_STEP_SEND_WAIT, 7);
			stop(guest, step);
			found = expect_record(guest, NCS_EVENT_PROXY_STEP,
					      "a channel without a place");
			CHECK_EQUAL(found.peer, peer, "all the same");
			CHECK_EQUAL(found.value, 7, "all the same");
			stop(guest, op);
			expect_record(guest, NCS_EVENT_PROXY_OP,
				      "a channel without a place");
		}
	}
	view_take(&guest->view);
	full = guest->view.now.losses[NCS_LOSS_TABLE_FULL];
	CHECK(guest->view.now.channel_count > room / 2 &&
		      guest->view.now.channel_count <= room,
	      "%zu channels in %u places", guest->view.now.channel_count, room);
	CHECK_EQUAL(full, 2 * (2 * room - guest->view.now.channel_count),
		    "each operation without a place is counted");
	steps = 0;
	for (size_t i = 0; i < guest->view.now.channel_count; i++) {
		CHECK_EQUAL(guest->view.now.channels[i].operations_done, 2,
			    "a channel that has its place keeps it");
		CHECK_EQUAL(guest->view.now.channels[i].bytes, 14, "its bytes");
		steps += guest->view.now.channels[i].steps_done;
	}
	CHECK_EQUAL(steps, 2 * guest->view.now.channel_count, "its steps");
}

static void use_too_many_histograms(void *argument)
{
	static const char *const names[] = {
#define X(ID, name, size, numerator, denominator) name,
		NCS_FUNCTIONS(X)
#undef X
	};
	uint64_t timed = 0, in_histograms = 0, full;
	struct guest guest;
	unsigned room;

	(void)argument;
	guest_open(&guest, LAST_API);
	room = ncs_reader_header(guest.view.reader)->histograms.count;
	CHECK(room < 2 * NCS_FUNCTION_COUNT, "all functions fit");
	for (unsigned i = 0; i < 3 * NCS_FUNCTION_COUNT; i++) {
		struct host_event event = {
			.type = NCCL_EVENT_COLL,
			.func = names[i % NCS_FUNCTION_COUNT],
			.datatype = "ncclInt8",
			.count = 1,
		};
		void *coll = start(&guest, &event), *op, *kernel;

		stop(&guest, coll);
		op = start_proxy_op(&guest, coll, 1, true, 2, 1);
		kernel = start_kernel(&guest, coll, 1, 100);
		record_timer(&guest, kernel, NCCL_STATE_KERNEL_CH_STOP, 200);
		stop(&guest, kernel);
		stop(&guest, op);
	}
	view_take(&guest.view);
	full = guest.view.now.losses[NCS_LOSS_TABLE_FULL];
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *function =
			&guest.view.now.functions[i];

		for (unsigned k = 0; k < NCS_TIMING_COUNT; k++) {
			/* There is no driver to time launches with. */
			CHECK_EQUAL(function->timed[k],
				    k == NCS_TIMING_STREAM ? 0 : 3, names[i]);
			timed += function->timed[k];
			for (unsigned b = 0; function->histogram[k] &&
					     b < NCS_HISTOGRAM_BUCKETS;
			     b++)
				in_histograms += function->histogram[k][b];
		}
	}
	CHECK_EQUAL(in_histograms, 3 * room, "all that have one");
	CHECK_EQUAL(full, timed - in_histograms, "all that have none");
	guest_close(&guest);
}

TEST(times_beyond_the_histograms_are_counted)
{
	setenv("NCCLSTAT_SHM_BYTES", "62K", 1);
	scenario_play(use_too_many_histograms, NULL);
	unsetenv("NCCLSTAT_SHM_BYTES");
}

GUEST_SCENARIO(overwritten_records_are_counted_by_the_reader, LAST_API)
{
	struct ncs_record records[64];
	uint64_t lost = 0, read = 0, position;
	unsigned room;
	size_t got;

	room = ncs_reader_header(guest->view.reader)->ring_records;
	for (unsigned i = 0; i < 3 * room; i++)
		stop(guest, start_any(guest, NCS_EVENT_GROUP));
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.losses[NCS_LOSS_OVERWRITTEN], 2 * room + 1,
		    "records missed by a reader that starts now");
	position = 2 * room + 1;
	while ((got = view_records(&guest->view, records, 64, &lost)) > 0) {
		for (size_t i = 0; i < got; i++)
			CHECK_EQUAL(records[i].position, position++,
				    "in order, none twice");
		read += got;
	}
	CHECK_EQUAL(read, room - 1, "a ring of C keeps C - 1");
	CHECK_EQUAL(lost, 2 * room + 1, "the others are counted");
}

/* 10 s of 200 calls a second, on one thread with the proxy's steps, which pass
 * their ring a hundred times. */
#define BUSY_CALLS 2000
#define BUSY_STEPS 50

static void play_busy_call(struct guest *guest, uint64_t seq_number)
{
	void *coll, *op;

	stop(guest, start_any(guest, NCS_EVENT_COLL_API));
	stop(guest, start_any(guest, NCS_EVENT_KERNEL_LAUNCH));
	coll = start_coll(guest, seq_number, GUEST_COLL_ELEMENTS);
	stop(guest, coll);
	op = start_proxy_op(guest, coll, 3, true, 2, BUSY_STEPS);
	for (int i = 0; i < BUSY_STEPS; i++)
		stop(guest, start_step(guest, op, i));
	stop(guest, op);
}

GUEST_SCENARIO(operations_and_calls_survive_any_number_of_steps, LAST_API)
{
	static struct ncs_record records[16384];
	uint64_t lost = 0, seen[NCS_EVENT_COUNT] = { 0 };
	size_t count;

	for (unsigned i = 0; i < BUSY_CALLS; i++)
		play_busy_call(guest, i);
	view_take(&guest->view);
	count = view_records(&guest->view, records, 16384, &lost);
	for (size_t i = 0; i < count; i++) {
		unsigned event = records[i].event;

		if (event == NCS_EVENT_COLL)
			CHECK_EQUAL(records[i].number, seen[event],
				    "each operation, in order");
		if (event < NCS_EVENT_COUNT)
			seen[event]++;
	}
	CHECK_EQUAL(seen[NCS_EVENT_COLL], BUSY_CALLS, "operations");
	CHECK_EQUAL(seen[NCS_EVENT_KERNEL_LAUNCH], BUSY_CALLS, "launches");
	CHECK_EQUAL(seen[NCS_EVENT_COLL_API], BUSY_CALLS, "calls");
	CHECK_EQUAL(lost + seen[NCS_EVENT_PROXY_STEP] +
			    seen[NCS_EVENT_PROXY_OP],
		    BUSY_CALLS * (BUSY_STEPS + 1), "all others are counted");
	CHECK_EQUAL(guest->view.now.losses[NCS_LOSS_OVERWRITTEN], lost,
		    "in the snapshot, too");
}
