/* SPDX-License-Identifier: MIT */
/* Names of the states of nodes; see nodes.h. */
#include "analysis/base/nodes.h"

static const struct node_state_row {
	const char *name;
	const char *help;
	enum ncs_sight sight;
} rows[NCS_NODE_STATE_COUNT] = {
#define X(ID, name, sight, help) { name, help, NCS_SIGHT_##sight },
	NCS_NODE_STATES(X)
#undef X
};

static const struct node_state_row *row_of(enum ncs_node_state state)
{
	return (unsigned)state < NCS_NODE_STATE_COUNT ? &rows[state] :
							&rows[NCS_NODE_FAILED];
}

const char *ncs_node_state_name(enum ncs_node_state state)
{
	return row_of(state)->name;
}

const char *ncs_node_state_help(enum ncs_node_state state)
{
	return row_of(state)->help;
}

enum ncs_sight ncs_node_sight(enum ncs_node_state state)
{
	return row_of(state)->sight;
}

uint64_t ncs_node_age_ns(const struct ncs_node *node, uint64_t now_ns)
{
	if (node->look_ns == 0)
		return UINT64_MAX;
	return now_ns > node->look_ns ? now_ns - node->look_ns : 0;
}
