/* SPDX-License-Identifier: MIT */
/* Lists the ranks that may be behind; see laggards.h. */
#include "analysis/diagnosis/laggards.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/diagnosis/wait_graph_parts.h"

int ncs_laggards_begin(struct ncs_laggards *laggards,
		       const struct ncs_model *model)
{
	laggards->communicators = model->communicators;
	laggards->count = model->communicator_count * NCS_FUNCTION_COUNT;
	laggards->lists = calloc(laggards->count + 1,
				 sizeof(*laggards->lists));
	return laggards->lists ? 0 : -ENOMEM;
}

void ncs_laggards_end(struct ncs_laggards *laggards)
{
	for (size_t i = 0; laggards->lists && i < laggards->count; i++)
		free(laggards->lists[i].ranks);
	free(laggards->lists);
}

const struct ncs_laggard_list *
ncs_laggards_of(const struct ncs_wait_graph *graph,
		const struct ncs_communicator *communicator, unsigned function)
{
	size_t place = (size_t)(communicator - graph->laggards->communicators);
	struct ncs_laggard_list *list =
		&graph->laggards->lists[place * NCS_FUNCTION_COUNT + function];
	uint64_t most = 0;

	if (list->ranks)
		return list;
	list->ranks = malloc((communicator->rank_count + 1) *
			     sizeof(*list->ranks));
	if (!list->ranks)
		return NULL;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		uint64_t next = ncs_rank_next(communicator->ranks[i], function);

		if (next > most)
			most = next;
	}
	for (size_t i = 0; i < communicator->rank_count; i++) {
		struct ncs_rank *rank = communicator->ranks[i];

		if (ncs_rank_next(rank, function) < most &&
		    rank->now.liveness != NCS_FINISHED &&
		    ncs_wait_node_of(graph, rank)->stalled)
			list->ranks[list->count++] = rank;
	}
	return list;
}
