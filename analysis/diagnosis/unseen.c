/* SPDX-License-Identifier: MIT */
/* The rules for what is not seen: ranks that are waited for, and nodes. Nodes are findings
 * of their own, and make findings on communicators that they may have ranks of less
 * certain.
 */
#include "analysis/base/collective_waits.h"
#include "analysis/diagnosis/rules.h"
#include "analysis/model/model.h"
#include "analysis/model/waits.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/names.h"

/* --- Ranks ------------------------------------------------------------------ */

/* Whether the first data that comes in an operation is the sender's own: in rings
 * of ranks that all wait for all, and from the root. In trees and chains a rank
 * sends what it has received, and may wait for it itself. */
static bool begins_with_own_data(const struct ncs_rank *rank,
				 const struct ncs_wait_edge *edge)
{
	const struct ncs_operation_view *operation =
		ncs_operation_numbered(rank, edge->channel->operation);

	if (ncs_is_transfer(edge->call.function))
		return true;
	if (!operation)
		return false;
	return ncs_wait_rule_of(edge->call.function) == NCS_WAIT_FOR_ALL ?
		       operation->algorithm == NCS_ALGORITHM_RING :
		       operation->peer == edge->unseen;
}

/* How strongly a wait suggests that the unseen rank it is for is missing (-1 to
 * 2). A rank that takes part posts its buffers immediately, so waiting for a
 * buffer at the first step is the strongest sign; waiting for its own data is
 * another. A kernel that runs tells nothing of data. */
static int suspicion_of(const struct ncs_wait_graph *graph,
			const struct ncs_wait_edge *edge)
{
	if (!edge->channel)
		return edge->unseen < 0 ? -1 : 0;
	if (edge->channel->step > 0)
		return 0;
	if (edge->channel->state == NCS_CHANNEL_SEND_PEER_WAIT)
		return 2;
	return begins_with_own_data(graph->nodes[edge->from].rank, edge);
}

static size_t count_waiting_for(const struct ncs_wait_graph *graph,
				const struct ncs_communicator *communicator,
				int peer)
{
	size_t count = 0, latest = NCS_NOBODY;

	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct ncs_wait_edge *edge = &graph->edges[i];

		if (edge->to != NCS_NOBODY || edge->from == latest ||
		    edge->unseen != peer ||
		    graph->nodes[edge->from].rank->communicator != communicator)
			continue;
		latest = edge->from;
		count++;
	}
	return count;
}

/* Counts the ranks of a communicator that wait. */
static size_t count_waiting(const struct ncs_wait_graph *graph,
			    const struct ncs_communicator *communicator)
{
	size_t count = 0;

	for (size_t i = 0; i < graph->node_count; i++)
		count += graph->nodes[i].rank->communicator == communicator &&
			 graph->nodes[i].count > 0;
	return count;
}

static void add_wait(struct ncs_finding *finding,
		     const struct ncs_wait_graph *graph,
		     const struct ncs_wait_edge *edge)
{
	const struct ncs_rank *rank = graph->nodes[edge->from].rank;

	if (edge->channel)
		ncs_finding_add_wait(finding, rank, edge->channel);
	else
		ncs_finding_add_operation(finding, rank, edge->operation);
}

static void report_unseen(struct ncs_diagnosis *diagnosis,
			  const struct ncs_communicator *communicator,
			  const struct ncs_wait_edge *edge)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_node *node = &graph->nodes[edge->from];
	int suspicion = suspicion_of(graph, edge);
	size_t pointing =
		count_waiting_for(graph, communicator, edge->unseen);
	enum ncs_verdict verdict = suspicion <= 0 ? NCS_VERDICT_PEER_WAIT :
				   ncs_is_transfer(edge->call.function) ?
						    NCS_VERDICT_P2P_UNMET :
						    NCS_VERDICT_RANK_MISSING;
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, verdict,
		(struct ncs_party){ NULL, communicator, edge->unseen });

	finding->peer = ncs_party_of(node->rank);
	finding->channel = edge->channel;
	finding->channel_rank = edge->channel ? node->rank : NULL;
	finding->call = edge->call;
	finding->duration_ns = edge->duration_ns;
	finding->waiting = edge->channel ? communicator->live :
					   count_waiting(graph, communicator);
	ncs_finding_rate(finding, node->stalled,
			 suspicion == 2 || (suspicion == 1 && pointing > 1) ?
				 NCS_CONFIDENCE_LIKELY :
				 NCS_CONFIDENCE_POSSIBLE);
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct ncs_wait_edge *other = &graph->edges[i];
		const struct ncs_rank *rank = graph->nodes[other->from].rank;

		/* One place is kept for what comes below. */
		if (finding->evidence_count < NCS_EVIDENCE_MAX - 1 &&
		    other->to == NCS_NOBODY &&
		    rank->communicator == communicator &&
		    other->unseen == edge->unseen)
			add_wait(finding, graph, other);
	}
	ncs_finding_add_unseen(finding, communicator);
}

/* Returns the rank that has been in an operation for longest if all ranks that are
 * seen of a communicator have been in one for long, and it is not known whether its
 * kernel has begun: their GPUs may compute, or they wait for a rank that is not
 * seen. Else NULL. */
static const struct ncs_wait_node *
held_up(const struct ncs_wait_graph *graph,
	const struct ncs_communicator *communicator)
{
	const struct ncs_wait_node *longest = NULL;

	if (ncs_communicator_unseen(communicator) == 0)
		return NULL;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_wait_node *node =
			ncs_wait_node_of(graph, communicator->ranks[i]);

		if (!ncs_rank_is_live(node->rank) || node->rank->is_past ||
		    !node->stalled || !node->operation ||
		    ncs_operation_phase(node->rank, node->operation) !=
			    NCS_LAUNCH_PHASE_UNKNOWN ||
		    ncs_age_ns(node->rank, node->operation->start_ns) <
			    NCS_STUCK_NS)
			return NULL;
		if (!longest || node->operation->start_ns <
					longest->operation->start_ns)
			longest = node;
	}
	return longest;
}

static void report_held_up(struct ncs_diagnosis *diagnosis,
			   const struct ncs_communicator *communicator,
			   const struct ncs_wait_node *node)
{
	const struct ncs_operation_view *operation = node->operation;
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis, NCS_VERDICT_PEER_WAIT,
				  (struct ncs_party){ NULL, communicator, -1 });

	finding->peer = ncs_party_of(node->rank);
	finding->call = ncs_call_of(operation);
	finding->duration_ns = ncs_age_ns(node->rank, operation->start_ns);
	finding->waiting = communicator->live;
	ncs_finding_rate(finding, false, NCS_CONFIDENCE_POSSIBLE);
	finding->severity = NCS_SEVERITY_UNSEEN;
	ncs_finding_add_operation(finding, node->rank, operation);
	ncs_finding_add_unseen(finding, communicator);
}

bool ncs_find_unseen_ranks(struct ncs_diagnosis *diagnosis,
			   const struct ncs_communicator *communicator)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_edge *best = NULL;
	const struct ncs_wait_node *node;

	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct ncs_wait_edge *edge = &graph->edges[i];

		if (edge->to == NCS_NOBODY &&
		    graph->nodes[edge->from].rank->communicator ==
			    communicator &&
		    (!best ||
		     suspicion_of(graph, edge) > suspicion_of(graph, best)))
			best = edge;
	}
	if (best) {
		report_unseen(diagnosis, communicator, best);
		return true;
	}
	node = held_up(graph, communicator);
	if (node)
		report_held_up(diagnosis, communicator, node);
	return false;
}

/* --- Findings that nodes make less certain ---------------------------------- */

static bool is_past(const struct ncs_party *party)
{
	return party->rank && party->rank->is_past;
}

/* Whether a finding is on its root and peer alone: what other ranks do cannot
 * make it wrong. */
static bool is_on_two(const struct ncs_finding *finding)
{
	switch (finding->verdict) {
	case NCS_VERDICT_ORDER_MISMATCH:
	case NCS_VERDICT_SIZE_MISMATCH:
	case NCS_VERDICT_RANK_DIED:
	case NCS_VERDICT_RANK_STOPPED:
		return true;
	default:
		return false;
	}
}

/* Adds evidence that lowers the confidence; if there is no room, in place of the
 * last. */
static struct ncs_evidence *add_doubt(struct ncs_finding *finding,
				      enum ncs_evidence_kind kind,
				      struct ncs_party party,
				      const struct ncs_node *node)
{
	struct ncs_evidence *evidence;

	if (finding->evidence_count == NCS_EVIDENCE_MAX)
		finding->evidence_count--;
	evidence = ncs_finding_add_evidence(finding, kind, party);
	evidence->node = node;
	finding->doubt = finding->evidence_count;
	return evidence;
}

static void lower(struct ncs_finding *finding, enum ncs_confidence most)
{
	if (finding->confidence < most)
		finding->confidence = most;
}

static void doubt_past(struct ncs_finding *finding,
		       const struct ncs_model *model,
		       const struct ncs_party *party)
{
	const struct ncs_node *node = &model->nodes[party->rank->node];

	add_doubt(finding, NCS_EVIDENCE_PAST, *party, node)->duration_ns =
		ncs_node_age_ns(node, model->now_ns);
	lower(finding, NCS_CONFIDENCE_POSSIBLE);
}

static void doubt_nodes(struct ncs_finding *finding,
			const struct ncs_model *model,
			const struct ncs_node_counts *counts)
{
	size_t unseen = counts->nodes - counts->seen, first = 0;
	struct ncs_evidence *evidence;

	lower(finding, NCS_CONFIDENCE_LIKELY);
	if (unseen == 0)
		return;
	while (model->nodes[first].state == NCS_NODE_GONE ||
	       ncs_node_sight(model->nodes[first].state) == NCS_SIGHT_LIVE)
		first++;
	evidence = add_doubt(
		finding, NCS_EVIDENCE_NODES,
		(struct ncs_party){ NULL, finding->root.communicator, -1 },
		&model->nodes[first]);
	evidence->number = unseen;
	evidence->expected = counts->nodes;
	evidence->share = (double)counts->silent / (double)unseen;
}

static void weigh(struct ncs_finding *finding, const struct ncs_model *model,
		  const struct ncs_node_counts *counts)
{
	const struct ncs_communicator *communicator =
		finding->root.communicator;

	if (!is_on_two(finding) &&
	    !(communicator && ncs_is_seen_whole(communicator)))
		doubt_nodes(finding, model, counts);
	if (is_past(&finding->root))
		doubt_past(finding, model, &finding->root);
	else if (is_past(&finding->peer))
		doubt_past(finding, model, &finding->peer);
}

/* --- Nodes ------------------------------------------------------------------ */

/* Adds a node to the finding on nodes in the same state. Returns false if there
 * is none. */
static bool join(struct ncs_diagnosis *diagnosis, const struct ncs_node *node)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		struct ncs_finding *finding = &diagnosis->findings[i];

		if (!finding->node || finding->node->state != node->state)
			continue;
		finding->alike++;
		ncs_finding_add_evidence(finding, NCS_EVIDENCE_NODE,
					 (struct ncs_party){ .number = -1 })
			->node = node;
		return true;
	}
	return false;
}

static void report_node(struct ncs_diagnosis *diagnosis,
			const struct ncs_node *node)
{
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis, NCS_VERDICT_NODE_UNSEEN,
				  (struct ncs_party){ .number = -1 });

	finding->node = node;
	if (node->look_ns != 0)
		finding->duration_ns =
			ncs_node_age_ns(node, diagnosis->model->now_ns);
	ncs_finding_rate(finding, false, NCS_CONFIDENCE_CERTAIN);
}

void ncs_find_unseen_nodes(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;
	struct ncs_node_counts counts;

	if (model->node_count == 0)
		return;
	ncs_count_nodes(model, &counts);
	for (size_t i = 0; i < diagnosis->count; i++)
		weigh(&diagnosis->findings[i], model, &counts);
	for (size_t i = 0; i < model->node_count; i++) {
		const struct ncs_node *node = &model->nodes[i];

		if (ncs_node_sight(node->state) != NCS_SIGHT_LIVE &&
		    !join(diagnosis, node))
			report_node(diagnosis, node);
	}
}
