/* SPDX-License-Identifier: MIT */
/* Slots of spans, and the times of kernels; see span.h. */
#include "plugin/events/span.h"

#include "plugin/events/operation.h"
#include "plugin/events/sampling.h"
#include "plugin/state/registry.h"
#include "shm/seqlock.h"

/* Returns true if this thread has claimed the slot. */
static bool claim(const struct ncs_lane_state *lane, struct ncs_span_slot *span)
{
	/* ORDER: pairs with ncs_span_stop() (plugin/events/span.c): another
	 * thread may have freed the slot. */
	uint64_t tag = ncs_load_acquire(&span->tag);

	if (tag & 1)
		return false;
	if (lane->shared)
		/* ORDER: pairs with ncs_span_stop() (plugin/events/span.c):
		 * only one of two threads gets the slot. */
		return ncs_cas_acquire_release(&span->tag, tag, tag + 1);
	ncs_store_relaxed(&span->tag, tag + 1);
	return true;
}

struct ncs_span_slot *ncs_span_claim(struct ncs_lane_state *lane)
{
	uint64_t first = ncs_load_relaxed(&lane->span_hint);

	for (unsigned i = 0; i < NCS_SPAN_MAX; i++) {
		uint64_t slot = (first + i) % NCS_SPAN_MAX;

		if (!claim(lane, &lane->spans[slot]))
			continue;
		ncs_store_relaxed(&lane->span_hint, slot + 1);
		return &lane->spans[slot];
	}
	return NULL;
}

static void clear_child(struct ncs_span_slot *span)
{
	ncs_sampling_clear(&span->sampled);
	span->operation_handle = 0;
	span->gpu_start_ns = span->gpu_stop_ns = 0;
	span->since = 0;
	span->launched = false;
}

struct ncs_span_slot *ncs_span_start(struct ncs_comm *comm,
				     struct ncs_lane_state *lane,
				     enum ncs_event event, uint64_t now,
				     uint64_t *handle)
{
	struct ncs_span_slot *span = ncs_span_claim(lane);

	if (!span) {
		ncs_lane_lose(lane, NCS_LOSS_POOL_FULL);
		*handle = ncs_handle_encode(NCS_HANDLE_UNTRACKED, comm->index,
					    0, 0, 0);
		return NULL;
	}
	ncs_span_begin(span, event, now);
	if (ncs_span_is_child(event))
		clear_child(span);
	else
		ncs_store_relaxed(&lane->published->open_since[event], now);
	*handle = ncs_span_handle(lane, (uint64_t)(span - lane->spans),
				  ncs_load_relaxed(&span->tag));
	return span;
}

struct ncs_span_slot *ncs_span_find(struct ncs_comm *comm,
				    const struct ncs_handle *handle)
{
	struct ncs_span_slot *span;

	if (handle->lane >= NCS_LANE_MAX || handle->slot >= NCS_SPAN_MAX)
		return NULL;
	span = &comm->lanes[handle->lane].spans[handle->slot];
	return ncs_handle_matches(handle, ncs_load_relaxed(&span->tag)) ? span :
									  NULL;
}

/* --- the GPU's times ----------------------------------------------------- */

static void publish_clock(struct ncs_gpu_clock *block,
			  const struct ncs_gpu_bounds *bounds, uint64_t now_ns,
			  uint64_t now)
{
	bool known = bounds->known_at != 0;

	ncs_seqlock_begin(&block->sequence);
	ncs_payload_store(&block->ticks, known ? now : 0);
	ncs_payload_store(&block->low_ns,
			  known ? now_ns + bounds->known.low : 0);
	ncs_payload_store(&block->high_ns,
			  known ? now_ns + bounds->known.high : 0);
	ncs_payload_store(&block->quantum_ns, bounds->quantum);
	ncs_payload_store(&block->samples, bounds->known_samples);
	ncs_payload_store(&block->restarts, bounds->restarts);
	ncs_seqlock_end(&block->sequence);
}

/* Returns false if another thread is using the bounds; this one then does
 * without. */
static bool take_bounds(struct ncs_comm *comm)
{
	/* ORDER: pairs with release_bounds() (plugin/events/span.c): one
	 * thread at a time. */
	return ncs_cas_acquire_release(&comm->gpu_busy, 0, 1);
}

static void release_bounds(struct ncs_comm *comm)
{
	/* ORDER: pairs with take_bounds() (plugin/events/span.c). */
	ncs_store_release(&comm->gpu_busy, 0);
}

/* Stores the GPU's times in the record of a KernelCh or KernelPhase that stops, and
 * learns the offset of the GPU's clock from them (state/gpu_clock.h). Returns false if
 * there are none, or if they are implausible, which is counted. Spans of other types
 * save no registers for it. */
__attribute__((noinline)) static bool kernel_times(struct ncs_comm *comm,
						   struct ncs_lane_state *lane,
						   struct ncs_span_slot *span,
						   uint64_t now)
{
	const struct ncs_clock *clock = &ncs_registry.clock;
	struct ncs_gpu_kernel kernel = {
		.start = span->gpu_start_ns,
		.stop = span->gpu_stop_ns,
		.since = ncs_clock_ns(clock, span->since),
		.seen_start = ncs_clock_ns(clock, span->record.start),
		.seen_stop = ncs_clock_ns(clock, now),
	};
	bool plausible;

	if (span->launched)
		kernel.launched = kernel.since;
	if (kernel.start == 0 && kernel.stop == 0)
		return false; /* API 3 reports no times */
	if (take_bounds(comm)) {
		plausible = ncs_gpu_is_plausible(&comm->gpu, &kernel);
		if (plausible && kernel.launched != 0 &&
		    span->record.event == NCS_EVENT_KERNEL_CH &&
		    ncs_gpu_learn(&comm->gpu, &kernel))
			publish_clock(&comm->header->gpu_clock, &comm->gpu,
				      kernel.seen_stop, now);
		release_bounds(comm);
	} else {
		static const struct ncs_gpu_bounds none;

		plausible = ncs_gpu_is_plausible(&none, &kernel);
	}
	if (!plausible) {
		ncs_lane_lose(lane, NCS_LOSS_BAD_PTIMER);
		return false;
	}
	span->record.value = span->gpu_start_ns;
	span->record.number = span->gpu_stop_ns - span->gpu_start_ns;
	return true;
}

/* Ends a kernel channel or phase: checks the GPU's times, and ends the child of
 * the operation. */
static void end_kernel(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_span_slot *span, uint64_t now)
{
	bool timed = kernel_times(comm, lane, span, now);

	if (span->record.event == NCS_EVENT_KERNEL_CH)
		ncs_operation_kernel_done(comm, lane, span->operation_handle,
					  timed ? span->gpu_start_ns : 0,
					  timed ? span->gpu_stop_ns : 0, now);
}

void ncs_span_stop(struct ncs_comm *comm, struct ncs_lane_state *lane,
		   const struct ncs_handle *handle, struct ncs_span_slot *span,
		   uint64_t now)
{
	struct ncs_lane *home = comm->lanes[handle->lane].published;
	unsigned event = span->record.event;
	uint64_t words[NCS_RECORD_WORDS], flags = 0;
	bool published = true;

	if (ncs_span_is_child(event)) {
		/* Decided before the operation ends, perhaps with this
		 * kernel. */
		published = ncs_sampling_publishes(&span->sampled,
						   span->operation_handle, now);
		if (event != NCS_EVENT_NET_PLUGIN)
			end_kernel(comm, lane, span, now);
		flags = ncs_sampling_flags(&span->sampled);
	} else if (ncs_load_relaxed(&home->open_since[event]) ==
		   span->record.start) {
		ncs_store_relaxed(&home->open_since[event], 0);
	}
	if (published) {
		for (unsigned i = 0; i < NCS_RECORD_WORDS; i++)
			words[i] = i == NCS_DURATION_WORD ?
					   now - span->record.start :
					   span->words[i];
		words[1] |= ncs_record_word1(0, (unsigned)flags, 0, 0);
		if (ncs_lane_is_call(event) && !lane->shared)
			ncs_ring_put_words(ncs_lane_calls(lane), words);
		else
			ncs_lane_publish_words(lane, words);
	}
	/* ORDER: pairs with claim() (plugin/events/span.c) and with
	 * ncs_call_on_start() (plugin/events/call.h): the slot's next use comes
	 * after this one. */
	ncs_store_release(&span->tag, ncs_load_relaxed(&span->tag) + 1);
}
