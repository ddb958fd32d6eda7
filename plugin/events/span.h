/* SPDX-License-Identifier: MIT */
/* Spans: events that have a start, a stop and nothing more: groups, API calls,
 * launches, kernel channels and phases, copy-engine and network-plugin events.
 *
 * Called by callbacks: no lock, no allocation, no system call. Only a lane's
 * own thread claims its slots; any thread may free them.
 */
#ifndef NCS_PLUGIN_EVENTS_SPAN_H
#define NCS_PLUGIN_EVENTS_SPAN_H

#include "plugin/state/comm.h"
#include "plugin/state/handle.h"

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
