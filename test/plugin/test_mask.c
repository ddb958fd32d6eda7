/* SPDX-License-Identifier: MIT */
/* The activation mask: kernel timing is decided before there is a communicator
 * and stays as it is, whatever the job does; a mask that somebody else has set
 * is left alone. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test/plugin/calls.h"

#include "ncclstat/abi_header.h"
#include "test/unit/support/unit.h"

#define OFF_5 4031
#define ON_5 4095

static void play_with(const char *timing, void (*play)(void *argument),
		      void *argument)
{
	setenv("NCCLSTAT_KERNEL_TIMING", timing, 1);
	scenario_play(play, argument);
	unsetenv("NCCLSTAT_KERNEL_TIMING");
}

/* Begins the scenario of a test with this NCCLSTAT_KERNEL_TIMING, whose statements
 * follow in braces. */
#define TIMING_SCENARIO(test, timing) \
	static void test##_plays(void *argument); \
	TEST(test) \
	{ \
		play_with(timing, test##_plays, NULL); \
	} \
	static void test##_plays(__attribute__((unused)) void *argument)

static uint64_t mask_shown(void)
{
	struct view view;
	uint64_t mask;

	view_open(&view, 0);
	mask = ncs_reader_header(view.reader)->event_mask;
	view_close(&view);
	return mask;
}

/* --- Off and always ---------------------------------------------------- */

struct constant {
	int api;
	bool on;
};

/* Makes calls of all kinds by which NCCL's counts and the GPU's differ. */
static void count_differently(struct guest *guest, void *context)
{
	static const struct call calls[] = {
		{ .func = "Broadcast" },
		{ .func = "Send" },
		{ .func = "Recv" },
		{ .func = "AllReduce", .captured = true },
	};
	int masks[4];

	for (unsigned i = 0; i < 4; i++)
		make_group(guest, context, &calls[i], 1, masks);
	make_group(guest, context, calls, 3, masks);
}

static void be_constant(void *argument)
{
	const struct constant *facts = argument;
	unsigned timed = facts->on ? 10 : 0;
	struct guest guest;
	void *second;
	int mask;

	guest_open(&guest, facts->api);
	mask = host_mask();
	CHECK_EQUAL((mask & CALL_MASK_KERNEL) != 0, facts->on, "as asked for");
	expect_status(&guest, facts->on ? NCS_KERNEL_ALWAYS : NCS_KERNEL_OFF,
		      "at first");
	CHECK_EQUAL(guest.view.now.kernel.mode,
		    facts->on ? NCS_KERNEL_TIMING_ALWAYS :
				NCS_KERNEL_TIMING_OFF,
		    "what was asked for");
	CHECK_EQUAL(guest.view.now.kernel.period, 0, "no single calls");
	CHECK_EQUAL(make_calls(&guest, guest.context, 10), timed, "calls");
	count_differently(&guest, guest.context);
	second = init_comm(guest.host, "second", 2);
	CHECK_EQUAL(host_mask(), mask, "with two communicators");
	count_differently(&guest, second);
	CHECK_EQUAL(make_calls(&guest, second, 10), timed, "the second's");
	host_finalize(guest.host, second);
	CHECK_EQUAL(make_calls(&guest, guest.context, 10), timed, "with one");
	expect_status(&guest, facts->on ? NCS_KERNEL_ALWAYS : NCS_KERNEL_OFF,
		      "at last");
	CHECK_EQUAL(host_mask(), mask, "nothing has changed");
	CHECK_EQUAL(mask_shown(), (uint64_t)mask, "the mask in the header");
	check_losses(&guest, "all of it", END_OF_LOSSES);
	guest_close(&guest);
	/* Another decision for the next communicators would be safe, but the
	 * environment is read once. */
	setenv("NCCLSTAT_KERNEL_TIMING", facts->on ? "off" : "always", 1);
	guest_open(&guest, facts->api);
	CHECK_EQUAL(host_mask(), mask, "after all are gone");
	guest_close(&guest);
}

TEST(off_and_always_never_change)
{
	struct constant facts = { .api = 5 };

	for (; facts.api <= 7; facts.api++) {
		facts.on = false;
		scenario_play(be_constant, &facts);
		play_with("off", be_constant, &facts);
		facts.on = true;
		play_with("always", be_constant, &facts);
		play_with("Always", be_constant, &facts);
	}
}

static void be_unable(void *argument)
{
	struct guest guest;

	guest_open(&guest, *(const int *)argument);
	expect_status(&guest, NCS_KERNEL_RELEASE, "of this release");
	CHECK(!(host_mask() & CALL_MASK_KERNEL), "no kernels");
	guest_close(&guest);
}

TEST(releases_whose_jobs_it_could_end_are_not_asked)
{
	for (int api = 1; api < 5; api++)
		play_with("always", be_unable, &api);
}

TIMING_SCENARIO(forked_child_decides_for_itself, "off")
{
	struct guest guest;
	int status;
	pid_t pid;

	guest_open(&guest, 5);
	setenv("NCCLSTAT_KERNEL_TIMING", "always", 1);
	pid = scenario_fork();
	if (pid == 0) {
		struct guest child = { .host = open_plugin(5) };

		host_set_mask(0);
		child.context = init_comm(child.host, "child", 1);
		CHECK_EQUAL(host_mask(), ON_5, "the child reads its own");
		host_finalize(child.host, child.context);
		exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "the child");
	CHECK_EQUAL(make_calls(&guest, guest.context, 3), 0, "the parent's");
	guest_close(&guest);
}

/* --- Communicators that are not seen ----------------------------------- */

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

TIMING_SCENARIO(communicator_that_is_not_published_changes_nothing, "always")
{
	struct guest guest;
	void *unseen;

	guest_open(&guest, 5);
	unseen = init_unseen(&guest);
	CHECK_EQUAL(host_mask(), ON_5, "its calls are timed, too");
	expect_status(&guest, NCS_KERNEL_ALWAYS, "as before");
	host_finalize(guest.host, unseen);
	CHECK_EQUAL(make_calls(&guest, guest.context, 3), 3, "as before");
	guest_close(&guest);
}

TIMING_SCENARIO(nothing_is_timed_if_the_first_is_not_published, "always")
{
	struct guest guest = { .host = open_plugin(5) };

	init_unseen(&guest);
	CHECK_EQUAL(host_mask(), 0, "nothing is asked for");
	guest.context = init_comm(guest.host, "guest", GUEST_RANK);
	view_open(&guest.view, 0);
	CHECK_EQUAL(host_mask(), OFF_5, "the other has made untimed calls");
	expect_status(&guest, NCS_KERNEL_BLIND, "one is not seen");
	guest_close(&guest);
}

TIMING_SCENARIO(second_copy_of_nccl_has_a_mask_of_its_own, "always")
{
	const char *path = NCS_PLUGIN_PATH;
	const struct nccl_profiler *table, *old;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *second, *third;
	int mask = 0;
	struct guest guest;

	CHECK(library, "%s", dlerror());
	table = dlsym(library, "ncclProfiler_v7");
	guest_open(&guest, 5);
	CHECK(table->init.v5(&second, 1, &mask, "second", 1, 2, 0, host_logger) ==
		      NCCL_SUCCESS,
	      "init never fails");
	CHECK_EQUAL(mask, 0x7fff, "the second NCCL has its own mask");
	CHECK_EQUAL(host_mask(), ON_5, "so has the first");
	mask = 0x300;
	table->init.v5(&third, 2, &mask, "third", 1, 2, 0, host_logger);
	CHECK_EQUAL(mask, 0x300, "set by others");
	make_calls(&guest, guest.context, 3);
	table->finalize(second);
	table->finalize(third);
	/* A release that kernel timing could end. */
	mask = 0;
	old = dlsym(library, "ncclProfiler_v4");
	old->init.v4(&third, &mask, "old", 3, 1, 2, 0, host_logger);
	CHECK(mask != 0 && !(mask & CALL_MASK_KERNEL), "its release's");
	old->finalize(third);
	CHECK_EQUAL(make_calls(&guest, guest.context, 3), 3, "as before");
	expect_status(&guest, NCS_KERNEL_ALWAYS, "as before");
	guest_close(&guest);
}

/* --- Other writers ----------------------------------------------------- */

static void be_overruled(void *argument)
{
	static const int foreign[] = { 0, 1, 0xffff, 0x100 };
	struct guest guest;
	void *second;

	(void)argument;
	guest_open(&guest, 6);
	make_calls(&guest, guest.context, 10);
	for (unsigned i = 0; i < 4; i++) {
		host_set_mask(foreign[i]);
		make_calls(&guest, guest.context, 2);
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
	second = init_comm(guest.host, "third", 3);
	CHECK_EQUAL(host_mask(), foreign[3], "also by the next first init");
	host_finalize(guest.host, second);
	view_close(&guest.view);
	host_close(guest.host);
}

TEST(mask_set_by_others_is_left_alone)
{
	play_with("always", be_overruled, NULL);
	play_with("off", be_overruled, NULL);
}

/* --- The GPU's clock --------------------------------------------------- */

#define GPU_AHEAD UINT64_C(123456789012345)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

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

SCENARIO(gpu_clock_is_learnt_and_gpu_times_are_checked_against_it)
{
	uint64_t begin = now_ns(), number = 0;
	const struct ncs_gpu_clock_view *clock;
	void *coll, *kernel;
	struct guest guest;
	int64_t wrong;

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
