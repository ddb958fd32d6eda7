/* SPDX-License-Identifier: MIT */
/* Kernels launched by many threads at the same time, while CUPTI's thread
 * counts them and communicators come and go: each counts once, in the right
 * range. Also for ThreadSanitizer. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/plugin/next/fake_cupti.h"
#include "test/plugin/ranges.h"
#include "test/unit/support/unit.h"

#define LIBRARY NCS_NEXT "/cupti.so"
#define THREADS 4u
#define LAUNCHES 3000u
#define KERNEL_NS 7u

static struct guest guest;
static struct fake_cupti *cupti;
static pthread_barrier_t barrier;
static unsigned launched[THREADS]; /* by each thread so far */

static uint32_t correlation_of(unsigned thread, unsigned i)
{
	return i * THREADS + thread;
}

static void *launch(void *argument)
{
	unsigned thread = (unsigned)(uintptr_t)argument;
	char name[16];

	snprintf(name, sizeof(name), "thread %u", thread);
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < LAUNCHES; i++) {
		ranges.push(name);
		cupti->launch(CUPTI_ENTER, correlation_of(thread, i));
		ranges.pop();
		__atomic_store_n(&launched[thread], i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void run_kernel(unsigned thread, unsigned i)
{
	struct cupti_kernel kernel = {
		.kind = CUPTI_CONCURRENT_KERNEL,
		.device = thread,
		.start = 10 + 10 * (uint64_t)i,
		.correlation = correlation_of(thread, i),
		.name = i % 3 ? "gemm" : "ncclDevKernel",
	};

	kernel.end = kernel.start + KERNEL_NS;
	cupti->record(&kernel, SIZE_MAX);
}

/* Acts as CUPTI's thread. */
static void *record_all(void *argument)
{
	unsigned recorded[THREADS] = { 0 }, whole = 0;

	(void)argument;
	pthread_barrier_wait(&barrier);
	while (whole < THREADS) {
		whole = 0;
		for (unsigned i = 0; i < THREADS; i++) {
			unsigned ready =
				__atomic_load_n(&launched[i], __ATOMIC_ACQUIRE);

			while (recorded[i] < ready)
				run_kernel(i, recorded[i]++);
			whole += recorded[i] == LAUNCHES;
		}
		cupti->deliver();
	}
	return NULL;
}

static void come_and_go(void)
{
	void *context = init_comm(guest.host, "short", 0);

	CHECK(host_finalize(guest.host, context) == NCCL_SUCCESS, "finalize");
}

static void run(void *argument)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	pthread_t threads[THREADS + 1];

	(void)argument;
	CHECK(library, "%s", dlerror());
	cupti = dlsym(library, "fake_cupti");
	ranges_open();
	guest_open(&guest, 7);
	pthread_barrier_init(&barrier, NULL, THREADS + 2);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, launch,
				     (void *)(uintptr_t)i) == 0,
		      "no thread");
	CHECK(pthread_create(&threads[THREADS], NULL, record_all, NULL) == 0,
	      "no thread");
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < 20; i++)
		come_and_go();
	for (unsigned i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	view_take(&guest.view);
	for (unsigned i = 0; i < THREADS; i++) {
		const struct ncs_range_view *range;
		char name[16];

		snprintf(name, sizeof(name), "thread %u", i);
		range = ranges_find(&guest.view, name);
		CHECK(range, "there is no %s", name);
		CHECK_EQUAL(range->gpu.compute_kernels, LAUNCHES / 3 * 2,
			    "kernels");
		CHECK_EQUAL(range->gpu.compute_busy_ns,
			    LAUNCHES / 3 * 2 * KERNEL_NS, "busy");
		CHECK_EQUAL(range->gpu.communication_ns,
			    LAUNCHES / 3 * KERNEL_NS, "communication");
	}
	CHECK_EQUAL(guest.view.now.cupti.unplaced, 0, "each launch is known");
	CHECK_EQUAL(guest.view.now.cupti.lost, 0, "nothing is lost");
	guest_close(&guest);
}

TEST(each_kernel_counts_once_in_its_range)
{
	setenv("NCCLSTAT_CUPTI", LIBRARY, 1);
	scenario_play(run, NULL);
	unsetenv("NCCLSTAT_CUPTI");
}
