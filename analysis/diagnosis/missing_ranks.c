/* SPDX-License-Identifier: MIT */
/* The rules for ranks that died, and for ranks that are waited for but not seen
 * here.
 */
#include "analysis/base/collective_waits.h"
#include "analysis/diagnosis/deaths.h"
#include "analysis/diagnosis/rules.h"
#include "analysis/model/waits.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/names.h"

#include <stdlib.h>
#include <string.h>

/* --- Ranks that died ------------------------------------------------------ */

/* Whether a process, which may have ranks in several communicators, is known to
 * be gone. The others of its communicator that are gone, too, are counted by
 * the same finding. */
static bool is_reported(const struct ncs_diagnosis *diagnosis,
			const struct ncs_rank *rank)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_finding *finding = &diagnosis->findings[i];
		const struct ncs_communicator *communicator =
			finding->root.communicator;

		if (finding->verdict != NCS_VERDICT_RANK_DIED || !communicator ||
		    communicator == rank->communicator)
			continue;
		for (size_t k = 0; k < communicator->rank_count; k++)
			if (communicator->ranks[k]->now.liveness == NCS_DEAD &&
			    ncs_shares_process(communicator->ranks[k], rank))
				return true;
	}
	return false;
}

static bool is_root(const struct ncs_diagnosis *diagnosis,
		    const struct ncs_rank *rank)
{
	for (size_t i = 0; i < diagnosis->count; i++)
		if (diagnosis->findings[i].verdict == NCS_VERDICT_RANK_DIED &&
		    diagnosis->findings[i].root.rank == rank)
			return true;
	return false;
}

/* Counts the ranks of a communicator that have an operation in progress and
 * have not moved for long. */
static size_t count_stuck(const struct ncs_diagnosis *diagnosis,
			  const struct ncs_communicator *communicator)
{
	size_t count = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_wait_node *node =
			ncs_wait_node_of(&diagnosis->graph, rank);

		count += ncs_rank_is_live(rank) && node->stalled &&
			 node->operation &&
			 ncs_age_ns(rank, node->operation->start_ns) >=
				 NCS_STUCK_NS;
	}
	return count;
}

/* Adds what a rank was in when its process ended. */
static void add_last(struct ncs_finding *finding,
		     const struct ncs_diagnosis *diagnosis,
		     const struct ncs_rank *rank)
{
	const struct ncs_wait_node *node =
		ncs_wait_node_of(&diagnosis->graph, rank);

	if (node->operation)
		ncs_finding_add_operation(finding, rank, node->operation);
	else
		ncs_finding_add_fact(finding, NCS_EVIDENCE_IDLE, rank,
				     ncs_age_ns(rank, rank->now.last_call_ns));
}

static bool is_halted(const struct ncs_diagnosis *diagnosis,
		      const struct ncs_rank *rank)
{
	return ncs_wait_node_of(&diagnosis->graph, rank)->halted;
}

/* Whether all processes of a communicator have ended at one time. */
static bool have_ended_together(const struct ncs_diagnosis *diagnosis,
				const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->now.liveness != NCS_DEAD ||
		    is_halted(diagnosis, communicator->ranks[i]))
			return false;
	return true;
}

/* Whether a rank is known to be in an operation. Of one that began since the
 * heartbeat before, the plugin may not have seen the end yet when the process ended:
 * where no other rank's process lived longer, nothing tells that it lacked one. */
static bool is_in_operation(const struct ncs_rank *rank, bool ended_together)
{
	if (!ended_together)
		return rank->now.operation_count > 0;
	for (size_t i = 0; i < rank->now.operation_count; i++)
		if (ncs_age_ns(rank, rank->now.operations[i].start_ns) >=
		    NCS_HEARTBEAT_NS)
			return true;
	return false;
}

/* Whether a rank has nothing in flight, as far as is known, and has called what
 * `other` has. */
static bool is_at_rest(const struct ncs_rank *rank,
		       const struct ncs_rank *other, bool ended_together)
{
	unsigned unstarted;

	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *view = &rank->now.functions[i];

		if (view->last_sequence_number !=
			    other->now.functions[i].last_sequence_number ||
		    (view->operations > 0 && !ncs_function_ends_known(view)))
			return false;
	}
	return !is_in_operation(rank, ended_together) &&
	       ncs_unstarted_ns(rank, &unstarted) == 0;
}

/* Whether a process has ended rather than died: it owed nothing to the others of
 * its communicator, nor they to it, or it was seen until it ended with all
 * others when nothing was wrong. */
static bool has_ended(const struct ncs_diagnosis *diagnosis,
		      const struct ncs_rank *rank)
{
	const struct ncs_communicator *communicator = rank->communicator;
	bool together = have_ended_together(diagnosis, communicator);

	if (diagnosis->graph.is_over && rank->alive_ns != 0 &&
	    !is_halted(diagnosis, rank) && diagnosis->count == 0)
		return true;
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (!is_at_rest(communicator->ranks[i], rank, together))
			return false;
	return true;
}

static void report_dead(struct ncs_diagnosis *diagnosis,
			const struct ncs_rank *rank, size_t waiting)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, NCS_VERDICT_RANK_DIED, ncs_party_of(rank));

	finding->duration_ns = ncs_dead_ns(diagnosis->model, rank);
	finding->waiting = waiting;
	ncs_finding_rate(finding, waiting > 0, NCS_CONFIDENCE_CERTAIN);
	ncs_finding_add_death(finding, diagnosis->model, rank);
	add_last(finding, diagnosis, rank);
}

/* Reports a process that died, unless it is reported. */
static void report_death(struct ncs_diagnosis *diagnosis,
			 const struct ncs_rank *rank, bool is_cause)
{
	struct ncs_finding *finding;
	size_t waiting = 0;

	if (is_root(diagnosis, rank) || is_reported(diagnosis, rank))
		return;
	/* Channels may not wait: NCCL may have given them up. */
	if (is_cause || !ncs_diagnosis_explains(diagnosis, rank->communicator))
		waiting = count_stuck(diagnosis, rank->communicator);
	ncs_diagnosis_explain(diagnosis, rank);
	finding = ncs_diagnosis_find(diagnosis, NCS_VERDICT_RANK_DIED,
				     rank->communicator);
	if (!finding) {
		report_dead(diagnosis, rank, waiting);
		return;
	}
	finding->alike++;
	add_last(finding, diagnosis, rank);
}

/* Reports the processes that died, the first of them first: those that may be
 * waited for, or the others. */
static void report_deaths(struct ncs_diagnosis *diagnosis, bool is_cause)
{
	size_t count;
	const struct ncs_rank **deaths =
		ncs_deaths_in_order(diagnosis->model, &count);

	if (!deaths)
		diagnosis->no_memory = true;
	for (size_t i = 0; i < count; i++) {
		const struct ncs_rank *rank = deaths[i];
		bool is_due = rank->communicator->live > 0 ?
				      is_halted(diagnosis, rank) == is_cause :
				      diagnosis->graph.is_over && !is_cause;

		if (is_due && !has_ended(diagnosis, rank))
			report_death(diagnosis, rank, is_cause);
	}
	free(deaths);
}

void ncs_find_dead_ranks(struct ncs_diagnosis *diagnosis)
{
	report_deaths(diagnosis, true);
}

void ncs_find_late_deaths(struct ncs_diagnosis *diagnosis)
{
	report_deaths(diagnosis, false);
}

/* --- Ranks that are not seen ---------------------------------------------- */

/* Whether the first data that comes in an operation is the sender's own: in rings
 * of ranks that all wait for all, and from the root. In trees and chains a rank
 * sends what it has received, and may wait for it itself. */
static bool begins_with_own_data(const struct ncs_rank *rank,
				 const struct ncs_wait_edge *edge)
{
	if (ncs_is_transfer(edge->call.function))
		return true;
	for (size_t i = 0; i < rank->now.operation_count; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];

		if (operation->number != edge->channel->operation)
			continue;
		return ncs_wait_rule_of(edge->call.function) ==
				       NCS_WAIT_FOR_ALL ?
			       operation->algorithm == NCS_ALGORITHM_RING :
			       operation->peer == edge->unseen;
	}
	return false;
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
