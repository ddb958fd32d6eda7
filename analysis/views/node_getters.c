/* SPDX-License-Identifier: MIT */
/* Computed cells of nodes. */
#include "analysis/views/getters.h"

#include "analysis/base/append.h"

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
