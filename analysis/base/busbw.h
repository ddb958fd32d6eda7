/* SPDX-License-Identifier: MIT */
/* Algorithm and bus bandwidth as nccl-tests computes them, and which of a
 * function's times they are computed over. Pure. */
#ifndef NCS_ANALYSIS_BASE_BUSBW_H
#define NCS_ANALYSIS_BASE_BUSBW_H

#include <stdint.h>

#include "ncclstat/snapshot.h"

/* Returns the algorithm bandwidth in GB/s (10^9 bytes), or a negative value if
 * the time is 0. */
double ncs_algorithm_bandwidth(uint64_t bytes, uint64_t time_ns);

/* Returns the factor that turns the algorithm bandwidth of a function (enum
 * ncs_function_id) into its bus bandwidth, or a negative value if `function` is
 * out of range or needs the number of ranks and `nranks` is not positive. */
double ncs_bus_factor(unsigned function, int nranks);

/* Returns the best timing (enum ncs_timing) that a function has, or
 * NCS_TIMING_COUNT if no operation was timed. */
unsigned ncs_function_timing(const struct ncs_function_view *function);

/* Returns the histogram of the times of ncs_function_timing(), or NULL if no
 * operation was timed. It belongs to `function`. */
const uint64_t *
ncs_function_histogram(const struct ncs_function_view *function);

#endif
