/* SPDX-License-Identifier: MIT */
/* Ranks of one communicator whose calls do not agree: in another order, or with
 * other arguments.
 *
 * Pure.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_DISAGREEMENT_H
#define NCS_ANALYSIS_DIAGNOSIS_DISAGREEMENT_H

#include "analysis/diagnosis/diagnosis.h"

/* Adds a finding for each communicator in which two ranks do not agree, and
 * notes it as explained. The graph has been built. 0 or -ENOMEM. */
int ncs_disagreement_find(struct ncs_diagnosis *diagnosis,
			  const struct ncs_model *model);

#endif
