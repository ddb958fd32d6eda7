/* SPDX-License-Identifier: MIT */
/* Collective and point-to-point operations, from enqueueing to their end.
 *
 * Coll's and P2p's own stop is only the end of enqueueing. An operation is
 * finished when its last proxy operation or kernel channel is; as NCCL does
 * not tell how many there will be, it counts as finished whenever none is
 * under way, and that is taken back when another one starts.
 *
 * Called by callbacks, by launching threads and the proxy thread at once.
 */
#ifndef NCS_PLUGIN_EVENTS_OPERATION_H
#define NCS_PLUGIN_EVENTS_OPERATION_H

#include "plugin/state/comm.h"
#include "plugin/state/decoded.h"
#include "plugin/state/handle.h"

/* Returns the handle. */
uint64_t ncs_operation_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
			     const struct ncs_operation_facts *facts,
			     uint64_t now);

/* Enqueueing has ended. False if the handle is none of an operation, stale, or
 * stopped before. */
bool ncs_operation_stop(struct ncs_comm *comm, uint64_t handle, uint64_t now);

/* A child starts. NULL if the handle is none of an operation, or stale: then
 * nothing is to be done when it ends; else the operation, whose slot stays its
 * own until then. */
struct ncs_op *ncs_operation_child_started(struct ncs_comm *comm,
					   struct ncs_lane_state *lane,
					   uint64_t handle, uint64_t now);

/* A child ends. `handle` 0 or stale: nothing. GPU times 0: not known. */
void ncs_operation_proxy_done(struct ncs_comm *comm,
			      struct ncs_lane_state *lane, uint64_t handle,
			      uint64_t start, uint64_t now);
void ncs_operation_kernel_done(struct ncs_comm *comm,
			       struct ncs_lane_state *lane, uint64_t handle,
			       uint64_t gpu_start_ns, uint64_t gpu_stop_ns,
			       uint64_t now);

/* A child that NCCL never stopped is given up: no end is recorded. */
void ncs_operation_child_forgotten(struct ncs_comm *comm, uint64_t handle);

#endif
