/* SPDX-License-Identifier: MIT */
/* The watch thread; see launch_watch.h. */
#include "plugin/life/launch_watch.h"

#include <string.h>
#include <time.h>

#include "plugin/life/launch_level.h"
#include "plugin/life/launch_poll.h"
#include "plugin/life/own_thread.h"
#include "plugin/life/replays.h"
#include "plugin/nccl/cuda_driver.h"
#include "plugin/state/registry.h"
#include "shm/clock.h"

/* Communicators that are gone but whose events are still pending need room,
 * too. */
#define LAUNCHES_MAX (NCS_COMM_MAX + 16u)

/* The thread looks that often while there are launches, and otherwise. */
#define BUSY_PAUSE_NS 10000000L
#define IDLE_PAUSE_NS 50000000L
/* ... and while so much is to be done in a round: launches that come that fast
 * would soon use all slots. */
#define FAST_PAUSE_NS 1000000L
#define FAST_DONE 32u

/* finalize waits for the thread's last look so long at most: the driver may hold
 * the thread up. As a rule it takes some 0.1 ms. */
#define LAST_LOOK_NS 5000000L

/* Time between launches that are followed without being timed: two events cost
 * the launching thread 1.4 us. */
#define SPACING_NS UINT64_C(1000000)

static struct ncs_watched watched[LAUNCHES_MAX];

/* Makes the communicator for another one's copies. */
static void (*make_copies)(struct ncs_comm *comm);

static struct {
	uint64_t runs;     /* 1 while there is a thread, or one is started */
	uint64_t stopping; /* 1 once the process ends */
	/* Under the lock: the thread is to look at once. */
	bool wanted;
	pthread_cond_t wake;
} watch;

static bool is_stopping(void)
{
	return ncs_load_relaxed(&watch.stopping) != 0;
}

/* Returns the time that is `ns` from now, less than a second. */
static struct timespec in_ns(long ns)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += ns;
	if (time.tv_nsec >= 1000000000L) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000L;
	}
	return time;
}

/* Waits for so long, or until a communicator is finalized. */
static void pause_ns(long ns)
{
	struct timespec end = in_ns(ns);

	pthread_mutex_lock(&ncs_watched_lock);
	while (!watch.wanted &&
	       pthread_cond_timedwait(&watch.wake, &ncs_watched_lock, &end) ==
		       0)
		;
	watch.wanted = false;
	pthread_mutex_unlock(&ncs_watched_lock);
}

/* Tells in all segments whether the thread is about to call the driver. */
static void publish_awake(uint64_t now, bool in_driver)
{
	pthread_mutex_lock(&ncs_watched_lock);
	for (unsigned i = 0; i < LAUNCHES_MAX; i++) {
		struct ncs_watched *self = &watched[i];

		if (!self->comm)
			continue;
		ncs_store_relaxed(&self->comm->header->launches.watch_since,
				  in_driver ? now : 0);
		if (!in_driver)
			ncs_watched_publish(self);
	}
	pthread_mutex_unlock(&ncs_watched_lock);
}

/* Makes an entry free for another communicator. The lock is held, and no other
 * thread uses the entry. */
static void free_entry(struct ncs_watched *self)
{
	struct ncs_launches *launches = &self->launches;

	/* Else the slots were never used: then they take no memory. */
	if (launches->primary.context)
		memset(launches->slots, 0, sizeof(launches->slots));
	memset(&launches->primary, 0, sizeof(launches->primary));
	ncs_store_relaxed(&launches->other_context, 0);
	for (unsigned i = 0; i < NCS_LAUNCH_KINDS; i++) {
		ncs_store_relaxed(&launches->taken[i], 0);
		ncs_store_relaxed(&launches->put[i], 0);
		self->made[i] = self->used[i] = 0;
	}
	ncs_store_relaxed(&launches->use, NCS_LAUNCHES_UNUSED);
	ncs_store_relaxed(&launches->error, 0);
	ncs_store_relaxed(&launches->head, 0);
	ncs_store_relaxed(&launches->tail, 0);
	ncs_store_relaxed(&launches->number, 0);
	ncs_store_relaxed(&launches->last_followed, 0);
	ncs_store_relaxed(&launches->open_handle, 0);
	ncs_store_relaxed(&launches->last_missed, 0);
	ncs_store_relaxed32(&launches->graph, 0);
	self->leaving = self->closed = false;
	self->released = self->events_lost = false;
	self->last_number = self->scanned = self->seen = 0;
	ncs_store_relaxed(&self->failure, 0);
	/* ORDER: pairs with ncs_watched_serve() (plugin/life/launch_poll.c). */
	ncs_store_release(&launches->stage, NCS_LAUNCHES_FREE);
}

/* Returns true if a communicator is left that launches, or events to destroy;
 * gives up entries that nothing refers to any more. */
static bool is_needed(void)
{
	bool needed = false;

	pthread_mutex_lock(&ncs_watched_lock);
	for (unsigned i = 0; i < LAUNCHES_MAX; i++) {
		struct ncs_watched *self = &watched[i];
		uint64_t stage = ncs_load_relaxed(&self->launches.stage);

		if (stage == NCS_LAUNCHES_FREE || stage == NCS_LAUNCHES_IDLE)
			continue;
		if (!self->closed)
			needed = true;
		else if (!self->comm)
			free_entry(self);
	}
	pthread_mutex_unlock(&ncs_watched_lock);
	return (needed || ncs_replays_may_come()) && !is_stopping();
}

/* Returns true if the thread may end. A communicator whose first launch has
 * found that there is a thread is seen after `runs` is 0. */
static bool may_end(void)
{
	if (is_needed())
		return false;
	/* ORDER: pairs with start_watch() (plugin/life/launch_watch.c): either
	 * that finds 0, or the communicator is found here. */
	ncs_exchange_acquire_release(&watch.runs, 0);
	/* ORDER: pairs with start_watch() (plugin/life/launch_watch.c): of this
	 * thread and one that is started meanwhile one goes on. */
	return !is_needed() || ncs_exchange_acquire_release(&watch.runs, 1);
}

/* Makes the communicators that callbacks want (plugin/events/copies.h). */
static void make_wanted(void)
{
	for (unsigned i = 0; i < NCS_COMM_MAX; i++)
		if (ncs_load_relaxed(&ncs_registry.comms[i].copies_wanted) ==
		    NCS_COPIES_WANTED)
			make_copies(&ncs_registry.comms[i]);
}

static void *run(void *unused)
{
	uint64_t launches = 0, now;
	unsigned done;

	(void)unused;
	pthread_setname_np(pthread_self(), "ncclstat-watch");
	for (;;) {
		int mode;

		publish_awake(ncs_now(), true);
		done = 0;
		ncs_cuda_begin(&mode);
		for (unsigned i = 0; i < LAUNCHES_MAX && !is_stopping(); i++)
			done += ncs_watched_serve(&watched[i]);
		if (!is_stopping())
			done += ncs_replays_serve();
		ncs_cuda_end(&mode);
		make_wanted();
		now = ncs_now();
		publish_awake(now, false);
		ncs_launch_level_choose(ncs_clock_realtime_ns());
		if (may_end())
			break;
		if (done >= FAST_DONE)
			pause_ns(FAST_PAUSE_NS);
		else if (launches != ncs_launch_process.launches)
			pause_ns(BUSY_PAUSE_NS);
		else
			pause_ns(IDLE_PAUSE_NS);
		launches = ncs_launch_process.launches;
	}
	return NULL;
}

/* Starts the thread unless it runs; see ncs_launch_process. */
static bool start_watch(void)
{
	if (is_stopping())
		return false;
	/* ORDER: pairs with may_end() (plugin/life/launch_watch.c): a thread
	 * that ends later finds the communicator. */
	if (ncs_exchange_acquire_release(&watch.runs, 1) == 1)
		return true;
	if (ncs_own_thread_start(run))
		return true;
	/* ORDER: pairs with start_watch() (plugin/life/launch_watch.c): another
	 * thread may try. */
	ncs_exchange_acquire_release(&watch.runs, 0);
	return false;
}

/* --- init, finalize, fork, exit ----------------------------------------- */

void ncs_launch_watch_reset(const struct ncs_environment *environment,
			    void (*make)(struct ncs_comm *comm))
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&watch.wake, &monotonic);
	pthread_cond_init(&ncs_watched_detached, &monotonic);
	pthread_condattr_destroy(&monotonic);
	make_copies = make;
	ncs_launch_level_reset(environment->timing);
	ncs_launch_process.spacing_ticks = ncs_ticks_of_ns(SPACING_NS);
	ncs_launch_process.start_watch = start_watch;
	ncs_launch_process.stamps = environment->graphs !=
					    NCS_TIMING_DETAIL_OFF &&
				    ncs_cuda.has_graphs;
	ncs_launch_process.stamp_period =
		environment->graphs < NCS_TIMING_DETAIL_EVERY ?
			0 :
			UINT64_C(1) << (environment->graphs -
					NCS_TIMING_DETAIL_EVERY);
}

/* Returns whether a new communicator can be followed: NCS_STREAM_WAITING, or
 * NCS_STREAM_OFF as long as nobody asks for more; else why not. */
static enum ncs_stream_status why_not(const struct ncs_comm *comm)
{
	if (comm->api_version < NCS_LAUNCH_API)
		return NCS_STREAM_RELEASE;
	if (!ncs_cuda_driver_find())
		return NCS_STREAM_NO_DRIVER;
	return NCS_LAUNCH_DETAIL(ncs_load_relaxed(
		       &ncs_launch_process.timing)) == NCS_TIMING_DETAIL_OFF ?
		       NCS_STREAM_OFF :
		       NCS_STREAM_WAITING;
}

/* Returns an entry for a communicator; NULL if all are in use. The lock is
 * held. */
static struct ncs_watched *free_watched(void)
{
	for (unsigned i = 0; i < LAUNCHES_MAX; i++)
		if (ncs_load_relaxed(&watched[i].launches.stage) ==
		    NCS_LAUNCHES_FREE)
			return &watched[i];
	return NULL;
}

void ncs_launch_watch_add(struct ncs_comm *comm)
{
	enum ncs_stream_status status = why_not(comm);
	struct ncs_watched *self = NULL;

	pthread_mutex_lock(&ncs_watched_lock);
	if (status == NCS_STREAM_WAITING || status == NCS_STREAM_OFF) {
		self = free_watched();
		if (!self)
			status = NCS_STREAM_NO_ROOM;
	}
	if (self) {
		self->comm = comm;
		/* ORDER: pairs with ncs_watched_serve() (plugin/life/launch_poll.c). */
		ncs_store_release(&self->launches.stage, NCS_LAUNCHES_IDLE);
	}
	/* The launches are the entry's first member. */
	ncs_store_relaxed(&comm->launches, (uint64_t)(uintptr_t)self);
	ncs_store_relaxed(&comm->header->launches.status, status);
	pthread_mutex_unlock(&ncs_watched_lock);
}

void ncs_launch_watch_remove(struct ncs_comm *comm)
{
	struct ncs_watched *self =
		(struct ncs_watched *)(void *)ncs_launches_of(comm);
	struct ncs_launches *launches;
	bool taken;

	if (!self)
		return;
	launches = &self->launches;
	pthread_mutex_lock(&ncs_watched_lock);
	ncs_store_relaxed(&comm->launches, 0);
	self->leaving = true;
	if (self->closed ||
	    ncs_load_relaxed(&launches->stage) == NCS_LAUNCHES_IDLE)
		ncs_watched_detach(self);
	/* ORDER: pairs with begin_following() (plugin/events/launch.c): it
	 * finds that the communicator is gone, or the thread closes. */
	taken = ncs_cas_acquire_release(&launches->stage, NCS_LAUNCHES_IDLE,
					NCS_LAUNCHES_CLOSING) &&
		ncs_launches_take(launches);
	/* ORDER: pairs with ncs_watched_serve() (plugin/life/launch_poll.c): the
	 * communicator is gone. */
	ncs_store_release(&launches->stage, NCS_LAUNCHES_CLOSING);
	if ((taken && !launches->primary.context) ||
	    (self->closed && ncs_load_relaxed(&watch.runs) == 0)) {
		free_entry(self);
	} else {
		/* ORDER: pairs with ncs_launches_take()
		 * (plugin/state/launches.h): the thread takes them again, and
		 * releases the context. */
		if (taken)
			ncs_store_release(&launches->use, NCS_LAUNCHES_UNUSED);
		if (!start_watch())
			ncs_watched_detach(self);
		watch.wanted = true;
		pthread_cond_signal(&watch.wake);
	}
	pthread_mutex_unlock(&ncs_watched_lock);
}

/* Returns the entry of a communicator; NULL if nothing is told of it any more.
 * The lock is held. */
static struct ncs_watched *attached_to(const struct ncs_comm *comm)
{
	for (unsigned i = 0; i < LAUNCHES_MAX; i++)
		if (watched[i].comm == comm)
			return &watched[i];
	return NULL;
}

void ncs_launch_watch_await(const struct ncs_comm *comm)
{
	struct timespec end = in_ns(LAST_LOOK_NS);
	const struct ncs_watched *self;

	pthread_mutex_lock(&ncs_watched_lock);
	/* Another communicator may have got its memory, which does not
	 * leave. */
	while ((self = attached_to(comm)) != NULL && self->leaving &&
	       pthread_cond_timedwait(&ncs_watched_detached, &ncs_watched_lock,
				      &end) == 0)
		;
	pthread_mutex_unlock(&ncs_watched_lock);
}

void ncs_launch_watch_detach(const struct ncs_comm *comm)
{
	struct ncs_watched *self;

	pthread_mutex_lock(&ncs_watched_lock);
	self = attached_to(comm);
	if (self)
		ncs_watched_detach(self);
	pthread_mutex_unlock(&ncs_watched_lock);
}

void ncs_launch_watch_forget(void)
{
	pthread_mutex_init(&ncs_watched_lock, NULL);
	/* Entries that were never used are not touched: they take no memory. */
	for (unsigned i = 0; i < LAUNCHES_MAX; i++)
		if (ncs_load_relaxed(&watched[i].launches.stage) !=
		    NCS_LAUNCHES_FREE)
			memset(&watched[i], 0, sizeof(watched[i]));
	ncs_launch_clock_forget();
	ncs_replays_forget();
	watch.runs = watch.stopping = 0;
	memset(&ncs_launch_process, 0, sizeof(ncs_launch_process));
}

void ncs_launch_watch_stop(void)
{
	ncs_store_relaxed(&watch.stopping, 1);
}
