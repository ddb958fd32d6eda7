/* SPDX-License-Identifier: MIT */
/* Counts nodes; see node_counts.h. */
#include "analysis/model/node_counts.h"

/* Whether a node does not answer, or not any more; others answer, but nothing
 * can be read there. */
static bool is_silent(enum ncs_node_state state)
{
	switch (state) {
	case NCS_NODE_NOT_REACHABLE:
	case NCS_NODE_SILENT:
	case NCS_NODE_ENDED:
	case NCS_NODE_STARTING:
		return true;
	default:
		return false;
	}
}

static size_t ranks_of(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;

	if ((identity->known & NCS_KNOWN_NRANKS) && identity->nranks > 0 &&
	    (size_t)identity->nranks > communicator->rank_count)
		return (size_t)identity->nranks;
	return communicator->rank_count;
}

void ncs_count_nodes(const struct ncs_model *model,
		     struct ncs_node_counts *counts)
{
	*counts = (struct ncs_node_counts){ 0 };
	for (size_t i = 0; i < model->node_count; i++) {
		enum ncs_node_state state = model->nodes[i].state;

		if (state == NCS_NODE_GONE)
			continue;
		counts->nodes++;
		counts->seen += ncs_node_sight(state) == NCS_SIGHT_LIVE;
		counts->silent += is_silent(state);
	}
	for (size_t i = 0; i < model->communicator_count; i++)
		counts->ranks += ranks_of(&model->communicators[i]);
}

bool ncs_is_seen_whole(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;
	size_t fresh = 0;

	for (size_t i = 0; i < communicator->rank_count; i++)
		fresh += !communicator->ranks[i]->is_past;
	return fresh == communicator->rank_count &&
	       (identity->known & NCS_KNOWN_NRANKS) && identity->nranks >= 0 &&
	       fresh >= (size_t)identity->nranks;
}
