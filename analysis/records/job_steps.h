/* SPDX-License-Identifier: MIT */
/* Where the steps of a training job begin, from the order of its operations: at
 * the one that comes again after the same number of others. That may be another
 * one from some time on. What comes once in between is a part of its step,
 * unless it is more than the step itself: then it is in none.
 *
 * First all operations are looked at, then again one after the other. Memory is
 * bounded. Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_JOB_STEPS_H
#define NCS_ANALYSIS_RECORDS_JOB_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/join.h"

struct ncs_job_steps;

/* NULL: no memory. */
struct ncs_job_steps *ncs_job_steps_new(void);
void ncs_job_steps_free(struct ncs_job_steps *steps); /* NULL: nothing */

/* The first look; `is_counted`: those that are not belong to no step. 0 or
 * -ENOMEM. */
int ncs_job_steps_learn(struct ncs_job_steps *steps,
			const struct ncs_joined *joined, bool is_counted);

/* The second one: which step it belongs to, from 0; UINT32_MAX: none. */
uint32_t ncs_job_steps_next(struct ncs_job_steps *steps,
			    const struct ncs_joined *joined, bool is_counted);

#endif
