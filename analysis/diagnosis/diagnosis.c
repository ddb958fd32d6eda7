/* SPDX-License-Identifier: MIT */
/* The rules: from waits to who is to blame.
 *
 * First what is wrong beyond doubt, calls that do not agree; then the ends of
 * the chains of waits, each for what it is; then circles; then ranks that are
 * not seen here, if nothing here explains the waits for them; then what is
 * slow. A communicator that is explained by one rule is left out by the later
 * ones: one fault makes all its ranks wait.
 */
#include "analysis/diagnosis/diagnosis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diagnosis/disagreement.h"
#include "analysis/diagnosis/summary.h"

#define CIRCLE_MAX 64

struct ncs_finding *ncs_diagnosis_add(struct ncs_diagnosis *diagnosis,
				      enum ncs_verdict verdict)
{
	struct ncs_finding *finding;

	if (diagnosis->count == diagnosis->capacity) {
		size_t capacity = 2 * diagnosis->capacity + 8;

		finding = realloc(diagnosis->findings,
				  capacity * sizeof(*finding));
		if (!finding)
			return NULL;
		diagnosis->findings = finding;
		diagnosis->capacity = capacity;
	}
	finding = &diagnosis->findings[diagnosis->count++];
	*finding = (struct ncs_finding){
		.verdict = verdict,
		.root.number = -1,
		.peer.number = -1,
		.call = ncs_no_call,
	};
	return finding;
}

static bool *explained(struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_communicator *communicator)
{
	return &diagnosis->explained[communicator - model->communicators];
}

/* --- The ends of chains --------------------------------------------------- */

/* Who waits longest for a node, and what for: the others may wait for what
 * comes after it. Of two that are as long, a call tells more. NULL: no one. */
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

static bool is_quiet(const struct ncs_rank *rank)
{
	for (size_t i = 0; i < rank->now.channel_count; i++)
		if (rank->now.channels[i].state != NCS_CHANNEL_IDLE)
			return false;
	return true;
}

static bool is_p2p(const struct ncs_channel_view *channel)
{
	return channel->function == NCS_FUNCTION_SEND ||
	       channel->function == NCS_FUNCTION_RECV ||
	       channel->function == NCS_FUNCTION_SEND_RECV;
}

/* Where its own GPU or process is what holds a rank up. */
static bool own_verdict(const struct ncs_wait_node *node,
			enum ncs_verdict *verdict)
{
	const struct ncs_rank *rank = node->rank;
	const struct ncs_operation_view *operation = node->operation;
	bool asleep = rank->now.proxy.state == NCS_PROXY_SLEEP ||
		      !ncs_rank_proxy_known(rank);

	if (node->level)
		return false;
	if (operation && is_quiet(rank) && asleep &&
	    ncs_age_ns(rank, operation->start_ns) >= NCS_LONG_WAIT_NS) {
		*verdict = operation->enqueued_ns == 0 ?
				   NCS_VERDICT_LAUNCHER_BLOCKED :
				   NCS_VERDICT_PROXY_ASLEEP;
		if (operation->enqueued_ns == 0 ||
		    (operation->children_started == operation->children_done &&
		     ncs_rank_tells_ends(rank, operation->function)))
			return true;
	}
	if (!node->local)
		return false;
	*verdict = node->local->send ? NCS_VERDICT_GPU_LATE :
				       NCS_VERDICT_CONSUMER_LATE;
	/* It takes no data, and gives none: it has not begun. */
	for (size_t i = 0; i < rank->now.channel_count; i++)
		if (rank->now.channels[i].state == NCS_CHANNEL_SEND_GPU_WAIT &&
		    ncs_wait_ns(rank, &rank->now.channels[i]) >=
			    NCS_LONG_WAIT_NS)
			*verdict = NCS_VERDICT_GPU_LATE;
	return true;
}

static enum ncs_verdict verdict_of_awaited(const struct ncs_wait_node *node,
					   const struct ncs_wait_edge *edge)
{
	const struct ncs_rank *rank = node->rank;

	if (!ncs_rank_is_live(rank))
		return rank->now.liveness == NCS_DEAD ?
			       NCS_VERDICT_RANK_DIED :
			       NCS_VERDICT_RANK_MISSING;
	if (rank->now.process_stopped)
		return NCS_VERDICT_RANK_STOPPED;
	if (edge->kind == NCS_EDGE_CALL && !node->operation)
		return NCS_VERDICT_RANK_MISSING;
	if (!node->stands || node->operation || !is_quiet(rank))
		return NCS_VERDICT_PEER_WAIT;
	if (edge->channel && is_p2p(edge->channel))
		return NCS_VERDICT_P2P_UNMET;
	if (edge->sequence_number != NCS_NO_SEQUENCE_NUMBER &&
	    edge->function < NCS_FUNCTION_COUNT &&
	    ncs_rank_next(rank, edge->function) <= edge->sequence_number)
		return NCS_VERDICT_RANK_MISSING;
	return NCS_VERDICT_PEER_WAIT;
}

/* Several ranks of a node share what comes over the network, so that the GPU
 * that is late may be another one's that hands data on. */
static bool shares_node(const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;
	uint64_t both = NCS_KNOWN_NRANKS | NCS_KNOWN_NNODES;

	return (identity->known & both) == both && identity->nnodes > 1 &&
	       identity->nranks > identity->nnodes;
}

static enum ncs_confidence sure_of(const struct ncs_wait_node *node,
				   const struct ncs_wait_edge *edge,
				   enum ncs_verdict verdict)
{
	const struct ncs_rank *rank = node->rank;

	switch (verdict) {
	case NCS_VERDICT_RANK_DIED:
	case NCS_VERDICT_RANK_STOPPED:
		return NCS_CONFIDENCE_CERTAIN;
	case NCS_VERDICT_RANK_MISSING:
		return ncs_rank_tells_ends(rank, edge->function) ?
			       NCS_CONFIDENCE_CERTAIN :
			       NCS_CONFIDENCE_LIKELY;
	case NCS_VERDICT_GPU_LATE:
		if (shares_node(rank) || !ncs_rank_peer_wait_known(rank))
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

/* What the root itself says. */
static void add_root_evidence(struct ncs_finding *finding,
			      const struct ncs_wait_node *node)
{
	const struct ncs_rank *rank = node->rank;

	if (rank->now.liveness == NCS_DEAD)
		ncs_finding_tell_fact(finding, NCS_EVIDENCE_GONE, rank,
				      finding->duration_ns);
	else if (rank->now.liveness == NCS_FINISHED)
		ncs_finding_tell_fact(finding, NCS_EVIDENCE_FINISHED, rank, 0);
	else if (rank->now.process_stopped)
		ncs_finding_tell_fact(finding, NCS_EVIDENCE_STOPPED, rank, 0);
	if (finding->verdict == NCS_VERDICT_RANK_MISSING)
		ncs_finding_tell(finding, (struct ncs_evidence){
						  .kind = NCS_EVIDENCE_BEHIND,
						  .party = ncs_party_of(rank),
						  .call = finding->call,
					  });
	if (node->local)
		ncs_finding_tell_wait(finding, rank, node->local);
	if (node->operation)
		ncs_finding_tell_operation(finding, rank, node->operation);
	else if (ncs_rank_is_live(rank) && is_quiet(rank))
		ncs_finding_tell_fact(finding, NCS_EVIDENCE_IDLE, rank,
				      ncs_age_ns(rank, rank->now.last_call_ns));
	if (ncs_rank_is_live(rank)) {
		ncs_finding_tell_inside(finding, rank);
		if (rank->now.channel_count > 0)
			ncs_finding_tell_proxy(finding, rank);
	}
}

/* What the one says who waits longest. */
static void add_waiter_evidence(struct ncs_finding *finding,
				const struct ncs_wait_graph *graph,
				const struct ncs_wait_edge *edge)
{
	const struct ncs_rank *waiter = graph->nodes[edge->from].rank;

	if (edge->channel) {
		ncs_finding_tell_wait(finding, waiter, edge->channel);
		return;
	}
	ncs_finding_tell(finding, (struct ncs_evidence){
					  .kind = NCS_EVIDENCE_CALLED,
					  .party = ncs_party_of(waiter),
					  .call = { edge->function,
						    edge->sequence_number },
					  .duration_ns = edge->duration_ns,
				  });
	/* Its channels tell it, too. */
	for (size_t i = 0; i < graph->nodes[edge->from].count; i++) {
		const struct ncs_wait_edge *own =
			&graph->edges[graph->nodes[edge->from].first + i];

		if (own->channel) {
			ncs_finding_tell_wait(finding, waiter, own->channel);
			return;
		}
	}
}

/* One finding for all ranks of a communicator of which the same goes. */
static bool join_alike(struct ncs_diagnosis *diagnosis,
		       enum ncs_verdict verdict, const struct ncs_rank *rank,
		       unsigned function)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		struct ncs_finding *finding = &diagnosis->findings[i];

		if (finding->verdict != verdict ||
		    finding->root.communicator != rank->communicator ||
		    finding->call.function != function)
			continue;
		finding->alike++;
		ncs_finding_tell_fact(finding, NCS_EVIDENCE_ALSO, rank, 0);
		return true;
	}
	return false;
}

static struct ncs_call call_of(const struct ncs_wait_node *node,
			       const struct ncs_wait_edge *edge)
{
	if (node->operation)
		return (struct ncs_call){ node->operation->function,
					  node->operation->sequence_number };
	if (edge)
		return (struct ncs_call){ edge->function,
					  edge->sequence_number };
	if (node->local)
		return (struct ncs_call){ node->local->function,
					  NCS_NO_SEQUENCE_NUMBER };
	return ncs_no_call;
}

static int report_end(struct ncs_diagnosis *diagnosis,
		      const struct ncs_model *model, size_t index,
		      enum ncs_verdict verdict,
		      const struct ncs_wait_edge *edge)
{
	struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_node *node = &graph->nodes[index];
	struct ncs_call call = call_of(node, edge);
	struct ncs_finding *finding;

	if (node->rank->communicator)
		*explained(diagnosis, model, node->rank->communicator) = true;
	if (join_alike(diagnosis, verdict, node->rank, call.function))
		return 0;
	finding = ncs_diagnosis_add(diagnosis, verdict);
	if (!finding)
		return -ENOMEM;
	finding->root = ncs_party_of(node->rank);
	finding->call = call;
	if (node->local) {
		finding->channel = node->local;
		finding->duration_ns = ncs_wait_ns(node->rank, node->local);
	} else if (node->operation) {
		finding->duration_ns =
			ncs_age_ns(node->rank, node->operation->start_ns);
	}
	if (edge) {
		finding->peer = ncs_party_of(graph->nodes[edge->from].rank);
		finding->waiting = ncs_wait_graph_waiting(graph, index);
		if (edge->duration_ns > finding->duration_ns)
			finding->duration_ns = edge->duration_ns;
		if (!finding->channel) {
			finding->channel = edge->channel;
			finding->channel_rank =
				edge->channel ? graph->nodes[edge->from].rank :
						NULL;
		}
	}
	/* What is queued is late from when another one has begun. */
	if (node->local && node->begun_ns < finding->duration_ns)
		finding->duration_ns = node->begun_ns;
	ncs_finding_set_severity(finding,
				 node->stands || !ncs_rank_is_live(node->rank));
	ncs_finding_set_confidence(finding, sure_of(node, edge, verdict));
	add_root_evidence(finding, node);
	if (edge)
		add_waiter_evidence(finding, graph, edge);
	if (node->rank->communicator)
		ncs_finding_tell_unseen(finding, node->rank->communicator);
	return 0;
}

static int report_network(struct ncs_diagnosis *diagnosis,
			  const struct ncs_model *model, size_t index,
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

	if (rank->communicator)
		*explained(diagnosis, model, rank->communicator) = true;
	/* Both ends tell of the same. */
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_finding *known = &diagnosis->findings[i];

		if (known->verdict == NCS_VERDICT_NETWORK &&
		    known->root.communicator == rank->communicator &&
		    ((known->root.number == here.number &&
		      known->peer.number == there.number) ||
		     (known->root.number == there.number &&
		      known->peer.number == here.number)))
			return 0;
	}
	finding = ncs_diagnosis_add(diagnosis, NCS_VERDICT_NETWORK);
	if (!finding)
		return -ENOMEM;
	finding->root = edge->channel->send ? here : there;
	finding->peer = edge->channel->send ? there : here;
	finding->channel = edge->channel;
	finding->channel_rank = rank;
	finding->call =
		(struct ncs_call){ edge->function, edge->sequence_number };
	finding->duration_ns = edge->duration_ns;
	finding->waiting = ncs_wait_graph_waiting(&diagnosis->graph, index);
	ncs_finding_set_severity(finding, graph->nodes[index].stands);
	ncs_finding_set_confidence(finding, other ? NCS_CONFIDENCE_LIKELY :
						    NCS_CONFIDENCE_POSSIBLE);
	ncs_finding_tell_wait(finding, rank, edge->channel);
	if (other)
		ncs_finding_tell_wait(finding, peer, other);
	if (rank->communicator)
		ncs_finding_tell_unseen(finding, rank->communicator);
	return 0;
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

static int check_end(struct ncs_diagnosis *diagnosis,
		     const struct ncs_model *model, size_t index)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_node *node = &graph->nodes[index];
	const struct ncs_wait_edge *edge = network_edge(graph, node);
	enum ncs_verdict verdict;

	if (edge)
		return report_network(diagnosis, model, index, edge);
	if (node->count > 0)
		return 0;
	edge = node->awaited ? edge_to(graph, index) : NULL;
	if (ncs_rank_is_live(node->rank) &&
	    !(edge && node->rank->now.process_stopped) &&
	    own_verdict(node, &verdict))
		return report_end(diagnosis, model, index, verdict, edge);
	if (!edge)
		return 0;
	return report_end(diagnosis, model, index,
			  verdict_of_awaited(node, edge), edge);
}

/* A rank that is not live has no waits of its own, and its communicator may
 * disagree in nothing but it. */
static int check_ends(struct ncs_diagnosis *diagnosis,
		      const struct ncs_model *model)
{
	bool *skip = calloc(model->communicator_count + 1, sizeof(*skip));
	int error = skip ? 0 : -ENOMEM;

	if (!error)
		memcpy(skip, diagnosis->explained,
		       model->communicator_count * sizeof(*skip));
	for (size_t i = 0; !error && i < diagnosis->graph.node_count; i++) {
		const struct ncs_wait_node *node = &diagnosis->graph.nodes[i];
		const struct ncs_communicator *communicator =
			node->rank->communicator;

		if (node->is_end &&
		    !(communicator &&
		      skip[communicator - model->communicators]))
			error = check_end(diagnosis, model, i);
	}
	free(skip);
	return error;
}

/* --- Ranks that died ------------------------------------------------------ */

/* Another life of the job may have had the same place. */
static bool is_replaced(const struct ncs_rank *rank)
{
	const struct ncs_communicator *communicator = rank->communicator;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (ncs_rank_is_live(other) &&
		    other->now.identity.rank == rank->now.identity.rank)
			return true;
	}
	return false;
}

static bool is_told(const struct ncs_diagnosis *diagnosis,
		    const struct ncs_rank *rank)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_finding *finding = &diagnosis->findings[i];
		const struct ncs_rank *root = finding->root.rank;

		if (finding->verdict == NCS_VERDICT_RANK_DIED && root &&
		    root->header.pid == rank->header.pid &&
		    root->header.process_start == rank->header.process_start)
			return true;
	}
	return false;
}

/* Ranks of a communicator with something under way that has not moved for
 * long. */
static size_t count_stuck(const struct ncs_diagnosis *diagnosis,
			  const struct ncs_communicator *communicator)
{
	size_t count = 0;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_wait_node *node =
			&diagnosis->graph.nodes[ncs_wait_graph_find(
				&diagnosis->graph, rank)];

		count += ncs_rank_is_live(rank) && node->stands &&
			 node->operation &&
			 ncs_age_ns(rank, node->operation->start_ns) >=
				 NCS_STUCK_NS;
	}
	return count;
}

/* A process that ends without a word while others of its communicator stay is
 * suspicious after a while, though nobody waits for it yet; at the end of a job
 * they all go within moments. */
static int check_dead(struct ncs_diagnosis *diagnosis,
		      const struct ncs_model *model)
{
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		uint64_t since_ns = rank->now.last_call_ns;
		struct ncs_finding *finding;

		if (rank->now.liveness != NCS_DEAD || !rank->communicator ||
		    rank->communicator->live == 0 || is_replaced(rank) ||
		    is_told(diagnosis, rank) ||
		    rank->now.taken_ns < since_ns + NCS_STUCK_NS)
			continue;
		*explained(diagnosis, model, rank->communicator) = true;
		if (join_alike(diagnosis, NCS_VERDICT_RANK_DIED, rank,
			       NCS_FUNCTION_COUNT))
			continue;
		finding = ncs_diagnosis_add(diagnosis, NCS_VERDICT_RANK_DIED);
		if (!finding)
			return -ENOMEM;
		finding->root = ncs_party_of(rank);
		finding->duration_ns = rank->now.taken_ns - since_ns;
		/* NCCL may have given up on its channels: none waits then. */
		finding->waiting = count_stuck(diagnosis, rank->communicator);
		ncs_finding_set_severity(finding, finding->waiting > 0);
		ncs_finding_set_confidence(finding, NCS_CONFIDENCE_CERTAIN);
		ncs_finding_tell_fact(finding, NCS_EVIDENCE_GONE, rank,
				      finding->duration_ns);
	}
	return 0;
}

/* --- Circles -------------------------------------------------------------- */

/* Whether all wait in one collective: its algorithm has no circles, so what
 * looks like one passes through the GPUs. */
static bool is_one_call(const struct ncs_wait_graph *graph,
			const size_t *circle, size_t length)
{
	const struct ncs_wait_edge *first = &graph->edges[circle[0]];

	for (size_t i = 0; i < length; i++) {
		const struct ncs_wait_edge *edge = &graph->edges[circle[i]];

		if (edge->kind == NCS_EDGE_PROCESS ||
		    edge->function != first->function ||
		    (edge->channel && is_p2p(edge->channel)))
			return false;
	}
	return true;
}

/* The GPU that has given least. NULL: it is not to be told. */
static const struct ncs_channel_view *
least_given(const struct ncs_wait_graph *graph, const size_t *circle,
	    size_t length, size_t *node)
{
	const struct ncs_channel_view *least = NULL;
	bool is_alone = false;

	for (size_t i = 0; i < length; i++) {
		size_t from = graph->edges[circle[i]].from;
		const struct ncs_rank *rank = graph->nodes[from].rank;

		for (size_t k = 0; k < rank->now.channel_count; k++) {
			const struct ncs_channel_view *channel =
				&rank->now.channels[k];

			if (channel->state != NCS_CHANNEL_SEND_GPU_WAIT ||
			    ncs_wait_ns(rank, channel) < NCS_LONG_WAIT_NS)
				continue;
			if (least && channel->step == least->step &&
			    *node != from)
				is_alone = false;
			if (least && channel->step >= least->step)
				continue;
			least = channel;
			*node = from;
			is_alone = true;
		}
	}
	return is_alone ? least : NULL;
}

static int report_late_gpu(struct ncs_diagnosis *diagnosis,
			   const struct ncs_wait_edge *edge, size_t index,
			   const struct ncs_channel_view *channel,
			   size_t length)
{
	const struct ncs_wait_node *node = &diagnosis->graph.nodes[index];
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis, NCS_VERDICT_GPU_LATE);

	if (!finding)
		return -ENOMEM;
	finding->root = ncs_party_of(node->rank);
	finding->channel = channel;
	finding->call =
		(struct ncs_call){ edge->function, edge->sequence_number };
	finding->duration_ns = ncs_wait_ns(node->rank, channel);
	finding->waiting = length - 1;
	ncs_finding_set_severity(finding, node->stands);
	ncs_finding_set_confidence(finding, NCS_CONFIDENCE_POSSIBLE);
	ncs_finding_tell_wait(finding, node->rank, channel);
	if (node->operation)
		ncs_finding_tell_operation(finding, node->rank,
					   node->operation);
	return 0;
}

static int report_circle(struct ncs_diagnosis *diagnosis, const size_t *circle,
			 size_t length, enum ncs_verdict verdict)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_edge *first = &graph->edges[circle[0]];
	struct ncs_finding *finding = ncs_diagnosis_add(diagnosis, verdict);
	bool stands = true, by_process = false;

	if (!finding)
		return -ENOMEM;
	finding->root = ncs_party_of(graph->nodes[first->from].rank);
	finding->peer = ncs_party_of(graph->nodes[first->to].rank);
	finding->channel = first->channel;
	finding->call =
		(struct ncs_call){ first->function, first->sequence_number };
	finding->waiting = length;
	for (size_t i = 0; i < length; i++) {
		const struct ncs_wait_edge *edge = &graph->edges[circle[i]];
		const struct ncs_rank *rank = graph->nodes[edge->from].rank;

		stands &= graph->nodes[edge->from].stands;
		by_process |= edge->kind == NCS_EDGE_PROCESS;
		if (edge->duration_ns > finding->duration_ns)
			finding->duration_ns = edge->duration_ns;
		if (edge->channel)
			ncs_finding_tell_wait(finding, rank, edge->channel);
		else if (edge->kind == NCS_EDGE_PROCESS)
			ncs_finding_tell_fact(finding, NCS_EVIDENCE_ELSEWHERE,
					      graph->nodes[edge->to].rank, 0);
		else
			add_waiter_evidence(finding, graph, edge);
	}
	ncs_finding_set_severity(finding, stands);
	ncs_finding_set_confidence(finding, verdict != NCS_VERDICT_DEADLOCK ?
						    NCS_CONFIDENCE_POSSIBLE :
					    stands && !by_process ?
						    NCS_CONFIDENCE_CERTAIN :
						    NCS_CONFIDENCE_LIKELY);
	return 0;
}

static bool is_circle_explained(const struct ncs_diagnosis *diagnosis,
				const struct ncs_model *model,
				const size_t *circle, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		const struct ncs_wait_edge *edge =
			&diagnosis->graph.edges[circle[i]];
		const struct ncs_communicator *communicator =
			diagnosis->graph.nodes[edge->from].rank->communicator;

		if (communicator &&
		    diagnosis->explained[communicator - model->communicators])
			return true;
	}
	return false;
}

static int check_circle(struct ncs_diagnosis *diagnosis,
			const struct ncs_model *model, const size_t *circle,
			size_t length)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_edge *first = &graph->edges[circle[0]];
	const struct ncs_channel_view *least;
	size_t node = 0;

	for (size_t i = 0; i < length; i++) {
		const struct ncs_rank *rank =
			graph->nodes[graph->edges[circle[i]].from].rank;

		if (rank->communicator)
			*explained(diagnosis, model, rank->communicator) = true;
	}
	if (!is_one_call(graph, circle, length))
		return report_circle(diagnosis, circle, length,
				     NCS_VERDICT_DEADLOCK);
	least = least_given(graph, circle, length, &node);
	if (least)
		return report_late_gpu(diagnosis, first, node, least, length);
	return report_circle(diagnosis, circle, length, NCS_VERDICT_PEER_WAIT);
}

static int check_circles(struct ncs_diagnosis *diagnosis,
			 const struct ncs_model *model)
{
	size_t circle[CIRCLE_MAX], length;

	ncs_wait_graph_unmark(&diagnosis->graph);
	while ((length = ncs_wait_graph_circle(&diagnosis->graph, circle,
					       CIRCLE_MAX)) > 0)
		if (!is_circle_explained(diagnosis, model, circle, length) &&
		    check_circle(diagnosis, model, circle, length) != 0)
			return -ENOMEM;
	return 0;
}

/* --- Ranks that are not seen ---------------------------------------------- */

/* How much an edge to a rank that is not seen tells of it: a rank that takes
 * part posts its buffers at once, and sends its own data first. */
static int suspicion_of(const struct ncs_wait_edge *edge)
{
	if (edge->channel->step > 0)
		return 0;
	return edge->channel->state == NCS_CHANNEL_SEND_PEER_WAIT ? 2 : 1;
}

static size_t count_pointing(const struct ncs_wait_graph *graph,
			     const struct ncs_communicator *communicator,
			     int peer)
{
	size_t count = 0, latest = NCS_NOBODY;

	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct ncs_wait_edge *edge = &graph->edges[i];

		if (edge->to != NCS_NOBODY || edge->from == latest ||
		    edge->channel->peer != peer ||
		    graph->nodes[edge->from].rank->communicator != communicator)
			continue;
		latest = edge->from;
		count++;
	}
	return count;
}

static int report_unseen(struct ncs_diagnosis *diagnosis,
			 const struct ncs_communicator *communicator,
			 const struct ncs_wait_edge *edge)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;
	const struct ncs_wait_node *node = &graph->nodes[edge->from];
	int suspicion = suspicion_of(edge);
	size_t pointing =
		count_pointing(graph, communicator, edge->channel->peer);
	enum ncs_verdict verdict = suspicion == 0 ? NCS_VERDICT_PEER_WAIT :
				   is_p2p(edge->channel) ?
						    NCS_VERDICT_P2P_UNMET :
						    NCS_VERDICT_RANK_MISSING;
	struct ncs_finding *finding = ncs_diagnosis_add(diagnosis, verdict);

	if (!finding)
		return -ENOMEM;
	finding->root =
		(struct ncs_party){ NULL, communicator, edge->channel->peer };
	finding->peer = ncs_party_of(node->rank);
	finding->channel = edge->channel;
	finding->channel_rank = node->rank;
	finding->call =
		(struct ncs_call){ edge->function, edge->sequence_number };
	finding->duration_ns = edge->duration_ns;
	finding->waiting = communicator->live;
	ncs_finding_set_severity(finding, node->stands);
	ncs_finding_set_confidence(finding, suspicion == 2 || (suspicion == 1 &&
							       pointing > 1) ?
						    NCS_CONFIDENCE_LIKELY :
						    NCS_CONFIDENCE_POSSIBLE);
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct ncs_wait_edge *other = &graph->edges[i];
		const struct ncs_rank *rank = graph->nodes[other->from].rank;

		if (other->to == NCS_NOBODY &&
		    rank->communicator == communicator &&
		    other->channel->peer == edge->channel->peer)
			ncs_finding_tell_wait(finding, rank, other->channel);
	}
	ncs_finding_tell_unseen(finding, communicator);
	return 0;
}

static int check_unseen(struct ncs_diagnosis *diagnosis,
			const struct ncs_model *model)
{
	const struct ncs_wait_graph *graph = &diagnosis->graph;

	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		const struct ncs_wait_edge *best = NULL;

		if (diagnosis->explained[i])
			continue;
		for (size_t k = 0; k < graph->edge_count; k++) {
			const struct ncs_wait_edge *edge = &graph->edges[k];

			if (edge->to == NCS_NOBODY &&
			    graph->nodes[edge->from].rank->communicator ==
				    communicator &&
			    (!best || suspicion_of(edge) > suspicion_of(best)))
				best = edge;
		}
		if (!best)
			continue;
		if (report_unseen(diagnosis, communicator, best) != 0)
			return -ENOMEM;
		diagnosis->explained[i] = true;
	}
	return 0;
}

/* --- Calls that have not begun -------------------------------------------- */

/* For how long a thread has been in NCCL's API; 0: none is. */
static uint64_t in_api_ns(const struct ncs_rank *rank)
{
	static const enum ncs_event events[] = {
		NCS_EVENT_COLL_API,
		NCS_EVENT_P2P_API,
		NCS_EVENT_GROUP_API,
	};
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < rank->now.lane_count; i++)
		for (size_t k = 0; k < sizeof(events) / sizeof(*events); k++) {
			uint64_t open_ns =
				rank->now.lanes[i].open_since_ns[events[k]];
			uint64_t age_ns = ncs_age_ns(rank, open_ns);

			if (age_ns > longest_ns)
				longest_ns = age_ns;
		}
	return longest_ns;
}

/* Whether it has called a function more often than NCCL has begun with it, and
 * which. What a graph captures is called once, too, so this alone tells
 * nothing. */
static bool has_not_begun(const struct ncs_rank *rank, unsigned *function)
{
	if (!ncs_rank_calls_known(rank) || rank->now.operation_count > 0)
		return false;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *view = &rank->now.functions[i];

		if (view->calls <= view->operations)
			continue;
		*function = i;
		return true;
	}
	return false;
}

static int report_not_begun(struct ncs_diagnosis *diagnosis,
			    const struct ncs_rank *rank, unsigned function,
			    uint64_t duration_ns)
{
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis, NCS_VERDICT_NOT_BEGUN);

	if (!finding)
		return -ENOMEM;
	finding->root = ncs_party_of(rank);
	finding->call = (struct ncs_call){ function, NCS_NO_SEQUENCE_NUMBER };
	finding->duration_ns = duration_ns;
	ncs_finding_set_severity(finding, false);
	ncs_finding_set_confidence(finding, NCS_CONFIDENCE_POSSIBLE);
	ncs_finding_tell_inside(finding, rank);
	ncs_finding_tell_proxy(finding, rank);
	return 0;
}

/* A thread is in NCCL for long, and nothing has come of what it has called: it
 * connects. That takes its time in a large job that begins, so it is no more
 * than suspicious. */
static int check_not_begun(struct ncs_diagnosis *diagnosis,
			   const struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];

		for (size_t k = 0;
		     k < communicator->rank_count && !diagnosis->explained[i];
		     k++) {
			const struct ncs_rank *rank = communicator->ranks[k];
			uint64_t inside_ns = in_api_ns(rank);
			unsigned function;

			if (!ncs_rank_is_live(rank) ||
			    inside_ns < NCS_STUCK_NS ||
			    !has_not_begun(rank, &function))
				continue;
			if (report_not_begun(diagnosis, rank, function,
					     inside_ns) != 0)
				return -ENOMEM;
			diagnosis->explained[i] = true;
		}
	}
	return 0;
}

/* --- What is slow --------------------------------------------------------- */

static void add_shares(struct ncs_finding *finding, const struct ncs_rank *rank)
{
	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++) {
		bool send = i <= NCS_CHANNEL_SEND_WAIT;
		double share =
			ncs_state_share(rank, send, (enum ncs_channel_state)i);

		if (share < 0.01)
			continue;
		ncs_finding_tell(finding, (struct ncs_evidence){
						  .kind = NCS_EVIDENCE_SHARE,
						  .party = ncs_party_of(rank),
						  .call = ncs_no_call,
						  .number = i,
						  .share = share,
					  });
	}
}

static int report_pace(struct ncs_diagnosis *diagnosis,
		       const struct ncs_communicator *communicator,
		       const struct ncs_pace_finding *pace)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, pace->verdict == NCS_PACE_SLOW_RANK ?
				   NCS_VERDICT_SLOW_RANK :
				   NCS_VERDICT_SLOW_NETWORK);

	if (!finding)
		return -ENOMEM;
	finding->root = ncs_party_of(pace->rank);
	finding->channel = pace->channel;
	if (pace->channel) {
		finding->call.function = pace->channel->function;
		finding->peer = (struct ncs_party){
			ncs_peer_rank(pace->rank, pace->channel->peer),
			communicator, pace->channel->peer
		};
	}
	finding->waiting = communicator->live - 1;
	ncs_finding_set_severity(finding, false);
	ncs_finding_set_confidence(finding, NCS_CONFIDENCE_LIKELY);
	ncs_finding_tell(finding,
			 (struct ncs_evidence){
				 .kind = NCS_EVIDENCE_SPEED,
				 .party = { NULL, communicator, -1 },
				 .call = ncs_no_call,
				 .number = (uint64_t)pace->now.bytes_rate,
				 .expected = (uint64_t)pace->median.bytes_rate,
			 });
	add_shares(finding, pace->rank);
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i] != pace->rank) {
			add_shares(finding, communicator->ranks[i]);
			break;
		}
	ncs_finding_tell_unseen(finding, communicator);
	return 0;
}

static int check_paces(struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		struct ncs_pace_finding pace;

		if (ncs_paces_add(&diagnosis->paces, model, communicator,
				  &pace) != 0)
			return -ENOMEM;
		if (pace.verdict != NCS_PACE_USUAL &&
		    !diagnosis->explained[i] &&
		    report_pace(diagnosis, communicator, &pace) != 0)
			return -ENOMEM;
	}
	ncs_paces_end_pass(&diagnosis->paces);
	return 0;
}

/* --- All of it ------------------------------------------------------------ */

static int compare_findings(const void *left, const void *right)
{
	const struct ncs_finding *a = left, *b = right;

	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (a->confidence != b->confidence)
		return a->confidence < b->confidence ? -1 : 1;
	if (a->verdict != b->verdict)
		return a->verdict < b->verdict ? -1 : 1;
	return (a->duration_ns < b->duration_ns) -
	       (a->duration_ns > b->duration_ns);
}

static int check_all(struct ncs_diagnosis *diagnosis,
		     const struct ncs_model *model)
{
	int error = ncs_disagreement_find(diagnosis, model);

	if (!error)
		error = check_ends(diagnosis, model);
	if (!error)
		error = check_dead(diagnosis, model);
	if (!error)
		error = check_circles(diagnosis, model);
	if (!error)
		error = check_unseen(diagnosis, model);
	if (!error)
		error = check_not_begun(diagnosis, model);
	if (!error)
		error = check_paces(diagnosis, model);
	return error;
}

void ncs_diagnosis_init(struct ncs_diagnosis *diagnosis)
{
	memset(diagnosis, 0, sizeof(*diagnosis));
}

void ncs_diagnosis_release(struct ncs_diagnosis *diagnosis)
{
	free(diagnosis->findings);
	free(diagnosis->explained);
	ncs_wait_graph_release(&diagnosis->graph);
	ncs_paces_release(&diagnosis->paces);
	ncs_diagnosis_init(diagnosis);
}

int ncs_diagnose(struct ncs_diagnosis *diagnosis, const struct ncs_model *model)
{
	int error = ncs_wait_graph_build(&diagnosis->graph, model);

	diagnosis->looks++;
	diagnosis->count = 0;
	free(diagnosis->explained);
	diagnosis->explained = calloc(model->communicator_count + 1,
				      sizeof(*diagnosis->explained));
	if (!diagnosis->explained)
		error = -ENOMEM;
	if (!error)
		error = check_all(diagnosis, model);
	if (error)
		diagnosis->count = 0;
	else if (diagnosis->count > 1)
		qsort(diagnosis->findings, diagnosis->count,
		      sizeof(*diagnosis->findings), compare_findings);
	return error;
}

enum ncs_verdict_severity
ncs_diagnosis_severity(const struct ncs_diagnosis *diagnosis)
{
	return diagnosis->count > 0 ? diagnosis->findings[0].severity :
				      NCS_SEVERITY_HEALTHY;
}
