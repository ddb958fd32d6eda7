/* SPDX-License-Identifier: MIT */
/* The stretch of a window whose launches have times: a plugin that may not time all
 * launches of a fast job times all of a while, on all ranks at once.
 *
 * Must not judge: cost.h does. No state.
 */
#ifndef NCS_ANALYSIS_COST_COST_STRETCH_H
#define NCS_ANALYSIS_COST_COST_STRETCH_H

#include <stddef.h>

#include "analysis/cost/cost.h"

/* Moves the parts of the longest stretch in which nearly all launches have times to the
 * front, and sets *count to their number; of stretches alike, those of the latest. The
 * number stays where nearly all have times, or none has. The order of parts is another
 * one. Returns 0 or -ENOMEM. */
int ncs_cost_keep_stretch(struct ncs_cost_part *parts, size_t *count);

#endif
