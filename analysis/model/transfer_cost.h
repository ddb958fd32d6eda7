/* SPDX-License-Identifier: MIT */
/* The share of time that a rank costs the others in sends and receives. Private
 * to analysis/model. Pure. Times are ns.
 *
 * In a pipeline each stage waits for the one before by design, and hands its own
 * lateness on. So a wait is no one's fault by itself. What counts is by how much
 * a rank worked longer than each other one, as far as others waited for it
 * meanwhile, and more than for any other: the job would be faster by as much.
 */
#ifndef NCS_ANALYSIS_MODEL_TRANSFER_COST_H
#define NCS_ANALYSIS_MODEL_TRANSFER_COST_H

#include "analysis/model/communicators.h"
#include "analysis/model/comparison.h"

/* Notes what both ranks of a transfer did before it, and who waited. Returns 0
 * or -ENOMEM. */
int ncs_transfer_note(const struct ncs_comparison *comparison);

/* Notes what the ranks of a collective that also send or receive did before
 * it. */
void ncs_transfer_note_collective(const struct ncs_comparison *comparison);

/* Computes what each rank of a communicator costs. */
void ncs_transfer_update(const struct ncs_communicator *communicator);

#endif
