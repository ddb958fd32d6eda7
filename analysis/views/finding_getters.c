/* SPDX-License-Identifier: MIT */
/* Computed cells of findings, nodes, and the timeline's tracks. */
#include "analysis/views/getters.h"

#include "analysis/base/append.h"
#include "analysis/base/value_names.h"
#include "analysis/diagnosis/finding.h"
#include "analysis/views/timeline.h"

/* --- Findings ------------------------------------------------------------- */

NCS_GETTER(finding_comm)
{
	const struct ncs_communicator *communicator =
		row->finding->root.communicator;
	char text[sizeof(value->text)];

	if (!communicator)
		return;
	ncs_comm_text(communicator->identity, text, sizeof(text));
	ncs_value_set_text(value, text);
}

NCS_GETTER(finding_channel)
{
	if (row->finding->channel)
		ncs_value_set_number(value, row->finding->channel->channel);
}

NCS_GETTER(finding_call)
{
	const struct ncs_call_id *call = &row->finding->call;

	if (call->function >= NCS_FUNCTION_COUNT)
		return;
	ncs_value_set_call(value, call->function, call->sequence_number);
}

/* --- Nodes ------------------------------------------------------------------ */

NCS_GETTER(node_age)
{
	uint64_t age_ns = ncs_node_age_ns(row->node, row->now_ns);

	if (age_ns != UINT64_MAX)
		ncs_value_set(value, NCS_VALUE_DURATION, age_ns);
}

NCS_GETTER(node_rate)
{
	if (row->node->bytes_a_second > 0)
		ncs_value_set_real(value, NCS_VALUE_BYTES_RATE,
				   (double)row->node->bytes_a_second);
}

NCS_GETTER(node_version)
{
	uint32_t version = row->node->program_version;

	if (version == 0)
		return;
	value->kind = NCS_VALUE_TEXT;
	ncs_append(value->text, sizeof(value->text), "%u.%u.%u", version >> 16,
		   version >> 8 & 0xff, version & 0xff);
}

/* The launcher's or the stream's words, which say more than the state's. */
NCS_GETTER(node_why)
{
	const struct ncs_node *node = row->node;

	if (node->why[0])
		ncs_value_set_text(value, node->why);
	else if (node->state != NCS_NODE_RUNNING)
		ncs_value_set_text(value, ncs_node_state_help(node->state));
}

/* --- Tracks --------------------------------------------------------------- */

NCS_GETTER(track_name)
{
	unsigned level = row->rank->now.sampling.level;
	struct ncs_track track;

	if (!ncs_track_at(row->rank, row->index, &track))
		return;
	value->kind = NCS_VALUE_TEXT;
	ncs_track_name(&track, value->text, sizeof(value->text));
	if (track.kind == NCS_TRACK_CHANNEL && level > 0)
		ncs_append(value->text, sizeof(value->text), " 1/%u",
			   1u << level);
}

/* Gets what a row's track is in now. Returns false if that is nothing. */
static bool is_in(const struct ncs_row *row, struct ncs_stretch *now)
{
	struct ncs_track track;

	return ncs_track_at(row->rank, row->index, &track) &&
	       ncs_track_now(row->rank, &track, now);
}

NCS_GETTER(track_now)
{
	struct ncs_stretch now;

	if (is_in(row, &now))
		ncs_value_set_text(value, ncs_activities[now.activity].label);
}

NCS_GETTER(track_since)
{
	struct ncs_stretch now;

	if (is_in(row, &now))
		ncs_value_set_lasting(value, row->rank, now.start_ns);
}
