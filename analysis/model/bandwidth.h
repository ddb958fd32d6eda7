/* SPDX-License-Identifier: MIT */
/* Times and bandwidth of a rank's timed operations of one function. Pure.
 * Bandwidth is in GB/s and computed as nccl-tests does; negative if it is not
 * known.
 */
#ifndef NCS_ANALYSIS_MODEL_BANDWIDTH_H
#define NCS_ANALYSIS_MODEL_BANDWIDTH_H

#include "analysis/model/rank.h"

/* Returns a percentile of the operations' times in ns, or 0 if none were timed.
 * `fraction` is 0 to 1. Covers the operations timed in the window; or all
 * operations if the window is the latest interval, which has too few. */
uint64_t ncs_rank_percentile(const struct ncs_rank *rank, unsigned function,
			     double fraction);

/* Return the bandwidth over the window if operations were timed in it, else
 * over the latest interval in which some were, else since the start. */
double ncs_rank_algorithm_bandwidth(const struct ncs_rank *rank,
				    unsigned function);
double ncs_rank_bus_bandwidth(const struct ncs_rank *rank, unsigned function);

/* Returns the bus bandwidth since the time of some counters. */
double ncs_bus_bandwidth_since(const struct ncs_rank *rank, unsigned function,
			       const struct ncs_counters *base);

#endif
