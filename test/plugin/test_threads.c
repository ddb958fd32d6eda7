/* SPDX-License-Identifier: MIT */
/* Many threads at the same time, as in NCCL: initialising, launching, proxying,
 * profiling, helping. Totals must be exact in any order, and there must be no
 * data race (this file is also built with ThreadSanitizer).
 *
 * The tests order only what NCCL orders: a handle passes from thread to thread
 * by release and acquire, and nothing comes back.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/state/comm.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define MANY 16

#ifdef NCS_TSAN
#define ROUNDS 2000
#else
#define ROUNDS 20000
#endif

static void start_thread(pthread_t *thread, void *(*work)(void *argument),
			 void *argument)
{
	CHECK(pthread_create(thread, NULL, work, argument) == 0,
	      "pthread_create");
}

static uint64_t published(const struct view *view)
{
	uint64_t count = 0;

	for (size_t i = 0; i < view->now.lane_count; i++)
		count += view->now.lanes[i].published;
	return count;
}

/* --- Queues between threads -------------------------------------------- */

#define QUEUE_PLACES 32

/* A queue from one thread to one other. The consumer's position comes back
 * without any memory order, so that the producer learns nothing else about the
 * consumer. */
struct queue {
	_Atomic unsigned given;
	_Atomic unsigned taken;
	void *places[QUEUE_PLACES];
};

static void give(struct queue *queue, void *handle)
{
	unsigned given =
		atomic_load_explicit(&queue->given, memory_order_relaxed);

	while (given - atomic_load_explicit(&queue->taken,
					    memory_order_relaxed) ==
	       QUEUE_PLACES)
		sched_yield();
	/* The slot was read before; both sides are atomic for
	 * ThreadSanitizer. */
	__atomic_store_n(&queue->places[given % QUEUE_PLACES], handle,
			 __ATOMIC_RELAXED);
	atomic_store_explicit(&queue->given, given + 1, memory_order_release);
}

static void *take(struct queue *queue)
{
	unsigned taken =
		atomic_load_explicit(&queue->taken, memory_order_relaxed);
	void *handle;

	while (atomic_load_explicit(&queue->given, memory_order_acquire) ==
	       taken)
		sched_yield();
	handle = __atomic_load_n(&queue->places[taken % QUEUE_PLACES],
				 __ATOMIC_RELAXED);
	atomic_store_explicit(&queue->taken, taken + 1, memory_order_relaxed);
	return handle;
}

/* --- Init -------------------------------------------------------------- */

static pthread_barrier_t together;

struct initialiser {
	struct guest guest;
	unsigned rank;
};

static void *init_together(void *argument)
{
	struct initialiser *me = argument;
	char name[32];

	snprintf(name, sizeof(name), "comm %u", me->rank);
	pthread_barrier_wait(&together);
	me->guest.context = init_comm(me->guest.host, name, (int)me->rank);
	for (unsigned i = 0; i < 50 + me->rank; i++)
		play_coll(&me->guest, i);
	host_finalize(me->guest.host, me->guest.context);
	return NULL;
}

static void init_from_many(void *argument)
{
	static struct initialiser initialisers[MANY];
	struct host *host = open_plugin(LAST_API);
	uint64_t seen = 0;
	pthread_t threads[MANY];
	struct view view;

	(void)argument;
	pthread_barrier_init(&together, NULL, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		initialisers[i].guest.host = host;
		initialisers[i].rank = i;
		start_thread(&threads[i], init_together, &initialisers[i]);
	}
	for (unsigned i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQUAL(count_objects(), MANY, "one each");
	for (unsigned i = 0; i < MANY; i++) {
		const struct ncs_function_view *function;
		unsigned rank, want;
		char name[32];

		view_open(&view, i);
		rank = (unsigned)view.now.identity.rank;
		want = 50 + rank;
		CHECK(rank < MANY && !(seen & 1u << rank), "rank %u", rank);
		seen |= 1u << rank;
		snprintf(name, sizeof(name), "comm %u", rank);
		CHECK(strcmp(view.now.identity.comm_name, name) == 0, "%s",
		      view.now.identity.comm_name);
		function = &view.now.functions[COLL_FUNCTION];
		CHECK_EQUAL(function->operations, want, name);
		CHECK_EQUAL(function->operations_done, want, name);
		CHECK_EQUAL(function->timed[NCS_TIMING_PROXY], want, name);
		CHECK_EQUAL(published(&view), 3 * want, name);
		CHECK_EQUAL(view.now.liveness, NCS_FINISHED, name);
		for (unsigned k = 0; k < NCS_LOSS_COUNT; k++)
			if (k != NCS_LOSS_OVERWRITTEN)
				CHECK_EQUAL(view.now.losses[k], 0, name);
		view_close(&view);
	}
	host_close(host);
}

TEST(communicators_are_initialised_by_many_threads_at_once)
{
	for (unsigned i = 0; i < 5; i++)
		scenario_play(init_from_many, NULL);
}

/* --- One communicator, more threads than lanes ------------------------- */

/* Plays a call of the application and its enqueueing, as a launching thread
 * does; no proxy. */
static void *enqueue(void *argument)
{
	struct guest *guest = argument;
	struct host_event call = {
		.type = NCCL_EVENT_COLL_API,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
		.count = 3,
	};

	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < ROUNDS / 2; i++) {
		void *group_api = start_any(guest, NCS_EVENT_GROUP_API);
		void *group, *coll, *kernel;

		record_without_args(guest, group_api,
				    NCCL_STATE_GROUP_START_API_STOP);
		stop(guest, start(guest, &call));
		group = start_any(guest, NCS_EVENT_GROUP);
		coll = start_coll(guest, i, 7);
		stop(guest, coll);
		stop(guest, group);
		stop(guest, group_api);
		kernel = start_kernel(guest, coll, 1, 1000);
		record_timer(guest, kernel, NCCL_STATE_KERNEL_CH_STOP, 3000);
		stop(guest, kernel);
	}
	return NULL;
}

GUEST_SCENARIO(more_threads_than_lanes_count_exactly, LAST_API)
{
	const uint64_t each = ROUNDS / 2, all = each * MANY;
	const struct ncs_function_view *function;
	const struct ncs_snapshot *now;
	pthread_t threads[MANY];
	uint64_t orphans, done;

	pthread_barrier_init(&together, NULL, MANY);
	for (unsigned i = 0; i < MANY; i++)
		start_thread(&threads[i], enqueue, guest);
	for (unsigned i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	view_take(&guest->view);
	now = &guest->view.now;
	function = &now->functions[COLL_FUNCTION];
	CHECK_EQUAL(now->events[NCS_EVENT_GROUP_API], all, "starts");
	CHECK_EQUAL(now->events[NCS_EVENT_COLL_API], all, "starts");
	CHECK_EQUAL(now->events[NCS_EVENT_GROUP], all, "starts");
	CHECK_EQUAL(now->events[NCS_EVENT_COLL], all, "starts");
	CHECK_EQUAL(now->events[NCS_EVENT_KERNEL_CH], all, "starts");
	CHECK_EQUAL(function->calls, all, "calls");
	CHECK_EQUAL(function->operations, all, "operations");
	CHECK_EQUAL(function->bytes, all * 7 * COLL_ELEMENT_BYTES, "bytes");
	/* A thread may be preempted between Coll and KernelCh until others have
	 * reused all slots. */
	orphans = now->losses[NCS_LOSS_ORPHAN];
	done = all - orphans;
	CHECK(orphans < all / 100, "%llu", (unsigned long long)orphans);
	CHECK_EQUAL(function->operations_done, done, "or counted as orphans");
	CHECK_EQUAL(function->with_children, done, "or counted as orphans");
	CHECK_EQUAL(function->timed[NCS_TIMING_KERNEL], done, "times");
	CHECK_EQUAL(function->time_ns[NCS_TIMING_KERNEL], done * 2000, "times");
	CHECK_EQUAL(function->last_sequence_number, each - 1, "the largest");
	CHECK(function->histogram[NCS_TIMING_KERNEL], "times");
	CHECK_EQUAL(function->histogram[NCS_TIMING_KERNEL]
				       [ncs_histogram_bucket(2000)],
		    done, "times");
	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++)
		if (i != NCS_LOSS_OVERWRITTEN && i != NCS_LOSS_RING_BUSY &&
		    i != NCS_LOSS_ORPHAN)
			CHECK_EQUAL(now->losses[i], 0, "lost");
	CHECK_EQUAL(published(&guest->view) + now->losses[NCS_LOSS_RING_BUSY],
		    4 * all + done, "records, or counted");
	/* Half of the threads found no lane of their own and use the shared
	 * one. */
	for (size_t i = 1; i < NCS_LANE_MAX; i++) {
		uint64_t own = now->lanes[i].published;

		if (i <= NCS_CALL_LANES)
			own += now->lanes[NCS_LANE_MAX + i - 1].published;
		CHECK(own <= 5 * each && own >= 4 * each,
		      "the lanes of one thread");
	}
	CHECK(now->lanes[0].published + now->losses[NCS_LOSS_RING_BUSY] >=
		      4 * each * (MANY - (NCS_LANE_MAX - 1)),
	      "the shared lane had less than its share");
	CHECK_EQUAL(now->lane_count, NCS_LANE_MAX + NCS_CALL_LANES,
		    "all lanes");
}

#define HAMMERERS 4

static void *take_a_lane(void *argument)
{
	stop(argument, start_any(argument, NCS_EVENT_GROUP));
	pthread_barrier_wait(&together);
	/* A thread keeps its lane as long as it lives. */
	pthread_barrier_wait(&together);
	return NULL;
}

static void *hammer(void *argument)
{
	struct guest *guest = argument;

	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < 10 * ROUNDS; i++)
		stop(guest, NULL);
	pthread_barrier_wait(&together);
	return NULL;
}

/* Increments one counter of the shared lane, which threads must do without
 * losing counts. */
GUEST_SCENARIO(threads_without_a_lane_count_exactly, LAST_API)
{
	enum { OWN = NCS_LANE_MAX - 1, ALL = OWN + HAMMERERS };
	pthread_t threads[ALL];

	pthread_barrier_init(&together, NULL, ALL);
	for (unsigned i = 0; i < OWN; i++)
		start_thread(&threads[i], take_a_lane, guest);
	while (count_published(guest) < OWN)
		sched_yield();
	for (unsigned i = OWN; i < ALL; i++)
		start_thread(&threads[i], hammer, guest);
	for (unsigned i = 0; i < ALL; i++)
		pthread_join(threads[i], NULL);
	check_losses(guest, "counted by several threads", NCS_LOSS_STALE,
		     HAMMERERS * 10 * ROUNDS, END_OF_LOSSES);
	CHECK_EQUAL(guest->view.now.lanes[0].last_call_ns != 0, true,
		    "in the shared lane");
}

static void *count_a_little(void *argument)
{
	play_coll(argument, 0);
	stop(argument, start_any(argument, NCS_EVENT_GROUP));
	return NULL;
}

/* More threads than can be distinguished, one after the other. */
static void come_and_go(void *argument)
{
	const unsigned count = 3 * NCS_THREAD_MAX;
	struct guest guest;
	pthread_t thread;

	(void)argument;
	guest_open(&guest, LAST_API);
	for (unsigned i = 0; i < count; i++) {
		start_thread(&thread, count_a_little, &guest);
		pthread_join(thread, NULL);
	}
	check_losses(&guest, "threads that come and go", END_OF_LOSSES);
	CHECK_EQUAL(guest.view.now.events[NCS_EVENT_GROUP], count,
		    "each event is counted");
	CHECK_EQUAL(guest.view.now.functions[COLL_FUNCTION].operations_done,
		    count, "each operation is done");
	CHECK_EQUAL(published(&guest.view), 4 * count,
		    "each record is published");
	guest_close(&guest);
}

static void *stay_a_while(void *argument)
{
	count_a_little(argument);
	pthread_barrier_wait(&together);
	return NULL;
}

/* Starts all threads at the same time: the last ones share a lane. */
static void crowd(void *argument)
{
	enum { COUNT = NCS_THREAD_MAX + 30 };
	pthread_t threads[COUNT];
	struct guest guest;

	(void)argument;
	guest_open(&guest, LAST_API);
	pthread_barrier_init(&together, NULL, COUNT + 1);
	for (unsigned i = 0; i < COUNT; i++) {
		/* NCCL has one proxy thread at a time. */
		start_thread(&threads[i], stay_a_while, &guest);
		while (count_published(&guest) < 4 * (i + 1))
			sched_yield();
	}
	check_losses(&guest, "a crowd of threads", END_OF_LOSSES);
	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQUAL(guest.view.now.functions[COLL_FUNCTION].operations_done,
		    COUNT, "each operation is done");
	guest_close(&guest);
}

static void *start_unknown(void *argument)
{
	struct guest *guest = argument;

	for (unsigned i = 0; i < 10 * ROUNDS; i++)
		start_type(guest, UINT64_C(1) << 40, NULL);
	return NULL;
}

/* Threads that cannot be distinguished must not be taken for one that could
 * have a lane of its own. */
static void crowd_out(void *argument)
{
	pthread_t crowd_threads[NCS_THREAD_MAX], threads[HAMMERERS];
	struct guest guest, next;

	(void)argument;
	guest_open(&guest, LAST_API);
	pthread_barrier_init(&together, NULL, NCS_THREAD_MAX + 1);
	for (unsigned i = 0; i < NCS_THREAD_MAX; i++) {
		start_thread(&crowd_threads[i], stay_a_while, &guest);
		while (count_published(&guest) < 4 * (i + 1))
			sched_yield();
	}
	next = guest;
	next.context = init_comm(guest.host, "next", 2);
	view_open(&next.view, 1);
	for (unsigned i = 0; i < HAMMERERS; i++)
		start_thread(&threads[i], start_unknown, &next);
	for (unsigned i = 0; i < HAMMERERS; i++)
		pthread_join(threads[i], NULL);
	check_losses(&next, "by threads that came late", NCS_LOSS_UNKNOWN,
		     HAMMERERS * 10 * ROUNDS, END_OF_LOSSES);
	CHECK_EQUAL(next.view.now.lanes[1].last_call_ns, 0, "shared lane");
	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < NCS_THREAD_MAX; i++)
		pthread_join(crowd_threads[i], NULL);
	view_close(&next.view);
	host_finalize(guest.host, next.context);
	guest_close(&guest);
}

TEST(more_threads_than_can_be_distinguished_count_exactly)
{
	scenario_play(come_and_go, NULL);
	scenario_play(crowd, NULL);
	scenario_play(crowd_out, NULL);
}

/* In a reused communicator entry each thread claims a new lane. */
static void claim_lanes_anew(void *argument)
{
	struct guest guest;
	pthread_t thread;

	(void)argument;
	guest_open(&guest, LAST_API);
	stop(&guest, start_any(&guest, NCS_EVENT_GROUP));
	view_close(&guest.view);
	host_finalize(guest.host, guest.context);
	guest.context = init_comm(guest.host, "next", 2);
	CHECK_EQUAL(count_objects(), 1, "in the previous one's place");
	view_open(&guest.view, 0);
	pthread_barrier_init(&together, NULL, 2);
	start_thread(&thread, stay_a_while, &guest);
	while (count_published(&guest) < 4)
		sched_yield();
	stop(&guest, start_any(&guest, NCS_EVENT_GROUP));
	pthread_barrier_wait(&together);
	pthread_join(thread, NULL);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.lanes[1].published, 4, "the other thread");
	CHECK_EQUAL(guest.view.now.lanes[2].published, 1, "this one");
	guest_close(&guest);
}

TEST(threads_share_no_lane_in_a_reused_communicator_entry)
{
	setenv("NCCLSTAT_SHM_BYTES", "62K", 1);
	scenario_play(claim_lanes_anew, NULL);
	unsetenv("NCCLSTAT_SHM_BYTES");
}

/* --- Launcher, proxy, profiler, helper --------------------------------- */

struct pair {
	struct guest guest;
	struct queue to_proxy;
	struct queue to_profiler;
	bool profiled;
};

static void *launch(void *argument)
{
	struct pair *pair = argument;

	for (unsigned i = 0; i < ROUNDS; i++) {
		void *coll = start_coll(&pair->guest, i, 7);

		/* The operation's children may begin before it has been
		 * enqueued. */
		if (i % 2)
			stop(&pair->guest, coll);
		give(&pair->to_proxy, coll);
		if (pair->profiled)
			give(&pair->to_profiler, coll);
		if (i % 2 == 0)
			stop(&pair->guest, coll);
	}
	return NULL;
}

static void proxy_one(struct guest *guest, void *coll)
{
	void *ctrl = start_type(guest, NCCL_EVENT_PROXY_CTRL, NULL);
	void *op, *step;

	record_appended(guest, ctrl, NCCL_STATE_CTRL_APPEND, 0);
	op = start_proxy_op(guest, coll, 1, true, 2, 2);
	record_appended(guest, ctrl, NCCL_STATE_CTRL_APPEND_END, 1);
	stop(guest, ctrl);
	for (int i = 0; i < 2; i++) {
		step = start_step(guest, op, i);
		record(guest, step, NCCL_STATE_STEP_SEND_GPU_WAIT);
		record_size(guest, step, NCCL_STATE_STEP_SEND_WAIT, 11);
		stop(guest, step);
	}
	stop(guest, op);
}

static void *proxy(void *argument)
{
	struct pair *pair = argument;

	for (unsigned i = 0; i < ROUNDS; i++)
		proxy_one(&pair->guest, take(&pair->to_proxy));
	return NULL;
}

#define KERNELS 4
#define KERNEL_NS (500 + 2 * (KERNELS - 1))

/* The children run one after the other, so that the operation seems finished in
 * between. */
static void *profile(void *argument)
{
	struct pair *pair = argument;

	for (unsigned i = 0; i < ROUNDS; i++) {
		void *coll = take(&pair->to_profiler);

		for (unsigned k = 0; k < KERNELS; k++) {
			void *kernel =
				start_kernel(&pair->guest, coll, k, 1000 - k);

			record_timer(&pair->guest, kernel,
				     NCCL_STATE_KERNEL_CH_STOP, 1500 + k);
			stop(&pair->guest, kernel);
		}
	}
	return NULL;
}

static void check_pair(struct pair *pair)
{
	const struct ncs_snapshot *now = &pair->guest.view.now;
	const struct ncs_function_view *function =
		&now->functions[COLL_FUNCTION];
	const struct ncs_channel_view *channel;

	view_take(&pair->guest.view);
	CHECK_EQUAL(function->operations, ROUNDS, "all");
	CHECK_EQUAL(function->with_children, ROUNDS, "all");
	CHECK_EQUAL(function->operations_done, ROUNDS, "all");
	CHECK_EQUAL(function->timed[NCS_TIMING_PROXY], ROUNDS, "all");
	CHECK_EQUAL(function->timed[NCS_TIMING_KERNEL],
		    pair->profiled ? ROUNDS : 0, "all");
	if (pair->profiled) {
		CHECK_EQUAL(function->time_ns[NCS_TIMING_KERNEL],
			    (uint64_t)ROUNDS * KERNEL_NS,
			    "first start to last stop, of all");
		CHECK_EQUAL(
			function->histogram[NCS_TIMING_KERNEL]
					   [ncs_histogram_bucket(KERNEL_NS)],
			ROUNDS, "each once, with its last time");
	}
	CHECK_EQUAL(now->operation_count, 0, "none is in flight");
	channel = view_channel(&pair->guest.view, 1, true, 2);
	CHECK_EQUAL(channel->operations_done, ROUNDS, "all");
	CHECK_EQUAL(channel->steps_done, 2 * ROUNDS, "all");
	CHECK_EQUAL(channel->bytes, 22 * ROUNDS, "all");
	CHECK_EQUAL(now->proxy.count[NCS_TRANSITION_APPEND_END], ROUNDS, "all");
	CHECK_EQUAL(now->proxy.appended_operations, ROUNDS, "all");
	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++)
		if (i != NCS_LOSS_OVERWRITTEN)
			CHECK_EQUAL(now->losses[i], 0, "lost");
}

static void hand_over(void *argument)
{
	static struct pair pair;
	pthread_t threads[3];

	pair.profiled = *(const bool *)argument;
	guest_open(&pair.guest, LAST_API);
	start_thread(&threads[0], launch, &pair);
	start_thread(&threads[1], proxy, &pair);
	if (pair.profiled)
		start_thread(&threads[2], profile, &pair);
	for (unsigned i = 0; i < 2u + pair.profiled; i++)
		pthread_join(threads[i], NULL);
	check_pair(&pair);
	guest_close(&pair.guest);
}

TEST(operations_pass_from_launcher_to_proxy_thread)
{
	bool profiled = false;

	scenario_play(hand_over, &profiled);
}

/* From 2.31 on a separate thread reports kernels. */
TEST(proxy_and_kernels_may_end_an_operation_at_once)
{
	bool profiled = true;

	scenario_play(hand_over, &profiled);
}

static struct pair pairs[2];

static void *proxy_for_both(void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned k = 0; k < 2; k++)
			proxy_one(&pairs[k].guest, take(&pairs[k].to_proxy));
	return NULL;
}

/* splitShare: two communicators share one proxy thread. */
SCENARIO(two_communicators_may_share_a_proxy_thread)
{
	pthread_t threads[3];

	guest_open(&pairs[0].guest, LAST_API);
	pairs[1].guest.host = pairs[0].guest.host;
	pairs[1].guest.context = init_comm(pairs[0].guest.host, "other", 2);
	view_open(&pairs[1].guest.view, 1);
	start_thread(&threads[0], launch, &pairs[0]);
	start_thread(&threads[1], launch, &pairs[1]);
	start_thread(&threads[2], proxy_for_both, NULL);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	check_pair(&pairs[0]);
	check_pair(&pairs[1]);
	view_close(&pairs[1].guest.view);
	host_finalize(pairs[0].guest.host, pairs[1].guest.context);
	guest_close(&pairs[0].guest);
}

/* Helper threads of the socket transport start events that the proxy thread may
 * end while they start the next. */
static void *start_net(void *argument)
{
	struct pair *pair = argument;

	for (unsigned i = 0; i < ROUNDS; i++)
		give(&pair->to_proxy,
		     start_any(&pair->guest, NCS_EVENT_NET_PLUGIN));
	return NULL;
}

static void *stop_net(void *argument)
{
	struct pair *pair = argument;

	for (unsigned i = 0; i < ROUNDS; i++)
		stop(&pair->guest, take(&pair->to_proxy));
	return NULL;
}

SCENARIO(an_event_may_end_on_another_thread)
{
	static struct pair pair;
	pthread_t threads[2];

	guest_open(&pair.guest, LAST_API);
	start_thread(&threads[0], start_net, &pair);
	start_thread(&threads[1], stop_net, &pair);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check_losses(&pair.guest, "ended by another thread", END_OF_LOSSES);
	CHECK_EQUAL(published(&pair.guest.view), ROUNDS, "each");
	guest_close(&pair.guest);
}

/* --- Reading meanwhile ------------------------------------------------- */

struct observer {
	struct view view;
	_Atomic bool over;
	uint64_t read;
	uint64_t lost;
	uint64_t readings;
};

/* Counters never decrease, and the values of one block belong together. */
static void check_look(const struct ncs_snapshot *now,
		       struct ncs_function_view *before)
{
	const struct ncs_function_view *function =
		&now->functions[COLL_FUNCTION];

	CHECK(function->operations >= before->operations,
	      "a counter has decreased");
	CHECK(function->bytes >= before->bytes, "a counter has decreased");
	CHECK_EQUAL(function->bytes,
		    function->operations * 7 * COLL_ELEMENT_BYTES,
		    "written together, seen together");
	for (size_t i = 0; i < now->channel_count; i++) {
		const struct ncs_channel_view *channel = &now->channels[i];

		CHECK(channel->steps_done <= channel->steps_started,
		      "written together, seen together");
		CHECK(channel->steps_started - channel->steps_done <= 1,
		      "written together, seen together");
		CHECK(channel->bytes >= 11 * channel->steps_done &&
			      channel->bytes <= 11 * channel->steps_started,
		      "written together, seen together");
	}
	*before = *function;
}

static void read_some(struct observer *me, uint64_t *next)
{
	struct ncs_record records[200];
	size_t lanes = ncs_reader_header(me->view.reader)->lanes.count;

	for (size_t lane = 0; lane < lanes; lane++) {
		uint64_t lost = 0;
		size_t count = ncs_reader_records(me->view.reader, lane,
						  records, 200, &lost);

		next[lane] += lost;
		for (size_t i = 0; i < count; i++) {
			CHECK_EQUAL(records[i].position, (uint32_t)next[lane]++,
				    "one by one");
			if (records[i].event == NCS_EVENT_PROXY_STEP)
				CHECK_EQUAL(records[i].value, 11, "whole");
			else if (records[i].event == NCS_EVENT_PROXY_OP)
				CHECK_EQUAL(records[i].value, 22, "whole");
			else if (records[i].event == NCS_EVENT_COLL)
				CHECK_EQUAL(records[i].value,
					    7 * COLL_ELEMENT_BYTES, "whole");
			else
				CHECK_EQUAL(records[i].event,
					    NCS_EVENT_PROXY_CTRL, "whole");
		}
		me->read += count;
		me->lost += lost;
	}
}

static void *observe(void *argument)
{
	struct observer *me = argument;
	struct ncs_function_view before = { 0 };
	uint64_t next[NCS_LANE_MAX + NCS_CALL_LANES] = { 0 };

	while (!atomic_load_explicit(&me->over, memory_order_acquire)) {
		view_take(&me->view);
		if (!me->view.now.torn)
			check_look(&me->view.now, &before);
		read_some(me, next);
		me->readings++;
	}
	for (uint64_t more = UINT64_MAX; more != me->read;) {
		more = me->read;
		read_some(me, next);
	}
	view_take(&me->view);
	return NULL;
}

SCENARIO(readers_see_whole_blocks_and_count_every_missed_record)
{
	static struct pair pair;
	static struct observer observers[2];
	pthread_t threads[4];

	guest_open(&pair.guest, LAST_API);
	for (unsigned i = 0; i < 2; i++) {
		view_open(&observers[i].view, 0);
		start_thread(&threads[2 + i], observe, &observers[i]);
	}
	start_thread(&threads[0], launch, &pair);
	start_thread(&threads[1], proxy, &pair);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	for (unsigned i = 0; i < 2; i++) {
		atomic_store_explicit(&observers[i].over, true,
				      memory_order_release);
		pthread_join(threads[2 + i], NULL);
		CHECK(observers[i].readings > 0, "an observer never read");
		CHECK(!observers[i].view.now.torn, "all writers have ended");
		CHECK_EQUAL(observers[i].read + observers[i].lost, 5 * ROUNDS,
			    "read, or counted as lost");
		view_close(&observers[i].view);
	}
	check_pair(&pair);
	guest_close(&pair.guest);
}

/* --- Init during other calls ------------------------------------------- */

static _Atomic bool busy_is_over;

static void *call_strays(void *argument)
{
	struct guest *guest = argument;

	while (!atomic_load_explicit(&busy_is_over, memory_order_relaxed)) {
		stop(guest, NULL);
		start_in(guest, (void *)(uintptr_t)0x123456789ab1,
			 &(struct host_event){ .type = NCCL_EVENT_GROUP });
		play_coll(guest, 0);
	}
	return NULL;
}

static void *come_and_go_beside(void *argument)
{
	struct guest *guest = argument;

	for (unsigned i = 0; i < 30; i++) {
		struct guest own = { .host = guest->host };

		own.context = init_comm(own.host, "beside", (int)i);
		play_coll(&own, 0);
		host_finalize(own.host, own.context);
	}
	return NULL;
}

GUEST_SCENARIO(communicators_come_and_go_during_events, LAST_API)
{
	pthread_t threads[3];
	uint64_t stale, foreign;

	start_thread(&threads[2], call_strays, guest);
	for (unsigned i = 0; i < 2; i++)
		start_thread(&threads[i], come_and_go_beside, guest);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	atomic_store_explicit(&busy_is_over, true, memory_order_relaxed);
	pthread_join(threads[2], NULL);
	view_take(&guest->view);
	stale = guest->view.now.losses[NCS_LOSS_STALE];
	foreign = guest->view.now.losses[NCS_LOSS_FOREIGN];
	CHECK_EQUAL(stale, foreign, "one each in a round");
	CHECK_EQUAL(guest->view.now.functions[COLL_FUNCTION].operations_done,
		    stale, "one each in a round");
	check_still_follows(guest, "beside others");
}
