/* SPDX-License-Identifier: MIT */
/* The jobs that a model's ranks are of, by their labels (shm/read/job.h).
 * Pure, but that counting allocates. */
#ifndef NCS_ANALYSIS_MODEL_JOBS_H
#define NCS_ANALYSIS_MODEL_JOBS_H

#include <stddef.h>

#include "analysis/model/model.h"

struct ncs_job_counts {
	size_t jobs; /* jobs of a batch system, or runs of torchrun */
	size_t pods; /* pods of ranks for which no job is known */
};

/* Counts the different jobs and pods of all ranks. Ranks without labels are of
 * none. Returns 0, or -ENOMEM with both 0. */
int ncs_jobs_count(const struct ncs_model *model,
		   struct ncs_job_counts *counts);

#endif
