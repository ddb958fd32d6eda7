/* SPDX-License-Identifier: MIT */
/* Words on the jobs that ranks are of, and on a job's step. Pure; texts are cut at
 * the size of the buffer. Names in them come from shared memory: clean them before
 * printing (ncs_utf8_clean()). */
#ifndef NCS_TUI_TEXT_JOB_TEXT_H
#define NCS_TUI_TEXT_JOB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/model.h"
#include "analysis/model/stragglers.h"
#include "tui/text/words.h"

/* Appends "job 4711.0, process 3 of 8, restart 1, pod prod/llm-0"; nothing if no
 * label is known. */
void ncs_append_job(const struct ncs_rank *rank, char *text, size_t size);

/* Appends "2 jobs", "2 pods" or both; nothing where there is one job at most. */
void ncs_append_jobs(const struct ncs_job_counts *counts, char *text,
		     size_t size);

/* Returns whether a bound of a value is as good as the value. */
bool ncs_bound_is_near(double bound, double value);

/* Returns a time in ns, as "31ms", or "4.1ms to 28ms" where its bounds are not near. */
struct ncs_phrase ncs_bounded(double ns, double least_ns, double most_ns);

/* Appends "a step takes 148ms (mean of 63, by 14 calls that repeat), of it 31ms exposed
 * communication, 27ms waiting for rank 5 of world", or why that is not known. */
void ncs_append_step(const struct ncs_model *model, char *text, size_t size);

#endif
