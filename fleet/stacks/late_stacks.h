/* SPDX-License-Identifier: MIT */
/* Samples the stack of a process of this machine at moments at which it is late, by
 * py-spy or /proc, without stopping it. No tool runs after the call. */
#ifndef NCS_FLEET_STACKS_LATE_STACKS_H
#define NCS_FLEET_STACKS_LATE_STACKS_H

#include "fleet/stacks/stack.h"

/* The most moments at which a process is sampled. */
#define NCS_LATE_STACKS_MAX 20u

/* Returns a number if the process is late now, the same as long as it makes no
 * call; otherwise 0. */
typedef uint64_t ncs_lateness_now(void *context);

/* Fills in stacks of the process that the first one names, one for each moment,
 * within 10 s. All are by the same tool. Returns their number; without any, the
 * first one says why. */
size_t ncs_stacks_sample_late(struct ncs_stack stacks[NCS_LATE_STACKS_MAX],
			      ncs_lateness_now *lateness, void *context);

#endif
