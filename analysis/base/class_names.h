/* SPDX-License-Identifier: MIT */
/* Identity and times of a class: the operations of one function, size class,
 * algorithm and protocol. Pure. */
#ifndef NCS_ANALYSIS_BASE_CLASS_NAMES_H
#define NCS_ANALYSIS_BASE_CLASS_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "ncclstat/snapshot.h"

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

#endif
