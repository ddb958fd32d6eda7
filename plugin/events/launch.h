/* SPDX-License-Identifier: MIT */
/* Following NCCL's kernels on their stream: a CUDA event before and one after
 * the launch.
 *
 * KernelLaunch starts and stops on the launching thread, directly before and
 * after the kernel enters its stream, so that nothing else comes between the
 * two events. A launch is timed, or only followed, or left alone: two events
 * with times cost the stream some 3 to 5 us where kernels queue back to back;
 * two without times cost the host 1.4 us and the stream nothing (measured on an
 * H200). A launch that is being captured into a graph is left to capture.h; one in
 * a context that is not a device's primary one is left alone.
 *
 * Called by callbacks: no lock, no allocation, no system call. A launch that is
 * left alone makes no call of CUDA's driver if NCCL has said that it is not
 * captured; others make at most nine, and a communicator's first launch, which
 * retains the context, makes two events and starts the watch thread, six more.
 */
#ifndef NCS_PLUGIN_EVENTS_LAUNCH_H
#define NCS_PLUGIN_EVENTS_LAUNCH_H

#include "plugin/state/comm.h"
#include "plugin/state/launches.h"

/* A launch that starts. */
struct ncs_kernel_launch {
	uint64_t handle; /* its event's; 0 if it will not stop */
	void *stream;
	uint64_t now;
	bool eager; /* NCCL has said that it is not captured */
	/* Set by ncs_launch_start_followed(): to be timed, or not; whether its
	 * events have times. */
	enum ncs_launch_kind kind;
	bool has_time;
};

/* Do what the two functions below do, for a communicator whose launches are
 * followed. */
void ncs_launch_start_followed(struct ncs_comm *comm,
			       struct ncs_lane_state *lane,
			       struct ncs_launches *launches,
			       struct ncs_kernel_launch *launch);
void ncs_launch_stop_followed(struct ncs_comm *comm,
			      struct ncs_lane_state *lane,
			      struct ncs_launches *launches, uint64_t handle,
			      void *stream);

/* KernelLaunch starts: counts the launch, and records its first event if it is
 * to be followed. */
static inline void ncs_launch_start(struct ncs_comm *comm,
				    struct ncs_lane_state *lane,
				    struct ncs_kernel_launch *launch)
{
	struct ncs_launches *launches = ncs_launches_of(comm);

	if (launches)
		ncs_launch_start_followed(comm, lane, launches, launch);
}

/* KernelLaunch stops: records the second event of a launch that is followed,
 * and publishes it to the watch thread. */
static inline void ncs_launch_stop(struct ncs_comm *comm,
				   struct ncs_lane_state *lane, uint64_t handle,
				   void *stream)
{
	struct ncs_launches *launches = ncs_launches_of(comm);

	if (launches)
		ncs_launch_stop_followed(comm, lane, launches, handle, stream);
}

#endif
