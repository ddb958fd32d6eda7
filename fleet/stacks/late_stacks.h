/* SPDX-License-Identifier: MIT */
/* Samples the stack of a process at moments at which its host is late, by py-spy
 * or /proc, without stopping it. No tool runs after the call. */
#ifndef NCS_FLEET_STACKS_LATE_STACKS_H
#define NCS_FLEET_STACKS_LATE_STACKS_H

#include "analysis/base/source.h"
#include "fleet/stacks/stack.h"

/* The most moments at which a process is sampled. */
#define NCS_LATE_STACKS_MAX 20u

/* Fills in stacks of the process that the first one names, one for each moment,
 * within 10 s. The process is late while it has no operation in flight and
 * another rank that `source` shows is further in a communicator. The source must
 * show this machine, and loses no records. Returns the number of stacks, all by
 * the same tool; the first one says why there are none. */
size_t ncs_stacks_sample_late(struct ncs_stack stacks[NCS_LATE_STACKS_MAX],
			      struct ncs_source *source);

#endif
