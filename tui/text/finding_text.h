/* SPDX-License-Identifier: MIT */
/* Findings of the diagnosis in words, and their evidence.
 *
 * Pure functions. Names in the texts come from shared memory: clean the texts
 * before printing them (ncs_utf8_clean()).
 */
#ifndef NCS_TUI_TEXT_FINDING_TEXT_H
#define NCS_TUI_TEXT_FINDING_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/diagnosis/diagnosis.h"

/* Room for any sentence. */
#define NCS_SENTENCE_MAX 512

/* Prints the verdict in one sentence: the rank, the problem, its duration. */
void ncs_finding_sentence(const struct ncs_finding *finding, char *text,
			  size_t size);

/* Whether a rank is the root of a finding. */
bool ncs_is_root(const struct ncs_diagnosis *diagnosis,
		 const struct ncs_rank *rank);

/* Prints why a finding's confidence is no higher: what lowers it, or what it
 * means. */
void ncs_finding_certainty(const struct ncs_finding *finding, char *text,
			   size_t size);

/* Prints one clause on a piece of evidence: a rank, and the activity or absence
 * of activity that was observed. */
void ncs_evidence_text(const struct ncs_evidence *evidence, char *text,
		       size_t size);

/* Prints where a party of a finding runs: its process, host and GPU. Returns
 * false if it is not seen here. */
bool ncs_party_where(const struct ncs_party *party, char *text, size_t size);

/* Prints a shell command that shows more of a finding's cause, by its index from
 * 0 on. Returns false if there is no more. */
bool ncs_finding_command(const struct ncs_finding *finding, size_t index,
			 char *text, size_t size);

#endif
