/* SPDX-License-Identifier: MIT */
/* Launches that begin and end; see launch_end.h. */
#include "plugin/life/launch_end.h"

#include "plugin/events/operation.h"
#include "plugin/nccl/environment.h"
#include "plugin/state/lane.h"
#include "plugin/state/registry.h"
#include "plugin/state/slots.h"

pthread_mutex_t ncs_watched_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t ncs_watched_detached;

void ncs_watched_detach(struct ncs_watched *self)
{
	if (!self->comm)
		return;
	ncs_watched_publish(self);
	ncs_store_relaxed(&self->comm->header->launches.watch_since, 0);
	self->comm = NULL;
	pthread_cond_broadcast(&ncs_watched_detached);
}

void ncs_watched_publish(struct ncs_watched *self)
{
	struct ncs_launch_progress *progress = &self->comm->header->launches;
	uint64_t timing = ncs_load_relaxed(&ncs_launch_process.timing);
	uint64_t failure = ncs_load_relaxed(&self->failure);
	uint64_t status = NCS_STREAM_WAITING;
	uint64_t level = NCS_LAUNCH_LEVEL(timing);
	uint64_t sparse = ncs_load_relaxed(&ncs_launch_process.sparse_level);

	/* Readers see no difference between a stretch and the time after it. */
	if (NCS_LAUNCH_DETAIL(timing) == NCS_TIMING_DETAIL_AUTO && sparse > 0)
		level = sparse;
	if (failure != 0) {
		status = NCS_STREAM_FAILED;
		ncs_store_relaxed(&progress->failure, failure);
	} else if (NCS_LAUNCH_DETAIL(timing) == NCS_TIMING_DETAIL_OFF) {
		status = NCS_STREAM_OFF;
	} else if (ncs_load_relaxed(&self->launches.stage) ==
		   NCS_LAUNCHES_IDLE) {
		if (ncs_load_relaxed(&self->launches.other_context) != 0)
			status = NCS_STREAM_OTHER_CONTEXT;
	} else {
		/* Readers may take it that all launches are followed which are
		 * not over. */
		status = level == 0 &&
					 ncs_load_relaxed(&self->launches
								   .last_missed) <=
						 ncs_load_relaxed(
							 &progress->ended) ?
				 NCS_STREAM_ALL :
				 NCS_STREAM_SOME;
	}
	ncs_store_relaxed(&progress->level, level);
	ncs_store_relaxed(&progress->status, status);
	if (self->clock) {
		ncs_store_relaxed(&progress->bias_ns,
				  ncs_load_relaxed(&self->clock->bias_ns));
		ncs_store_relaxed(&progress->error_ns,
				  ncs_ns_of_ticks(ncs_load_relaxed(
					  &self->clock->error_ticks)));
	}
}

/* Calls `visit` for each operation that has joined a launch, and perhaps for
 * some that are about to. */
static void visit_joined(struct ncs_comm *comm, uint64_t number,
			 void (*visit)(struct ncs_comm *comm,
				       struct ncs_operation_slot *op,
				       const struct ncs_launch_slot *slot),
			 const struct ncs_launch_slot *slot)
{
	unsigned joined = ncs_launch_joined(ncs_load_relaxed(&slot->state));
	bool known = joined <= NCS_LAUNCH_KNOWN;
	uint32_t count = known ? joined : comm->operation_count;

	for (uint32_t i = 0; i < count; i++) {
		struct ncs_operation_slot *op =
			&comm->ops[known ? ncs_load_relaxed32(
						   &slot->operations[i]) :
					   i];

		/* ORDER: pairs with join_launch() (plugin/events/operation.c):
		 * an operation that waits for a launch has its number. */
		if (ncs_load_acquire(&op->launch) == number)
			visit(comm, op, slot);
	}
}

static void begin_operation(struct ncs_comm *comm,
			    struct ncs_operation_slot *op,
			    const struct ncs_launch_slot *slot)
{
	(void)comm;
	(void)slot;
	ncs_operation_launch_began(op, ncs_now());
}

static void end_operation(struct ncs_comm *comm, struct ncs_operation_slot *op,
			  const struct ncs_launch_slot *slot)
{
	const struct ncs_launch_end end = {
		.begin = slot->begin,
		.time_ns = slot->time_ns,
		.bytes = ncs_load_relaxed(&slot->bytes),
	};

	ncs_operation_launch_done(comm, ncs_lane_of_caller(comm), op,
				  slot->number, &end, ncs_now());
}

/* Threads that launch at once may publish their launches out of order. */
static void publish_begun(struct ncs_launch_progress *progress, uint64_t number)
{
	if (ncs_load_relaxed(&progress->begun) >= number)
		return;
	ncs_store_relaxed(&progress->begun_at, ncs_now());
	ncs_store_relaxed(&progress->begun, number);
}

static void publish_ended(struct ncs_launch_progress *progress, uint64_t number)
{
	publish_begun(progress, number);
	if (ncs_load_relaxed(&progress->ended) >= number)
		return;
	ncs_store_relaxed(&progress->ended_at, ncs_now());
	ncs_store_relaxed(&progress->ended, number);
}

void ncs_watched_began(struct ncs_watched *self, struct ncs_launch_slot *slot)
{
	pthread_mutex_lock(&ncs_watched_lock);
	if (self->comm) {
		publish_begun(&self->comm->header->launches, slot->number);
		visit_joined(self->comm, slot->number, begin_operation, slot);
	}
	pthread_mutex_unlock(&ncs_watched_lock);
}

/* Closes a launch that has ended, or is given up, and ends its operations.
 * The lock is held. */
static void close_launch(struct ncs_watched *self, struct ncs_launch_slot *slot)
{
	struct ncs_launches *launches = &self->launches;
	uint64_t state;

	/* ORDER: pairs with join_launch() (plugin/events/operation.c): an
	 * operation either has joined, or sees that the launch is closed. */
	do
		state = ncs_load_acquire(&slot->state);
	while (!ncs_cas_acquire_release(&slot->state, state,
					state | NCS_LAUNCH_CLOSED));
	/* Before its operations end: the thread that waits for them may launch
	 * again. */
	ncs_launch_put(launches, slot->kind, slot->events);
	if (self->comm && ncs_launch_joined(state) > 0)
		visit_joined(self->comm, slot->number, end_operation, slot);
	/* ORDER: pairs with free_slot() (plugin/events/launch.c): the slot is
	 * not used any more. */
	ncs_store_release(&launches->tail,
			  ncs_load_relaxed(&launches->tail) + 1);
}

void ncs_watched_ended(struct ncs_watched *self, struct ncs_launch_slot *slot)
{
	struct ncs_launch_progress *progress;

	pthread_mutex_lock(&ncs_watched_lock);
	if (self->comm) {
		progress = &self->comm->header->launches;
		publish_ended(progress, slot->number);
		if (slot->time_ns != 0)
			ncs_add_relaxed(&progress->timed, 1);
	}
	close_launch(self, slot);
	pthread_mutex_unlock(&ncs_watched_lock);
}

/* Ends the operations of launches that were not followed, up to number `launch`.
 * The lock is held. */
static void end_unfollowed(struct ncs_watched *self, uint64_t launch)
{
	struct ncs_lane_state *lane = ncs_lane_of_caller(self->comm);

	for (uint32_t i = 0; i < self->comm->operation_count; i++)
		ncs_operation_end_unfollowed(self->comm, lane,
					     &self->comm->ops[i], launch,
					     ncs_now());
}

void ncs_watched_end_unfollowed(struct ncs_watched *self)
{
	uint64_t number, ended;

	pthread_mutex_lock(&ncs_watched_lock);
	number = ncs_load_relaxed(&self->launches.number);
	ended = self->comm ?
			ncs_load_relaxed(&self->comm->header->launches.ended) :
			0;
	/* Not while it launches: then its own thread counts them as their slots
	 * are used again, which spares the two an exchange of cache lines. */
	if (ended > self->scanned && number == self->last_number) {
		end_unfollowed(self, ended);
		self->scanned = ended;
	}
	ncs_launch_process.launches += number - self->last_number;
	self->last_number = number;
	pthread_mutex_unlock(&ncs_watched_lock);
}

void ncs_watched_give_up(struct ncs_watched *self)
{
	struct ncs_launches *launches = &self->launches;

	/* ORDER: pairs with ncs_launch_stop_followed()
	 * (plugin/events/launch.c). */
	while (ncs_load_relaxed(&launches->tail) !=
	       ncs_load_acquire(&launches->head)) {
		struct ncs_launch_slot *slot =
			&launches->slots[ncs_load_relaxed(&launches->tail) %
					 NCS_LAUNCH_MAX];

		close_launch(self, slot);
	}
}

void ncs_watched_give_up_operations(struct ncs_watched *self)
{
	pthread_mutex_lock(&ncs_watched_lock);
	if (self->comm)
		end_unfollowed(self, UINT64_MAX);
	pthread_mutex_unlock(&ncs_watched_lock);
}
