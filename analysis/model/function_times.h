/* SPDX-License-Identifier: MIT */
/* Times of operations of one function, by rank. A rank's time of an operation
 * contains its wait for other ranks. Pure.
 */
#ifndef NCS_ANALYSIS_MODEL_FUNCTION_TIMES_H
#define NCS_ANALYSIS_MODEL_FUNCTION_TIMES_H

#include "analysis/model/rank.h"

/* Returns a percentile of the operations' times in ns, or 0 if none were timed.
 * `fraction` is 0 to 1. Covers the operations timed in the window; or all
 * operations if the window is the latest interval, which has too few. It is no more
 * than ncs_rank_longest_ns(), and for all operations 1 gives that. */
uint64_t ncs_rank_percentile(const struct ncs_rank *rank, unsigned function,
			     double fraction);

/* Returns the longest time of the operations since the start in ns, exactly where
 * their classes tell it; 0 if none was timed. */
uint64_t ncs_rank_longest_ns(const struct ncs_rank *rank, unsigned function);

/* Returns the median of the ranks' median times in ns; 0 if none were timed. */
uint64_t ncs_communicator_time_ns(const struct ncs_communicator *communicator,
				  unsigned function);

#endif
