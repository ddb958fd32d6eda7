/* SPDX-License-Identifier: MIT */
/* The rule for a collective that all ranks have begun and none ends, over NVLink, where
 * no channel shows a wait. Must not blame a rank. Must not judge a communicator of which
 * a rank is not seen, or that an earlier finding may hold up.
 */
#include "analysis/diagnosis/rules.h"

#include "analysis/model/waits.h"

/* No link between GPUs is so slow that a GiB takes as long as a wait that is stuck. */
#define GIB_BITS 30u

/* Returns for how long the kernel of a rank has been running without an end, if that is
 * the collective `call` and too long for it; else 0. */
static uint64_t hung_ns(const struct ncs_wait_node *node,
			struct ncs_call_id call)
{
	const struct ncs_operation_view *operation = node->operation;
	const struct ncs_rank *rank = node->rank;
	uint64_t ran_ns, bytes = 0;

	if (rank->is_past || rank->now.torn || !node->waits || !node->stalled ||
	    !operation || operation->event != NCS_EVENT_COLL ||
	    !ncs_is_same_call(ncs_call_of(operation), call))
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

static void report(struct ncs_diagnosis *diagnosis,
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
	report(diagnosis, communicator, call, least_ns);
	return true;
}
