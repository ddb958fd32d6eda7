/* SPDX-License-Identifier: MIT */
/* Collective and point-to-point operations, from enqueueing to their end.
 *
 * The stop of a Coll or P2p event is only the end of enqueueing. An operation
 * is finished when its last child (proxy operation or kernel channel) is. NCCL
 * does not say how many children there will be, so an operation counts as
 * finished whenever none is in progress; if another child starts, that is
 * undone.
 *
 * Called by callbacks on launching threads and the proxy thread at once: no
 * lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_EVENTS_OPERATION_H
#define NCS_PLUGIN_EVENTS_OPERATION_H

#include "plugin/state/comm.h"
#include "plugin/state/handle.h"

/* Starts an operation and returns its handle; a stand-in if there is no free
 * slot. */
uint64_t ncs_operation_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
			     const struct ncs_operation_facts *facts,
			     uint64_t now);

/* Ends enqueueing. Returns false if the handle, which may be any value, is not
 * an operation's, is stale, or was stopped before. */
bool ncs_operation_stop(struct ncs_comm *comm, uint64_t handle, uint64_t now);

/* Starts a child of an operation and returns the operation, which keeps its
 * slot until the child ends. Returns NULL if the handle, which may be any
 * value, is not an operation's or is stale; the child's end must then not be
 * reported. */
struct ncs_operation_slot *
ncs_operation_child_started(struct ncs_comm *comm, struct ncs_lane_state *lane,
			    uint64_t handle, uint64_t now);

/* End a child. Do nothing if `handle` is 0 or stale. Times of the GPU are 0 if
 * unknown. */
void ncs_operation_proxy_done(struct ncs_comm *comm,
			      struct ncs_lane_state *lane, uint64_t handle,
			      uint64_t start, uint64_t now);
void ncs_operation_kernel_done(struct ncs_comm *comm,
			       struct ncs_lane_state *lane, uint64_t handle,
			       uint64_t gpu_start_ns, uint64_t gpu_stop_ns,
			       uint64_t now);

/* Drops a child that NCCL never stopped, without counting the operation. */
void ncs_operation_child_forgotten(struct ncs_comm *comm, uint64_t handle);

/* The kernel of the operation's launch was seen to have begun, at the latest at
 * `now`. For the watch thread. */
void ncs_operation_launch_began(struct ncs_operation_slot *op, uint64_t now);

/* A launch that is over, as far as it is known. */
struct ncs_launch_end {
	uint64_t begin;   /* when its kernel began, in ticks; 0: unknown */
	uint64_t time_ns; /* how long its kernel took; 0: unknown */
	uint64_t bytes;   /* messages of all its operations */
};

/* Ends the launch with this number of an operation that has joined it, or is
 * about to; does nothing if it was ended before. For the watch thread. */
void ncs_operation_launch_done(struct ncs_comm *comm,
			       struct ncs_lane_state *lane,
			       struct ncs_operation_slot *op, uint64_t launch,
			       const struct ncs_launch_end *end, uint64_t now);

/* Starts an operation of a launch in a replayed graph, which began at `begin`, in
 * ticks; the lane's launch number is the launch's. Returns its handle. For the
 * watch thread. */
uint64_t ncs_operation_replay_began(struct ncs_comm *comm,
				    struct ncs_lane_state *lane,
				    const struct ncs_operation_facts *facts,
				    uint64_t begin);

/* Ends it with its launch. */
void ncs_operation_replay_ended(struct ncs_comm *comm,
				struct ncs_lane_state *lane, uint64_t handle,
				const struct ncs_launch_end *end, uint64_t now);

/* Ends an operation that has no children, did not join its launch, and whose
 * launch is at most number `launch`, which is over; does nothing if it is not such
 * an operation. For the watch thread. */
void ncs_operation_end_unfollowed(struct ncs_comm *comm,
				  struct ncs_lane_state *lane,
				  struct ncs_operation_slot *op,
				  uint64_t launch, uint64_t now);

#endif
