/* SPDX-License-Identifier: MIT */
/* Asking about launches; see launch_poll.h. */
#include "plugin/life/launch_poll.h"

#include "plugin/life/replays.h"
#include "plugin/nccl/cuda_driver.h"
#include "plugin/nccl/environment.h"
#include "plugin/state/registry.h"
#include "shm/atomics.h"

/* NCCL reports the operations of a launch within this time, as a rule. */
#define FRESH_NS UINT64_C(1000000)

/* Events are made in portions of so many pairs, since each takes up to 80 us
 * while other threads use the driver. A pair can be used once it is made. */
#define PORTION 32u
#define PAIRS_MOST (NCS_LAUNCH_MAX - NCS_LAUNCH_KEPT)

/* Pairs of a kind that are made ahead: a portion for each launch so far, up to so
 * many, since many communicators launch once or twice, and each event that a
 * process leaves makes its end longer (test/bench/README.md). Later twice as many
 * as have been in use at once. */
static const uint64_t pairs_ahead[NCS_LAUNCH_KINDS] = {
	[NCS_LAUNCH_PLAIN] = 16,
	[NCS_LAUNCH_TIMED] = 128,
};

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

/* Returns how many pairs are to be made. */
static uint64_t lacking_pairs(struct ncs_watched *self, unsigned kind)
{
	const struct ncs_launches *launches = &self->launches;
	uint64_t timing = ncs_load_relaxed(&ncs_launch_process.timing);
	uint64_t wanted = PORTION * ncs_load_relaxed(&launches->number);
	uint64_t made = self->made[kind];
	uint64_t used = made - (ncs_load_relaxed(&launches->put[kind]) -
				ncs_load_relaxed(&launches->taken[kind]));

	if (used > self->used[kind])
		self->used[kind] = used;
	if (wanted > pairs_ahead[kind])
		wanted = pairs_ahead[kind];
	if (2 * self->used[kind] > wanted)
		wanted = 2 * self->used[kind];
	/* If each launch is to be timed, all are made before a burst comes. */
	if (wanted > PAIRS_MOST ||
	    (kind == NCS_LAUNCH_TIMED && NCS_LAUNCH_LEVEL(timing) == 0 &&
	     NCS_LAUNCH_DETAIL(timing) != NCS_TIMING_DETAIL_AUTO))
		wanted = PAIRS_MOST;
	if (self->failure != 0 || made >= wanted)
		return 0;
	return wanted - made < PORTION ? wanted - made : PORTION;
}

/* Makes the next portion of events in the communicator's context. Returns the
 * number of pairs. */
static unsigned make_events(struct ncs_watched *self, unsigned kind)
{
	unsigned flags = kind == NCS_LAUNCH_TIMED ?
				 CUDA_EVENT_DEFAULT_FLAGS :
				 CUDA_EVENT_DISABLE_TIMING_FLAG;
	uint64_t lacking = lacking_pairs(self, kind);
	struct ncs_launch_events events;
	unsigned made = 0;

	for (; made < lacking; made++) {
		int error = ncs_cuda_make_events(&events.begin, &events.end,
						 flags);

		if (error) {
			fail(self, error);
			break;
		}
		ncs_launch_put(&self->launches, kind, events);
		self->made[kind]++;
	}
	return made;
}

/* Takes a communicator up, whose first launch has made one pair of events. */
static void take_up(struct ncs_watched *self)
{
	struct ncs_launches *launches = &self->launches;
	struct ncs_launch_clock *clock =
		ncs_launch_clock_join(&launches->primary);

	pthread_mutex_lock(&ncs_watched_lock);
	self->clock = clock;
	pthread_mutex_unlock(&ncs_watched_lock);
	/* ORDER: pairs with ncs_launch_start_followed()
	 * (plugin/events/launch.c). */
	ncs_cas_acquire_release(&launches->stage, NCS_LAUNCHES_WANTED,
				NCS_LAUNCHES_READY);
}

/* Returns true if NCCL may not have reported all operations of a launch yet,
 * which it does directly after it. */
static bool is_fresh(const struct ncs_launch_slot *slot)
{
	return ncs_ns_of_ticks(ncs_now() - slot->called) < FRESH_NS;
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
		int error = ncs_cuda.event_query(slot->events.end);

		if (error == CUDA_ERROR_NOT_READY_NUMBER) {
			if (!slot->begun && (all || !is_fresh(slot)) &&
			    ncs_cuda.event_query(slot->events.begin) == 0) {
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

/* Destroys all events, which are free. */
static void destroy_events(struct ncs_launches *launches)
{
	for (unsigned kind = 0; kind < NCS_LAUNCH_KINDS; kind++)
		for (uint64_t i = launches->taken[kind];
		     i != launches->put[kind]; i++) {
			struct ncs_launch_events *events =
				&launches->pairs[kind][i % NCS_LAUNCH_MAX];

			ncs_cuda_drop_event(&events->begin);
			ncs_cuda_drop_event(&events->end);
		}
}

/* Gives up a communicator's launches, destroys its events and releases their
 * context; `there` says that the events are there. Returns false if a thread is
 * launching: then later. */
static bool release(struct ncs_watched *self, bool there)
{
	struct ncs_launches *launches = &self->launches;
	struct ncs_launch_clock *clock;

	if (!ncs_launches_take(launches))
		return false;
	pthread_mutex_lock(&ncs_watched_lock);
	ncs_watched_give_up(self);
	if (self->comm)
		ncs_watched_publish(self);
	clock = self->clock;
	self->clock = NULL;
	pthread_mutex_unlock(&ncs_watched_lock);
	if (there)
		destroy_events(launches);
	if (clock)
		ncs_launch_clock_leave(clock, there);
	if (launches->primary.context)
		ncs_cuda.primary_release(launches->primary.device);
	return true;
}

/* Closes an entry: in two passes, so that operations of the last launches,
 * which NCCL may still have had to report in the first one, are ended, too. */
static void close_followed(struct ncs_watched *self, bool there)
{
	if (!self->released) {
		self->released = release(self, there);
		return;
	}
	ncs_watched_give_up_operations(self);
	pthread_mutex_lock(&ncs_watched_lock);
	self->closed = true;
	pthread_mutex_unlock(&ncs_watched_lock);
}

/* Ends what has ended of a communicator that is finalized, and leaves the rest
 * as it is. */
static void look_last(struct ncs_watched *self, bool there)
{
	if (there && !self->released)
		poll_launches(self, true);
	ncs_watched_end_unfollowed(self);
	pthread_mutex_lock(&ncs_watched_lock);
	ncs_watched_detach(self);
	pthread_mutex_unlock(&ncs_watched_lock);
}

/* Does what there is to do for a communicator that launches. Returns how much
 * that was. */
static unsigned serve_ready(struct ncs_watched *self)
{
	struct ncs_launches *launches = &self->launches;
	unsigned done = 0;
	uint64_t head;

	if (self->clock)
		ncs_launch_clock_renew(self->clock);
	if (self->clock && ncs_load_relaxed32(&launches->graph) != 0)
		ncs_replays_renew_clock(&launches->primary,
					self->clock->stream);
	done += poll_launches(self, false);
	ncs_watched_end_unfollowed(self);
	head = ncs_load_relaxed(&launches->head);
	done += (unsigned)(head - self->seen);
	self->seen = head;
	return done;
}

/* Makes what a communicator that launches lacks. Returns the number of pairs of
 * events. */
static unsigned make_lacking(struct ncs_watched *self, uint64_t stage)
{
	unsigned made;

	if (stage != NCS_LAUNCHES_WANTED && stage != NCS_LAUNCHES_READY)
		return 0;
	if (stage == NCS_LAUNCHES_WANTED)
		for (unsigned kind = 0; kind < NCS_LAUNCH_KINDS; kind++)
			self->made[kind] =
				ncs_load_relaxed(&self->launches.put[kind]);
	made = make_events(self, NCS_LAUNCH_TIMED);
	/* Make both kinds before a launch is seen to end: the next one may come
	 * at once, and must be followed, or its operations did not end. */
	made += make_events(self, NCS_LAUNCH_PLAIN);
	if (stage == NCS_LAUNCHES_WANTED)
		take_up(self);
	return made;
}

static bool is_leaving(struct ncs_watched *self)
{
	bool leaving;

	pthread_mutex_lock(&ncs_watched_lock);
	leaving = self->comm && self->leaving;
	pthread_mutex_unlock(&ncs_watched_lock);
	return leaving;
}

/* Makes the context current in which a communicator launches. Returns false if
 * what was made in it is not there any more. The IDs are compared since the
 * driver crashes on handles that went with a reset of the device, once the
 * context is in use again, which takes it a tenth of a second. */
static bool enter_context(struct ncs_watched *self)
{
	struct ncs_launches *launches = &self->launches;
	int error = (int)ncs_load_relaxed(&launches->error);

	if (!launches->primary.context || self->events_lost)
		return false;
	if (!error)
		error = ncs_cuda.context_set(launches->primary.context);
	if (!error && !ncs_cuda_is_there(&launches->primary))
		error = CUDA_ERROR_CONTEXT_IS_DESTROYED_NUMBER;
	if (error)
		fail_for_good(self, error);
	return !error;
}

unsigned ncs_watched_serve(struct ncs_watched *self)
{
	/* ORDER: pairs with begin_following() (plugin/events/launch.c) and with
	 * ncs_launch_watch_add() (plugin/life/launch_watch.c): its members are
	 * this communicator's. */
	uint64_t stage = ncs_load_acquire(&self->launches.stage);
	unsigned done = 0;
	bool there;

	/* Only this thread closes. */
	if (stage == NCS_LAUNCHES_FREE || stage == NCS_LAUNCHES_IDLE ||
	    self->closed)
		return 0;
	there = enter_context(self);
	if (there)
		done = make_lacking(self, stage);
	if (is_leaving(self))
		look_last(self, there);
	/* ORDER: pairs with begin_following() (plugin/events/launch.c): the
	 * context and the first events are known. */
	stage = ncs_load_acquire(&self->launches.stage);
	there = there && !self->events_lost;
	if (stage == NCS_LAUNCHES_READY)
		done += serve_ready(self);
	else if (stage == NCS_LAUNCHES_CLOSING)
		close_followed(self, there);
	return done;
}
