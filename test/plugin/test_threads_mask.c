/* SPDX-License-Identifier: MIT */
/* Threads that make calls while communicators come and go: captured calls of
 * one communicator are all timed or all untimed, and so are later calls.
 * test/model/mask_model.py tries all orders; this tests the plugin itself, also
 * with ThreadSanitizer. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/plugin/calls.h"

#define SCENARIOS 40
#define CALLERS 3
#define CALLS 1500

/* A communicator that threads share: one call after the other, as NCCL
 * requires. */
struct shared {
	pthread_mutex_t lock;
	void *context; /* NULL if there is no communicator */
	bool captured; /* a call was captured */
	bool on;       /* the captured call was timed */
	unsigned timed;
};

static struct guest guest;
static struct shared shared[2];
static uint64_t seed;

static uint64_t next_random(uint64_t *random)
{
	/* xorshift64 */
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

static void call(struct shared *comm, bool capture)
{
	bool on;

	pthread_mutex_lock(&comm->lock);
	if (comm->context) {
		on = make_call(&guest, comm->context, "AllReduce", capture);
		comm->timed += on;
		CHECK(!comm->captured || on == comm->on,
		      "seed %llu: captured %s, then %s",
		      (unsigned long long)seed, comm->on ? "on" : "off",
		      on ? "on" : "off");
		if (capture) {
			comm->captured = true;
			comm->on = on;
		}
	}
	pthread_mutex_unlock(&comm->lock);
}

static void *be_caller(void *argument)
{
	uint64_t random = seed + (uintptr_t)argument;
	unsigned capture_at;

	next_random(&random);
	capture_at = (unsigned)(next_random(&random) % (2 * CALLS));
	for (unsigned i = 0; i < CALLS; i++)
		call(&shared[next_random(&random) % 8 == 0], i == capture_at);
	return NULL;
}

/* The second communicator comes and goes. */
static void *be_maker(void *argument)
{
	uint64_t random = seed * 31 + 7;
	struct shared *second = &shared[1];
	void *context;

	(void)argument;
	for (unsigned i = 0; i < 6; i++) {
		unsigned rest = (unsigned)(next_random(&random) % 2000);

		usleep(rest);
		/* Other threads make calls on the first communicator
		 * meanwhile. */
		context = init_comm(guest.host, "second", 2);
		pthread_mutex_lock(&second->lock);
		second->captured = false;
		second->context = context;
		pthread_mutex_unlock(&second->lock);
		for (unsigned k = 0; k < rest / 100; k++)
			call(second, k == 7 && i == 3);
		pthread_mutex_lock(&second->lock);
		host_finalize(guest.host, context);
		second->context = NULL;
		pthread_mutex_unlock(&second->lock);
	}
	return NULL;
}

static void play_threads(void *argument)
{
	pthread_t threads[CALLERS + 1];

	seed = *(const uint64_t *)argument;
	guest_open(&guest, 5);
	for (unsigned i = 0; i < 2; i++)
		pthread_mutex_init(&shared[i].lock, NULL);
	/* All have settled, so that windows open from the beginning. */
	make_calls(&guest, guest.context, 1000 + (unsigned)(seed % 64));
	shared[0].context = guest.context;
	for (uintptr_t i = 0; i < CALLERS; i++)
		CHECK(pthread_create(&threads[i], NULL, be_caller, (void *)i) ==
			      0,
		      "no thread");
	CHECK(pthread_create(&threads[CALLERS], NULL, be_maker, NULL) == 0,
	      "no thread");
	for (unsigned i = 0; i <= CALLERS; i++)
		pthread_join(threads[i], NULL);
	/* The segments must report all timed calls. */
	view_take(&guest.view);
	CHECK(guest.view.now.kernel.timed_calls >= shared[0].timed,
	      "%llu calls are reported as timed, %u were",
	      (unsigned long long)guest.view.now.kernel.timed_calls,
	      shared[0].timed);
	CHECK(guest.view.now.losses[NCS_LOSS_STALE] == 0, "a handle was lost");
	guest_close(&guest);
}

static void captured_calls_are_all_timed_or_all_untimed(void **state)
{
	static const char *const timings[] = { "sampled:1", "sampled:2",
					       "sampled:64", "always" };
	uint64_t number = 4711;

	(void)state;
	for (unsigned i = 0; i < SCENARIOS; i++, number++) {
		setenv("NCCLSTAT_KERNEL_TIMING", timings[i % 4], 1);
		scenario_play(play_threads, &number);
		unsetenv("NCCLSTAT_KERNEL_TIMING");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captured_calls_are_all_timed_or_all_untimed),
	};

	return cmocka_run_group_tests_name("threads_mask", tests, NULL, NULL);
}
