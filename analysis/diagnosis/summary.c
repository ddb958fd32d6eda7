/* SPDX-License-Identifier: MIT */
/* The summary of a job; see summary.h. Must not draw and must not judge. Called
 * once per refresh.
 */
#include "analysis/diagnosis/summary.h"

#include "analysis/base/detail.h"

static void add_settings(struct ncs_summary *summary,
			 const struct ncs_snapshot *now, uint64_t now_ns)
{
	const struct ncs_snapshot *first = summary->settings;
	uint64_t left_ns = ncs_lease_left_ns(&now->settings, now_ns);

	if (left_ns > summary->lease_left_ns)
		summary->lease_left_ns = left_ns;
	if (!now->settings.known)
		return;
	if (!first)
		summary->settings = first = now;
	summary->settings_differ |=
		first->kernel.status != now->kernel.status ||
		ncs_detail_pack(&first->settings.in_force) !=
			ncs_detail_pack(&now->settings.in_force);
}

void ncs_summarize(struct ncs_summary *summary, const struct ncs_model *model)
{
	*summary = (struct ncs_summary){ .ranks = model->rank_count };
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		summary->lost += ncs_rank_lost(rank);
		summary->dead += rank->now.liveness == NCS_DEAD;
		summary->finished += rank->now.liveness == NCS_FINISHED;
		if (!ncs_rank_is_live(rank))
			continue;
		add_settings(summary, &rank->now, model->now_ns);
		ncs_oldest_add(&summary->oldest, rank);
	}
	ncs_jobs_count(model, &summary->jobs);
}
