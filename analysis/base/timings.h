/* SPDX-License-Identifier: MIT */
/* Sources of operations' times: their names, and which of them is used where
 * there are several: of a function, and of a class, i.e. the operations of one
 * function, size class, algorithm and protocol. The bandwidth over these times, as
 * nccl-tests computes it. Pure. */
#ifndef NCS_ANALYSIS_BASE_TIMINGS_H
#define NCS_ANALYSIS_BASE_TIMINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/snapshot.h"

/* Returns the best source (enum ncs_timing) by which operations were timed, or
 * NCS_TIMING_COUNT if none were. `timed` has their numbers by source. */
unsigned ncs_best_timing(const uint64_t timed[NCS_TIMING_COUNT]);

/* Return the name of a source, and the clause that explains it; of any other
 * number "none" and "no time". */
const char *ncs_timing_name(unsigned timing);
const char *ncs_timing_help(unsigned timing);

/* Returns the best timing (enum ncs_timing) that a function has, or
 * NCS_TIMING_COUNT if no operation was timed. */
unsigned ncs_function_timing(const struct ncs_function_view *function);

/* Returns the histogram of the times of ncs_function_timing(), or NULL if no
 * operation was timed. It belongs to `function`. */
const uint64_t *
ncs_function_histogram(const struct ncs_function_view *function);

/* Returns true for the class that collects a function's operations that found
 * no free class of their own. */
bool ncs_class_is_other(const struct ncs_class_view *view);

/* Returns a number that is equal for equal classes, whatever their place in the
 * segment's table. */
uint64_t ncs_class_identity(const struct ncs_class_view *view);

/* Returns the best timing (enum ncs_timing) that a class has, or
 * NCS_TIMING_COUNT if no operation was timed. */
unsigned ncs_class_timing(const struct ncs_class_view *view);

/* Returns the times of ncs_class_timing(), or NULL if no operation was timed.
 * They belong to `view`. */
const struct ncs_class_times *
ncs_times_of_class(const struct ncs_class_view *view);

/* --- Bandwidth ------------------------------------------------------------ */

/* Returns the algorithm bandwidth in GB/s (10^9 bytes), or a negative value if
 * the time is 0. */
double ncs_algorithm_bandwidth(uint64_t bytes, uint64_t time_ns);

/* Returns the factor that turns the algorithm bandwidth of a function (enum
 * ncs_function_id) into its bus bandwidth, or a negative value if `function` is
 * out of range or needs the number of ranks and `nranks` is not positive. */
double ncs_bus_factor(unsigned function, int nranks);

#endif
