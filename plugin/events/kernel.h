/* SPDX-License-Identifier: MIT */
/* Times of kernel channels and phases: checks them, and learns the GPU clock's
 * offset from them (state/gpu_clock.h).
 *
 * Called by callbacks on any thread: no lock, no allocation, no system call.
 */
#ifndef NCS_PLUGIN_EVENTS_KERNEL_H
#define NCS_PLUGIN_EVENTS_KERNEL_H

#include <stdbool.h>

#include "plugin/state/comm.h"

/* Stores in a KernelCh's slot when its operation's kernel was launched. */
static inline void ncs_kernel_started(struct ncs_span_slot *span,
				      const struct ncs_operation_slot *op)
{
	span->launched = op->launched != 0;
	span->since = op->launched ? op->launched : op->start;
}

/* Stores the GPU's times in the record of a KernelCh or KernelPhase that stops.
 * Returns false if there are none, or if they are implausible, which is
 * counted. */
bool ncs_kernel_times(struct ncs_comm *comm, struct ncs_lane_state *lane,
		      struct ncs_span_slot *span, uint64_t now);

#endif
