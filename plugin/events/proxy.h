/* SPDX-License-Identifier: MIT */
/* Proxy operations (of one channel, direction and peer each), and the states of
 * the proxy thread. The steps of proxy operations are in step.h.
 *
 * Called by callbacks, normally on the communicator's proxy thread only: no
 * lock, no allocation, no system call. If several threads call at the same
 * time, numbers may be wrong, but nothing breaks: every index is checked and
 * every loop is bounded.
 */
#ifndef NCS_PLUGIN_EVENTS_PROXY_H
#define NCS_PLUGIN_EVENTS_PROXY_H

#include "plugin/state/comm.h"
#include "plugin/state/handle.h"
#include "plugin/nccl/nccl_abi.h"

/* Starts a proxy operation and returns the handle for NCCL; a stand-in if there
 * is no free slot. */
uint64_t ncs_proxy_op_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
			    uint64_t parent, const struct nccl_proxy_op *facts,
			    uint64_t now);

/* Returns the proxy operation of a handle, which may be any value; NULL if
 * there is none. */
struct ncs_proxy_op_slot *ncs_proxy_op_find(struct ncs_comm *comm,
					    uint64_t handle);

/* Handles states 0-7 and 19. `cumulative_bytes` is NULL if NCCL did not report
 * it. */
void ncs_proxy_op_state(struct ncs_proxy_op_slot *op, unsigned state,
			const uint64_t *cumulative_bytes, uint64_t now);

/* Publishes the record of a proxy operation and frees its slot. */
void ncs_proxy_op_stop(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_proxy_op_slot *op, uint64_t now);

/* Starts a ProxyCtrl event, of which each thread has one at a time, and returns
 * its handle. NCCL starts the event together with its first state and stops it
 * together with its last one, so the states give the times. */
uint64_t ncs_ctrl_start(struct ncs_comm *comm, struct ncs_lane_state *lane);

/* Returns the lane of a ProxyCtrl event; NULL if the handle is stale. */
struct ncs_lane_state *ncs_ctrl_find(struct ncs_comm *comm,
				     const struct ncs_handle *handle);

/* Handles states 13-18. `appended` is the number of operations appended, used
 * for state 18 only. */
void ncs_ctrl_state(struct ncs_comm *comm, struct ncs_lane_state *owner,
		    unsigned state, uint64_t appended, uint64_t now);

/* Ends the event. Publishes its record, unless it is idle or active. */
void ncs_ctrl_stop(struct ncs_lane_state *lane, struct ncs_lane_state *owner);

#endif
