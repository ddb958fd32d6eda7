/* SPDX-License-Identifier: MIT */
/* The rule for the ends of chains of waits: the rank that holds others up, and
 * what it does instead.
 */
#include "analysis/diagnosis/rules.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"
#include "analysis/records/operation_record.h"

#include <stdlib.h>
#include <string.h>

/* Returns the longest wait for a node; shorter ones may be for something that
 * comes later. Of equal waits a call is preferred, since it says more. Returns
 * NULL if no rank waits for the node. */
static const struct ncs_wait_edge *edge_to(const struct ncs_wait_graph *graph,
					   size_t node)
{
	const struct ncs_wait_edge *best = NULL;

	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct ncs_wait_edge *edge = &graph->edges[i];

		if (edge->to != node || edge->kind == NCS_EDGE_PROCESS)
			continue;
		if (!best || edge->duration_ns > best->duration_ns ||
		    (edge->duration_ns == best->duration_ns &&
		     edge->kind == NCS_EDGE_CALL))
			best = edge;
	}
	return best;
}

/* Returns since when the proxy thread could have moved data of an operation and
 * has not: since its kernel began, however long ago the call was, and since the
 * thread last had something to do. */
static uint64_t unmoved_since_ns(const struct ncs_rank *rank,
				 const struct ncs_operation_view *operation)
{
	uint64_t since_ns = operation->start_ns;

	if (ncs_operation_phase(rank, operation) == NCS_LAUNCH_PHASE_RUNNING &&
	    rank->now.launches.begun_ns > since_ns)
		since_ns = rank->now.launches.begun_ns;
	if (ncs_rank_proxy_known(rank) && rank->now.proxy.since_ns > since_ns)
		since_ns = rank->now.proxy.since_ns;
	return since_ns;
}

/* Whether operations of a rank need its proxy thread, as far as is known: over NVLink
 * and shared memory they do not. */
static bool may_need_proxy(const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;

	return rank->now.channel_count > 0 ||
	       !(identity->known & NCS_KNOWN_NNODES) || identity->nnodes != 1;
}

/* Whether a rank's own GPU or process holds it up, and the verdict then. */
static bool own_verdict(const struct ncs_wait_node *node,
			enum ncs_verdict *verdict)
{
	const struct ncs_rank *rank = node->rank;
	const struct ncs_operation_view *operation = node->operation;
	bool asleep = rank->now.proxy.state == NCS_PROXY_SLEEP ||
		      !ncs_rank_proxy_known(rank);

	if (node->level)
		return false;
	if (operation && !node->queued && ncs_rank_is_quiet(rank) &&
	    asleep &&
	    (operation->enqueued_ns == 0 || may_need_proxy(rank)) &&
	    ncs_age_ns(rank, unmoved_since_ns(rank, operation)) >=
		    NCS_LONG_WAIT_NS) {
		*verdict = operation->enqueued_ns == 0 ?
				   NCS_VERDICT_LAUNCHER_BLOCKED :
				   NCS_VERDICT_PROXY_ASLEEP;
		if (operation->enqueued_ns == 0 ||
		    (operation->children_started == operation->children_done &&
		     ncs_rank_reports_ends(rank, operation->function)))
			return true;
	}
	if (!node->local)
		return false;
	*verdict = node->local->send ? NCS_VERDICT_GPU_LATE :
				       NCS_VERDICT_CONSUMER_LATE;
	/* A GPU that neither takes nor produces data has not begun. */
	for (size_t i = 0; i < rank->now.channel_count; i++)
		if (rank->now.channels[i].state == NCS_CHANNEL_SEND_GPU_WAIT &&
		    ncs_wait_ns(rank, &rank->now.channels[i]) >=
			    NCS_LONG_WAIT_NS)
			*verdict = NCS_VERDICT_GPU_LATE;
	return true;
}

/* Whether the edge says that the other rank has not called. */
static bool is_call(const struct ncs_wait_edge *edge)
{
	return edge->kind == NCS_EDGE_CALL || edge->kind == NCS_EDGE_KERNEL;
}

/* Whether a rank has not made the call in which it is waited for, as far as that has a
 * number. */
static bool lacks_call(const struct ncs_rank *rank,
		       const struct ncs_wait_edge *edge)
{
	return edge->call.sequence_number != NCS_NO_SEQUENCE_NUMBER &&
	       edge->call.function < NCS_FUNCTION_COUNT &&
	       ncs_rank_next(rank, edge->call.function) <=
		       edge->call.sequence_number;
}

static enum ncs_verdict verdict_of_awaited(const struct ncs_wait_node *node,
					   const struct ncs_wait_edge *edge)
{
	const struct ncs_rank *rank = node->rank;

	if (node->halted)
		return rank->now.liveness == NCS_DEAD && !node->was_stopped ?
			       NCS_VERDICT_RANK_DIED :
			       NCS_VERDICT_RANK_STOPPED;
	if (node->queued)
		return NCS_VERDICT_GPU_LATE;
	/* One that left in the middle of an operation has called it. */
	if (rank->now.liveness == NCS_FINISHED)
		return edge->call.sequence_number == NCS_NO_SEQUENCE_NUMBER ||
				       lacks_call(rank, edge) ?
			       NCS_VERDICT_RANK_MISSING :
			       NCS_VERDICT_PEER_WAIT;
	if (node->operation == NULL && is_call(edge))
		return ncs_is_transfer(edge->call.function) ?
			       NCS_VERDICT_P2P_UNMET :
			       NCS_VERDICT_RANK_MISSING;
	if (!node->stalled || node->operation || !ncs_rank_is_quiet(rank))
		return NCS_VERDICT_PEER_WAIT;
	if (ncs_is_transfer(edge->call.function))
		return NCS_VERDICT_P2P_UNMET;
	return lacks_call(rank, edge) ? NCS_VERDICT_RANK_MISSING :
					NCS_VERDICT_PEER_WAIT;
}

/* --- Ranks that come late --------------------------------------------------- */

/* Returns by how much later than another rank, which waits for it, a rank
 * initialized its communicator; 0 if that is not known. */
static uint64_t born_late_ns(const struct ncs_rank *rank,
			     const struct ncs_rank *waiting)
{
	uint64_t born_ns = rank->history.birth.taken_ns;
	uint64_t before_ns = waiting->history.birth.taken_ns +
			     ncs_error_between(rank, waiting);

	return waiting->history.birth.taken_ns != 0 && before_ns < born_ns &&
			       ncs_is_comparable(rank, waiting) ?
		       born_ns - before_ns :
		       0;
}

/* Whether no operation of a rank has ended. */
static bool is_at_first(const struct ncs_rank *rank)
{
	uint64_t operations = 0;

	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		operations += rank->now.functions[i].operations;
	return operations <= rank->now.operation_count;
}

/* Whether another rank waits for one since this came late, not long ago. */
static bool has_come_late(const struct ncs_rank *rank,
			  const struct ncs_rank *waiting)
{
	return is_at_first(rank) &&
	       born_late_ns(rank, waiting) >= NCS_LONG_WAIT_NS &&
	       ncs_age_ns(rank, rank->history.birth.taken_ns) < NCS_STUCK_NS;
}

/* Returns how long all others have waited for the host of a rank before, at most;
 * 0 if that is not known. */
static uint64_t usual_wait_ns(const struct ncs_rank *rank)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

	return view ? view->longest_host_ns : 0;
}

static bool is_absence(enum ncs_verdict verdict)
{
	return verdict == NCS_VERDICT_RANK_MISSING ||
	       verdict == NCS_VERDICT_P2P_UNMET;
}

/* Returns the verdict on a rank that others wait for, whose host may only have come
 * late to a call, or be busy as it was before. */
static enum ncs_verdict
verdict_of_late_host(const struct ncs_wait_graph *graph,
		     const struct ncs_wait_node *node,
		     const struct ncs_wait_edge *edge, enum ncs_verdict verdict)
{
	const struct ncs_rank *rank = node->rank;

	if (node->halted || !ncs_rank_is_live(rank) ||
	    (node->operation &&
	     ncs_age_ns(rank, node->operation->start_ns) >= NCS_LONG_WAIT_NS))
		return verdict;
	if (has_come_late(rank, graph->nodes[edge->from].rank))
		return NCS_VERDICT_CAME_LATE;
	if (node->operation)
		return NCS_VERDICT_PEER_WAIT;
	return is_absence(verdict) &&
			       edge->duration_ns <= usual_wait_ns(rank) ?
		       NCS_VERDICT_HOST_BUSY :
		       verdict;
}

/* Whether a rank is absent for longer than it may be by what it did before. A
 * process that goes on in another communicator was held up there, and may still
 * come. */
static bool is_gone_for_long(const struct ncs_wait_graph *graph,
			     const struct ncs_rank *rank,
			     const struct ncs_finding *finding)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct ncs_rank *other = graph->nodes[i].rank;

		if (ncs_shares_process(rank, other) &&
		    ncs_age_ns(other, ncs_rank_moved_ns(other)) <
			    ncs_stuck_ns(other) &&
		    ncs_rank_moved_ns(other) != 0)
			return false;
	}
	return finding->duration_ns >=
		       usual_wait_ns(rank) + ncs_stuck_ns(rank) &&
	       !has_come_late(rank, finding->peer.rank);
}

/* Adds since when a rank can have called, and how long the others waited for its
 * host before. */
static void add_host(struct ncs_finding *finding, const struct ncs_rank *rank)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);
	uint64_t late_ns = born_late_ns(rank, finding->peer.rank);

	if (is_at_first(rank) && late_ns >= NCS_LONG_WAIT_NS) {
		ncs_finding_add_fact(finding, NCS_EVIDENCE_BORN, rank, late_ns);
		return;
	}
	if (!view || view->known_ns == 0) {
		ncs_finding_add_fact(finding, NCS_EVIDENCE_HOST_UNKNOWN, rank,
				     0);
		return;
	}
	ncs_finding_add_fact(finding, NCS_EVIDENCE_HOST, rank,
			     view->longest_host_ns)
		->expected = view->known_ns;
}

/* --- How certain it is ------------------------------------------------------ */

static enum ncs_confidence confidence_in(const struct ncs_wait_graph *graph,
					 const struct ncs_wait_node *node,
					 const struct ncs_wait_edge *edge,
					 enum ncs_verdict verdict)
{
	const struct ncs_rank *rank = node->rank;

	/* A process that died at an unknown time may have waited shortly. */
	if (!node->halted &&
	    (!ncs_rank_end_is_known(rank) ||
	     (edge && edge->duration_ns < NCS_LONG_WAIT_NS)))
		return NCS_CONFIDENCE_POSSIBLE;
	switch (verdict) {
	case NCS_VERDICT_RANK_DIED:
	case NCS_VERDICT_RANK_STOPPED:
		return NCS_CONFIDENCE_CERTAIN;
	case NCS_VERDICT_RANK_MISSING:
		if (ncs_rank_hides_replay(rank, graph->nodes[edge->from].rank))
			return NCS_CONFIDENCE_POSSIBLE;
		return edge->kind == NCS_EDGE_KERNEL ||
				       ncs_rank_reports_ends(
					       rank, edge->call.function) ?
			       NCS_CONFIDENCE_CERTAIN :
			       NCS_CONFIDENCE_LIKELY;
	case NCS_VERDICT_GPU_LATE:
		if (node->queued)
			return NCS_CONFIDENCE_CERTAIN;
		/* The late GPU may be that of a rank that passes data on. */
		if (ncs_rank_shares_node(rank) || !ncs_rank_peer_wait_known(rank))
			return NCS_CONFIDENCE_POSSIBLE;
		return NCS_CONFIDENCE_LIKELY;
	case NCS_VERDICT_PEER_WAIT:
		return NCS_CONFIDENCE_POSSIBLE;
	case NCS_VERDICT_LAUNCHER_BLOCKED:
	case NCS_VERDICT_PROXY_ASLEEP:
		return ncs_rank_proxy_known(rank) ? NCS_CONFIDENCE_LIKELY :
						    NCS_CONFIDENCE_POSSIBLE;
	default:
		return NCS_CONFIDENCE_LIKELY;
	}
}

/* Whether a collective call would have been the next one of a rank. */
static bool is_behind(const struct ncs_wait_node *node, struct ncs_call_id call)
{
	return !node->operation && call.function < NCS_FUNCTION_COUNT &&
	       !ncs_is_transfer(call.function) &&
	       call.sequence_number != NCS_NO_SEQUENCE_NUMBER &&
	       ncs_rank_next(node->rank, call.function) == call.sequence_number;
}

/* Adds the state of a rank's proxy thread. */
static void add_proxy(struct ncs_finding *finding, const struct ncs_rank *rank)
{
	if (!ncs_rank_proxy_known(rank))
		ncs_finding_add_fact(finding, NCS_EVIDENCE_NO_SIGNALS, rank, 0);
	else
		ncs_finding_add_fact(finding, NCS_EVIDENCE_PROXY, rank,
				     ncs_age_ns(rank, rank->now.proxy.since_ns))
			->number = rank->now.proxy.state;
}

/* Adds what the root itself shows. One that died may have been missing before. */
static void add_root_evidence(struct ncs_finding *finding,
			      const struct ncs_model *model,
			      const struct ncs_wait_node *node)
{
	const struct ncs_rank *rank = node->rank;
	const bool is_dead = node->halted && !node->was_stopped &&
			     rank->now.liveness == NCS_DEAD;

	if (is_dead)
		ncs_finding_add_death(finding, model, rank);
	else if (rank->now.liveness == NCS_FINISHED)
		ncs_finding_add_fact(finding, NCS_EVIDENCE_FINISHED, rank, 0);
	else if (node->halted)
		ncs_finding_add_fact(finding, NCS_EVIDENCE_STOPPED, rank, 0);
	if (finding->verdict == NCS_VERDICT_RANK_MISSING ||
	    ((is_dead || finding->verdict == NCS_VERDICT_HOST_BUSY) &&
	     is_behind(node, finding->call)))
		ncs_finding_add_fact(finding, NCS_EVIDENCE_BEHIND, rank, 0)
			->call = finding->call;
	if (ncs_rank_is_live(rank) && !node->halted &&
	    (is_absence(finding->verdict) ||
	     finding->verdict == NCS_VERDICT_HOST_BUSY ||
	     finding->verdict == NCS_VERDICT_CAME_LATE))
		add_host(finding, rank);
	if (node->local)
		ncs_finding_add_wait(finding, rank, node->local);
	/* The launches that a stopped process shows are out of date. */
	if (node->operation && !(node->halted && ncs_rank_is_live(rank)))
		ncs_finding_add_operation(finding, rank, node->operation);
	else if ((node->waits || is_dead) && ncs_rank_is_quiet(rank))
		ncs_finding_add_fact(finding, NCS_EVIDENCE_IDLE, rank,
				     ncs_age_ns(rank, rank->now.last_call_ns));
	if (node->waits) {
		ncs_finding_add_open_calls(finding, rank);
		if (rank->now.channel_count > 0)
			add_proxy(finding, rank);
	}
}

static struct ncs_call_id call_of(const struct ncs_wait_node *node,
				  const struct ncs_wait_edge *edge)
{
	if (node->halted)
		return edge ? edge->call : ncs_no_call;
	if (node->operation)
		return ncs_call_of(node->operation);
	if (edge)
		return edge->call;
	if (node->local)
		return (struct ncs_call_id){ node->local->function,
					     NCS_NO_SEQUENCE_NUMBER };
	return ncs_no_call;
}

/* Whether the root of a finding does not move, and should. */
static bool is_stuck(const struct ncs_diagnosis *diagnosis,
		     const struct ncs_wait_node *node,
		     const struct ncs_finding *finding)
{
	/* Until it called, the others waited for its host. */
	if (node->operation && !node->halted &&
	    ncs_age_ns(node->rank, node->operation->start_ns) <
		    ncs_stuck_ns(node->rank))
		return false;
	if (node->queued)
		return node->gpu_stalled;
	return node->stalled &&
	       (!is_absence(finding->verdict) || node->operation ||
		is_gone_for_long(&diagnosis->graph, node->rank, finding));
}

/* Whether no operation of two ranks has ended, and one of them is not there yet: ranks are
 * apart by what they load and compile before they begin. */
static bool is_starting(const struct ncs_wait_graph *graph,
			const struct ncs_wait_node *node,
			enum ncs_verdict verdict,
			const struct ncs_wait_edge *edge)
{
	return verdict == NCS_VERDICT_RANK_MISSING && !node->halted &&
	       ncs_rank_is_live(node->rank) && is_at_first(node->rank) &&
	       is_at_first(graph->nodes[edge->from].rank) &&
	       edge->duration_ns < NCS_STUCK_NS;
}

/* Adds a rank to the finding that has the same verdict, communicator and
 * function. Returns false if there is no such finding. */
static bool join(struct ncs_diagnosis *diagnosis, enum ncs_verdict verdict,
		 const struct ncs_rank *rank, unsigned function)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		struct ncs_finding *finding = &diagnosis->findings[i];

		if (finding->verdict != verdict ||
		    finding->root.communicator != rank->communicator ||
		    finding->call.function != function)
			continue;
		finding->alike++;
		ncs_finding_add_fact(finding, NCS_EVIDENCE_ALSO, rank, 0);
		return true;
	}
	return false;
}

static void report_end(struct ncs_diagnosis *diagnosis,
		       const struct ncs_wait_node *node,
		       enum ncs_verdict verdict,
		       const struct ncs_wait_edge *edge)
{
	struct ncs_wait_graph *graph = &diagnosis->graph;
	struct ncs_call_id call = call_of(node, edge);
	struct ncs_finding *finding;

	if (edge && is_starting(graph, node, verdict, edge))
		return;
	ncs_diagnosis_explain(diagnosis, node->rank);
	/* The rule for ranks that died adds the others. */
	if (verdict == NCS_VERDICT_RANK_DIED &&
	    ncs_diagnosis_find(diagnosis, verdict, node->rank->communicator))
		return;
	if (join(diagnosis, verdict, node->rank, call.function))
		return;
	finding =
		ncs_diagnosis_add(diagnosis, verdict, ncs_party_of(node->rank));
	finding->call = call;
	if (node->local && !node->halted) {
		finding->channel = node->local;
		finding->duration_ns = ncs_wait_ns(node->rank, node->local);
	} else if (node->operation && !node->halted && !node->queued) {
		finding->duration_ns =
			ncs_age_ns(node->rank, node->operation->start_ns);
	}
	if (edge) {
		finding->peer = ncs_party_of(graph->nodes[edge->from].rank);
		finding->waiting = ncs_wait_graph_waiting(graph, edge->to);
		if (edge->duration_ns > finding->duration_ns)
			finding->duration_ns = edge->duration_ns;
		if (!finding->channel) {
			finding->channel = edge->channel;
			finding->channel_rank =
				edge->channel ? graph->nodes[edge->from].rank :
						NULL;
		}
	}
	if (!edge && node->halted)
		finding->duration_ns =
			ncs_age_ns(node->rank, ncs_rank_moved_ns(node->rank));
	/* A queued kernel is late since the time when another rank's kernel
	 * began. */
	if (node->local && node->begun_ns < finding->duration_ns)
		finding->duration_ns = node->begun_ns;
	/* Nor is it late before it was called. */
	if (verdict == NCS_VERDICT_GPU_LATE && node->queued) {
		uint64_t called_ns =
			ncs_age_ns(node->rank, node->operation->start_ns);

		if (called_ns < finding->duration_ns)
			finding->duration_ns = called_ns;
	}
	ncs_finding_rate(finding, is_stuck(diagnosis, node, finding),
			 confidence_in(graph, node, edge, verdict));
	add_root_evidence(finding, diagnosis->model, node);
	if (edge)
		ncs_finding_add_waiter(finding, graph, edge);
	ncs_finding_add_unseen(finding, node->rank->communicator);
}

static void report_network(struct ncs_diagnosis *diagnosis, size_t index,
			   const struct ncs_wait_edge *edge)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_rank *rank = graph->nodes[index].rank;
	const struct ncs_rank *peer =
		edge->to == NCS_NOBODY ? NULL : graph->nodes[edge->to].rank;
	struct ncs_party here = ncs_party_of(rank),
			 there = { peer, rank->communicator,
				   edge->channel->peer };
	const struct ncs_channel_view *other =
		ncs_other_end(rank, edge->channel, peer);
	struct ncs_finding *finding;

	ncs_diagnosis_explain(diagnosis, rank);
	/* Both ends report the same wait. */
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_finding *known = &diagnosis->findings[i];

		if (known->verdict == NCS_VERDICT_NETWORK &&
		    known->root.communicator == rank->communicator &&
		    ((known->root.number == here.number &&
		      known->peer.number == there.number) ||
		     (known->root.number == there.number &&
		      known->peer.number == here.number)))
			return;
	}
	finding = ncs_diagnosis_add(diagnosis, NCS_VERDICT_NETWORK,
				    edge->channel->send ? here : there);
	finding->peer = edge->channel->send ? there : here;
	finding->channel = edge->channel;
	finding->channel_rank = rank;
	finding->call = edge->call;
	finding->duration_ns = edge->duration_ns;
	finding->waiting = ncs_wait_graph_waiting(&diagnosis->graph, index);
	ncs_finding_rate(finding, graph->nodes[index].stalled,
			 other ? NCS_CONFIDENCE_LIKELY :
				 NCS_CONFIDENCE_POSSIBLE);
	ncs_finding_add_wait(finding, rank, edge->channel);
	if (other)
		ncs_finding_add_wait(finding, peer, other);
	ncs_finding_add_unseen(finding, rank->communicator);
}

static const struct ncs_wait_edge *
network_edge(const struct ncs_wait_graph *graph,
	     const struct ncs_wait_node *node)
{
	const struct ncs_wait_edge *best = NULL;

	for (size_t i = 0; i < node->count; i++) {
		const struct ncs_wait_edge *edge =
			&graph->edges[node->first + i];

		if (edge->kind == NCS_EDGE_NETWORK &&
		    (!best || edge->duration_ns > best->duration_ns))
			best = edge;
	}
	return best;
}

/* Returns the first rank of a communicator that lives if the processes of all that do
 * are stopped: then none waits for another one. Else NULL. */
static const struct ncs_rank *
first_stopped(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *first = NULL;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		if (!ncs_rank_is_live(rank))
			continue;
		if (!rank->stays_stopped)
			return NULL;
		if (!first)
			first = rank;
	}
	return first;
}

/* Reports the stopped processes of a communicator if all are, as in a job that is
 * suspended, once for each communicator that no process of an earlier one is in. */
static void check_stopped(struct ncs_diagnosis *diagnosis,
			  const struct ncs_rank *rank)
{
	const struct ncs_communicator *communicator = rank->communicator;

	if (!communicator || !rank->stays_stopped ||
	    ncs_diagnosis_explains(diagnosis, communicator) ||
	    (rank != communicator->ranks[0] &&
	     ncs_rank_is_live(communicator->ranks[0])) ||
	    first_stopped(communicator) != rank ||
	    ncs_diagnosis_explains_process(diagnosis, rank))
		return;
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (ncs_rank_is_live(communicator->ranks[i]))
			report_end(diagnosis,
				   ncs_wait_node_of(&diagnosis->graph,
						    communicator->ranks[i]),
				   NCS_VERDICT_RANK_STOPPED, NULL);
}

static void check_end(struct ncs_diagnosis *diagnosis, size_t index)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_node *node = &graph->nodes[index];
	const struct ncs_wait_edge *edge = network_edge(graph, node);
	enum ncs_verdict verdict;

	if (edge) {
		report_network(diagnosis, index, edge);
		return;
	}
	if (node->count > 0)
		return;
	edge = node->awaited ? edge_to(graph, index) : NULL;
	if (node->waits && own_verdict(node, &verdict)) {
		report_end(diagnosis, node, verdict, edge);
	} else if (edge) {
		verdict = verdict_of_late_host(graph, node, edge,
					       verdict_of_awaited(node, edge));
		/* It may have died while it waited for one that had died
		 * before. */
		if (verdict == NCS_VERDICT_RANK_DIED)
			node = ncs_first_death(graph, node);
		report_end(diagnosis, node, verdict, edge);
	} else {
		check_stopped(diagnosis, node->rank);
	}
}

/* Skips communicators that a disagreement explained before this rule runs. Does
 * not skip those that this rule explains, since they may have more than one
 * end. */
void ncs_find_chain_ends(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	bool *skip = calloc(model->communicator_count + 1, sizeof(*skip));

	if (!skip) {
		diagnosis->no_memory = true;
		return;
	}
	memcpy(skip, diagnosis->explained,
	       model->communicator_count * sizeof(*skip));
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct ncs_communicator *communicator =
			graph->nodes[i].rank->communicator;

		if (graph->nodes[i].is_end &&
		    !(communicator &&
		      skip[communicator - model->communicators]))
			check_end(diagnosis, i);
	}
	free(skip);
}
