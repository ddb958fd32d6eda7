/* SPDX-License-Identifier: MIT */
/* Two plugins behind one handle, with many threads: each of the two gets its
 * own handles back and no others, and every call is passed on (this file is
 * also built with ThreadSanitizer). */
#include <pthread.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/control.h"
#include "shm/read/remote.h"
#include "test/plugin/next/recording_plugin.h"
#include "test/plugin/scenario.h"
#include "test/unit/support/unit.h"

#define LAST_API 7
#define THREADS 6

#ifdef NCS_TSAN
#define ROUNDS 1500
#else
#define ROUNDS 10000
#endif

static struct recorder *next;
static unsigned running;

static void chain(void)
{
	const char *path = NCS_NEXT "/recorder-all.so";
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	CHECK(library, "%s", dlerror());
	next = dlsym(library, "recorder");
	CHECK(next, "not a recorder's library");
	next->reset();
	next->counts_only = true;
	setenv("NCCLSTAT_CHAIN", path, 1);
}

static void run(void *(*work)(void *argument), pthread_t *thread,
		void *argument)
{
	__atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
	CHECK(pthread_create(thread, NULL, work, argument) == 0,
	      "pthread_create");
}

static void *done(void)
{
	__atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Makes the calls of one NCCL thread. Proxy operations of a communicator belong
 * to one thread, so each thread has its own communicator. */
static void *call(void *argument)
{
	const struct guest *shared = argument;
	struct guest own = *shared;
	struct guest *guest = &own;

	own.context = init_comm(own.host, "own", 2);
	for (unsigned i = 0; i < ROUNDS; i++) {
		void *coll = start_coll(guest, i, 1);
		void *op, *step, *ctrl;

		stop(guest, coll);
		op = start_proxy_op(guest, coll, 1, true, 2, 1);
		step = start_step(guest, op, 0);
		record(guest, step, NCCL_STATE_STEP_SEND_GPU_WAIT);
		ctrl = start_type(guest, NCCL_EVENT_PROXY_CTRL, NULL);
		record(guest, ctrl, NCCL_STATE_CTRL_IDLE);
		stop(guest, ctrl);
		stop(guest, step);
		stop(guest, op);
	}
	host_finalize(own.host, own.context);
	return done();
}

static void check_counts(uint64_t rounds)
{
	CHECK_EQUAL(next->broken, 0, "got a handle that it never returned");
	CHECK_EQUAL(next->starts[NCS_EVENT_COLL], rounds, "starts");
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_OP], rounds, "starts");
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_STEP], rounds, "starts");
	CHECK_EQUAL(next->starts[NCS_EVENT_PROXY_CTRL], rounds, "starts");
	CHECK_EQUAL(next->stops[NCS_EVENT_COLL], rounds, "stops");
	CHECK_EQUAL(next->stops[NCS_EVENT_PROXY_OP], rounds, "stops");
	CHECK_EQUAL(next->stops[NCS_EVENT_PROXY_STEP], rounds, "stops");
	CHECK_EQUAL(next->stops[NCS_EVENT_PROXY_CTRL], rounds, "stops");
	CHECK_EQUAL(next->states, 2 * rounds, "states");
}

SCENARIO(every_call_of_every_thread_is_passed_on)
{
	pthread_t threads[THREADS];
	struct guest guest;

	chain();
	guest_open(&guest, LAST_API);
	for (unsigned i = 0; i < THREADS; i++)
		run(call, &threads[i], &guest);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	check_counts((uint64_t)THREADS * ROUNDS);
	view_take(&guest.view);
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_CHAIN], 0, "no pair");
	CHECK_EQUAL(guest.view.now.losses[NCS_LOSS_STALE], 0, "no handle");
	guest_close(&guest);
}

/* --- Late calls -------------------------------------------------------- */

static void *stale[64];

/* Handles whose entries other threads reuse all the time. */
static void *come_too_late(void *argument)
{
	struct guest *guest = argument;

	while (__atomic_load_n(&running, __ATOMIC_RELAXED) > 1)
		for (unsigned i = 0; i < 64; i++) {
			record(guest, stale[i], NCCL_STATE_CTRL_IDLE);
			stop(guest, stale[i]);
		}
	return done();
}

SCENARIO(late_handle_reaches_no_other_event)
{
	pthread_t threads[THREADS], late;
	struct guest guest;

	chain();
	guest_open(&guest, LAST_API);
	for (unsigned i = 0; i < 64; i++) {
		stale[i] = start_type(&guest, NCCL_EVENT_PROXY_CTRL, NULL);
		stop(&guest, stale[i]);
	}
	/* Another 1024 handles evict them. */
	for (unsigned i = 0; i < 1024; i++)
		stop(&guest, start_type(&guest, NCCL_EVENT_PROXY_CTRL, NULL));
	memset(next->starts, 0, sizeof(next->starts));
	memset(next->stops, 0, sizeof(next->stops));
	for (unsigned i = 0; i < THREADS; i++)
		run(call, &threads[i], &guest);
	run(come_too_late, &late, &guest);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(late, NULL);
	check_counts((uint64_t)THREADS * ROUNDS);
	view_take(&guest.view);
	CHECK(guest.view.now.losses[NCS_LOSS_CHAIN] > 0,
	      "no call was too late");
	guest_close(&guest);
}

/* --- Communicators and masks ------------------------------------------- */

static void *come_and_go(void *argument)
{
	struct guest *guest = argument;

	for (unsigned i = 0; i < 200; i++) {
		void *context = init_comm(guest->host, "short", 2);

		start_in(guest, context,
			 &(struct host_event){ .type = NCCL_EVENT_GROUP });
		host_finalize(guest->host, context);
	}
	return done();
}

static void *change_mask(void *argument)
{
	int mask = 0, *word = argument;

	while (__atomic_load_n(&running, __ATOMIC_RELAXED) > 1) {
		mask ^= NCCL_EVENT_KERNEL_CH;
		__atomic_store_n(word, 0x7fbf | mask, __ATOMIC_RELAXED);
	}
	return done();
}

SCENARIO(inits_and_masks_may_come_at_any_time)
{
	pthread_t threads[THREADS], masks;
	struct guest guest;
	int *word;

	chain();
	next->mask = 0x7fbf;
	guest_open(&guest, 5);
	word = next->mask_word;
	for (unsigned i = 0; i < THREADS; i++)
		run(i < 2 ? call : come_and_go, &threads[i], &guest);
	run(change_mask, &masks, word);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(masks, NULL);
	check_counts(UINT64_C(2) * ROUNDS);
	CHECK_EQUAL(next->starts[NCS_EVENT_GROUP], (THREADS - 2) * 200,
		    "one in each communicator");
	CHECK(!(host_mask() & NCCL_EVENT_KERNEL_CH),
	      "kernel timing is not switched");
	guest_close(&guest);
}

/* --- Events that both ask for ------------------------------------------ */

#define SETTINGS 2000

static pthread_barrier_t together;

static void make_group(struct guest *guest)
{
	stop(guest, start_type(guest, NCCL_EVENT_GROUP, NULL));
}

/* Up to API 3 only the chained plugin asks for control events. */
static void *change_theirs(void *argument)
{
	struct guest guest = *(const struct guest *)argument;

	for (unsigned i = 0; i < SETTINGS; i++) {
		pthread_barrier_wait(&together);
		__atomic_store_n(next->mask_word,
				 i % 2 ? 0 : NCCL_EVENT_PROXY_CTRL,
				 __ATOMIC_RELAXED);
		make_group(&guest);
		pthread_barrier_wait(&together);
	}
	return done();
}

SCENARIO(no_change_of_either_is_lost)
{
	struct ncs_change change = { .groups = true, .to.has_groups = 1 };
	struct ncs_remote *remote;
	struct guest guest, theirs;
	pthread_t thread;
	char why[128];
	int all;

	chain();
	next->mask = 0;
	guest_open(&guest, 3);
	all = host_mask();
	CHECK(view_find_remote(&guest.view, &remote, why, sizeof(why)) ==
		      NCS_ATTACHED,
	      "%s", why);
	CHECK(pthread_barrier_init(&together, NULL, 2) == 0, "barrier");
	theirs = guest;
	run(change_theirs, &thread, &theirs);
	for (unsigned i = 0; i < SETTINGS; i++) {
		change.to.groups = i % 2 ? NCS_GROUPS_ALL :
					   1u << NCS_GROUP_CALLS;
		ncs_control_change(ncs_remote_control(remote), &change);
		pthread_barrier_wait(&together);
		make_group(&guest);
		pthread_barrier_wait(&together);
		/* One of them may have read the other's setting too early. */
		make_group(&guest);
		CHECK_EQUAL(host_mask(),
			    (all & (int)ncs_groups_events(change.to.groups)) |
				    (i % 2 ? 0 : NCCL_EVENT_PROXY_CTRL),
			    "the latest of both");
	}
	pthread_join(thread, NULL);
	ncs_remote_close(remote);
	guest_close(&guest);
}
