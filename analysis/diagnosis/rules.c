/* SPDX-License-Identifier: MIT */
/* Helpers that the rules share: adding findings, and common pieces of evidence.
 * Must not judge. */
#include "analysis/diagnosis/rules.h"

#include "analysis/model/stragglers.h"
#include "shm/array.h"

struct ncs_finding *ncs_diagnosis_add(struct ncs_diagnosis *diagnosis,
				      enum ncs_verdict verdict,
				      struct ncs_party root)
{
	struct ncs_finding *finding = &diagnosis->unkept;

	if (ncs_array_reserve(&diagnosis->findings, &diagnosis->capacity,
			      diagnosis->count + 1, sizeof(*finding)) == 0)
		finding = &diagnosis->findings[diagnosis->count++];
	else
		diagnosis->no_memory = true;
	*finding = (struct ncs_finding){
		.verdict = verdict,
		.root = root,
		.peer.number = -1,
		.call = ncs_no_call,
		.cause = NCS_LATE_CAUSE_COUNT,
	};
	return finding;
}

const struct ncs_operation_view *
ncs_operation_of_call(const struct ncs_rank *rank, struct ncs_call_id call)
{
	for (size_t i = 0; i < rank->now.operation_count; i++)
		if (ncs_is_same_call(ncs_call_of(&rank->now.operations[i]),
				     call))
			return &rank->now.operations[i];
	return NULL;
}

void ncs_finding_add_waiter(struct ncs_finding *finding,
			    const struct ncs_wait_graph *graph,
			    const struct ncs_wait_edge *edge)
{
	const struct ncs_rank *waiter = graph->nodes[edge->from].rank;
	const struct ncs_operation_view *operation;

	if (edge->channel) {
		ncs_finding_add_wait(finding, waiter, edge->channel);
		return;
	}
	operation = ncs_operation_of_call(waiter, edge->call);
	if (edge->kind == NCS_EDGE_KERNEL && operation) {
		ncs_finding_add_operation(finding, waiter, operation);
		return;
	}
	ncs_finding_add_fact(finding, NCS_EVIDENCE_CALLED, waiter,
			     edge->duration_ns)
		->call = edge->call;
	/* The channels of the waiting rank show the wait as well. */
	for (size_t i = 0; i < graph->nodes[edge->from].count; i++) {
		const struct ncs_wait_edge *own =
			&graph->edges[graph->nodes[edge->from].first + i];

		if (own->channel) {
			ncs_finding_add_wait(finding, waiter, own->channel);
			return;
		}
	}
}

bool ncs_diagnosis_explains(const struct ncs_diagnosis *diagnosis,
			    const struct ncs_communicator *communicator)
{
	return communicator &&
	       diagnosis->explained[communicator -
				    diagnosis->model->communicators];
}

void ncs_diagnosis_explain(struct ncs_diagnosis *diagnosis,
			   const struct ncs_rank *rank)
{
	if (rank->communicator)
		diagnosis->explained[rank->communicator -
				     diagnosis->model->communicators] = true;
}

bool ncs_diagnosis_explains_process(const struct ncs_diagnosis *diagnosis,
				    const struct ncs_rank *rank)
{
	const struct ncs_model *model = diagnosis->model;

	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_diagnosis_explains(diagnosis,
					   model->ranks[i]->communicator) &&
		    ncs_shares_process(rank, model->ranks[i]))
			return true;
	return false;
}

struct ncs_finding *
ncs_diagnosis_find(const struct ncs_diagnosis *diagnosis,
		   enum ncs_verdict verdict,
		   const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < diagnosis->count; i++)
		if (diagnosis->findings[i].verdict == verdict &&
		    diagnosis->findings[i].root.communicator == communicator)
			return &diagnosis->findings[i];
	return NULL;
}
