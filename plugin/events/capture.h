/* SPDX-License-Identifier: MIT */
/* Launches that are captured into CUDA graphs: puts stamps around those that are
 * chosen, and notes the operations of all for their replays.
 *
 * Called by callbacks of KernelLaunch, and of the operations that NCCL reports
 * after it, on the capturing thread, which has taken the communicator's launches
 * (plugin/events/launch.c). Calls the driver; the first captured launch of a
 * context makes the kernels and the ring, which takes up to a tenth of a second.
 * No lock.
 */
#ifndef NCS_PLUGIN_EVENTS_CAPTURE_H
#define NCS_PLUGIN_EVENTS_CAPTURE_H

#include "plugin/state/captured.h"
#include "plugin/state/launches.h"

/* Notes a launch on a stream that is being captured, whose operations are noted
 * from here on; puts its first stamp before it if it is chosen to have stamps. */
void ncs_capture_start(struct ncs_comm *comm, struct ncs_lane_state *lane,
		       struct ncs_launches *launches, void *stream);

/* Returns true if the lane's latest launch was captured and has its first
 * stamp. */
bool ncs_capture_is_stamped(const struct ncs_lane_state *lane);

/* Puts its second stamp after it. */
void ncs_capture_stop(struct ncs_comm *comm, const struct ncs_lane_state *lane,
		      const struct ncs_launches *launches, void *stream);

/* Notes an operation of the lane's latest launch, which was captured: it runs in
 * replays only. Does nothing if the launch was not noted. */
void ncs_capture_operation(const struct ncs_lane_state *lane,
			   const struct ncs_operation_facts *facts);

#endif
