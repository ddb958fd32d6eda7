/* SPDX-License-Identifier: MIT */
/* The watch thread; see launch_watch.h.
 *
 * `lock` is held while a communicator is touched, and never during a call of
 * the driver, which may take long: so finalize never waits for the driver. The
 * driver is asked outside it, about slots that nobody else changes before they
 * are closed. */
#include "plugin/life/launch_watch.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "plugin/events/operation.h"
#include "plugin/nccl/cuda_driver.h"
#include "plugin/state/lane.h"
#include "plugin/state/launches.h"
#include "plugin/state/registry.h"
#include "plugin/state/slots.h"

/* The first version of the API that reports launches. */
#define LAUNCH_API 5u

/* Communicators that are gone but whose events are still pending need room,
 * too. */
#define LAUNCHES_MAX (NCS_COMM_MAX + 16u)

/* Launches that may be timed in a second: 0.2 % of the time at 5.3 us each, as
 * measured on an H200; a burst of so many may exceed that. */
#define TIMED_PER_SECOND 377.0
#define TIMED_BURST 400.0

/* Time between launches that are followed without being timed: two events cost
 * the launching thread 1.4 us. */
#define SPACING_NS UINT64_C(1000000)

/* The thread looks that often while there are launches, and otherwise. */
#define BUSY_PAUSE_NS 10000000L
#define IDLE_PAUSE_NS 50000000L
/* ... and while launches come so fast that the slots may not last. */
#define FAST_PAUSE_NS 1000000L
#define FAST_ENDED 32u

/* The driver's functions may need much more stack than ours. */
#define STACK_BYTES ((size_t)256 << 10)

/* The host's and the GPU's clocks are compared again after this time. */
#define BASE_AGE_NS UINT64_C(2000000000)
#define BASE_PATIENCE_NS UINT64_C(50000)
#define BASE_ERROR_NS UINT64_C(100000)
#define BIAS_TRIES 16

/* NCCL reports the operations of a launch within this time, as a rule. */
#define FRESH_NS UINT64_C(1000000)

#define CONTEXTS_MAX 16u

struct ncs_launch_process ncs_launch_process;

/* A CUDA context, with an event whose time is known by the host's clock.
 * Members of the watch thread, unless they say otherwise. */
struct context_clock {
	void *context; /* NULL if unused */
	unsigned users; /* communicators whose launches are in this context */
	bool failed; /* the driver refused a call: it may be another context */
	void *stream;
	/* 1 while a thread uses the next three members. */
	uint64_t busy;
	void *base, *end; /* events */
	uint64_t base_ticks; /* 0 if it is not known yet */
	/* For all threads. */
	uint64_t error_ticks;
	uint64_t bias_ns; /* 0 if it is not known yet */
};

/* Beside a communicator's launches. */
struct watched {
	struct ncs_launches launches;
	/* Under `lock`. */
	struct ncs_comm *comm; /* NULL once it is finalized */
	struct context_clock *clock;
	bool closed;          /* nothing is left to do */
	uint64_t last_number; /* of its launches, at the latest look */
	uint64_t scanned; /* operations up to this launch have been ended */
	/* 1 while a thread asks the driver about it. */
	uint64_t polling;
	/* The driver's error. After one to a query the events are the
	 * driver's: their context may be gone. */
	uint64_t failure;
	bool events_lost;
	bool released; /* its events are gone */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watched watched[LAUNCHES_MAX];
static struct context_clock context_clocks[CONTEXTS_MAX];

static struct {
	struct ncs_clock clock;
	enum ncs_stream_mode mode;
	bool runs;         /* under `lock` */
	uint64_t stopping; /* 1 once the process ends */
	/* The level is chosen by these. */
	uint64_t last_pass;
	uint64_t last_launches, last_timed;
	double rate;
	double allowance;
} watch;

/* --- Clocks ------------------------------------------------------------- */

static uint64_t ns_of_ms(float ms)
{
	return (uint64_t)((double)ms * 1e6 + 0.5);
}

static uint64_t ticks_of_ms(float ms)
{
	return ncs_clock_duration_ticks(&watch.clock, ns_of_ms(ms));
}

static bool is_stopping(void)
{
	return ncs_load_relaxed(&watch.stopping) != 0;
}

/* Only the thread that gets a true result may use a clock's events. */
static bool take_clock(struct context_clock *clock)
{
	/* ORDER: pairs with leave_clock() (plugin/life/launch_watch.c). */
	return ncs_cas_acquire_release(&clock->busy, 0, 1);
}

static void leave_clock(struct context_clock *clock)
{
	/* ORDER: pairs with take_clock() (plugin/life/launch_watch.c): one
	 * thread after the other uses the base. */
	ncs_store_release(&clock->busy, 0);
}

/* Asks for an event until it has happened. Returns 0, the driver's error, or
 * CUDA_ERROR_NOT_READY_NUMBER after BASE_PATIENCE_NS. */
static int await(void *event)
{
	uint64_t start = ncs_now();
	uint64_t patience =
		ncs_clock_duration_ticks(&watch.clock, BASE_PATIENCE_NS);
	int error;

	do
		error = ncs_cuda.event_query(event);
	while (error == CUDA_ERROR_NOT_READY_NUMBER &&
	       ncs_now() - start < patience);
	return error;
}

/* Makes the event that has just happened the base. */
static void set_base(struct context_clock *clock, uint64_t before,
		     uint64_t after)
{
	uint64_t error_ticks = (after - before) / 2;
	void *base = clock->base;

	clock->base = clock->end;
	clock->end = base;
	clock->base_ticks = before + error_ticks;
	ncs_store_relaxed(&clock->error_ticks, error_ticks);
}

/* Relates the GPU's clock to the host's by an event that happens between two
 * readings of the host's. One short attempt: a GPU that is busy may not get to
 * the event for long, and asking without a pause holds up the launching threads
 * in the driver. Without success, or if the thread was held up, the former base
 * stays. Returns true if the event happened. */
static bool compare_clocks(struct context_clock *clock)
{
	uint64_t before, after;
	int error;

	if (!take_clock(clock))
		return false;
	before = ncs_now();
	error = ncs_cuda.event_record(clock->end, clock->stream);
	if (!error)
		error = await(clock->end);
	after = ncs_now();
	if (!error &&
	    (clock->base_ticks == 0 ||
	     ncs_clock_duration_ns(&watch.clock, after - before) <
		     BASE_ERROR_NS))
		set_base(clock, before, after);
	clock->failed = error != 0 && error != CUDA_ERROR_NOT_READY_NUMBER;
	leave_clock(clock);
	return error == 0;
}

/* Measures the time between two events with nothing between them; as long as
 * that fails, the times of launches are too long by so much. The base is lost,
 * since both events are used. */
static void measure_bias(struct context_clock *clock)
{
	float least = 1, ms;

	if (!take_clock(clock))
		return;
	clock->base_ticks = 0;
	for (unsigned i = 0; i < BIAS_TRIES; i++) {
		if (ncs_cuda.event_record(clock->base, clock->stream) != 0 ||
		    ncs_cuda.event_record(clock->end, clock->stream) != 0 ||
		    await(clock->end) != 0 ||
		    ncs_cuda.event_elapsed_ms(&ms, clock->base, clock->end) !=
			    0)
			break;
		if (ms < least)
			least = ms;
	}
	leave_clock(clock);
	if (least < 1)
		ncs_store_relaxed(&clock->bias_ns, ns_of_ms(least));
}

static void destroy_event(void **event)
{
	if (*event)
		ncs_cuda.event_destroy(*event);
	*event = NULL;
}

/* Makes what a clock needs in its context, which is current. */
static bool make_clock(struct context_clock *clock)
{
	if (ncs_cuda.stream_create(&clock->stream,
				   CUDA_STREAM_NON_BLOCKING_FLAG) != 0)
		return false;
	if (ncs_cuda.event_create(&clock->base, CUDA_EVENT_DEFAULT_FLAGS) ==
		    0 &&
	    ncs_cuda.event_create(&clock->end, CUDA_EVENT_DEFAULT_FLAGS) == 0)
		return true;
	destroy_event(&clock->base);
	destroy_event(&clock->end);
	ncs_cuda.stream_destroy(clock->stream);
	return false;
}

static void renew_clock(struct context_clock *clock)
{
	if (clock->failed ||
	    (clock->base_ticks != 0 &&
	     ncs_clock_duration_ns(&watch.clock,
				   ncs_now() - clock->base_ticks) <=
		     BASE_AGE_NS))
		return;
	if (compare_clocks(clock) && ncs_load_relaxed(&clock->bias_ns) == 0) {
		measure_bias(clock);
		compare_clocks(clock);
	}
}

/* Returns the clock of a context, which is current, for a communicator more;
 * NULL if there is none. */
static struct context_clock *join_clock(void *context)
{
	struct context_clock *unused = NULL;

	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		struct context_clock *clock = &context_clocks[i];

		if (clock->context == context && !clock->failed) {
			clock->users++;
			return clock;
		}
		if (!unused && !clock->context)
			unused = clock;
	}
	if (!unused || !make_clock(unused))
		return NULL;
	unused->context = context;
	unused->users = 1;
	renew_clock(unused);
	return unused;
}

/* A communicator needs a clock no more. With the last one its events are
 * destroyed, unless their context may be gone: `current` says that it is there
 * and current. */
static void leave_context(struct context_clock *clock, bool current)
{
	if (!current)
		clock->failed = true;
	if (--clock->users != 0)
		return;
	if (!clock->failed) {
		destroy_event(&clock->base);
		destroy_event(&clock->end);
		ncs_cuda.stream_destroy(clock->stream);
	}
	memset(clock, 0, sizeof(*clock));
}

/* --- Events ------------------------------------------------------------- */

static int make_pair(struct ncs_launch_events *events, unsigned flags)
{
	int error = ncs_cuda.event_create(&events->begin, flags);

	return error ? error : ncs_cuda.event_create(&events->end, flags);
}

static void destroy_pair(struct ncs_launch_events *events)
{
	destroy_event(&events->begin);
	destroy_event(&events->end);
}

/* No launch is followed any more after an error of the driver. */
static void fail(struct watched *self, int error)
{
	ncs_store_relaxed(&self->failure, (uint64_t)error);
	/* ORDER: pairs with ncs_launch_start_followed()
	 * (plugin/events/launch.c): no launch is followed any more. */
	ncs_store_release(&self->launches.stage, NCS_LAUNCHES_CLOSING);
}

/* Fails for good: the events may be gone. */
static void fail_for_good(struct watched *self, int error)
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
static void make_events(struct watched *self)
{
	struct ncs_launches *launches = &self->launches;
	struct context_clock *clock = join_clock(launches->context);
	int error = 0;

	pthread_mutex_lock(&lock);
	self->clock = clock;
	pthread_mutex_unlock(&lock);
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

/* --- Ending launches ---------------------------------------------------- */

static void publish_status(struct watched *self)
{
	struct ncs_launch_progress *progress = &self->comm->header->launches;
	uint64_t level = ncs_load_relaxed(&ncs_launch_process.level);
	uint64_t failure = ncs_load_relaxed(&self->failure);
	uint64_t status = NCS_STREAM_WAITING;

	if (failure != 0) {
		status = NCS_STREAM_FAILED;
		ncs_store_relaxed(&progress->failure, failure);
	} else if (ncs_load_relaxed(&self->launches.stage) !=
		   NCS_LAUNCHES_IDLE) {
		status = level == 0 ? NCS_STREAM_ALL : NCS_STREAM_SOME;
	}
	ncs_store_relaxed(&progress->level, level);
	ncs_store_relaxed(&progress->status, status);
	if (self->clock) {
		ncs_store_relaxed(&progress->bias_ns,
				  ncs_load_relaxed(&self->clock->bias_ns));
		ncs_store_relaxed(
			&progress->error_ns,
			ncs_clock_duration_ns(
				&watch.clock,
				ncs_load_relaxed(&self->clock->error_ticks)));
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

static void note_begun(struct watched *self, struct ncs_launch_slot *slot)
{
	pthread_mutex_lock(&lock);
	if (self->comm) {
		publish_begun(&self->comm->header->launches, slot->number);
		visit_joined(self->comm, slot->number, begin_operation, slot);
	}
	pthread_mutex_unlock(&lock);
}

/* Closes a launch that has ended, or is given up, and ends its operations.
 * `lock` is held. */
static void close_launch(struct watched *self, struct ncs_launch_slot *slot)
{
	struct ncs_launches *launches = &self->launches;
	uint64_t state;

	/* ORDER: pairs with join_launch() (plugin/events/operation.c): an
	 * operation either has joined, or sees that the launch is closed. */
	do
		state = ncs_load_acquire(&slot->state);
	while (!ncs_cas_acquire_release(&slot->state, state,
					state | NCS_LAUNCH_CLOSED));
	if (self->comm && ncs_launch_joined(state) > 0)
		visit_joined(self->comm, slot->number, end_operation, slot);
	/* ORDER: pairs with free_slot() (plugin/events/launch.c): the slot is
	 * not used any more. */
	ncs_store_release(&launches->tail,
			  ncs_load_relaxed(&launches->tail) + 1);
}

static void note_ended(struct watched *self, struct ncs_launch_slot *slot)
{
	struct ncs_launch_progress *progress;

	pthread_mutex_lock(&lock);
	if (self->comm) {
		progress = &self->comm->header->launches;
		publish_ended(progress, slot->number);
		if (slot->time_ns != 0)
			ncs_add_relaxed(&progress->timed, 1);
	}
	close_launch(self, slot);
	pthread_mutex_unlock(&lock);
}

/* Operations of launches that were not followed have ended with a later launch
 * of the communicator. */
static void end_unfollowed(struct watched *self)
{
	uint64_t ended;

	pthread_mutex_lock(&lock);
	ended = self->comm ?
			ncs_load_relaxed(&self->comm->header->launches.ended) :
			0;
	/* Not while it launches: then its own thread counts them as their slots
	 * are used again, which spares the two an exchange of cache lines. */
	if (ended > self->scanned &&
	    ncs_load_relaxed(&self->launches.number) == self->last_number) {
		struct ncs_lane_state *lane = ncs_lane_of_caller(self->comm);

		for (uint32_t i = 0; i < self->comm->operation_count; i++)
			ncs_operation_end_unfollowed(self->comm, lane,
						     &self->comm->ops[i], ended,
						     ncs_now());
		self->scanned = ended;
	}
	self->last_number = ncs_load_relaxed(&self->launches.number);
	pthread_mutex_unlock(&lock);
}

/* --- Asking the driver -------------------------------------------------- */

/* When a launch's kernel began, by the host's clock; 0 if that is not known. It
 * began after the launch, however large the clocks' error is. */
static uint64_t fetch_begin(struct context_clock *clock,
			    const struct ncs_launch_slot *slot)
{
	uint64_t ticks = 0;
	float ms;

	if (!clock || !take_clock(clock))
		return 0;
	if (clock->base_ticks != 0 &&
	    ncs_cuda.event_elapsed_ms(&ms, clock->base,
				      slot->timed_events.begin) == 0)
		ticks = ms >= 0 ? clock->base_ticks + ticks_of_ms(ms) :
				  clock->base_ticks - ticks_of_ms(-ms);
	leave_clock(clock);
	return ticks != 0 && ticks < slot->called ? slot->called : ticks;
}

/* Fetches the times of a launch that has ended. */
static void fetch_times(struct context_clock *clock,
			struct ncs_launch_slot *slot)
{
	struct ncs_launch_events *events = &slot->timed_events;
	uint64_t ns, bias_ns = clock ? ncs_load_relaxed(&clock->bias_ns) : 0;
	float ms;

	if (!slot->timed ||
	    ncs_cuda.event_elapsed_ms(&ms, events->begin, events->end) != 0 ||
	    !(ms >= 0))
		return;
	ns = ns_of_ms(ms);
	/* 0 would be no time. */
	ncs_payload_store(&slot->time_ns, ns > bias_ns ? ns - bias_ns : 1);
	ncs_payload_store(&slot->begin, fetch_begin(clock, slot));
}

/* Returns true if NCCL may not have reported all operations of a launch yet,
 * which it does directly after it. */
static bool is_fresh(const struct ncs_launch_slot *slot)
{
	return ncs_clock_duration_ns(&watch.clock, ncs_now() - slot->called) <
	       FRESH_NS;
}

/* Asks about the oldest launches in turn until one has not ended; with `all`
 * also about fresh ones. Returns the number of launches that have. */
static unsigned poll_launches(struct watched *self, bool all)
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
		struct ncs_launch_events *events = slot->timed ?
							   &slot->timed_events :
							   &slot->plain_events;
		int error = ncs_cuda.event_query(events->end);

		if (error == CUDA_ERROR_NOT_READY_NUMBER) {
			if (!slot->begun && (all || !is_fresh(slot)) &&
			    ncs_cuda.event_query(events->begin) == 0) {
				slot->begun = true;
				note_begun(self, slot);
			}
			break;
		}
		if (error) {
			fail_for_good(self, error);
			break;
		}
		if (!all && is_fresh(slot))
			break;
		fetch_times(self->clock, slot);
		note_ended(self, slot);
		ended++;
	}
	return ended;
}

/* Only one thread at a time may ask about a communicator's launches. */
static bool take_polling(struct watched *self)
{
	/* ORDER: pairs with leave_polling() (plugin/life/launch_watch.c). */
	return ncs_cas_acquire_release(&self->polling, 0, 1);
}

static void leave_polling(struct watched *self)
{
	/* ORDER: pairs with take_polling() (plugin/life/launch_watch.c): one
	 * thread after the other changes the slots. */
	ncs_store_release(&self->polling, 0);
}

/* Takes the launches from the launching threads for good. Returns false if one
 * is using them at the moment. */
static bool take_launches(struct ncs_launches *launches)
{
	/* ORDER: pairs with leave() (plugin/events/launch.c). */
	return ncs_cas_acquire_release(&launches->use, NCS_LAUNCHES_UNUSED,
				       NCS_LAUNCHES_USED) ||
	       ncs_cas_acquire_release(&launches->use, NCS_LAUNCHES_BETWEEN,
				       NCS_LAUNCHES_USED);
}

/* Gives up all launches, and ends their operations without a time. */
static void give_up_launches(struct watched *self)
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

/* Ends the operations of launches that were not followed, and after an error
 * will not end with a later one. */
static void give_up_operations(struct watched *self)
{
	struct ncs_lane_state *lane;

	pthread_mutex_lock(&lock);
	if (self->comm) {
		lane = ncs_lane_of_caller(self->comm);
		for (uint32_t i = 0; i < self->comm->operation_count; i++)
			ncs_operation_end_unfollowed(self->comm, lane,
						     &self->comm->ops[i],
						     UINT64_MAX, ncs_now());
	}
	pthread_mutex_unlock(&lock);
}

/* Gives up a communicator's launches and destroys its events, unless their
 * context may be gone: `current` says that it is there and current. Returns
 * false if a thread is launching: then later. */
static bool release(struct watched *self, bool current)
{
	struct ncs_launches *launches = &self->launches;
	struct context_clock *clock;

	if (!take_launches(launches))
		return false;
	current = current && !self->events_lost;
	pthread_mutex_lock(&lock);
	give_up_launches(self);
	if (self->comm)
		publish_status(self);
	clock = self->clock;
	self->clock = NULL;
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < NCS_LAUNCH_MAX && current; i++) {
		destroy_pair(&launches->slots[i].timed_events);
		destroy_pair(&launches->slots[i].plain_events);
	}
	if (clock)
		leave_context(clock, current);
	return true;
}

/* Closes an entry: in two passes, so that operations of the last launches,
 * which NCCL may still have had to report in the first one, are ended, too. */
static void close_followed(struct watched *self, bool current)
{
	if (!self->released) {
		self->released = release(self, current);
		return;
	}
	give_up_operations(self);
	pthread_mutex_lock(&lock);
	self->closed = true;
	pthread_mutex_unlock(&lock);
}

/* Returns the number of launches that have ended. */
static unsigned serve_taken(struct watched *self)
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
			renew_clock(self->clock);
		ended = poll_launches(self, false);
		end_unfollowed(self);
		break;
	case NCS_LAUNCHES_CLOSING:
		close_followed(self, error == 0);
		break;
	default:
		break;
	}
	return ended;
}

/* Returns the number of launches that have ended. */
static unsigned serve(struct watched *self)
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

/* --- How many are timed ------------------------------------------------- */

/* The least level at which launches at this rate stay within the budget. */
static uint64_t level_for(double rate)
{
	uint64_t level = 0;

	while (rate > TIMED_PER_SECOND && level < 40) {
		rate /= 2;
		level++;
	}
	return level;
}

/* Lets bursts be timed whole as long as the average leaves allowance for them,
 * and lowers the level only once there is allowance again. */
static void choose_level(uint64_t now)
{
	uint64_t launches = ncs_load_relaxed(&ncs_launch_process.launches);
	uint64_t timed = ncs_load_relaxed(&ncs_launch_process.timed);
	double seconds = (double)ncs_clock_duration_ns(&watch.clock,
						       now - watch.last_pass) /
			 1e9;
	double weight = seconds < 1 ? seconds : 1;
	uint64_t level, needed;

	if (watch.mode != NCS_STREAM_MODE_AUTO || seconds <= 0)
		return;
	watch.rate += weight *
		      ((double)(launches - watch.last_launches) / seconds -
		       watch.rate);
	watch.allowance += seconds * TIMED_PER_SECOND -
			   (double)(timed - watch.last_timed);
	if (watch.allowance > TIMED_BURST)
		watch.allowance = TIMED_BURST;
	/* A burst is forgotten after some seconds. */
	if (watch.allowance < -TIMED_BURST)
		watch.allowance = -TIMED_BURST;
	watch.last_pass = now;
	watch.last_launches = launches;
	watch.last_timed = timed;
	level = ncs_load_relaxed(&ncs_launch_process.level);
	needed = level_for(watch.rate);
	if (watch.allowance <= 0 && level < needed)
		level = needed;
	else if (watch.allowance <= 0 && level == 0)
		level = 1;
	else if (watch.allowance > TIMED_BURST / 2 && level > needed)
		level--;
	ncs_store_relaxed(&ncs_launch_process.level, level);
}

/* --- The thread --------------------------------------------------------- */

static void pause_ns(long ns)
{
	struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

static void publish_driver_call(uint64_t since)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < LAUNCHES_MAX; i++) {
		struct watched *self = &watched[i];

		if (!self->comm)
			continue;
		ncs_store_relaxed(&self->comm->header->launches.watch_since,
				  since);
		if (since == 0)
			publish_status(self);
	}
	pthread_mutex_unlock(&lock);
}

/* Makes an entry free for another communicator. `lock` is held, and no other
 * thread uses the entry. */
static void free_entry(struct watched *self)
{
	struct ncs_launches *launches = &self->launches;

	/* Else the slots were never used: then they take no memory. */
	if (launches->context)
		memset(launches->slots, 0, sizeof(launches->slots));
	launches->context = NULL;
	ncs_store_relaxed(&launches->use, NCS_LAUNCHES_UNUSED);
	ncs_store_relaxed(&launches->error, 0);
	ncs_store_relaxed(&launches->head, 0);
	ncs_store_relaxed(&launches->tail, 0);
	ncs_store_relaxed(&launches->number, 0);
	ncs_store_relaxed(&launches->last_followed, 0);
	ncs_store_relaxed(&launches->open_handle, 0);
	self->closed = self->released = self->events_lost = false;
	self->last_number = self->scanned = 0;
	ncs_store_relaxed(&self->failure, 0);
	/* ORDER: pairs with serve() (plugin/life/launch_watch.c). */
	ncs_store_release(&launches->stage, NCS_LAUNCHES_FREE);
}

/* Returns true if a communicator is left that launches, or events to destroy;
 * gives up entries that nothing refers to any more. `lock` is held. */
static bool is_needed(void)
{
	bool needed = false;

	for (unsigned i = 0; i < LAUNCHES_MAX; i++) {
		struct watched *self = &watched[i];
		uint64_t stage = ncs_load_relaxed(&self->launches.stage);

		if (stage == NCS_LAUNCHES_FREE || stage == NCS_LAUNCHES_IDLE)
			continue;
		if (!self->closed)
			needed = true;
		else if (!self->comm)
			free_entry(self);
	}
	return needed;
}

static void *run(void *unused)
{
	uint64_t launches = 0;
	unsigned ended;

	(void)unused;
	for (;;) {
		bool needed;
		int mode;

		publish_driver_call(ncs_now());
		ended = 0;
		ncs_cuda_begin(&mode);
		for (unsigned i = 0; i < LAUNCHES_MAX && !is_stopping(); i++)
			ended += serve(&watched[i]);
		ncs_cuda_end(&mode);
		publish_driver_call(0);
		choose_level(ncs_now());
		pthread_mutex_lock(&lock);
		needed = !is_stopping() && is_needed();
		if (!needed)
			watch.runs = false;
		pthread_mutex_unlock(&lock);
		if (!needed)
			return NULL;
		if (ended >= FAST_ENDED)
			pause_ns(FAST_PAUSE_NS);
		else if (launches !=
			 ncs_load_relaxed(&ncs_launch_process.launches))
			pause_ns(BUSY_PAUSE_NS);
		else
			pause_ns(IDLE_PAUSE_NS);
		launches = ncs_load_relaxed(&ncs_launch_process.launches);
	}
}

/* Starts the thread with all signals blocked, so that none of the application's
 * is delivered to it. */
static void start_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	watch.last_pass = ncs_now();
	watch.runs = pthread_create(&thread, &attributes, run, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (watch.runs)
		pthread_setname_np(thread, "ncclstat-watch");
	pthread_attr_destroy(&attributes);
}

/* Starts the thread unless it runs. `lock` is held. Returns false if there is
 * none. */
static bool ensure_thread(void)
{
	if (!watch.runs && !is_stopping())
		start_thread();
	return watch.runs;
}

/* Called by a communicator's first launch, on the launching thread. */
static bool start_watch(void)
{
	bool runs;

	pthread_mutex_lock(&lock);
	runs = ensure_thread();
	pthread_mutex_unlock(&lock);
	return runs;
}

/* --- init, finalize, fork, exit ----------------------------------------- */

void ncs_launch_watch_reset(const struct ncs_environment *environment,
			    const struct ncs_clock *clock)
{
	watch.clock = *clock;
	watch.mode = environment->stream_mode;
	watch.rate = 0;
	watch.last_launches = watch.last_timed = 0;
	watch.allowance = TIMED_BURST;
	ncs_launch_process.level = watch.mode == NCS_STREAM_MODE_PERIOD ?
					   environment->stream_level :
					   0;
	ncs_launch_process.spacing_ticks =
		ncs_clock_duration_ticks(clock, SPACING_NS);
	ncs_launch_process.start_watch = start_watch;
}

static enum ncs_stream_status why_not(const struct ncs_comm *comm)
{
	const char *missing;

	if (watch.mode == NCS_STREAM_MODE_OFF)
		return NCS_STREAM_OFF;
	if (comm->api_version < LAUNCH_API)
		return NCS_STREAM_RELEASE;
	if (!ncs_cuda_driver_find(&missing))
		return NCS_STREAM_NO_DRIVER;
	return NCS_STREAM_WAITING;
}

/* Returns an entry for a communicator; NULL if all are in use. `lock` is
 * held. */
static struct watched *free_watched(void)
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
	struct watched *self = NULL;

	pthread_mutex_lock(&lock);
	if (status == NCS_STREAM_WAITING) {
		self = free_watched();
		if (!self)
			status = NCS_STREAM_NO_ROOM;
	}
	if (self) {
		self->comm = comm;
		/* ORDER: pairs with serve() (plugin/life/launch_watch.c). */
		ncs_store_release(&self->launches.stage, NCS_LAUNCHES_IDLE);
	}
	/* The launches are the entry's first member. */
	ncs_store_relaxed(&comm->launches, (uint64_t)(uintptr_t)self);
	ncs_store_relaxed(&comm->header->launches.status, status);
	pthread_mutex_unlock(&lock);
}

/* Ends what has ended since the thread looked. The context is made current for
 * it, which finalize may come without. */
static void poll_for_the_last_time(struct watched *self)
{
	void *before = NULL;
	int mode;
	/* ORDER: pairs with make_events() (plugin/life/launch_watch.c) and with
	 * begin_following() (plugin/events/launch.c). */
	uint64_t stage = ncs_load_acquire(&self->launches.stage);

	if ((stage != NCS_LAUNCHES_READY && stage != NCS_LAUNCHES_WANTED) ||
	    is_stopping() || !take_polling(self))
		return;
	ncs_cuda_begin(&mode);
	if (ncs_cuda.context_get(&before) == 0 &&
	    ncs_cuda.context_set(self->launches.context) == 0) {
		poll_launches(self, true);
		end_unfollowed(self);
		ncs_cuda.context_set(before);
	}
	ncs_cuda_end(&mode);
	leave_polling(self);
}

void ncs_launch_watch_remove(struct ncs_comm *comm)
{
	struct watched *self = (struct watched *)(void *)ncs_launches_of(comm);
	bool idle;

	if (!self)
		return;
	poll_for_the_last_time(self);
	pthread_mutex_lock(&lock);
	publish_status(self);
	ncs_store_relaxed(&comm->header->launches.watch_since, 0);
	self->comm = NULL;
	ncs_store_relaxed(&comm->launches, 0);
	/* ORDER: pairs with begin_following() (plugin/events/launch.c): it
	 * finds that the communicator is gone, or the thread closes. */
	idle = ncs_cas_acquire_release(&self->launches.stage, NCS_LAUNCHES_IDLE,
				       NCS_LAUNCHES_CLOSING) &&
	       take_launches(&self->launches);
	/* ORDER: pairs with serve() (plugin/life/launch_watch.c): the
	 * communicator is gone. */
	ncs_store_release(&self->launches.stage, NCS_LAUNCHES_CLOSING);
	if (idle || (self->closed && !watch.runs))
		free_entry(self);
	else
		ensure_thread();
	pthread_mutex_unlock(&lock);
}

void ncs_launch_watch_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	/* Entries that were never used are not touched: they take no memory. */
	for (unsigned i = 0; i < LAUNCHES_MAX; i++)
		if (ncs_load_relaxed(&watched[i].launches.stage) !=
		    NCS_LAUNCHES_FREE)
			memset(&watched[i], 0, sizeof(watched[i]));
	memset(context_clocks, 0, sizeof(context_clocks));
	watch.runs = false;
	watch.stopping = 0;
	memset(&ncs_launch_process, 0, sizeof(ncs_launch_process));
}

void ncs_launch_watch_stop(void)
{
	ncs_store_relaxed(&watch.stopping, 1);
}
