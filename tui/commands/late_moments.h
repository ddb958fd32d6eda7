/* SPDX-License-Identifier: MIT */
/* The moments at which a process of this machine is late. */
#ifndef NCS_TUI_COMMANDS_LATE_MOMENTS_H
#define NCS_TUI_COMMANDS_LATE_MOMENTS_H

#include "analysis/base/source.h"
#include "fleet/stacks/read_stacks.h"

/* Samples the process that the first stack names, as ncs_stacks_sample_late(). It is
 * late while it has no operation in flight, and another rank that `source` shows
 * is further in one of its communicators. The source is of this machine, and hands
 * over no records from then on. */
size_t ncs_late_moments_sample(struct ncs_stack stacks[NCS_LATE_STACKS_MAX],
			       struct ncs_source *source);

#endif
