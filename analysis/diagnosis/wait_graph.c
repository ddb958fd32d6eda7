/* SPDX-License-Identifier: MIT */
/* Building the graph of waits: nodes, edges, and where chains of waits end.
 *
 * Short waits make no edges, so the graph of a running job is empty.
 */
#include "analysis/diagnosis/wait_graph_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- Ends ----------------------------------------------------------------- */

static void find_ends(struct ncs_wait_graph *graph)
{
	bool changed = true;

	for (size_t i = 0; i < graph->node_count; i++) {
		struct ncs_wait_node *node = &graph->nodes[i];

		node->is_end = node->count == 0;
		for (size_t k = 0; k < node->count; k++) {
			const struct ncs_wait_edge *edge =
				&graph->edges[node->first + k];

			node->is_end |= edge->to == NCS_NOBODY ||
					edge->kind == NCS_EDGE_NETWORK;
			if (edge->to != NCS_NOBODY)
				graph->nodes[edge->to].awaited = true;
		}
		node->reaches_end = node->is_end;
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < graph->edge_count; i++) {
			const struct ncs_wait_edge *edge = &graph->edges[i];

			if (edge->to == NCS_NOBODY ||
			    graph->nodes[edge->from].reaches_end ||
			    !graph->nodes[edge->to].reaches_end)
				continue;
			graph->nodes[edge->from].reaches_end = true;
			changed = true;
		}
	}
}

/* --- All of it ------------------------------------------------------------ */

int ncs_wait_graph_build(struct ncs_wait_graph *graph,
			 const struct ncs_model *model)
{
	if (ncs_wait_nodes_make(graph, model) != 0)
		return -ENOMEM;
	ncs_wait_nodes_find_waiting(graph, model);
	ncs_wait_nodes_find_level(graph, model);
	if (ncs_wait_edges_make(graph, model) != 0)
		return -ENOMEM;
	find_ends(graph);
	ncs_wait_graph_unmark(graph);
	return 0;
}

void ncs_wait_graph_release(struct ncs_wait_graph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	free(graph->by_address);
	free(graph->queue);
	free(graph->marks);
	memset(graph, 0, sizeof(*graph));
}
