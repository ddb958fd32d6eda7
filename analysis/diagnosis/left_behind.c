/* SPDX-License-Identifier: MIT */
/* The rule for ranks that go on in a collective which all others have finished.
 * Nobody waits for such a rank, so no chain of waits ends at it. Must not judge a
 * communicator of which a rank is not seen, or that an earlier rule explains.
 */
#include "analysis/diagnosis/rules.h"

#include "analysis/model/waits.h"

/* Returns whether a rank is known to have finished a call long before `until_ns`:
 * ranks are not looked at at once. */
static bool has_finished(const struct ncs_rank *rank, struct ncs_call_id call,
			 uint64_t until_ns)
{
	uint64_t moved_ns = ncs_launches_moved_ns(&rank->now.launches);

	return ncs_rank_is_live(rank) && !rank->is_past && !rank->now.torn &&
	       moved_ns != 0 && moved_ns + NCS_LONG_WAIT_NS <= until_ns &&
	       ncs_rank_next(rank, call.function) > call.sequence_number &&
	       !ncs_operation_of_call(rank, call);
}

/* Returns another rank if all others have finished a call; else NULL. */
static const struct ncs_rank *
finished_rank(const struct ncs_communicator *communicator,
	     const struct ncs_rank *rank, struct ncs_call_id call)
{
	const struct ncs_rank *found = NULL;

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (other == rank)
			continue;
		if (!has_finished(other, call, rank->now.taken_ns))
			return NULL;
		if (!found)
			found = other;
	}
	return found;
}

/* Returns the collective that a rank's GPU is in for long, while nothing else of
 * it moves; NULL if there is none. */
static const struct ncs_operation_view *
long_collective(const struct ncs_wait_node *node)
{
	const struct ncs_operation_view *operation = node->operation;

	if (node->rank->is_past || node->rank->now.torn || !node->waits ||
	    !node->stalled || !node->gpu_stalled ||
	    !operation || operation->event != NCS_EVENT_COLL ||
	    operation->sequence_number == NCS_NO_SEQUENCE_NUMBER ||
	    ncs_operation_phase(node->rank, operation) !=
		    NCS_LAUNCH_PHASE_RUNNING ||
	    ncs_age_ns(node->rank, operation->start_ns) < NCS_STUCK_NS)
		return NULL;
	return operation;
}

static void report(struct ncs_diagnosis *diagnosis,
		   const struct ncs_wait_node *node,
		   const struct ncs_rank *other)
{
	const struct ncs_operation_view *operation = node->operation;
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, NCS_VERDICT_LEFT_BEHIND, ncs_party_of(node->rank));

	finding->peer = ncs_party_of(other);
	finding->call = ncs_call_of(operation);
	finding->duration_ns = ncs_age_ns(node->rank, operation->start_ns);
	ncs_finding_rate(finding, true, NCS_CONFIDENCE_LIKELY);
	ncs_finding_add_operation(finding, node->rank, operation);
	ncs_finding_add_fact(finding, NCS_EVIDENCE_IDLE, other,
			     ncs_age_ns(other, other->now.last_call_ns));
}

bool ncs_find_left_behind(struct ncs_diagnosis *diagnosis,
			  const struct ncs_communicator *communicator)
{
	if (ncs_communicator_unseen(communicator) > 0)
		return false;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_wait_node *node = ncs_wait_node_of(
			&diagnosis->graph, communicator->ranks[i]);
		const struct ncs_operation_view *operation =
			long_collective(node);
		const struct ncs_rank *other =
			operation ? finished_rank(communicator, node->rank,
						  ncs_call_of(operation)) :
				    NULL;

		if (!other)
			continue;
		report(diagnosis, node, other);
		return true;
	}
	return false;
}
