/* SPDX-License-Identifier: MIT */
/* The heartbeat of a process without a driver: it goes on for as long as the
 * process runs and has a communicator, and hurts neither the process nor its
 * children. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/clock.h"
#include "test/plugin/cuda_job.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define THREAD "ncclstat-alive"

static uint64_t alive_ns(struct view *view)
{
	view_take(view);
	return view->now.alive_ns;
}

static void expect_beats(struct view *view, const char *what)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t from_ns = ncs_clock_monotonic_ns();

		WAIT_UNTIL(alive_ns(view) >= from_ns, "%s", what);
	}
}

GUEST_SCENARIOS(a_process_has_a_heartbeat_with_each_api, 1, LAST_API)
{
	expect_beats(&guest->view, "nobody calls");
	CHECK(!cuda_job_is_watched(), "a driver");
}

/* Communicators come and go: of a finalized one nobody says that it lives, and
 * there is one thread at most. */
SCENARIO(the_heartbeat_ends_with_the_last_communicator)
{
	struct guest guest;
	struct view second;
	void *context;
	pid_t thread;

	guest_open(&guest, LAST_API);
	expect_beats(&guest.view, "the first");
	thread = find_thread(THREAD);
	CHECK(thread != 0, "no thread");
	context = init_comm(guest.host, "second", 2);
	view_open(&second, 1);
	expect_beats(&second, "the second");
	CHECK_EQUAL(find_thread(THREAD), thread, "another thread");
	CHECK(host_finalize(guest.host, guest.context) == NCCL_SUCCESS,
	      "finalize");
	expect_beats(&second, "after the first");
	CHECK(alive_ns(&guest.view) < alive_ns(&second), "it is over");
	CHECK(host_finalize(guest.host, context) == NCCL_SUCCESS, "finalize");
	WAIT_UNTIL(find_thread(THREAD) == 0, "the thread does not end");
	view_close(&second);
	init_comm(guest.host, "third", 3);
	view_open(&second, 2);
	expect_beats(&second, "a new thread");
	view_close(&second);
	view_close(&guest.view);
	host_finalize_all(guest.host);
	host_close(guest.host);
}

static uint64_t outside_code(struct view *view)
{
	view_take(view);
	return view->now.outside_code;
}

/* Most programs load such a library when they have communicators. */
SCENARIO(code_that_is_loaded_later_is_told_in_all_segments)
{
	const uint64_t calls = UINT64_C(1) << NCS_OUTSIDE_ONE_SIDED |
			       UINT64_C(1) << NCS_OUTSIDE_DEVICE_API;
	struct view second, third;
	struct guest guest;

	guest_open(&guest, LAST_API);
	init_comm(guest.host, "second", 2);
	view_open(&second, 1);
	expect_beats(&second, "before");
	CHECK_EQUAL(outside_code(&guest.view), 0, "before");
	CHECK(dlopen(NCS_NEXT "/one_sided.so", RTLD_LAZY), "%s", dlerror());
	WAIT_UNTIL(outside_code(&guest.view) == calls, "the first");
	WAIT_UNTIL(outside_code(&second) == calls, "the second");
	init_comm(guest.host, "third", 3);
	view_open(&third, 2);
	CHECK_EQUAL(outside_code(&third), calls, "the third");
	expect_beats(&third, "after");
	CHECK_EQUAL(outside_code(&third), calls, "it stays");
	view_close(&third);
	view_close(&second);
	view_close(&guest.view);
	host_finalize_all(guest.host);
	host_close(guest.host);
}

static uint64_t blocked_signals(pid_t thread)
{
	char path[64], line[256];
	uint64_t blocked = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)thread);
	file = fopen(path, "r");
	CHECK(file, "%s", path);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "SigBlk:", 7) == 0)
			blocked = strtoull(line + 7, NULL, 16);
	fclose(file);
	return blocked;
}

/* Signals of the application are delivered to its own threads only; a fault of
 * ours is, so that the application's handler tells of it. */
GUEST_SCENARIO(the_heartbeat_takes_no_signals, LAST_API)
{
	static const int signals[] = { SIGINT,	SIGTERM, SIGUSR1, SIGALRM,
				       SIGCHLD, SIGPROF, SIGABRT };
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };
	uint64_t blocked;

	WAIT_UNTIL(find_thread(THREAD) != 0, "no thread");
	blocked = blocked_signals(find_thread(THREAD));
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		CHECK(blocked >> (signals[i] - 1) & 1, "signal %d", signals[i]);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		CHECK(!(blocked >> (faults[i] - 1) & 1), "fault %d", faults[i]);
	CHECK_EQUAL(blocked_signals(getpid()), 0, "the caller's");
}

static void be_child(struct host *host)
{
	struct view view;
	char prefix[128];

	CHECK(find_thread(THREAD) == 0, "a thread");
	init_comm(host, "child", 2);
	snprintf(prefix, sizeof(prefix), "%s/ncclstat.%d.", scenario_directory,
		 (int)getpid());
	for (size_t i = 0;; i++) {
		view_open(&view, i);
		if (strncmp(ncs_reader_path(view.reader), prefix,
			    strlen(prefix)) == 0)
			break;
		view_close(&view);
	}
	expect_beats(&view, "its own");
	view_close(&view);
	exit(EXIT_SUCCESS);
}

/* Forks at any moment, also of a beat, which holds a lock. */
GUEST_SCENARIO(a_forked_child_has_a_heartbeat_of_its_own, LAST_API)
{
	expect_beats(&guest->view, "before");
	for (unsigned i = 0; i < 10; i++) {
		int status;
		pid_t pid;

		pid = scenario_fork();
		if (pid == 0)
			be_child(guest->host);
		CHECK(waitpid(pid, &status, 0) == pid && status == 0,
		      "the child failed");
	}
	expect_beats(&guest->view, "after");
}

static void live_on(void *argument)
{
	struct guest guest;

	(void)argument;
	guest_open(&guest, LAST_API);
	for (;;)
		pause();
}

/* A process that a debugger holds may have been dead as well. */
TEST(a_stopped_process_has_no_heartbeat)
{
	struct timespec long_enough = { .tv_sec = 1 };
	char why[256];
	struct view view;
	uint64_t stopped_ns;
	int status;
	pid_t pid;

	scenario_prepare();
	pid = scenario_start(live_on, NULL);
	WAIT_UNTIL(count_objects() == 1 &&
			   view_try_open(&view, 0, why, sizeof(why)),
		   "no segment");
	expect_beats(&view, "while it runs");
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	stopped_ns = ncs_clock_monotonic_ns();
	nanosleep(&long_enough, NULL);
	assert_true(alive_ns(&view) <= stopped_ns);
	kill(pid, SIGCONT);
	expect_beats(&view, "when it goes on");
	kill(pid, SIGKILL);
	scenario_expect_signal(pid, SIGKILL);
	assert_int_equal(view.now.liveness, NCS_ALIVE);
	view_take(&view);
	assert_int_equal(view.now.liveness, NCS_DEAD);
	assert_true(view.now.alive_ns > stopped_ns);
	view_close(&view);
	scenario_clean_up(LEAVES_OBJECTS);
}
