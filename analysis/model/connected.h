/* SPDX-License-Identifier: MIT */
/* Communicators that are of one job, whatever labels say: they have processes in
 * common, or each has some in common with another one of the job. Pure, but
 * that finding them allocates.
 */
#ifndef NCS_ANALYSIS_MODEL_CONNECTED_H
#define NCS_ANALYSIS_MODEL_CONNECTED_H

#include <stddef.h>

#include "analysis/model/model.h"

/* Sets job[i], for each communicator i of a model, to a number that is the same
 * for all of one job: that of one of its communicators. Returns 0 or -ENOMEM. */
int ncs_communicators_connect(const struct ncs_model *model, size_t *job);

#endif
