/* SPDX-License-Identifier: MIT */
/* The step of a job, in which its calls repeat: how long it takes, and what of that is
 * communication that nothing hides, and waiting for one rank. All of it is as
 * analysis/cost tells, over the window of its costs. Pure.
 */
#ifndef NCS_ANALYSIS_MODEL_JOB_STEP_H
#define NCS_ANALYSIS_MODEL_JOB_STEP_H

#include "analysis/model/stragglers.h"

/* Times are in ns; what is not known of them is 0. */
struct ncs_job_step {
	struct ncs_cost_step step;
	/* Why it is not known how long transfers are exposed; if it is, how long, and
	 * between which times that lies. */
	enum ncs_cost_unknown exposed_unknown;
	double exposed_ns, exposed_least_ns, exposed_most_ns;
	/* The rank that surely costs something, and most of all; NULL if none does. Of
	 * the ranks of its process, others waited most for it. */
	const struct ncs_rank *latest;
	double waiting_ns; /* as much as it costs */
};

/* Fills in the step of the job that a rank is of. Returns false if none of the rank's
 * operations was compared. */
bool ncs_rank_step(const struct ncs_model *model, const struct ncs_rank *rank,
		   struct ncs_job_step *step);

/* Fills in the step of the job that has the busiest communicator, or of any other one.
 * Returns false if no operation was compared. */
bool ncs_busiest_step(const struct ncs_model *model, struct ncs_job_step *step);

#endif
