/* SPDX-License-Identifier: MIT */
/* Sources of operations' times: their names, and which of them is used where
 * there are several. Pure. */
#ifndef NCS_ANALYSIS_BASE_TIMINGS_H
#define NCS_ANALYSIS_BASE_TIMINGS_H

#include <stdint.h>

#include "ncclstat/abi_values.h"

/* Returns the best source (enum ncs_timing) by which operations were timed, or
 * NCS_TIMING_COUNT if none were. `timed` has their numbers by source. */
unsigned ncs_best_timing(const uint64_t timed[NCS_TIMING_COUNT]);

/* Return the name of a source, and the clause that explains it; of any other
 * number "none" and "no time". */
const char *ncs_timing_name(unsigned timing);
const char *ncs_timing_help(unsigned timing);

#endif
