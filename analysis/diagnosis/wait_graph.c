/* SPDX-License-Identifier: MIT */
/* Building the graph of waits: nodes, edges, and where chains of waits end; and
 * searching it for the ranks that wait for a node.
 *
 * Short waits make no edges, so the graph of a running job is empty.
 */
#include "analysis/diagnosis/wait_graph.h"

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
	graph->model = model;
	if (ncs_wait_nodes_make(graph) != 0)
		return -ENOMEM;
	ncs_wait_edges_make(graph);
	if (graph->no_memory)
		return -ENOMEM;
	find_ends(graph);
	ncs_wait_graph_unmark(graph);
	return 0;
}

void ncs_wait_graph_release(struct ncs_wait_graph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	free(graph->queue);
	memset(graph, 0, sizeof(*graph));
}

/* --- Searching ------------------------------------------------------------ */

static int compare_nodes(const void *left, const void *right, void *graph)
{
	const struct ncs_wait_node *nodes =
		((const struct ncs_wait_graph *)graph)->nodes;

	return ncs_compare_gpus(nodes[*(const size_t *)left].rank,
				nodes[*(const size_t *)right].rank);
}

size_t ncs_wait_graph_ranks(struct ncs_wait_graph *graph, size_t count)
{
	size_t ranks = 0;

	qsort_r(graph->queue, count, sizeof(*graph->queue), compare_nodes,
		graph);
	for (size_t i = 0; i < count; i++)
		ranks += i == 0 || compare_nodes(&graph->queue[i - 1],
						 &graph->queue[i], graph) != 0;
	return ranks;
}

size_t ncs_wait_graph_waiting(struct ncs_wait_graph *graph, size_t node)
{
	size_t count = 0;
	bool changed = true;

	ncs_wait_graph_unmark(graph);
	graph->nodes[node].is_marked = true;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < graph->edge_count; i++) {
			const struct ncs_wait_edge *edge = &graph->edges[i];

			if (edge->to == NCS_NOBODY ||
			    graph->nodes[edge->from].is_marked ||
			    !graph->nodes[edge->to].is_marked)
				continue;
			graph->nodes[edge->from].is_marked = true;
			if (edge->kind != NCS_EDGE_PROCESS &&
			    compare_nodes(&edge->from, &node, graph) != 0)
				graph->queue[count++] = edge->from;
			changed = true;
		}
	}
	return ncs_wait_graph_ranks(graph, count);
}
