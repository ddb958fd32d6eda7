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
#define TIMED_BURST 1000.0

/* Time between launches that are followed without being timed: two events cost
 * the launching thread 1.4 us. */
#define SPACING_NS UINT64_C(1000000)

/* The thread looks that often while there are launches, and otherwise. */
#define BUSY_PAUSE_NS 10000000L
#define IDLE_PAUSE_NS 100000000L
/* ... and while launches come so fast that the slots may not last. */
#define FAST_PAUSE_NS 1000000L
#define FAST_ENDED 32u

/* The driver's functions may need much more stack than ours. */
#define STACK_BYTES ((size_t)256 << 10)

/* The host's and the GPU's clocks are compared again after this time. */
#define BASE_AGE_NS UINT64_C(2000000000)
#define BASE_PATIENCE_NS UINT64_C(50000)
#define BIAS_TRIES 16

#define CONTEXTS_MAX 16u

struct ncs_launch_process ncs_launch_process;

/* A CUDA context, with an event whose time is known by the host's clock. */
struct context_clock {
	void *context; /* NULL if unused */
	void *stream;
	void *base, *end; /* events */
	uint64_t base_ticks; /* 0 if it is not known yet */
	uint64_t error_ticks;
	uint64_t bias_ns;
	bool failed;
};

/* Beside a communicator's launches: members of the watch thread, and of init
 * and finalize under `lock`. */
struct watched {
	struct ncs_launches launches;
	struct ncs_comm *comm; /* NULL once it is finalized */
	struct context_clock *clock;
	uint64_t polling; /* 1 while a thread asks the driver about it */
	bool closed;	 /* its events are gone */
	uint64_t last_number; /* of its launches, at the latest look */
	uint64_t scanned; /* operations up to this launch have been ended */
	int failure;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watched watched[LAUNCHES_MAX];
static struct context_clock context_clocks[CONTEXTS_MAX];

static struct {
	struct ncs_clock clock;
	enum ncs_stream_mode mode;
	uint64_t level; /* for NCS_STREAM_MODE_PERIOD */
	bool runs;
	volatile bool stopping;
	/* What the level is chosen by. */
	uint64_t last_pass;
	uint64_t last_launches, last_timed;
	double rate;
	double allowance;
} watch;

/* --- Clocks --------------------------------------------------------------------- */

static uint64_t ticks_of_ms(float ms)
{
	return ncs_clock_duration_ticks(&watch.clock,
					(uint64_t)((double)ms * 1e6));
}

/* Asks for an event until it has happened. Returns false if it has not within
 * BASE_PATIENCE_NS, or fails. */
static bool await(void *event)
{
	uint64_t start = ncs_now();
	uint64_t patience =
		ncs_clock_duration_ticks(&watch.clock, BASE_PATIENCE_NS);

	do {
		int error = ncs_cuda.event_query(event);

		if (error == 0)
			return true;
		if (error != CUDA_ERROR_NOT_READY_NUMBER)
			return false;
	} while (ncs_now() - start < patience);
	return false;
}

/* Relates the GPU's clock to the host's by an event that happens between two
 * readings of the host's. One short attempt: a GPU that is busy may not get to
 * the event for long, and asking without a pause holds up the launching threads
 * in the driver. Without success the former base stays. */
static void compare_clocks(struct context_clock *clock)
{
	uint64_t before = ncs_now(), after;
	void *base = clock->base;

	if (ncs_cuda.event_record(clock->end, clock->stream) != 0 ||
	    !await(clock->end))
		return;
	after = ncs_now();
	clock->base = clock->end;
	clock->end = base;
	clock->error_ticks = (after - before) / 2;
	clock->base_ticks = before + clock->error_ticks;
}

/* The time between two events with nothing between them. */
static uint64_t measure_bias_ns(struct context_clock *clock)
{
	float least = 1;

	for (unsigned i = 0; i < BIAS_TRIES; i++) {
		float ms;

		if (ncs_cuda.event_record(clock->base, clock->stream) != 0 ||
		    ncs_cuda.event_record(clock->end, clock->stream) != 0 ||
		    !await(clock->end) ||
		    ncs_cuda.event_elapsed_ms(&ms, clock->base, clock->end) !=
			    0)
			return 0;
		if (ms < least)
			least = ms;
	}
	return least < 1 ? (uint64_t)((double)least * 1e6) : 0;
}

/* The clock of a context, which is current. */
static struct context_clock *clock_of(void *context)
{
	struct context_clock *unused = NULL;

	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		if (context_clocks[i].context == context)
			return &context_clocks[i];
		if (!unused && !context_clocks[i].context)
			unused = &context_clocks[i];
	}
	if (!unused)
		return NULL;
	if (ncs_cuda.stream_create(&unused->stream,
				   CUDA_STREAM_NON_BLOCKING_FLAG) != 0)
		return NULL;
	if (ncs_cuda.event_create(&unused->base, CUDA_EVENT_DEFAULT_FLAGS) !=
		    0 ||
	    ncs_cuda.event_create(&unused->end, CUDA_EVENT_DEFAULT_FLAGS) !=
		    0) {
		ncs_cuda.stream_destroy(unused->stream);
		return NULL;
	}
	unused->context = context;
	unused->bias_ns = measure_bias_ns(unused);
	compare_clocks(unused);
	return unused;
}

static void renew_clock(struct context_clock *clock)
{
	if (clock->base_ticks == 0 ||
	    ncs_clock_duration_ns(&watch.clock,
				  ncs_now() - clock->base_ticks) > BASE_AGE_NS)
		compare_clocks(clock);
}

/* --- Events ---------------------------------------------------------------------- */

static int make_pair(struct ncs_launch_events *events, unsigned flags)
{
	int error = ncs_cuda.event_create(&events->begin, flags);

	return error ? error : ncs_cuda.event_create(&events->end, flags);
}

static void destroy_pair(struct ncs_launch_events *events)
{
	if (events->begin)
		ncs_cuda.event_destroy(events->begin);
	if (events->end)
		ncs_cuda.event_destroy(events->end);
	events->begin = events->end = NULL;
}

static void fail(struct watched *self, int error)
{
	self->failure = error;
	/* ORDER: pairs with ncs_launch_start() (plugin/events/launch.c): no
	 * launch is followed any more. */
	ncs_store_release(&self->launches.stage, NCS_LAUNCHES_CLOSING);
}

/* Makes the events of a communicator's launches in its context. */
static void make_events(struct watched *self)
{
	struct ncs_launches *launches = &self->launches;
	int error = 0;

	for (unsigned i = 0; i < NCS_LAUNCH_MAX && !error; i++) {
		struct ncs_launch_slot *slot = &launches->slots[i];

		error = make_pair(&slot->timed_events,
				  CUDA_EVENT_DEFAULT_FLAGS);
		if (!error)
			error = make_pair(&slot->plain_events,
					  CUDA_EVENT_DISABLE_TIMING_FLAG);
	}
	self->clock = clock_of(launches->context);
	if (error)
		fail(self, error);
	else
		/* ORDER: pairs with ncs_launch_start() (plugin/events/launch.c):
		 * the events are there. */
		ncs_cas_acquire_release(&launches->stage, NCS_LAUNCHES_WANTED,
					NCS_LAUNCHES_READY);
}

/* --- Ending launches --------------------------------------------------------------- */

static void publish_status(struct watched *self)
{
	struct ncs_launch_progress *progress = &self->comm->header->launches;
	uint64_t level = ncs_load_relaxed(&ncs_launch_process.level);
	uint64_t status = NCS_STREAM_WAITING;

	if (self->failure) {
		status = NCS_STREAM_FAILED;
		ncs_store_relaxed(&progress->failure,
				  (uint64_t)self->failure);
	} else if (ncs_load_relaxed(&self->launches.number) != 0) {
		status = level == 0 ? NCS_STREAM_ALL : NCS_STREAM_SOME;
	}
	ncs_store_relaxed(&progress->level, level);
	ncs_store_relaxed(&progress->status, status);
	if (self->clock) {
		ncs_store_relaxed(&progress->bias_ns, self->clock->bias_ns);
		ncs_store_relaxed(
			&progress->error_ns,
			ncs_clock_duration_ns(&watch.clock,
					      self->clock->error_ticks));
	}
}

/* Calls `visit` for each operation that has joined a launch. */
static void visit_joined(struct ncs_comm *comm, uint64_t number,
			 void (*visit)(struct ncs_comm *comm, struct ncs_operation_slot *op,
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
		 * an operation that has joined has its launch's number. */
		if (ncs_load_acquire(&op->children) & NCS_LAUNCH_PENDING &&
		    ncs_load_relaxed(&op->launch) == number)
			visit(comm, op, slot);
	}
}

static void begin_operation(struct ncs_comm *comm, struct ncs_operation_slot *op,
			    const struct ncs_launch_slot *slot)
{
	(void)comm;
	(void)slot;
	ncs_operation_launch_began(op, ncs_now());
}

static void end_operation(struct ncs_comm *comm, struct ncs_operation_slot *op,
			  const struct ncs_launch_slot *slot)
{
	ncs_operation_launch_done(comm, ncs_lane_of_caller(comm), op,
				  slot->begin, slot->time_ns, slot->bytes,
				  ncs_now());
}

static void note_begun(struct watched *self, struct ncs_launch_slot *slot)
{
	struct ncs_launch_progress *progress;

	pthread_mutex_lock(&lock);
	if (self->comm) {
		progress = &self->comm->header->launches;
		ncs_store_relaxed(&progress->begun_at, ncs_now());
		ncs_store_relaxed(&progress->begun, slot->number);
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
		if (ncs_load_relaxed(&progress->begun) < slot->number) {
			ncs_store_relaxed(&progress->begun_at, ncs_now());
			ncs_store_relaxed(&progress->begun, slot->number);
		}
		ncs_store_relaxed(&progress->ended_at, ncs_now());
		ncs_store_relaxed(&progress->ended, slot->number);
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
			ncs_operation_end_unfollowed(
				lane, &self->comm->ops[i], ended);
		self->scanned = ended;
	}
	self->last_number = ncs_load_relaxed(&self->launches.number);
	pthread_mutex_unlock(&lock);
}

/* --- Asking the driver -------------------------------------------------------------- */

/* Fetches the times of a launch that has ended. */
static void fetch_times(const struct watched *self, struct ncs_launch_slot *slot)
{
	const struct context_clock *clock = self->clock;
	struct ncs_launch_events *events = &slot->timed_events;
	float ms, since_base_ms;
	uint64_t ns;

	if (!slot->timed ||
	    ncs_cuda.event_elapsed_ms(&ms, events->begin, events->end) != 0 ||
	    !(ms >= 0))
		return;
	ns = (uint64_t)((double)ms * 1e6);
	slot->time_ns = clock && ns > clock->bias_ns ? ns - clock->bias_ns : 1;
	if (!clock || clock->base_ticks == 0 ||
	    ncs_cuda.event_elapsed_ms(&since_base_ms, clock->base,
				      events->begin) != 0)
		return;
	slot->begin = since_base_ms >= 0 ?
			      clock->base_ticks + ticks_of_ms(since_base_ms) :
			      clock->base_ticks - ticks_of_ms(-since_base_ms);
}

/* Asks about the oldest launches in turn until one has not ended. Returns the
 * number of launches that have. */
static unsigned poll_launches(struct watched *self)
{
	struct ncs_launches *launches = &self->launches;
	/* ORDER: pairs with ncs_launch_stop() (plugin/events/launch.c): the slots
	 * and their events are complete. */
	uint64_t head = ncs_load_acquire(&launches->head);
	unsigned ended = 0;

	while (ncs_load_relaxed(&launches->tail) != head) {
		struct ncs_launch_slot *slot =
			&launches->slots[ncs_load_relaxed(&launches->tail) %
					 NCS_LAUNCH_MAX];
		struct ncs_launch_events *events = slot->timed ?
							   &slot->timed_events :
							   &slot->plain_events;
		int error = slot->failed ? 0 :
					   ncs_cuda.event_query(events->end);

		if (error == CUDA_ERROR_NOT_READY_NUMBER) {
			if (!slot->begun &&
			    ncs_cuda.event_query(events->begin) == 0) {
				slot->begun = true;
				note_begun(self, slot);
			}
			break;
		}
		if (error) {
			fail(self, error);
			break;
		}
		if (!slot->failed)
			fetch_times(self, slot);
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

/* Gives up all launches, ends their operations without a time, and destroys the
 * events. Returns false if a launch is between its events: then later. */
static bool release(struct watched *self)
{
	struct ncs_launches *launches = &self->launches;

	/* ORDER: pairs with leave() (plugin/events/launch.c). It stays taken. */
	if (!ncs_cas_acquire_release(&launches->busy, 0, 1))
		return false;
	pthread_mutex_lock(&lock);
	/* ORDER: pairs with ncs_launch_stop() (plugin/events/launch.c). */
	while (ncs_load_relaxed(&launches->tail) !=
	       ncs_load_acquire(&launches->head)) {
		struct ncs_launch_slot *slot =
			&launches->slots[ncs_load_relaxed(&launches->tail) %
					 NCS_LAUNCH_MAX];

		slot->begin = slot->time_ns = 0;
		close_launch(self, slot);
	}
	if (self->comm)
		publish_status(self);
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < NCS_LAUNCH_MAX; i++) {
		destroy_pair(&launches->slots[i].timed_events);
		destroy_pair(&launches->slots[i].plain_events);
	}
	return true;
}

/* Returns the number of launches that have ended. */
static unsigned serve(struct watched *self)
{
	struct ncs_launches *launches = &self->launches;
	/* ORDER: pairs with want_events() (plugin/events/launch.c) and with
	 * ncs_launch_watch_add() (plugin/life/launch_watch.c): the context is
	 * known. */
	uint64_t stage = ncs_load_acquire(&launches->stage);
	unsigned ended = 0;

	if (stage == NCS_LAUNCHES_FREE || stage == NCS_LAUNCHES_IDLE ||
	    !take_polling(self))
		return 0;
	if (ncs_cuda.context_set(launches->context) != 0) {
		if (stage != NCS_LAUNCHES_CLOSING)
			fail(self, 1);
	} else if (stage == NCS_LAUNCHES_WANTED) {
		make_events(self);
	} else if (stage == NCS_LAUNCHES_READY) {
		if (self->clock)
			renew_clock(self->clock);
		ended = poll_launches(self);
		end_unfollowed(self);
	}
	if (stage == NCS_LAUNCHES_CLOSING && !self->closed)
		self->closed = release(self);
	leave_polling(self);
	return ended;
}

/* --- How many are timed -------------------------------------------------------------- */

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

/* --- The thread ---------------------------------------------------------------------- */

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

/* Returns true if a communicator is left that launches, or events to destroy;
 * gives up entries that nothing refers to any more. */
static bool is_needed(void)
{
	bool needed = false;

	for (unsigned i = 0; i < LAUNCHES_MAX; i++) {
		struct watched *self = &watched[i];
		uint64_t stage = ncs_load_relaxed(&self->launches.stage);

		if (stage == NCS_LAUNCHES_FREE || stage == NCS_LAUNCHES_IDLE)
			continue;
		if (self->closed && !self->comm)
			memset(self, 0, sizeof(*self));
		else
			needed = true;
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
		for (unsigned i = 0; i < LAUNCHES_MAX && !watch.stopping; i++)
			ended += serve(&watched[i]);
		ncs_cuda_end(&mode);
		publish_driver_call(0);
		choose_level(ncs_now());
		pthread_mutex_lock(&lock);
		needed = !watch.stopping && is_needed();
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

/* Called by a communicator's first launch, on the launching thread. */
static void start_watch(void)
{
	pthread_mutex_lock(&lock);
	if (!watch.runs && !watch.stopping)
		start_thread();
	pthread_mutex_unlock(&lock);
}

/* --- init, finalize, fork, exit ------------------------------------------------------ */

void ncs_launch_watch_reset(const struct ncs_environment *environment,
			    const struct ncs_clock *clock)
{
	watch.clock = *clock;
	watch.mode = environment->stream_mode;
	watch.rate = 0;
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

void ncs_launch_watch_add(struct ncs_comm *comm)
{
	enum ncs_stream_status status = why_not(comm);
	struct watched *self = NULL;

	pthread_mutex_lock(&lock);
	comm->launches = NULL;
	for (unsigned i = 0; i < LAUNCHES_MAX && !self; i++)
		if (watched[i].launches.stage == NCS_LAUNCHES_FREE)
			self = &watched[i];
	if (status == NCS_STREAM_WAITING && !self)
		status = NCS_STREAM_NO_ROOM;
	if (status == NCS_STREAM_WAITING) {
		self->comm = comm;
		/* ORDER: pairs with serve() (plugin/life/launch_watch.c). */
		ncs_store_release(&self->launches.stage, NCS_LAUNCHES_IDLE);
		comm->launches = &self->launches;
	}
	ncs_store_relaxed(&comm->header->launches.status, status);
	pthread_mutex_unlock(&lock);
}

/* `launches` is the first member. */
static struct watched *watched_of(const struct ncs_comm *comm)
{
	return (struct watched *)(void *)comm->launches;
}

void ncs_launch_watch_remove(struct ncs_comm *comm)
{
	struct watched *self = watched_of(comm);
	int mode;

	if (!self)
		return;
	/* What has ended since the thread looked is ended here. */
	/* ORDER: pairs with make_events() (plugin/life/launch_watch.c). */
	if (ncs_load_acquire(&self->launches.stage) == NCS_LAUNCHES_READY &&
	    !watch.stopping && take_polling(self)) {
		ncs_cuda_begin(&mode);
		poll_launches(self);
		end_unfollowed(self);
		ncs_cuda_end(&mode);
		leave_polling(self);
	}
	pthread_mutex_lock(&lock);
	publish_status(self);
	ncs_store_relaxed(&comm->header->launches.watch_since, 0);
	self->comm = NULL;
	comm->launches = NULL;
	if (ncs_load_relaxed(&self->launches.stage) == NCS_LAUNCHES_IDLE)
		memset(self, 0, sizeof(*self));
	else
		/* ORDER: pairs with serve() (plugin/life/launch_watch.c): the
		 * communicator is gone. */
		ncs_store_release(&self->launches.stage,
				  NCS_LAUNCHES_CLOSING);
	pthread_mutex_unlock(&lock);
}

void ncs_launch_watch_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(watched, 0, sizeof(watched));
	memset(context_clocks, 0, sizeof(context_clocks));
	watch.runs = watch.stopping = false;
	memset(&ncs_launch_process, 0, sizeof(ncs_launch_process));
}

void ncs_launch_watch_stop(void)
{
	watch.stopping = true;
}
