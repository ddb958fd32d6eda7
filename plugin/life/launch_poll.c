/* SPDX-License-Identifier: MIT */
/* Asking about launches; see launch_poll.h. */
#include "plugin/life/launch_poll.h"

#include "plugin/nccl/cuda_driver.h"
#include "plugin/state/registry.h"
#include "shm/atomics.h"

/* NCCL reports the operations of a launch within this time, as a rule. */
#define FRESH_NS UINT64_C(1000000)

static int make_pair(struct ncs_launch_events *events, unsigned flags)
{
	int error = ncs_cuda.event_create(&events->begin, flags);

	return error ? error : ncs_cuda.event_create(&events->end, flags);
}

static void destroy_pair(struct ncs_launch_events *events)
{
	ncs_cuda_drop_event(&events->begin);
	ncs_cuda_drop_event(&events->end);
}

/* No launch is followed any more after an error of the driver. */
static void fail(struct ncs_watched *self, int error)
{
	ncs_store_relaxed(&self->failure, (uint64_t)error);
	/* ORDER: pairs with ncs_launch_start_followed()
	 * (plugin/events/launch.c): no launch is followed any more. */
	ncs_store_release(&self->launches.stage, NCS_LAUNCHES_CLOSING);
}

/* Fails for good: the events may be gone. */
static void fail_for_good(struct ncs_watched *self, int error)
{
	self->events_lost = true;
	fail(self, error);
}

/* Makes the events of a launch, of which the first one has some already. */
static int make_slot_events(struct ncs_launch_slot *slot)
{
	int error = 0;

	if (!slot->plain_events.begin)
		error = make_pair(&slot->plain_events,
				  CUDA_EVENT_DISABLE_TIMING_FLAG);
	return error ? error :
		       make_pair(&slot->timed_events, CUDA_EVENT_DEFAULT_FLAGS);
}

/* Makes the events of a communicator's launches in its context. */
static void make_events(struct ncs_watched *self)
{
	struct ncs_launches *launches = &self->launches;
	struct ncs_launch_clock *clock =
		ncs_launch_clock_join(launches->context);
	int error = 0;

	pthread_mutex_lock(&ncs_watched_lock);
	self->clock = clock;
	pthread_mutex_unlock(&ncs_watched_lock);
	for (unsigned i = 0; i < NCS_LAUNCH_MAX && !error; i++)
		error = make_slot_events(&launches->slots[i]);
	if (error)
		fail(self, error);
	else
		/* ORDER: pairs with ncs_launch_start_followed()
		 * (plugin/events/launch.c): the events are there. */
		ncs_cas_acquire_release(&launches->stage, NCS_LAUNCHES_WANTED,
					NCS_LAUNCHES_READY);
}

/* Returns true if NCCL may not have reported all operations of a launch yet,
 * which it does directly after it. */
static bool is_fresh(const struct ncs_launch_slot *slot)
{
	return ncs_clock_duration_ns(&ncs_launch_host_clock,
				     ncs_now() - slot->called) < FRESH_NS;
}

/* Asks about the oldest launches in turn until one has not ended; with `all`
 * also about fresh ones. Returns the number of launches that have. */
static unsigned poll_launches(struct ncs_watched *self, bool all)
{
	struct ncs_launches *launches = &self->launches;
	/* ORDER: pairs with ncs_launch_stop_followed()
	 * (plugin/events/launch.c): the slots and their events are complete. */
	uint64_t head = ncs_load_acquire(&launches->head);
	unsigned ended = 0;

	while (ncs_load_relaxed(&launches->tail) != head) {
		struct ncs_launch_slot *slot =
			&launches->slots[ncs_load_relaxed(&launches->tail) %
					 NCS_LAUNCH_MAX];
		struct ncs_launch_events *events =
			slot->timed ? &slot->timed_events : &slot->plain_events;
		int error = ncs_cuda.event_query(events->end);

		if (error == CUDA_ERROR_NOT_READY_NUMBER) {
			if (!slot->begun && (all || !is_fresh(slot)) &&
			    ncs_cuda.event_query(events->begin) == 0) {
				slot->begun = true;
				ncs_watched_began(self, slot);
			}
			break;
		}
		if (error) {
			fail_for_good(self, error);
			break;
		}
		if (!all && is_fresh(slot))
			break;
		ncs_launch_clock_fetch(self->clock, slot);
		ncs_watched_ended(self, slot);
		ended++;
	}
	return ended;
}

/* Only one thread at a time may ask about a communicator's launches. */
static bool take_polling(struct ncs_watched *self)
{
	/* ORDER: pairs with leave_polling() (plugin/life/launch_poll.c). */
	return ncs_cas_acquire_release(&self->polling, 0, 1);
}

static void leave_polling(struct ncs_watched *self)
{
	/* ORDER: pairs with take_polling() (plugin/life/launch_poll.c): one
	 * thread after the other changes the slots. */
	ncs_store_release(&self->polling, 0);
}

bool ncs_watched_take(struct ncs_launches *launches)
{
	/* ORDER: pairs with leave() (plugin/events/launch.c). */
	return ncs_cas_acquire_release(&launches->use, NCS_LAUNCHES_UNUSED,
				       NCS_LAUNCHES_USED) ||
	       ncs_cas_acquire_release(&launches->use, NCS_LAUNCHES_BETWEEN,
				       NCS_LAUNCHES_USED);
}

/* Gives up a communicator's launches and destroys its events, unless their
 * context may be gone: `current` says that it is there and current. Returns
 * false if a thread is launching: then later. */
static bool release(struct ncs_watched *self, bool current)
{
	struct ncs_launches *launches = &self->launches;
	struct ncs_launch_clock *clock;

	if (!ncs_watched_take(launches))
		return false;
	current = current && !self->events_lost;
	pthread_mutex_lock(&ncs_watched_lock);
	ncs_watched_give_up(self);
	if (self->comm)
		ncs_watched_publish(self);
	clock = self->clock;
	self->clock = NULL;
	pthread_mutex_unlock(&ncs_watched_lock);
	for (unsigned i = 0; i < NCS_LAUNCH_MAX && current; i++) {
		destroy_pair(&launches->slots[i].timed_events);
		destroy_pair(&launches->slots[i].plain_events);
	}
	if (clock)
		ncs_launch_clock_leave(clock, current);
	return true;
}

/* Closes an entry: in two passes, so that operations of the last launches,
 * which NCCL may still have had to report in the first one, are ended, too. */
static void close_followed(struct ncs_watched *self, bool current)
{
	if (!self->released) {
		self->released = release(self, current);
		return;
	}
	ncs_watched_give_up_operations(self);
	pthread_mutex_lock(&ncs_watched_lock);
	self->closed = true;
	pthread_mutex_unlock(&ncs_watched_lock);
}

/* Returns the number of launches that have ended. */
static unsigned serve_taken(struct ncs_watched *self)
{
	struct ncs_launches *launches = &self->launches;
	int error = ncs_cuda.context_set(launches->context);
	unsigned ended = 0;

	if (error)
		fail_for_good(self, error);
	else if (ncs_load_relaxed(&launches->error) != 0)
		fail_for_good(self, (int)ncs_load_relaxed(&launches->error));
	/* ORDER: pairs with begin_following() (plugin/events/launch.c): the
	 * context and the first events are known. */
	switch (ncs_load_acquire(&launches->stage)) {
	case NCS_LAUNCHES_WANTED:
		make_events(self);
		break;
	case NCS_LAUNCHES_READY:
		if (self->clock)
			ncs_launch_clock_renew(self->clock);
		ended = poll_launches(self, false);
		ncs_watched_end_unfollowed(self);
		break;
	case NCS_LAUNCHES_CLOSING:
		close_followed(self, error == 0);
		break;
	default:
		break;
	}
	return ended;
}

unsigned ncs_watched_serve(struct ncs_watched *self)
{
	/* ORDER: pairs with begin_following() (plugin/events/launch.c) and with
	 * ncs_launch_watch_add() (plugin/life/launch_watch.c): its members are
	 * this communicator's. */
	uint64_t stage = ncs_load_acquire(&self->launches.stage);
	unsigned ended;

	/* Only this thread closes. */
	if (stage == NCS_LAUNCHES_FREE || stage == NCS_LAUNCHES_IDLE ||
	    self->closed || !take_polling(self))
		return 0;
	ended = serve_taken(self);
	leave_polling(self);
	return ended;
}

void ncs_watched_serve_last(struct ncs_watched *self)
{
	void *before = NULL;
	int mode;
	/* ORDER: pairs with make_events() (plugin/life/launch_poll.c) and with
	 * begin_following() (plugin/events/launch.c). */
	uint64_t stage = ncs_load_acquire(&self->launches.stage);

	if ((stage != NCS_LAUNCHES_READY && stage != NCS_LAUNCHES_WANTED) ||
	    !take_polling(self))
		return;
	ncs_cuda_begin(&mode);
	if (ncs_cuda.context_get(&before) == 0 &&
	    ncs_cuda.context_set(self->launches.context) == 0) {
		poll_launches(self, true);
		ncs_watched_end_unfollowed(self);
		ncs_cuda.context_set(before);
	}
	ncs_cuda_end(&mode);
	leave_polling(self);
}
