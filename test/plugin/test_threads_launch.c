/* SPDX-License-Identifier: MIT */
/* Launches by many threads at once, while the watch thread ends them and
 * communicators come and go: each operation ends once. Also for
 * ThreadSanitizer, which does not see the fake driver's lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/state/comm.h"
#include "test/plugin/cuda_job.h"
#include "test/unit/support/unit.h"

#define THREADS 4u

#ifdef NCS_TSAN
#define ROUNDS 1500u
#else
#define ROUNDS 6000u
#endif

static const struct ncs_header *headers[THREADS];
static void *contexts[THREADS], *streams[THREADS];
static pthread_barrier_t barrier;

static void come(const char *timing)
{
	cuda_job_open("cuda.so", timing, CUDA_JOB_API);
	cuda->follow_clock(0);
	headers[0] = job.header;
	contexts[0] = job.guest.context;
	for (unsigned i = 0; i < THREADS; i++)
		streams[i] = cuda->stream_create();
}

static void pause_ms(unsigned ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000L };

	nanosleep(&pause, NULL);
}

static void run_threads(void *(*work)(void *index))
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, work,
				     (void *)(uintptr_t)i) == 0,
		      "no thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Checks that all operations of a communicator have ended, each once, but for
 * those that were counted as lost. */
static void expect_all_done(unsigned index, uint64_t operations)
{
	const struct ncs_header *header = headers[index];
	struct view view;
	uint64_t lost;

	/* All slots may be in use. */
	do {
		pause_ms(2);
		cuda_job_call_in(contexts[index], streams[index], 0);
		operations++;
	} while (PROGRESS(header, followed) != PROGRESS(header, launched));
	WAIT_UNTIL(PROGRESS(header, ended) == PROGRESS(header, launched),
		   "the last launch does not end");
	WAIT_UNTIL(cuda_job_in_flight(header) == 0, "%zu are in flight",
		   cuda_job_in_flight(header));
	view_open(&view, index);
	lost = view.now.losses[NCS_LOSS_POOL_FULL];
	CHECK_EQUAL(view.now.functions[COLL_FUNCTION].operations, operations,
		    "operations");
	CHECK_EQUAL(cuda_job_done(header) + lost, operations,
		    "each is done once, or counted as lost");
	CHECK(cuda_job_times(header).timed <= operations - lost,
	      "each has one time");
	view_close(&view);
}

static void expect_no_harm(void)
{
	struct fake_cuda_counts counts = cuda->counts();

	CHECK_EQUAL(counts.spoiled, 0, "spoiled captures");
	CHECK_EQUAL(counts.captured_events, 0, "captured events");
	cuda_job_close();
}

/* --- A communicator each ----------------------------------------------- */

static void *call_alone(void *argument)
{
	unsigned i = (unsigned)(uintptr_t)argument;

	cuda->context_use(job.gpu);
	pthread_barrier_wait(&barrier);
	for (unsigned k = 0; k < ROUNDS; k++) {
		cuda_job_call_in(contexts[i], streams[i],
				 k % 8 == 0 ? 20000 : 0);
		if (k % 256 == 0)
			pause_ms(1);
	}
	return NULL;
}

static void launch_each(void *timing)
{
	come(timing);
	for (unsigned i = 1; i < THREADS; i++) {
		contexts[i] = init_comm(job.guest.host, "each", 0);
		headers[i] = cuda_job_map(i);
	}
	run_threads(call_alone);
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK_EQUAL(PROGRESS(headers[i], launched), ROUNDS, "launched");
		expect_all_done(i, ROUNDS);
	}
	for (unsigned i = 1; i < THREADS; i++)
		cuda_job_finalize_in(contexts[i]);
	expect_no_harm();
}

static void play(void (*scenario)(void *timing))
{
	static char timings[][8] = { "all", "auto", "1/4" };

	for (size_t i = 0; i < sizeof(timings) / sizeof(timings[0]); i++)
		scenario_play(scenario, timings[i]);
}

TEST(threads_launch_in_a_communicator_each)
{
	play(launch_each);
}

/* --- One communicator -------------------------------------------------- */

static void *call_together(void *argument)
{
	unsigned i = (unsigned)(uintptr_t)argument;

	cuda->context_use(job.gpu);
	pthread_barrier_wait(&barrier);
	for (unsigned k = 0; k < ROUNDS; k++)
		cuda_job_call_in(job.guest.context, streams[i], 0);
	return NULL;
}

/* NCCL forbids that, but it must do no harm. */
static void launch_together(void *timing)
{
	come(timing);
	run_threads(call_together);
	CHECK_EQUAL(PROGRESS(headers[0], launched), THREADS * ROUNDS,
		    "launched");
	expect_all_done(0, THREADS * ROUNDS);
	expect_no_harm();
}

TEST(threads_launch_in_one_communicator)
{
	play(launch_together);
}

/* --- Groups ------------------------------------------------------------ */

/* Nearly as many as can be in flight. */
#define GROUPED 900u
#define GROUPS (ROUNDS / 100)

/* Kernels are over, and the watch thread looks, while their operations are
 * reported. */
static void *call_groups(void *argument)
{
	unsigned i = (unsigned)(uintptr_t)argument;

	cuda->context_use(job.gpu);
	pthread_barrier_wait(&barrier);
	for (unsigned k = 0; k < GROUPS; k++) {
		WAIT_UNTIL(cuda_job_in_flight(headers[i]) == 0,
			   "operations do not end");
		cuda_job_launch_in(contexts[i], streams[i], 0);
		pause_ms(2);
		for (unsigned n = 0; n < GROUPED; n++)
			cuda_job_operation_in(contexts[i], n);
	}
	return NULL;
}

static void launch_groups(void *timing)
{
	setenv("NCCLSTAT_SHM_BYTES", "256M", 1);
	come(timing);
	for (unsigned i = 1; i < THREADS; i++) {
		contexts[i] = init_comm(job.guest.host, "each", 0);
		headers[i] = cuda_job_map(i);
	}
	run_threads(call_groups);
	for (unsigned i = 0; i < THREADS; i++)
		expect_all_done(i, (uint64_t)GROUPS * GROUPED);
	for (unsigned i = 1; i < THREADS; i++)
		cuda_job_finalize_in(contexts[i]);
	expect_no_harm();
}

TEST(operations_end_once_while_they_are_reported)
{
	play(launch_groups);
}

/* --- More threads than lanes -------------------------------------------- */

static pthread_barrier_t entered, left;

static void *take_lane(void *unused)
{
	cuda_job_operation(0);
	pthread_barrier_wait(&entered);
	pthread_barrier_wait(&left);
	return unused;
}

SCENARIO(launches_without_a_lane_are_counted)
{
	pthread_t threads[NCS_LANE_MAX];
	struct view view;

	come("all");
	pthread_barrier_init(&entered, NULL, NCS_LANE_MAX + 1);
	pthread_barrier_init(&left, NULL, NCS_LANE_MAX + 1);
	for (unsigned i = 0; i < NCS_LANE_MAX; i++)
		CHECK(pthread_create(&threads[i], NULL, take_lane, NULL) == 0,
		      "no thread");
	pthread_barrier_wait(&entered);
	for (unsigned i = 0; i < 3; i++)
		cuda_job_call(0);
	CHECK_EQUAL(JOB_PROGRESS(launched), 3, "launched");
	CHECK_EQUAL(JOB_PROGRESS(followed), 0, "followed");
	CHECK_EQUAL(JOB_PROGRESS(missed), 3, "counted");
	view_open(&view, 0);
	CHECK_EQUAL(ncs_launches_told(&view.now.launches), NCS_STREAM_MOST,
		    "told");
	view_close(&view);
	pthread_barrier_wait(&left);
	for (unsigned i = 0; i < NCS_LANE_MAX; i++)
		pthread_join(threads[i], NULL);
	expect_no_harm();
}

/* --- Communicators that come and go ------------------------------------- */

#define COMINGS 25u

static void *come_and_go(void *argument)
{
	unsigned i = (unsigned)(uintptr_t)argument;

	cuda->context_use(job.gpu);
	pthread_barrier_wait(&barrier);
	for (unsigned k = 0; k < COMINGS; k++) {
		void *context = init_comm(job.guest.host, "short", (int)i);
		void *captured = cuda->stream_create();

		for (unsigned n = 0; n < 20; n++) {
			cuda_job_call_in(context, streams[i], 0);
			if (n % 5 == 4)
				pause_ms(n % 3);
		}
		if (i == 0) {
			cuda->capture_begin(captured, FAKE_CUDA_GLOBAL);
			for (unsigned n = 0; n < 20; n++)
				cuda_job_launch_in(context, captured, 0);
			pause_ms(k % 3);
			CHECK(cuda->capture_end(captured), "it is spoiled");
		}
		cuda_job_finalize_in(context);
	}
	return NULL;
}

static void live_shortly(void *timing)
{
	come(timing);
	run_threads(come_and_go);
	expect_all_done(0, 0);
	expect_no_harm();
}

TEST(communicators_come_and_go)
{
	play(live_shortly);
}
