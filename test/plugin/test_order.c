/* SPDX-License-Identifier: MIT */
/* Unusual but legal orders of NCCL's calls: steps that are started again or
 * never stopped, later steps that overtake, operations that get another child
 * when all seemed done. Counters and records must be correct. */
#include <stdio.h>
#include <time.h>

#include "ncclstat/abi_header.h"
#include "shm/clock.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7

/* --- Steps that NCCL starts twice or does not stop --------------------- */

GUEST_SCENARIO(step_started_again_stays_one_step, 3)
{
	const struct ncs_channel_view *channel;
	struct ncs_record found;
	void *op, *step, *again;

	op = start_proxy_op(guest, NULL, 7, false, 2, 16);
	step = start_step(guest, op, 5);
	for (unsigned i = 0; i < 100; i++) {
		again = start_step(guest, op, 5);
		CHECK(again == step, "the handle of the same step");
	}
	channel = view_channel(&guest->view, 7, false, 2);
	view_take(&guest->view);
	channel = view_channel(&guest->view, 7, false, 2);
	CHECK_EQUAL(channel->steps_started, 1, "a restart is no step");
	CHECK_EQUAL(guest->view.now.events[NCS_EVENT_PROXY_STEP], 101,
		    "each start is counted");
	record(guest, again, NCCL_STATE_STEP_RECV_FLUSH_WAIT);
	stop(guest, again);
	found = expect_record(guest, NCS_EVENT_PROXY_STEP, "the step");
	CHECK(!next_record(guest, &found), "one step, one record");
	check_losses(guest, "a restart", END_OF_LOSSES);
	stop(guest, op);
}

GUEST_SCENARIO(step_without_stop_ends_with_its_slot_or_operation, 3)
{
	const struct ncs_channel_view *channel;
	struct ncs_record found;
	void *op, *first, *second;

	op = start_proxy_op(guest, NULL, 7, false, 2, 16);
	first = start_step(guest, op, 3);
	second = start_step(guest, op, 11);
	CHECK(first != second, "another step");
	found = expect_record(guest, NCS_EVENT_PROXY_STEP, "the first");
	CHECK_EQUAL(found.number, 3, "the first");
	CHECK_EQUAL(found.flags, NCS_RECORD_MISSING_STOP, "the stop was lost");
	check_losses(guest, "its slot is taken", NCS_LOSS_MISSING_STOP, 1,
		     END_OF_LOSSES);
	stop(guest, first);
	check_losses(guest, "too late", NCS_LOSS_MISSING_STOP, 1,
		     NCS_LOSS_STALE, 1, END_OF_LOSSES);
	start_step(guest, op, 4);
	stop(guest, op);
	for (unsigned i = 0; i < 2; i++) {
		found = expect_record(guest, NCS_EVENT_PROXY_STEP, "open");
		CHECK_EQUAL(found.flags, NCS_RECORD_MISSING_STOP, "lost, too");
	}
	found = expect_record(guest, NCS_EVENT_PROXY_OP, "the operation");
	CHECK_EQUAL(found.number, 3, "steps done");
	check_losses(guest, "the operation ended", NCS_LOSS_MISSING_STOP, 3,
		     NCS_LOSS_STALE, 1, END_OF_LOSSES);
	channel = view_channel(&guest->view, 7, false, 2);
	CHECK_EQUAL(channel->steps_done, 3, "all ended");
	CHECK_EQUAL(channel->state, NCS_CHANNEL_IDLE, "nothing is under way");
}

/* A channel shows its oldest step, whatever later steps do. */
static void overtake(void *argument)
{
	const struct ncs_channel_view *channel;
	struct guest guest;
	void *op, *next, *steps[4];

	(void)argument;
	guest_open(&guest, LAST_API);
	op = start_proxy_op(&guest, NULL, 7, true, 2, 16);
	next = start_proxy_op(&guest, NULL, 7, true, 2, 16);
	for (int i = 0; i < 3; i++)
		steps[i] = start_step(&guest, op, i);
	steps[3] = start_step(&guest, next, 9);
	record(&guest, steps[1], NCCL_STATE_STEP_SEND_WAIT);
	record(&guest, steps[3], NCCL_STATE_STEP_SEND_WAIT);
	view_take(&guest.view);
	channel = view_channel(&guest.view, 7, true, 2);
	CHECK_EQUAL(channel->state, NCS_CHANNEL_SEND_GPU_WAIT, "step 0");
	CHECK_EQUAL(channel->step, 0, "the oldest");
	record(&guest, steps[0], NCCL_STATE_STEP_SEND_PEER_WAIT);
	view_take(&guest.view);
	channel = view_channel(&guest.view, 7, true, 2);
	CHECK_EQUAL(channel->state, NCS_CHANNEL_SEND_PEER_WAIT, "step 0");
	stop(&guest, steps[0]);
	view_take(&guest.view);
	channel = view_channel(&guest.view, 7, true, 2);
	CHECK_EQUAL(channel->state, NCS_CHANNEL_SEND_WAIT, "step 1");
	CHECK_EQUAL(channel->step, 1, "the oldest now");
	stop(&guest, steps[2]);
	stop(&guest, steps[1]);
	view_take(&guest.view);
	channel = view_channel(&guest.view, 7, true, 2);
	CHECK_EQUAL(channel->step, 9, "of the next operation");
	CHECK_EQUAL(channel->state, NCS_CHANNEL_SEND_WAIT, "its state");
	stop(&guest, next);
	stop(&guest, op);
	view_take(&guest.view);
	channel = view_channel(&guest.view, 7, true, 2);
	CHECK_EQUAL(channel->state, NCS_CHANNEL_IDLE, "all ended");
	CHECK_EQUAL(channel->operations_done, 2, "both ended");
	guest_close(&guest);
}

/* An older operation that continues after a later one has begun is shown
 * again. */
static void go_on_after_younger(void *argument)
{
	const struct ncs_channel_view *channel;
	struct guest guest;
	void *older, *younger, *coll, *step;

	(void)argument;
	guest_open(&guest, LAST_API);
	older = start_proxy_op(&guest, NULL, 7, false, 2, 16);
	let_time_pass();
	coll = start_coll(&guest, 0, 1);
	younger = start_proxy_op(&guest, coll, 7, false, 2, 32);
	stop(&guest, start_step(&guest, older, 0));
	step = start_step(&guest, younger, 0);
	record(&guest, step, NCCL_STATE_STEP_RECV_GPU_WAIT);
	view_take(&guest.view);
	channel = view_channel(&guest.view, 7, false, 2);
	CHECK_EQUAL(channel->state, NCS_CHANNEL_RECV_GPU_WAIT, "its step");
	CHECK_EQUAL(channel->nsteps, 32, "the only one with a step");
	CHECK_EQUAL(channel->function, COLL_FUNCTION, "its function");
	CHECK_EQUAL(channel->operation, 1, "its operation");
	start_step(&guest, older, 1);
	view_take(&guest.view);
	channel = view_channel(&guest.view, 7, false, 2);
	CHECK_EQUAL(channel->nsteps, 16, "the older one has a step again");
	CHECK_EQUAL(channel->function, NCS_FUNCTION_OTHER, "no function");
	CHECK_EQUAL(channel->operation, 0, "no operation");
	CHECK_EQUAL(channel->step, 1, "its step");
	CHECK_EQUAL(channel->state, NCS_CHANNEL_RECV_WAIT, "its state");
	stop(&guest, older);
	view_take(&guest.view);
	channel = view_channel(&guest.view, 7, false, 2);
	CHECK_EQUAL(channel->nsteps, 32, "only the younger one is left");
	CHECK_EQUAL(channel->state, NCS_CHANNEL_RECV_GPU_WAIT, "its state");
	stop(&guest, younger);
	guest_close(&guest);
}

TEST(channel_shows_its_oldest_step)
{
	scenario_play(overtake, NULL);
	scenario_play(go_on_after_younger, NULL);
}

/* --- Times and slots --------------------------------------------------- */

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

#define PAUSE_NS 3000000
/* The clock's rate was measured over 5 ms only. */
#define SLACK_NS 300000

static void pause_a_while(void)
{
	struct timespec pause = { 0, PAUSE_NS };

	nanosleep(&pause, NULL);
}

static const struct ncs_channel_view *channel_now(struct guest *guest)
{
	view_take(&guest->view);
	return view_channel(&guest->view, 7, true, 2);
}

/* Bounds of a time at which something happened. */
struct moment {
	uint64_t before, after;
};

#define DO(moment, what) \
	do { \
		at[moment].before = monotonic_ns(); \
		what; \
		at[moment].after = monotonic_ns(); \
	} while (0)

static uint64_t ticks_ns(const struct guest *guest, uint64_t ticks)
{
	const struct ncs_header *header = ncs_reader_header(guest->view.reader);

	return ncs_clock_duration_ns(&header->clock, ticks);
}

static void check_since(const struct ncs_channel_view *channel,
			const struct moment *moment)
{
	CHECK(channel->since_ns + SLACK_NS >= moment->before &&
		      channel->since_ns <= moment->after + SLACK_NS,
	      "%llu is not between %llu and %llu",
	      (unsigned long long)channel->since_ns,
	      (unsigned long long)moment->before,
	      (unsigned long long)moment->after);
}

/* Checks that a time is at least the distance between two times. */
static uint64_t between(const struct moment *from, const struct moment *to)
{
	return to->before - from->after;
}

static void check_spent(const struct ncs_channel_view *channel,
			enum ncs_channel_state state, uint64_t least)
{
	CHECK(channel->time_ns[state] + SLACK_NS >= least,
	      "%llu ns in state %d, not %llu",
	      (unsigned long long)channel->time_ns[state], (int)state,
	      (unsigned long long)least);
}

static void wait_in_states(void *argument)
{
	enum { BEGIN, POSTED, READ, SENT, NEXT, OVER, END, MOMENTS };
	const struct ncs_channel_view *channel;
	struct moment at[MOMENTS];
	uint64_t sum = 0;
	struct guest guest;
	void *op, *step;

	(void)argument;
	DO(BEGIN, guest_open(&guest, LAST_API));
	op = start_proxy_op(&guest, NULL, 7, true, 2, 16);
	DO(POSTED, step = start_step(&guest, op, 0));
	pause_a_while();
	/* A later step does not shorten the oldest one's wait. */
	start_step(&guest, op, 1);
	DO(READ, channel = channel_now(&guest));
	check_since(channel, &at[POSTED]);
	check_spent(channel, NCS_CHANNEL_SEND_GPU_WAIT,
		    between(&at[POSTED], &at[READ]));
	DO(SENT, record(&guest, step, NCCL_STATE_STEP_SEND_WAIT));
	pause_a_while();
	channel = channel_now(&guest);
	check_since(channel, &at[SENT]);
	/* The next step has waited as long, but was not the one that the
	 * channel showed. */
	DO(NEXT, stop(&guest, step));
	pause_a_while();
	channel = channel_now(&guest);
	check_since(channel, &at[NEXT]);
	CHECK_EQUAL(channel->step, 1, "the next");
	DO(OVER, stop(&guest, op));
	pause_a_while();
	DO(END, channel = channel_now(&guest));
	check_since(channel, &at[OVER]);
	check_spent(channel, NCS_CHANNEL_SEND_GPU_WAIT,
		    between(&at[POSTED], &at[SENT]) +
			    between(&at[NEXT], &at[OVER]));
	check_spent(channel, NCS_CHANNEL_SEND_WAIT,
		    between(&at[SENT], &at[NEXT]));
	check_spent(channel, NCS_CHANNEL_IDLE, between(&at[OVER], &at[END]));
	for (unsigned i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		sum += channel->time_ns[i];
	CHECK(sum <= at[END].after - at[BEGIN].before + SLACK_NS,
	      "%llu ns in all states together, in %llu",
	      (unsigned long long)sum,
	      (unsigned long long)(at[END].after - at[BEGIN].before));
	guest_close(&guest);
}

static void sleep_and_work(void *argument)
{
	enum { SLEEP, WAKE, ACTIVE, END, MOMENTS };
	const struct ncs_proxy_view *proxy;
	struct moment at[MOMENTS];
	struct guest guest;
	void *ctrl;

	(void)argument;
	guest_open(&guest, LAST_API);
	proxy = &guest.view.now.proxy;
	ctrl = start_type(&guest, NCCL_EVENT_PROXY_CTRL, NULL);
	DO(SLEEP, record(&guest, ctrl, NCCL_STATE_CTRL_SLEEP));
	pause_a_while();
	DO(WAKE, record(&guest, ctrl, NCCL_STATE_CTRL_WAKEUP));
	stop(&guest, ctrl);
	pause_a_while();
	ctrl = start_type(&guest, NCCL_EVENT_PROXY_CTRL, NULL);
	DO(ACTIVE, record(&guest, ctrl, NCCL_STATE_CTRL_ACTIVE));
	stop(&guest, ctrl);
	pause_a_while();
	DO(END, view_take(&guest.view));
	CHECK(proxy->since_ns + SLACK_NS >= at[ACTIVE].before &&
		      proxy->since_ns <= at[ACTIVE].after + SLACK_NS,
	      "it is active since %llu", (unsigned long long)proxy->since_ns);
	CHECK(proxy->time_ns[NCS_PROXY_SLEEP] + SLACK_NS >=
		      between(&at[SLEEP], &at[WAKE]),
	      "the thread slept longer");
	CHECK(proxy->time_ns[NCS_PROXY_IDLE] + SLACK_NS >=
		      between(&at[WAKE], &at[ACTIVE]),
	      "the thread was idle longer");
	CHECK(proxy->time_ns[NCS_PROXY_ACTIVE] + SLACK_NS >=
		      between(&at[ACTIVE], &at[END]),
	      "it is active longer");
	CHECK(proxy->time_ns[NCS_PROXY_SLEEP] + proxy->time_ns[NCS_PROXY_IDLE] +
			      proxy->time_ns[NCS_PROXY_ACTIVE] <=
		      at[END].after - at[SLEEP].before + SLACK_NS,
	      "more time than there was");
	CHECK_EQUAL(proxy->time_ns[NCS_PROXY_UNKNOWN], 0, "the state is known");
	CHECK_EQUAL(proxy->time_ns[NCS_PROXY_APPEND], 0,
		    "the thread never appended");
	guest_close(&guest);
}

TEST(time_is_added_to_the_state_being_exited)
{
	scenario_play(wait_in_states, NULL);
	scenario_play(sleep_and_work, NULL);
}

/* An operation's time runs from the start of its first proxy operation in
 * progress to the end of its last one. */
GUEST_SCENARIO(operation_takes_the_time_of_its_proxy_operations, LAST_API)
{
	enum { START, FIRST, SECOND, LAST, END, MOMENTS };
	const struct ncs_operation_view *flying;
	const struct ncs_function_view *function;
	struct moment at[MOMENTS];
	struct ncs_record found;
	void *coll, *ops[2];
	uint64_t time_ns;

	function = &guest->view.now.functions[COLL_FUNCTION];
	DO(START, coll = start_coll(guest, 0, 1));
	stop(guest, coll);
	ops[0] = start_proxy_op(guest, coll, 0, true, 2, 1);
	ops[1] = start_proxy_op(guest, coll, 1, true, 2, 1);
	pause_a_while(); /* queued behind others */
	DO(FIRST, record(guest, ops[0], NCCL_STATE_OP_IN_PROGRESS));
	pause_a_while();
	record(guest, ops[1], NCCL_STATE_OP_IN_PROGRESS);
	stop(guest, start_step(guest, ops[0], 0));
	pause_a_while();
	DO(SECOND, stop(guest, start_step(guest, ops[0], 1)));
	DO(LAST, stop(guest, ops[1]));
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.operation_count, 1, "one child to go");
	flying = &guest->view.now.operations[0];
	CHECK(flying->last_child_done_ns + SLACK_NS >= at[LAST].before &&
		      flying->last_child_done_ns <= at[LAST].after + SLACK_NS,
	      "when a child last ended");
	DO(END, stop(guest, ops[0]));
	view_take(&guest->view);
	time_ns = function->time_ns[NCS_TIMING_PROXY];
	CHECK(time_ns + SLACK_NS >= between(&at[FIRST], &at[END]) &&
		      time_ns <= at[END].after - at[FIRST].before + SLACK_NS,
	      "%llu ns from the first's progress to the last one's end",
	      (unsigned long long)time_ns);
	CHECK_EQUAL(function->histogram[NCS_TIMING_PROXY]
				       [ncs_histogram_bucket(time_ns)],
		    1, "in its bucket");
	for (unsigned i = 0; i < 2; i++)
		expect_record(guest, NCS_EVENT_PROXY_STEP, "a step");
	expect_record(guest, NCS_EVENT_PROXY_OP, "the second");
	found = expect_record(guest, NCS_EVENT_PROXY_OP, "the first");
	CHECK(ticks_ns(guest, found.delta[1]) + SLACK_NS <
		      at[SECOND].before - at[START].before,
	      "its first step, not the latest");
}

/* NCCL reports the end of an operation through its children only. An operation
 * without children may still get some, until a later one has finished. */
GUEST_SCENARIO(childless_operation_is_in_flight_until_a_later_one_ends,
	       LAST_API)
{
	void *colls[4], *ops[4];

	for (unsigned i = 0; i < 4; i++) {
		colls[i] = start_coll(guest, i, 1);
		stop(guest, colls[i]);
	}
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.operation_count, 0,
		    "no operation of this function has ever had a child");
	ops[0] = start_proxy_op(guest, colls[0], 0, true, 2, 1);
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.operation_count, 4, "now one has");
	ops[2] = start_proxy_op(guest, colls[2], 0, true, 2, 1);
	stop(guest, ops[2]);
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.operation_count, 2, "0 and 3");
	CHECK_EQUAL(guest->view.now.operations[0].number, 1, "0 and 3");
	CHECK_EQUAL(guest->view.now.operations[1].number, 4, "0 and 3");
	stop(guest, ops[0]);
	view_take(&guest->view);
	CHECK_EQUAL(guest->view.now.operation_count, 1, "1 is not back");
	CHECK_EQUAL(guest->view.now.operations[0].number, 4,
		    "operation 4 is in flight");
}

static void check_called(struct guest *guest, const struct moment *moment)
{
	uint64_t called_ns;

	view_take(&guest->view);
	called_ns = guest->view.now.last_call_ns;
	CHECK(called_ns + SLACK_NS >= moment->before &&
		      called_ns <= moment->after + SLACK_NS,
	      "%llu is not between %llu and %llu",
	      (unsigned long long)called_ns, (unsigned long long)moment->before,
	      (unsigned long long)moment->after);
	pause_a_while();
}

GUEST_SCENARIO(time_of_the_latest_call_is_published, LAST_API)
{
	struct moment at[1];
	void *op, *step, *group;

	CHECK_EQUAL(guest->view.now.last_call_ns, 0, "not yet");
	DO(0, op = start_any(guest, NCS_EVENT_PROXY_OP));
	check_called(guest, &at[0]);
	DO(0, step = start_step(guest, op, 0));
	check_called(guest, &at[0]);
	DO(0, record(guest, step, NCCL_STATE_STEP_SEND_WAIT));
	check_called(guest, &at[0]);
	DO(0, stop(guest, step));
	check_called(guest, &at[0]);
	DO(0, group = start_any(guest, NCS_EVENT_GROUP));
	check_called(guest, &at[0]);
	DO(0, stop(guest, group));
	check_called(guest, &at[0]);
	DO(0, stop(guest, NULL));
	check_called(guest, &at[0]);
}

/* Nothing of the slot's former user may show. */
GUEST_SCENARIO(reused_slot_starts_empty, LAST_API)
{
	struct ncs_record found;
	void *coll, *op, *span;

	for (unsigned round = 0; round < 2; round++) {
		bool full = round == 0;

		coll = full ? start_coll(guest, 77, 1000) : NULL;
		op = start_proxy_op(guest, coll, 5, full, 3, 9);
		if (full) {
			void *step = start_step(guest, op, 7);

			record(guest, op, NCCL_STATE_OP_IN_PROGRESS);
			let_time_pass();
			record(guest, step, NCCL_STATE_STEP_SEND_PEER_WAIT);
			record_size(guest, step, NCCL_STATE_STEP_SEND_WAIT, 99);
			stop(guest, step);
		} else {
			stop(guest, start_step(guest, op, 15));
		}
		stop(guest, op);
		span = start_type(guest, NCCL_EVENT_GROUP_API, NULL);
		if (full)
			record_without_args(guest, span,
					    NCCL_STATE_GROUP_END_API_START);
		stop(guest, span);
		if (full)
			read_all_records(guest);
	}
	found = expect_record(guest, NCS_EVENT_PROXY_STEP, "the second");
	CHECK_EQUAL(found.flags, 0, "a receiving step");
	CHECK_EQUAL(found.value, 0, "no size was reported");
	CHECK_EQUAL(found.delta[0], 0, "no state was reported");
	CHECK_EQUAL(found.delta[1], 0, "no state was reported");
	CHECK_EQUAL(found.operation, 0, "belongs to no operation");
	found = expect_record(guest, NCS_EVENT_PROXY_OP, "the second");
	CHECK_EQUAL(found.value, 0, "no size was reported");
	CHECK_EQUAL(found.number, 1, "one step");
	CHECK_EQUAL(found.delta[0], 0,
		    "the proxy operation was never in progress");
	CHECK_EQUAL(found.operation, 0, "belongs to no operation");
	CHECK_EQUAL(found.function, NCS_FUNCTION_OTHER,
		    "the function is unknown");
	found = expect_record(guest, NCS_EVENT_GROUP_API, "the second");
	CHECK_EQUAL(found.delta[1], 0, "no state was reported");
}

/* Graphs report the same numbers again, and threads overtake each other. */
GUEST_SCENARIO(last_sequence_number_is_the_largest, LAST_API)
{
	static const uint64_t numbers[] = { 5, 3, 9, 9, 0, 8 };
	static const uint64_t largest[] = { 5, 5, 9, 9, 9, 9 };

	for (unsigned i = 0; i < 6; i++) {
		stop(guest, start_coll(guest, numbers[i], 1));
		view_take(&guest->view);
		CHECK_EQUAL(guest->view.now.functions[COLL_FUNCTION]
				    .last_sequence_number,
			    largest[i], "the largest so far");
	}
}

/* --- Operations that seem finished ------------------------------------- */

static uint64_t histogram_total(const struct ncs_function_view *function,
				enum ncs_timing timing)
{
	uint64_t total = 0;

	if (function->histogram[timing])
		for (unsigned i = 0; i < NCS_HISTOGRAM_BUCKETS; i++)
			total += function->histogram[timing][i];
	return total;
}

GUEST_SCENARIO(finished_operation_with_a_late_child_is_reopened, LAST_API)
{
	const struct ncs_function_view *function;
	struct ncs_record found;
	uint64_t first_ns = 0;
	void *coll, *op;

	function = &guest->view.now.functions[COLL_FUNCTION];
	coll = start_coll(guest, 0, 250);
	stop(guest, coll);
	view_take(&guest->view);
	CHECK_EQUAL(function->with_children, 0, "none yet");
	for (unsigned i = 1; i <= 5; i++) {
		op = start_proxy_op(guest, coll, i, true, 2, 1);
		view_take(&guest->view);
		CHECK_EQUAL(function->operations_done, 0, "a child is alive");
		CHECK_EQUAL(guest->view.now.operation_count, 1, "in flight");
		CHECK_EQUAL(guest->view.now.operations[0].number, 1,
			    "the operation is in flight");
		CHECK_EQUAL(guest->view.now.operations[0].children_started, i,
			    "children");
		CHECK_EQUAL(guest->view.now.operations[0].children_done, i - 1,
			    "children");
		stop(guest, op);
		view_take(&guest->view);
		CHECK_EQUAL(function->operations_done, 1, "no child is alive");
		CHECK_EQUAL(function->with_children, 1, "one operation");
		CHECK_EQUAL(function->timed[NCS_TIMING_PROXY], 1, "one time");
		CHECK_EQUAL(function->timed_bytes[NCS_TIMING_PROXY], 1000,
			    "one time");
		CHECK_EQUAL(histogram_total(function, NCS_TIMING_PROXY), 1,
			    "one time");
		CHECK_EQUAL(guest->view.now.operation_count, 0, "finished");
		if (i == 1)
			first_ns = function->time_ns[NCS_TIMING_PROXY];
		expect_record(guest, NCS_EVENT_PROXY_OP, "child");
		found = expect_record(guest, NCS_EVENT_COLL, "operation");
		CHECK_EQUAL(found.flags, i == 1 ? 0 : NCS_RECORD_AGAIN,
			    "flags of the replacing record");
	}
	CHECK(function->time_ns[NCS_TIMING_PROXY] > first_ns,
	      "the time does not go to the last child");
	check_losses(guest, "late children", END_OF_LOSSES);
}

GUEST_SCENARIO(kernel_and_proxy_times_are_counted_separately, LAST_API)
{
	const struct ncs_function_view *function;
	void *coll, *op, *kernels[2];

	function = &guest->view.now.functions[COLL_FUNCTION];
	coll = start_coll(guest, 0, 250);
	stop(guest, coll);
	kernels[0] = start_kernel(guest, coll, 0, 1000);
	record_timer(guest, kernels[0], NCCL_STATE_KERNEL_CH_STOP, 1800);
	stop(guest, kernels[0]);
	op = start_proxy_op(guest, coll, 0, true, 2, 1);
	kernels[1] = start_kernel(guest, coll, 1, 900);
	record_timer(guest, kernels[1], NCCL_STATE_KERNEL_CH_STOP, 1500);
	stop(guest, kernels[1]);
	stop(guest, op);
	view_take(&guest->view);
	CHECK_EQUAL(function->operations_done, 1, "all children have ended");
	CHECK_EQUAL(function->timed[NCS_TIMING_KERNEL], 1, "one time each");
	CHECK_EQUAL(function->timed[NCS_TIMING_PROXY], 1, "one time each");
	CHECK_EQUAL(function->time_ns[NCS_TIMING_KERNEL], 900,
		    "first start to last stop, of all channels");
	CHECK_EQUAL(histogram_total(function, NCS_TIMING_KERNEL), 1, "one");
	CHECK(function->histogram[NCS_TIMING_KERNEL]
				 [ncs_histogram_bucket(900)] == 1,
	      "the earlier time is not replaced");
}

/* --- Times of callbacks that follow each other directly ------------------ */

/* One call, as NCCL 2.28 to 2.30 make it, with time between all callbacks. A
 * callback of another communicator comes before the Group if there is one. */
static void call_slowly(struct guest *guest, int depth, void *other)
{
	struct host_event api = { .type = NCCL_EVENT_GROUP_API,
				  .depth = depth };
	struct host_event event = { .type = NCCL_EVENT_COLL_API,
				    .func = "AllReduce",
				    .datatype = "ncclFloat32",
				    .count = 1 };
	struct host_event foreign = { .type = NCCL_EVENT_GROUP };
	void *group = start(guest, &api), *call, *launch, *plan, *coll, *kernel;

	let_time_pass();
	record_without_args(guest, group, NCCL_STATE_GROUP_START_API_STOP);
	let_time_pass();
	event.parent = group;
	call = start(guest, &event);
	let_time_pass();
	stop(guest, call);
	let_time_pass();
	record_without_args(guest, group, NCCL_STATE_GROUP_END_API_START);
	let_time_pass();
	launch = start_type(guest, NCCL_EVENT_KERNEL_LAUNCH, group);
	let_time_pass();
	stop(guest, launch);
	if (other)
		stop(guest, start_in(guest, other, &foreign));
	let_time_pass();
	plan = start_type(guest, NCCL_EVENT_GROUP, NULL);
	let_time_pass();
	coll = start_coll(guest, 0, 1);
	let_time_pass();
	stop(guest, coll);
	let_time_pass();
	stop(guest, plan);
	let_time_pass();
	stop(guest, group);
	/* Else there is no record of the operation. */
	kernel = start_kernel(guest, coll, 0, 1000);
	record_timer(guest, kernel, NCCL_STATE_KERNEL_CH_STOP, 1800);
	stop(guest, kernel);
}

struct call_times {
	struct ncs_record group, call, launch, plan, coll;
};

/* Makes a call and reads its times. */
static struct call_times times_of_call(struct guest *guest, int depth,
				       void *other)
{
	struct call_times times;

	/* The thread's first callback finds it a lane, and is slower. */
	stop(guest, start_any(guest, NCS_EVENT_GROUP));
	read_all_records(guest);
	call_slowly(guest, depth, other);
	times.call = expect_record(guest, NCS_EVENT_COLL_API, "the call");
	times.launch =
		expect_record(guest, NCS_EVENT_KERNEL_LAUNCH, "its launch");
	times.plan = expect_record(guest, NCS_EVENT_GROUP, "its plan");
	times.group = expect_record(guest, NCS_EVENT_GROUP_API, "its group");
	times.coll = expect_record(guest, NCS_EVENT_COLL, "its operation");
	return times;
}

static uint64_t end_of(const struct ncs_record *record)
{
	return record->start + record->duration;
}

/* NCCL does nothing between them, and reading the time is half of their cost. */
GUEST_SCENARIO(callbacks_in_a_row_share_one_time, LAST_API)
{
	struct call_times times = times_of_call(guest, 1, NULL);

	CHECK_EQUAL(times.group.delta[0], 1, "ncclGroupStart returned at once");
	CHECK_EQUAL(times.call.start, times.group.start, "the call begins");
	CHECK(times.call.duration > 0, "the call ends later");
	CHECK_EQUAL(times.group.start + times.group.delta[1],
		    end_of(&times.call), "the group ends with its only call");
	CHECK(times.launch.start > end_of(&times.call), "the launch is later");
	CHECK(times.launch.duration > 0, "the launch ends later");
	CHECK_EQUAL(times.plan.start, end_of(&times.launch), "the plan begins");
	CHECK_EQUAL(times.coll.start, times.plan.start, "the operation begins");
	CHECK(times.coll.delta[0] > 0, "it is enqueued later");
	CHECK_EQUAL(times.plan.duration, times.coll.delta[0],
		    "the plan ends with it");
	CHECK(end_of(&times.group) > end_of(&times.plan),
	      "the group ends last");
}

GUEST_SCENARIO(callback_after_anything_else_has_a_time_of_its_own, LAST_API)
{
	void *other = init_comm(guest->host, "other", GUEST_RANK);
	struct call_times times = times_of_call(guest, 2, other);

	CHECK(times.group.start + times.group.delta[1] > end_of(&times.call),
	      "the program ends an explicit group when it likes");
	CHECK(times.plan.start > end_of(&times.launch),
	      "another communicator's event came between");
	host_finalize(guest->host, other);
}
