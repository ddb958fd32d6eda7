/* SPDX-License-Identifier: MIT */
/* The diagnosis of a job: findings, each with a verdict, the rank that causes
 * it, a confidence, and the evidence.
 *
 * The verdicts' names and sentences are in ncclstat/tables/verdicts.def. A
 * finding names the root of a chain of waits, not the ranks that suffer from
 * it. Rules need evidence: where nothing waits for long there is no finding,
 * whatever else is unusual; a job that sleeps or computes is healthy.
 *
 * Pure: the clock is the model's. Findings point into the model and are valid
 * until its next update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_DIAGNOSIS_H
#define NCS_ANALYSIS_DIAGNOSIS_DIAGNOSIS_H

#include "analysis/diagnosis/rules.h"

/* ncs_diagnosis_init() makes an empty diagnosis; ncs_diagnosis_release()
 * releases all that a diagnosis owns and leaves it empty. */
void ncs_diagnosis_init(struct ncs_diagnosis *diagnosis);
void ncs_diagnosis_release(struct ncs_diagnosis *diagnosis);

/* Diagnoses the model. Call this after each update of the model: slowness is
 * judged against earlier updates. Returns 0, or -ENOMEM with no findings. */
int ncs_diagnose(struct ncs_diagnosis *diagnosis,
		 const struct ncs_model *model);

/* Returns the severity of the worst finding; NCS_SEVERITY_WELL if there is
 * none. */
enum ncs_verdict_severity
ncs_diagnosis_severity(const struct ncs_diagnosis *diagnosis);

/* Returns the rank that the worst finding blames and that others wait for; NULL
 * if there is none, or it is not seen here. */
const struct ncs_rank *
ncs_diagnosis_suspect(const struct ncs_diagnosis *diagnosis);

/* Returns whether a rank of the model waits for that one, directly or through
 * others. */
bool ncs_diagnosis_is_victim(const struct ncs_diagnosis *diagnosis,
			     const struct ncs_rank *rank);

/* Tells how a communicator's links to other ranks can be found slow. */
enum ncs_link_check {
	NCS_LINKS_CHECKED,   /* or it has sent little, or nothing lately */
	NCS_LINKS_BY_SENDER, /* only if senders wait for the network */
	NCS_LINKS_UNCHECKED, /* nothing tells how fast they were before */
};

/* Returns how the links of a communicator were checked. */
enum ncs_link_check
ncs_diagnosis_links(const struct ncs_diagnosis *diagnosis,
		    const struct ncs_communicator *communicator);

#endif
