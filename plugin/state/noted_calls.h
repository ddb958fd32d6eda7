/* SPDX-License-Identifier: MIT */
/* From a call (CollApi, P2pApi) to its operations: what they need of it and NCCL
 * does not tell again.
 *
 * A call is over before its operations start, and its handle's slot is another
 * event's; the operations of one that was captured into a CUDA graph start at
 * every launch of the graph. So the latest calls of each lane are noted, and
 * the latest captured ones.
 *
 * Called by callbacks on any thread: no lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_STATE_NOTED_CALLS_H
#define NCS_PLUGIN_STATE_NOTED_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* The largest number of a range that can be noted. */
#define NCS_CALL_RANGE_MAX UINT64_C(0xffff)

struct ncs_noted_call {
	uint32_t range;  /* that it was made in; 0: none */
	uint64_t stream; /* as in records; 0: not known */
};

/* Notes a call under its handle, that of a span; any other: nothing. */
void ncs_call_note(uint64_t handle, const struct ncs_noted_call *call,
		   bool captured);

/* False: the handle is none of a call, or of one that is not noted any more;
 * then *call is of none. */
bool ncs_call_find(uint64_t handle, struct ncs_noted_call *call);

#endif
