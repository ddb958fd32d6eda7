/* SPDX-License-Identifier: MIT */
/* Algorithm and bus bandwidth as nccl-tests computes them. Pure. */
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

#endif
