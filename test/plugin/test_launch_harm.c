/* SPDX-License-Identifier: MIT */
/* The harm that following launches must not do: to a stream capture, to a job
 * whose driver fails or hangs, to one that finalizes, forks or ends in the
 * middle of a launch. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/plugin/cuda_job.h"

#include "ncclstat/abi.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define FOREVER FAKE_CUDA_UNTIL_FINISHED

/* --- Captures ---------------------------------------------------------- */

/* The fake driver must notice what the plugin must not do. */
SCENARIO(fake_driver_notices_a_spoiled_capture)
{
	void *library, *other, *event;
	int (*create)(void **event, unsigned flags);
	int (*record_event)(void *event, void *stream);
	int (*query)(void *event);
	int (*exchange_mode)(int *mode);
	int mode = FAKE_CUDA_RELAXED;

	cuda_job_load("cuda.so");
	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	CHECK(library, "it has another name");
	*(void **)&create = dlsym(library, "cuEventCreate");
	*(void **)&record_event = dlsym(library, "cuEventRecord");
	*(void **)&query = dlsym(library, "cuEventQuery");
	*(void **)&exchange_mode =
		dlsym(library, "cuThreadExchangeStreamCaptureMode");
	other = cuda->stream_create();
	CHECK(create(&event, 0) == 0 && query(event) == 0, "no event");
	cuda->capture_begin(other, FAKE_CUDA_GLOBAL);
	CHECK_EQUAL(query(event), FAKE_CUDA_CAPTURE_UNSUPPORTED, "unsafe");
	CHECK(!cuda->capture_end(other), "it is spoiled");
	cuda->capture_begin(other, FAKE_CUDA_GLOBAL);
	exchange_mode(&mode);
	CHECK_EQUAL(query(event), 0, "it is relaxed");
	CHECK_EQUAL(record_event(event, other), 0, "it is captured");
	CHECK_EQUAL(query(event), FAKE_CUDA_CAPTURED_EVENT, "it is captured");
	exchange_mode(&mode);
	CHECK_EQUAL(mode, FAKE_CUDA_RELAXED, "the mode before");
	CHECK(cuda->capture_end(other), "it is not spoiled");
	CHECK_EQUAL(cuda->counts().spoiled, 1, "spoiled");
	CHECK_EQUAL(cuda->counts().captured_events, 1, "captured");
}

static pthread_barrier_t barrier;

struct capture {
	enum fake_cuda_mode mode;
	bool elsewhere; /* by another thread */
	void *stream;
};

static void *capture_launches(void *argument)
{
	struct capture *capture = argument;

	cuda->context_use(job.gpu);
	capture->stream = cuda->stream_create();
	cuda->capture_begin(capture->stream, capture->mode);
	for (unsigned i = 0; i < 5; i++)
		cuda_job_launch_in(job.guest.context, capture->stream, 0);
	if (capture->elsewhere)
		pthread_barrier_wait(&barrier);
	return NULL;
}

/* In mid-capture: launches are followed and looked at, a communicator comes and
 * makes its events, another one goes. */
static void go_on_while_capturing(void *second)
{
	void *third, *other = cuda->stream_create();

	cuda_job_call(0);
	cuda_job_expect_all_ended("beside the capture");
	cuda_job_finalize_in(second);
	third = init_comm(job.guest.host, "third", 0);
	cuda_job_call_in(third, other, FOREVER);
	WAIT_UNTIL(PROGRESS(cuda_job_map(2), begun) == 1, "a new one");
	cuda_job_finalize_in(third);
	cuda->finish(other);
}

static void capture_and_go_on(void *argument)
{
	struct capture *capture = argument;
	struct fake_cuda_counts counts;
	uint64_t before;
	pthread_t thread;
	void *second, *other;

	cuda_job_come("all");
	other = cuda->stream_create();
	second = init_comm(job.guest.host, "second", 0);
	cuda_job_call_in(second, other, FOREVER);
	WAIT_UNTIL(PROGRESS(cuda_job_map(1), begun) == 1, "the second");
	before = JOB_PROGRESS(launched);
	cuda->launch(job.stream, FOREVER);
	cuda_job_call(0);
	pthread_barrier_init(&barrier, NULL, 2);
	if (capture->elsewhere) {
		CHECK(pthread_create(&thread, NULL, capture_launches,
				     capture) == 0,
		      "no thread");
		pthread_barrier_wait(&barrier);
		pthread_join(thread, NULL);
	} else {
		capture_launches(capture);
	}
	counts = cuda->counts();
	CHECK_EQUAL(JOB_PROGRESS(captured), 5, "captured");
	CHECK_EQUAL(JOB_PROGRESS(launched), before + 1, "they have no number");
	CHECK_EQUAL(counts.captured_kernels, 5, "captured");
	CHECK(cuda->finish(job.stream), "the application's kernel");
	go_on_while_capturing(second);
	counts = cuda->counts();
	CHECK_EQUAL(counts.captured_events, 0, "no event was captured");
	CHECK_EQUAL(counts.spoiled, 0, "no call spoils it");
	CHECK(counts.calls_in_capture[FAKE_CUDA_EVENT_QUERY] > 0 &&
		      counts.calls_in_capture[FAKE_CUDA_EVENT_CREATE] > 0 &&
		      counts.calls_in_capture[FAKE_CUDA_EVENT_DESTROY] > 0,
	      "calls were made that could have");
	CHECK(cuda->capture_end(capture->stream), "the capture is invalid");
	cuda->finish(other);
	cuda_job_call(0);
	cuda_job_expect_all_ended("afterwards");
	cuda_job_close();
}

TEST(capture_is_left_alone)
{
	for (int mode = FAKE_CUDA_GLOBAL; mode <= FAKE_CUDA_RELAXED; mode++)
		for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
			struct capture capture = {
				.mode = (enum fake_cuda_mode)mode,
				.elsewhere = elsewhere,
			};

			scenario_play(capture_and_go_on, &capture);
		}
}

static void *report_replay(void *unused)
{
	cuda_job_operation(0);
	return unused;
}

/* All that a job launches is captured: nothing is followed, nothing runs. */
SCENARIO(captured_launches_that_do_not_report_start_nothing)
{
	struct capture capture = { .mode = FAKE_CUDA_GLOBAL };
	pthread_t thread;

	setenv("NCCLSTAT_GRAPHS", "off", 1);
	cuda_job_open("cuda.so", "all", LAST_API);
	capture_launches(&capture);
	CHECK(cuda->capture_end(capture.stream), "the capture is invalid");
	CHECK_EQUAL(JOB_PROGRESS(captured), 5, "captured");
	CHECK_EQUAL(JOB_PROGRESS(launched), 0, "launched");
	CHECK_EQUAL(cuda->counts().captured_events, 0, "events");
	CHECK_EQUAL(cuda->counts().spoiled, 0, "calls");
	CHECK(!cuda_job_is_watched(), "a thread without a launch");
	/* A replay of the graph reports operations of no launch, on a thread of
	 * CUDA's. */
	CHECK(pthread_create(&thread, NULL, report_replay, NULL) == 0,
	      "no thread");
	pthread_join(thread, NULL);
	CHECK_EQUAL(cuda_job_find(job.header, 1)->launch, 0, "its launch");
	cuda_job_close();
}

/* The legacy stream may not be used while another stream is captured. */
SCENARIO(legacy_stream_is_left_alone_during_captures)
{
	void *other;

	cuda_job_come("all");
	other = cuda->stream_create();
	cuda->capture_begin(other, FAKE_CUDA_RELAXED);
	cuda_job_launch_in(job.guest.context, NULL, 0);
	CHECK_EQUAL(cuda->counts().spoiled, 0, "calls");
	CHECK(cuda->capture_end(other), "the capture is invalid");
	cuda_job_call_in(job.guest.context, NULL, 0);
	cuda_job_expect_all_ended("the legacy stream");
	cuda_job_close();
}

/* --- Errors ------------------------------------------------------------ */

static uint64_t all_calls(void)
{
	struct fake_cuda_counts counts = cuda->counts();
	uint64_t sum = 0;

	/* The mode is exchanged around calls that may not be made at all. */
	for (unsigned i = 0; i < FAKE_CUDA_EXCHANGE_CAPTURE_MODE; i++)
		sum += counts.calls[i];
	return sum;
}

static void expect_failure(int error)
{
	WAIT_UNTIL(JOB_PROGRESS(status) == NCS_STREAM_FAILED, "status");
	CHECK_EQUAL(JOB_PROGRESS(failure), error, "the driver's error");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
}

/* Plays launches without kernels: the stream may be gone. After an error the
 * driver is left alone. */
static void expect_no_more_calls(void)
{
	struct host_event event = {
		.type = NCCL_EVENT_KERNEL_LAUNCH,
		.stream = job.stream,
	};
	uint64_t calls;

	WAIT_UNTIL(!cuda_job_is_watched(), "the thread does not end");
	calls = all_calls();
	for (unsigned i = 0; i < 100; i++) {
		stop(&job.guest, start(&job.guest, &event));
		cuda_job_operation(i);
	}
	CHECK(!cuda_job_is_watched(), "a new thread");
	CHECK_EQUAL(all_calls(), calls, "calls after an error");
}

/* Others go on with what there is now: a second communicator is timed. */
static void go_on_with_second(void)
{
	void *second = init_comm(job.guest.host, "second", 0);
	void *stream = cuda->stream_create();

	job.header = cuda_job_map(1);
	do {
		cuda_job_call_in(second, stream, 0);
		cuda_job_let_events_return();
	} while (JOB_PROGRESS(timed) == 0);
	cuda_job_finalize_in(second);
}

SCENARIO(reset_of_the_device_ends_following)
{
	cuda_job_come("all");
	for (unsigned i = 0; i < 10; i++)
		cuda_job_call(FOREVER);
	WAIT_UNTIL(JOB_PROGRESS(begun) > JOB_PROGRESS(ended), "begun");
	cuda->primary_reset(0);
	expect_failure(FAKE_CUDA_CONTEXT_IS_DESTROYED);
	expect_no_more_calls();
	CHECK_EQUAL(cuda->counts().orphan_handles, 0, "calls with old handles");
	check_still_follows(&job.guest, "after an error");
	cuda->primary_use(0);
	go_on_with_second();
	cuda_job_close_after_error();
}

/* The thread looks again only when the context is in use again: then handles of
 * before would end the process. */
SCENARIO(reset_that_nobody_saw_ends_following)
{
	cuda_job_come("all");
	cuda_job_call(FOREVER);
	cuda->hold(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	WAIT_UNTIL(cuda->held(FAKE_CUDA_EXCHANGE_CAPTURE_MODE) == 1,
		   "it looks no more");
	cuda->primary_reset(0);
	cuda->primary_use(0);
	job.stream = cuda->stream_create();
	cuda_job_launch(0);
	CHECK(JOB_PROGRESS(followed) < JOB_PROGRESS(launched),
	      "its events are gone");
	cuda->let_go(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	expect_failure(FAKE_CUDA_CONTEXT_IS_DESTROYED);
	go_on_with_second();
	cuda_job_close_after_error();
}

/* --- Contexts of the application's ------------------------------------- */

static void expect_other_context(uint64_t launches)
{
	CHECK_EQUAL(ncs_load_relaxed(&job.header->other_context), launches,
		    "launches in another context");
	CHECK_EQUAL(JOB_PROGRESS(status), NCS_STREAM_OTHER_CONTEXT, "status");
	CHECK_EQUAL(JOB_PROGRESS(launched), 0, "they have no number");
	CHECK_EQUAL(cuda->counts().events, 0, "events in it");
	CHECK(!cuda_job_is_watched(), "a thread for nothing");
}

/* Whether the communicator is finalized before its context is destroyed,
 * afterwards, or never; and whether launches are pending then. */
struct destruction {
	enum { BEFORE, AFTER, NEVER } finalize;
	bool pending;
	bool primary; /* the device's primary context is in use, too */
};

static void destroy_own_context(void *argument)
{
	const struct destruction *destruction = argument;
	void *own;

	cuda_job_load("cuda.so");
	if (!destruction->primary)
		cuda->primary_reset(0);
	setenv("NCCLSTAT_TIMING", "all", 1);
	guest_open(&job.guest, LAST_API);
	job.header = cuda_job_map(0);
	own = cuda->context_create();
	cuda->context_use(own);
	job.stream = cuda->stream_create();
	for (unsigned i = 0; i < 5; i++)
		cuda_job_call(destruction->pending ? FOREVER : 0);
	expect_other_context(5);
	check_losses(&job.guest, "another context", END_OF_LOSSES);
	if (destruction->finalize == BEFORE)
		cuda_job_finalize();
	cuda->context_use(NULL);
	cuda->context_destroy(own);
	CHECK_EQUAL(cuda->counts().primaries_made, 0,
		    "a context that nobody wanted");
	CHECK_EQUAL(cuda->counts().retained, 0, "retained");
	if (destruction->finalize == AFTER)
		cuda_job_finalize();
	cuda->context_use(cuda->primary_use(0));
	go_on_with_second();
	cuda_job_expect_nothing_left();
}

TEST(context_of_the_applications_is_left_alone)
{
	for (unsigned i = 0; i < 12; i++) {
		struct destruction destruction = {
			.finalize = i % 3,
			.pending = i / 3 % 2,
			.primary = i / 6,
		};

		scenario_play(destroy_own_context, &destruction);
	}
}

/* A communicator launches in the primary context and in another one. */
SCENARIO(launches_of_several_contexts_are_told_apart)
{
	void *own, *stream;
	uint64_t before;

	cuda_job_come("all");
	before = JOB_PROGRESS(launched);
	own = cuda->context_create();
	cuda->context_use(own);
	stream = cuda->stream_create();
	cuda_job_call_in(job.guest.context, stream, FOREVER);
	CHECK_EQUAL(ncs_load_relaxed(&job.header->other_context), 1, "one");
	cuda->context_destroy(own);
	cuda->context_use(job.gpu);
	cuda_job_call(0);
	cuda_job_expect_progress(job.header, before + 1, before + 1,
				 "the others are followed");
	cuda_job_close();
}

SCENARIO(primary_context_is_retained_and_released)
{
	cuda_job_come("all");
	CHECK_EQUAL(cuda->counts().retained, 1, "retained");
	CHECK_EQUAL(cuda->counts().primaries_made, 0, "not made");
	cuda_job_close();
}

/* Plays a launch that fails. Meanwhile the watch thread does not look: it gives
 * up what has been reported, soon after the error. */
static void call_unwatched(void)
{
	cuda->hold(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	cuda_job_call(0);
	cuda->let_go(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
}

struct failure {
	enum fake_cuda_call call;
	int error;
};

static void fail_in_job(void *argument)
{
	const struct failure *failure = argument;

	cuda_job_come("all");
	cuda->launch(job.stream, FOREVER);
	cuda_job_call(0);
	cuda_job_call(0);
	cuda->fail_next(failure->call, 1, failure->error);
	if (failure->call == FAKE_CUDA_EVENT_RECORD)
		call_unwatched();
	expect_failure(failure->error);
	cuda->finish(job.stream);
	expect_no_more_calls();
	check_losses(&job.guest, "an error", END_OF_LOSSES);
	cuda_job_close_after_error();
}

TEST(error_of_the_driver_ends_following)
{
	static const struct failure failures[] = {
		{ FAKE_CUDA_EVENT_QUERY, 700 },
		{ FAKE_CUDA_EVENT_RECORD, FAKE_CUDA_INVALID_HANDLE },
		{ FAKE_CUDA_CONTEXT_SET, FAKE_CUDA_INVALID_CONTEXT },
	};

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		struct failure failure = failures[i];

		scenario_play(fail_in_job, &failure);
	}
}

static void fail_at_start(void *argument)
{
	const struct failure *failure = argument;

	cuda_job_open("cuda.so", "all", LAST_API);
	cuda->fail_next(failure->call, 1, failure->error);
	call_unwatched();
	expect_failure(failure->error);
	expect_no_more_calls();
	cuda_job_close_after_error();
}

TEST(events_that_cannot_be_made_end_following)
{
	static const struct failure failures[] = {
		{ FAKE_CUDA_EVENT_CREATE, FAKE_CUDA_OUT_OF_MEMORY },
		{ FAKE_CUDA_CONTEXT_SET, FAKE_CUDA_INVALID_CONTEXT },
	};

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		struct failure failure = failures[i];

		scenario_play(fail_at_start, &failure);
	}
}

/* Without a stream of its own the plugin cannot compare the clocks. */
SCENARIO(launches_are_timed_without_a_clock)
{
	uint64_t before;

	cuda_job_open("cuda.so", "all", LAST_API);
	cuda->fail_next(FAKE_CUDA_STREAM_CREATE, 1, FAKE_CUDA_OUT_OF_MEMORY);
	cuda_job_settle(true);
	before = cuda_job_times(job.header).timed;
	cuda_job_call(1000);
	cuda->advance(1000);
	WAIT_UNTIL(cuda_job_times(job.header).timed == before + 1, "its time");
	CHECK(JOB_PROGRESS(status) == NCS_STREAM_ALL, "status");
	cuda_job_close();
}

SCENARIO(driver_that_hangs_holds_up_nothing_else)
{
	cuda_job_come("all");
	cuda_job_call(FOREVER);
	cuda->hold(FAKE_CUDA_EVENT_QUERY);
	WAIT_UNTIL(cuda->held(FAKE_CUDA_EVENT_QUERY) == 1, "a thread hangs");
	CHECK(JOB_PROGRESS(watch_since) != 0, "that shows");
	cuda_job_call(FOREVER);
	CHECK_EQUAL(JOB_PROGRESS(followed), JOB_PROGRESS(launched),
		    "launches are not held up");
	cuda_job_finalize();
	cuda->let_go(FAKE_CUDA_EVENT_QUERY);
	cuda_job_close_finalized();
}

/* --- Locks -------------------------------------------------------------- */

#ifndef NCS_TSAN
static __thread bool in_callback;
static uint64_t locks_in_callbacks;

static bool is_in_library(const void *address)
{
	Dl_info object;

	return dladdr(address, &object) && strstr(object.dli_fname, ".so");
}

/* Called by the plugin, too, instead of the C library's. */
__attribute__((visibility("default"))) int
pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*lock)(pthread_mutex_t * mutex);

	if (in_callback && is_in_library(__builtin_return_address(0)))
		locks_in_callbacks++;
	if (!lock)
		*(void **)&lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	return lock(mutex);
}

static uint64_t locks_of_a_launch(void)
{
	struct host_event event = {
		.type = NCCL_EVENT_KERNEL_LAUNCH,
		.stream = job.stream,
	};
	void *handle;

	locks_in_callbacks = 0;
	in_callback = true;
	handle = start(&job.guest, &event);
	cuda->launch(job.stream, 0);
	stop(&job.guest, handle);
	in_callback = false;
	return locks_in_callbacks;
}

/* The first launch of a communicator starts the watch thread. */
SCENARIO(launches_take_no_lock)
{
	cuda_job_open("cuda.so", "all", LAST_API);
	CHECK_EQUAL(locks_of_a_launch(), 0, "the first launch");
	cuda_job_settle(true);
	CHECK_EQUAL(locks_of_a_launch(), 0, "another one");
	in_callback = true;
	cuda_job_finalize();
	in_callback = false;
	CHECK(locks_in_callbacks > 0, "locks are not seen");
	cuda_job_close_finalized();
}
#endif

/* --- Finalize, fork, exit ---------------------------------------------- */

SCENARIO(finalize_leaves_pending_launches)
{
	cuda_job_come("all");
	for (unsigned i = 0; i < 20; i++)
		cuda_job_call(FOREVER);
	cuda_job_finalize();
	CHECK_EQUAL(cuda_job_in_flight(job.header), 20,
		    "what was in flight is not said to be done");
	cuda_job_expect_nothing_left();
	/* The next communicators have the same entry. */
	cuda->finish_all(job.stream);
	cuda_job_come_next();
	CHECK_EQUAL(JOB_PROGRESS(launched), 0, "it has launched nothing");
	cuda_job_operation(0);
	CHECK_EQUAL(cuda_job_find(job.header, 1)->launch, 0,
		    "an operation without a launch");
	cuda_job_finalize();
	cuda_job_come_next();
	cuda_job_settle(true);
	cuda_job_close();
}

/* The thread is in a call that the driver does not return from. */
SCENARIO(finalize_leaves_the_last_look_to_the_thread)
{
	uint64_t done_before, before;

	cuda_job_come("all");
	done_before = cuda_job_done(job.header);
	before = JOB_PROGRESS(launched);
	cuda_job_call(FOREVER);
	cuda_job_call(FOREVER);
	cuda_job_expect_progress(job.header, before + 1, before, "begun");
	cuda->hold(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	WAIT_UNTIL(cuda->held(FAKE_CUDA_EXCHANGE_CAPTURE_MODE) == 1,
		   "it looks no more");
	cuda->finish(job.stream);
	cuda_job_finalize();
	CHECK_EQUAL(JOB_PROGRESS(ended), before, "nobody has looked yet");
	cuda->let_go(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	WAIT_UNTIL(JOB_PROGRESS(ended) == before + 1, "it had ended");
	WAIT_UNTIL(cuda_job_done(job.header) == done_before + 1,
		   "and its operation");
	cuda_job_close_finalized();
	CHECK_EQUAL(cuda_job_in_flight(job.header), 1, "the other one had not");
	CHECK(JOB_PROGRESS(status) == NCS_STREAM_ALL, "status");
}

/* A process may end directly after finalize. The thread wakes up for it; on a
 * machine that is busy it may come too late, but not each time. */
SCENARIO(finalize_ends_what_has_ended)
{
	unsigned in_time = 0;

	cuda_job_open("cuda.so", "all", LAST_API);
	for (unsigned i = 0; i < 20; i++) {
		cuda_job_settle(true);
		cuda_job_call(FOREVER);
		cuda->finish(job.stream);
		cuda_job_finalize();
		in_time += JOB_PROGRESS(ended) == JOB_PROGRESS(launched) &&
			   cuda_job_in_flight(job.header) == 0;
		cuda_job_come_next();
	}
	CHECK(in_time >= 10, "%u of 20 ended at finalize", in_time);
	cuda_job_close();
}

/* The communicator's memory is another's before the thread looks again. */
SCENARIO(last_look_leaves_the_next_communicator_alone)
{
	setenv("NCCLSTAT_SHM_BYTES", "1M", 1);
	cuda_job_come("all");
	cuda_job_call(FOREVER);
	cuda->hold(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	WAIT_UNTIL(cuda->held(FAKE_CUDA_EXCHANGE_CAPTURE_MODE) == 1,
		   "it looks no more");
	cuda->finish(job.stream);
	cuda_job_finalize();
	cuda_job_come_next();
	cuda_job_operation(0);
	cuda->let_go(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	cuda_job_expect_thread_gone();
	CHECK_EQUAL(JOB_PROGRESS(ended), 0,
		    "the next one has launched nothing");
	CHECK_EQUAL(cuda_job_done(job.header), 0, "nothing of it has ended");
	cuda_job_close();
}

/* --- A driver that does not return ------------------------------------- */

static enum fake_cuda_call blocked;
static uint64_t block_ends;

/* Makes, uses and finalizes communicators on another device until a call of the
 * driver by this thread or by the plugin's does not return. */
static void *run_into_block(void *unused)
{
	(void)unused;
	cuda->context_use(cuda->primary_use(1));
	for (unsigned i = 0;
	     cuda->held(blocked) == 0 && ncs_load_relaxed(&block_ends) == 0;
	     i++) {
		void *stream = cuda->stream_create();
		void *context;

		CHECK(i < 5000, "function %d is never called", (int)blocked);
		context = init_comm(job.guest.host, "blocked", 0);
		cuda_job_call_in(context, stream, 0);
		/* The plugin's thread can take it up, and close what is left. */
		cuda_job_let_spacing_pass();
		cuda_job_call_in(context, stream, 0);
		cuda->capture_begin(stream, FAKE_CUDA_THREAD_LOCAL);
		cuda_job_call_in(context, stream, 0);
		cuda->capture_end(stream);
		cuda_job_finalize_in(context);
		cuda_job_let_spacing_pass();
	}
	return NULL;
}

/* All that the application does of other communicators goes on. */
static void go_on_beside_block(void *argument)
{
	void *other, *stream;
	pthread_t thread;

	blocked = *(const enum fake_cuda_call *)argument;
	cuda_job_load("cuda.so");
	/* Init asks for the name of the GPU. */
	cuda->gpu = 3;
	setenv("NCCLSTAT_TIMING", "all", 1);
	guest_open(&job.guest, LAST_API);
	job.header = cuda_job_map(0);
	job.stream = cuda->stream_create();
	other = init_comm(job.guest.host, "other", 0);
	stream = cuda->stream_create();
	cuda_job_call_in(other, stream, 0);
	cuda_job_settle(true);
	cuda->hold_one(blocked);
	CHECK(pthread_create(&thread, NULL, run_into_block, NULL) == 0,
	      "no thread");
	WAIT_UNTIL(cuda->held(blocked) == 1, "function %d", (int)blocked);
	for (unsigned i = 0; i < 20; i++) {
		void *next = init_comm(job.guest.host, "next", 0);

		cuda_job_call_in(next, stream, 0);
		cuda_job_call_in(other, stream, 0);
		cuda_job_call(0);
		cuda_job_finalize_in(next);
	}
	cuda_job_finalize_in(other);
	cuda_job_finalize();
	CHECK_EQUAL(cuda->held(blocked), 1, "it is still blocked");
	ncs_store_relaxed(&block_ends, 1);
	cuda->let_go(blocked);
	pthread_join(thread, NULL);
	cuda_job_close_finalized();
}

TEST(driver_that_blocks_holds_up_its_caller_only)
{
	for (int i = 0; i < FAKE_CUDA_CALL_COUNT; i++) {
		enum fake_cuda_call call = (enum fake_cuda_call)i;

		scenario_play(go_on_beside_block, &call);
	}
}

/* NCCL may finalize a communicator without a context of the thread's. */
SCENARIO(finalize_needs_no_context)
{
	cuda_job_come("all");
	cuda_job_call(0);
	cuda->context_use(NULL);
	cuda_job_finalize();
	cuda_job_expect_all_ended("without a context");
	CHECK(JOB_PROGRESS(status) == NCS_STREAM_ALL, "status");
	cuda_job_close_finalized();
}

/* A communicator is aborted while a thread of it is in a launch. */
SCENARIO(finalize_in_mid_launch_leaves_nothing)
{
	struct host_event event = { .type = NCCL_EVENT_KERNEL_LAUNCH };
	void *handle;

	cuda_job_come("all");
	event.stream = job.stream;
	handle = start(&job.guest, &event);
	cuda_job_finalize();
	cuda_job_expect_nothing_left();
	host_stop(job.guest.host, handle);
	cuda_job_close_finalized();
}

SCENARIO(thread_comes_and_goes_with_communicators)
{
	cuda_job_open("cuda.so", "all", LAST_API);
	for (unsigned i = 0; i < 10; i++) {
		cuda_job_settle(true);
		cuda_job_call(FOREVER);
		cuda_job_finalize();
		cuda->finish(job.stream);
		if (i % 2)
			cuda_job_expect_nothing_left();
		cuda_job_come_next();
	}
	cuda_job_close();
}

static void be_child(uint64_t before)
{
	struct guest child = job.guest;
	size_t place;

	child.context = init_comm(job.guest.host, "child", 2);
	/* Numbers of processes begin anew: the child's may be the smaller. */
	place = cuda_job_map(0)->pid == (uint32_t)getpid() ? 0 : 1;
	view_open(&child.view, place);
	for (unsigned i = 0; i < 100; i++)
		cuda_job_call_in(child.context, NULL, 0);
	CHECK_EQUAL(JOB_PROGRESS(launched), before, "the parent's launches");
	CHECK(!cuda_job_is_watched(), "a thread in a child without a driver");
	CHECK_EQUAL(PROGRESS(cuda_job_map(place), status), NCS_STREAM_WAITING,
		    "nothing is timed");
	play_coll(&child, 1);
	check_losses(&child, "child", END_OF_LOSSES);
	CHECK(host_finalize(child.host, child.context) == NCCL_SUCCESS,
	      "finalize");
	exit(0);
}

SCENARIO(forked_child_leaves_launches_to_its_parent)
{
	uint64_t before;
	int status;
	pid_t pid;

	cuda_job_come("all");
	before = JOB_PROGRESS(launched);
	for (unsigned i = 0; i < 5; i++)
		cuda_job_call(FOREVER);
	for (unsigned i = 0; i < 10; i++) {
		pid = scenario_fork();
		if (pid == 0) {
			alarm(100);
			be_child(before + 5);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0,
		      "the child failed");
		cuda->finish(job.stream);
	}
	cuda_job_expect_progress(job.header, before + 5, before + 5,
				 "the parent goes on");
	cuda_job_close();
}

/* Exit without finalize, with a thread that looks. */
SCENARIO(process_ends_with_pending_launches)
{
	cuda_job_come("all");
	for (unsigned i = 0; i < 5; i++)
		cuda_job_call(FOREVER);
	CHECK(cuda_job_is_watched(), "no thread");
	exit(0);
}
