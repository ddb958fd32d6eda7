/* SPDX-License-Identifier: MIT */
/* The edges of the graph of waits. Must not guess: an edge is what a channel, a
 * sequence number, a launch or a process shows; the rules judge the edge.
 */
#include <stdlib.h>

#include "analysis/base/collective_waits.h"
#include "analysis/diagnosis/wait_graph.h"
#include "analysis/model/waits.h"
#include "analysis/records/operation_record.h"
#include "shm/array.h"

/* A rank that is ahead gets edges to at most this number of the ranks behind
 * it: one is enough to follow, and edges from all to all would be n squared. */
#define BEHIND_MAX 8u

static bool is_local(const struct ncs_channel_view *channel)
{
	return channel->state == NCS_CHANNEL_SEND_GPU_WAIT ||
	       channel->state == NCS_CHANNEL_RECV_GPU_WAIT;
}

/* --- Ranks that are behind ---------------------------------------------- */

/* Lists for each function, and one for UNBEGUN. */
#define UNBEGUN NCS_FUNCTION_COUNT
#define LISTS (NCS_FUNCTION_COUNT + 1u)

/* The ranks of a communicator that may be behind others of it in a function, or have
 * not begun: else each of n ranks that wait would look at n others. Lists are made when
 * they are asked for, and kept while edges are made. */
struct ncs_laggards {
	struct ncs_laggard_list {
		struct ncs_rank *
			*ranks; /* in the model's order; NULL: not made */
		size_t count;
	} lists[LISTS];
};

/* Whether a channel of a rank waits for the GPU at its first step: most ranks of a
 * communicator that hangs have gone on. */
static bool has_first_step(const struct ncs_rank *rank)
{
	for (size_t i = 0; i < rank->now.channel_count; i++)
		if (is_local(&rank->now.channels[i]) &&
		    rank->now.channels[i].step == 0)
			return true;
	return false;
}

/* Whether a rank is stalled, has not finished, and has made fewer calls of a function
 * than the rank of its communicator that has made most. */
static bool is_laggard(const struct ncs_wait_graph *graph,
		       const struct ncs_rank *rank, unsigned function,
		       uint64_t most)
{
	return ncs_rank_next(rank, function) < most &&
	       rank->now.liveness != NCS_FINISHED &&
	       ncs_wait_node_of(graph, rank)->stalled;
}

/* Returns a list of a communicator: an empty one without memory. */
static const struct ncs_laggard_list *
laggards_of(struct ncs_wait_graph *graph,
	    const struct ncs_communicator *communicator, unsigned which)
{
	size_t place = (size_t)(communicator - graph->model->communicators);
	struct ncs_laggard_list *list = &graph->laggards[place].lists[which];
	uint64_t most = 0;

	if (list->ranks)
		return list;
	list->ranks =
		malloc((communicator->rank_count + 1) * sizeof(*list->ranks));
	if (!list->ranks) {
		graph->no_memory = true;
		return list;
	}
	for (size_t i = 0; which != UNBEGUN && i < communicator->rank_count;
	     i++) {
		uint64_t next = ncs_rank_next(communicator->ranks[i], which);

		if (next > most)
			most = next;
	}
	for (size_t i = 0; i < communicator->rank_count; i++) {
		struct ncs_rank *rank = communicator->ranks[i];

		if (which == UNBEGUN ? has_first_step(rank) :
				       is_laggard(graph, rank, which, most))
			list->ranks[list->count++] = rank;
	}
	return list;
}

/* --- Edges ---------------------------------------------------------------- */

static void add_edge(struct ncs_wait_graph *graph, struct ncs_wait_edge edge)
{
	struct ncs_wait_node *node = &graph->nodes[edge.from];

	if (ncs_array_reserve(&graph->edges, &graph->edge_capacity,
			      graph->edge_count + 1,
			      sizeof(*graph->edges)) != 0) {
		graph->no_memory = true;
		return;
	}
	if (node->count == 0)
		node->first = graph->edge_count;
	node->count++;
	graph->edges[graph->edge_count++] = edge;
}

/* Returns whether a wait is for another rank of the communicator, whose node is
 * edge->to; completes the edge. */
typedef bool is_awaited(const struct ncs_wait_graph *graph,
			const struct ncs_rank *other,
			struct ncs_wait_edge *edge);

/* Adds edges to those of `count` ranks that are awaited; `wait` is an edge but for
 * `to` and what depends on that. */
static void add_awaited_of(struct ncs_wait_graph *graph,
			   const struct ncs_wait_edge *wait, is_awaited *awaits,
			   struct ncs_rank *const *ranks, size_t count)
{
	size_t added = 0;

	for (size_t i = 0; i < count && added < BEHIND_MAX; i++) {
		struct ncs_wait_edge edge = *wait;

		edge.to = ncs_wait_graph_find(graph, ranks[i]);
		if (!awaits(graph, ranks[i], &edge))
			continue;
		add_edge(graph, edge);
		added++;
	}
}

/* Adds edges to the ranks of the communicator that are awaited. */
static void add_awaited(struct ncs_wait_graph *graph,
			const struct ncs_wait_edge *wait, is_awaited *awaits)
{
	const struct ncs_communicator *communicator =
		graph->nodes[wait->from].rank->communicator;

	add_awaited_of(graph, wait, awaits, communicator->ranks,
		       communicator->rank_count);
}

/* Returns a rank's wait in an operation, as an edge of this kind. */
static struct ncs_wait_edge wait_in(size_t from, enum ncs_edge_kind kind,
				    const struct ncs_operation_view *operation,
				    uint64_t duration_ns)
{
	return (struct ncs_wait_edge){
		.from = from,
		.kind = kind,
		.operation = operation,
		.call = ncs_call_of(operation),
		.duration_ns = duration_ns,
	};
}

/* --- Channels --------------------------------------------------------------- */

const struct ncs_channel_view *
ncs_other_end(const struct ncs_rank *rank,
	      const struct ncs_channel_view *channel,
	      const struct ncs_rank *peer)
{
	if (!peer)
		return NULL;
	for (size_t i = 0; i < peer->now.channel_count; i++) {
		const struct ncs_channel_view *other = &peer->now.channels[i];

		if (other->channel == channel->channel &&
		    other->send != channel->send &&
		    other->peer == rank->now.identity.rank)
			return other;
	}
	return NULL;
}

static bool waits_in(const struct ncs_rank *rank,
		     const struct ncs_channel_view *channel,
		     enum ncs_channel_state state)
{
	return channel && channel->state == state &&
	       ncs_wait_ns(rank, channel) >= NCS_LONG_WAIT_NS;
}

/* Whether both ends of a channel wait for the network between them. */
static bool is_network(const struct ncs_wait_graph *graph,
		       const struct ncs_rank *rank,
		       const struct ncs_channel_view *channel,
		       const struct ncs_rank *peer)
{
	const struct ncs_channel_view *other =
		ncs_other_end(rank, channel, peer);

	/* A process that does nothing explains the wait. */
	if (peer && ncs_wait_node_of(graph, peer)->halted)
		return false;
	switch (channel->state) {
	case NCS_CHANNEL_RECV_FLUSH_WAIT:
		return true;
	case NCS_CHANNEL_RECV_WAIT:
		return waits_in(peer, other, NCS_CHANNEL_SEND_WAIT) ||
		       waits_in(peer, other, NCS_CHANNEL_SEND_PEER_WAIT);
	case NCS_CHANNEL_SEND_WAIT:
		return !peer || waits_in(peer, other, NCS_CHANNEL_RECV_WAIT);
	case NCS_CHANNEL_SEND_PEER_WAIT:
		return waits_in(peer, other, NCS_CHANNEL_RECV_WAIT);
	default:
		return false;
	}
}

static void add_channel(struct ncs_wait_graph *graph, size_t from,
			const struct ncs_channel_view *channel)
{
	const struct ncs_rank *rank = graph->nodes[from].rank;
	const struct ncs_rank *peer = ncs_peer_rank(rank, channel->peer);
	const struct ncs_operation_view *operation =
		ncs_operation_numbered(rank, channel->operation);
	bool network = is_network(graph, rank, channel, peer);

	add_edge(graph,
		 (struct ncs_wait_edge){
			 .from = from,
			 .to = peer ? ncs_wait_graph_find(graph, peer) :
				      NCS_NOBODY,
			 .unseen = channel->peer,
			 .kind = network ? NCS_EDGE_NETWORK : NCS_EDGE_PEER,
			 .channel = channel,
			 .call = { channel->function,
				   operation ? operation->sequence_number :
					       NCS_NO_SEQUENCE_NUMBER },
			 .duration_ns = ncs_wait_ns(rank, channel),
		 });
}

/* Finds the longest wait for the rank's own GPU. Missing data (`owed`) explains
 * a GPU that produces none; data that cannot be sent (`blocked`) explains a GPU
 * that takes none. */
static void find_local(struct ncs_wait_node *node, bool owed, bool blocked)
{
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < node->rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel =
			&node->rank->now.channels[i];
		uint64_t duration_ns = ncs_wait_ns(node->rank, channel);

		if (!is_local(channel) || duration_ns < NCS_LONG_WAIT_NS ||
		    duration_ns <= longest_ns ||
		    (channel->send ? owed : blocked))
			continue;
		longest_ns = duration_ns;
		node->local = channel;
	}
}

static void add_channels(struct ncs_wait_graph *graph, size_t from)
{
	struct ncs_wait_node *node = &graph->nodes[from];
	bool owed = false, blocked = false;

	for (size_t i = 0; i < node->rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel =
			&node->rank->now.channels[i];

		if (channel->state == NCS_CHANNEL_IDLE || is_local(channel) ||
		    ncs_wait_ns(node->rank, channel) < NCS_LONG_WAIT_NS)
			continue;
		add_channel(graph, from, channel);
		owed |= !channel->send;
		blocked |= channel->send;
	}
	find_local(node, owed, blocked);
}

/* --- Calls ------------------------------------------------------------------ */

/* Returns how long a rank has waited in a call that another rank has not made,
 * or in a later one; 0 if it does not wait. If NCCL does not report ends, a
 * rank that has made the call is assumed to wait. */
static uint64_t waited_ns(const struct ncs_wait_node *node, unsigned function,
			  uint64_t number)
{
	const struct ncs_snapshot *now = &node->rank->now;
	uint64_t end_ns = ncs_rank_end_ns(node->rank);

	for (size_t i = 0; i < now->operation_count; i++) {
		const struct ncs_operation_view *operation =
			&now->operations[i];

		if (operation->function == function &&
		    operation->sequence_number != NCS_NO_SEQUENCE_NUMBER &&
		    operation->sequence_number >= number &&
		    ncs_wait_is_unfinished(node->rank, operation))
			return end_ns > operation->start_ns ?
				       end_ns - operation->start_ns :
				       0;
	}
	if (ncs_rank_reports_ends(node->rank, function) ||
	    now->last_call_ns == 0 || end_ns < now->last_call_ns)
		return 0;
	return end_ns - now->last_call_ns;
}

static bool has_edge(const struct ncs_wait_graph *graph, size_t from, size_t to)
{
	const struct ncs_wait_node *node = &graph->nodes[from];

	for (size_t i = 0; i < node->count; i++)
		if (graph->edges[node->first + i].to == to &&
		    !graph->edges[node->first + i].channel)
			return true;
	return false;
}

/* Whether a rank has waited for long in a call that the other, a laggard, has not
 * made. If nobody knows until when the rank lived, nor is it known for how long. */
static bool is_behind(const struct ncs_wait_graph *graph,
		      const struct ncs_rank *other, struct ncs_wait_edge *edge)
{
	const struct ncs_wait_node *node = &graph->nodes[edge->from];
	unsigned function = edge->call.function;
	uint64_t next = ncs_rank_next(other, function);

	if (next >= edge->call.sequence_number ||
	    has_edge(graph, edge->from, edge->to))
		return false;
	edge->call.sequence_number = next;
	edge->duration_ns = waited_ns(node, function, next);
	return edge->duration_ns >= NCS_LONG_WAIT_NS ||
	       (edge->duration_ns > 0 && !ncs_rank_end_is_known(node->rank));
}

static void add_call(struct ncs_wait_graph *graph, size_t from,
		     unsigned function)
{
	const struct ncs_laggard_list *list;
	const struct ncs_rank *rank = graph->nodes[from].rank;
	struct ncs_wait_edge wait = {
		.from = from,
		.kind = NCS_EDGE_CALL,
		.call = { function, ncs_rank_next(rank, function) },
	};

	if (wait.call.sequence_number == 0 ||
	    (ncs_wait_rule_of(function) != NCS_WAIT_FOR_ALL &&
	     !ncs_rank_reports_ends(rank, function)))
		return;
	list = laggards_of(graph, rank->communicator, function);
	add_awaited_of(graph, &wait, is_behind, list->ranks, list->count);
}

static void add_calls(struct ncs_wait_graph *graph, size_t from)
{
	if (!graph->nodes[from].stalled)
		return;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		add_call(graph, from, i);
}

/* Whether the other has made fewer calls of a function than the waiting
 * rank. */
static bool has_call_to_make(const struct ncs_wait_graph *graph,
			     const struct ncs_rank *other,
			     struct ncs_wait_edge *edge)
{
	const struct ncs_rank *rank = graph->nodes[edge->from].rank;
	unsigned function = edge->call.function;

	edge->call.sequence_number = ncs_rank_next(other, function);
	return other->now.liveness != NCS_FINISHED &&
	       graph->nodes[edge->to].stalled && ncs_rank_calls_known(other) &&
	       other->now.functions[function].calls <
		       rank->now.functions[function].calls;
}

/* Follows a collective that a rank is inside and that NCCL has not begun. */
static void add_unstarted(struct ncs_wait_graph *graph, size_t from)
{
	struct ncs_wait_edge wait = { .from = from, .kind = NCS_EDGE_CALL };

	wait.duration_ns =
		ncs_unstarted_ns(graph->nodes[from].rank, &wait.call.function);
	if (wait.duration_ns >= NCS_LONG_WAIT_NS &&
	    !ncs_is_transfer(wait.call.function))
		add_awaited(graph, &wait, has_call_to_make);
}

/* --- Operations ------------------------------------------------------------- */

/* Whether the other has not begun what the waiting rank has begun. */
static bool has_kernel_to_begin(const struct ncs_wait_graph *graph,
				const struct ncs_rank *other,
				struct ncs_wait_edge *edge)
{
	const struct ncs_rank *rank = graph->nodes[edge->from].rank;
	const struct ncs_wait_node *node = &graph->nodes[edge->to];

	if (other == rank || other->now.liveness == NCS_FINISHED ||
	    !ncs_operation_needs(rank, edge->operation, other))
		return false;
	if (node->halted)
		edge->kind = NCS_EDGE_HALTED;
	return node->halted ||
	       (node->gpu_stalled &&
		ncs_rank_has_begun(other, rank, edge->operation) ==
			NCS_BEGUN_NOT);
}

/* Follows all operations of the launch that has begun and not ended. */
static void add_launches(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_rank *rank = graph->nodes[from].rank;
	uint64_t ran_ns = ncs_age_ns(rank, rank->now.launches.begun_ns);

	if (ran_ns < NCS_LONG_WAIT_NS)
		return;
	for (size_t i = 0; i < rank->now.operation_count; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];
		struct ncs_wait_edge wait =
			wait_in(from, NCS_EDGE_KERNEL, operation, ran_ns);

		if (ncs_operation_phase(rank, operation) ==
		    NCS_LAUNCH_PHASE_RUNNING)
			add_awaited(graph, &wait, has_kernel_to_begin);
	}
}

/* Whether the GPU of a rank, as its channels show, has not begun an operation: one of
 * them waits for it at its first step, and none has gone on or waits for others. */
static bool has_gpu_to_begin(const struct ncs_rank *rank,
			     struct ncs_call_id call)
{
	bool waits = false;

	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel =
			&rank->now.channels[i];
		const struct ncs_operation_view *its;

		if (channel->state == NCS_CHANNEL_IDLE)
			continue;
		its = ncs_operation_numbered(rank, channel->operation);
		if (!its || !ncs_is_same_call(ncs_call_of(its), call))
			continue;
		if (!is_local(channel) || channel->step > 0)
			return false;
		waits |= ncs_wait_ns(rank, channel) >= NCS_LONG_WAIT_NS;
	}
	return waits;
}

/* Whether the other is one of the ranks that hold up all, and its launches do not tell
 * that it has begun. */
static bool is_unbegun(const struct ncs_wait_graph *graph,
		       const struct ncs_rank *other, struct ncs_wait_edge *edge)
{
	const struct ncs_rank *rank = graph->nodes[edge->from].rank;

	return other != rank &&
	       ncs_rank_has_begun(other, rank, edge->operation) ==
		       NCS_BEGUN_NOT_KNOWN &&
	       has_gpu_to_begin(other, edge->call);
}

/* Follows a GPU that has begun a collective and lacks data. Ranks of a node pass data
 * to each other where no channel shows it, so that a GPU that has not begun is to
 * blame, wherever it is. */
static void add_starved(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_wait_node *node = &graph->nodes[from];
	const struct ncs_rank *rank = node->rank;
	const struct ncs_operation_view *operation =
		node->local ?
			ncs_operation_numbered(rank, node->local->operation) :
			NULL;
	const struct ncs_laggard_list *list;
	struct ncs_wait_edge wait;

	if (!operation || operation->event != NCS_EVENT_COLL ||
	    ncs_wait_has_not_begun(node->local) || !ncs_rank_shares_node(rank))
		return;
	wait = wait_in(from, NCS_EDGE_KERNEL, operation,
		       ncs_wait_ns(rank, node->local));
	list = laggards_of(graph, rank->communicator, UNBEGUN);
	add_awaited_of(graph, &wait, is_unbegun, list->ranks, list->count);
}

/* --- Ranks that are not seen ------------------------------------------------ */

/* Returns the number of the only rank that is not seen: what the numbers of the
 * others lack in the sum of all. Returns -1 if there are several. */
static int32_t only_unseen(const struct ncs_rank *rank)
{
	const struct ncs_communicator *communicator = rank->communicator;
	int64_t nranks = communicator->identity->nranks;
	int64_t number = nranks * (nranks - 1) / 2;

	if (ncs_communicator_unseen(communicator) != 1)
		return -1;
	for (size_t i = 0; i < communicator->rank_count; i++)
		number -= communicator->ranks[i]->now.identity.rank;
	/* Numbers that are there twice spoil the sum. */
	return number >= 0 && number < nranks &&
			       number != rank->now.identity.rank &&
			       !ncs_peer_rank(rank, (int)number) ?
		       (int32_t)number :
		       -1;
}

/* Finds the rank that an operation of `rank` needs and that is not seen. Returns
 * false if it needs none. */
static bool find_needed(const struct ncs_rank *rank,
			const struct ncs_operation_view *operation,
			int32_t *number)
{
	enum ncs_wait_rule rule = ncs_wait_rule_of(operation->function);
	bool is_root = rank->now.identity.rank == operation->peer;

	*number = operation->peer;
	if (operation->event != NCS_EVENT_P2P) {
		if (rule == NCS_WAIT_FOR_NONE || !ncs_is_waiting(rule, is_root))
			return false;
		if (rule != NCS_WAIT_FOR_ROOT) {
			*number = only_unseen(rank);
			return true;
		}
	}
	return !is_root && *number >= 0 &&
	       *number < rank->communicator->identity->nranks &&
	       !ncs_peer_rank(rank, *number);
}

/* Whether a rank that is seen and needed has not begun an operation. */
static bool awaits_seen(const struct ncs_rank *rank,
			const struct ncs_operation_view *operation)
{
	const struct ncs_communicator *communicator = rank->communicator;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (other != rank && other->now.liveness != NCS_FINISHED &&
		    ncs_operation_needs(rank, operation, other) &&
		    ncs_rank_has_begun(other, rank, operation) == NCS_BEGUN_NOT)
			return true;
	}
	return false;
}

/* Follows running kernels that need ranks that are not seen. Must not guess: if a rank
 * that is seen may be the one that is waited for, there is no edge. */
static void add_unseen(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_wait_node *node = &graph->nodes[from];
	const struct ncs_rank *rank = node->rank;
	bool has_unnumbered = false;

	/* A channel that has something to do shows the wait. */
	if (ncs_communicator_unseen(rank->communicator) == 0 ||
	    (!node->local && !ncs_rank_is_quiet(rank)))
		return;
	for (size_t i = 0;
	     i < rank->now.operation_count && node->count < BEHIND_MAX; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];
		struct ncs_wait_edge edge =
			wait_in(from, NCS_EDGE_KERNEL, operation,
				ncs_wait_ran_ns(node, operation));

		edge.to = NCS_NOBODY;
		if (edge.duration_ns < NCS_LONG_WAIT_NS ||
		    !find_needed(rank, operation, &edge.unseen) ||
		    awaits_seen(rank, operation) ||
		    (edge.unseen < 0 && has_unnumbered))
			continue;
		has_unnumbered |= edge.unseen < 0;
		add_edge(graph, edge);
	}
}

/* --- Processes -------------------------------------------------------------- */

static bool is_held_up(const struct ncs_wait_node *node)
{
	return node->count > 0 || node->local ||
	       (node->operation && !node->level && !node->queued &&
		ncs_rank_end_ns(node->rank) >=
			node->operation->start_ns + NCS_LONG_WAIT_NS);
}

/* Whether a node waits for something that other communicators of its process may
 * explain: it has called nothing, or its kernel is queued behind other work. */
static bool may_wait_elsewhere(const struct ncs_wait_node *node)
{
	return node->waits && node->count == 0 &&
	       (node->queued ||
		(node->local && ncs_wait_has_not_begun(node->local)) ||
		(!node->local && !node->operation));
}

/* Whether a rank of the same process may be what a queued kernel waits for: its
 * own kernel has begun and waits for others. */
static bool occupies_gpu(const struct ncs_wait_node *node)
{
	return node->count > 0 && !node->queued &&
	       !(node->local && ncs_wait_has_not_begun(node->local));
}

/* Adds edges to the ranks of the same process in other communicators that are
 * held up: they may be why this one has no operation in progress. */
static void add_processes(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_wait_node *node = &graph->nodes[from];

	for (size_t i = 0; i < graph->node_count; i++) {
		const struct ncs_wait_node *other = &graph->nodes[i];

		if (i != from && ncs_shares_process(node->rank, other->rank) &&
		    other->waits && is_held_up(other) &&
		    ((!node->queued && !node->local) || occupies_gpu(other)))
			add_edge(graph, (struct ncs_wait_edge){
						.from = from,
						.to = i,
						.kind = NCS_EDGE_PROCESS,
						.call = ncs_no_call,
					});
	}
}

/* --- All of it -------------------------------------------------------------- */

static void add_own_edges(struct ncs_wait_graph *graph, size_t from)
{
	struct ncs_wait_node *node = &graph->nodes[from];

	add_channels(graph, from);
	if (!node->rank->communicator)
		return;
	add_launches(graph, from);
	add_calls(graph, from);
	add_unstarted(graph, from);
	if (node->count > 0)
		return;
	add_starved(graph, from);
	if (node->count == 0)
		add_unseen(graph, from);
	/* The other rank explains a GPU that does not go on. */
	if (node->count > 0)
		node->local = NULL;
}

void ncs_wait_edges_make(struct ncs_wait_graph *graph)
{
	const size_t communicators = graph->model->communicator_count;
	size_t own;

	graph->laggards = calloc(communicators + 1, sizeof(*graph->laggards));
	graph->no_memory = !graph->laggards;
	for (size_t i = 0; i < graph->node_count && !graph->no_memory; i++)
		if (graph->nodes[i].waits && !graph->nodes[i].level)
			add_own_edges(graph, i);
	for (size_t i = 0; graph->laggards && i < communicators; i++)
		for (unsigned k = 0; k < LISTS; k++)
			free(graph->laggards[i].lists[k].ranks);
	free(graph->laggards);
	graph->laggards = NULL;
	if (communicators < 2)
		return;
	/* Mark the nodes that edges lead to now, not those that edges added
	 * below lead to. */
	own = graph->edge_count;
	ncs_wait_graph_unmark(graph);
	for (size_t i = 0; i < own; i++)
		if (graph->edges[i].to != NCS_NOBODY)
			graph->nodes[graph->edges[i].to].is_marked = true;
	for (size_t i = 0; i < graph->node_count; i++)
		if (graph->nodes[i].is_marked &&
		    may_wait_elsewhere(&graph->nodes[i]))
			add_processes(graph, i);
}
