/* SPDX-License-Identifier: MIT */
/* Compares when ranks arrived at collectives, operation by operation. Read the
 * results with analysis/model/stragglers.h. Memory is bounded. Must do no I/O.
 */
#ifndef NCS_ANALYSIS_MODEL_COMPARE_ARRIVALS_H
#define NCS_ANALYSIS_MODEL_COMPARE_ARRIVALS_H

struct ncs_late_rank;
struct ncs_model;

/* Compares all operations that have come since the previous update. Returns 0,
 * or -ENOMEM if some of them do not count. */
int ncs_stragglers_update(struct ncs_model *model);

/* Releases what is kept of the model's communicators. */
void ncs_stragglers_release(struct ncs_model *model);

/* Releases what is kept of a rank; NULL is allowed. */
void ncs_late_rank_free(struct ncs_late_rank *late);

#endif
