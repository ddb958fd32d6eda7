/* SPDX-License-Identifier: MIT */
/* Channels: one row for each channel, direction and peer. Must not
 * draw.
 */
#include "tui/views/view.h"

#include <inttypes.h>

#include "analysis/base/value_names.h"
#include "analysis/records/step_stats.h"
#include "tui/text/words.h"
#include "tui/views/row_looks.h"

static const struct ncs_channel_view *channel_of(const struct ncs_row *row)
{
	return &row->rank->now.channels[row->index];
}

/* Whether the channel is idle now and was throughout the window. */
static bool is_idle(const struct ncs_row *row)
{
	return channel_of(row)->state == NCS_CHANNEL_IDLE &&
	       ncs_share_is_all(row, NCS_COLUMN_CHANNEL_IDLE_SHARE);
}

static enum ncs_severity severity(const struct ncs_row *row)
{
	const struct ncs_channel_view *channel = channel_of(row);
	bool busy = channel->state != NCS_CHANNEL_IDLE;

	if (!ncs_rank_is_live(row->rank))
		return busy && row->rank->now.liveness == NCS_DEAD ? NCS_NOTE :
								     NCS_QUIET;
	if (ncs_wait_ns(row->rank, channel) >= NCS_LONG_WAIT_NS)
		return NCS_BAD;
	return is_idle(row) ? NCS_QUIET : NCS_NORMAL;
}

static void append_under_way(const struct ncs_channel_view *channel, char *text,
			     size_t size)
{
	if (channel->state == NCS_CHANNEL_IDLE || channel->operation == 0)
		return;
	ncs_append(text, size, " Step %" PRIu64, channel->step);
	if (channel->nsteps > 0)
		ncs_append(text, size, " of %" PRIu64, channel->nsteps);
	ncs_append(text, size, ", %s.", ncs_function_name(channel->function));
}

/* Appends the estimates for all channels of the rank in this direction. */
static void append_steps(const struct ncs_row *row, char *text, size_t size)
{
	bool send = channel_of(row)->send;

	if (!ncs_steps_view(row->rank->steps, send))
		return;
	ncs_append(text, size, send ? " Sends: " : " Receives: ");
	ncs_append_steps(row->rank, send, text, size);
	ncs_append(text, size, ".");
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_channel_view *channel = channel_of(row);
	const struct ncs_wait wait = {
		.rank = row->rank,
		.channel = channel,
		.duration_ns = ncs_wait_ns(row->rank, channel),
	};

	ncs_append(text, size, "%s%s:", ncs_rank_of(row->rank).text,
		   ncs_rank_life(row->rank).text);
	if (channel->state == NCS_CHANNEL_IDLE) {
		ncs_append(text, size, " %s, idle: %s.",
			   ncs_channel_name(channel).text,
			   ncs_channel_state_help(channel->state));
		append_steps(row, text, size);
		return;
	}
	ncs_append_wait(&wait, text, size);
	ncs_append(text, size, ".");
	append_under_way(channel, text, size);
	if (wait.duration_ns >= NCS_LONG_WAIT_NS)
		ncs_append(text, size, " Enter goes to the peer's end.");
	else
		append_steps(row, text, size);
}

static void title(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_channel_view *channel = channel_of(row);
	uint64_t wait_ns = ncs_wait_ns(row->rank, channel);

	ncs_append(text, size, "%s: %s", ncs_channel_name(channel).text,
		   ncs_channel_state_label(channel->state));
	if (channel->state == NCS_CHANNEL_IDLE)
		return;
	ncs_append(text, size, " for %s",
		   ncs_lasting(row->rank, false, wait_ns).text);
	if (channel->nsteps > 0)
		ncs_append(text, size, ", step %" PRIu64 " of %" PRIu64,
			   channel->step, channel->nsteps);
}

const struct ncs_screen_view ncs_screen_channels = {
	.rules = {
		.severity = severity,
		.cell_role = ncs_wait_cell_role,
		.throughput = NCS_COLUMN_CHANNEL_RATE,
		.bytes = NCS_COLUMN_CHANNEL_BYTES,
		.time = NCS_COLUMN_CHANNEL_SINCE,
		.title = title,
		.above = &ncs_screen_communicators.rules,
	},
	.explain = explain,
};
