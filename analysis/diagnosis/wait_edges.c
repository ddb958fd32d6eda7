/* SPDX-License-Identifier: MIT */
/* The edges of the graph of waits. Must not guess: an edge is what a channel, a
 * sequence number, a launch or a process shows; the rules judge the edge.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/diagnosis/unstarted_calls.h"
#include "analysis/diagnosis/wait_graph_parts.h"
#include "analysis/model/waits.h"
#include "shm/array.h"

/* A rank that is ahead gets edges to at most this number of the ranks behind
 * it: one is enough to follow, and edges from all to all would be n squared. */
#define BEHIND_MAX 8u

/* --- Ranks that are behind ---------------------------------------------- */

/* Lists for each function, and one for UNBEGUN. */
#define UNBEGUN NCS_FUNCTION_COUNT
#define LISTS (NCS_FUNCTION_COUNT + 1u)

/* The ranks of each communicator that may be behind others of it in a function, or have
 * not begun: else each of n ranks that wait would look at n others. Lists are made when
 * they are asked for, and kept while edges are made. */
struct ncs_laggard_list {
	struct ncs_rank **ranks; /* in the model's order; NULL: not made */
	size_t count;
};

struct ncs_laggards {
	const struct ncs_communicator *communicators; /* of the model */
	struct ncs_laggard_list (*lists)[LISTS];      /* by communicator */
};

/* Returns a list of a communicator, with room for its ranks if it was not made yet;
 * NULL if there is no memory. */
static struct ncs_laggard_list *
list_of(const struct ncs_wait_graph *graph,
	const struct ncs_communicator *communicator, unsigned which,
	bool *is_made)
{
	size_t place = (size_t)(communicator - graph->laggards->communicators);
	struct ncs_laggard_list *list = &graph->laggards->lists[place][which];

	*is_made = list->ranks != NULL;
	if (!*is_made)
		list->ranks = malloc((communicator->rank_count + 1) *
				     sizeof(*list->ranks));
	return list->ranks ? list : NULL;
}

/* Returns the ranks that are stalled, have not finished, and have made fewer calls of
 * the function than another rank of the communicator; NULL if there is no memory. */
static const struct ncs_laggard_list *
laggards_of(const struct ncs_wait_graph *graph,
		const struct ncs_communicator *communicator, unsigned function)
{
	bool is_made;
	struct ncs_laggard_list *list =
		list_of(graph, communicator, function, &is_made);
	uint64_t most = 0;

	if (!list || is_made)
		return list;
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

/* --- Edges ---------------------------------------------------------------- */

static int add_edge(struct ncs_wait_graph *graph, struct ncs_wait_edge edge)
{
	struct ncs_wait_node *node = &graph->nodes[edge.from];

	if (ncs_array_reserve(&graph->edges, &graph->edge_capacity,
			      graph->edge_count + 1,
			      sizeof(*graph->edges)) != 0)
		return -ENOMEM;
	if (node->count == 0)
		node->first = graph->edge_count;
	node->count++;
	graph->edges[graph->edge_count++] = edge;
	return 0;
}

/* A wait in an operation or a call of a communicator: an edge of it, complete
 * but for `to` and what depends on that. */
struct wait {
	struct ncs_wait_edge edge;
	const struct ncs_operation_view *operation; /* NULL for a call */
};

/* Returns whether a wait is for another rank of the communicator, whose node is
 * edge->to; completes the edge. */
typedef bool is_awaited(const struct ncs_wait_graph *graph,
			const struct wait *wait, const struct ncs_rank *other,
			struct ncs_wait_edge *edge);

/* Adds edges to those of `count` ranks that are awaited. */
static int add_awaited_of(struct ncs_wait_graph *graph, const struct wait *wait,
			  is_awaited *awaits,
			  struct ncs_rank *const *ranks, size_t count)
{
	size_t added = 0;

	for (size_t i = 0; i < count && added < BEHIND_MAX; i++) {
		const struct ncs_rank *other = ranks[i];
		struct ncs_wait_edge edge = wait->edge;

		edge.to = ncs_wait_graph_find(graph, other);
		if (!awaits(graph, wait, other, &edge))
			continue;
		if (add_edge(graph, edge) != 0)
			return -ENOMEM;
		added++;
	}
	return 0;
}

/* Adds edges to the ranks of the communicator that are awaited. */
static int add_awaited(struct ncs_wait_graph *graph, const struct wait *wait,
		       is_awaited *awaits)
{
	const struct ncs_communicator *communicator =
		graph->nodes[wait->edge.from].rank->communicator;

	return add_awaited_of(graph, wait, awaits, communicator->ranks,
			      communicator->rank_count);
}

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

static const struct ncs_operation_view *
operation_of(const struct ncs_rank *rank, uint64_t number)
{
	for (size_t i = 0; i < rank->now.operation_count; i++)
		if (rank->now.operations[i].number == number)
			return &rank->now.operations[i];
	return NULL;
}

static bool is_local(const struct ncs_channel_view *channel)
{
	return channel->state == NCS_CHANNEL_SEND_GPU_WAIT ||
	       channel->state == NCS_CHANNEL_RECV_GPU_WAIT;
}

static int add_channel(struct ncs_wait_graph *graph, size_t from,
		       const struct ncs_channel_view *channel)
{
	const struct ncs_rank *rank = graph->nodes[from].rank;
	const struct ncs_rank *peer = ncs_peer_rank(rank, channel->peer);
	const struct ncs_operation_view *operation =
		operation_of(rank, channel->operation);
	bool network = is_network(graph, rank, channel, peer);

	return add_edge(
		graph,
		(struct ncs_wait_edge){
			.from = from,
			.to = peer ? ncs_wait_graph_find(graph, peer) :
				     NCS_NOBODY,
			.unseen = channel->peer,
			.kind = network ? NCS_EDGE_NETWORK : NCS_EDGE_PEER,
			.channel = channel,
			.function = channel->function,
			.sequence_number = operation ?
						   operation->sequence_number :
						   NCS_NO_SEQUENCE_NUMBER,
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

static int add_channels(struct ncs_wait_graph *graph, size_t from)
{
	struct ncs_wait_node *node = &graph->nodes[from];
	bool owed = false, blocked = false;

	for (size_t i = 0; i < node->rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel =
			&node->rank->now.channels[i];

		if (channel->state == NCS_CHANNEL_IDLE || is_local(channel) ||
		    ncs_wait_ns(node->rank, channel) < NCS_LONG_WAIT_NS)
			continue;
		if (add_channel(graph, from, channel) != 0)
			return -ENOMEM;
		owed |= !channel->send;
		blocked |= channel->send;
	}
	find_local(node, owed, blocked);
	return 0;
}

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

/* Whether each rank needs all others to finish the function. */
static bool is_barrier(unsigned function)
{
	return function == NCS_FUNCTION_ALL_REDUCE ||
	       function == NCS_FUNCTION_ALL_GATHER ||
	       function == NCS_FUNCTION_REDUCE_SCATTER ||
	       function == NCS_FUNCTION_ALL_TO_ALL;
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

/* Whether a rank has waited for long in a call that the other has not made. If
 * nobody knows until when the rank lived, nor is it known for how long. */
static bool is_behind(const struct ncs_wait_graph *graph,
		      const struct wait *wait, const struct ncs_rank *other,
		      struct ncs_wait_edge *edge)
{
	const struct ncs_wait_node *node = &graph->nodes[edge->from];

	edge->sequence_number = ncs_rank_next(other, edge->function);
	if (edge->sequence_number >= wait->edge.sequence_number ||
	    has_edge(graph, edge->from, edge->to) ||
	    other->now.liveness == NCS_FINISHED ||
	    !graph->nodes[edge->to].stalled)
		return false;
	edge->duration_ns =
		waited_ns(node, edge->function, edge->sequence_number);
	return edge->duration_ns >= NCS_LONG_WAIT_NS ||
	       (edge->duration_ns > 0 && !ncs_rank_end_is_known(node->rank));
}

static int add_call(struct ncs_wait_graph *graph, size_t from,
		    unsigned function)
{
	const struct ncs_laggard_list *list;
	const struct ncs_rank *rank = graph->nodes[from].rank;
	struct wait wait = {
		.edge = {
			.from = from,
			.kind = NCS_EDGE_CALL,
			.function = function,
			.sequence_number = ncs_rank_next(rank, function),
		},
	};

	if (!rank->communicator || wait.edge.sequence_number == 0 ||
	    (!is_barrier(function) && !ncs_rank_reports_ends(rank, function)))
		return 0;
	list = laggards_of(graph, rank->communicator, function);
	return list ? add_awaited_of(graph, &wait, is_behind, list->ranks,
				     list->count) :
		      -ENOMEM;
}

static int add_calls(struct ncs_wait_graph *graph, size_t from)
{
	if (!graph->nodes[from].stalled)
		return 0;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (add_call(graph, from, i) != 0)
			return -ENOMEM;
	return 0;
}

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
static int add_processes(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_wait_node *node = &graph->nodes[from];

	for (size_t i = 0; i < graph->node_count; i++) {
		const struct ncs_wait_node *other = &graph->nodes[i];

		if (i == from || !ncs_shares_process(node->rank, other->rank) ||
		    !other->waits || !is_held_up(other) ||
		    ((node->queued || node->local) && !occupies_gpu(other)))
			continue;
		if (add_edge(graph,
			     (struct ncs_wait_edge){
				     .from = from,
				     .to = i,
				     .kind = NCS_EDGE_PROCESS,
				     .function = NCS_FUNCTION_COUNT,
				     .sequence_number = NCS_NO_SEQUENCE_NUMBER,
			     }) != 0)
			return -ENOMEM;
	}
	return 0;
}

/* Whether the other has not begun what the waiting rank has begun. */
static bool has_kernel_to_begin(const struct ncs_wait_graph *graph,
				const struct wait *wait,
				const struct ncs_rank *other,
				struct ncs_wait_edge *edge)
{
	const struct ncs_rank *rank = graph->nodes[edge->from].rank;
	const struct ncs_wait_node *node = &graph->nodes[edge->to];

	if (other == rank || other->now.liveness == NCS_FINISHED ||
	    !ncs_operation_needs(rank, wait->operation, other))
		return false;
	if (node->halted)
		edge->kind = NCS_EDGE_HALTED;
	return node->halted ||
	       (node->gpu_stalled &&
		ncs_rank_has_begun(other, rank, wait->operation) ==
			NCS_BEGUN_NOT);
}

/* Returns a rank's wait in an operation, as an edge of this kind. */
static struct wait wait_in(size_t from, enum ncs_edge_kind kind,
			   const struct ncs_operation_view *operation,
			   uint64_t duration_ns)
{
	return (struct wait){
		.edge = {
			.from = from,
			.kind = kind,
			.function = operation->function,
			.sequence_number = operation->sequence_number,
			.duration_ns = duration_ns,
		},
		.operation = operation,
	};
}

/* Whether the other has made fewer calls of a function than the waiting
 * rank. */
static bool has_call_to_make(const struct ncs_wait_graph *graph,
			     const struct wait *wait,
			     const struct ncs_rank *other,
			     struct ncs_wait_edge *edge)
{
	const struct ncs_rank *rank = graph->nodes[edge->from].rank;
	unsigned function = edge->function;

	(void)wait;
	edge->sequence_number = ncs_rank_next(other, function);
	return other->now.liveness != NCS_FINISHED &&
	       graph->nodes[edge->to].stalled && ncs_rank_calls_known(other) &&
	       other->now.functions[function].calls <
		       rank->now.functions[function].calls;
}

/* Follows a collective that a rank is inside and that NCCL has not begun. */
static int add_unstarted(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_rank *rank = graph->nodes[from].rank;
	struct wait wait = { .edge = { .from = from, .kind = NCS_EDGE_CALL } };

	wait.edge.duration_ns = ncs_unstarted_ns(rank, &wait.edge.function);
	if (!rank->communicator || wait.edge.duration_ns < NCS_LONG_WAIT_NS ||
	    ncs_is_p2p(wait.edge.function))
		return 0;
	return add_awaited(graph, &wait, has_call_to_make);
}

/* Follows all operations of the launch that has begun and not ended. */
static int add_launches(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_rank *rank = graph->nodes[from].rank;
	uint64_t ran_ns = ncs_age_ns(rank, rank->now.launches.begun_ns);

	if (!rank->communicator || ran_ns < NCS_LONG_WAIT_NS)
		return 0;
	for (size_t i = 0; i < rank->now.operation_count; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];
		struct wait wait =
			wait_in(from, NCS_EDGE_KERNEL, operation, ran_ns);

		if (ncs_operation_phase(rank, operation) ==
			    NCS_LAUNCH_PHASE_RUNNING &&
		    add_awaited(graph, &wait, has_kernel_to_begin) != 0)
			return -ENOMEM;
	}
	return 0;
}

/* Whether the GPU of a rank, as its channels show, has not begun an operation: one of
 * them waits for it at its first step, and none has gone on or waits for others. */
static bool has_gpu_to_begin(const struct ncs_rank *rank,
			     const struct ncs_operation_view *operation)
{
	bool waits = false;

	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel =
			&rank->now.channels[i];
		const struct ncs_operation_view *its;

		if (channel->state == NCS_CHANNEL_IDLE)
			continue;
		its = operation_of(rank, channel->operation);
		if (!its || its->function != operation->function ||
		    its->sequence_number != operation->sequence_number)
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
		       const struct wait *wait, const struct ncs_rank *other,
		       struct ncs_wait_edge *edge)
{
	const struct ncs_rank *rank = graph->nodes[edge->from].rank;

	return other != rank &&
	       ncs_rank_has_begun(other, rank, wait->operation) ==
		       NCS_BEGUN_NOT_KNOWN &&
	       has_gpu_to_begin(other, wait->operation);
}

/* Returns the ranks of a communicator of which a channel waits for the GPU at its first
 * step, made once: most ranks of one that hangs have gone on. NULL without memory. */
static const struct ncs_laggard_list *
unbegun_of(const struct ncs_wait_graph *graph,
	   const struct ncs_communicator *communicator)
{
	bool is_made;
	struct ncs_laggard_list *list =
		list_of(graph, communicator, UNBEGUN, &is_made);

	for (size_t i = 0; list && !is_made && i < communicator->rank_count;
	     i++) {
		struct ncs_rank *rank = communicator->ranks[i];
		size_t k = 0;

		while (k < rank->now.channel_count &&
		       !(is_local(&rank->now.channels[k]) &&
			 rank->now.channels[k].step == 0))
			k++;
		if (k < rank->now.channel_count)
			list->ranks[list->count++] = rank;
	}
	return list;
}

/* Follows a GPU that has begun a collective and lacks data. Ranks of a node pass data
 * to each other where no channel shows it, so that a GPU that has not begun is to
 * blame, wherever it is. */
static int add_starved(struct ncs_wait_graph *graph, size_t from)
{
	struct ncs_wait_node *node = &graph->nodes[from];
	const struct ncs_operation_view *operation =
		node->local ? operation_of(node->rank, node->local->operation) :
			      NULL;
	const struct ncs_laggard_list *list;
	struct wait wait;

	if (node->count > 0 || !operation || !node->rank->communicator ||
	    operation->event != NCS_EVENT_COLL ||
	    ncs_wait_has_not_begun(node->local) ||
	    !ncs_rank_shares_node(node->rank))
		return 0;
	wait = wait_in(from, NCS_EDGE_KERNEL, operation,
		       ncs_wait_ns(node->rank, node->local));
	list = unbegun_of(graph, node->rank->communicator);
	if (!list || add_awaited_of(graph, &wait, is_unbegun, list->ranks,
				    list->count) != 0)
		return -ENOMEM;
	if (node->count > 0)
		node->local = NULL;
	return 0;
}

/* Whether the other is stopped or has died, and its part is needed. */
static bool has_halted(const struct ncs_wait_graph *graph,
		       const struct wait *wait, const struct ncs_rank *other,
		       struct ncs_wait_edge *edge)
{
	return graph->nodes[edge->to].halted &&
	       ncs_operation_needs(graph->nodes[edge->from].rank,
				   wait->operation, other);
}

/* Follows an operation that a rank has been in for long, if nothing else tells
 * for whom it waits. */
static int add_halted(struct ncs_wait_graph *graph, size_t from)
{
	struct ncs_wait_node *node = &graph->nodes[from];
	const struct ncs_operation_view *operation = node->operation;
	struct wait wait;

	if (node->count > 0 || node->queued || !operation ||
	    !node->rank->communicator)
		return 0;
	wait = wait_in(from, NCS_EDGE_HALTED, operation,
		       ncs_age_ns(node->rank, operation->start_ns));
	if (wait.edge.duration_ns < NCS_LONG_WAIT_NS)
		return 0;
	if (add_awaited(graph, &wait, has_halted) != 0)
		return -ENOMEM;
	/* The other process explains a GPU that does not go on. */
	if (node->count > 0)
		node->local = NULL;
	return 0;
}

static int add_unseen(struct ncs_wait_graph *graph, size_t from)
{
	struct ncs_wait_edge edges[BEHIND_MAX];
	size_t count = ncs_wait_edges_to_unseen(graph, from, edges, BEHIND_MAX);

	for (size_t i = 0; i < count; i++)
		if (add_edge(graph, edges[i]) != 0)
			return -ENOMEM;
	/* Its GPU has begun: data of the other may be what it lacks. */
	if (count > 0)
		graph->nodes[from].local = NULL;
	return 0;
}

static int add_own_edges(struct ncs_wait_graph *graph)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		if (!graph->nodes[i].waits || graph->nodes[i].level)
			continue;
		if (add_channels(graph, i) != 0 ||
		    add_launches(graph, i) != 0 || add_calls(graph, i) != 0 ||
		    add_unstarted(graph, i) != 0 ||
		    add_halted(graph, i) != 0 ||
		    add_starved(graph, i) != 0 ||
		    add_unseen(graph, i) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int make_own_edges(struct ncs_wait_graph *graph,
			  const struct ncs_model *model)
{
	struct ncs_laggards laggards = {
		.communicators = model->communicators,
		.lists = calloc(model->communicator_count + 1,
				sizeof(*laggards.lists)),
	};
	int error = -ENOMEM;

	if (!laggards.lists)
		return error;
	graph->laggards = &laggards;
	error = add_own_edges(graph);
	graph->laggards = NULL;
	for (size_t i = 0; i < model->communicator_count; i++)
		for (unsigned k = 0; k < LISTS; k++)
			free(laggards.lists[i][k].ranks);
	free(laggards.lists);
	return error;
}

int ncs_wait_edges_make(struct ncs_wait_graph *graph,
			const struct ncs_model *model)
{
	size_t own;

	if (make_own_edges(graph, model) != 0)
		return -ENOMEM;
	if (model->communicator_count < 2)
		return 0;
	/* Mark the nodes that edges lead to now, not those that edges added
	 * below lead to. */
	own = graph->edge_count;
	ncs_wait_graph_unmark(graph);
	for (size_t i = 0; i < own; i++)
		if (graph->edges[i].to != NCS_NOBODY)
			graph->marks[graph->edges[i].to] = true;
	for (size_t i = 0; i < graph->node_count; i++)
		if (graph->marks[i] && may_wait_elsewhere(&graph->nodes[i]) &&
		    add_processes(graph, i) != 0)
			return -ENOMEM;
	return 0;
}
