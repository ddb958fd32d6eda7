/* SPDX-License-Identifier: MIT */
/* Kernel channels and phases: are the GPU's times true, and what do they tell
 * of its clock? Called by callbacks, any thread. */
#ifndef NCS_PLUGIN_EVENTS_KERNEL_H
#define NCS_PLUGIN_EVENTS_KERNEL_H

#include <stdbool.h>

#include "plugin/state/comm.h"

/* A KernelCh of an operation starts. */
static inline void ncs_kernel_started(struct ncs_span_slot *span,
				      const struct ncs_op *op)
{
	span->launched = op->launched != 0;
	span->since = op->launched ? op->launched : op->start;
}

/* A KernelCh or KernelPhase stops: puts the GPU's times into its record. False
 * if there are none, or none that can be true, which is counted. */
bool ncs_kernel_times(struct ncs_comm *comm, struct ncs_lane_state *lane,
		      struct ncs_span_slot *span, uint64_t now);

#endif
