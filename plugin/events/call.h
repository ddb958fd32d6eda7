/* SPDX-License-Identifier: MIT */
/* The spans of a call: groups, API calls and launches, on a thread with a lane of
 * its own. A call over NVLink has nothing else but its operation.
 *
 * A program's other work has filled the caches since the call before, so that
 * each cache line costs a miss, of code as well. Therefore each function here is
 * one straight run of code for all of these types, and touches few lines. Other
 * cases are left to callbacks.h. Called by callbacks: no lock, no allocation, no
 * system call.
 *
 * To read the time takes 10 to 25 ns, as much as the rest of a short callback.
 * Therefore callbacks that NCCL makes one directly after the other share one
 * reading: it does nothing between them (src/enqueue.cc and src/group.cc of 2.28 to
 * 2.30).
 */
#ifndef NCS_PLUGIN_EVENTS_CALL_H
#define NCS_PLUGIN_EVENTS_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/events/control_watch.h"
#include "plugin/events/decode.h"
#include "plugin/events/launch.h"
#include "plugin/events/operation.h"
#include "plugin/events/span.h"
#include "plugin/mask/mask.h"
#include "plugin/nccl/nccl_abi.h"
#include "plugin/state/lane.h"
#include "plugin/state/registry.h"

#define NCS_CALL_GROUPS (1u << NCS_EVENT_GROUP | 1u << NCS_EVENT_GROUP_API)
#define NCS_CALL_APIS (1u << NCS_EVENT_COLL_API | 1u << NCS_EVENT_P2P_API)
#define NCS_CALL_SPANS \
	(NCS_CALL_GROUPS | NCS_CALL_APIS | 1u << NCS_EVENT_KERNEL_LAUNCH)

/* An API call (CollApi, P2pApi) starts: counts it, notes it for its operations
 * and its launch, and fills in its record. `span` is NULL if it is not
 * followed. */
void ncs_call_api(struct ncs_comm *comm, struct ncs_lane_state *lane,
		  struct ncs_span_slot *span, uint64_t handle,
		  enum ncs_event event, uint64_t parent, const void *body,
		  uint64_t now);

/* A launch starts; `span` as above. NCCL says with each call whether it is
 * captured into a graph, and launches a group's calls into the same graph, or
 * all into none. */
static inline void ncs_call_launch(struct ncs_comm *comm,
				   struct ncs_lane_state *lane,
				   struct ncs_span_slot *span, uint64_t handle,
				   uint64_t parent, const void *body,
				   uint64_t now)
{
	struct ncs_kernel_launch launch = {
		.handle = span ? handle : 0,
		.stream = ncs_decode_launch_stream(body),
		.now = now,
		.eager = parent != 0 && parent == lane->call_group &&
			 !lane->call.captured,
	};

	ncs_store_relaxed(&lane->launched, now);
	ncs_launch_start(comm, lane, &launch);
	if (span)
		span->record.delta[0] = NCS_RECORD_STREAM(launch.stream);
}

/* An operation (Coll, P2p) starts. Returns its handle. `parent` may be any
 * value. */
uint64_t ncs_call_operation(unsigned api_version, struct ncs_comm *comm,
			    struct ncs_lane_state *lane, enum ncs_event event,
			    uint64_t parent, int rank, const void *body,
			    uint64_t now);

/* Returns the calling thread's lane in a communicator; NULL if that is not live,
 * or if the thread has no lane of its own there. */
static inline struct ncs_lane_state *ncs_call_lane(const struct ncs_comm *comm)
{
	struct ncs_lane_state *lane = comm->lane_of_thread[ncs_thread.index];

	return ncs_comm_is_live(comm) && lane && !lane->shared ? lane : NULL;
}

/* Callbacks that may take the time of the one before: starts of events, as bits of
 * NCCL's mask; the stop of a Group; and the two states of a GroupApi. */
#define NCS_TAKER_GROUP_STOP (1u << 29)
#define NCS_TAKER_GROUP_BEGUN (1u << 30)
#define NCS_TAKER_GROUP_ENDS (1u << 31)

/* Returns the callbacks that NCCL makes directly after the start of an event. If NCCL is
 * not asked for one of them, the next callback of the thread is another one, whose own
 * note takes the place of this one. */
static inline uint32_t ncs_call_after_start(uint64_t type)
{
	if (type == 1u << NCS_EVENT_GROUP_API)
		return NCS_CALL_APIS | NCS_TAKER_GROUP_BEGUN;
	if (type == 1u << NCS_EVENT_GROUP)
		return 1u << NCS_EVENT_COLL;
	return 0;
}

/* Returns those directly after the stop of one. A group that one call has begun ends
 * with it. */
static inline uint32_t ncs_call_after_stop(unsigned event)
{
	if (event == NCS_EVENT_KERNEL_LAUNCH)
		return 1u << NCS_EVENT_GROUP;
	if (1u << event & NCS_CALL_APIS)
		return NCS_TAKER_GROUP_ENDS;
	return 0;
}

/* Returns the time of a callback, which is `taker`, and notes for which it may be the
 * time as well. */
static inline uint64_t ncs_call_now(uint64_t taker, uint32_t next)
{
	if (!(taker & ncs_thread.takers))
		ncs_thread.latest = ncs_now();
	ncs_thread.takers = next;
	return ncs_thread.latest;
}

/* Counts an event that starts, in a lane that ncs_call_lane() returned. */
static inline void ncs_call_count(struct ncs_lane *published, unsigned event,
				  uint64_t now)
{
	ncs_store_relaxed(&published->last_call, now);
	ncs_store_relaxed(&published->events[event],
			  ncs_load_relaxed(&published->events[event]) + 1);
}

/* A function that only fetches lines must be inlined from the start: GCC takes it
 * for one without effects, and would drop the call. */
#define NCS_CALL_FETCHING static inline __attribute__((always_inline)) void

/* Fetches a cache line that will be written. */
NCS_CALL_FETCHING ncs_call_fetch(const void *line)
{
	__builtin_prefetch(line, 1);
}

/* Fetches a ring's head and the places of its next two records: a call leaves
 * two in each ring. */
NCS_CALL_FETCHING
ncs_call_fetch_records(const struct ncs_ring_producer *ring)
{
	ncs_call_fetch(ring->ring);
	ncs_call_fetch(&ring->records[ring->position & ring->mask]);
	ncs_call_fetch(&ring->records[(ring->position + 1) & ring->mask]);
}

/* A group of calls begins: fetches what its calls will need, all at once, so that
 * they need not wait for one line after the other. */
NCS_CALL_FETCHING ncs_call_expect(const struct ncs_comm *comm,
				  const struct ncs_lane_state *lane,
				  uint64_t slot)
{
	/* Rings come first: their pages are the least likely to be known. */
	if (lane->calls.ring)
		ncs_call_fetch_records(&lane->calls);
	ncs_call_fetch_records(&lane->ring);
	ncs_call_fetch(&lane->launched);
	ncs_call_fetch(&lane->call_handle);
	__builtin_prefetch(&comm->operations);
	__builtin_prefetch(&lane->names.of[NCS_NAME_FUNCTION]);
	__builtin_prefetch(&lane->names.of[NCS_NAME_ALGORITHM]);
	ncs_call_fetch(&comm->header->filled.operations);
	ncs_call_fetch(&lane->spans[(slot + 1) % NCS_SPAN_MAX]);
	ncs_call_fetch(&lane->published->events[NCS_EVENT_GROUP]);
	ncs_call_fetch(&lane->published->open_since[NCS_EVENT_GROUP]);
	ncs_call_fetch(&lane->published->functions[NCS_FUNCTION_ALL_REDUCE]);
	ncs_call_fetch(&comm->counted);
}

/* Handles startEvent of a span whose type is in NCS_CALL_SPANS, of API 5 or
 * later. Returns false, and does nothing, if it is another case. */
static inline bool ncs_call_on_start(const void *context_pointer,
				     const struct nccl_event_descr_v5 *descr,
				     uint64_t *handle)
{
	uint64_t context = (uint64_t)(uintptr_t)context_pointer;
	uint64_t type = descr->type, slot, tag, now;
	struct ncs_comm *comm =
		&ncs_registry.comms[context >> 1 & (NCS_COMM_MAX - 1)];
	struct ncs_lane_state *lane = ncs_call_lane(comm);
	const void *body = &descr->proxy_op;
	struct ncs_span_slot *span;
	unsigned event;

	/* A live communicator's context is not 0. */
	if (!lane || ncs_load_relaxed(&comm->context) != context ||
	    type & (type - 1))
		return false;
	slot = ncs_load_relaxed(&lane->span_hint) % NCS_SPAN_MAX;
	span = &lane->spans[slot];
	/* ORDER: pairs with ncs_span_stop() (plugin/events/span.c): another
	 * thread may have freed the slot. */
	tag = ncs_load_acquire(&span->tag) + 1;
	if (__builtin_expect(!(tag & 1), 0))
		return false;
	event = (unsigned)__builtin_ctzll(type);
	now = ncs_call_now(type, ncs_call_after_start(type));
	ncs_store_relaxed(&span->tag, tag);
	ncs_store_relaxed(&lane->span_hint, slot + 1);
	ncs_span_begin(span, (enum ncs_event)event, now);
	ncs_call_count(lane->published, event, now);
	ncs_store_relaxed(&lane->published->open_since[event], now);
	*handle = ncs_span_handle(lane, slot, tag);
	if (type & NCS_CALL_APIS) {
		ncs_call_api(comm, lane, span, *handle, (enum ncs_event)event,
			     (uint64_t)(uintptr_t)descr->parent, body, now);
	} else if (type & NCS_CALL_GROUPS) {
		ncs_mask_check(comm);
		ncs_control_check(lane, now);
		if (type == 1u << NCS_EVENT_GROUP_API) {
			ncs_decode_group_api(body, &span->record);
			ncs_call_expect(comm, lane, slot);
		}
	} else {
		ncs_call_launch(comm, lane, span, *handle,
				(uint64_t)(uintptr_t)descr->parent, body, now);
	}
	return true;
}

/* Returns the span of a handle, which may be any value, if it is of a type in `events`
 * and in a lane that ncs_call_lane() returned; else NULL. */
static inline struct ncs_span_slot *
ncs_call_span(struct ncs_lane_state *lane, uint64_t handle, uint32_t events)
{
	uint64_t slot = handle >> NCS_HANDLE_SLOT_SHIFT & 0x3ff, tag;
	struct ncs_span_slot *span;

	if (!lane || slot >= NCS_SPAN_MAX)
		return NULL;
	span = &lane->spans[slot];
	tag = ncs_load_relaxed(&span->tag);
	return __builtin_expect(
		       tag & 1 && ncs_span_handle(lane, slot, tag) == handle &&
			       1u << span->record.event & events,
		       1) ?
		       span :
		       NULL;
}

/* Handles stopEvent of such a span; returns false as above. */
static inline bool ncs_call_on_stop(const void *pointer)
{
	uint64_t handle = (uint64_t)(uintptr_t)pointer, start, now;
	struct ncs_comm *comm = &ncs_registry.comms[ncs_handle_comm(handle)];
	struct ncs_lane_state *lane = ncs_call_lane(comm);
	struct ncs_span_slot *span =
		ncs_call_span(lane, handle, NCS_CALL_SPANS);
	uint64_t *open_since;
	unsigned event;

	if (!span)
		return false;
	event = span->record.event;
	now = ncs_call_now(event == NCS_EVENT_GROUP ? NCS_TAKER_GROUP_STOP : 0,
			   ncs_call_after_stop(event));
	ncs_lane_note_call(lane, now);
	if (event == NCS_EVENT_KERNEL_LAUNCH)
		ncs_launch_stop(comm, lane, handle,
				(void *)(uintptr_t)NCS_RECORD_STREAM_HANDLE(
					span->record.delta[0]));
	start = span->words[0];
	open_since = &lane->published->open_since[event];
	if (ncs_load_relaxed(open_since) == start)
		ncs_store_relaxed(open_since, 0);
	ncs_span_publish(lane, span, now - start);
	/* Events nest, so that few slots are used, and stay in the cache. */
	ncs_store_relaxed(&lane->span_hint, (uint64_t)(span - lane->spans));
	/* ORDER: pairs with claim() (plugin/events/span.c). */
	ncs_store_release(&span->tag, ncs_load_relaxed(&span->tag) + 1);
	return true;
}

/* Handles recordEventState of a GroupApi; returns false as above. */
static inline bool ncs_call_on_state(const void *pointer, unsigned state)
{
	uint64_t handle = (uint64_t)(uintptr_t)pointer, now;
	struct ncs_comm *comm = &ncs_registry.comms[ncs_handle_comm(handle)];
	bool begun = state == NCCL_STATE_GROUP_START_API_STOP;
	struct ncs_lane_state *lane;
	struct ncs_span_slot *span;

	if (!begun && state != NCCL_STATE_GROUP_END_API_START)
		return false;
	lane = ncs_call_lane(comm);
	span = ncs_call_span(lane, handle, 1u << NCS_EVENT_GROUP_API);
	if (!span)
		return false;
	/* Calls between ncclGroupStart() and ncclGroupEnd() have a depth of 2 or
	 * more, and the program's work may come after the last one. */
	if (begun)
		now = ncs_call_now(NCS_TAKER_GROUP_BEGUN, NCS_CALL_APIS);
	else
		now = ncs_call_now(
			span->record.number == 1 ? NCS_TAKER_GROUP_ENDS : 0, 0);
	ncs_lane_note_call(lane, now);
	/* 0 is that of a point that was not reached. */
	span->record.delta[begun ? 0 : 1] =
		now > span->record.start ? now - span->record.start : 1;
	return true;
}

/* Handles startEvent of a collective, of API 5 or later; returns false as
 * above. */
static inline bool
ncs_call_on_start_coll(unsigned api_version, const void *context_pointer,
		       const struct nccl_event_descr_v5 *descr,
		       uint64_t *handle)
{
	uint64_t context = (uint64_t)(uintptr_t)context_pointer, now;
	struct ncs_comm *comm =
		&ncs_registry.comms[context >> 1 & (NCS_COMM_MAX - 1)];
	struct ncs_lane_state *lane = ncs_call_lane(comm);

	if (!lane || ncs_load_relaxed(&comm->context) != context)
		return false;
	now = ncs_call_now(1u << NCS_EVENT_COLL, 0);
	ncs_call_count(lane->published, NCS_EVENT_COLL, now);
	*handle = ncs_call_operation(api_version, comm, lane, NCS_EVENT_COLL,
				     (uint64_t)(uintptr_t)descr->parent,
				     descr->rank, &descr->coll, now);
	return true;
}

/* Handles stopEvent of an operation; returns false as above. */
static inline bool ncs_call_on_stop_operation(const void *pointer)
{
	uint64_t handle = (uint64_t)(uintptr_t)pointer, now;
	struct ncs_comm *comm = &ncs_registry.comms[ncs_handle_comm(handle)];
	struct ncs_lane_state *lane = ncs_call_lane(comm);

	if (!lane)
		return false;
	now = ncs_call_now(0, NCS_TAKER_GROUP_STOP);
	ncs_lane_note_call(lane, now);
	return ncs_operation_stop(comm, handle, now);
}

#endif
