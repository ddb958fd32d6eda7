/* SPDX-License-Identifier: MIT */
/* Building the graph of waits. Must not guess: an edge is what a channel, a
 * sequence number or a process shows; the rules judge the edge.
 *
 * Short waits make no edges, so the graph of a running job is empty.
 */
#include "analysis/diagnosis/wait_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diagnosis/unstarted_calls.h"
#include "analysis/model/launch_waits.h"
#include "shm/array.h"

/* A rank that is ahead gets edges to at most this number of the ranks behind
 * it: one is enough to follow, and edges from all to all would be n squared. */
#define BEHIND_MAX 8u

/* --- The state of a rank -------------------------------------------------- */

/* Whether no launch of a rank has begun or ended for long. */
static bool is_gpu_stalled(const struct ncs_rank *rank)
{
	uint64_t moved_ns = ncs_launches_moved_ns(&rank->now.launches);

	return !ncs_rank_is_live(rank) || moved_ns == 0 ||
	       ncs_age_ns(rank, moved_ns) >= NCS_LONG_WAIT_NS;
}

/* Whether nothing of a rank but its proxy thread has moved since the previous
 * update. */
static bool is_stalled(const struct ncs_rank *rank)
{
	const struct ncs_counters *before = ncs_rank_before(rank);
	const struct ncs_snapshot *now = &rank->now;

	if (!ncs_rank_is_live(rank))
		return true;
	if (!before ||
	    ncs_launches_moved_ns(&now->launches) > before->taken_ns || now->channel_count != before->channel_count)
		return false;
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (now->functions[i].operations !=
		    before->functions[i].operations)
			return false;
	for (size_t i = 0; i < now->channel_count; i++)
		if (now->channels[i].since_ns > before->taken_ns)
			return false;
	return true;
}

/* An earlier plugin may have timed the kernels of one call in many: NCCL then
 * reported only the ends of these. */
bool ncs_rank_reports_ends(const struct ncs_rank *rank, unsigned function)
{
	const struct ncs_function_view *view = &rank->now.functions[function];

	return view->with_children > 0 &&
	       view->with_children + rank->now.operation_count + 1 >=
		       view->operations;
}

static bool is_unfinished(const struct ncs_rank *rank,
			  const struct ncs_operation_view *operation)
{
	enum ncs_launch_phase phase = ncs_operation_phase(rank, operation);

	return operation->enqueued_ns == 0 ||
	       operation->children_started > operation->children_done ||
	       phase == NCS_LAUNCH_PHASE_QUEUED ||
	       phase == NCS_LAUNCH_PHASE_RUNNING ||
	       ncs_rank_reports_ends(rank, operation->function);
}

static const struct ncs_operation_view *
oldest_operation(const struct ncs_rank *rank)
{
	for (size_t i = 0; i < rank->now.operation_count; i++)
		if (is_unfinished(rank, &rank->now.operations[i]))
			return &rank->now.operations[i];
	return NULL;
}

/* --- Nodes ---------------------------------------------------------------- */

static int reserve_nodes(struct ncs_wait_graph *graph, size_t count)
{
	size_t nodes = graph->node_capacity, addresses = nodes, queue = nodes,
	       marks = nodes;

	if (ncs_array_reserve(&graph->nodes, &nodes, count,
			      sizeof(*graph->nodes)) != 0 ||
	    ncs_array_reserve(&graph->by_address, &addresses, count,
			      sizeof(*graph->by_address)) != 0 ||
	    ncs_array_reserve(&graph->queue, &queue, count,
			      sizeof(*graph->queue)) != 0 ||
	    ncs_array_reserve(&graph->marks, &marks, count,
			      sizeof(*graph->marks)) != 0)
		return -ENOMEM;
	graph->node_capacity = nodes;
	return 0;
}

struct rank_address {
	const struct ncs_rank *rank;
	size_t node;
};

static int compare_addresses(const void *left, const void *right)
{
	const struct rank_address *a = left, *b = right;

	return ((uintptr_t)a->rank > (uintptr_t)b->rank) -
	       ((uintptr_t)a->rank < (uintptr_t)b->rank);
}

static int sort_addresses(struct ncs_wait_graph *graph)
{
	struct rank_address *addresses =
		malloc((graph->node_count + 1) * sizeof(*addresses));

	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < graph->node_count; i++)
		addresses[i] = (struct rank_address){ graph->nodes[i].rank, i };
	qsort(addresses, graph->node_count, sizeof(*addresses),
	      compare_addresses);
	for (size_t i = 0; i < graph->node_count; i++)
		graph->by_address[i] = addresses[i].node;
	free(addresses);
	return 0;
}

size_t ncs_wait_graph_find(const struct ncs_wait_graph *graph,
			   const struct ncs_rank *rank)
{
	size_t low = 0, high = graph->node_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		size_t node = graph->by_address[middle];

		if (graph->nodes[node].rank == rank)
			return node;
		if ((uintptr_t)graph->nodes[node].rank < (uintptr_t)rank)
			low = middle + 1;
		else
			high = middle;
	}
	return NCS_NOBODY;
}

/* Processes that end together are seen to end within this time. */
#define TOGETHER_NS UINT64_C(2000000000)

static bool some_rank_lives(const struct ncs_model *model)
{
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_is_live(model->ranks[i]))
			return true;
	return false;
}

/* Returns when a process was last seen alive, of those of a model. */
static uint64_t last_alive_ns(const struct ncs_model *model)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		if (model->ranks[i]->alive_ns > last_ns)
			last_ns = model->ranks[i]->alive_ns;
	return last_ns;
}

static struct ncs_wait_node make_node(const struct ncs_rank *rank, bool is_over,
				      uint64_t last_ns)
{
	struct ncs_wait_node node = {
		.rank = rank,
		.stalled = is_stalled(rank),
		.gpu_stalled = is_gpu_stalled(rank),
		.operation = oldest_operation(rank),
	};

	node.halted = rank->now.process_stopped;
	if (rank->now.liveness == NCS_DEAD)
		node.halted = !is_over ||
			      (rank->alive_ns != 0 &&
			       rank->alive_ns + TOGETHER_NS < last_ns);
	node.waits = rank->now.liveness != NCS_FINISHED && !node.halted;
	node.queued = node.operation &&
		      ncs_operation_phase(rank, node.operation) ==
			      NCS_LAUNCH_PHASE_QUEUED;
	return node;
}

static int make_nodes(struct ncs_wait_graph *graph,
		      const struct ncs_model *model)
{
	size_t count = model->rank_count;
	uint64_t last_ns = last_alive_ns(model);

	/* At least one, so that no array is NULL. */
	if (reserve_nodes(graph, count + 1) != 0)
		return -ENOMEM;
	graph->node_count = count;
	graph->edge_count = 0;
	graph->is_over = !some_rank_lives(model);
	for (size_t i = 0; i < count; i++)
		graph->nodes[i] =
			make_node(model->ranks[i], graph->is_over, last_ns);
	ncs_wait_graph_unmark(graph);
	return sort_addresses(graph);
}

static struct ncs_wait_node *node_of(const struct ncs_wait_graph *graph,
				     const struct ncs_rank *rank)
{
	return &graph->nodes[ncs_wait_graph_find(graph, rank)];
}

/* --- Kernels that are queued ---------------------------------------------- */

/* Whether a channel is as it was posted: no GPU has begun, so nothing was sent
 * or received. */
static bool has_not_begun(const struct ncs_channel_view *channel)
{
	return channel->step == 0 &&
	       (channel->state == NCS_CHANNEL_SEND_GPU_WAIT ||
		channel->state == NCS_CHANNEL_RECV_WAIT);
}

static bool some_rank_is_behind(const struct ncs_communicator *communicator)
{
	struct ncs_progress progress;

	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		ncs_communicator_progress(communicator, i, &progress);
		if (ncs_progress_behind(&progress) > 0)
			return true;
	}
	return false;
}

/* The kernels of a communicator, as far as channels show them. */
struct gpu_queue {
	bool produces;     /* a kernel that has to send has not begun */
	uint64_t begun_ns; /* the longest wait of one that has begun */
};

static void add_to_queue(struct gpu_queue *queue, const struct ncs_rank *rank)
{
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];
		uint64_t wait_ns = ncs_wait_ns(rank, channel);

		if (channel->state == NCS_CHANNEL_IDLE)
			continue;
		if (has_not_begun(channel))
			queue->produces |= channel->send;
		else if (wait_ns > queue->begun_ns)
			queue->begun_ns = wait_ns;
	}
}

/* Whether all operations in progress are queued behind other work of the GPUs.
 * A long computation looks like this on all ranks, and no rank is to blame; at
 * its end one GPU begins a little before the others. */
static bool is_level(const struct ncs_wait_graph *graph,
		     const struct ncs_communicator *communicator,
		     const struct gpu_queue *queue)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (!node_of(graph, communicator->ranks[i])->waits)
			return false;
	return queue->produces && queue->begun_ns < NCS_LONG_WAIT_NS &&
	       !some_rank_is_behind(communicator);
}

static void find_level(struct ncs_wait_graph *graph,
		       const struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		struct gpu_queue queue = { 0 };
		bool level;

		for (size_t k = 0; k < communicator->rank_count; k++)
			if (node_of(graph, communicator->ranks[k])->waits)
				add_to_queue(&queue, communicator->ranks[k]);
		level = is_level(graph, communicator, &queue);
		for (size_t k = 0; k < communicator->rank_count; k++) {
			struct ncs_wait_node *node =
				node_of(graph, communicator->ranks[k]);

			node->level = level;
			node->begun_ns = queue.begun_ns;
		}
	}
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
	if (peer && node_of(graph, peer)->halted)
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
		    is_unfinished(node->rank, operation))
			return end_ns > operation->start_ns ?
				       end_ns - operation->start_ns :
				       0;
	}
	if (ncs_rank_reports_ends(node->rank, function) ||
	    end_ns < now->last_call_ns)
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

uint64_t ncs_rank_next(const struct ncs_rank *rank, unsigned function)
{
	/* NCS_NO_SEQUENCE_NUMBER is the largest number, so 0 follows it. */
	return rank->now.functions[function].last_sequence_number + 1;
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

static int add_call(struct ncs_wait_graph *graph, size_t from,
		    unsigned function)
{
	const struct ncs_wait_node *node = &graph->nodes[from];
	const struct ncs_communicator *communicator = node->rank->communicator;
	uint64_t own = ncs_rank_next(node->rank, function);
	size_t added = 0;

	if (!communicator || own == 0 ||
	    (!is_barrier(function) &&
	     !ncs_rank_reports_ends(node->rank, function)))
		return 0;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];
		size_t to = ncs_wait_graph_find(graph, other);
		uint64_t next = ncs_rank_next(other, function), duration_ns;

		if (added == BEHIND_MAX || next >= own ||
		    has_edge(graph, from, to) ||
		    other->now.liveness == NCS_FINISHED ||
		    !graph->nodes[to].stalled)
			continue;
		duration_ns = waited_ns(node, function, next);
		if (duration_ns < NCS_LONG_WAIT_NS)
			continue;
		if (add_edge(graph, (struct ncs_wait_edge){
					    .from = from,
					    .to = to,
					    .kind = NCS_EDGE_CALL,
					    .function = function,
					    .sequence_number = next,
					    .duration_ns = duration_ns,
				    }) != 0)
			return -ENOMEM;
		added++;
	}
	return 0;
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

static bool is_same_process(const struct ncs_rank *a, const struct ncs_rank *b)
{
	return a->header.pid == b->header.pid &&
	       a->header.process_start == b->header.process_start &&
	       a->header.pid_namespace == b->header.pid_namespace &&
	       strcmp(a->header.host, b->header.host) == 0;
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
	       (node->queued || (node->local && has_not_begun(node->local)) ||
		(!node->local && !node->operation));
}

/* Whether a rank of the same process may be what a queued kernel waits for: its
 * own kernel has begun and waits for others. */
static bool occupies_gpu(const struct ncs_wait_node *node)
{
	return node->count > 0 && !node->queued &&
	       !(node->local && has_not_begun(node->local));
}

/* Adds edges to the ranks of the same process in other communicators that are
 * held up: they may be why this one has no operation in progress. */
static int add_processes(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_wait_node *node = &graph->nodes[from];

	for (size_t i = 0; i < graph->node_count; i++) {
		const struct ncs_wait_node *other = &graph->nodes[i];

		if (i == from || !is_same_process(node->rank, other->rank) ||
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

/* Adds edges to the ranks that have not begun what this one has begun. */
static int add_kernels(struct ncs_wait_graph *graph, size_t from,
		       const struct ncs_operation_view *operation)
{
	const struct ncs_rank *rank = graph->nodes[from].rank;
	const struct ncs_communicator *communicator = rank->communicator;
	uint64_t waited_ns = ncs_age_ns(rank, rank->now.launches.begun_ns);
	size_t added = 0;

	if (waited_ns < NCS_LONG_WAIT_NS)
		return 0;
	for (size_t i = 0;
	     i < communicator->rank_count && added < BEHIND_MAX; i++) {
		const struct ncs_rank *other = communicator->ranks[i];
		size_t to = ncs_wait_graph_find(graph, other);
		bool halted = graph->nodes[to].halted;

		if (other == rank || other->now.liveness == NCS_FINISHED ||
		    !ncs_operation_needs(rank, operation, other) ||
		    (!halted && (!graph->nodes[to].gpu_stalled ||
				 ncs_rank_has_begun(other, rank, operation) !=
					 NCS_BEGUN_NOT)))
			continue;
		if (add_edge(graph,
			     (struct ncs_wait_edge){
				     .from = from,
				     .to = to,
				     .kind = halted ? NCS_EDGE_HALTED :
						      NCS_EDGE_KERNEL,
				     .function = operation->function,
				     .sequence_number =
					     operation->sequence_number,
				     .duration_ns = waited_ns,
			     }) != 0)
			return -ENOMEM;
		added++;
	}
	return 0;
}

/* Adds edges from a rank inside a collective that NCCL has not begun to those
 * that have not called it. */
static int add_unstarted(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_rank *rank = graph->nodes[from].rank;
	const struct ncs_communicator *communicator = rank->communicator;
	unsigned function;
	uint64_t inside_ns = ncs_unstarted_ns(rank, &function);
	size_t added = 0;

	if (!communicator || inside_ns < NCS_LONG_WAIT_NS ||
	    ncs_is_p2p(function))
		return 0;
	for (size_t i = 0;
	     i < communicator->rank_count && added < BEHIND_MAX; i++) {
		const struct ncs_rank *other = communicator->ranks[i];
		size_t to = ncs_wait_graph_find(graph, other);

		if (other->now.liveness == NCS_FINISHED ||
		    !graph->nodes[to].stalled || !ncs_rank_calls_known(other) ||
		    other->now.functions[function].calls >=
			    rank->now.functions[function].calls)
			continue;
		if (add_edge(graph, (struct ncs_wait_edge){
					    .from = from,
					    .to = to,
					    .kind = NCS_EDGE_CALL,
					    .function = function,
					    .sequence_number = ncs_rank_next(
						    other, function),
					    .duration_ns = inside_ns,
				    }) != 0)
			return -ENOMEM;
		added++;
	}
	return 0;
}

/* Follows all operations of the launch that has begun and not ended. */
static int add_launches(struct ncs_wait_graph *graph, size_t from)
{
	const struct ncs_rank *rank = graph->nodes[from].rank;

	if (!rank->communicator)
		return 0;
	for (size_t i = 0; i < rank->now.operation_count; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];

		if (ncs_operation_phase(rank, operation) ==
			    NCS_LAUNCH_PHASE_RUNNING &&
		    add_kernels(graph, from, operation) != 0)
			return -ENOMEM;
	}
	return 0;
}

/* Adds edges from a rank that has been in an operation for long to processes
 * that are stopped or have died and whose part it needs, if nothing else tells
 * for whom it waits. */
static int add_halted(struct ncs_wait_graph *graph, size_t from)
{
	struct ncs_wait_node *node = &graph->nodes[from];
	const struct ncs_communicator *communicator = node->rank->communicator;
	const struct ncs_operation_view *operation = node->operation;
	size_t added = 0;
	uint64_t waited_ns;

	if (node->count > 0 || node->queued || !operation || !communicator)
		return 0;
	waited_ns = ncs_age_ns(node->rank, operation->start_ns);
	for (size_t i = 0; i < communicator->rank_count &&
			   added < BEHIND_MAX && waited_ns >= NCS_LONG_WAIT_NS;
	     i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (!node_of(graph, other)->halted ||
		    !ncs_operation_needs(node->rank, operation, other))
			continue;
		if (add_edge(graph,
			     (struct ncs_wait_edge){
				     .from = from,
				     .to = ncs_wait_graph_find(graph, other),
				     .kind = NCS_EDGE_HALTED,
				     .function = operation->function,
				     .sequence_number =
					     operation->sequence_number,
				     .duration_ns = waited_ns,
			     }) != 0)
			return -ENOMEM;
		added++;
	}
	/* The other process explains a GPU that does not go on. */
	if (added > 0)
		node->local = NULL;
	return 0;
}

static int make_own_edges(struct ncs_wait_graph *graph)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		if (!graph->nodes[i].waits || graph->nodes[i].level)
			continue;
		if (add_channels(graph, i) != 0 || add_launches(graph, i) != 0 ||
		    add_calls(graph, i) != 0 || add_unstarted(graph, i) != 0 ||
		    add_halted(graph, i) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int make_edges(struct ncs_wait_graph *graph,
		      const struct ncs_model *model)
{
	size_t own;

	if (make_own_edges(graph) != 0)
		return -ENOMEM;
	if (model->communicator_count < 2)
		return 0;
	/* Mark the nodes that edges lead to now, not those that edges added
	 * below lead to. */
	own = graph->edge_count;
	memset(graph->marks, 0, graph->node_count * sizeof(*graph->marks));
	for (size_t i = 0; i < own; i++)
		if (graph->edges[i].to != NCS_NOBODY)
			graph->marks[graph->edges[i].to] = true;
	for (size_t i = 0; i < graph->node_count; i++)
		if (graph->marks[i] && may_wait_elsewhere(&graph->nodes[i]) &&
		    add_processes(graph, i) != 0)
			return -ENOMEM;
	return 0;
}

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
	if (make_nodes(graph, model) != 0)
		return -ENOMEM;
	find_level(graph, model);
	if (make_edges(graph, model) != 0)
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
