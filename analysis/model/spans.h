/* SPDX-License-Identifier: MIT */
/* The latest operations of ranks on their GPUs, kept to find out what a process
 * did before an operation. Private to analysis/model. Pure.
 */
#ifndef NCS_ANALYSIS_MODEL_SPANS_H
#define NCS_ANALYSIS_MODEL_SPANS_H

#include "analysis/model/comparison.h"

/* Keeps the span of a rank's part, which is its latest. Returns 0, or -ENOMEM:
 * then it is as if its records had been lost. */
int ncs_spans_add(struct ncs_late_rank *late, const struct ncs_part *part);

/* Drops all spans of a rank but the latest NCS_SPANS: all operations that are
 * known so far have been compared. */
void ncs_spans_drop_old(struct ncs_late_rank *late);

/* Drops all spans of a rank, whose clock was moved. */
void ncs_spans_drop_all(struct ncs_late_rank *late);

/* Corrects the spans of an operation by what its ranks know together: the
 * channels of a kernel may have stopped long before the kernel did. */
void ncs_spans_correct(const struct ncs_comparison *comparison);

/* Finds for each rank in which times all operations of the other ranks of its
 * process are known. */
void ncs_spans_find_pasts(const struct ncs_model *model);

/* Returns whether all operations are known that the processes of an operation's
 * parts may have ended shortly before these arrived. The records of a busy
 * communicator are overwritten sooner than those of one that is used seldom. Reads
 * what ncs_spans_find_pasts() found. */
bool ncs_past_is_known(const struct ncs_comparison *comparison);

/* Returns the operation of the process of part i, in any communicator, that
 * ended last before the part began, of those in which it waited or others might have
 * waited for it; zeros if none is known. */
struct ncs_span ncs_operation_before(const struct ncs_comparison *comparison,
				     size_t i);

#endif
