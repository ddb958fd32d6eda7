/* SPDX-License-Identifier: MIT */
/* The two events of a launch; see launch.h. */
#include "plugin/events/launch.h"

#include "plugin/events/capture.h"
#include "plugin/nccl/cuda_driver.h"
#include "plugin/nccl/environment.h"
#include "shm/hash.h"

/* --- Choosing ----------------------------------------------------------- */

/* Ranks count the launches of a communicator alike, so that all of them time
 * the same ones; those of a level are among those of each lower level. */
static bool is_timed(const struct ncs_comm *comm, uint64_t number)
{
	uint64_t level =
		NCS_LAUNCH_LEVEL(ncs_load_relaxed(&ncs_launch_process.timing));
	uint64_t hash;

	if (level >= 64)
		return false;
	hash = ncs_hash(comm->header->identity.comm_id ^ ncs_hash(number));
	return level == 0 || hash >> (64 - level) == 0;
}

static bool is_time_to_follow(const struct ncs_launches *launches, uint64_t now)
{
	return now - ncs_load_relaxed(&launches->last_followed) >=
	       ncs_launch_process.spacing_ticks;
}

/* --- The launch --------------------------------------------------------- */

/* Takes the launches again for the second event of a launch. Returns false if
 * another launch has begun, or they were given up. */
static bool take_again(struct ncs_launches *launches, uint64_t handle)
{
	if (ncs_load_relaxed(&launches->open_handle) != handle)
		return false;
	/* ORDER: pairs with leave() (plugin/events/launch.c): the slot is as
	 * the start left it. */
	if (!ncs_cas_acquire_release(&launches->use, NCS_LAUNCHES_BETWEEN,
				     NCS_LAUNCHES_USED))
		return false;
	if (ncs_load_relaxed(&launches->open_handle) == handle)
		return true;
	/* ORDER: pairs with ncs_launches_take() (plugin/state/launches.h). */
	ncs_store_release(&launches->use, NCS_LAUNCHES_BETWEEN);
	return false;
}

static void leave(struct ncs_launches *launches, enum ncs_launches_use use)
{
	if (use == NCS_LAUNCHES_UNUSED)
		ncs_store_relaxed(&launches->open_handle, 0);
	/* ORDER: pairs with ncs_launches_take() (plugin/state/launches.h). */
	ncs_store_release(&launches->use, use);
}

/* Tells the watch thread of an error, so that it gives up; but not of one that
 * only forbids a call because a stream is being captured. */
static void note_error(struct ncs_launches *launches, int error)
{
	if (error != 0 && !ncs_cuda_is_capture_error(error))
		ncs_store_relaxed(&launches->error, (uint64_t)error);
}

/* Returns true if the launch must be left alone. An error means that another
 * stream is being captured, in a way that forbids work on this one. */
static bool is_capturing(struct ncs_launches *launches, void *stream)
{
	int status = 0;
	int error = ncs_cuda.stream_is_capturing(stream, &status);

	note_error(launches, error);
	return error != 0 || status != 0;
}

/* The slot of the next launch; NULL if there is none for this kind. */
static struct ncs_launch_slot *free_slot(struct ncs_launches *launches,
					 enum ncs_launch_kind kind)
{
	uint64_t most = kind == NCS_LAUNCH_TIMED ?
				NCS_LAUNCH_MAX - NCS_LAUNCH_KEPT :
				NCS_LAUNCH_MAX;
	uint64_t head = ncs_load_relaxed(&launches->head);
	/* ORDER: pairs with close_launch() (plugin/life/launch_end.c): the
	 * watch thread has done with the slot. */
	uint64_t tail = ncs_load_acquire(&launches->tail);

	return head - tail < most ? &launches->slots[head % NCS_LAUNCH_MAX] :
				    NULL;
}

/* The events of the next launch; NULL if there are none of this kind. */
static const struct ncs_launch_events *
free_events(const struct ncs_launches *launches, enum ncs_launch_kind kind)
{
	uint64_t taken = ncs_load_relaxed(&launches->taken[kind]);
	/* ORDER: pairs with ncs_launch_put() (plugin/state/launches.h): the
	 * pair is complete. */
	uint64_t put = ncs_load_acquire(&launches->put[kind]);

	return taken != put ? &launches->pairs[kind][taken % NCS_LAUNCH_MAX] :
			      NULL;
}

/* Empties a slot for a launch, which is published once it is complete. */
static void open_slot(struct ncs_launch_slot *slot, uint64_t number,
		      uint64_t now)
{
	/* A late operation of the slot's former launch must not take these
	 * times for that one's. */
	ncs_store_relaxed(&slot->state, NCS_LAUNCH_CLOSED);
	/* ORDER: pairs with join_closed() (plugin/events/operation.c). */
	ncs_fence_release();
	ncs_payload_store(&slot->begin, 0);
	ncs_payload_store(&slot->time_ns, 0);
	ncs_store_relaxed(&slot->bytes, 0);
	slot->number = number;
	slot->called = now;
	slot->begun = false;
}

/* Records the first event of a launch, and leaves the launches, which this
 * thread has taken. Returns false if there is no slot or there are no events
 * for it, or they went with a reset of the device. */
static bool follow(struct ncs_lane_state *lane, struct ncs_launches *launches,
		   struct ncs_kernel_launch *launch, enum ncs_launch_kind kind)
{
	struct ncs_launch_slot *slot = free_slot(launches, kind);
	const struct ncs_launch_events *events = free_events(launches, kind);
	int error;

	if (!slot || !events || !ncs_cuda_is_there(&launches->primary))
		return false;
	open_slot(slot, lane->launch_number, launch->now);
	slot->kind = kind;
	slot->events = *events;
	error = ncs_cuda.event_record(slot->events.begin, launch->stream);
	note_error(launches, error);
	if (error) {
		leave(launches, NCS_LAUNCHES_UNUSED);
		return true;
	}
	lane->launch_slot = slot;
	launch->has_time = kind == NCS_LAUNCH_TIMED;
	ncs_store_relaxed(&launches->last_followed, launch->now);
	ncs_store_relaxed(&launches->open_handle, launch->handle);
	leave(launches, NCS_LAUNCHES_BETWEEN);
	return true;
}

static bool is_followed_in(uint64_t stage)
{
	return stage == NCS_LAUNCHES_WANTED || stage == NCS_LAUNCHES_READY;
}

/* Makes the first pair of events, so that the first launch is followed: a job
 * that hangs often does so there. */
static int make_first_events(struct ncs_launches *launches,
			     enum ncs_launch_kind kind)
{
	struct ncs_launch_events events;
	int error = ncs_cuda_make_events(&events.begin, &events.end,
					 kind == NCS_LAUNCH_TIMED ?
						 CUDA_EVENT_DEFAULT_FLAGS :
						 CUDA_EVENT_DISABLE_TIMING_FLAG);

	if (!error)
		ncs_launch_put(launches, kind, events);
	return error;
}

/* Sees to it that the watch thread takes the communicator up. */
static void want_watch(struct ncs_comm *comm, struct ncs_launches *launches)
{
	if (ncs_launch_process.start_watch())
		return;
	ncs_store_relaxed(&comm->header->launches.status, NCS_STREAM_FAILED);
	/* ORDER: pairs with ncs_watched_serve() (plugin/life/launch_poll.c). */
	ncs_cas_acquire_release(&launches->stage, NCS_LAUNCHES_WANTED,
				NCS_LAUNCHES_CLOSING);
}

/* The first launch of a communicator starts the watch thread, which makes the
 * other events. */
static void begin_following(struct ncs_comm *comm, struct ncs_lane_state *lane,
			    struct ncs_launches *launches,
			    struct ncs_kernel_launch *launch)
{
	int error;

	if (launch->handle == 0 || !ncs_launches_take(launches))
		return;
	/* ORDER: pairs with ncs_launch_watch_remove()
	 * (plugin/life/launch_watch.c): they are still this communicator's. */
	if (ncs_load_acquire(&launches->stage) != NCS_LAUNCHES_IDLE ||
	    !launches->primary.context) {
		leave(launches, NCS_LAUNCHES_UNUSED);
		return;
	}
	error = make_first_events(launches, launch->kind);
	note_error(launches, error);
	/* ORDER: pairs with ncs_watched_serve() (plugin/life/launch_poll.c): the context
	 * and the first events are known. */
	if (!ncs_cas_acquire_release(&launches->stage, NCS_LAUNCHES_IDLE,
				     NCS_LAUNCHES_WANTED) ||
	    error || !follow(lane, launches, launch, launch->kind))
		leave(launches, NCS_LAUNCHES_UNUSED);
	want_watch(comm, launches);
}

/* Follows a launch if it is time to, or if it is to be timed. */
static void choose(struct ncs_lane_state *lane, struct ncs_launches *launches,
		   struct ncs_kernel_launch *launch)
{
	bool timed = launch->kind == NCS_LAUNCH_TIMED;
	bool due = is_time_to_follow(launches, launch->now);

	if ((!timed && !due) || launch->handle == 0 ||
	    !ncs_launches_take(launches))
		return;
	/* ORDER: pairs with fail() (plugin/life/launch_poll.c) and with
	 * ncs_launch_watch_remove() (plugin/life/launch_watch.c): the events
	 * are still there. */
	if (is_followed_in(ncs_load_acquire(&launches->stage)) &&
	    ((timed && follow(lane, launches, launch, NCS_LAUNCH_TIMED)) ||
	     (due && follow(lane, launches, launch, NCS_LAUNCH_PLAIN))))
		return;
	leave(launches, NCS_LAUNCHES_UNUSED);
}

/* Retains the context of a communicator's first launch, if it is a primary one.
 * Returns false if it is not. */
static bool adopt_context(struct ncs_launches *launches, void *context)
{
	bool adopted = true;

	/* Another thread is at it, or the communicator is being finalized. */
	if (!ncs_launches_take(launches))
		return true;
	/* ORDER: pairs with ncs_launch_watch_remove()
	 * (plugin/life/launch_watch.c): they are still this communicator's. */
	if (ncs_load_acquire(&launches->stage) == NCS_LAUNCHES_IDLE) {
		struct ncs_cuda_primary *primary = &launches->primary;

		adopted = primary->context ?
				  primary->context == context :
				  ncs_cuda_retain_primary(context, primary);
	}
	leave(launches, NCS_LAUNCHES_UNUSED);
	return adopted;
}

/* Returns true if the context of a launch is not the one that is followed. The
 * application may destroy it with all that is in it, at any time; the driver
 * crashes on handles that are gone. */
static bool is_in_other_context(struct ncs_launches *launches, void *stream,
				uint64_t stage)
{
	void *context = NULL;

	if (ncs_cuda.stream_context(stream, &context) != 0 || !context)
		return true;
	if (is_followed_in(stage))
		return context != launches->primary.context;
	if ((uint64_t)(uintptr_t)context ==
	    ncs_load_relaxed(&launches->other_context))
		return true;
	if (stage != NCS_LAUNCHES_IDLE || adopt_context(launches, context))
		return false;
	ncs_store_relaxed(&launches->other_context,
			  (uint64_t)(uintptr_t)context);
	return true;
}

static void note_other_context(struct ncs_comm *comm, uint64_t stage)
{
	ncs_add_relaxed(&comm->header->other_context, 1);
	if (stage == NCS_LAUNCHES_IDLE)
		ncs_store_relaxed(&comm->header->launches.status,
				  NCS_STREAM_OTHER_CONTEXT);
}

/* Counts a launch that is followed or could be, and returns its number. */
static uint64_t count_launch(struct ncs_comm *comm,
			     struct ncs_launches *launches, uint64_t now)
{
	struct ncs_launch_progress *progress = &comm->header->launches;
	uint64_t number = ncs_add_relaxed(&launches->number, 1) + 1;

	ncs_store_relaxed(&progress->launched_at, now);
	ncs_store_relaxed(&progress->launched, number);
	return number;
}

/* Notes a launch that was to be timed and is not. Threads that launch at once
 * may note theirs out of order. */
static void note_missed(struct ncs_comm *comm, struct ncs_launches *launches,
			uint64_t number)
{
	ncs_add_relaxed(&comm->header->launches.missed, 1);
	if (ncs_load_relaxed(&launches->last_missed) < number)
		ncs_store_relaxed(&launches->last_missed, number);
}

/* Puts a stamp before a launch that is being captured. */
static void capture(struct ncs_comm *comm, struct ncs_lane_state *lane,
		    struct ncs_launches *launches,
		    const struct ncs_kernel_launch *launch)
{
	/* ORDER: pairs with take_up() (plugin/life/launch_poll.c). */
	uint64_t stage = ncs_load_acquire(&launches->stage);
	bool stamped;

	if (is_in_other_context(launches, launch->stream, stage) ||
	    !ncs_launches_take(launches))
		return;
	ncs_capture_start(comm, lane, launches, launch->stream);
	stamped = ncs_capture_is_stamped(lane);
	if (stamped)
		ncs_store_relaxed(&launches->open_handle, launch->handle);
	leave(launches, stamped ? NCS_LAUNCHES_BETWEEN : NCS_LAUNCHES_UNUSED);
	ncs_launch_process.start_watch();
}

/* Counts a launch about which the driver need not be asked: it is not captured,
 * and not to be followed. Returns false, and does nothing, if it is another one. */
static bool only_count(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_launches *launches,
		       const struct ncs_kernel_launch *launch, uint64_t stage)
{
	uint64_t expected = ncs_load_relaxed(&launches->number) + 1;

	if (!launch->eager || stage != NCS_LAUNCHES_READY ||
	    is_time_to_follow(launches, launch->now) ||
	    is_timed(comm, expected))
		return false;
	lane->launch_number = count_launch(comm, launches, launch->now);
	/* Another thread has launched at the same time. */
	if (lane->launch_number != expected &&
	    is_timed(comm, lane->launch_number))
		note_missed(comm, launches, lane->launch_number);
	return true;
}

static void start(struct ncs_comm *comm, struct ncs_lane_state *lane,
		  struct ncs_launches *launches,
		  struct ncs_kernel_launch *launch)
{
	/* ORDER: pairs with take_up() (plugin/life/launch_poll.c). */
	uint64_t stage = ncs_load_acquire(&launches->stage);
	uint64_t number;

	if (is_capturing(launches, launch->stream)) {
		ncs_add_relaxed(&comm->header->launches.captured, 1);
		lane->is_captured = !lane->shared;
		if (ncs_launch_process.stamps && launch->handle != 0 &&
		    !lane->shared)
			capture(comm, lane, launches, launch);
		return;
	}
	if (is_in_other_context(launches, launch->stream, stage)) {
		note_other_context(comm, stage);
		return;
	}
	number = count_launch(comm, launches, launch->now);
	launch->kind = is_timed(comm, number) ? NCS_LAUNCH_TIMED :
						NCS_LAUNCH_PLAIN;
	/* Operations find their launch by their thread's lane. */
	if (!lane->shared) {
		lane->launch_number = number;
		if (stage == NCS_LAUNCHES_IDLE)
			begin_following(comm, lane, launches, launch);
		else if (is_followed_in(stage))
			choose(lane, launches, launch);
		/* A thread that another communicator's first launch was about
		 * to start may not have come. */
		if (stage == NCS_LAUNCHES_WANTED)
			want_watch(comm, launches);
	}
	if (launch->kind == NCS_LAUNCH_TIMED && !launch->has_time)
		note_missed(comm, launches, number);
}

void ncs_launch_start_followed(struct ncs_comm *comm,
			       struct ncs_lane_state *lane,
			       struct ncs_launches *launches,
			       struct ncs_kernel_launch *launch)
{
	uint64_t stage;
	int mode;

	if (!lane->shared) {
		lane->launch_number = 0;
		lane->launch_slot = NULL;
		lane->is_captured = false;
		lane->captured_launch = 0;
	}
	if (NCS_LAUNCH_DETAIL(ncs_load_relaxed(&ncs_launch_process.timing)) ==
	    NCS_TIMING_DETAIL_OFF)
		return;
	/* ORDER: pairs with fail() (plugin/life/launch_poll.c): after an error
	 * the driver is left alone. */
	stage = ncs_load_acquire(&launches->stage);
	if (stage == NCS_LAUNCHES_CLOSING || stage == NCS_LAUNCHES_FREE ||
	    ncs_load_relaxed(&launches->error) != 0 ||
	    only_count(comm, lane, launches, launch, stage))
		return;
	ncs_cuda_begin(&mode);
	start(comm, lane, launches, launch);
	ncs_cuda_end(&mode);
}

void ncs_launch_stop_followed(struct ncs_comm *comm,
			      struct ncs_lane_state *lane,
			      struct ncs_launches *launches, uint64_t handle,
			      void *stream)
{
	struct ncs_launch_slot *slot;
	uint64_t head;
	int error, mode;

	if (!take_again(launches, handle)) {
		if (!lane->shared)
			lane->launch_slot = NULL;
		return;
	}
	if (ncs_capture_is_stamped(lane)) {
		ncs_cuda_begin(&mode);
		ncs_capture_stop(comm, lane, launches, stream);
		ncs_cuda_end(&mode);
		leave(launches, NCS_LAUNCHES_UNUSED);
		return;
	}
	head = ncs_load_relaxed(&launches->head);
	slot = &launches->slots[head % NCS_LAUNCH_MAX];
	ncs_cuda_begin(&mode);
	error = ncs_cuda.event_record(slot->events.end, stream);
	ncs_cuda_end(&mode);
	note_error(launches, error);
	if (error) {
		lane->launch_slot = NULL;
		leave(launches, NCS_LAUNCHES_UNUSED);
		return;
	}
	if (slot->kind == NCS_LAUNCH_TIMED)
		ncs_add_relaxed(&ncs_launch_process.timed, 1);
	ncs_store_relaxed(&launches->taken[slot->kind],
			  ncs_load_relaxed(&launches->taken[slot->kind]) + 1);
	/* ORDER: pairs with join_launch() (plugin/events/operation.c): the slot
	 * is the launch's before an operation joins it. */
	ncs_store_release(&slot->state, ncs_launch_state(slot->number));
	ncs_store_relaxed(&comm->header->launches.followed, slot->number);
	/* ORDER: pairs with poll_launches() (plugin/life/launch_poll.c): the
	 * slot and its events are complete. */
	ncs_store_release(&launches->head, head + 1);
	leave(launches, NCS_LAUNCHES_UNUSED);
}
