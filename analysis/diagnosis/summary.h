/* SPDX-License-Identifier: MIT */
/* The whole job in numbers: how many ranks there are, how many channels and
 * launches wait, and for how long. Judges nothing: analysis/diagnosis/diagnosis.h
 * does.
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
	size_t silent;
	struct ncs_job_counts jobs;
	uint64_t lost;
	size_t channels;
	size_t states[NCS_CHANNEL_STATE_COUNT]; /* channels in each state */
	/* Ranks that live and wait, without a busy channel, by what for. */
	size_t launches[NCS_LAUNCH_WAIT_COUNT];
	size_t long_waits; /* all of these that last NCS_LONG_WAIT_NS or more */
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
