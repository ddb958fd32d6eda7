/* SPDX-License-Identifier: MIT */
/* Ranges pushed, and calls made in them, by many threads at the same time:
 * every call and every operation is counted once, under the right name. Also
 * for ThreadSanitizer. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/plugin/ranges.h"
#include "test/unit/support/unit.h"

#define THREADS 8
#define TURNS 300
#define NAMES 40

static struct guest guest;
static pthread_barrier_t barrier;
static pthread_mutex_t proxy = PTHREAD_MUTEX_INITIALIZER;

/* Makes a call. A communicator has one proxy thread, which the lock stands
 * for. */
static void call(void)
{
	void *handle = ranges_call(&guest, guest.context, "AllReduce");

	pthread_mutex_lock(&proxy);
	ranges_play(&guest, guest.context, handle);
	pthread_mutex_unlock(&proxy);
}

/* Shared and own names, inside a range of the thread's own. */
static void *annotate(void *argument)
{
	unsigned thread = (unsigned)(uintptr_t)argument;
	char name[32];

	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < TURNS; i++) {
		uint64_t started = ranges.start("started");

		snprintf(name, sizeof(name), "shared %u", i % NAMES);
		ranges.push(name);
		call();
		snprintf(name, sizeof(name), "thread %u", thread);
		ranges.push(name);
		call();
		ranges.pop();
		ranges.pop();
		ranges.end(started);
		ranges.mark("mark");
	}
	return NULL;
}

/* A thread without ranges is in the range in which the main thread is at that
 * time. */
static void *go_backward(void *argument)
{
	(void)argument;
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < TURNS; i++)
		call();
	return NULL;
}

static void run(void *argument)
{
	pthread_t threads[THREADS + 1];
	uint64_t calls = 0, operations = 0, steps = 0;
	const struct ncs_range_view *range;
	char name[64];

	(void)argument;
	ranges_open();
	guest_open(&guest, 7);
	pthread_barrier_init(&barrier, NULL, THREADS + 2);
	ranges.push("main");
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, annotate,
				     (void *)(uintptr_t)i) == 0,
		      "no thread");
	CHECK(pthread_create(&threads[THREADS], NULL, go_backward, NULL) == 0,
	      "no thread");
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < 100 * TURNS; i++) {
		ranges.push(i % 2 ? "odd" : "even");
		ranges.pop();
	}
	for (unsigned i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	view_take(&guest.view);
	for (size_t i = 0; i < guest.view.now.range_count; i++) {
		range = &guest.view.now.ranges[i];
		calls += range->calls;
		operations += range->operations;
		CHECK_EQUAL(range->busy, 0, range->name);
	}
	/* Read while the main thread changes ranges, it may seem to be in
	 * none. */
	range = ranges_find(&guest.view, "main");
	steps = range ? range->calls : 0;
	for (unsigned i = 0; i < 2; i++) {
		range = ranges_find(&guest.view, i ? "main/odd" : "main/even");
		steps += range ? range->calls : 0;
	}
	CHECK(steps <= TURNS, "%llu calls in the main thread's ranges",
	      (unsigned long long)steps);
	CHECK(calls >= 2 * THREADS * TURNS && operations >= calls - TURNS,
	      "%llu calls, %llu operations", (unsigned long long)calls,
	      (unsigned long long)operations);
	for (unsigned i = 0; i < THREADS; i++) {
		calls = 0;
		for (unsigned k = 0; k < NAMES; k++) {
			snprintf(name, sizeof(name), "shared %u/thread %u", k,
				 i);
			range = ranges_find(&guest.view, name);
			CHECK(range, "there is no %s", name);
			calls += range->calls;
		}
		CHECK_EQUAL(calls, TURNS, "calls of a thread");
	}
	calls = 0;
	for (unsigned k = 0; k < NAMES; k++) {
		snprintf(name, sizeof(name), "shared %u", k);
		calls += ranges_find(&guest.view, name)->calls;
	}
	CHECK_EQUAL(calls, THREADS * TURNS, "calls in shared names");
	ranges.pop();
	guest_close(&guest);
}

TEST(each_call_counts_once_in_its_range)
{
	setenv("NCCLSTAT_RANGES", "1000", 1);
	scenario_play(run, NULL);
	unsetenv("NCCLSTAT_RANGES");
}
