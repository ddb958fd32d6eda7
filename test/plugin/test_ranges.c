/* SPDX-License-Identifier: MIT */
/* Ranges of the program: to which range each call and operation belongs, by the
 * plugin's own interface and by NVTX, and that every loss is counted. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/plugin/next/nvtx_tool.h"
#include "test/plugin/nvtx_copy.h"
#include "test/plugin/ranges.h"
#include "test/unit/support/unit.h"

#include <dlfcn.h>

#define API 7

static struct guest guest;

static void come(void)
{
	ranges_open();
	guest_open(&guest, API);
}

static void call(void)
{
	ranges_call_and_play(&guest, guest.context);
}

static const struct ncs_range_view *find(const char *path)
{
	const struct ncs_range_view *range;

	view_take(&guest.view);
	range = ranges_find(&guest.view, path);
	CHECK(range, "there is no range %s", path);
	return range;
}

static void in_thread(void *(*run)(void *argument), void *argument)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, run, argument) == 0, "no thread");
	pthread_join(thread, NULL);
}

/* --- The range of a call ----------------------------------------------- */

SCENARIO(call_is_in_the_ranges_pushed_by_its_thread)
{
	const struct ncs_range_view *epoch, *step;
	struct ncs_record found;
	void *open;

	come();
	call();
	CHECK_EQUAL(ranges.push("epoch"), 0, "the outermost level");
	CHECK_EQUAL(ranges.push("step"), 1, "the next one");
	call();
	call();
	open = ranges_call(&guest, guest.context, "AllReduce");
	CHECK_EQUAL(ranges.pop(), 1, "the level that is left");
	call();
	CHECK_EQUAL(ranges.pop(), 0, "the outermost level");
	call();
	step = find("epoch/step");
	epoch = find("epoch");
	CHECK_EQUAL(epoch->calls, 1, "without those inside");
	CHECK_EQUAL(step->calls, 3, "of the inner range");
	CHECK_EQUAL(step->operations, 2, "one call has none yet");
	/* Operations may begin after their range has ended. */
	ranges_play(&guest, guest.context, open);
	step = find("epoch/step");
	epoch = find("epoch");
	CHECK_EQUAL(guest.view.now.range_count, 2, "no further range");
	CHECK_EQUAL(step->operations, 3, "of the inner range");
	CHECK_EQUAL(step->bytes, 3 * 4 * GUEST_COLL_ELEMENTS, "bytes");
	CHECK_EQUAL(step->with_children, 3, "all made progress");
	CHECK_EQUAL(step->with_children_bytes, step->bytes, "all bytes");
	CHECK_EQUAL(step->timed[NCS_TIMING_PROXY], 3, "timed");
	CHECK_EQUAL(step->timed_bytes[NCS_TIMING_PROXY], step->bytes, "bytes");
	CHECK(step->time_ns[NCS_TIMING_PROXY] > 0, "they took no time");
	CHECK(step->channel_time_ns[NCS_CHANNEL_SEND_GPU_WAIT] > 0,
	      "they waited for the GPU");
	CHECK_EQUAL(step->channel_time_ns[NCS_CHANNEL_IDLE], 0, "no wait");
	CHECK_EQUAL(step->busy, 0, "all are over");
	CHECK(epoch->busy_ns > step->busy_ns && step->busy_ns > 0,
	      "an outer range is busy when one inside is");
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_RANGE], 0, "losses");
	read_all_records(&guest);
	ranges.push("epoch");
	call();
	while (next_record(&guest, &found)) {
		if (found.event == NCS_EVENT_COLL)
			CHECK_EQUAL(found.channel, epoch->number, "COLL");
		if (found.event == NCS_EVENT_COLL_API)
			CHECK_EQUAL(found.number, epoch->number, "COLL_API");
	}
	guest_close(&guest);
}

SCENARIO(each_time_is_in_the_histogram_of_its_range)
{
	const struct ncs_range_view *range;
	const uint64_t *buckets;
	uint64_t sum = 0;

	come();
	ranges.push("r");
	for (unsigned i = 0; i < 20; i++)
		call();
	range = find("r");
	buckets = ncs_range_buckets(&guest.view.now, range, NCS_TIMING_PROXY);
	CHECK(buckets, "no histogram");
	for (unsigned i = 0; i < NCS_RANGE_BUCKETS; i++)
		sum += buckets[i];
	CHECK_EQUAL(sum, 20, "as many as the timed operations");
	CHECK(!ncs_range_buckets(&guest.view.now, range, NCS_TIMING_KERNEL),
	      "no kernel was timed");
	guest_close(&guest);
}

SCENARIO(range_is_busy_while_an_operation_makes_progress)
{
	struct host_event coll = {
		.type = NCCL_EVENT_COLL,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
		.count = 10,
	};
	void *op, *again;
	uint64_t busy_ns;

	come();
	ranges.push("outer");
	ranges.push("inner");
	coll.parent = ranges_call(&guest, guest.context, "AllReduce");
	coll.parent = start(&guest, &coll);
	ranges.pop();
	ranges.pop();
	op = start_proxy_op(&guest, coll.parent, 3, true, 2, 1);
	let_time_pass();
	CHECK_EQUAL(find("outer/inner")->busy, 1, "one is under way");
	CHECK_EQUAL(find("outer")->busy, 1, "busy as a range inside is busy");
	CHECK_EQUAL(guest.view.now.operations[0].range,
		    find("outer/inner")->number, "the operation says which");
	busy_ns = find("outer")->busy_ns;
	CHECK(busy_ns > 0, "the time since it began counts");
	again = start_proxy_op(&guest, coll.parent, 4, true, 2, 1);
	CHECK_EQUAL(find("outer")->busy, 1, "of one operation");
	stop(&guest, op);
	CHECK_EQUAL(find("outer")->busy, 1, "another child is under way");
	stop(&guest, again);
	CHECK_EQUAL(find("outer/inner")->busy, 0, "the operation is over");
	busy_ns = find("outer")->busy_ns;
	let_time_pass();
	CHECK_EQUAL(find("outer")->busy_ns, busy_ns, "nothing is under way");
	guest_close(&guest);
}

SCENARIO(operation_without_api_call_has_a_range_of_its_own)
{
	ranges_open();
	guest_open(&guest, 4);
	ranges.push("forward");
	play_coll(&guest, 1);
	ranges.pop();
	play_coll(&guest, 2);
	CHECK_EQUAL(find("forward")->operations, 1, "of two");
	CHECK_EQUAL(guest.view.now.range_count, 1, "ranges");
	guest_close(&guest);
}

/* --- Other threads ----------------------------------------------------- */

static void *call_in_thread(void *argument)
{
	(void)argument;
	call();
	return NULL;
}

static void *call_in_its_own(void *argument)
{
	(void)argument;
	ranges.push("own");
	call();
	ranges.pop();
	call();
	return NULL;
}

SCENARIO(thread_without_ranges_is_in_the_main_threads_range)
{
	uint64_t first, second;

	come();
	in_thread(call_in_thread, NULL);
	first = ranges.start("job");
	CHECK(first != 0, "the range has no id");
	in_thread(call_in_thread, NULL);
	ranges_expect_calls(&guest.view, "job", 1, "no thread has a range");
	second = ranges.start("later");
	in_thread(call_in_thread, NULL);
	ranges_expect_calls(&guest.view, "later", 1, "the latest counts");
	ranges.end(second);
	in_thread(call_in_thread, NULL);
	ranges_expect_calls(&guest.view, "job", 2, "the one that is left");
	ranges.push("step");
	ranges.push("backward");
	in_thread(call_in_thread, NULL);
	in_thread(call_in_thread, NULL);
	ranges_expect_calls(&guest.view, "step/backward", 2,
			    "the main thread's range");
	in_thread(call_in_its_own, NULL);
	ranges_expect_calls(&guest.view, "own", 1, "a range of its own");
	ranges_expect_calls(&guest.view, "step/backward", 3, "and then none");
	ranges.pop();
	in_thread(call_in_thread, NULL);
	ranges_expect_calls(&guest.view, "step", 1, "the main thread went on");
	ranges.pop();
	ranges.end(first);
	ranges.end(first);
	ranges.end(12345);
	in_thread(call_in_thread, NULL);
	ranges_expect_calls(&guest.view, "step", 1, "all are over");
	ranges_expect_calls(&guest.view, "job", 2, "all are over");
	guest_close(&guest);
}

static sem_t told, called;

static void *call_when_released(void *argument)
{
	(void)argument;
	for (unsigned i = 0; i < 3; i++) {
		sem_wait(&told);
		call();
		sem_post(&called);
	}
	return NULL;
}

static void tell(void)
{
	sem_post(&told);
	sem_wait(&called);
}

SCENARIO(thread_without_ranges_follows_the_main_thread)
{
	pthread_t thread;

	come();
	sem_init(&told, 0, 0);
	sem_init(&called, 0, 0);
	CHECK(pthread_create(&thread, NULL, call_when_released, NULL) == 0,
	      "no thread");
	ranges.push("step");
	ranges.push("backward");
	tell();
	ranges.pop();
	tell();
	ranges.push("optimizer");
	tell();
	pthread_join(thread, NULL);
	ranges_expect_calls(&guest.view, "step/backward", 1, "at first");
	ranges_expect_calls(&guest.view, "step", 1, "after a pop");
	ranges_expect_calls(&guest.view, "step/optimizer", 1, "after a push");
	guest_close(&guest);
}

static void *leave_open(void *argument)
{
	(void)argument;
	ranges.push("left open");
	return NULL;
}

SCENARIO(ranges_left_open_by_a_dead_thread_are_closed)
{
	come();
	for (unsigned i = 0; i < 50; i++) {
		in_thread(leave_open, NULL);
		in_thread(call_in_thread, NULL);
	}
	ranges_expect_calls(&guest.view, "left open", 0, "its thread is gone");
	guest_close(&guest);
}

/* --- Errors of programs ------------------------------------------------ */

SCENARIO(surplus_pop_changes_nothing)
{
	come();
	for (unsigned i = 0; i < 100; i++)
		CHECK(ranges.pop() < 0, "there was nothing to pop");
	ranges.push("a");
	ranges.pop();
	ranges.pop();
	ranges.push("b");
	call();
	ranges_expect_calls(&guest.view, "b", 1, "outermost again");
	ranges.push(NULL);
	call();
	ranges_expect_calls(&guest.view, "b/", 1, "without a name");
	check_losses(&guest, "after too many pops", END_OF_LOSSES);
	guest_close(&guest);
}

#define DEEP 1000

static void dive(void *argument)
{
	const struct ncs_range_view *deepest;

	(void)argument;
	come();
	for (int i = 0; i < DEEP; i++)
		CHECK_EQUAL(ranges.push("d"), i, "level");
	call();
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.range_count, 64, "distinguished");
	deepest = &guest.view.now.ranges[63];
	CHECK_EQUAL(deepest->calls, 1, "deeper calls count there");
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_RANGE], 1,
		    "the range is counted as lost");
	for (int i = DEEP; i > 1; i--)
		CHECK_EQUAL(ranges.pop(), i - 1, "level");
	call();
	ranges_expect_calls(&guest.view, "d", 1, "back at the top");
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_RANGE], 1,
		    "no further loss");
	guest_close(&guest);
}

TEST(ranges_nest_to_any_depth)
{
	setenv("NCCLSTAT_RANGES", "100", 1);
	scenario_play(dive, NULL);
	unsetenv("NCCLSTAT_RANGES");
}

#define NAMES 10000

static void name_many(void *argument)
{
	const unsigned *fit = argument;
	uint64_t calls = 0, operations = 0;
	char name[32];

	come();
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "iteration %u", i);
		ranges.push(name);
		play_coll(&guest, i);
		ranges_call(&guest, guest.context, "AllReduce");
		ranges.pop();
	}
	view_take(&guest.view);
	for (size_t i = 0; i < guest.view.now.range_count; i++) {
		calls += guest.view.now.ranges[i].calls;
		operations += guest.view.now.ranges[i].operations;
	}
	CHECK_EQUAL(calls, NAMES, "calls in all ranges");
	CHECK_EQUAL(operations, NAMES, "operations in all ranges");
	if (*fit < NAMES) {
		CHECK_EQUAL(find("(other)")->calls, NAMES - *fit,
			    "calls whose range found no entry");
		CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_RANGE],
			    2 * (NAMES - *fit), "each is counted as a loss");
	} else {
		CHECK_EQUAL(guest.view.now.range_count, NAMES,
			    "all distinguished");
		CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_RANGE], 0, "losses");
		CHECK_EQUAL(find("iteration 9999")->calls, 1, "the last one");
	}
	guest_close(&guest);
}

TEST(calls_without_an_entry_count_in_range_other_and_as_loss)
{
	unsigned all = NAMES, few = 99;

	setenv("NCCLSTAT_SHM_BYTES", "64M", 1);
	setenv("NCCLSTAT_RANGES", "16384", 1);
	scenario_play(name_many, &all);
	setenv("NCCLSTAT_RANGES", "100", 1);
	scenario_play(name_many, &few);
	unsetenv("NCCLSTAT_RANGES");
	unsetenv("NCCLSTAT_SHM_BYTES");
}

/* Range names that are all different, e.g. one for each tensor, must not use up
 * the table unless calls are made in them. */
SCENARIO(range_without_calls_takes_no_entry)
{
	char name[32];

	come();
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "op, seq = %u", i);
		ranges.push(name);
		ranges.pop();
	}
	ranges.push("step");
	call();
	ranges_expect_calls(&guest.view, "step", 1, "there is room");
	CHECK_EQUAL(guest.view.now.range_count, 1,
		    "only for ranges with calls");
	guest_close(&guest);
}

SCENARIO(long_range_names_are_truncated)
{
	char name[500], kept[NCS_RANGE_NAME_BYTES];

	come();
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(kept, 'x', sizeof(kept) - 1);
	kept[sizeof(kept) - 1] = '\0';
	for (size_t i = 0; i < sizeof(name); i += 7) {
		name[i] = '\0';
		ranges.push(name);
		name[i] = 'x';
		call();
		ranges.pop();
	}
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.range_count, 13, "12 lengths, and all cut");
	CHECK_EQUAL(find(kept)->calls, 72 - 12, "cut ones are one");
	guest_close(&guest);
}

static void turned_off(void *argument)
{
	struct nvtx_copy copy = { 0 };

	(void)argument;
	come();
	CHECK(!nvtx_copy_load(&copy, NCS_PLUGIN_PATH),
	      "the plugin refuses NVTX");
	CHECK(!copy.core[NVTX_RANGE_PUSH_A], "nor words");
	ranges.push("step");
	ranges.mark("mark");
	call();
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.range_count, 0, "ranges");
	check_losses(&guest, "when they are off", END_OF_LOSSES);
	guest_close(&guest);
}

TEST(ranges_can_be_turned_off)
{
	setenv("NCCLSTAT_RANGES", "0", 1);
	scenario_play(turned_off, NULL);
	unsetenv("NCCLSTAT_RANGES");
}

/* --- Communicators and processes --------------------------------------- */

SCENARIO(communicators_count_separately_under_one_number)
{
	struct view view;
	void *other;

	come();
	other = init_comm(guest.host, "other", 0);
	ranges.push("step");
	call();
	ranges_call_and_play(&guest, other);
	ranges_call_and_play(&guest, other);
	view_open(&view, 1);
	ranges_expect_calls(&guest.view, "step", 1, "each its own");
	ranges_expect_calls(&view, "step", 2, "each its own");
	CHECK_EQUAL(ranges_find(&view, "step")->number,
		    ranges_find(&guest.view, "step")->number, "one number");
	view_close(&view);
	guest_close(&guest);
}

SCENARIO(forked_child_is_in_the_ranges_of_the_forking_thread)
{
	int status;
	pid_t child;

	come();
	ranges.push("parent");
	call();
	child = scenario_fork();
	if (child == 0) {
		view_close(&guest.view);
		guest.context = init_comm(guest.host, "child", 3);
		for (size_t i = 0; i < 2; i++) {
			view_open(&guest.view, i);
			view_take(&guest.view);
			if (guest.view.now.identity.rank == 3)
				break;
			view_close(&guest.view);
		}
		call();
		ranges_expect_calls(&guest.view, "parent", 1, "still in it");
		CHECK_EQUAL(ranges.pop(), 0, "pops to level 0");
		guest_close(&guest);
		exit(EXIT_SUCCESS);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 0,
	      "the child failed");
	ranges_expect_calls(&guest.view, "parent", 1, "the child's is its own");
	guest_close(&guest);
}

static struct nvtx_copy slow_copy;
static sem_t loading, resume;

static void wait_in_load(void)
{
	sem_post(&loading);
	while (sem_wait(&resume) != 0)
		;
}

static void *load_slowly(void *argument)
{
	nvtx_copy_load(&slow_copy, NCS_PLUGIN_PATH);
	return argument;
}

/* Another thread is attaching to NVTX. The child does not have it. */
SCENARIO(forked_child_can_attach_to_nvtx)
{
	struct nvtx_copy copy = { 0 };
	pthread_t thread;
	pid_t child;
	int status;

	sem_init(&loading, 0, 0);
	sem_init(&resume, 0, 0);
	nvtx_copy_on_load = wait_in_load;
	CHECK(pthread_create(&thread, NULL, load_slowly, NULL) == 0,
	      "pthread_create");
	while (sem_wait(&loading) != 0)
		;
	nvtx_copy_on_load = NULL;
	child = scenario_fork();
	if (child == 0) {
		/* A hang is what is to be found. */
		alarm(100);
		_exit(!nvtx_copy_load(&copy, NCS_PLUGIN_PATH) ||
		      nvtx_push(&copy, "in the child") != 0);
	}
	CHECK(waitpid(child, &status, 0) == child, "waitpid");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	      "the child ended with %d", status);
	sem_post(&resume);
	sem_post(&resume);
	pthread_join(thread, NULL);
}

SCENARIO(replayed_call_is_in_the_range_of_its_capture)
{
	struct host_event event = {
		.type = NCCL_EVENT_COLL_API,
		.func = "AllReduce",
		.datatype = "ncclFloat32",
		.count = 1,
		.graph_captured = 1,
	};
	void *captured;

	come();
	ranges.push("capture");
	captured = start(&guest, &event);
	stop(&guest, captured);
	ranges.pop();
	ranges.push("train");
	for (unsigned i = 0; i < 5000; i++)
		ranges_call(&guest, guest.context, "AllReduce");
	ranges_play(&guest, guest.context, captured);
	CHECK_EQUAL(find("capture")->operations, 1, "a replay");
	CHECK_EQUAL(find("train")->operations, 0, "not where it is launched");
	check_losses(&guest, "after a replay", END_OF_LOSSES);
	guest_close(&guest);
}

SCENARIO(forgotten_call_is_counted_as_loss)
{
	void *old;

	come();
	ranges.push("step");
	old = ranges_call(&guest, guest.context, "AllReduce");
	for (unsigned i = 0; i < 5000; i++)
		ranges_call(&guest, guest.context, "AllReduce");
	ranges_play(&guest, guest.context, old);
	CHECK_EQUAL(find("step")->operations, 0, "the call is no longer known");
	check_losses(&guest, "after so many calls", NCS_LOSS_RANGE, 1,
		     END_OF_LOSSES);
	guest_close(&guest);
}

/* --- NVTX -------------------------------------------------------------- */

SCENARIO(nvtx_ranges_are_ranges)
{
	struct nvtx_copy copy = { 0 }, second = { 0 };
	const struct nvtx_domain *domain;
	const struct nvtx_string *name;
	struct nvtx_attributes attributes = {
		.version = 3,
		.bytes = sizeof(attributes),
		.message_type = NVTX_MESSAGE_ASCII,
		.message.ascii = "with attributes",
	};
	uint64_t id;

	CHECK(nvtx_copy_load(&copy, NCS_PLUGIN_PATH),
	      "the plugin accepts NVTX");
	CHECK_EQUAL(nvtx_push(&copy, "early"), 0, "before NCCL is there");
	come();
	CHECK(nvtx_copy_load(&second, NCS_PLUGIN_PATH), "each copy's");
	call();
	ranges_expect_calls(&guest.view, "early", 1, "text");
	CHECK_EQUAL(nvtx_push_wide(&second, L"breit \x20ac"), 1, "one stack");
	call();
	ranges_expect_calls(&guest.view, "early/breit \xe2\x82\xac", 1, "wide");
	CHECK_EQUAL(nvtx_pop(&copy), 1, "one stack");
	nvtx_push_attributes(&copy, &attributes);
	call();
	ranges_expect_calls(&guest.view, "early/with attributes", 1, "text");
	nvtx_pop(&copy);
	attributes.message_type = NVTX_MESSAGE_NONE;
	nvtx_push_attributes(&copy, &attributes);
	call();
	ranges_expect_calls(&guest.view, "early/", 1, "none");
	nvtx_pop(&copy);
	nvtx_pop(&copy);
	CHECK_EQUAL(nvtx_pop(&copy), -2, "as NVTX says that there is none");
	domain = nvtx_domain(&copy, "torch");
	name = nvtx_string(&copy, domain, "registered");
	nvtx_domain_push(&copy, domain, name);
	nvtx_push(&copy, "in");
	call();
	ranges_expect_calls(&guest.view, "registered/in", 1, "by handle");
	CHECK(nvtx_domain_pop(&copy, nvtx_domain(&copy, "empty")) == -2,
	      "a domain pops its own only");
	CHECK_EQUAL(nvtx_domain_pop(&copy, domain), 0, "from under another");
	call();
	ranges_expect_calls(&guest.view, "in", 1, "the remaining range");
	nvtx_pop(&copy);
	id = nvtx_start(&copy, "process");
	nvtx_mark(&copy, "now");
	call();
	ranges_expect_calls(&guest.view, "process", 1, "of no thread");
	nvtx_end(&copy, id);
	call();
	ranges_expect_calls(&guest.view, "process", 1, "it is over");
	check_losses(&guest, "with NVTX", END_OF_LOSSES);
	guest_close(&guest);
}

SCENARIO(nvtx_ranges_of_nccl_name_calls_that_the_api_hides)
{
	struct nvtx_copy copy = { 0 };
	const struct nvtx_domain *nccl;
	void *send;

	nvtx_copy_load(&copy, NCS_PLUGIN_PATH);
	come();
	nccl = nvtx_domain(&copy, "NCCL");
	nvtx_push(&copy, "exchange");
	nvtx_domain_push(&copy, nccl, nvtx_string(&copy, nccl, "ncclAlltoAll"));
	send = ranges_call(&guest, guest.context, "Send");
	ranges_call(&guest, guest.context, "Recv");
	nvtx_domain_pop(&copy, nccl);
	ranges_play(&guest, guest.context, send);
	ranges_expect_calls(&guest.view, "exchange/AlltoAll", 2,
			    "what NCCL made of it");
	CHECK_EQUAL(find("exchange/AlltoAll")->operations, 1, "operations");
	nvtx_domain_push(&copy, nccl,
			 nvtx_string(&copy, nccl, "ncclAllReduce"));
	call();
	nvtx_domain_pop(&copy, nccl);
	nvtx_domain_push(&copy, nccl, nvtx_string(&copy, nccl, "ncclGroupEnd"));
	call();
	CHECK_EQUAL(nvtx_domain_start(&copy, nccl,
				      nvtx_string(&copy, nccl, "ncclX")),
		    0, "not followed");
	nvtx_domain_pop(&copy, nccl);
	ranges_expect_calls(&guest.view, "exchange", 2, "as the profiler says");
	CHECK_EQUAL(guest.view.now.range_count, 2, "no further range");
	nvtx_pop(&copy);
	nvtx_domain_push(&copy, nccl, nvtx_string(&copy, nccl, "ncclGather"));
	ranges_call(&guest, guest.context, "Send");
	nvtx_domain_pop(&copy, nccl);
	ranges_expect_calls(&guest.view, "Gather", 1, "in no range");
	guest_close(&guest);
}

static void chain(void *argument)
{
	void *library = dlopen(NCS_NEXT "/nvtx-tool.so", RTLD_NOW);
	struct nvtx_copy copy = { 0 }, second = { 0 };
	const struct nvtx_tool_counts *counts;
	const struct nvtx_domain *domain;
	const struct nvtx_string *name;
	uint64_t id;

	(void)argument;
	CHECK(library, "%s", dlerror());
	counts = dlsym(library, "nvtx_tool_counts");
	CHECK(nvtx_copy_load(&copy, NCS_PLUGIN_PATH),
	      "the plugin accepts NVTX");
	CHECK(nvtx_copy_load(&second, NCS_PLUGIN_PATH), "each copy's");
	come();
	CHECK_EQUAL(nvtx_push(&copy, "step"), 1000, "the tool's return value");
	CHECK_EQUAL(nvtx_push(&second, "inner"), 1001,
		    "the tool's return value");
	CHECK(counts->pushes == 2 && strcmp(counts->latest, "inner") == 0,
	      "the tool got it");
	nvtx_push_wide(&copy, L"wide");
	call();
	ranges_expect_calls(&guest.view, "step/inner/wide", 1, "and so did we");
	nvtx_pop(&copy);
	nvtx_pop(&copy);
	CHECK_EQUAL(nvtx_pop(&copy), 999, "the tool's return value");
	CHECK_EQUAL(counts->pops, 3, "all of them");
	id = nvtx_start(&copy, "started");
	CHECK_EQUAL(id, (UINT64_C(1) << 40) + 1, "the tool's number");
	call();
	ranges_expect_calls(&guest.view, "started", 1, "under its number");
	nvtx_end(&copy, id);
	CHECK_EQUAL(counts->ended, id, "the tool's number");
	call();
	ranges_expect_calls(&guest.view, "started", 1, "it is over");
	domain = nvtx_domain(&copy, "d");
	name = nvtx_string(&copy, domain, "its string");
	CHECK_EQUAL(nvtx_domain_push(&copy, domain, name), 7, "the tool's");
	CHECK(counts->domain == domain && counts->message == name,
	      "its own handles");
	call();
	ranges_expect_calls(&guest.view, "its string", 1, "by its handle");
	CHECK_EQUAL(nvtx_domain_pop(&copy, domain), 0,
		    "the other tool has no such call");
	check_losses(&guest, "with another tool", END_OF_LOSSES);
	guest_close(&guest);
}

TEST(chained_nvtx_tool_gets_all_calls)
{
	setenv("NCCLSTAT_NVTX_CHAIN", NCS_NEXT "/nvtx-tool.so", 1);
	scenario_play(chain, NULL);
	unsetenv("NCCLSTAT_NVTX_CHAIN");
}

/* --- Marks ------------------------------------------------------------- */

SCENARIO(mark_becomes_a_record)
{
	struct ncs_record found;
	const struct ncs_range_view *range;

	come();
	ranges.push("step");
	call();
	read_all_records(&guest);
	ranges.mark("checkpoint");
	CHECK(next_record(&guest, &found), "no record");
	CHECK_EQUAL(found.event, NCS_EVENT_MARK, "a mark");
	range = find("step/checkpoint");
	CHECK_EQUAL(found.value, range->number, "where it was set");
	CHECK_EQUAL(range->calls, 0, "a mark is not a range");
	guest_close(&guest);
}

/* --- Cost for the program ---------------------------------------------- */

static void annotate(struct nvtx_copy *copy, const struct nvtx_domain *domain,
		     const struct nvtx_string *name)
{
	for (unsigned i = 0; i < 2000; i++) {
		nvtx_push(copy, "step");
		nvtx_push_wide(copy, L"wide");
		nvtx_domain_push(copy, domain, name);
		nvtx_end(copy, nvtx_start(copy, "started"));
		ranges.push("own");
		ranges.end(ranges.start("process"));
		ranges.mark("mark");
		ranges_call(&guest, guest.context, "AllReduce");
		stop(&guest, start_coll(&guest, i, GUEST_COLL_ELEMENTS));
		nvtx_pop(copy);
		nvtx_domain_pop(copy, domain);
		ranges.pop();
		nvtx_pop(copy);
		nvtx_pop(copy);
	}
}

/* From here on any system call except exit_group ends the process. (The kernel's
 * strict mode also forbids reading the time stamp counter.) */
static bool allow_no_system_call(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void be_quiet(void *argument)
{
	struct nvtx_copy copy = { 0 };
	const struct nvtx_domain *domain;
	const struct nvtx_string *name;
	size_t before;

	(void)argument;
	nvtx_copy_load(&copy, NCS_PLUGIN_PATH);
	come();
	domain = nvtx_domain(&copy, "domain");
	name = nvtx_string(&copy, domain, "string");
	if (!allow_no_system_call())
		scenario_skip("no seccomp here");
	before = mallinfo2().uordblks;
	annotate(&copy, domain, name);
	syscall(SYS_exit_group, mallinfo2().uordblks == before ? 0 : 3);
}

TEST(range_calls_make_no_system_call_and_allocate_nothing)
{
	pid_t child;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* their own thread's */
#endif
	scenario_prepare();
	child = scenario_start(be_quiet, NULL);
	scenario_expect_success(child);
	scenario_clean_up(LEAVES_OBJECTS);
}
