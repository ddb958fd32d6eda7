/* SPDX-License-Identifier: MIT */
/* The two events of a launch; see launch.h. */
#include "plugin/events/launch.h"

#include "plugin/nccl/cuda_driver.h"
#include "plugin/state/launches.h"
#include "shm/hash.h"

/* --- Choosing ---------------------------------------------------------------- */

/* Ranks count the launches of a communicator alike, so that all of them time the
 * same ones; those of a level are among those of each lower level. */
static bool is_timed(const struct ncs_comm *comm, uint64_t number)
{
	uint64_t level = ncs_load_relaxed(&ncs_launch_process.level);
	uint64_t hash;

	if (level >= 64)
		return false;
	hash = ncs_hash(comm->header->identity.comm_id ^ ncs_hash(number));
	return level == 0 || hash >> (64 - level) == 0;
}

static bool is_time_to_follow(const struct ncs_launches *launches, uint64_t now)
{
	return now - launches->last_followed >=
	       ncs_launch_process.spacing_ticks;
}

/* --- The launch --------------------------------------------------------------- */

/* Only the thread that gets a true result may use the launches. */
static bool take(struct ncs_launches *launches)
{
	/* ORDER: pairs with leave() (plugin/events/launch.c): one launch at a
	 * time is between its two events. */
	return ncs_cas_acquire_release(&launches->busy, 0, 1);
}

static void leave(struct ncs_launches *launches)
{
	ncs_store_relaxed(&launches->open_handle, 0);
	/* ORDER: pairs with take() (plugin/events/launch.c). */
	ncs_store_release(&launches->busy, 0);
}

static bool is_capturing(void *stream)
{
	int status = 0;

	/* An error means that another stream is being captured, in a way that
	 * forbids work on this one. */
	return ncs_cuda.stream_is_capturing(stream, &status) != 0 ||
	       status != 0;
}

/* The slot of the next launch; NULL if all are in use. */
static struct ncs_launch_slot *free_slot(struct ncs_launches *launches)
{
	uint64_t head = ncs_load_relaxed(&launches->head);
	/* ORDER: pairs with close_launch() (plugin/life/launch_watch.c): the
	 * watch thread has done with the slot. */
	uint64_t tail = ncs_load_acquire(&launches->tail);

	return head - tail < NCS_LAUNCH_MAX ?
		       &launches->slots[head % NCS_LAUNCH_MAX] :
		       NULL;
}

static struct ncs_launch_events *events_of(struct ncs_launch_slot *slot)
{
	return slot->timed ? &slot->timed_events : &slot->plain_events;
}

/* Records the first event. Returns false if the driver refuses. */
static bool follow(struct ncs_launches *launches, struct ncs_launch_slot *slot,
		   uint64_t number, bool timed, void *stream, uint64_t now)
{
	slot->number = number;
	slot->called = now;
	slot->timed = timed;
	slot->begin = slot->time_ns = slot->bytes = 0;
	slot->begun = slot->failed = false;
	if (ncs_cuda.event_record(events_of(slot)->begin, stream) != 0)
		return false;
	/* ORDER: pairs with join_launch() (plugin/events/operation.c):
	 * the slot is the launch's before an operation joins it. */
	ncs_store_release(&slot->state, ncs_launch_state(number));
	launches->last_followed = now;
	return true;
}

/* The first launch of a communicator makes the watch thread create its events;
 * this launch and those before they are there are not followed. */
static void want_events(struct ncs_launches *launches)
{
	if (ncs_cuda.context_get(&launches->context) != 0 ||
	    !launches->context)
		return;
	/* ORDER: pairs with serve() (plugin/life/launch_watch.c): the context is
	 * known. */
	if (ncs_cas_acquire_release(&launches->stage, NCS_LAUNCHES_IDLE,
				    NCS_LAUNCHES_WANTED))
		ncs_launch_process.start_watch();
}

/* Follows a launch if it is time to, or if it is to be timed. */
static void choose(struct ncs_comm *comm, struct ncs_lane_state *lane,
		   struct ncs_launches *launches, uint64_t handle,
		   uint64_t number, void *stream, uint64_t now)
{
	bool timed = is_timed(comm, number);
	struct ncs_launch_slot *slot;

	if (!timed && !is_time_to_follow(launches, now))
		return;
	if (!take(launches))
		return;
	/* ORDER: pairs with fail() (plugin/life/launch_watch.c) and with
	 * ncs_launch_watch_remove() (plugin/life/launch_watch.c): the events are
	 * still there. */
	slot = ncs_load_acquire(&launches->stage) == NCS_LAUNCHES_READY ?
		       free_slot(launches) :
		       NULL;
	if (!slot || !follow(launches, slot, number, timed, stream, now)) {
		leave(launches);
		return;
	}
	ncs_store_relaxed(&launches->open_lane, lane->index);
	ncs_store_relaxed(&launches->open_handle, handle);
	lane->launch_slot = slot;
}

void ncs_launch_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
		      uint64_t handle, void *stream, uint64_t now)
{
	struct ncs_launches *launches = comm->launches;
	uint64_t number;
	int mode;

	lane->launch_number = 0;
	lane->launch_slot = NULL;
	if (!launches || lane->shared)
		return;
	ncs_cuda_begin(&mode);
	if (is_capturing(stream)) {
		ncs_add_relaxed(&comm->header->launches.captured, 1);
		ncs_cuda_end(&mode);
		return;
	}
	number = ncs_add_relaxed(&launches->number, 1) + 1;
	lane->launch_number = number;
	ncs_add_relaxed(&ncs_launch_process.launches, 1);
	ncs_store_relaxed(&comm->header->launches.launched_at, now);
	ncs_store_relaxed(&comm->header->launches.launched, number);
	/* A thread that failed between its two events must not keep the next
	 * launch from being followed. */
	if (ncs_load_relaxed(&launches->open_handle) != 0 &&
	    ncs_load_relaxed(&launches->open_lane) == lane->index)
		leave(launches);
	/* ORDER: pairs with make_events() (plugin/life/launch_watch.c): the
	 * events are there. */
	switch (ncs_load_acquire(&launches->stage)) {
	case NCS_LAUNCHES_IDLE:
		want_events(launches);
		break;
	case NCS_LAUNCHES_READY:
		choose(comm, lane, launches, handle, number, stream, now);
		break;
	default:
		break;
	}
	ncs_cuda_end(&mode);
}

void ncs_launch_stop(struct ncs_comm *comm, uint64_t handle, void *stream)
{
	struct ncs_launches *launches = comm->launches;
	struct ncs_launch_slot *slot;
	uint64_t head;
	int error, mode;

	if (!launches || handle == 0 ||
	    ncs_load_relaxed(&launches->open_handle) != handle)
		return;
	head = ncs_load_relaxed(&launches->head);
	slot = &launches->slots[head % NCS_LAUNCH_MAX];
	ncs_cuda_begin(&mode);
	error = ncs_cuda.event_record(events_of(slot)->end, stream);
	ncs_cuda_end(&mode);
	slot->failed = error != 0;
	if (slot->timed)
		ncs_add_relaxed(&ncs_launch_process.timed, 1);
	/* ORDER: pairs with poll_launches() (plugin/life/launch_watch.c): the
	 * slot and its events are complete. */
	ncs_store_relaxed(&comm->header->launches.followed, slot->number);
	ncs_store_release(&launches->head, head + 1);
	leave(launches);
}
