/* SPDX-License-Identifier: MIT */
/* The GPU's clock by the host's; see launch_clock.h. */
#include "plugin/life/launch_clock.h"

#include <string.h>

#include "plugin/state/registry.h"

/* The host's and the GPU's clocks are compared again after this time. */
#define BASE_AGE_NS UINT64_C(2000000000)
#define BASE_PATIENCE_NS UINT64_C(50000)
#define BASE_ERROR_NS UINT64_C(100000)
#define BIAS_TRIES 16

#define CONTEXTS_MAX 16u

static struct ncs_launch_clock context_clocks[CONTEXTS_MAX];

static uint64_t ns_of_ms(float ms)
{
	return (uint64_t)((double)ms * 1e6 + 0.5);
}

static uint64_t ticks_of_ms(float ms)
{
	return ncs_ticks_of_ns(ns_of_ms(ms));
}

/* Asks for an event until it has happened. Returns 0, the driver's error, or
 * CUDA_ERROR_NOT_READY_NUMBER after BASE_PATIENCE_NS. */
static int await(void *event)
{
	uint64_t start = ncs_now();
	uint64_t patience = ncs_ticks_of_ns(BASE_PATIENCE_NS);
	int error;

	do
		error = ncs_cuda.event_query(event);
	while (error == CUDA_ERROR_NOT_READY_NUMBER &&
	       ncs_now() - start < patience);
	return error;
}

/* Makes the event that has just happened the base. */
static void set_base(struct ncs_launch_clock *clock, uint64_t before,
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
static bool compare_clocks(struct ncs_launch_clock *clock)
{
	uint64_t before, after;
	int error;

	before = ncs_now();
	error = ncs_cuda.event_record(clock->end, clock->stream);
	if (!error)
		error = await(clock->end);
	after = ncs_now();
	if (!error && (clock->base_ticks == 0 ||
		       ncs_ns_of_ticks(after - before) < BASE_ERROR_NS))
		set_base(clock, before, after);
	clock->failed = error != 0 && error != CUDA_ERROR_NOT_READY_NUMBER;
	return error == 0;
}

/* Measures the time between two events with nothing between them, and takes half
 * of it for what the events add to the time of a launch; as long as that fails,
 * these times are too long by so much. The base is lost, since both events are
 * used.
 *
 * The other half passes while the kernel is being started anyway. Measured on
 * two H200s (test/gpu/truth.sh), where an empty pair takes 2.7 us: with all of
 * it taken off, calls of 1 to 16 MB looked 1.0 to 2.2 us shorter than they are
 * without events. */
static void measure_bias(struct ncs_launch_clock *clock)
{
	float least = 1, ms;

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
	if (least < 1)
		ncs_store_relaxed(&clock->bias_ns, ns_of_ms(least) / 2);
}

/* Makes what a clock needs in its context, which is current. */
static bool make_clock(struct ncs_launch_clock *clock)
{
	if (ncs_cuda.stream_create(&clock->stream,
				   CUDA_STREAM_NON_BLOCKING_FLAG) != 0)
		return false;
	if (ncs_cuda_make_events(&clock->base, &clock->end,
				 CUDA_EVENT_DEFAULT_FLAGS) == 0)
		return true;
	ncs_cuda.stream_destroy(clock->stream);
	return false;
}

void ncs_launch_clock_renew(struct ncs_launch_clock *clock)
{
	if (clock->failed ||
	    (clock->base_ticks != 0 &&
	     ncs_ns_of_ticks(ncs_now() - clock->base_ticks) <= BASE_AGE_NS))
		return;
	if (compare_clocks(clock) && ncs_load_relaxed(&clock->bias_ns) == 0) {
		measure_bias(clock);
		compare_clocks(clock);
	}
}

struct ncs_launch_clock *
ncs_launch_clock_join(const struct ncs_cuda_primary *primary)
{
	struct ncs_launch_clock *unused = NULL;

	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		struct ncs_launch_clock *clock = &context_clocks[i];

		if (clock->context == primary->context &&
		    clock->id == primary->id && !clock->failed) {
			clock->users++;
			return clock;
		}
		if (!unused && !clock->context)
			unused = clock;
	}
	if (!unused || !make_clock(unused))
		return NULL;
	unused->context = primary->context;
	unused->id = primary->id;
	unused->users = 1;
	ncs_launch_clock_renew(unused);
	return unused;
}

void ncs_launch_clock_leave(struct ncs_launch_clock *clock, bool current)
{
	if (!current)
		clock->failed = true;
	if (--clock->users != 0)
		return;
	if (!clock->failed) {
		ncs_cuda_drop_event(&clock->base);
		ncs_cuda_drop_event(&clock->end);
		ncs_cuda.stream_destroy(clock->stream);
	}
	memset(clock, 0, sizeof(*clock));
}

/* When a launch's kernel began, by the host's clock; 0 if that is not known. It
 * began after the launch, however large the clocks' error is. */
static uint64_t fetch_begin(struct ncs_launch_clock *clock,
			    const struct ncs_launch_slot *slot)
{
	uint64_t ticks;
	float ms;

	if (!clock || clock->base_ticks == 0 ||
	    ncs_cuda.event_elapsed_ms(&ms, clock->base, slot->events.begin) !=
		    0)
		return 0;
	ticks = ms >= 0 ? clock->base_ticks + ticks_of_ms(ms) :
			  clock->base_ticks - ticks_of_ms(-ms);
	return ticks != 0 && ticks < slot->called ? slot->called : ticks;
}

void ncs_launch_clock_fetch(struct ncs_launch_clock *clock,
			    struct ncs_launch_slot *slot)
{
	const struct ncs_launch_events *events = &slot->events;
	uint64_t ns, bias_ns = clock ? ncs_load_relaxed(&clock->bias_ns) : 0;
	float ms;

	if (slot->kind != NCS_LAUNCH_TIMED ||
	    ncs_cuda.event_elapsed_ms(&ms, events->begin, events->end) != 0 ||
	    !(ms >= 0))
		return;
	ns = ns_of_ms(ms);
	/* 0 would be no time. */
	ncs_payload_store(&slot->time_ns, ns > bias_ns ? ns - bias_ns : 1);
	ncs_payload_store(&slot->begin, fetch_begin(clock, slot));
}

void ncs_launch_clock_forget(void)
{
	memset(context_clocks, 0, sizeof(context_clocks));
}
