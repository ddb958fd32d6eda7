/* SPDX-License-Identifier: MIT */
/* The rules for collectives that go on for too long, where no chain of waits ends: a
 * rank goes on in one that all others have finished, and nobody waits for it; or all
 * ranks have begun one and none ends it, over NVLink, where no channel shows a wait, and
 * no rank is to blame. Must not judge a communicator of which a rank is not seen.
 */
#include "analysis/diagnosis/rules.h"

#include "analysis/model/waits.h"

/* Returns the collective that a rank is in while nothing of it moves; NULL if there is
 * none. */
static const struct ncs_operation_view *
stalled_collective(const struct ncs_wait_node *node)
{
	return !node->rank->is_past && !node->rank->now.torn && node->waits &&
			       node->stalled && node->operation &&
			       node->operation->event == NCS_EVENT_COLL ?
		       node->operation :
		       NULL;
}

/* --- In one that all others have finished ----------------------------------- */

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
	const struct ncs_operation_view *operation = stalled_collective(node);

	if (!operation || !node->gpu_stalled ||
	    operation->sequence_number == NCS_NO_SEQUENCE_NUMBER ||
	    ncs_operation_phase(node->rank, operation) !=
		    NCS_LAUNCH_PHASE_RUNNING ||
	    ncs_age_ns(node->rank, operation->start_ns) < NCS_STUCK_NS)
		return NULL;
	return operation;
}

static void report_left_behind(struct ncs_diagnosis *diagnosis,
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
		report_left_behind(diagnosis, node, other);
		return true;
	}
	return false;
}

/* --- In one that none ends -------------------------------------------------- */

/* No link between GPUs is so slow that a GiB takes as long as a wait that is stuck. */
#define GIB_BITS 30u

/* Returns for how long the kernel of a rank has been running without an end, if that is
 * the collective `call` and too long for it; else 0. */
static uint64_t hung_ns(const struct ncs_wait_node *node,
			struct ncs_call_id call)
{
	const struct ncs_operation_view *operation = stalled_collective(node);
	const struct ncs_rank *rank = node->rank;
	uint64_t ran_ns, bytes = 0;

	if (!operation || !ncs_is_same_call(ncs_call_of(operation), call))
		return 0;
	/* A launch may have several operations, and sizes may be those of shards. */
	for (size_t i = 0; i < rank->now.operation_count; i++)
		bytes += rank->now.operations[i].bytes *
			 rank->communicator->rank_count;
	ran_ns = ncs_wait_ran_ns(node, operation);
	return (ran_ns + NCS_STUCK_NS - ncs_stuck_ns(rank)) / NCS_STUCK_NS >
			       bytes >> GIB_BITS ?
		       ran_ns :
		       0;
}

static void report_not_ended(struct ncs_diagnosis *diagnosis,
			     const struct ncs_communicator *communicator,
			     struct ncs_call_id call, uint64_t hung_for_ns)
{
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis, NCS_VERDICT_NOT_ENDED,
				  ncs_party_of(communicator->ranks[0]));
	bool is_proved = true;

	finding->call = call;
	finding->duration_ns = hung_for_ns;
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_operation_view *operation =
			ncs_wait_node_of(&diagnosis->graph, rank)->operation;

		/* On its stream alone, a kernel has begun also if others leave it
		 * no room on the GPU. */
		is_proved &= operation->children_started > 0;
		ncs_finding_add_operation(finding, rank, operation);
	}
	ncs_finding_rate(finding, true,
			 is_proved ? NCS_CONFIDENCE_LIKELY :
				     NCS_CONFIDENCE_POSSIBLE);
}

bool ncs_find_not_ended(struct ncs_diagnosis *diagnosis,
			const struct ncs_communicator *communicator)
{
	struct ncs_call_id call = ncs_no_call;
	uint64_t least_ns = UINT64_MAX;

	if (communicator->rank_count < 2 ||
	    ncs_communicator_unseen(communicator) > 0)
		return false;
	for (size_t i = 0; i < communicator->rank_count && least_ns > 0; i++) {
		const struct ncs_wait_node *node = ncs_wait_node_of(
			&diagnosis->graph, communicator->ranks[i]);
		uint64_t ns;

		if (i == 0 && node->operation)
			call = ncs_call_of(node->operation);
		ns = node->count == 0 ? hung_ns(node, call) : 0;
		if (ns < least_ns)
			least_ns = ns;
	}
	if (least_ns == 0)
		return false;
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (ncs_diagnosis_explains_process(diagnosis,
						   communicator->ranks[i]))
			return false;
	report_not_ended(diagnosis, communicator, call, least_ns);
	return true;
}
