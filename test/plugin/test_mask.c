/* SPDX-License-Identifier: MIT */
/* The activation mask's kernel bit: which calls NCCL is asked to time, and that
 * none is timed if that could hang the job. Orders of events between threads
 * are checked by test/model/mask_model.py and test_threads_mask.c. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/plugin/calls.h"

#define SETTLE 1000
#define OFF_5 4031
#define ON_5 4095

/* At a period of 64, practically always more calls than there are before the
 * next window. */
#define FAR 4000

static void play_with(const char *timing, void (*play)(void *argument),
		      void *argument)
{
	setenv("NCCLSTAT_KERNEL_TIMING", timing, 1);
	scenario_play(play, argument);
	unsetenv("NCCLSTAT_KERNEL_TIMING");
}

/* Defines a cmocka test that plays a scenario with this
 * NCCLSTAT_KERNEL_TIMING. */
#define TIMING_TEST(test, timing, play) \
	static void test(void **state) \
	{ \
		(void)state; \
		play_with(timing, play, NULL); \
	}

static uint64_t mask_shown(void)
{
	struct view view;
	uint64_t mask;

	view_open(&view, 0);
	mask = ncs_reader_header(view.reader)->event_mask;
	view_close(&view);
	return mask;
}

/* --- Sampled ----------------------------------------------------------- */

static void time_few(void *argument)
{
	struct guest guest;
	unsigned timed;

	(void)argument;
	guest_open(&guest, 5);
	CHECK_EQUAL(host_mask(), OFF_5, "at first no kernels are asked for");
	expect_status(&guest, NCS_KERNEL_SAMPLED, "at first");
	CHECK_EQUAL(guest.view.now.kernel.mode, NCS_KERNEL_TIMING_SAMPLED,
		    "the requested mode");
	CHECK_EQUAL(guest.view.now.kernel.period, 64, "the period");
	timed = make_calls(&guest, guest.context, SETTLE);
	CHECK_EQUAL(timed, 0, "none is timed before all has settled");
	timed = make_calls(&guest, guest.context, 64 * 400);
	CHECK(timed > 300 && timed < 500, "of 25600 calls %u are timed", timed);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.kernel.timed_calls, timed,
		    "the number of timed calls");
	CHECK(reach_window(&guest, guest.context, FAR), "no window");
	CHECK_EQUAL(host_mask(), ON_5, "kernels and nothing else");
	CHECK_EQUAL(mask_shown(), ON_5, "the mask in the header");
	CHECK(make_call(&guest, guest.context, "AllReduce", false),
	      "this call is timed");
	while (host_mask() & CALL_MASK_KERNEL)
		make_call(&guest, guest.context, "AllReduce", false);
	CHECK_EQUAL(host_mask(), OFF_5, "the next call is not timed");
	CHECK_EQUAL(mask_shown(), OFF_5, "the mask in the header");
	expect_status(&guest, NCS_KERNEL_SAMPLED, "later");
	check_losses(&guest, "all of it", END_OF_LOSSES);
	guest_close(&guest);
	CHECK_EQUAL(host_mask(), OFF_5, "without a communicator it is off");
}

static void one_call_in_64_is_timed_by_default(void **state)
{
	(void)state;
	scenario_play(time_few, NULL);
	play_with("sampled", time_few, NULL);
	play_with("Sampled:64", time_few, NULL);
	play_with("sampled:33", time_few, NULL);
}

#define CHOICES 20000

struct choice {
	int rank;
	int to_parent;
};

static void choose(void *argument)
{
	const struct choice *choice = argument;
	struct guest guest = { .host = open_plugin(5) };
	char timed[CHOICES];

	guest.context = init_comm(guest.host, "guest", choice->rank);
	for (unsigned i = 0; i < CHOICES; i++)
		timed[i] = make_call(&guest, guest.context, "AllReduce", false);
	for (size_t done = 0; done < sizeof(timed);) {
		ssize_t n = write(choice->to_parent, timed + done,
				  sizeof(timed) - done);

		CHECK(n > 0, "the pipe broke");
		done += (size_t)n;
	}
	host_finalize(guest.host, guest.context);
	host_close(guest.host);
}

/* Reads which calls are timed from a child that writes at the same time. */
static void read_choices(const char *timing, int rank, char timed[CHOICES])
{
	struct choice choice = { .rank = rank };
	size_t done = 0;
	int ends[2];
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	choice.to_parent = ends[1];
	setenv("NCCLSTAT_KERNEL_TIMING", timing, 1);
	scenario_prepare();
	pid = scenario_start(choose, &choice);
	close(ends[1]);
	while (done < CHOICES &&
	       (n = read(ends[0], timed + done, CHOICES - done)) > 0)
		done += (size_t)n;
	close(ends[0]);
	scenario_expect_success(pid);
	scenario_clean_up(LEAVES_NOTHING);
	unsetenv("NCCLSTAT_KERNEL_TIMING");
	assert_int_equal(done, CHOICES);
}

static void all_ranks_time_the_same_calls_and_rates_nest(void **state)
{
	static char first[CHOICES], other[CHOICES], more[CHOICES];
	unsigned longest = 0, gap = 0;

	(void)state;
	read_choices("sampled:64", 0, first);
	read_choices("sampled:64", 3, other);
	assert_memory_equal(first, other, CHOICES);
	read_choices("sampled:8", 0, more);
	for (unsigned i = 0; i < CHOICES; i++) {
		if (first[i] && !more[i])
			fail_msg("call %u is timed at 1 in 64 only", i);
		gap = first[i] || i < SETTLE ? 0 : gap + 1;
		if (gap > longest)
			longest = gap;
	}
	/* Timing exactly every 64th call would always hit the same calls of a
	 * periodic job. */
	assert_true(longest > 100);
}

static void time_every_one(void *argument)
{
	struct guest guest;

	(void)argument;
	guest_open(&guest, 5);
	make_calls(&guest, guest.context, SETTLE);
	CHECK_EQUAL(make_calls(&guest, guest.context, 100), 100, "each");
	guest_close(&guest);
	CHECK_EQUAL(host_mask(), OFF_5, "off again without a communicator");
}

TIMING_TEST(sampling_one_call_in_one_times_every_call, "sampled:1",
	    time_every_one)

struct constant {
	enum ncs_kernel_status status;
	int api;
};

static void be_constant(void *argument)
{
	const struct constant *facts = argument;
	bool on = facts->status == NCS_KERNEL_ALWAYS;
	struct guest guest;
	void *second;

	guest_open(&guest, facts->api);
	expect_status(&guest, facts->status, "at first");
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQUAL(make_calls(&guest, guest.context, 2 * SETTLE),
			    on ? 2 * SETTLE : 0, "constant");
		make_call(&guest, guest.context, "Broadcast", false);
		CHECK_EQUAL(make_calls(&guest, guest.context, 10), on ? 10 : 0,
			    "after a Broadcast");
		make_call(&guest, guest.context, "Send", false);
		CHECK_EQUAL(make_calls(&guest, guest.context, 10), on ? 10 : 0,
			    "after a Send");
		CHECK_EQUAL(make_call(&guest, guest.context, "AllReduce", true),
			    on, "captured or not");
		second = init_comm(guest.host, "second", 2);
		CHECK_EQUAL(make_calls(&guest, second, 10), on ? 10 : 0,
			    "a second one");
		expect_status(&guest, facts->status, "with a second one");
		host_finalize(guest.host, second);
	}
	CHECK_EQUAL(guest.view.now.kernel.period, 0, "no such thing");
	CHECK_EQUAL(on ? guest.view.now.kernel.captured_on :
			 guest.view.now.kernel.captured_off,
		    3, "the number of captured calls");
	guest_close(&guest);
	guest_open(&guest, facts->api);
	CHECK_EQUAL(make_calls(&guest, guest.context, 10), on ? 10 : 0,
		    "after all are gone");
	guest_close(&guest);
}

static void off_and_always_never_change(void **state)
{
	struct constant facts;

	(void)state;
	for (facts.api = 5; facts.api <= 7; facts.api++) {
		facts.status = NCS_KERNEL_OFF;
		play_with("off", be_constant, &facts);
		facts.status = NCS_KERNEL_ALWAYS;
		play_with("always", be_constant, &facts);
	}
}

/* --- Releases ---------------------------------------------------------- */

static void be_unable(void *argument)
{
	int api = *(const int *)argument;
	struct guest guest;

	guest_open(&guest, api);
	expect_status(&guest, NCS_KERNEL_RELEASE, "of this release");
	if (api >= 5)
		CHECK_EQUAL(make_calls(&guest, guest.context, 2 * SETTLE), 0,
			    "NCCL would wait for works that it did not count");
	CHECK(!(host_mask() & CALL_MASK_KERNEL), "no kernels");
	guest_close(&guest);
}

static void releases_that_cannot_time_single_calls_are_not_asked(void **state)
{
	static const int unable[] = { 1, 2, 3, 4, 7 };

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		int api = unable[i];

		play_with("sampled:1", be_unable, &api);
		play_with("sampled:auto", be_unable, &api);
	}
}

/* --- Groups ------------------------------------------------------------ */

static void group_calls(void *argument)
{
	static const struct call calls[] = {
		{ .func = "AllReduce" },
		{ .func = "AllGather" },
		{ .func = "ReduceScatter" },
	};
	struct guest guest;
	unsigned timed = 0;
	int masks[3];

	(void)argument;
	guest_open(&guest, 5);
	for (unsigned i = 0; i < FAR; i++) {
		make_group(&guest, guest.context, calls, 3, masks);
		CHECK(masks[0] == masks[1] && masks[1] == masks[2],
		      "NCCL joins calls of a group: all or none are timed");
		timed += (masks[0] & CALL_MASK_KERNEL) != 0;
	}
	CHECK(timed > 200, "only %u groups of 4000 at 1 in 8", timed);
	guest_close(&guest);
}

TIMING_TEST(group_is_timed_as_a_whole, "sampled:8", group_calls)

/* --- Graphs ------------------------------------------------------------ */

static void check_frozen(struct guest *guest, bool on, const char *when)
{
	unsigned expected = on ? 3 * SETTLE : 0;
	void *second;

	CHECK_EQUAL(make_calls(guest, guest->context, 3 * SETTLE), expected,
		    when);
	second = init_comm(guest->host, "second", 2);
	CHECK_EQUAL(make_calls(guest, second, 3 * SETTLE), expected, when);
	CHECK_EQUAL(make_calls(guest, guest->context, 3 * SETTLE), expected,
		    when);
	host_finalize(guest->host, second);
	CHECK_EQUAL(make_calls(guest, guest->context, 3 * SETTLE), expected,
		    when);
	CHECK_EQUAL(make_call(guest, guest->context, "AllReduce", true), on,
		    when);
}

static void capture_off(void *argument)
{
	struct guest guest;

	(void)argument;
	guest_open(&guest, 5);
	make_calls(&guest, guest.context, SETTLE / 2);
	CHECK(!make_call(&guest, guest.context, "AllReduce", true), "off");
	expect_status(&guest, NCS_KERNEL_GRAPH_OFF, "captured");
	check_frozen(&guest, false, "a call that was not timed was captured");
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.kernel.captured_on, 0, "none");
	CHECK_EQUAL(guest.view.now.kernel.captured_off, 2, "two");
	guest_close(&guest);
	guest_open(&guest, 5);
	expect_status(&guest, NCS_KERNEL_GRAPH_OFF, "another communicator");
	check_frozen(&guest, false, "for the life of the process");
	guest_close(&guest);
}

TIMING_TEST(capturing_an_untimed_call_ends_timing_for_good, "sampled:1",
	    capture_off)

static void capture_on(void *argument)
{
	struct guest guest;

	(void)argument;
	guest_open(&guest, 5);
	CHECK(reach_window(&guest, guest.context, FAR), "no window");
	CHECK(make_call(&guest, guest.context, "AllReduce", true), "on");
	expect_status(&guest, NCS_KERNEL_GRAPH_ON, "captured");
	check_frozen(&guest, true, "a call that is timed was captured");
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.kernel.captured_on, 2, "two");
	CHECK_EQUAL(guest.view.now.kernel.captured_off, 0, "none");
	guest_close(&guest);
	guest_open(&guest, 5);
	expect_status(&guest, NCS_KERNEL_GRAPH_ON, "another communicator");
	check_frozen(&guest, true, "for the life of the process");
	guest_close(&guest);
}

TIMING_TEST(capturing_a_timed_call_times_all_later_calls, "sampled", capture_on)

/* A graph is captured in a group, whose first call is captured. */
static void capture_group(void *argument)
{
	static const struct call calls[] = {
		{ .func = "AllReduce", .captured = true },
		{ .func = "AllGather", .captured = true },
	};
	struct guest guest;
	int masks[2];

	(void)argument;
	guest_open(&guest, 5);
	CHECK(reach_window(&guest, guest.context, FAR), "no window");
	make_group(&guest, guest.context, calls, 2, masks);
	CHECK(masks[0] & masks[1] & CALL_MASK_KERNEL, "both are timed");
	check_frozen(&guest, true, "a group was captured");
	guest_close(&guest);
}

TIMING_TEST(captured_group_is_timed_as_a_whole_or_not, "sampled", capture_group)

/* --- Several communicators --------------------------------------------- */

static void have_two(void *argument)
{
	struct guest guest;
	void *second;

	(void)argument;
	guest_open(&guest, 5);
	make_calls(&guest, guest.context, SETTLE / 2);
	second = init_comm(guest.host, "second", 2);
	expect_status(&guest, NCS_KERNEL_SEVERAL, "two");
	CHECK_EQUAL(make_calls(&guest, guest.context, 3 * SETTLE), 0, "two");
	CHECK_EQUAL(make_calls(&guest, second, 3 * SETTLE), 0, "two");
	host_finalize(guest.host, guest.context);
	CHECK_EQUAL(make_calls(&guest, second, SETTLE), SETTLE - 1,
		    "one is left, and it has settled long since");
	host_finalize(guest.host, second);
	view_close(&guest.view);
	host_close(guest.host);
}

TIMING_TEST(no_call_is_timed_with_two_communicators, "sampled:1", have_two)

static void settle_again(void *argument)
{
	struct guest guest;
	void *second;

	(void)argument;
	guest_open(&guest, 5);
	make_calls(&guest, guest.context, SETTLE / 2);
	second = init_comm(guest.host, "second", 2);
	host_finalize(guest.host, second);
	CHECK_EQUAL(make_calls(&guest, guest.context, SETTLE), 0,
		    "another one may follow");
	CHECK_EQUAL(make_calls(&guest, guest.context, 10), 10, "settled");
	expect_status(&guest, NCS_KERNEL_SAMPLED, "one again");
	guest_close(&guest);
}

TIMING_TEST(timing_settles_anew_after_each_communicator, "sampled:1",
	    settle_again)

/* The thread that initialises the second communicator is the one that would
 * close the window. */
static void linger(void *argument)
{
	bool capture = *(const bool *)argument;
	struct guest guest;
	void *second;

	guest_open(&guest, 5);
	CHECK(reach_window(&guest, guest.context, FAR), "no window");
	second = init_comm(guest.host, "second", 2);
	expect_status(&guest, NCS_KERNEL_LINGERING, "a window is open");
	CHECK_EQUAL(mask_shown(), ON_5, "the mask in the header");
	CHECK_EQUAL(make_calls(&guest, guest.context, 3 * SETTLE), 3 * SETTLE,
		    "the window stays open for both");
	CHECK_EQUAL(make_calls(&guest, second, 10), 10, "nor for the other");
	if (capture) {
		CHECK(make_call(&guest, second, "AllReduce", true), "on");
		expect_status(&guest, NCS_KERNEL_GRAPH_ON, "captured");
	}
	host_finalize(guest.host, second);
	CHECK(make_call(&guest, guest.context, "AllReduce", false), "read on");
	if (capture) {
		check_frozen(&guest, true, "captured by the second");
	} else {
		CHECK(!make_call(&guest, guest.context, "AllReduce", false),
		      "one is left, which can close it");
		expect_status(&guest, NCS_KERNEL_SAMPLED, "one again");
	}
	guest_close(&guest);
}

static void window_open_at_a_second_init_stays_open(void **state)
{
	static const bool no = false, yes = true;
	bool capture;

	(void)state;
	capture = no;
	play_with("sampled", linger, &capture);
	capture = yes;
	play_with("sampled", linger, &capture);
}

/* Makes a call while the second communicator is being initialised. */
static void *call_meanwhile(void *argument)
{
	const struct timespec pause = { 0, 3000000 };
	struct guest *guest = argument;

	nanosleep(&pause, NULL);
	make_call(guest, guest->context, "AllReduce", false);
	return NULL;
}

/* The thread may be too slow; then the mask stays as the status says. */
static bool close_once(struct guest *guest)
{
	pthread_t thread;
	bool closed;
	void *second;

	CHECK(reach_window(guest, guest->context, FAR), "no window");
	CHECK(pthread_create(&thread, NULL, call_meanwhile, guest) == 0,
	      "no thread");
	second = init_comm(guest->host, "second", 2);
	closed = status_of(&guest->view) == NCS_KERNEL_SEVERAL;
	pthread_join(thread, NULL);
	CHECK_EQUAL(make_calls(guest, second, 10), closed ? 0 : 10,
		    "as the status says");
	host_finalize(guest->host, second);
	return closed;
}

static void close_meanwhile(void *argument)
{
	struct guest guest;
	unsigned tries = 0;

	(void)argument;
	guest_open(&guest, 5);
	while (!close_once(&guest))
		CHECK(++tries < 30, "the window is never closed");
	guest_close(&guest);
}

TIMING_TEST(second_init_lets_the_first_close_its_window, "sampled",
	    close_meanwhile)

/* --- Unpublished communicators ----------------------------------------- */

/* Initialises a communicator that cannot be published, as there is no file
 * descriptor. */
static void *init_unseen(struct guest *guest)
{
	size_t before = count_objects();
	struct rlimit limit, none;
	void *context;

	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
	none = limit;
	none.rlim_cur = 0;
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
	context = init_comm(guest->host, "unseen", 2);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
	CHECK_EQUAL(count_objects(), before, "the communicator was published");
	return context;
}

static void be_blind(void *argument)
{
	bool in_window = *(const bool *)argument;
	struct guest guest;
	void *unseen;

	guest_open(&guest, 5);
	make_calls(&guest, guest.context, SETTLE / 2);
	if (in_window)
		CHECK(reach_window(&guest, guest.context, FAR), "no window");
	unseen = init_unseen(&guest);
	expect_status(&guest,
		      in_window ? NCS_KERNEL_LINGERING : NCS_KERNEL_BLIND,
		      "one is not seen");
	CHECK_EQUAL(make_calls(&guest, guest.context, 3 * SETTLE),
		    in_window ? 3 * SETTLE : 0,
		    "captures by the other are not seen");
	host_finalize(guest.host, unseen);
	CHECK_EQUAL(make_calls(&guest, guest.context, 3 * SETTLE),
		    in_window ? 3 * SETTLE : 0, "timing stays as it was");
	guest_close(&guest);
}

static void unpublished_communicator_prevents_switching(void **state)
{
	bool in_window;

	(void)state;
	for (int i = 0; i < 2; i++) {
		in_window = i;
		play_with("sampled", be_blind, &in_window);
	}
}

static void be_blind_first(void *argument)
{
	struct guest guest = { .host = open_plugin(5) };

	(void)argument;
	init_unseen(&guest);
	CHECK_EQUAL(host_mask(), 0, "nothing is asked for");
	guest.context = init_comm(guest.host, "guest", GUEST_RANK);
	view_open(&guest.view, 0);
	CHECK_EQUAL(host_mask(), OFF_5, "the other may have captured a call");
	expect_status(&guest, NCS_KERNEL_BLIND, "one is not seen");
	guest_close(&guest);
}

TIMING_TEST(unpublished_first_communicator_prevents_timing_all, "always",
	    be_blind_first)

static void have_two_libraries(void *argument)
{
	const char *path = NCS_PLUGIN_PATH;
	const struct nccl_profiler_v5 *table;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *second;
	int mask = 0;
	struct guest guest;

	(void)argument;
	CHECK(library, "%s", dlerror());
	table = dlsym(library, "ncclProfiler_v5");
	guest_open(&guest, 5);
	CHECK(table->init(&second, 1, &mask, "second", 1, 2, 0, host_logger) ==
		      NCCL_SUCCESS,
	      "init never fails");
	CHECK_EQUAL(mask, OFF_5, "the second NCCL has its own mask");
	expect_status(&guest, NCS_KERNEL_BLIND, "two");
	CHECK_EQUAL(make_calls(&guest, guest.context, 3 * SETTLE), 0, "two");
	table->finalize(second);
	CHECK_EQUAL(make_calls(&guest, guest.context, 3 * SETTLE), 0, "ever");
	CHECK_EQUAL(mask, OFF_5, "the second mask stays as it is");
	guest_close(&guest);
}

TIMING_TEST(second_copy_of_nccl_prevents_switching, "sampled:1",
	    have_two_libraries)

static void let_go(void *argument)
{
	struct host_event group = { .type = NCCL_EVENT_GROUP_API, .depth = 1 };
	struct host_event call = {
		.type = NCCL_EVENT_COLL_API,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
	};
	struct guest guest;
	void *handle, *called;

	(void)argument;
	guest_open(&guest, 5);
	make_calls(&guest, guest.context, SETTLE - 1);
	/* The communicator is aborted in the middle of the call that would open
	 * a window. */
	handle = start(&guest, &group);
	called = start(&guest, &call);
	host_finalize(guest.host, guest.context);
	guest.context = init_comm(guest.host, "next", 1);
	stop(&guest, called);
	stop(&guest, handle);
	CHECK_EQUAL(host_mask(), OFF_5,
		    "the window is no longer the aborted one's");
	CHECK_EQUAL(make_calls(&guest, guest.context, SETTLE), 0, "settles");
	host_finalize(guest.host, guest.context);
	view_close(&guest.view);
	host_close(guest.host);
}

TIMING_TEST(aborted_communicator_switches_nothing, "sampled:1", let_go)

static void fork_in_window(void *argument)
{
	struct guest guest;
	int status;
	pid_t pid;

	(void)argument;
	guest_open(&guest, 5);
	CHECK(reach_window(&guest, guest.context, FAR), "no window");
	pid = fork();
	CHECK(pid >= 0, "fork");
	if (pid == 0) {
		struct guest child = { .host = open_plugin(5) };

		child.context = init_comm(child.host, "child", 1);
		CHECK_EQUAL(host_mask(), OFF_5, "the child begins anew");
		CHECK_EQUAL(make_calls(&child, child.context, SETTLE), 0,
			    "no call is timed before it settles");
		CHECK(reach_window(&child, child.context, FAR), "no window");
		host_finalize(child.host, child.context);
		exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "the child");
	CHECK(make_call(&guest, guest.context, "AllReduce", false),
	      "the parent goes on");
	guest_close(&guest);
}

TIMING_TEST(forked_child_starts_afresh, "sampled", fork_in_window)

/* --- Calls that NCCL does not count ------------------------------------ */

static void send(void *argument)
{
	bool in_window = *(const bool *)argument;
	static const struct call calls[] = {
		{ .func = "Send" },
		{ .func = "Recv" },
	};
	struct guest guest;
	int masks[2];

	guest_open(&guest, 5);
	make_calls(&guest, guest.context, SETTLE / 2);
	if (in_window)
		CHECK(reach_window(&guest, guest.context, FAR), "no window");
	make_group(&guest, guest.context, calls, 2, masks);
	CHECK_EQUAL(masks[0], in_window ? ON_5 : OFF_5, "timed as before");
	CHECK_EQUAL(masks[1], masks[0], "a Recv may be joined to the Send");
	expect_status(&guest, NCS_KERNEL_P2P, "from point to point");
	check_frozen(&guest, false, "it may have been to oneself");
	expect_status(&guest, NCS_KERNEL_P2P, "the first reason stays");
	guest_close(&guest);
}

static void point_to_point_call_ends_timing(void **state)
{
	bool in_window;

	(void)state;
	for (int i = 0; i < 2; i++) {
		in_window = i;
		play_with("sampled", send, &in_window);
	}
}

struct broadcast {
	int api;
	bool in_window;
	bool ends;
};

static void broadcast(void *argument)
{
	const struct broadcast *facts = argument;
	struct guest guest;

	guest_open(&guest, facts->api);
	make_calls(&guest, guest.context, SETTLE / 2);
	if (facts->in_window)
		CHECK(reach_window(&guest, guest.context, FAR), "no window");
	CHECK_EQUAL(make_call(&guest, guest.context, "Broadcast", false),
		    facts->in_window, "timed as before");
	expect_status(&guest,
		      facts->ends ? NCS_KERNEL_BROADCAST : NCS_KERNEL_SAMPLED,
		      "a Broadcast");
	if (facts->ends)
		check_frozen(&guest, false, "NCCL may not have counted it");
	else
		CHECK(reach_window(&guest, guest.context, FAR), "no window");
	guest_close(&guest);
}

static void broadcast_ends_timing_if_nccl_does_not_count_it(void **state)
{
	struct broadcast facts;

	(void)state;
	for (int i = 0; i < 2; i++) {
		facts = (struct broadcast){ .api = 5, .in_window = i };
		play_with("sampled", broadcast, &facts);
		facts.api = 6;
		facts.ends = true;
		play_with("sampled", broadcast, &facts);
		setenv("NCCL_ALLGATHERV_ENABLE", "1", 1);
		play_with("sampled", broadcast, &facts);
		setenv("NCCL_ALLGATHERV_ENABLE", "0", 1);
		facts.ends = false;
		play_with("sampled", broadcast, &facts);
		unsetenv("NCCL_ALLGATHERV_ENABLE");
	}
}

/* In a group, NCCL launches Sends after Broadcasts. */
static void send_and_broadcast(void *argument)
{
	static const struct call calls[] = {
		{ .func = "Send" },
		{ .func = "Broadcast" },
		{ .func = "Recv" },
	};
	struct guest guest;
	int masks[3];

	(void)argument;
	guest_open(&guest, 6);
	CHECK(reach_window(&guest, guest.context, FAR), "no window");
	make_group(&guest, guest.context, calls, 3, masks);
	CHECK(masks[0] & masks[1] & masks[2] & CALL_MASK_KERNEL, "all timed");
	expect_status(&guest, NCS_KERNEL_LINGERING, "the Send is timed");
	check_frozen(&guest, true, "it waits for works that are timed");
	guest_close(&guest);
}

TIMING_TEST(timed_send_beside_a_broadcast_leaves_timing_on, "sampled",
	    send_and_broadcast)

static void broadcast_and_receive(void *argument)
{
	static const struct call calls[] = {
		{ .func = "AllReduce" },
		{ .func = "Broadcast" },
		{ .func = "Recv" },
		{ .func = "Send" },
	};
	struct guest guest;
	int masks[4];

	(void)argument;
	guest_open(&guest, 6);
	CHECK(reach_window(&guest, guest.context, FAR), "no window");
	make_group(&guest, guest.context, calls, 4, masks);
	CHECK(masks[0] & masks[1] & CALL_MASK_KERNEL, "the window was open");
	CHECK(!((masks[2] | masks[3]) & CALL_MASK_KERNEL),
	      "these follow operations that are not counted");
	check_frozen(&guest, false, "never again");
	guest_close(&guest);
}

TIMING_TEST(broadcast_closes_its_window_immediately, "sampled",
	    broadcast_and_receive)

/* --- The promise ------------------------------------------------------- */

struct promise {
	int api;
	bool kept; /* whether the test keeps it */
};

static void promise(void *argument)
{
	const struct promise *facts = argument;
	unsigned timed[2] = { 0, 0 };
	struct guest guest;
	void *second;

	guest_open(&guest, facts->api);
	second = init_comm(guest.host, "second", 2);
	expect_status(&guest,
		      facts->kept ? NCS_KERNEL_SAMPLED : NCS_KERNEL_SEVERAL,
		      "two communicators");
	for (unsigned i = 0; i < 4 * SETTLE; i++) {
		timed[0] += make_calls(&guest, guest.context, 1);
		timed[1] += make_calls(&guest, second, 1);
	}
	if (facts->kept)
		CHECK(timed[0] > 0 && timed[1] > 0, "%u and %u are timed",
		      timed[0], timed[1]);
	else
		CHECK_EQUAL(timed[0] + timed[1], 0, "none is timed");
	/* If the promise is broken in a window, timing ends immediately. */
	if (facts->kept)
		CHECK(reach_window(&guest, second, FAR), "no window");
	make_call(&guest, second, "AllReduce", true);
	expect_status(&guest,
		      facts->kept ? NCS_KERNEL_BROKEN_PROMISE :
				    NCS_KERNEL_GRAPH_OFF,
		      "captured nevertheless");
	check_frozen(&guest, false, "captured nevertheless");
	host_finalize(guest.host, second);
	guest_close(&guest);
}

static void promise_of_no_graphs_allows_several_communicators(void **state)
{
	struct promise facts = { .api = 5, .kept = true };

	(void)state;
	setenv("NCCLSTAT_NO_GRAPHS", "1", 1);
	play_with("sampled:16", promise, &facts);
	/* The promise does not cover Broadcasts. */
	facts.api = 6;
	facts.kept = false;
	play_with("sampled:16", promise, &facts);
	setenv("NCCL_ALLGATHERV_ENABLE", "0", 1);
	facts.kept = true;
	play_with("sampled:16", promise, &facts);
	unsetenv("NCCL_ALLGATHERV_ENABLE");
	setenv("NCCLSTAT_NO_GRAPHS", "0", 1);
	facts.api = 5;
	facts.kept = false;
	play_with("sampled:16", promise, &facts);
	unsetenv("NCCLSTAT_NO_GRAPHS");
}

/* --- Masks set by others ----------------------------------------------- */

static void be_overruled(void *argument)
{
	static const int foreign[] = { 0, 1, 0xffff, 0x100 };
	bool in_window = *(const bool *)argument;
	struct guest guest;
	void *second;

	guest_open(&guest, 6);
	make_calls(&guest, guest.context, SETTLE / 2);
	if (in_window)
		CHECK(reach_window(&guest, guest.context, FAR), "no window");
	for (unsigned i = 0; i < 4; i++) {
		host_set_mask(foreign[i]);
		make_calls(&guest, guest.context, 3 * SETTLE);
		CHECK_EQUAL(host_mask(), foreign[i],
			    "another writer's mask is left alone");
		expect_status(&guest, NCS_KERNEL_FOREIGN, "set by others");
		CHECK_EQUAL(mask_shown(), (uint64_t)foreign[i],
			    "the mask is shown");
	}
	second = init_comm(guest.host, "second", 2);
	CHECK_EQUAL(host_mask(), foreign[3], "also by an init");
	make_calls(&guest, second, 10);
	host_finalize(guest.host, guest.context);
	host_finalize(guest.host, second);
	CHECK_EQUAL(host_mask(), foreign[3], "also by the last finalize");
	view_close(&guest.view);
	host_close(guest.host);
}

static void mask_set_by_others_is_left_alone(void **state)
{
	bool in_window;

	(void)state;
	for (int i = 0; i < 2; i++) {
		in_window = i;
		play_with("sampled", be_overruled, &in_window);
	}
	in_window = false;
	play_with("always", be_overruled, &in_window);
	play_with("off", be_overruled, &in_window);
}

/* The mask is set to the value that the plugin would have set a moment
 * later. */
static void be_overruled_alike(void *argument)
{
	struct guest guest;

	(void)argument;
	guest_open(&guest, 5);
	CHECK(reach_window(&guest, guest.context, FAR), "no window");
	host_set_mask(OFF_5);
	make_call(&guest, guest.context, "AllReduce", false);
	expect_status(&guest, NCS_KERNEL_FOREIGN,
		      "the mask read for this call is unknown");
	CHECK_EQUAL(make_calls(&guest, guest.context, 3 * SETTLE), 0, "never");
	guest_close(&guest);
}

TIMING_TEST(mask_set_by_others_to_one_of_ours_is_left_alone, "sampled",
	    be_overruled_alike)

/* --- The rate ---------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

/* Makes as many calls as possible for two seconds: about ten thousand times the
 * budget. */
static void hurry(void *argument)
{
	uint64_t begin = now_ns(), calls = 0;
	struct guest guest;
	double rate;

	(void)argument;
	guest_open(&guest, 5);
	expect_status(&guest, NCS_KERNEL_SAMPLED, "at first");
	CHECK_EQUAL(guest.view.now.kernel.period, 64, "to begin with");
	while (now_ns() - begin < UINT64_C(2100000000)) {
		make_calls(&guest, guest.context, 1000);
		calls += 1000;
	}
	rate = (double)calls * 1e9 / (double)(now_ns() - begin);
	view_take(&guest.view);
	/* No kernel was reported, so the known cost of a timed call is 0; until
	 * enough calls were timed, the plugin assumes 32 channels. */
	CHECK(guest.view.now.kernel.timed_calls > 0 || rate < 1e5,
	      "none was timed");
	CHECK_EQUAL(guest.view.now.kernel.period, 1,
		    "calls without a cost are always timed");
	guest_close(&guest);
}

/* Makes calls at the same rate, with 8 kernel channels for each timed call. */
static void hurry_with_kernels(void *argument)
{
	uint64_t begin = now_ns(), calls = 0;
	struct guest guest;
	double added;

	(void)argument;
	guest_open(&guest, 5);
	while (now_ns() - begin < UINT64_C(2100000000)) {
		if (make_call(&guest, guest.context, "AllReduce", false)) {
			void *coll = start_coll(&guest, calls, 1);

			for (unsigned i = 0; i < 8; i++)
				stop(&guest, start_kernel(&guest, coll, i, 0));
			stop(&guest, coll);
		}
		calls++;
	}
	added = (double)calls * 8 * 1e9 / (double)(now_ns() - begin);
	view_take(&guest.view);
	added /= (double)guest.view.now.kernel.period;
	/* The rate varied while it was measured, so allow for a factor. */
	CHECK(added < 4000, "%g proxy operations a second are added", added);
	CHECK(added > 100 || guest.view.now.kernel.period == 1,
	      "%g proxy operations a second are added", added);
	guest_close(&guest);
}

static void period_follows_the_rate_of_calls(void **state)
{
	(void)state;
	play_with("sampled:auto", hurry, NULL);
	play_with("sampled:auto", hurry_with_kernels, NULL);
}

/* --- The GPU's clock --------------------------------------------------- */

#define GPU_AHEAD UINT64_C(123456789012345)

/* A GPU whose clock is ahead of the host's and runs fast. */
static void run_kernel(struct guest *guest, uint64_t number)
{
	void *launch, *coll, *kernel;
	uint64_t gpu;

	launch = start_type(guest, NCCL_EVENT_KERNEL_LAUNCH, NULL);
	stop(guest, launch);
	gpu = now_ns() + GPU_AHEAD;
	coll = start_coll(guest, number, 1);
	stop(guest, coll);
	kernel = start_kernel(guest, coll, 0, gpu - gpu % 32);
	gpu = now_ns() + GPU_AHEAD + 32;
	record_timer(guest, kernel, NCCL_STATE_KERNEL_CH_STOP, gpu - gpu % 32);
	let_time_pass();
	stop(guest, kernel);
}

static void learn_clock(void *argument)
{
	uint64_t begin = now_ns(), number = 0;
	const struct ncs_gpu_clock_view *clock;
	void *coll, *kernel;
	struct guest guest;
	int64_t wrong;

	(void)argument;
	guest_open(&guest, 5);
	clock = &guest.view.now.gpu_clock;
	CHECK(!clock->known, "nothing was timed yet");
	while (now_ns() - begin < UINT64_C(300000000))
		run_kernel(&guest, number++);
	view_take(&guest.view);
	CHECK(clock->known, "after %llu kernels", (unsigned long long)number);
	wrong = clock->offset_ns - (int64_t)GPU_AHEAD;
	/* Both clocks are the same, so the bounds hold up to the error of the
	 * plugin's own clock. */
	CHECK((uint64_t)llabs(wrong) <= clock->error_ns + 100000,
	      "offset wrong by %lld ns, known to %llu", (long long)wrong,
	      (unsigned long long)clock->error_ns);
	CHECK(clock->quantum_ns % 32 == 0 && clock->quantum_ns < 4096,
	      "the quantum is %llu", (unsigned long long)clock->quantum_ns);
	check_losses(&guest, "good times", END_OF_LOSSES);
	/* A time that belongs to another operation. */
	coll = start_coll(&guest, number, 1);
	kernel = start_kernel(&guest, coll, 0,
			      now_ns() + GPU_AHEAD - UINT64_C(2000000000));
	record_timer(&guest, kernel, NCCL_STATE_KERNEL_CH_STOP,
		     now_ns() + GPU_AHEAD - UINT64_C(1999999000));
	stop(&guest, kernel);
	check_losses(&guest, "two seconds early", NCS_LOSS_BAD_PTIMER, 1,
		     END_OF_LOSSES);
	guest_close(&guest);
}

SCENARIO_TEST(gpu_clock_is_learnt_and_gpu_times_are_checked_against_it,
	      learn_clock)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_call_in_64_is_timed_by_default),
		cmocka_unit_test(all_ranks_time_the_same_calls_and_rates_nest),
		cmocka_unit_test(sampling_one_call_in_one_times_every_call),
		cmocka_unit_test(off_and_always_never_change),
		cmocka_unit_test(
			releases_that_cannot_time_single_calls_are_not_asked),
		cmocka_unit_test(group_is_timed_as_a_whole),
		cmocka_unit_test(
			capturing_an_untimed_call_ends_timing_for_good),
		cmocka_unit_test(capturing_a_timed_call_times_all_later_calls),
		cmocka_unit_test(captured_group_is_timed_as_a_whole_or_not),
		cmocka_unit_test(no_call_is_timed_with_two_communicators),
		cmocka_unit_test(timing_settles_anew_after_each_communicator),
		cmocka_unit_test(window_open_at_a_second_init_stays_open),
		cmocka_unit_test(second_init_lets_the_first_close_its_window),
		cmocka_unit_test(unpublished_communicator_prevents_switching),
		cmocka_unit_test(
			unpublished_first_communicator_prevents_timing_all),
		cmocka_unit_test(second_copy_of_nccl_prevents_switching),
		cmocka_unit_test(aborted_communicator_switches_nothing),
		cmocka_unit_test(forked_child_starts_afresh),
		cmocka_unit_test(point_to_point_call_ends_timing),
		cmocka_unit_test(
			broadcast_ends_timing_if_nccl_does_not_count_it),
		cmocka_unit_test(
			timed_send_beside_a_broadcast_leaves_timing_on),
		cmocka_unit_test(broadcast_closes_its_window_immediately),
		cmocka_unit_test(
			promise_of_no_graphs_allows_several_communicators),
		cmocka_unit_test(mask_set_by_others_is_left_alone),
		cmocka_unit_test(
			mask_set_by_others_to_one_of_ours_is_left_alone),
		cmocka_unit_test(period_follows_the_rate_of_calls),
		cmocka_unit_test(
			gpu_clock_is_learnt_and_gpu_times_are_checked_against_it),
	};

	return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
