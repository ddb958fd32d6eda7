/* SPDX-License-Identifier: MIT */
/* What is wrong with a job: findings, each with a verdict, who is to blame,
 * how sure that is, and what it was seen by.
 *
 * The rules' names and sentences are in ncclstat/tables/verdicts.def. A finding
 * names the root of a chain of waits, not those who suffer from it. Rules need
 * evidence: where nothing waits for long there is no finding, whatever else is
 * unusual; a job that sleeps or computes is healthy.
 *
 * Pure: the clock is the model's. Findings point into the model and are valid
 * until its next update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_DIAGNOSIS_H
#define NCS_ANALYSIS_DIAGNOSIS_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/diagnosis/finding.h"
#include "analysis/model/model.h"
#include "analysis/diagnosis/pace.h"
#include "analysis/diagnosis/wait_graph.h"

struct ncs_diagnosis {
	struct ncs_finding *findings; /* the worst first; none: all is well */
	size_t count;
	size_t capacity;
	size_t looks; /* passes so far */
	struct ncs_wait_graph graph;
	struct ncs_paces paces;
	bool *explained; /* communicators, in this pass */
};

void ncs_diagnosis_init(struct ncs_diagnosis *diagnosis);
void ncs_diagnosis_release(struct ncs_diagnosis *diagnosis);

/* Looks at the model after each of its passes: what is slow is told by what
 * was before. 0 or -ENOMEM; there are then no findings. */
int ncs_diagnose(struct ncs_diagnosis *diagnosis,
		 const struct ncs_model *model);

/* For the rules: an empty finding at the end; NULL: no memory. Those before it
 * may move. */
struct ncs_finding *ncs_diagnosis_add(struct ncs_diagnosis *diagnosis,
				      enum ncs_verdict verdict);

/* That of the worst finding. */
enum ncs_verdict_severity
ncs_diagnosis_severity(const struct ncs_diagnosis *diagnosis);

#endif
