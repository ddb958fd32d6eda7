/* SPDX-License-Identifier: MIT */
/* The latest operations of ranks on their GPUs, kept to find out what a process
 * did before an operation. Private to analysis/model. Pure.
 */
#ifndef NCS_ANALYSIS_MODEL_SPANS_H
#define NCS_ANALYSIS_MODEL_SPANS_H

#include "analysis/model/comparison.h"

/* Keeps the span of a rank's part, which is its latest. */
void ncs_spans_add(struct ncs_late_rank *late, const struct ncs_part *part);

/* Corrects the spans of an operation by what its ranks know together: the
 * channels of a kernel may have stopped long before the kernel did. */
void ncs_spans_correct(const struct ncs_comparison *comparison);

/* Returns the operation of the process of part i, in any communicator, that
 * ended last before the part began; zeros if none is known. */
struct ncs_span ncs_operation_before(const struct ncs_comparison *comparison,
				     size_t i);

/* Returns since when the process of part i has gone straight from one operation
 * to the next: the begin of the first of these. Returns when the part arrived if
 * no operation before it is known. */
uint64_t ncs_busy_since_ns(const struct ncs_comparison *comparison, size_t i);

#endif
