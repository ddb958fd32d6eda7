/* SPDX-License-Identifier: MIT */
/* Slots of spans; see span.h. */
#include "plugin/events/span.h"

#include <string.h>

#include "plugin/events/kernel.h"
#include "plugin/state/lane.h"
#include "plugin/events/operation.h"
#include "plugin/events/sampling.h"

/* Event types that start and stop on the same thread. Only for these does the
 * lane publish that its thread is inside such an event. */
#define ON_ONE_THREAD \
	(1u << NCS_EVENT_GROUP | 1u << NCS_EVENT_GROUP_API | \
	 1u << NCS_EVENT_COLL_API | 1u << NCS_EVENT_P2P_API | \
	 1u << NCS_EVENT_KERNEL_LAUNCH | 1u << NCS_EVENT_CE_COLL | \
	 1u << NCS_EVENT_CE_SYNC | 1u << NCS_EVENT_CE_BATCH)

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

struct ncs_span_slot *ncs_span_start(struct ncs_comm *comm,
				     struct ncs_lane_state *lane,
				     enum ncs_event event, uint64_t now,
				     uint64_t *handle)
{
	/* Events nest, so the slot that was claimed last is free again, or the
	 * next one is. */
	unsigned first = (unsigned)ncs_load_relaxed(&lane->span_hint);

	for (unsigned i = 0; i < NCS_SPAN_MAX; i++) {
		unsigned slot = (first + i) % NCS_SPAN_MAX;
		struct ncs_span_slot *span = &lane->spans[slot];

		if (!claim(lane, span))
			continue;
		ncs_store_relaxed(&lane->span_hint, slot);
		span->words[0] = now;
		span->words[1] = ncs_record_word1(event, 0, 0, 0);
		span->words[2] = ncs_record_word2(0, -1);
#pragma GCC unroll 8
		for (unsigned k = 3; k < NCS_RECORD_WORDS; k++)
			span->words[k] = 0;
		span->operation_handle = 0;
		ncs_sampling_clear(&span->sampled);
		span->gpu_start_ns = span->gpu_stop_ns = 0;
		span->since = 0;
		span->launched = false;
		if (1u << event & ON_ONE_THREAD)
			ncs_store_relaxed(&lane->published->open_since[event],
					  now);
		*handle = ncs_handle_encode(NCS_HANDLE_SPAN, comm->index, slot,
					    lane->index,
					    ncs_load_relaxed(&span->tag));
		return span;
	}
	ncs_lane_lose(lane, NCS_LOSS_POOL_FULL);
	*handle = ncs_handle_encode(NCS_HANDLE_UNTRACKED, comm->index, 0, 0, 0);
	return NULL;
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

void ncs_span_stop(struct ncs_comm *comm, struct ncs_lane_state *lane,
		   const struct ncs_handle *handle, struct ncs_span_slot *span,
		   uint64_t now)
{
	struct ncs_lane *home = comm->lanes[handle->lane].published;
	unsigned event = span->record.event;
	/* Decided before the operation ends, perhaps with this kernel. */
	bool published = ncs_sampling_publishes(&span->sampled,
						span->operation_handle, now);
	bool timed;

	if (event == NCS_EVENT_KERNEL_CH) {
		timed = ncs_kernel_times(comm, lane, span, now);
		ncs_operation_kernel_done(comm, lane, span->operation_handle,
					  timed ? span->gpu_start_ns : 0,
					  timed ? span->gpu_stop_ns : 0, now);
	} else if (event == NCS_EVENT_KERNEL_PHASE) {
		ncs_kernel_times(comm, lane, span, now);
	}
	if (ncs_load_relaxed(&home->open_since[event]) == span->record.start)
		ncs_store_relaxed(&home->open_since[event], 0);
	span->record.duration = now - span->record.start;
	if (published) {
		span->words[1] |= ncs_record_word1(
			0, ncs_sampling_flags(&span->sampled), 0, 0);
		ncs_lane_publish_words(lane, span->words);
	}
	/* ORDER: pairs with claim() (plugin/events/span.c): the slot's next use
	 * comes after this one. */
	ncs_store_release(&span->tag, ncs_load_relaxed(&span->tag) + 1);
}
