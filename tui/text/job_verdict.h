/* SPDX-License-Identifier: MIT */
/* The verdict of the diagnosis on a whole job in words, and what was not
 * checked.
 *
 * Pure functions. Names in the texts come from shared memory: clean the texts
 * before printing them (ncs_utf8_clean()). Texts fit in NCS_SENTENCE_MAX bytes
 * (finding_text.h).
 */
#ifndef NCS_TUI_TEXT_JOB_VERDICT_H
#define NCS_TUI_TEXT_JOB_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/diagnosis/diagnosis.h"

/* Returns how severe the verdict on the whole job is; NCS_SEVERITY_UNSEEN where
 * there is none, because nothing is seen, some of it cannot be read, no rank has
 * called anything, or the job may communicate outside NCCL. */
enum ncs_verdict_severity ncs_job_severity(const struct ncs_diagnosis *diagnosis,
					   const struct ncs_model *model);

/* Prints the verdict on the whole job in one sentence: the worst finding, and
 * how many others there are; or that the job is well. Every screen, dump and
 * format shows this sentence. */
void ncs_job_sentence(const struct ncs_diagnosis *diagnosis,
		      const struct ncs_model *model, char *text, size_t size);

/* Prints the name of that severity and, after a colon, that sentence. */
void ncs_verdict_line(const struct ncs_diagnosis *diagnosis,
		      const struct ncs_model *model, char *text, size_t size);

/* Returns the number of segments that cannot be read, except those that are
 * being created. */
size_t ncs_count_unreadable(const struct ncs_model *model);

/* Returns the number of communicators that the processes seen here have and
 * that have no segment, since there was no room for it. */
uint64_t ncs_count_unpublished(const struct ncs_model *model);

/* Prints a clause on something that the diagnosis could not check, by its index
 * from 0 on. Returns false if there is no more. */
bool ncs_unchecked_text(const struct ncs_model *model, size_t index, char *text,
			size_t size);

#endif
