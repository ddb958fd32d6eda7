/* SPDX-License-Identifier: MIT */
/* Names of the states of nodes; see nodes.h. */
#include "analysis/base/nodes.h"

#include "analysis/base/lookup.h"

#define HELP(ID, name, sight, help) help,
#define SIGHT(ID, name, sight, help) NCS_SIGHT_##sight,

/* clang-format off */
NCS_DEFINE_LOOKUP(ncs_node_state_name, NCS_NODE_STATES, NCS_NAME,
		  words[NCS_NODE_FAILED])
NCS_DEFINE_LOOKUP(ncs_node_state_help, NCS_NODE_STATES, HELP,
		  words[NCS_NODE_FAILED])
/* clang-format on */

enum ncs_sight ncs_node_sight(enum ncs_node_state state)
{
	static const enum ncs_sight sights[] = { NCS_NODE_STATES(SIGHT) };

	return sights[(unsigned)state < NCS_NODE_STATE_COUNT ? state :
							       NCS_NODE_FAILED];
}

uint64_t ncs_node_age_ns(const struct ncs_node *node, uint64_t now_ns)
{
	if (node->look_ns == 0)
		return UINT64_MAX;
	return now_ns > node->look_ns ? now_ns - node->look_ns : 0;
}
