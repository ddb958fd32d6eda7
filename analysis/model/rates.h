/* SPDX-License-Identifier: MIT */
/* Rates of a rank over its window (ncs_rank_window_ns()). Pure. All return a
 * rate per second, or a negative number if it is not known.
 */
#ifndef NCS_ANALYSIS_MODEL_RATES_H
#define NCS_ANALYSIS_MODEL_RATES_H

#include "analysis/model/rank.h"

/* Returns the rate of a counter of the rank, from its values now and at the
 * start of the window. */
double ncs_rank_rate(const struct ncs_rank *rank, uint64_t now, uint64_t base);

/* Returns the rate of operations started. */
double ncs_rank_operations_rate(const struct ncs_rank *rank);

/* Returns the rate of bytes that all channels of one direction moved. */
double ncs_rank_bytes_rate(const struct ncs_rank *rank, bool send);

#endif
