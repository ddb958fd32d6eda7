/* SPDX-License-Identifier: MIT */
/* How much faster the stages of a pipeline compute because they wait for one of
 * them: GPUs that rest while they wait may clock higher afterwards. Without the
 * waits they would be slower, so that these cost less than they seem to. It can be
 * measured only where the stages are seen before the waits began, too. Private to
 * analysis/model. Pure. Times are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_TRANSFER_REST_H
#define NCS_ANALYSIS_MODEL_TRANSFER_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/lateness_state.h"
#include "analysis/model/transfer_replay.h"

/* Returns since when the others wait for a line again and again, by what is cut of
 * its work; 0 if they did so from the start, or if that is not clear. */
uint64_t ncs_rest_since_ns(const struct ncs_transfer_replay *replay,
			   uint32_t self);

/* Compares the works of the other lines before a time with those since. Leaves
 * `rest` as it is if it is not told by these, or was by more works, or if there is no memory. */
void ncs_rest_find(const struct ncs_transfer_replay *replay, uint32_t self,
		   uint64_t since_ns, struct ncs_rest *rest);

/* Lengthens the works of the other lines since a time by a share of them; 0 takes
 * that back. */
void ncs_rest_lengthen(const struct ncs_transfer_replay *replay, uint32_t self,
		       uint64_t since_ns, double share);

#endif
