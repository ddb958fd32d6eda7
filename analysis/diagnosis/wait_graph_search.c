/* SPDX-License-Identifier: MIT */
/* Searching the graph of waits: the ranks that wait for a node, and circles. */
#include "analysis/diagnosis/wait_graph.h"

#include <stdlib.h>
#include <string.h>

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
	graph->marks[node] = true;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < graph->edge_count; i++) {
			const struct ncs_wait_edge *edge = &graph->edges[i];

			if (edge->to == NCS_NOBODY ||
			    graph->marks[edge->from] || !graph->marks[edge->to])
				continue;
			graph->marks[edge->from] = true;
			if (edge->kind != NCS_EDGE_PROCESS &&
			    compare_nodes(&edge->from, &node, graph) != 0)
				graph->queue[count++] = edge->from;
			changed = true;
		}
	}
	return ncs_wait_graph_ranks(graph, count);
}

void ncs_wait_graph_unmark(struct ncs_wait_graph *graph)
{
	memset(graph->marks, 0, graph->node_count * sizeof(*graph->marks));
}

/* Returns the edge of a node on which a walk that reaches no end goes on. */
static size_t edge_onward(const struct ncs_wait_graph *graph, size_t node)
{
	const struct ncs_wait_node *from = &graph->nodes[node];

	for (size_t i = from->first; i < from->first + from->count; i++)
		if (!graph->nodes[graph->edges[i].to].reaches_end)
			return i;
	return NCS_NOBODY;
}

/* Walks from `start` until it comes back to a node that it has visited. Returns
 * the length of the circle, 0 if it came to a node of another walk. */
static size_t walk(struct ncs_wait_graph *graph, size_t start, size_t *edges,
		   size_t size)
{
	size_t length = 0, node = start, first = 0;

	while (!graph->marks[node]) {
		size_t edge = edge_onward(graph, node);

		graph->marks[node] = true;
		graph->queue[length++] = edge;
		node = graph->edges[edge].to;
	}
	while (first < length && graph->edges[graph->queue[first]].from != node)
		first++;
	length -= first;
	if (length > size)
		length = size;
	memcpy(edges, &graph->queue[first], length * sizeof(*edges));
	return length;
}

size_t ncs_wait_graph_circle(struct ncs_wait_graph *graph, size_t *edges,
			     size_t size)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct ncs_wait_node *node = &graph->nodes[i];
		size_t length;

		if (graph->marks[i] || node->reaches_end || node->count == 0)
			continue;
		length = walk(graph, i, edges, size);
		if (length > 0)
			return length;
	}
	return 0;
}
