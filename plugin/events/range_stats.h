/* SPDX-License-Identifier: MIT */
/* Statistics of ranges: what a communicator's calls and operations add to the
 * ranges that they were called in, in the tables of its segment.
 *
 * Called by callbacks on launching threads and the proxy thread at the same
 * time: no lock, no allocation, no system call. Without ranges each of these
 * functions is a comparison. state/range_stack.h knows which range a thread is
 * in.
 */
#ifndef NCS_PLUGIN_EVENTS_RANGE_STATS_H
#define NCS_PLUGIN_EVENTS_RANGE_STATS_H

#include "plugin/state/noted_calls.h"
#include "plugin/state/comm.h"

/* Counts a call (CollApi, P2pApi) that starts on this thread in its range.
 * Returns the range's number; 0 if there is none. */
uint32_t ncs_range_call(struct ncs_comm *comm, struct ncs_lane_state *lane,
			unsigned function);

/* Returns the number of the range of an operation that starts on this thread, 0
 * if there is none: the range of its call, if `parent` is a call's handle; else
 * the thread's own. `call` is NULL if the call is no longer noted. */
uint32_t ncs_range_of_operation(struct ncs_comm *comm,
				struct ncs_lane_state *lane, uint64_t parent,
				const struct ncs_noted_call *call);

/* Counts an operation that starts in a range, whose number is not 0. */
void ncs_range_operation(struct ncs_comm *comm, uint32_t number,
			 bool size_known, uint64_t bytes);

/* Count in a range: an operation whose first child starts; an operation that
 * begins to have children in progress; an operation that has none in progress
 * any more. The range is that of `op`, or has this number. */
void ncs_range_first_child(struct ncs_comm *comm,
			   const struct ncs_operation_slot *op);
void ncs_range_begin(struct ncs_comm *comm, uint32_t number, uint64_t now);
void ncs_range_end_busy(struct ncs_comm *comm, uint32_t number, uint64_t now);

/* Adds the time of an operation, replacing the time that was added for it
 * before: `before` is that time plus 1; 0 if there was none. `bytes` is the size
 * of its message, or of all messages of its launch. */
void ncs_range_time(struct ncs_comm *comm, struct ncs_lane_state *lane,
		    const struct ncs_operation_slot *op, enum ncs_timing timing,
		    uint64_t ns, uint64_t bytes, uint64_t before);

/* Adds the time that a channel has spent in each state since the last call to
 * the range of `op` (NULL if unknown). Call it when a proxy operation of `op`
 * ends. */
void ncs_range_channel(struct ncs_comm *comm,
		       const struct ncs_channel_queue *queue,
		       const struct ncs_operation_slot *op);

/* Returns the place where a communicator sums up the kernels launched in a
 * range; NULL if `number` is 0, or if the communicator has no room for the
 * range. */
struct ncs_gpu_time *ncs_range_gpu_time(struct ncs_comm *comm, uint32_t number);

/* Publishes a mark of the program. */
struct ncs_range_name;
void ncs_range_mark(const struct ncs_range_name *name);

/* Counts a range of the program that cannot be followed. */
void ncs_range_lose(void);

#endif
