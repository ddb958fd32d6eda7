/* SPDX-License-Identifier: MIT */
/* The order of deaths; see deaths.h. */
#include "analysis/diagnosis/deaths.h"

#include <stdlib.h>

#include "analysis/model/rank.h"

bool ncs_rank_has_died(const struct ncs_rank *rank)
{
	const struct ncs_communicator *communicator = rank->communicator;

	if (rank->now.liveness != NCS_DEAD || !communicator)
		return false;
	for (size_t i = 0;
	     communicator->live > 0 && i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (ncs_rank_is_live(other) &&
		    other->now.identity.rank == rank->now.identity.rank)
			return false;
	}
	return true;
}

/* Ranks that ended at one time are in the order of the model. */
static int compare_deaths(const void *left, const void *right)
{
	const struct ncs_rank *const *a = left, *const *b = right;
	uint64_t a_ns = ncs_rank_end_ns(*a), b_ns = ncs_rank_end_ns(*b);

	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	return ncs_rank_compare(*a, *b);
}

const struct ncs_rank **ncs_deaths_in_order(const struct ncs_model *model,
					    size_t *count)
{
	const struct ncs_rank **deaths =
		malloc((model->rank_count + 1) * sizeof(*deaths));

	*count = 0;
	for (size_t i = 0; deaths && i < model->rank_count; i++)
		if (ncs_rank_has_died(model->ranks[i]))
			deaths[(*count)++] = model->ranks[i];
	if (deaths)
		qsort(deaths, *count, sizeof(*deaths), compare_deaths);
	return deaths;
}

size_t ncs_first_death(const struct ncs_wait_graph *graph, size_t node)
{
	const struct ncs_communicator *communicator =
		graph->nodes[node].rank->communicator;
	uint64_t first_ns = ncs_rank_end_ns(graph->nodes[node].rank);

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		size_t other = ncs_wait_graph_find(graph, rank);

		if (!graph->nodes[other].halted || !ncs_rank_has_died(rank) ||
		    ncs_rank_end_ns(rank) >= first_ns)
			continue;
		node = other;
		first_ns = ncs_rank_end_ns(rank);
	}
	return node;
}

/* Whether a process is known to have died before another one. */
static bool died_before(const struct ncs_rank *rank,
			const struct ncs_rank *other)
{
	uint64_t silent_ns = rank->now.alive_ns != 0 ? NCS_HEARTBEAT_NS : NCS_LOOK_NS;

	return ncs_rank_end_is_known(rank) && ncs_is_comparable(rank, other) &&
	       ncs_rank_end_ns(rank) + silent_ns +
			       ncs_error_between(rank, other) <
		       ncs_rank_end_ns(other);
}

uint64_t ncs_dead_ns(const struct ncs_model *model, const struct ncs_rank *rank)
{
	uint64_t end_ns = ncs_rank_end_ns(rank);

	return model->now_ns > end_ns ? model->now_ns - end_ns : 0;
}

void ncs_finding_add_death(struct ncs_finding *finding,
			   const struct ncs_model *model,
			   const struct ncs_rank *rank)
{
	const struct ncs_communicator *communicator = rank->communicator;
	size_t unknown = 0;

	ncs_finding_add_fact(finding, NCS_EVIDENCE_GONE, rank,
			     ncs_dead_ns(model, rank));
	for (size_t i = 0; communicator && i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		unknown += ncs_rank_has_died(other) &&
			   !ncs_shares_process(rank, other) &&
			   !died_before(rank, other);
	}
	if (unknown > 0)
		ncs_finding_add_fact(finding, NCS_EVIDENCE_ORDER, rank, 0)
			->number = unknown;
}
