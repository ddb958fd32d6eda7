/* SPDX-License-Identifier: MIT */
/* Finds where the steps of a training job begin, from the order of its
 * operations: a step begins at an operation that recurs after the same number
 * of others. In the course of a job another operation may take its place.
 * Operations that occur only once belong to the step that they occur in, unless
 * they last longer than a step: such operations belong to no step.
 *
 * Give all operations to ncs_job_steps_learn() first, then again, in the same
 * order, to ncs_job_steps_next(). Memory is bounded. Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_JOB_STEPS_H
#define NCS_ANALYSIS_RECORDS_JOB_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/join.h"

struct ncs_job_steps;

/* Creates an empty set of steps. Returns NULL if there is no memory. Free it
 * with ncs_job_steps_free(), which accepts NULL. */
struct ncs_job_steps *ncs_job_steps_new(void);
void ncs_job_steps_free(struct ncs_job_steps *steps);

/* Takes an operation in the first pass. Operations that are not counted belong
 * to no step. Returns 0 or -ENOMEM. */
int ncs_job_steps_learn(struct ncs_job_steps *steps,
			const struct ncs_joined *joined, bool is_counted);

/* Takes an operation in the second pass. Returns the number of its step, from
 * 0, or UINT32_MAX if it belongs to none. */
uint32_t ncs_job_steps_next(struct ncs_job_steps *steps,
			    const struct ncs_joined *joined, bool is_counted);

#endif
