/* SPDX-License-Identifier: MIT */
/* Findings of the diagnosis in words.
 *
 * Pure functions. Names in the texts come from shared memory: clean the texts
 * before printing them (ncs_utf8_clean()).
 */
#ifndef NCS_TUI_TEXT_FINDING_TEXT_H
#define NCS_TUI_TEXT_FINDING_TEXT_H

#include <stddef.h>

#include "analysis/diagnosis/diagnosis.h"

/* Room for any sentence. */
#define NCS_SENTENCE_MAX 512

/* Prints the verdict in one sentence: the rank, the problem, its duration. */
void ncs_finding_sentence(const struct ncs_finding *finding, char *text,
			  size_t size);

/* Prints the verdict on the whole job in one line: the worst finding, and how
 * many others there are; or that the job is healthy. Every screen, dump and
 * format shows this line. */
void ncs_verdict_line(const struct ncs_diagnosis *diagnosis, char *text,
		      size_t size);

/* Prints one clause on a piece of evidence: a rank, and the activity or absence
 * of activity that was observed. */
void ncs_evidence_text(const struct ncs_evidence *evidence, char *text,
		       size_t size);

#endif
