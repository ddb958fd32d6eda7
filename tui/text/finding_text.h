/* SPDX-License-Identifier: MIT */
/* What the diagnosis found, in words.
 *
 * Pure functions. Texts are raw: names in them come from shared memory and are
 * to be cleaned before they are shown.
 */
#ifndef NCS_TUI_TEXT_FINDING_TEXT_H
#define NCS_TUI_TEXT_FINDING_TEXT_H

#include <stddef.h>

#include "analysis/diagnosis/diagnosis.h"

/* Room for any sentence. */
#define NCS_SENTENCE_MAX 512

/* The verdict in one sentence: who, what, for how long. */
void ncs_finding_sentence(const struct ncs_finding *finding, char *text,
			  size_t size);

/* One clause: who was seen to do, or not to do, what. */
void ncs_evidence_text(const struct ncs_evidence *evidence, char *text,
		       size_t size);

#endif
