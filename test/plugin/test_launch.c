/* SPDX-License-Identifier: MIT */
/* Launches followed by CUDA events, on a fake GPU: their progress, their times,
 * how many are timed, and the operations that they end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plugin/state/launches.h"
#include "shm/clock.h"
#include "shm/control.h"
#include "shm/hash.h"
#include "shm/read/remote.h"
#include "test/plugin/cuda_job.h"
#include "test/unit/support/unit.h"

#define FIRST_API 5
#define LAST_API 7
#define FOREVER FAKE_CUDA_UNTIL_FINISHED
#define OPERATION_BYTES (GUEST_COLL_ELEMENTS * COLL_ELEMENT_BYTES)

/* --- Progress ---------------------------------------------------------- */

#define LAUNCHES 10u

static void follow_in_order(void *argument)
{
	uint64_t before, done_before;

	cuda_job_open("cuda.so", "all", *(const int *)argument);
	cuda_job_settle(true);
	before = JOB_PROGRESS(launched);
	done_before = cuda_job_done(job.header);
	for (unsigned i = 0; i < LAUNCHES; i++)
		cuda_job_call(FOREVER);
	CHECK_EQUAL(JOB_PROGRESS(launched), before + LAUNCHES, "launched");
	CHECK_EQUAL(JOB_PROGRESS(followed), before + LAUNCHES, "followed");
	for (unsigned i = 1; i <= LAUNCHES; i++) {
		cuda_job_expect_progress(job.header, before + i, before + i - 1,
					 "running");
		WAIT_UNTIL(cuda_job_done(job.header) == done_before + i - 1,
			   "operations");
		CHECK_EQUAL(cuda_job_in_flight(job.header), LAUNCHES - i + 1,
			    "in flight");
		CHECK(cuda->finish(job.stream), "no kernel runs");
	}
	cuda_job_expect_progress(job.header, before + LAUNCHES,
				 before + LAUNCHES, "all");
	WAIT_UNTIL(cuda_job_done(job.header) == done_before + LAUNCHES,
		   "operations");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	WAIT_UNTIL(JOB_PROGRESS(status) == NCS_STREAM_ALL, "status");
	CHECK_EQUAL(JOB_PROGRESS(captured), 0, "captured");
	check_losses(&job.guest, "launches in order", END_OF_LOSSES);
	cuda_job_close();
}

TEST(launches_begin_and_end_in_order)
{
	for (int api = FIRST_API; api <= LAST_API; api++)
		scenario_play(follow_in_order, &api);
}

/* The first launch matters: a job that hangs often does so there. */
static void follow_the_first(void *argument)
{
	cuda_job_open("cuda.so", argument, LAST_API);
	CHECK_EQUAL(JOB_PROGRESS(status), NCS_STREAM_WAITING, "status");
	CHECK(!cuda_job_is_watched(), "a thread without a launch");
	cuda_job_call(FOREVER);
	cuda_job_expect_progress(job.header, 1, 0, "the first launch");
	CHECK_EQUAL(JOB_PROGRESS(launched), 1, "launched");
	CHECK_EQUAL(JOB_PROGRESS(followed), 1, "followed");
	CHECK(cuda_job_is_watched(), "no thread");
	WAIT_UNTIL(JOB_PROGRESS(status) != NCS_STREAM_WAITING, "status");
	CHECK_EQUAL(cuda_job_in_flight(job.header), 1, "in flight");
	CHECK(cuda->finish(job.stream), "no kernel runs");
	cuda_job_expect_progress(job.header, 1, 1, "the first launch");
	WAIT_UNTIL(cuda_job_done(job.header) == 1, "the first operation");
	cuda_job_close();
}

TEST(first_launch_is_followed)
{
	char all[] = "all", some[] = "1/64";

	scenario_play(follow_the_first, all);
	scenario_play(follow_the_first, some);
}

SCENARIO(launched_begun_and_ended_are_told_apart)
{
	uint64_t before;

	cuda_job_come("all");
	before = JOB_PROGRESS(launched);
	cuda->launch(job.stream, FOREVER); /* the application's own kernel */
	cuda_job_call(FOREVER);
	cuda_job_let_look();
	CHECK_EQUAL(JOB_PROGRESS(launched), before + 1, "launched");
	CHECK_EQUAL(JOB_PROGRESS(begun), before, "it cannot begin");
	CHECK_EQUAL(cuda_job_find(job.header, before + 1)->first_child, 0,
		    "its operation");
	CHECK(cuda->finish(job.stream), "the application's kernel");
	cuda_job_expect_progress(job.header, before + 1, before,
				 "it can begin");
	WAIT_UNTIL(ncs_load_relaxed(&cuda_job_find(job.header, before + 1)
					     ->first_child) != 0,
		   "its operation does not begin");
	cuda_job_let_look();
	CHECK_EQUAL(JOB_PROGRESS(ended), before, "it never ends");
	CHECK_EQUAL(cuda_job_in_flight(job.header), 1, "its operation");
	CHECK(JOB_PROGRESS(begun_at) >= JOB_PROGRESS(launched_at),
	      "it begins after its launch");
	CHECK(cuda->finish(job.stream), "NCCL's kernel");
	cuda_job_expect_progress(job.header, before + 1, before + 1,
				 "after all");
	CHECK(JOB_PROGRESS(ended_at) >= JOB_PROGRESS(begun_at),
	      "it ends after its begin");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "its operation");
	cuda_job_close();
}

#define COMMS 64u
#define STREAMS 8u

SCENARIO(communicators_share_streams_in_any_order)
{
	static const struct ncs_header *headers[COMMS];
	static void *contexts[COMMS];
	void *streams[STREAMS];

	setenv("NCCLSTAT_SHM_BYTES", "256M", 1);
	cuda_job_open("cuda.so", "all", LAST_API);
	contexts[0] = job.guest.context;
	for (unsigned i = 1; i < COMMS; i++)
		contexts[i] = init_comm(job.guest.host, "many", 0);
	for (unsigned i = 0; i < STREAMS; i++)
		streams[i] = cuda->stream_create();
	for (unsigned i = 0; i < COMMS; i++) {
		headers[i] = cuda_job_map(i);
		cuda_job_call_in(contexts[i], streams[i % STREAMS], FOREVER);
	}
	/* Each stream has the launches of eight communicators. */
	for (unsigned i = 0; i < COMMS; i++)
		cuda_job_expect_progress(headers[i], i < STREAMS ? 1 : 0, 0,
					 "the oldest of each stream");
	for (unsigned s = STREAMS; s-- > 0;)
		for (unsigned i = s; i < COMMS; i += STREAMS) {
			cuda_job_expect_progress(headers[i], 1, 0, "its turn");
			CHECK(cuda->finish(streams[s]), "no kernel");
			cuda_job_expect_progress(headers[i], 1, 1, "done");
			WAIT_UNTIL(cuda_job_done(headers[i]) == 1,
				   "its operation");
		}
	for (unsigned i = 0; i < COMMS; i++)
		CHECK_EQUAL(cuda_job_in_flight(headers[i]), 0, "in flight");
	for (unsigned i = 1; i < COMMS; i++)
		cuda_job_finalize_in(contexts[i]);
	cuda_job_close();
}

/* Launches with times that can be in progress at once. */
#define TIMED_MOST (NCS_LAUNCH_MAX - NCS_LAUNCH_KEPT)

/* Their pairs of events, 16 without times, and the clock's. */
#define ALL_EVENTS (TIMED_MOST + 16 + 1)

/* ... and as many as are made ahead, 16 of them without times: all of those with
 * times only once there were a few launches. */
#define AHEAD_EVENTS (128 + 16 + 1)
#define AHEAD_LAUNCHES 4u

/* Waits until there are so many pairs of events. */
static void await_events(uint64_t pairs)
{
	WAIT_UNTIL(cuda->counts().events >= 2 * pairs, "%llu events are made",
		   (unsigned long long)cuda->counts().events);
}

/* Opens a job that has as many events as are made ahead. */
static void come_with_events(const char *timing)
{
	cuda_job_come(timing);
	while (JOB_PROGRESS(launched) < AHEAD_LAUNCHES)
		cuda_job_settle(false);
	await_events(AHEAD_EVENTS);
}

/* Stops the watch thread; others may call the driver. */
static void stop_looking(void)
{
	cuda->hold(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
	WAIT_UNTIL(cuda->held(FAKE_CUDA_EXCHANGE_CAPTURE_MODE) == 1,
		   "it looks no more");
}

static void look_again(void)
{
	cuda->let_go(FAKE_CUDA_EXCHANGE_CAPTURE_MODE);
}

SCENARIO(first_events_are_used_before_others_are_made)
{
	cuda_job_open("cuda.so", "auto", LAST_API);
	/* The thread makes ten pairs, and hangs. */
	cuda->hold_after(FAKE_CUDA_EVENT_CREATE, 20);
	cuda_job_call(0);
	WAIT_UNTIL(cuda->held(FAKE_CUDA_EVENT_CREATE) == 1, "it hangs");
	for (unsigned i = 0; i < 10; i++)
		cuda_job_call(0);
	CHECK_EQUAL(cuda->timed_records(job.stream), 22, "all have times");
	cuda->let_go(FAKE_CUDA_EVENT_CREATE);
	cuda_job_expect_all_ended("after all");
	WAIT_UNTIL(cuda_job_done(job.header) == 11, "operations");
	CHECK_EQUAL(cuda_job_times(job.header).timed, 11, "times");
	CHECK_EQUAL(JOB_PROGRESS(missed), 0, "missed");
	cuda_job_close();
}

/* The first launch has the only pair of its kind. */
SCENARIO(second_launch_is_followed_before_first_look)
{
	const struct timespec spacing = { .tv_nsec = 2000000 };

	cuda_job_open("cuda.so", "1/4", LAST_API);
	cuda->hold(FAKE_CUDA_EVENT_QUERY);
	cuda_job_call(FOREVER);
	WAIT_UNTIL(cuda->held(FAKE_CUDA_EVENT_QUERY) == 1, "it looks");
	nanosleep(&spacing, NULL);
	cuda_job_call(0);
	CHECK_EQUAL(JOB_PROGRESS(followed), 2, "followed");
	cuda->let_go(FAKE_CUDA_EVENT_QUERY);
	cuda->finish_all(job.stream);
	cuda_job_expect_all_ended("both");
	cuda_job_close();
}

SCENARIO(launches_now_and_then_need_few_events)
{
	cuda_job_come("auto");
	for (unsigned i = 0; i < 20; i++)
		cuda_job_settle(true);
	CHECK(cuda->counts().events < NCS_LAUNCH_MAX, "%llu events",
	      (unsigned long long)cuda->counts().events);
	cuda_job_close();
}

/* Many communicators are made for a call or two; others begin with a burst. */
SCENARIO(first_launches_make_more_events_each)
{
	uint64_t missed;

	cuda_job_open("cuda.so", "auto", LAST_API);
	for (unsigned i = 0; i < 2; i++)
		cuda_job_call(FOREVER);
	await_events(2 * 32 + 16 + 1);
	cuda_job_let_look();
	CHECK_EQUAL(cuda->counts().events, 2 * (2 * 32 + 16 + 1), "events");
	/* The second launch may have come before the thread. */
	missed = JOB_PROGRESS(missed);
	for (unsigned i = 2; i < AHEAD_LAUNCHES; i++)
		cuda_job_call(FOREVER);
	await_events(AHEAD_EVENTS);
	CHECK_EQUAL(JOB_PROGRESS(missed), missed, "missed");
	cuda_job_close();
}

/* Times a burst of which nothing ends before its last launch, while the thread
 * pauses. Returns how many launches have got events with times. */
static uint64_t time_burst(unsigned count)
{
	uint64_t records = cuda->timed_records(job.stream);

	stop_looking();
	for (unsigned i = 0; i < count; i++)
		cuda_job_call(i == 0 ? FOREVER : 0);
	records = cuda->timed_records(job.stream) - records;
	look_again();
	CHECK(cuda->finish(job.stream), "the first");
	return records / 2;
}

SCENARIO(bursts_are_timed_whole)
{
	uint64_t before;

	cuda_job_come("all");
	await_events(ALL_EVENTS);
	before = cuda_job_times(job.header).timed;
	CHECK_EQUAL(time_burst(400), 400, "launches with times");
	cuda_job_expect_all_ended("the burst");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	CHECK_EQUAL(cuda_job_times(job.header).timed, before + 400, "times");
	cuda_job_close();
}

/* A burst that needs more events than there are is a reason to make more. */
SCENARIO(burst_without_events_makes_more)
{
	uint64_t missed, timed;

	come_with_events("auto");
	missed = JOB_PROGRESS(missed);
	timed = time_burst(200);
	CHECK(timed < 200, "there are events for all");
	missed += 200 - timed;
	CHECK_EQUAL(JOB_PROGRESS(missed), missed, "those without a time");
	cuda_job_let_events_return();
	cuda_job_let_spacing_pass();
	cuda_job_call(0);
	cuda_job_expect_all_ended("the burst");
	await_events(250);
	/* The call in between may have come before there were more. */
	missed = JOB_PROGRESS(missed);
	CHECK_EQUAL(time_burst(200), 200, "the next burst");
	CHECK_EQUAL(JOB_PROGRESS(missed), missed, "none of them is missed");
	cuda_job_let_events_return();
	cuda_job_let_spacing_pass();
	cuda_job_call(0);
	cuda_job_expect_all_ended("the next burst");
	cuda_job_close();
}

SCENARIO(launches_beyond_the_slots_end_with_a_later_one)
{
	uint64_t before, done_before, followed, missed;
	const uint64_t count = NCS_LAUNCH_MAX + 100;

	cuda_job_come("all");
	await_events(ALL_EVENTS);
	missed = JOB_PROGRESS(missed);
	before = JOB_PROGRESS(launched);
	done_before = cuda_job_done(job.header);
	for (unsigned i = 0; i < count; i++)
		cuda_job_call(i == 0 ? FOREVER : 0);
	CHECK_EQUAL(JOB_PROGRESS(launched), before + count, "launched");
	followed = JOB_PROGRESS(followed) - before;
	CHECK(followed >= TIMED_MOST, "all slots for times are filled");
	CHECK_EQUAL(JOB_PROGRESS(missed), missed + count - TIMED_MOST,
		    "the others are missed");
	cuda_job_expect_status(NCS_STREAM_SOME, "some are not followed");
	CHECK(cuda->finish(job.stream), "the first");
	cuda_job_expect_progress(job.header, before + followed,
				 before + followed, "those that are followed");
	WAIT_UNTIL(cuda_job_done(job.header) == done_before + followed,
		   "operations");
	CHECK_EQUAL(cuda_job_in_flight(job.header), count - followed,
		    "nothing is known yet");
	cuda_job_let_spacing_pass();
	cuda_job_call(0);
	cuda_job_expect_progress(job.header, before + count + 1,
				 before + count + 1, "slots are free again");
	WAIT_UNTIL(cuda_job_done(job.header) == done_before + count + 1,
		   "all operations");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	cuda_job_expect_status(NCS_STREAM_ALL, "all are followed again");
	view_take(&job.guest.view);
	CHECK_EQUAL(ncs_launches_told(&job.guest.view.now.launches),
		    NCS_STREAM_MOST, "but not all were");
	check_losses(&job.guest, "too many launches", END_OF_LOSSES);
	cuda_job_close();
}

/* A burst leaves some of the slots for later launches, one in each spacing, so
 * that its last ones are seen to end. */
SCENARIO(burst_leaves_slots_for_its_last_launches)
{
	cuda_job_come("all");
	await_events(ALL_EVENTS);
	for (unsigned i = 0; i < NCS_LAUNCH_MAX + 100; i++)
		cuda_job_call(i == 0 ? FOREVER : 0);
	cuda_job_let_spacing_pass();
	cuda_job_call(0);
	CHECK_EQUAL(JOB_PROGRESS(followed), JOB_PROGRESS(launched),
		    "a later launch is followed");
	CHECK(cuda->finish(job.stream), "the first");
	WAIT_UNTIL(JOB_PROGRESS(ended) == JOB_PROGRESS(launched), "all ended");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	cuda_job_close();
}

SCENARIO(operations_of_unfollowed_launches_end_with_a_later_one)
{
	uint64_t before, done_before;

	come_with_events("1/1048576");
	before = JOB_PROGRESS(launched);
	done_before = cuda_job_done(job.header);
	for (unsigned i = 0; i < 100; i++)
		cuda_job_call(0);
	cuda_job_let_events_return();
	cuda_job_let_spacing_pass();
	cuda_job_call(FOREVER);
	CHECK_EQUAL(JOB_PROGRESS(followed), before + 101, "followed");
	WAIT_UNTIL(JOB_PROGRESS(begun) == before + 101, "the last");
	CHECK(cuda_job_in_flight(job.header) >= 1, "in flight");
	CHECK(cuda->finish(job.stream), "the last");
	cuda_job_expect_progress(job.header, before + 101, before + 101,
				 "the last");
	WAIT_UNTIL(cuda_job_done(job.header) == done_before + 101,
		   "launches that were not followed end with a later one");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	CHECK_EQUAL(JOB_PROGRESS(timed), 0, "none was timed");
	CHECK_EQUAL(cuda_job_times(job.header).timed, 0, "none was timed");
	CHECK_EQUAL(JOB_PROGRESS(level), 20, "level");
	cuda_job_close();
}

/* NCCL may fail between the two events. */
SCENARIO(launch_that_never_stops_does_no_harm)
{
	struct host_event event = {
		.type = NCCL_EVENT_KERNEL_LAUNCH,
		.stream = NULL,
	};
	uint64_t before;

	cuda_job_come("all");
	before = JOB_PROGRESS(launched);
	event.stream = job.stream;
	start(&job.guest, &event);
	cuda_job_call(0);
	cuda_job_expect_progress(job.header, before + 2, before + 2,
				 "the next launch");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	start(&job.guest, &event);
	cuda_job_close();
}

static void *break_off_in_thread(void *argument)
{
	struct host_event event = {
		.type = NCCL_EVENT_KERNEL_LAUNCH,
		.stream = job.stream,
	};

	cuda->context_use(job.gpu);
	start(&job.guest, &event);
	return argument;
}

SCENARIO(thread_that_dies_in_a_launch_does_no_harm)
{
	pthread_t thread;
	uint64_t before;

	cuda_job_come("all");
	before = JOB_PROGRESS(launched);
	CHECK(pthread_create(&thread, NULL, break_off_in_thread, NULL) == 0,
	      "no thread");
	pthread_join(thread, NULL);
	cuda_job_call(0);
	cuda_job_expect_progress(job.header, before + 2, before + 2,
				 "the next launch");
	cuda_job_close();
}

/* --- Times ------------------------------------------------------------- */

#define KERNEL_NS UINT64_C(100000)
#define GAP_NS UINT64_C(2000)

/* Comes to a GPU whose events cost time, as real ones do. */
static void come_with_gap(void)
{
	cuda_job_open("cuda.so", "all", LAST_API);
	cuda->gap_ns = GAP_NS;
	cuda->call_ns = 100; /* so that the gap passes */
	cuda_job_settle(true);
	WAIT_UNTIL(JOB_PROGRESS(bias_ns) == GAP_NS / 2, "the gap is measured");
}

static uint64_t bucket_of(uint64_t ns)
{
	const struct ncs_function_view *function =
		&job.guest.view.now.functions[COLL_FUNCTION];

	view_take(&job.guest.view);
	CHECK(function->histogram[NCS_TIMING_STREAM], "no histogram");
	return function->histogram[NCS_TIMING_STREAM][ncs_histogram_bucket(ns)];
}

SCENARIO(time_is_that_of_the_kernel)
{
	struct ncs_stream_times before, after;
	uint64_t bucket, ended;

	come_with_gap();
	WAIT_UNTIL(JOB_PROGRESS(bias_ns) == GAP_NS / 2, "two empty events");
	for (unsigned i = 1; i < 50; i += 6) {
		before = cuda_job_times(job.header);
		bucket = bucket_of(i * KERNEL_NS + GAP_NS / 2);
		ended = JOB_PROGRESS(ended);
		cuda_job_call(i * KERNEL_NS);
		cuda->advance(i * KERNEL_NS + 2 * GAP_NS);
		cuda_job_expect_progress(job.header, ended + 1, ended + 1,
					 "a kernel");
		WAIT_UNTIL(cuda_job_times(job.header).timed == before.timed + 1,
			   "it is timed");
		after = cuda_job_times(job.header);
		CHECK(after.time_ns - before.time_ns >=
				      i * KERNEL_NS + GAP_NS / 2 - 1 &&
			      after.time_ns - before.time_ns <=
				      i * KERNEL_NS + GAP_NS / 2 + 1,
		      "%llu ns",
		      (unsigned long long)(after.time_ns - before.time_ns));
		CHECK_EQUAL(after.timed_bytes - before.timed_bytes,
			    OPERATION_BYTES, "bytes");
		WAIT_UNTIL(bucket_of(i * KERNEL_NS + GAP_NS / 2) == bucket + 1,
			   "bucket");
	}
	CHECK_EQUAL(JOB_PROGRESS(timed), cuda_job_times(job.header).timed,
		    "launches");
	cuda_job_close();
}

SCENARIO(older_driver_measures_too)
{
	uint64_t before;

	cuda_job_open("cuda-old.so", "all", LAST_API);
	cuda_job_settle(true);
	before = cuda_job_times(job.header).time_ns;
	cuda_job_call(KERNEL_NS);
	cuda->advance(KERNEL_NS);
	WAIT_UNTIL(cuda_job_times(job.header).time_ns == before + KERNEL_NS,
		   "its time");
	cuda_job_close();
}

#define GROUPED 7u

SCENARIO(grouped_operations_have_their_launch_s_time)
{
	struct ncs_stream_times before, after;
	uint64_t done_before, ended, timed;

	come_with_gap();
	before = cuda_job_times(job.header);
	timed = JOB_PROGRESS(timed);
	done_before = cuda_job_done(job.header);
	ended = JOB_PROGRESS(ended);
	cuda_job_launch(KERNEL_NS);
	for (unsigned i = 0; i < GROUPED; i++)
		cuda_job_operation(i);
	cuda_job_expect_progress(job.header, ended, ended, "it has not begun");
	CHECK_EQUAL(cuda_job_in_flight(job.header), GROUPED, "in flight");
	cuda->advance(KERNEL_NS + 2 * GAP_NS);
	cuda_job_expect_progress(job.header, ended + 1, ended + 1,
				 "one launch");
	WAIT_UNTIL(cuda_job_done(job.header) == done_before + GROUPED,
		   "each is done");
	after = cuda_job_times(job.header);
	CHECK_EQUAL(after.timed - before.timed, GROUPED, "each has a time");
	CHECK_EQUAL(after.time_ns - before.time_ns,
		    GROUPED * (KERNEL_NS + GAP_NS / 2), "that of the launch");
	CHECK_EQUAL(after.timed_bytes - before.timed_bytes,
		    GROUPED * GROUPED * OPERATION_BYTES,
		    "with the bytes of all of them");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	CHECK_EQUAL(JOB_PROGRESS(timed), timed + 1, "one launch");
	cuda_job_close();
}

/* A kernel may be over before NCCL reports its operation. */
SCENARIO(operation_reported_after_its_kernel_has_its_time)
{
	struct ncs_stream_times before, after;
	struct ncs_record record;
	uint64_t ended, done_before;

	come_with_gap();
	read_all_records(&job.guest);
	before = cuda_job_times(job.header);
	ended = JOB_PROGRESS(ended);
	done_before = cuda_job_done(job.header);
	cuda_job_launch(KERNEL_NS);
	cuda->advance(KERNEL_NS + 2 * GAP_NS);
	cuda_job_expect_progress(job.header, ended + 1, ended + 1,
				 "without an operation");
	cuda_job_operation(3);
	CHECK_EQUAL(cuda_job_done(job.header), done_before + 1,
		    "it is over already");
	CHECK_EQUAL(cuda_job_in_flight(job.header), 0, "in flight");
	after = cuda_job_times(job.header);
	CHECK_EQUAL(after.timed - before.timed, 1, "it has a time");
	CHECK_EQUAL(after.time_ns - before.time_ns, KERNEL_NS + GAP_NS / 2,
		    "its launch's");
	record = cuda_job_next_operation();
	CHECK_EQUAL(record.number, 3, "its record");
	CHECK(ncs_clock_duration_ns(&job.header->clock,
				    record.duration - record.delta[1]) <=
		      KERNEL_NS + GAP_NS / 2 + 1,
	      "it lasts %llu ns",
	      (unsigned long long)ncs_clock_duration_ns(
		      &job.header->clock, record.duration - record.delta[1]));
	cuda_job_close();
}

static void play_kernel(uint64_t *least, uint64_t *most)
{
	uint64_t kind = job.header->clock.kind;

	cuda->launch(job.stream, FOREVER);
	cuda_job_call(KERNEL_NS);
	/* The kernel begins when the one before it ends. */
	*least = ncs_clock_ticks(kind);
	CHECK(cuda->finish(job.stream), "the application's kernel");
	*most = ncs_clock_ticks(kind);
}

SCENARIO(record_has_the_kernel_s_begin_and_end)
{
	struct ncs_record record;
	uint64_t least, most, ended, error, begin, ns;

	cuda_job_open("cuda.so", "all", LAST_API);
	cuda->follow_clock(UINT64_C(123456789012));
	cuda_job_settle(true);
	for (unsigned i = 0; i < 10; i++) {
		read_all_records(&job.guest);
		ended = JOB_PROGRESS(ended);
		play_kernel(&least, &most);
		cuda_job_expect_progress(job.header, ended + 1, ended + 1,
					 "a kernel");
		WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
		record = cuda_job_next_operation();
		/* Two roundings to half a microsecond, and the clocks' rates.
		 */
		WAIT_UNTIL(JOB_PROGRESS(error_ns) != 0, "its error");
		error = ncs_clock_duration_ticks(
			&job.header->clock, JOB_PROGRESS(error_ns) + 50000);
		begin = record.start + record.delta[1];
		CHECK(begin + error >= least && begin <= most + error,
		      "it began %lld ns after the least, %lld after the most,"
		      " with an error of %llu ns",
		      (long long)ncs_clock_duration_ns(&job.header->clock,
						       begin - least),
		      (long long)ncs_clock_duration_ns(&job.header->clock,
						       begin - most),
		      (unsigned long long)JOB_PROGRESS(error_ns));
		CHECK(record.flags & NCS_RECORD_ON_STREAM, "source");
		ns = ncs_clock_duration_ns(&job.header->clock,
					   record.duration - record.delta[1]);
		CHECK(ns + 2000 >= KERNEL_NS && ns <= KERNEL_NS + 2000,
		      "it lasts %llu ns", (unsigned long long)ns);
	}
	cuda_job_close();
}

/* On an idle stream the kernel begins before NCCL reports its operation. */
SCENARIO(begin_may_be_before_the_operation_is_reported)
{
	struct ncs_record record;
	uint64_t kind, least, most, reported, begin;

	cuda_job_open("cuda.so", "all", LAST_API);
	cuda->follow_clock(UINT64_C(123456789012));
	cuda_job_settle(true);
	WAIT_UNTIL(JOB_PROGRESS(error_ns) != 0, "its error");
	read_all_records(&job.guest);
	kind = job.header->clock.kind;
	/* Whatever ends before NCCL has reported it has no time of that. */
	stop_looking();
	least = ncs_clock_ticks(kind);
	cuda_job_launch(KERNEL_NS);
	most = ncs_clock_ticks(kind) +
	       ncs_clock_duration_ticks(&job.header->clock,
					JOB_PROGRESS(error_ns) + 50000);
	while ((reported = ncs_clock_ticks(kind)) <= 2 * most - least)
		;
	cuda_job_operation(0);
	look_again();
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	record = cuda_job_next_operation();
	begin = record.start + record.delta[1];
	CHECK(record.flags & NCS_RECORD_ON_STREAM, "source");
	CHECK(begin >= least && begin <= most && most < reported,
	      "it began after %lld ticks, at most %lld",
	      (long long)(begin - least), (long long)(most - least));
	CHECK(record.delta[0] > record.delta[1], "it was enqueued later");
	cuda_job_close();
}

/* Launches like a player of captured jobs: without a context, on streams that are
 * numbers in a log. */
SCENARIO(players_of_captured_jobs_have_times)
{
	struct ncs_stream_times before;

	cuda_job_open("cuda.so", "all", LAST_API);
	cuda->play_along();
	cuda->context_use(NULL);
	job.stream = (void *)(uintptr_t)0x7f12345670;
	cuda_job_settle(true);
	before = cuda_job_times(job.header);
	cuda_job_call(KERNEL_NS);
	cuda_job_expect_all_ended("a kernel");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	/* It begins after the first event, when it is launched. */
	CHECK(cuda_job_times(job.header).time_ns - before.time_ns >= KERNEL_NS,
	      "its time");
	cuda_job_close();
}

/* --- How many are timed ------------------------------------------------ */

/* Returns 1 if all ranks time the launch with this number at level 2. */
static uint64_t is_timed(uint64_t number)
{
	return ncs_hash(GUEST_COMM_ID ^ ncs_hash(number)) >> 62 == 0;
}

SCENARIO(one_launch_in_four_is_timed)
{
	uint64_t timed, expected = 0;

	come_with_events("1/4");
	timed = JOB_PROGRESS(timed);
	for (unsigned i = 1; i <= 400; i++) {
		/* There are events for ten launches, timed or not, however long
		 * they take; but not for a hundred. */
		if (i % 10 == 0)
			cuda_job_let_events_return();
		/* The last of each hundred is followed in any case. */
		if (i % 100 == 0)
			cuda_job_let_spacing_pass();
		cuda_job_call(0);
		expected += is_timed(JOB_PROGRESS(launched));
		if (i % 100 == 0)
			cuda_job_expect_all_ended("one in four");
	}
	CHECK(expected > 60 && expected < 140, "%llu of 400",
	      (unsigned long long)expected);
	CHECK_EQUAL(JOB_PROGRESS(timed) - timed, expected, "one in four");
	cuda_job_expect_status(NCS_STREAM_SOME, "one in four");
	WAIT_UNTIL(JOB_PROGRESS(level) == 2, "level");
	cuda_job_close();
}

/* A call as NCCL reports it: a group, in it the call, its launch and its
 * operation. */
static void call_in_group(bool captured)
{
	struct host_event event = {
		.type = NCCL_EVENT_GROUP_API,
		.graph_captured = captured,
	};
	void *group = start_in(&job.guest, job.guest.context, &event), *call,
	     *launch;

	event.type = NCCL_EVENT_COLL_API;
	event.func = "AllReduce";
	event.datatype = "ncclFloat32";
	event.stream = job.stream;
	event.parent = group;
	call = start_in(&job.guest, job.guest.context, &event);
	stop(&job.guest, call);
	event.type = NCCL_EVENT_KERNEL_LAUNCH;
	launch = start_in(&job.guest, job.guest.context, &event);
	if (!captured)
		cuda->launch(job.stream, 0);
	stop(&job.guest, launch);
	event = coll_event_of(NULL);
	event.parent = call;
	stop(&job.guest, start_in(&job.guest, job.guest.context, &event));
	stop(&job.guest, group);
}

static uint64_t asked_about_captures(void)
{
	return cuda->counts().calls[FAKE_CUDA_STREAM_IS_CAPTURING];
}

SCENARIO(launch_that_is_left_alone_does_not_ask_the_driver)
{
	uint64_t launched, timed, asked, followed = 0, expected = 0;

	come_with_events("1/4");
	launched = JOB_PROGRESS(launched);
	timed = JOB_PROGRESS(timed);
	asked = asked_about_captures();
	for (unsigned i = 1; i <= 400; i++) {
		if (i % 20 == 0)
			cuda_job_let_events_return();
		call_in_group(false);
		expected += is_timed(JOB_PROGRESS(launched));
		followed += JOB_PROGRESS(followed) == JOB_PROGRESS(launched);
	}
	cuda_job_let_events_return();
	cuda_job_let_spacing_pass();
	call_in_group(false);
	cuda_job_expect_all_ended("each");
	asked = asked_about_captures() - asked;
	CHECK_EQUAL(JOB_PROGRESS(launched) - launched, 401, "launched");
	CHECK(asked >= followed, "one is followed without asking");
	CHECK(asked < 400, "each launch asks");
	CHECK(JOB_PROGRESS(timed) - timed >= expected,
	      "fewer than one in four are timed");
	cuda_job_close();
}

SCENARIO(launch_that_may_be_captured_asks_the_driver)
{
	uint64_t asked;

	come_with_events("1/4");
	asked = asked_about_captures();
	cuda->capture_begin(job.stream, FAKE_CUDA_RELAXED);
	call_in_group(true);
	CHECK_EQUAL(asked_about_captures() - asked, 1, "a captured launch");
	CHECK_EQUAL(JOB_PROGRESS(captured), 1, "captured");
	/* A launch outside the group of the latest call. */
	cuda_job_launch(0);
	CHECK_EQUAL(asked_about_captures() - asked, 2, "another group's");
	CHECK_EQUAL(JOB_PROGRESS(captured), 2, "captured");
	CHECK(cuda->capture_end(job.stream), "the capture is invalid");
	cuda_job_close();
}

/* Two ranks of one communicator in a process: they must time the same. */
static void time_alike(void *argument)
{
	void *streams[2], *contexts[2];
	uint64_t before[2], after[2], common = 0;

	cuda_job_open("cuda.so", argument, LAST_API);
	contexts[0] = job.guest.context;
	contexts[1] = init_comm(job.guest.host, "guest", 2);
	for (unsigned k = 0; k < 2; k++) {
		const struct ncs_header *of = cuda_job_map(k);

		streams[k] = cuda->stream_create();
		do {
			cuda_job_call_in(contexts[k], streams[k], 0);
			WAIT_UNTIL(PROGRESS(of, ended) ==
					   PROGRESS(of, followed),
				   "it ends");
		} while (PROGRESS(of, launched) < 40);
		CHECK(PROGRESS(of, followed) > 1, "followed");
	}
	for (unsigned i = 0; i < 400; i++) {
		for (unsigned k = 0; k < 2; k++) {
			before[k] = cuda->timed_records(streams[k]);
			cuda_job_call_in(contexts[k], streams[k], 0);
			after[k] = cuda->timed_records(streams[k]);
		}
		CHECK_EQUAL(after[0] - before[0], after[1] - before[1],
			    "both or none");
		common += after[0] != before[0];
	}
	CHECK(common > 0, "none is timed");
	cuda_job_finalize_in(contexts[1]);
	cuda_job_close();
}

TEST(ranks_time_the_same_launches)
{
	char all[] = "all", some[] = "1/8";

	scenario_play(time_alike, all);
	scenario_play(time_alike, some);
}

SCENARIO(fast_launches_are_timed_in_part)
{
	uint64_t since = 0;

	cuda_job_come("auto");
	cuda_job_expect_status(NCS_STREAM_ALL, "a launch now and then");
	CHECK_EQUAL(JOB_PROGRESS(level), 0, "level");
	while (JOB_PROGRESS(level) == 0) {
		CHECK(cuda_job_wait(&since), "all are timed, however many");
		for (unsigned i = 0; i < 1000; i++)
			cuda_job_call(0);
	}
	cuda_job_expect_status(NCS_STREAM_SOME, "one in so many");
	cuda_job_close();
}

SCENARIO(timing_off_leaves_the_driver_alone)
{
	cuda_job_open("cuda.so", "off", LAST_API);
	for (unsigned i = 0; i < 100; i++)
		cuda_job_call(0);
	CHECK_EQUAL(JOB_PROGRESS(status), NCS_STREAM_OFF, "status");
	CHECK_EQUAL(JOB_PROGRESS(launched), 0, "launched");
	CHECK(!cuda_job_is_watched(), "a thread");
	for (unsigned i = 0; i < FAKE_CUDA_CONTEXT_DEVICE; i++)
		CHECK_EQUAL(cuda->counts().calls[i], 0, "the driver");
	check_still_follows(&job.guest, "without launches");
	cuda_job_close();
}

/* --- Changed while the job runs ----------------------------------------- */

static struct ncs_remote *remote;

/* Asks for a change, which the plugin sees as the next group begins. */
static void ask_for(const struct ncs_change *change)
{
	char why[128];

	if (!remote)
		CHECK(view_find_remote(&job.guest.view, &remote, why,
				       sizeof(why)) == NCS_ATTACHED,
		      "%s", why);
	ncs_control_change(ncs_remote_control(remote), change);
	stop(&job.guest, start_type(&job.guest, NCCL_EVENT_GROUP_API, NULL));
}

static void ask(uint8_t timing)
{
	const struct ncs_change change = { .timing = true,
					   .to.timing = timing };

	ask_for(&change);
}

static void ask_for_groups(uint8_t groups)
{
	const struct ncs_change change = {
		.groups = true,
		.to = { .has_groups = 1, .groups = groups },
	};

	ask_for(&change);
}

static uint64_t driver_calls(void)
{
	return cuda->counts().calls[FAKE_CUDA_EVENT_RECORD] +
	       cuda->counts().calls[FAKE_CUDA_STREAM_IS_CAPTURING];
}

SCENARIO(timing_is_turned_off_and_on)
{
	uint64_t launched, calls, done;

	cuda_job_come("all");
	launched = JOB_PROGRESS(launched);
	done = cuda_job_done(job.header);
	cuda_job_call(FOREVER);
	cuda_job_call(FOREVER);
	cuda_job_expect_progress(job.header, launched + 1, launched, "begun");
	ask(NCS_TIMING_DETAIL_OFF);
	cuda_job_expect_status(NCS_STREAM_OFF, "off");
	calls = driver_calls();
	for (unsigned i = 0; i < 10; i++)
		cuda_job_call(0);
	CHECK_EQUAL(driver_calls(), calls, "launches leave the driver alone");
	CHECK_EQUAL(JOB_PROGRESS(launched), launched + 2, "nor counted");
	view_take(&job.guest.view);
	CHECK_EQUAL(job.guest.view.now.launches.begun, launched + 1,
		    "what is followed is still known");
	/* A launch that is followed is so to its end. */
	cuda->finish(job.stream);
	cuda_job_expect_progress(job.header, launched + 2, launched + 1,
				 "the first");
	cuda->finish(job.stream);
	cuda_job_expect_progress(job.header, launched + 2, launched + 2,
				 "the second");
	WAIT_UNTIL(cuda_job_done(job.header) == done + 2, "both are done");
	view_take(&job.guest.view);
	CHECK_EQUAL(job.guest.view.now.launches.launched, 0,
		    "nothing is known of later launches");
	/* An operation of such a launch neither has an end nor a phase. */
	CHECK_EQUAL(cuda_job_in_flight(job.header), 10, "in flight");
	ask(NCS_TIMING_DETAIL_EVERY);
	cuda_job_call(FOREVER);
	cuda_job_expect_progress(job.header, launched + 3, launched + 2,
				 "on again");
	cuda_job_expect_status(NCS_STREAM_ALL, "on again");
	cuda->finish(job.stream);
	cuda_job_expect_all_ended("on again");
	WAIT_UNTIL(cuda_job_done(job.header) == done + 3, "it is done");
	ncs_remote_close(remote);
	cuda_job_close();
}

SCENARIO(timing_that_is_off_at_first_is_turned_on)
{
	cuda_job_open("cuda.so", "off", LAST_API);
	ask(NCS_TIMING_DETAIL_AUTO);
	CHECK_EQUAL(JOB_PROGRESS(status), NCS_STREAM_WAITING, "asked for");
	ask(NCS_TIMING_DETAIL_OFF);
	CHECK_EQUAL(JOB_PROGRESS(status), NCS_STREAM_OFF, "off again");
	ask(NCS_TIMING_DETAIL_EVERY + 20);
	cuda_job_call(FOREVER);
	cuda_job_expect_progress(job.header, 1, 0, "the first launch");
	cuda_job_expect_status(NCS_STREAM_SOME, "one in so many");
	WAIT_UNTIL(JOB_PROGRESS(level) == 20, "level");
	ask(NCS_TIMING_DETAIL_DEFAULT);
	cuda_job_expect_status(NCS_STREAM_OFF, "as the environment says");
	cuda->finish(job.stream);
	cuda_job_expect_progress(job.header, 1, 1, "the first launch");
	ncs_remote_close(remote);
	cuda_job_close();
}

/* An operation that is reported without its launch must not take the time of an
 * earlier one. */
SCENARIO(launches_that_are_not_reported_are_told)
{
	const uint8_t groups = NCS_GROUPS_ALL & ~(1u << NCS_GROUP_LAUNCHES);
	struct ncs_stream_times times;
	uint64_t number;

	cuda_job_come("all");
	times = cuda_job_times(job.header);
	number = ncs_load_relaxed(&job.header->latest_done);
	ask_for_groups(groups);
	cuda_job_operation(0);
	CHECK(cuda_job_find(job.header, number + 1), "its end is not known");
	CHECK_EQUAL(cuda_job_find(job.header, number + 1)->launch, 0,
		    "its launch");
	CHECK_EQUAL(cuda_job_times(job.header).timed, times.timed, "its time");
	view_take(&job.guest.view);
	CHECK_EQUAL(job.guest.view.now.launches.status, NCS_STREAM_NO_EVENTS,
		    "status");
	ask_for_groups(NCS_GROUPS_ALL);
	cuda_job_call(0);
	cuda_job_expect_all_ended("launches are reported again");
	view_take(&job.guest.view);
	CHECK_EQUAL(job.guest.view.now.launches.status, NCS_STREAM_ALL,
		    "status");
	ncs_remote_close(remote);
	cuda_job_close();
}

static void be_old(void *argument)
{
	cuda_job_open("cuda.so", "all", *(const int *)argument);
	CHECK_EQUAL(JOB_PROGRESS(status), NCS_STREAM_RELEASE, "status");
	check_still_follows(&job.guest, "without launches");
	for (unsigned i = 0; i < FAKE_CUDA_CONTEXT_DEVICE; i++)
		CHECK_EQUAL(cuda->counts().calls[i], 0, "the driver");
	cuda_job_close();
}

TEST(releases_without_launches_are_reported)
{
	for (int api = 1; api < FIRST_API; api++)
		scenario_play(be_old, &api);
}

static void miss_driver(void *argument)
{
	if (argument)
		cuda_job_load(argument);
	guest_open(&job.guest, LAST_API);
	job.header = cuda_job_map(0);
	CHECK_EQUAL(JOB_PROGRESS(status), NCS_STREAM_NO_DRIVER, "status");
	for (unsigned i = 0; i < 10; i++) {
		struct host_event event = {
			.type = NCCL_EVENT_KERNEL_LAUNCH,
		};

		stop(&job.guest, start(&job.guest, &event));
		cuda_job_operation(i);
	}
	CHECK(!cuda_job_is_watched(), "a thread");
	check_still_follows(&job.guest, "without a driver");
	guest_close(&job.guest);
}

TEST(missing_driver_or_function_is_reported)
{
	char bare[] = "cuda-bare.so";

	scenario_play(miss_driver, NULL);
	scenario_play(miss_driver, bare);
}

/* --- Operations with proxy operations ----------------------------------- */

SCENARIO(operation_ends_with_its_proxy_and_its_kernel)
{
	struct ncs_record record;
	uint64_t before, number;
	void *operation, *op;

	cuda_job_come("all");
	read_all_records(&job.guest);
	before = cuda_job_done(job.header);
	number = JOB_PROGRESS(launched);
	/* The kernel is over first. */
	cuda_job_launch(FOREVER);
	operation = cuda_job_operation(0);
	op = start_proxy_op(&job.guest, operation, 3, true, 2, 1);
	CHECK(cuda->finish(job.stream), "the kernel");
	cuda_job_expect_progress(job.header, number + 1, number + 1,
				 "the kernel");
	CHECK_EQUAL(cuda_job_done(job.header), before, "the proxy is not done");
	CHECK_EQUAL(cuda_job_in_flight(job.header), 1, "in flight");
	stop(&job.guest, op);
	CHECK_EQUAL(cuda_job_done(job.header), before + 1, "the proxy is done");
	CHECK_EQUAL(cuda_job_in_flight(job.header), 0, "in flight");
	/* The proxy is done first. */
	cuda_job_launch(FOREVER);
	operation = cuda_job_operation(1);
	stop(&job.guest, start_proxy_op(&job.guest, operation, 3, true, 2, 1));
	cuda_job_let_look();
	CHECK_EQUAL(cuda_job_done(job.header), before + 1,
		    "the kernel is not over");
	CHECK_EQUAL(cuda_job_in_flight(job.header), 1, "in flight");
	CHECK(cuda->finish(job.stream), "the kernel");
	WAIT_UNTIL(cuda_job_done(job.header) == before + 2,
		   "the kernel is over");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	view_take(&job.guest.view);
	CHECK_EQUAL(job.guest.view.now.functions[COLL_FUNCTION]
			    .timed[NCS_TIMING_PROXY],
		    2, "both have the proxy's time, too");
	for (unsigned i = 0; i < 2; i++) {
		record = cuda_job_next_operation();
		CHECK(!(record.flags & NCS_RECORD_AGAIN), "it ends once");
	}
	check_losses(&job.guest, "both", END_OF_LOSSES);
	cuda_job_close();
}

/* Without times from the stream the end is the proxy's, not when the watch
 * thread happened to look. */
SCENARIO(untimed_operation_ends_with_its_proxy)
{
	uint64_t stopped, number;
	struct ncs_record record;
	void *operation;

	come_with_events("1/1048576");
	cuda_job_let_spacing_pass();
	read_all_records(&job.guest);
	number = JOB_PROGRESS(launched);
	cuda_job_launch(FOREVER);
	operation = cuda_job_operation(0);
	stop(&job.guest, start_proxy_op(&job.guest, operation, 3, true, 2, 1));
	stopped = ncs_clock_ticks(job.header->clock.kind);
	cuda_job_let_look();
	CHECK(cuda->finish(job.stream), "the kernel");
	cuda_job_expect_progress(job.header, number + 1, number + 1,
				 "the kernel");
	WAIT_UNTIL(cuda_job_in_flight(job.header) == 0, "in flight");
	record = cuda_job_next_operation();
	CHECK(record.start + record.duration <= stopped, "its end");
	CHECK(!(record.flags & NCS_RECORD_ON_STREAM), "source");
	cuda_job_close();
}
