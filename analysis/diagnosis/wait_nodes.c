/* SPDX-License-Identifier: MIT */
/* The nodes of the graph of waits: what each rank's own state tells, and which
 * kernels are queued on all ranks alike. Must add no edges.
 */
#include "analysis/diagnosis/wait_graph.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/diagnosis/finding.h"
#include "analysis/model/waits.h"
#include "shm/array.h"

/* --- The state of a rank -------------------------------------------------- */

/* Whether no launch of a rank has begun or ended for long. */
static bool is_gpu_stalled(const struct ncs_rank *rank)
{
	uint64_t moved_ns = ncs_launches_moved_ns(&rank->now.launches);

	return !ncs_rank_is_live(rank) || moved_ns == 0 ||
	       ncs_age_ns(rank, moved_ns) >= NCS_LONG_WAIT_NS;
}

/* Whether nothing of a rank but its proxy thread has moved since the previous
 * update; or for long where that is longer ago, or this is the first one. */
static bool is_stalled(const struct ncs_rank *rank)
{
	const struct ncs_counters *before = ncs_rank_before(rank);
	const struct ncs_snapshot *now = &rank->now;

	if (!ncs_rank_is_live(rank))
		return true;
	if ((!before || before->taken_ns + NCS_STUCK_NS <= now->taken_ns) &&
	    ncs_age_ns(rank, ncs_rank_moved_ns(rank)) >= NCS_STUCK_NS)
		return true;
	if (!before ||
	    ncs_launches_moved_ns(&now->launches) > before->taken_ns ||
	    now->channel_count != before->channel_count)
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

bool ncs_wait_is_unfinished(const struct ncs_rank *rank,
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
		if (ncs_wait_is_unfinished(rank, &rank->now.operations[i]))
			return &rank->now.operations[i];
	return NULL;
}

const struct ncs_operation_view *
ncs_operation_numbered(const struct ncs_rank *rank, uint64_t number)
{
	for (size_t i = 0; i < rank->now.operation_count; i++)
		if (rank->now.operations[i].number == number)
			return &rank->now.operations[i];
	return NULL;
}

/* Returns the longest time that a thread has been inside NCCL's API; 0 if no
 * thread is inside. */
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

uint64_t ncs_unstarted_calls(const struct ncs_rank *rank, unsigned function)
{
	const struct ncs_function_view *view = &rank->now.functions[function];

	return view->calls > view->operations ? view->calls - view->operations :
						0;
}

uint64_t ncs_unstarted_ns(const struct ncs_rank *rank, unsigned *function)
{
	if (!ncs_rank_calls_known(rank) || rank->now.operation_count > 0)
		return 0;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		if (ncs_unstarted_calls(rank, i) == 0)
			continue;
		*function = i;
		return in_api_ns(rank);
	}
	return 0;
}

/* --- Nodes ---------------------------------------------------------------- */

static int reserve_nodes(struct ncs_wait_graph *graph, size_t count)
{
	size_t queue = graph->node_capacity;

	if (ncs_array_reserve(&graph->queue, &queue, count,
			      sizeof(*graph->queue)) != 0)
		return -ENOMEM;
	return ncs_array_reserve(&graph->nodes, &graph->node_capacity, count,
				 sizeof(*graph->nodes));
}

size_t ncs_wait_graph_find(const struct ncs_wait_graph *graph,
			   const struct ncs_rank *rank)
{
	return rank->place < graph->node_count &&
			       graph->nodes[rank->place].rank == rank ?
		       rank->place :
		       NCS_NOBODY;
}

void ncs_wait_graph_unmark(struct ncs_wait_graph *graph)
{
	for (size_t i = 0; i < graph->node_count; i++)
		graph->nodes[i].is_marked = false;
}

static bool some_rank_lives(const struct ncs_model *model)
{
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_is_live(model->ranks[i]))
			return true;
	return false;
}

/* The witness that a process lived until a time. A heartbeat comes far more often
 * than a viewer may look, so that times of the two are not compared. */
enum witness { VIEWER, HEARTBEAT, WITNESSES };

static enum witness witness_of(const struct ncs_rank *rank)
{
	return rank->now.alive_ns != 0 ? HEARTBEAT : VIEWER;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns until when a process is known to have lived; 0 if that is not
 * known. */
static uint64_t alive_ns(const struct ncs_rank *rank)
{
	return larger(rank->now.alive_ns, rank->alive_ns);
}

/* Finds until when a process of the model is known to have lived, by witness. */
static void find_last_alive(const struct ncs_model *model,
			    uint64_t last_ns[WITNESSES])
{
	last_ns[VIEWER] = last_ns[HEARTBEAT] = 0;
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		uint64_t *last = &last_ns[witness_of(rank)];

		*last = larger(*last, alive_ns(rank));
	}
}

/* Whether a process is known to have died before others did. */
static bool died_first(const struct ncs_rank *rank,
		       const uint64_t last_ns[WITNESSES])
{
	return alive_ns(rank) != 0 &&
	       alive_ns(rank) + NCS_LOOK_NS < last_ns[witness_of(rank)];
}

static struct ncs_wait_node make_node(const struct ncs_rank *rank, bool is_over,
				      const uint64_t last_ns[WITNESSES])
{
	struct ncs_wait_node node = {
		.rank = rank,
		.stalled = is_stalled(rank),
		.gpu_stalled = is_gpu_stalled(rank),
		.operation = oldest_operation(rank),
	};

	node.halted = rank->stays_stopped;
	if (rank->now.liveness == NCS_DEAD) {
		node.was_stopped = is_over && rank->now.process_stopped;
		node.halted = !is_over || node.was_stopped ||
			      died_first(rank, last_ns);
	}
	node.queued = node.operation &&
		      ncs_operation_phase(rank, node.operation) ==
			      NCS_LAUNCH_PHASE_QUEUED;
	return node;
}

/* Where NCCL reports what the proxy thread does, that thread calls while it
 * waits. */
uint64_t ncs_rank_moved_ns(const struct ncs_rank *rank)
{
	const struct ncs_snapshot *now = &rank->now;
	uint64_t last_ns = ncs_launches_moved_ns(&now->launches);

	if (!ncs_rank_proxy_known(rank))
		last_ns = larger(last_ns, now->last_call_ns);
	for (size_t i = 0; i < now->operation_count; i++) {
		last_ns = larger(last_ns, now->operations[i].start_ns);
		last_ns = larger(last_ns, now->operations[i].last_child_done_ns);
	}
	for (size_t i = 0; i < now->channel_count; i++)
		last_ns = larger(last_ns, now->channels[i].since_ns);
	return last_ns;
}

/* Finds the processes whose deaths explain no waits, since the communicator had
 * stood still for long when they died: they are judged by what they did. */
static void find_late_deaths(const struct ncs_wait_graph *graph,
			     const struct ncs_communicator *communicator)
{
	uint64_t last_ns = 0;

	for (size_t i = 0;
	     communicator->dead > 0 && i < communicator->rank_count; i++)
		last_ns = larger(last_ns, ncs_rank_moved_ns(communicator->ranks[i]));
	for (size_t i = 0; last_ns > 0 && i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		struct ncs_wait_node *node = ncs_wait_node_of(graph, rank);

		if (rank->now.liveness == NCS_DEAD && !node->was_stopped &&
		    alive_ns(rank) >= last_ns + ncs_stuck_ns(rank))
			node->halted = false;
	}
}

struct ncs_wait_node *ncs_wait_node_of(const struct ncs_wait_graph *graph,
				       const struct ncs_rank *rank)
{
	return &graph->nodes[ncs_wait_graph_find(graph, rank)];
}

bool ncs_rank_is_quiet(const struct ncs_rank *rank)
{
	for (size_t i = 0; i < rank->now.channel_count; i++)
		if (rank->now.channels[i].state != NCS_CHANNEL_IDLE)
			return false;
	return true;
}

uint64_t ncs_rank_next(const struct ncs_rank *rank, unsigned function)
{
	/* NCS_NO_SEQUENCE_NUMBER is the largest number, so 0 follows it. */
	return rank->now.functions[function].last_sequence_number + 1;
}

/* --- Kernels that are queued ---------------------------------------------- */

bool ncs_wait_has_not_begun(const struct ncs_channel_view *channel)
{
	return channel->step == 0 &&
	       (channel->state == NCS_CHANNEL_SEND_GPU_WAIT ||
		channel->state == NCS_CHANNEL_RECV_WAIT);
}

bool ncs_rank_shares_node(const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;
	uint64_t both = NCS_KNOWN_NRANKS | NCS_KNOWN_NNODES;

	return (identity->known & both) == both && identity->nnodes > 1 &&
	       identity->nranks > identity->nnodes;
}

/* Returns for how long a kernel that has begun has not produced data; 0 if that is
 * not known. Ranks of a node pass data to each other where no channel shows it, so
 * that the data of others may be what it lacks. */
static uint64_t starved_ns(const struct ncs_wait_node *node,
			   const struct ncs_operation_view *operation)
{
	const struct ncs_channel_view *local = node->local;

	return local && local->operation == operation->number &&
			       !ncs_wait_has_not_begun(local) &&
			       ncs_rank_shares_node(node->rank) ?
		       ncs_wait_ns(node->rank, local) :
		       0;
}

uint64_t ncs_wait_ran_ns(const struct ncs_wait_node *node,
			 const struct ncs_operation_view *operation)
{
	const struct ncs_rank *rank = node->rank;

	switch (ncs_operation_phase(rank, operation)) {
	case NCS_LAUNCH_PHASE_RUNNING:
		return ncs_age_ns(rank, rank->now.launches.begun_ns);
	case NCS_LAUNCH_PHASE_UNKNOWN:
		/* The first child is a kernel's if the rank has no channel over
		 * the network; else a channel tells. */
		if (rank->now.channel_count > 0)
			return starved_ns(node, operation);
		return operation->children_started > operation->children_done ?
			       ncs_age_ns(rank, operation->first_child_ns) :
			       0;
	default:
		return 0;
	}
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

/* The kernels of a communicator, as far as channels and launches show them. */
struct gpu_queue {
	bool produces;     /* a kernel that has to send has not begun */
	uint64_t begun_ns; /* the longest wait of one that has begun */
	/* That wait by launches: a begin on the stream, which is true of the
	 * kernel unless other work leaves it no room on the GPU. */
	uint64_t running_ns;
	bool queued; /* a launch has not begun */
};

static void add_to_queue(struct gpu_queue *queue,
			 const struct ncs_wait_node *node)
{
	const struct ncs_rank *rank = node->rank;

	queue->queued |= node->queued;
	if (node->operation && ncs_operation_phase(rank, node->operation) ==
				       NCS_LAUNCH_PHASE_RUNNING)
		queue->running_ns =
			larger(queue->running_ns,
			       ncs_age_ns(rank, rank->now.launches.begun_ns));
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];

		if (channel->state == NCS_CHANNEL_IDLE)
			continue;
		if (ncs_wait_has_not_begun(channel))
			queue->produces |= channel->send;
		else
			queue->begun_ns = larger(queue->begun_ns,
						 ncs_wait_ns(rank, channel));
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
		if (!ncs_wait_node_of(graph, communicator->ranks[i])->waits)
			return false;
	/* A launch that has begun waits for one that has not, seen or unseen. */
	if (queue->running_ns >= NCS_LONG_WAIT_NS &&
	    (queue->queued || ncs_communicator_unseen(communicator) > 0))
		return false;
	return queue->produces && queue->begun_ns < NCS_LONG_WAIT_NS &&
	       !some_rank_is_behind(communicator);
}

static void find_level(const struct ncs_wait_graph *graph,
		       const struct ncs_communicator *communicator)
{
	struct gpu_queue queue = { 0 };
	bool level;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_wait_node *node =
			ncs_wait_node_of(graph, communicator->ranks[i]);

		if (node->waits)
			add_to_queue(&queue, node);
	}
	level = is_level(graph, communicator, &queue);
	for (size_t i = 0; i < communicator->rank_count; i++) {
		struct ncs_wait_node *node =
			ncs_wait_node_of(graph, communicator->ranks[i]);

		node->level = level;
		node->begun_ns = larger(queue.begun_ns, queue.running_ns);
	}
}

/* --- All nodes -------------------------------------------------------------- */

int ncs_wait_nodes_make(struct ncs_wait_graph *graph)
{
	const struct ncs_model *model = graph->model;
	size_t count = model->rank_count;
	uint64_t last_ns[WITNESSES];

	/* At least one, so that no array is NULL. */
	if (reserve_nodes(graph, count + 1) != 0)
		return -ENOMEM;
	graph->node_count = count;
	graph->edge_count = 0;
	graph->is_over = !some_rank_lives(model);
	find_last_alive(model, last_ns);
	for (size_t i = 0; i < count; i++)
		graph->nodes[i] =
			make_node(model->ranks[i], graph->is_over, last_ns);
	for (size_t i = 0; i < model->communicator_count; i++)
		find_late_deaths(graph, &model->communicators[i]);
	for (size_t i = 0; i < count; i++)
		graph->nodes[i].waits = model->ranks[i]->now.liveness !=
						NCS_FINISHED &&
					!graph->nodes[i].halted;
	for (size_t i = 0; i < model->communicator_count; i++)
		find_level(graph, &model->communicators[i]);
	return 0;
}
