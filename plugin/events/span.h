/* SPDX-License-Identifier: MIT */
/* Spans: events that have a start, a stop and nothing more: groups, API calls,
 * launches, kernel channels and phases, copy-engine and network-plugin events.
 *
 * Called by callbacks: no lock, no allocation, no system call. Only a lane's
 * own thread claims its slots; any thread may free them. call.h has a shorter way
 * for the spans of a call.
 */
#ifndef NCS_PLUGIN_EVENTS_SPAN_H
#define NCS_PLUGIN_EVENTS_SPAN_H

#include "plugin/state/comm.h"
#include "plugin/state/handle.h"
#include "plugin/state/lane.h"

/* Returns true if spans of this type are children of operations. Any other starts
 * and stops on the same thread, so that the lane publishes that its thread is
 * inside it. */
static inline bool ncs_span_is_child(unsigned event)
{
	return event == NCS_EVENT_KERNEL_CH ||
	       event == NCS_EVENT_KERNEL_PHASE || event == NCS_EVENT_NET_PLUGIN;
}

/* Claims a free slot; NULL if there is none. */
struct ncs_span_slot *ncs_span_claim(struct ncs_lane_state *lane);

/* Returns the handle of a slot's span, which has this tag. */
static inline uint64_t ncs_span_handle(const struct ncs_lane_state *lane,
				       uint64_t slot, uint64_t tag)
{
	return lane->span_handle | slot << NCS_HANDLE_SLOT_SHIFT |
	       tag << NCS_HANDLE_TAG_SHIFT;
}

/* Starts a span's record in a slot. */
static inline void ncs_span_begin(struct ncs_span_slot *span,
				  enum ncs_event event, uint64_t now)
{
	span->words[0] = now;
	span->words[1] = ncs_record_word1(event, 0, 0, 0);
	span->words[2] = ncs_record_word2(0, -1);
	span->words[3] = span->words[4] = 0;
	span->words[6] = span->words[7] = 0;
}

/* Publishes the record of a span that is not a child, in its own lane, which is
 * not the shared one. */
static inline void ncs_span_publish(struct ncs_lane_state *lane,
				    const struct ncs_span_slot *span,
				    uint64_t duration)
{
	const uint64_t words[NCS_RECORD_WORDS] = {
		span->words[0], span->words[1], span->words[2], span->words[3],
		span->words[4], duration,       span->words[6], span->words[7],
	};

	ncs_ring_put_words(ncs_lane_is_call(span->record.event) ?
				   ncs_lane_calls(lane) :
				   &lane->ring,
			   words);
}

/* Claims a slot and starts the span's record. Returns NULL if all slots are in
 * use, which is counted; *handle is a stand-in then. */
struct ncs_span_slot *ncs_span_start(struct ncs_comm *comm,
				     struct ncs_lane_state *lane,
				     enum ncs_event event, uint64_t now,
				     uint64_t *handle);

/* Returns the span of a handle; NULL if the handle is stale. */
struct ncs_span_slot *ncs_span_find(struct ncs_comm *comm,
				    const struct ncs_handle *handle);

/* Publishes the record and frees the slot. */
void ncs_span_stop(struct ncs_comm *comm, struct ncs_lane_state *lane,
		   const struct ncs_handle *handle, struct ncs_span_slot *span,
		   uint64_t now);

#endif
