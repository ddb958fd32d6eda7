/* SPDX-License-Identifier: MIT */
/* What a communicator's calls and operations add to the range that they were
 * called in (range_stack.h): the tables of ranges in its segment.
 *
 * Called by callbacks, by launching threads and the proxy thread at once.
 * Without ranges each of these is a comparison.
 */
#ifndef NCS_PLUGIN_EVENTS_RANGE_STATS_H
#define NCS_PLUGIN_EVENTS_RANGE_STATS_H

#include "plugin/state/noted_calls.h"
#include "plugin/state/comm.h"

/* A call (CollApi, P2pApi) has begun: counts it in the range that it is in.
 * Returns the range's number, 0: none. */
uint32_t ncs_range_call(struct ncs_comm *comm, struct ncs_lane_state *lane,
			unsigned function);

/* The range of an operation that starts on this thread: its call's, which may
 * be long over, NULL: it is not noted any more; the thread's own where the
 * parent is no call's handle. */
uint32_t ncs_range_of_operation(struct ncs_comm *comm,
				struct ncs_lane_state *lane, uint64_t parent,
				const struct ncs_noted_call *call);

/* An operation has been started. */
void ncs_range_operation(struct ncs_comm *comm, const struct ncs_op *op);

/* Its first child ever has; its only one under way has, or has ended. */
void ncs_range_first_child(struct ncs_comm *comm, const struct ncs_op *op);
void ncs_range_begin(struct ncs_comm *comm, uint32_t number, uint64_t now);
void ncs_range_end_busy(struct ncs_comm *comm, uint32_t number, uint64_t now);

/* A time of it is known: in place of the one before, plus 1, 0: there was
 * none. */
void ncs_range_time(struct ncs_comm *comm, struct ncs_lane_state *lane,
		    const struct ncs_op *op, enum ncs_timing timing,
		    uint64_t ns, uint64_t before);

/* A proxy operation of this operation is over: what its channel's times have
 * grown by is its range's. */
void ncs_range_channel(struct ncs_comm *comm,
		       const struct ncs_channel_queue *queue,
		       const struct ncs_op *op);

/* Where a communicator counts what was launched in a range; NULL: in none, or
 * in one that it has no room for. */
struct ncs_gpu_time *ncs_range_gpu_time(struct ncs_comm *comm, uint32_t number);

/* A mark of the program's. */
struct ncs_range_name;
void ncs_range_mark(const struct ncs_range_name *name);

/* A range of the program's cannot be followed. */
void ncs_range_lose(void);

#endif
