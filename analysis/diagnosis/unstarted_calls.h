/* SPDX-License-Identifier: MIT */
/* Calls of NCCL's API that have started no operation: NCCL connects to peers
 * first, and does not return before they have called, too.
 *
 * Pure.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_UNSTARTED_CALLS_H
#define NCS_ANALYSIS_DIAGNOSIS_UNSTARTED_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/rank.h"

/* Returns the longest time that a thread of the rank has been inside NCCL's API
 * with a call that has started no operation, in ns, and the function; 0 if there
 * is no such call. Calls that a CUDA graph captures start no operation either,
 * but return at once. */
uint64_t ncs_unstarted_ns(const struct ncs_rank *rank, unsigned *function);

/* Returns how many calls of a function have started no operation. */
uint64_t ncs_unstarted_calls(const struct ncs_rank *rank, unsigned function);

/* Whether a function is a point-to-point transfer. */
bool ncs_is_p2p(unsigned function);

#endif
