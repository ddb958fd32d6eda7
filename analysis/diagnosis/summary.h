/* SPDX-License-Identifier: MIT */
/* The whole job in numbers: how many ranks there are, how they are, and the longest
 * wait. Judges nothing: analysis/diagnosis/diagnosis.h does.
 *
 * Pure. Pointers lead into the model and are valid until its next update.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_SUMMARY_H
#define NCS_ANALYSIS_DIAGNOSIS_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/model/waits.h"

struct ncs_summary {
	size_t ranks;
	size_t dead;
	size_t finished;
	struct ncs_job_counts jobs;
	uint64_t lost;
	struct ncs_oldest oldest;
	uint64_t lease_left_ns; /* of the longest lease of a rank that lives */
	/* The first rank that lives and tells its settings, in the model until its
	 * next update; NULL: none does. Then whether another rank's differ. */
	const struct ncs_snapshot *settings;
	bool settings_differ;
};

/* Summarizes the model. */
void ncs_summarize(struct ncs_summary *summary, const struct ncs_model *model);

#endif
