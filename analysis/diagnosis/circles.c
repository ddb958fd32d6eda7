/* SPDX-License-Identifier: MIT */
/* The rule for circles of waits, which have no end.
 */
#include "analysis/diagnosis/rules.h"
#include "analysis/records/operation_record.h"

#include <string.h>

#define CIRCLE_MAX 64

/* --- Searching -------------------------------------------------------------- */

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

	while (!graph->nodes[node].is_marked) {
		size_t edge = edge_onward(graph, node);

		graph->nodes[node].is_marked = true;
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

/* Finds a circle among the nodes that reach no end and are not marked. Writes
 * the indexes of its edges in order, at most `size` of them, and returns their
 * number; 0 if there is no circle. Marks the nodes that it visits, so that the
 * next call finds another circle. */
static size_t find_circle(struct ncs_wait_graph *graph, size_t *edges,
			  size_t size)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct ncs_wait_node *node = &graph->nodes[i];
		size_t length;

		if (graph->nodes[i].is_marked || node->reaches_end ||
		    node->count == 0)
			continue;
		length = walk(graph, i, edges, size);
		if (length > 0)
			return length;
	}
	return 0;
}

/* --- Findings --------------------------------------------------------------- */

/* Whether all ranks of a circle wait in the same collective. A collective's
 * algorithm has no circles, so such a circle leads through the GPUs. */
static bool is_one_call(const struct ncs_wait_graph *graph,
			const size_t *circle, size_t length)
{
	const struct ncs_wait_edge *first = &graph->edges[circle[0]];

	for (size_t i = 0; i < length; i++) {
		const struct ncs_wait_edge *edge = &graph->edges[circle[i]];

		if (edge->kind == NCS_EDGE_PROCESS ||
		    edge->call.function != first->call.function ||
		    ncs_is_transfer(edge->call.function))
			return false;
	}
	return true;
}

/* Counts the ranks of the job in a circle, which may go through several communicators
 * of each. */
static size_t count_ranks(struct ncs_wait_graph *graph, const size_t *circle,
			  size_t length)
{
	for (size_t i = 0; i < length; i++)
		graph->queue[i] = graph->edges[circle[i]].from;
	return ncs_wait_graph_ranks(graph, length);
}

static void report_circle(struct ncs_diagnosis *diagnosis, const size_t *circle,
			  size_t length, enum ncs_verdict verdict)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_edge *first = &graph->edges[circle[0]];
	struct ncs_finding *finding;
	bool stalled = true, by_process = false;

	/* Begin with a wait for another process. */
	for (size_t i = 0; i < length && first->kind == NCS_EDGE_PROCESS; i++)
		first = &graph->edges[circle[i]];
	finding =
		ncs_diagnosis_add(diagnosis, verdict,
				  ncs_party_of(graph->nodes[first->from].rank));
	finding->peer = ncs_party_of(graph->nodes[first->to].rank);
	finding->channel = first->channel;
	finding->call = first->call;
	finding->waiting = count_ranks(&diagnosis->graph, circle, length);
	for (size_t i = 0; i < length; i++) {
		const struct ncs_wait_edge *edge = &graph->edges[circle[i]];
		const struct ncs_rank *rank = graph->nodes[edge->from].rank;

		stalled &= graph->nodes[edge->from].stalled;
		by_process |= edge->kind == NCS_EDGE_PROCESS;
		if (edge->duration_ns > finding->duration_ns)
			finding->duration_ns = edge->duration_ns;
		if (edge->channel)
			ncs_finding_add_wait(finding, rank, edge->channel);
		else if (edge->kind == NCS_EDGE_PROCESS)
			ncs_finding_add_fact(finding, NCS_EVIDENCE_ELSEWHERE,
					     graph->nodes[edge->to].rank, 0);
		else
			ncs_finding_add_waiter(finding, graph, edge);
	}
	ncs_finding_rate(finding, stalled,
			 verdict != NCS_VERDICT_DEADLOCK ?
				 NCS_CONFIDENCE_POSSIBLE :
			 stalled && !by_process ? NCS_CONFIDENCE_CERTAIN :
						  NCS_CONFIDENCE_LIKELY);
}

static void check_circle(struct ncs_diagnosis *diagnosis, const size_t *circle,
			 size_t length)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_edge *edges = graph->edges;

	for (size_t i = 0; i < length; i++)
		if (ncs_diagnosis_explains(diagnosis,
					   graph->nodes[edges[circle[i]].from]
						   .rank->communicator))
			return;
	for (size_t i = 0; i < length; i++)
		ncs_diagnosis_explain(diagnosis,
				      graph->nodes[edges[circle[i]].from].rank);
	report_circle(diagnosis, circle, length,
		      is_one_call(graph, circle, length) ?
			      NCS_VERDICT_PEER_WAIT :
			      NCS_VERDICT_DEADLOCK);
}

void ncs_find_circles(struct ncs_diagnosis *diagnosis)
{
	size_t circle[CIRCLE_MAX], length;

	ncs_wait_graph_unmark(&diagnosis->graph);
	while ((length = find_circle(&diagnosis->graph, circle, CIRCLE_MAX)) >
	       0)
		check_circle(diagnosis, circle, length);
}
