/* SPDX-License-Identifier: MIT */
/* GPU kernels, as reported by a fake CUPTI that needs no GPU: the range of
 * each, its time, and how much of NCCL's time is hidden; errors are logged and
 * harmless. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/plugin/cuda_job.h"
#include "test/plugin/next/fake_cupti.h"
#include "test/plugin/ranges.h"
#include "test/unit/support/unit.h"

#define API 7
#define LIBRARY NCS_NEXT "/cupti.so"
#define BARE NCS_NEXT "/cupti-bare.so"
#define ALLREDUCE "_Z40ncclDevKernel_AllReduce_Sum_f16_RING_LL24ncclDev"
#define GEMM "_Z4gemmPKfS0_Pf"
#define OUTSIDE "_ZN4vllm26cross_device_reduce_1stageIfLi2EEEvPv"

static struct guest guest;
static struct fake_cupti *cupti;

static void find_cupti(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	CHECK(library, "%s", dlerror());
	cupti = dlsym(library, "fake_cupti");
	CHECK(cupti, "not the fake library");
}

static void come(void)
{
	find_cupti();
	ranges_open();
	guest_open(&guest, API);
}

static void play(void (*scenario)(void *argument))
{
	setenv("NCCLSTAT_CUPTI", LIBRARY, 1);
	scenario_play(scenario, NULL);
	unsetenv("NCCLSTAT_CUPTI");
}

/* Begins the scenario of a test with CUPTI, whose statements follow in braces. */
#define CUPTI_SCENARIO(test) \
	static void test##_plays(void *argument); \
	TEST(test) \
	{ \
		play(test##_plays); \
	} \
	static void test##_plays(__attribute__((unused)) void *argument)

static uint32_t launched;

static void run(uint32_t device, const char *name, uint64_t start, uint64_t end,
		uint32_t correlation)
{
	struct cupti_kernel kernel = {
		.kind = CUPTI_CONCURRENT_KERNEL,
		.device = device,
		.start = start,
		.end = end,
		.correlation = correlation,
		.name = name,
	};

	cupti->record(&kernel, SIZE_MAX);
}

/* Reports a kernel that was launched here and now. */
static void launch_and_run(const char *name, uint64_t start, uint64_t end)
{
	cupti->launch(CUPTI_ENTER, ++launched);
	run(0, name, start, end, launched);
}

static const struct ncs_gpu_time *gpu_of(const char *path)
{
	const struct ncs_range_view *range;

	view_take(&guest.view);
	range = ranges_find(&guest.view, path);
	CHECK(range, "there is no range %s", path);
	return &range->gpu;
}

static const struct ncs_cupti_view *cupti_times(void)
{
	view_take(&guest.view);
	CHECK(guest.view.now.cupti.known, "no CUPTI status");
	return &guest.view.now.cupti;
}

static void expect(const struct ncs_gpu_time *time, uint64_t compute_ns,
		   uint64_t compute_busy_ns, uint64_t communication_ns,
		   uint64_t hidden_ns)
{
	CHECK_EQUAL(time->compute_ns, compute_ns, "computed");
	CHECK_EQUAL(time->compute_busy_ns, compute_busy_ns, "busy");
	CHECK_EQUAL(time->communication_ns, communication_ns, "communicated");
	CHECK_EQUAL(time->hidden_ns, hidden_ns, "hidden");
}

/* --- Counting ---------------------------------------------------------- */

CUPTI_SCENARIO(communication_during_compute_counts_as_hidden)
{
	come();
	CHECK_EQUAL(cupti_times()->status, NCS_CUPTI_ON, "status");
	CHECK_EQUAL(cupti->kind, CUPTI_CONCURRENT_KERNEL,
		    "kind of records requested");
	CHECK(cupti->callbacks >= 18,
	      "callbacks of all launches are requested");
	launch_and_run(GEMM, 10, 20);
	ranges.push("step");
	launch_and_run(GEMM, 100, 200);
	ranges.push("forward");
	launch_and_run(GEMM, 150, 250);
	ranges.pop();
	launch_and_run(ALLREDUCE, 180, 300);
	launch_and_run("ncclSymkDevKernel_AllReduce", 190, 210);
	ranges.pop();
	launch_and_run("ncclKernel_Broadcast", 15, 30);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.cupti.total.compute_kernels, 0,
		    "nothing came yet");
	cupti->deliver();
	expect(gpu_of("step"), 100, 150, 120 + 20, 70 + 20);
	CHECK_EQUAL(gpu_of("step")->compute_kernels, 1, "its own");
	CHECK_EQUAL(gpu_of("step")->communication_kernels, 2, "NCCL's");
	expect(gpu_of("step/forward"), 100, 100, 0, 0);
	expect(&cupti_times()->total, 210, 160, 155, 95);
	CHECK_EQUAL(cupti_times()->total.compute_kernels, 3,
		    "kernels in ranges and outside");
	CHECK_EQUAL(cupti_times()->total.communication_kernels, 3, "NCCL's");
	CHECK_EQUAL(cupti_times()->unplaced, 0, "all launches are known");
	CHECK_EQUAL(cupti_times()->lost, 0, "nothing is lost");
	guest_close(&guest);
}

CUPTI_SCENARIO(communication_outside_nccl_is_counted_apart)
{
	const struct ncs_cupti_view *now;

	come();
	ranges.push("step");
	launch_and_run(GEMM, 100, 200);
	launch_and_run(OUTSIDE, 150, 250);
	launch_and_run(OUTSIDE, 200, 300);
	launch_and_run(ALLREDUCE, 250, 400);
	run(1, OUTSIDE, 100, 110, 0);
	ranges.pop();
	cupti->deliver();
	now = cupti_times();
	CHECK_EQUAL(now->outside_kernels, 3, "outside NCCL");
	CHECK_EQUAL(now->outside_busy_ns, 150 + 10, "busy outside NCCL");
	CHECK_EQUAL(now->busy_ns, 300 + 10, "busy");
	/* They neither compute nor hide NCCL's. */
	expect(&now->total, 100, 100, 150, 0);
	expect(gpu_of("step"), 100, 100, 150, 0);
	CHECK_EQUAL(cupti_times()->lost, 0, "nothing is lost");
	guest_close(&guest);
}

#define KERNELS 200u
#define MOMENTS 3000u

static struct {
	uint32_t device;
	uint64_t start, end;
	bool communicates;
} script[KERNELS];

static void write_script(void)
{
	for (unsigned i = 0; i < KERNELS; i++) {
		script[i].device = (uint32_t)rand() % 2;
		script[i].communicates = rand() % 4 == 0;
		script[i].start = 1 + (uint64_t)rand() % (MOMENTS - 600);
		script[i].end = script[i].start +
				(uint64_t)rand() % (rand() % 8 == 0 ? 600 : 60);
	}
}

/* Computes the expected sums from the script, ns by ns. */
static struct ncs_gpu_time told_by_script(void)
{
	static uint8_t computes[2][MOMENTS];
	struct ncs_gpu_time time = { 0 };

	memset(computes, 0, sizeof(computes));
	for (unsigned i = 0; i < KERNELS; i++)
		if (!script[i].communicates)
			memset(computes[script[i].device] + script[i].start, 1,
			       script[i].end - script[i].start);
	for (unsigned i = 0; i < KERNELS; i++) {
		uint64_t ns = script[i].end - script[i].start;

		if (!script[i].communicates) {
			time.compute_ns += ns;
			continue;
		}
		time.communication_ns += ns;
		for (uint64_t k = script[i].start; k < script[i].end; k++)
			time.hidden_ns += computes[script[i].device][k];
	}
	for (unsigned k = 0; k < MOMENTS; k++)
		time.compute_busy_ns +=
			(uint64_t)(computes[0][k] + computes[1][k]);
	return time;
}

static void shuffle(void *argument)
{
	struct ncs_gpu_time told;

	srand(*(const unsigned *)argument);
	write_script();
	come();
	ranges.push("all");
	for (unsigned i = 0; i < KERNELS; i++) {
		cupti->launch(CUPTI_ENTER, i + 1);
		run(script[i].device, script[i].communicates ? ALLREDUCE : GEMM,
		    script[i].start, script[i].end, i + 1);
		if (rand() % 5 == 0)
			cupti->deliver();
	}
	cupti->deliver();
	told = told_by_script();
	expect(gpu_of("all"), told.compute_ns, gpu_of("all")->compute_busy_ns,
	       told.communication_ns, told.hidden_ns);
	expect(&cupti_times()->total, told.compute_ns, told.compute_busy_ns,
	       told.communication_ns, told.hidden_ns);
	CHECK(told.hidden_ns > 0 && told.hidden_ns < told.communication_ns,
	      "the script is no test");
	guest_close(&guest);
}

TEST(order_and_batching_of_kernels_do_not_matter)
{
	setenv("NCCLSTAT_CUPTI", LIBRARY, 1);
	for (unsigned seed = 1; seed <= 20; seed++)
		scenario_play(shuffle, &seed);
	unsetenv("NCCLSTAT_CUPTI");
}

static void *launch_in_thread(void *argument)
{
	(void)argument;
	launch_and_run(GEMM, 100, 150);
	ranges.push("own");
	launch_and_run(GEMM, 200, 260);
	return NULL;
}

CUPTI_SCENARIO(launches_of_a_thread_without_ranges_are_in_the_main_threads)
{
	pthread_t thread;

	come();
	ranges.push("backward");
	CHECK(pthread_create(&thread, NULL, launch_in_thread, NULL) == 0,
	      "no thread");
	pthread_join(thread, NULL);
	cupti->deliver();
	expect(gpu_of("backward"), 50, 50, 0, 0);
	expect(gpu_of("own"), 60, 60, 0, 0);
	guest_close(&guest);
}

static void overflow(void *argument)
{
	(void)argument;
	come();
	ranges.push("first");
	launch_and_run(GEMM, 100, 110);
	ranges.pop();
	for (unsigned i = 0; i < 5; i++) {
		char name[] = { 'a', (char)('0' + i), '\0' };

		ranges.push(name);
		ranges.push("in");
		launch_and_run(GEMM, 200 + 10 * i, 210 + 10 * i);
		ranges.pop();
		ranges.pop();
	}
	cupti->deliver();
	expect(gpu_of("first"), 10, 10, 0, 0);
	/* range other, "first", and one path of two */
	expect(gpu_of("(other)"), 40, 40, 0, 0);
	CHECK_EQUAL(cupti_times()->total.compute_ns, 60, "all computing");
	guest_close(&guest);
}

TEST(kernels_without_an_entry_count_in_range_other)
{
	setenv("NCCLSTAT_RANGES", "4", 1);
	play(overflow);
	unsetenv("NCCLSTAT_RANGES");
}

static void count_without_ranges(void *argument)
{
	(void)argument;
	come();
	ranges.push("nowhere");
	launch_and_run(GEMM, 100, 200);
	launch_and_run(ALLREDUCE, 150, 250);
	cupti->deliver();
	expect(&cupti_times()->total, 100, 100, 100, 50);
	CHECK_EQUAL(guest.view.now.range_count, 0, "ranges are off");
	guest_close(&guest);
}

TEST(totals_are_counted_without_ranges)
{
	setenv("NCCLSTAT_RANGES", "0", 1);
	play(count_without_ranges);
	unsetenv("NCCLSTAT_RANGES");
}

/* --- Kernels that cannot be counted ------------------------------------ */

CUPTI_SCENARIO(implausible_kernels_are_counted_as_lost)
{
	struct cupti_kernel other = { .kind = 39, .start = 1, .end = 100 };
	struct cupti_kernel kernel = {
		.kind = CUPTI_CONCURRENT_KERNEL,
		.start = 100,
		.end = 200,
	};

	come();
	ranges.push("r");
	cupti->record(&other, SIZE_MAX);
	launch_and_run(GEMM, 100, 200);
	cupti->deliver();
	expect(gpu_of("r"), 100, 100, 0, 0);
	CHECK_EQUAL(cupti_times()->lost, 0,
		    "a record of another kind is no loss");
	run(0, GEMM, 300, 310, 12345);
	cupti->launch(1, 4711); /* its end */
	run(0, GEMM, 310, 320, 4711);
	cupti->deliver();
	CHECK_EQUAL(cupti_times()->unplaced, 2, "their launch is unknown");
	run(0, GEMM, 320, 320, launched + (1u << 18));
	cupti->deliver();
	CHECK_EQUAL(cupti_times()->unplaced, 3,
		    "another launch took its place");
	CHECK_EQUAL(cupti_times()->total.compute_ns, 120,
		    "the kernels have run");
	run(0, NULL, 0, 0, launched);
	run(0, GEMM, 500, 400, launched);
	run(4000000, GEMM, 500, 600, launched);
	cupti->deliver();
	CHECK_EQUAL(cupti_times()->lost, 3,
		    "times that are none, no such device");
	launch_and_run(GEMM, 600, 700);
	cupti->record(&kernel, 40);
	cupti->deliver();
	CHECK_EQUAL(cupti_times()->lost, 4, "a buffer that ends in a record");
	CHECK_EQUAL(cupti_times()->total.compute_ns, 220,
		    "earlier kernels count");
	launch_and_run(GEMM, 700, 800);
	cupti->no_more_records = 7;
	cupti->deliver();
	CHECK_EQUAL(cupti_times()->lost, 5, "a buffer that cannot be read on");
	CHECK_EQUAL(cupti_times()->total.compute_ns, 320,
		    "earlier kernels count");
	guest_close(&guest);
}

CUPTI_SCENARIO(number_of_buffers_is_limited)
{
	uint8_t *taken, *buffer = NULL;
	unsigned given = 0;

	come();
	for (unsigned i = 0; i < 3000; i++)
		launch_and_run(GEMM, 10 * i + 1, 10 * i + 6);
	cupti->deliver();
	CHECK_EQUAL(cupti_times()->total.compute_ns, 3000 * 5,
		    "buffers come back");
	while ((taken = cupti->take_buffer()) != NULL) {
		CHECK(++given <= 64, "there is no end of buffers");
		buffer = taken;
	}
	CHECK_EQUAL(given, 64, "buffers");
	launch_and_run(GEMM, 50000, 60000);
	CHECK_EQUAL(cupti_times()->lost, 0, "not noticed yet");
	cupti->finish(buffer);
	CHECK_EQUAL(cupti_times()->lost, 1, "the record was dropped");
	launch_and_run(GEMM, 60000, 60007);
	cupti->deliver();
	CHECK_EQUAL(cupti_times()->total.compute_ns, 3000 * 5 + 7,
		    "counting goes on");
	guest_close(&guest);
}

/* --- Nothing is recorded ----------------------------------------------- */

static void keep_off(void *argument)
{
	(void)argument;
	come();
	CHECK_EQUAL(cupti_times()->status, NCS_CUPTI_OFF, "status");
	CHECK_EQUAL(cupti->subscribed, 0, "CUPTI is off");
	CHECK(!host_log_has("CUPTI"), "CUPTI is off: nothing to log");
	guest_close(&guest);
	CHECK_EQUAL(cupti->flushes, 0, "nor to flush");
}

TEST(cupti_is_off_by_default)
{
	scenario_play(keep_off, NULL);
	setenv("NCCLSTAT_CUPTI", "0", 1);
	scenario_play(keep_off, NULL);
	unsetenv("NCCLSTAT_CUPTI");
}

struct cupti_refusal {
	const char *library;
	uint32_t version;
	int subscribe;
	int enable;
	enum ncs_cupti_status status;
	unsigned unsubscribed;
	const char *told;
};

static void be_refused(void *argument)
{
	const struct cupti_refusal *refusal = argument;
	void *second;

	find_cupti();
	cupti->version = refusal->version;
	cupti->subscribe = refusal->subscribe;
	cupti->enable = refusal->enable;
	guest_open(&guest, API);
	CHECK_EQUAL(cupti_times()->status, refusal->status, "status");
	CHECK(host_log_has(refusal->told),
	      "the log lacks the reason: %s", refusal->told);
	CHECK(host_log_has("records no kernels"),
	      "the log names the consequence");
	CHECK_EQUAL(cupti->unsubscribed, refusal->unsubscribed,
		    "the plugin unsubscribes");
	host_log_clear();
	second = init_comm(guest.host, "second", 0);
	CHECK(!host_log_has("CUPTI"), "logged only once");
	CHECK(cupti->subscribed <= 1, "tried only once");
	CHECK(host_finalize(guest.host, second) == NCCL_SUCCESS, "finalize");
	play_coll(&guest, 1);
	check_still_follows(&guest, "without CUPTI");
	guest_close(&guest);
	CHECK_EQUAL(cupti->flushes, 0, "CUPTI is not flushed");
}

TEST(refusal_of_cupti_is_logged_and_harmless)
{
	static const struct cupti_refusal refusals[] = {
		{ LIBRARY, 130001, CUPTI_ANOTHER_SUBSCRIBER, 0, NCS_CUPTI_TAKEN,
		  0, "another tool has CUPTI" },
		{ LIBRARY, 130001, 0, CUPTI_ANOTHER_SUBSCRIBER, NCS_CUPTI_TAKEN,
		  1, "another tool has CUPTI" },
		{ LIBRARY, 130001, 15, 0, NCS_CUPTI_FAILED, 0,
		  "cuptiSubscribe: it will not (15)" },
		{ LIBRARY, 130001, 0, 35, NCS_CUPTI_FAILED, 1,
		  "cuptiActivityEnable: it will not (35)" },
		{ LIBRARY, 18, 0, 0, NCS_CUPTI_OLD, 0, "version 18" },
		{ BARE, 130001, 0, 0, NCS_CUPTI_MISSING, 0,
		  "has no cuptiActivityFlushPeriod" },
		{ "/nowhere/libcupti.so", 130001, 0, 0, NCS_CUPTI_MISSING, 0,
		  "/nowhere/libcupti.so" },
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct cupti_refusal refusal = refusals[i];

		setenv("NCCLSTAT_CUPTI", refusal.library, 1);
		scenario_play(be_refused, &refusal);
	}
	unsetenv("NCCLSTAT_CUPTI");
}

/* --- Start and end ----------------------------------------------------- */

static void end(void *argument)
{
	struct view second_view;
	void *second;

	(void)argument;
	come();
	second = init_comm(guest.host, "second", 0);
	view_open(&second_view, 1);
	view_take(&second_view);
	CHECK_EQUAL(second_view.now.cupti.status, NCS_CUPTI_ON,
		    "all communicators report the status");
	ranges.push("last");
	launch_and_run(GEMM, 100, 200);
	CHECK(host_finalize(guest.host, second) == NCCL_SUCCESS, "finalize");
	CHECK_EQUAL(cupti->flushes, 0, "there is another one");
	CHECK(host_finalize(guest.host, guest.context) == NCCL_SUCCESS,
	      "finalize");
	CHECK_EQUAL(cupti->flushes, 1, "the last one");
	expect(gpu_of("last"), 100, 100, 0, 0);
	view_take(&second_view);
	CHECK_EQUAL(second_view.now.cupti.total.compute_ns, 0,
		    "one communicator reports the kernels");
	launch_and_run(GEMM, 200, 300);
	cupti->deliver();
	view_take(&second_view);
	CHECK_EQUAL(cupti_times()->total.compute_ns +
			    second_view.now.cupti.total.compute_ns,
		    200, "kernels after the first finalize");
	view_close(&second_view);
	guest.context = init_comm(guest.host, "third", 0);
	guest_close(&guest);
	CHECK_EQUAL(cupti->subscribed, 1, "the subscription stays");
	CHECK_EQUAL(cupti->flushes, 2, "the last one again");
}

TEST(last_finalize_counts_remaining_kernels)
{
	play(end);
}

static void be_child(void)
{
	struct guest child = guest;
	unsigned before = cupti->subscribed;

	child.context = init_comm(guest.host, "child", 2);
	view_open(&child.view, 1);
	CHECK_EQUAL(child.view.now.cupti.status, NCS_CUPTI_FORKED, "status");
	CHECK_EQUAL(cupti->subscribed, before, "CUPTI is the parent's");
	play_coll(&child, 1);
	guest_close(&child);
	CHECK_EQUAL(cupti->flushes, 0, "CUPTI is the parent's");
}

CUPTI_SCENARIO(forked_child_leaves_cupti_to_its_parent)
{
	int wait_status;
	pid_t pid;

	come();
	launch_and_run(GEMM, 100, 200);
	pid = scenario_fork();
	if (pid == 0) {
		be_child();
		exit(0);
	}
	CHECK(waitpid(pid, &wait_status, 0) == pid && wait_status == 0,
	      "the child failed");
	cupti->deliver();
	CHECK_EQUAL(cupti_times()->total.compute_ns, 100, "the parent goes on");
	guest_close(&guest);
}

/* --- CUPTI that does not return ---------------------------------------- */

/* The first communicator starts CUPTI, and the last one flushes it. */
static void *begin_and_end(void *unused)
{
	void *context = init_comm(guest.host, "first", 0);

	(void)unused;
	CHECK(host_finalize(guest.host, context) == NCCL_SUCCESS, "finalize");
	return NULL;
}

/* Later CUPTI delivers a buffer by itself. */
static void *make_all_calls(void *unused)
{
	begin_and_end(unused);
	run(0, GEMM, 10, 20, 1);
	cupti->deliver();
	return NULL;
}

static pthread_t start_caller(void *(*call)(void *unused))
{
	pthread_t thread;

	guest.host = open_plugin(API);
	CHECK(pthread_create(&thread, NULL, call, NULL) == 0, "no thread");
	return thread;
}

static pthread_t block(enum fake_cupti_call call)
{
	pthread_t thread;

	cupti->hold_one(call);
	thread = start_caller(make_all_calls);
	WAIT_UNTIL(cupti->is_holding(), "function %d is never called",
		   (int)call);
	return thread;
}

static void let_go(pthread_t thread)
{
	CHECK(cupti->is_holding(), "it is still blocked");
	cupti->let_go();
	pthread_join(thread, NULL);
}

static void come_and_go(uint64_t number)
{
	guest.context = init_comm(guest.host, "next", 0);
	play_coll(&guest, number);
	CHECK(host_finalize(guest.host, guest.context) == NCCL_SUCCESS,
	      "finalize");
}

static void go_on_beside_block(void *argument)
{
	enum fake_cupti_call call = *(const enum fake_cupti_call *)argument;
	pthread_t thread;

	find_cupti();
	if (call == FAKE_CUPTI_Unsubscribe ||
	    call == FAKE_CUPTI_GetResultString)
		cupti->enable = 35;
	thread = block(call);
	for (unsigned i = 0; i < 20; i++) {
		void *other = init_comm(guest.host, "other", 0);

		come_and_go(i);
		/* To be counted in the flush of the last one. */
		if (call >= FAKE_CUPTI_ActivityGetNextRecord)
			run(0, GEMM, 30, 40, 2);
		CHECK(host_finalize(guest.host, other) == NCCL_SUCCESS,
		      "finalize");
	}
	let_go(thread);
	host_close(guest.host);
}

TEST(cupti_that_blocks_holds_up_its_caller_only)
{
	for (int i = 0; i < FAKE_CUPTI_CALL_COUNT; i++) {
		enum fake_cupti_call call = (enum fake_cupti_call)i;

		setenv("NCCLSTAT_CUPTI", LIBRARY, 1);
		scenario_play(go_on_beside_block, &call);
	}
	unsetenv("NCCLSTAT_CUPTI");
}

/* The dynamic linker serves nobody else while it loads a library. */
static void go_on_beside_loading(void *argument)
{
	int told[2], answer[2];
	pthread_t thread;
	char text[32], byte = 0;

	(void)argument;
	cuda_job_load("cuda.so");
	cuda->gpu = 3;
	CHECK(pipe(told) == 0 && pipe(answer) == 0, "no pipes");
	snprintf(text, sizeof(text), "%d %d", told[1], answer[0]);
	setenv(FAKE_CUPTI_LOADING, text, 1);
	thread = start_caller(begin_and_end);
	CHECK(read(told[0], &byte, 1) == 1, "it is not loaded");
	for (unsigned i = 0; i < 20; i++)
		come_and_go(i);
	CHECK(write(answer[1], &byte, 1) == 1, "it is not told");
	pthread_join(thread, NULL);
	host_close(guest.host);
}

TEST(loading_of_cupti_holds_up_its_caller_only)
{
	setenv("NCCLSTAT_CUPTI", BARE, 1);
	scenario_play(go_on_beside_loading, NULL);
	unsetenv("NCCLSTAT_CUPTI");
}

/* Returns the status in the segment of a communicator that is made now. */
static uint64_t status_of_next(struct view *view)
{
	init_comm(guest.host, "next", 0);
	view_open(view, count_objects() - 1);
	view_take(view);
	return view->now.cupti.status;
}

CUPTI_SCENARIO(start_is_told_to_communicators_beside_it)
{
	pthread_t thread;
	int wait_status;
	pid_t pid;

	find_cupti();
	thread = block(FAKE_CUPTI_Subscribe);
	CHECK_EQUAL(status_of_next(&guest.view), NCS_CUPTI_STARTING, "status");
	pid = scenario_fork();
	if (pid == 0) {
		struct view view;

		CHECK_EQUAL(status_of_next(&view), NCS_CUPTI_FORKED, "status");
		exit(0);
	}
	CHECK(waitpid(pid, &wait_status, 0) == pid && wait_status == 0,
	      "the child failed");
	let_go(thread);
	CHECK_EQUAL(cupti_times()->status, NCS_CUPTI_ON, "status");
	CHECK_EQUAL(cupti->subscribed, 1, "subscriptions");
	view_close(&guest.view);
	host_close(guest.host);
}
