/* SPDX-License-Identifier: MIT */
/* The summary of a job; see summary.h. Must not draw and must not judge. Called
 * once per refresh.
 */
#include "analysis/diagnosis/summary.h"

#include <string.h>

#include "analysis/base/detail.h"

/* Counts what a rank without a busy channel waits for. */
static void add_launch(struct ncs_summary *summary, const struct ncs_rank *rank)
{
	struct ncs_launch_wait launch = ncs_rank_launch_wait(rank);

	if (!launch.operation)
		return;
	summary->launches[launch.kind]++;
	summary->long_waits += launch.duration_ns >= NCS_LONG_WAIT_NS;
}

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

static void add_rank(struct ncs_summary *summary, const struct ncs_rank *rank,
		     uint64_t now_ns)
{
	summary->ranks++;
	summary->lost += ncs_rank_lost(rank);
	summary->dead += rank->now.liveness == NCS_DEAD;
	summary->finished += rank->now.liveness == NCS_FINISHED;
	summary->silent += rank->now.liveness == NCS_SILENT;
	if (!ncs_rank_is_live(rank))
		return;
	add_settings(summary, &rank->now, now_ns);
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];

		summary->channels++;
		summary->states[channel->state]++;
		summary->long_waits += ncs_wait_ns(rank, channel) >=
				       NCS_LONG_WAIT_NS;
	}
	if (!ncs_oldest_wait(rank).channel)
		add_launch(summary, rank);
	ncs_oldest_add(&summary->oldest, rank);
}

void ncs_summarize(struct ncs_summary *summary, const struct ncs_model *model)
{
	memset(summary, 0, sizeof(*summary));
	for (size_t i = 0; i < model->rank_count; i++)
		add_rank(summary, model->ranks[i], model->now_ns);
	ncs_jobs_count(model, &summary->jobs);
}
