/* SPDX-License-Identifier: MIT */
/* Edges to ranks that are not seen, by kernels that run. Must not guess: if a
 * rank that is seen may be the one that is waited for, there is no edge.
 */
#include "analysis/diagnosis/wait_graph_parts.h"

#include "analysis/base/collective_waits.h"
#include "analysis/model/waits.h"

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

size_t ncs_wait_edges_to_unseen(const struct ncs_wait_graph *graph, size_t from,
				struct ncs_wait_edge *edges, size_t size)
{
	const struct ncs_wait_node *node = &graph->nodes[from];
	const struct ncs_rank *rank = node->rank;
	bool has_unnumbered = false;
	size_t count = 0;

	/* A channel that has something to do shows the wait. */
	if (node->count > 0 || !rank->communicator ||
	    ncs_communicator_unseen(rank->communicator) == 0 ||
	    (!node->local && !ncs_rank_is_quiet(rank)))
		return 0;
	for (size_t i = 0; i < rank->now.operation_count && count < size; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];
		struct ncs_wait_edge edge = {
			.from = from,
			.to = NCS_NOBODY,
			.kind = NCS_EDGE_KERNEL,
			.operation = operation,
			.function = operation->function,
			.sequence_number = operation->sequence_number,
			.duration_ns = ncs_wait_ran_ns(node, operation),
		};

		if (edge.duration_ns < NCS_LONG_WAIT_NS ||
		    !find_needed(rank, operation, &edge.unseen) ||
		    awaits_seen(rank, operation) ||
		    (edge.unseen < 0 && has_unnumbered))
			continue;
		has_unnumbered |= edge.unseen < 0;
		edges[count++] = edge;
	}
	return count;
}
