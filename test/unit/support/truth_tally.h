/* SPDX-License-Identifier: MIT */
/* Which jobs of known truth a test makes, and how its answers for them are
 * counted. Each kind of job has a name; one job is told by kind and seed, so that
 * it can be made again alone:
 *
 *   TRUTH_JOBS   number of jobs of each kind
 *   TRUTH_SEED   seed of the first one; 1 if not set
 *   TRUTH_KIND   only kinds whose names begin so
 *   TRUTH_TABLE  file to which the table of all answers is appended
 *
 * For one thread.
 */
#ifndef NCS_TEST_UNIT_SUPPORT_TRUTH_TALLY_H
#define NCS_TEST_UNIT_SUPPORT_TRUTH_TALLY_H

#include <stdbool.h>

#include "analysis/diagnosis/finding.h"

enum truth_answer {
	TRUTH_RIGHT,
	TRUTH_WRONG,
	TRUTH_BOUNDED, /* it tells bounds, and the truth is between them */
	TRUTH_UNKNOWN, /* it says that it cannot know */
	TRUTH_ANSWERS
};

/* Returns the number of jobs of a kind: so many per cent of TRUTH_JOBS, or else
 * of `usual` (a quarter of it with a sanitizer), at least one; none if the kind is
 * not wanted. */
unsigned truth_jobs(const char *kind, unsigned usual, unsigned percent);

/* Returns the seed of the i-th job of a kind. */
unsigned truth_seed(unsigned i);

/* Counts the answer for a job. Says how to make the job again if the answer is
 * wrong. `kind` is borrowed until the program ends. */
void truth_count(const char *kind, unsigned seed, enum truth_answer answer);

/* Returns how often jobs of a kind had an answer. */
unsigned truth_counted(const char *kind, enum truth_answer answer);

/* Returns whether a finding has evidence of a kind. */
bool truth_has_evidence(const struct ncs_finding *finding,
			enum ncs_evidence_kind kind);

/* Returns whether others are said to wait for a process, which the simulator numbers so,
 * at a cost that is not known. */
bool truth_says_unknown(const struct ncs_model *model, unsigned process);

/* Prints the table of all kinds and answers, and appends it to TRUTH_TABLE. */
void truth_print_table(void);

#endif
