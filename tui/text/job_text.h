/* SPDX-License-Identifier: MIT */
/* Words on the jobs that ranks are of. Pure; texts are cut at the size of the
 * buffer. */
#ifndef NCS_TUI_TEXT_JOB_TEXT_H
#define NCS_TUI_TEXT_JOB_TEXT_H

#include <stddef.h>

#include "analysis/model/model.h"

/* Appends "job 4711.0, process 3 of 8, restart 1, pod prod/llm-0"; nothing if no
 * label is known. */
void ncs_append_job(const struct ncs_rank *rank, char *text, size_t size);

/* Appends "2 jobs", "2 pods" or both; nothing where there is one job at most. */
void ncs_append_jobs(const struct ncs_job_counts *counts, char *text,
		     size_t size);

#endif
