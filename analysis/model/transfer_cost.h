/* SPDX-License-Identifier: MIT */
/* The share of time that a rank costs the others in sends and receives. Private
 * to analysis/model. Pure. Times are ns.
 *
 * In a pipeline each stage waits for the one before by design, and hands its own
 * lateness on. So a wait is no one's fault by itself. What counts is by how much
 * a rank worked longer than each other one, before operations of the same kind,
 * and how much earlier all would have ended without that: the operations of the
 * recent time are played again (transfer_replay.h).
 *
 * Of a stage without its like, as the first of two, it is known only how much
 * longer it worked in all: then the cost is known within bounds.
 */
#ifndef NCS_ANALYSIS_MODEL_TRANSFER_COST_H
#define NCS_ANALYSIS_MODEL_TRANSFER_COST_H

#include "analysis/model/communicators.h"
#include "analysis/model/comparison.h"

/* Takes note of a transfer, or of a collective of a process that may have
 * transfers. Returns 0 or -ENOMEM. */
int ncs_transfer_note(const struct ncs_comparison *comparison);

/* Computes what each rank costs. Returns 0 or -ENOMEM. */
int ncs_transfer_update(struct ncs_model *model);

/* Releases what was noted; accepts NULL. */
void ncs_transfer_log_free(struct ncs_transfer_log *log);

#endif
