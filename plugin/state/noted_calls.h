/* SPDX-License-Identifier: MIT */
/* Noted calls: facts that NCCL reports with a call (CollApi, P2pApi) and that
 * the call's operations need as well.
 *
 * A call has ended before its operations start, and its slot may already belong
 * to another event. The operations of a captured call start at each launch of
 * the CUDA graph. The latest calls of each lane are therefore noted here under
 * their handles, and the latest captured calls in a table of their own.
 *
 * Called by callbacks on any thread: no lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_STATE_NOTED_CALLS_H
#define NCS_PLUGIN_STATE_NOTED_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* The greatest range number that can be noted. */
#define NCS_CALL_RANGE_MAX UINT64_C(0xffff)

struct ncs_noted_call {
	uint64_t stream; /* CUDA stream, as in records; 0 if unknown */
	uint32_t range;  /* number of the range it was made in; 0 if none */
	bool captured;   /* into a CUDA graph */
};

/* Notes a call under its handle. Does nothing if that is not a span's
 * handle. */
void ncs_call_note(uint64_t handle, const struct ncs_noted_call *call);

/* Looks up the call of a handle, which may be any value. Returns false, and
 * clears *call, if the handle is not a call's or the call is no longer
 * noted. */
bool ncs_call_find(uint64_t handle, struct ncs_noted_call *call);

#endif
