/* SPDX-License-Identifier: MIT */
/* The evidence of a finding in words, and what limits its certainty.
 *
 * Pure functions. Names in the texts come from shared memory: clean the texts
 * before printing them (ncs_utf8_clean()). Texts fit in NCS_SENTENCE_MAX bytes
 * (finding_text.h).
 */
#ifndef NCS_TUI_TEXT_EVIDENCE_TEXT_H
#define NCS_TUI_TEXT_EVIDENCE_TEXT_H

#include <stddef.h>

#include "analysis/diagnosis/diagnosis.h"

/* Prints why a finding's confidence is no higher: what lowers it, or what it
 * means. */
void ncs_finding_certainty(const struct ncs_finding *finding, char *text,
			   size_t size);

/* Prints one clause on a piece of evidence: a rank, and the activity or absence
 * of activity that was observed. */
void ncs_evidence_text(const struct ncs_evidence *evidence, char *text,
		       size_t size);

#endif
