/* SPDX-License-Identifier: MIT */
/* The rules for ranks that died, and the order in which they did. The latest sign of
 * life of a process is all that tells when it died: deaths that are close to each
 * other, or seen by clocks that cannot be compared, have no known order.
 */
#include "analysis/diagnosis/rules.h"

#include <stdlib.h>

/* --- The order of deaths ---------------------------------------------------- */

static bool has_died(const struct ncs_rank *rank)
{
	return rank->now.liveness == NCS_DEAD && rank->communicator;
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

/* Returns the ranks of a model that have died and have a communicator, the one
 * with the earliest latest sign of life first, and their number; NULL if there is
 * no memory. The caller frees the array. */
static const struct ncs_rank **deaths_in_order(const struct ncs_model *model,
					       size_t *count)
{
	const struct ncs_rank **deaths =
		malloc((model->rank_count + 1) * sizeof(*deaths));

	*count = 0;
	for (size_t i = 0; deaths && i < model->rank_count; i++)
		if (has_died(model->ranks[i]))
			deaths[(*count)++] = model->ranks[i];
	if (deaths)
		qsort(deaths, *count, sizeof(*deaths), compare_deaths);
	return deaths;
}

const struct ncs_wait_node *ncs_first_death(const struct ncs_wait_graph *graph,
					    const struct ncs_wait_node *node)
{
	const struct ncs_communicator *communicator = node->rank->communicator;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_wait_node *other =
			ncs_wait_node_of(graph, rank);

		if (other->halted && has_died(rank) &&
		    ncs_rank_end_ns(rank) < ncs_rank_end_ns(node->rank))
			node = other;
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

/* Returns for how long the process of a rank has been gone. */
static uint64_t dead_ns(const struct ncs_model *model,
			const struct ncs_rank *rank)
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
			     dead_ns(model, rank));
	for (size_t i = 0; communicator && i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		unknown += has_died(other) &&
			   !ncs_shares_process(rank, other) &&
			   !died_before(rank, other);
	}
	if (unknown > 0)
		ncs_finding_add_fact(finding, NCS_EVIDENCE_ORDER, rank, 0)
			->number = unknown;
}

/* --- The rules -------------------------------------------------------------- */

/* Whether a finding tells that a rank has died, or that its process has, which may have
 * ranks in several communicators. The others of its communicator that are gone, too,
 * are counted by the same finding. */
static bool is_reported(const struct ncs_diagnosis *diagnosis,
			const struct ncs_rank *rank)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_finding *finding = &diagnosis->findings[i];
		const struct ncs_communicator *communicator =
			finding->root.communicator;

		if (finding->verdict != NCS_VERDICT_RANK_DIED || !communicator)
			continue;
		if (finding->root.rank == rank)
			return true;
		for (size_t k = 0; communicator != rank->communicator &&
				   k < communicator->rank_count;
		     k++)
			if (communicator->ranks[k]->now.liveness == NCS_DEAD &&
			    ncs_shares_process(communicator->ranks[k], rank))
				return true;
	}
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

/* Whether a rank is known to be in an operation. If one began since the heartbeat
 * before, the plugin may not have seen its end yet when the process ended: where no
 * other rank's process lived longer, nothing tells that it lacked one. */
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

	finding->duration_ns = dead_ns(diagnosis->model, rank);
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

	if (is_reported(diagnosis, rank))
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
		deaths_in_order(diagnosis->model, &count);

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
