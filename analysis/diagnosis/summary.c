/* SPDX-License-Identifier: MIT */
/* The summary of a job; see summary.h. Must not draw and must not judge. Called
 * once per refresh.
 */
#include "analysis/diagnosis/summary.h"

#include <string.h>

/* Counts what a rank without a busy channel waits for. */
static void add_launch(struct ncs_summary *summary, const struct ncs_rank *rank)
{
	struct ncs_launch_wait launch = ncs_rank_launch_wait(rank);

	if (!launch.operation)
		return;
	summary->launches[launch.kind]++;
	summary->long_waits += launch.duration_ns >= NCS_LONG_WAIT_NS;
}

static void add_rank(struct ncs_summary *summary, const struct ncs_rank *rank)
{
	summary->ranks++;
	summary->lost += ncs_rank_lost(rank);
	summary->dead += rank->now.liveness == NCS_DEAD;
	summary->finished += rank->now.liveness == NCS_FINISHED;
	summary->silent += rank->now.liveness == NCS_SILENT;
	if (!ncs_rank_is_live(rank))
		return;
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
		add_rank(summary, model->ranks[i]);
	ncs_jobs_count(model, &summary->jobs);
}
