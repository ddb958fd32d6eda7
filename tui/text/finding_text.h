/* SPDX-License-Identifier: MIT */
/* Findings of the diagnosis in words.
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

/* Prints why a finding's confidence is no higher: what lowers it, or what it
 * means. */
void ncs_finding_certainty(const struct ncs_finding *finding, char *text,
			   size_t size);

/* Returns how severe the verdict on the whole job is; NCS_SEVERITY_UNSEEN where
 * there is none, because nothing is seen or some of it cannot be read. */
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

/* Prints where a party of a finding runs: its process, host and GPU. Returns
 * false if it is not seen here. */
bool ncs_party_where(const struct ncs_party *party, char *text, size_t size);

/* Prints a shell command that shows more of a finding's cause, by its index from
 * 0 on. Returns false if there is no more. */
bool ncs_finding_command(const struct ncs_finding *finding, size_t index,
			 char *text, size_t size);

/* Prints one clause on a piece of evidence: a rank, and the activity or absence
 * of activity that was observed. */
void ncs_evidence_text(const struct ncs_evidence *evidence, char *text,
		       size_t size);

#endif
