/* SPDX-License-Identifier: MIT */
/* The proxy's work: operations of one channel, direction and peer, and the
 * proxy thread's own states. Their steps are in step.h.
 *
 * Called by callbacks, normally by one thread only, the communicator's proxy
 * thread. Should several call at once, numbers may be wrong, but nothing
 * breaks: every index is checked and every loop is bounded.
 */
#ifndef NCS_PLUGIN_EVENTS_PROXY_H
#define NCS_PLUGIN_EVENTS_PROXY_H

#include "plugin/state/comm.h"
#include "plugin/state/handle.h"
#include "plugin/nccl/nccl_abi.h"

/* Returns the handle for NCCL. */
uint64_t ncs_proxy_op_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
			    uint64_t parent, const struct nccl_proxy_op *facts,
			    uint64_t now);

/* NULL: the handle is stale. */
struct ncs_proxy_op *ncs_proxy_op_find(struct ncs_comm *comm, uint64_t handle);

/* States 0-7 and 19; `cumulative_bytes` NULL: not told. */
void ncs_proxy_op_state(struct ncs_proxy_op *op, unsigned state,
			const uint64_t *cumulative_bytes, uint64_t now);
void ncs_proxy_op_stop(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_proxy_op *op, uint64_t now);

/* ProxyCtrl: one event under way a thread. NCCL starts it with its first state
 * and stops it with its last one, so these tell the time. */
uint64_t ncs_ctrl_start(struct ncs_comm *comm, struct ncs_lane_state *lane);
/* The lane whose event this is; NULL: the handle is stale. */
struct ncs_lane_state *ncs_ctrl_find(struct ncs_comm *comm,
				     const struct ncs_handle *handle);
/* States 13-18; `appended` counts at 18 only. */
void ncs_ctrl_state(struct ncs_comm *comm, struct ncs_lane_state *owner,
		    unsigned state, uint64_t appended, uint64_t now);
void ncs_ctrl_stop(struct ncs_lane_state *lane, struct ncs_lane_state *owner);

#endif
