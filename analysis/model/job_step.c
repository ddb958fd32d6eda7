/* SPDX-License-Identifier: MIT */
/* The step of a job; see job_step.h. Must not compute a cost: costs.h keeps them. */
#include "analysis/model/job_step.h"

#include <math.h>

#include "analysis/model/busiest.h"
#include "analysis/model/costs.h"
#include "analysis/model/lateness_state.h"

/* Returns the rank of a process that others waited for most. */
static const struct ncs_rank *rank_of(const struct ncs_model *model,
				      uint32_t process)
{
	const struct ncs_rank *found = NULL;
	double most = -1;

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		const struct ncs_lateness_view *view;

		if (!rank->late || rank->late->process != process)
			continue;
		view = ncs_rank_lateness(rank);
		if (!view || view->waited_share <= most)
			continue;
		found = rank;
		most = view->waited_share;
	}
	return found;
}

bool ncs_rank_step(const struct ncs_model *model, const struct ncs_rank *rank,
		   struct ncs_job_step *step)
{
	const struct ncs_costs_step *kept =
		ncs_rank_lateness(rank) ? ncs_costs_step(rank->late) : NULL;
	const struct ncs_cost_of_rank *exposed;

	if (!kept)
		return false;
	exposed = &kept->transfers;
	*step = (struct ncs_job_step){
		.step = kept->step,
		.exposed_unknown = kept->step.unknown != NCS_COST_KNOWN ?
					   kept->step.unknown :
					   exposed->unknown,
	};
	if (kept->step.unknown != NCS_COST_KNOWN)
		return true;
	if (exposed->unknown == NCS_COST_KNOWN) {
		step->exposed_ns = fmax(exposed->share, 0) * kept->step.ns;
		step->exposed_least_ns = fmax(exposed->least, 0) * kept->step.ns;
		step->exposed_most_ns = fmin(exposed->most, 1) * kept->step.ns;
	}
	step->latest = kept->latest > 0 ? rank_of(model, kept->latest) : NULL;
	if (step->latest)
		step->waiting_ns = kept->latest_share * kept->step.ns;
	return true;
}

bool ncs_busiest_step(const struct ncs_model *model, struct ncs_job_step *step)
{
	const struct ncs_communicator *communicator =
		ncs_busiest_communicator(model);

	/* Nothing was compared: no need to look at each of many ranks. */
	if (!model->skews)
		return false;
	for (size_t i = 0; communicator && i < communicator->rank_count; i++)
		if (ncs_rank_step(model, communicator->ranks[i], step))
			return true;
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_step(model, model->ranks[i], step))
			return true;
	return false;
}
