/* SPDX-License-Identifier: MIT */
/* The rule for calls that differed but have ended: nobody waits, but results are
 * wrong. It tells the latest such operation of a communicator for as long as the
 * communicator is seen, even if its ranks have ended: what they computed stays
 * wrong. Must not judge calls in progress. */
#include "analysis/diagnosis/rules.h"

#include "analysis/model/unlike_calls.h"

/* Returns the rank that made a call; NULL if it is gone. */
static const struct ncs_rank *
rank_of(const struct ncs_communicator *communicator,
	const struct ncs_unlike_call *call)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->serial == call->owner)
			return communicator->ranks[i];
	return NULL;
}

/* Adds in what a call differed from the other one. */
static void add_call(struct ncs_finding *finding, const struct ncs_rank *rank,
		     const struct ncs_unlike_call *call,
		     const struct ncs_unlike_call *other)
{
	struct ncs_evidence *evidence;

	if (call->bytes != other->bytes) {
		evidence = ncs_finding_add_fact(finding, NCS_EVIDENCE_DONE,
						rank, 0);
		evidence->call = finding->call;
		evidence->number = call->bytes;
	}
	if (call->root != other->root) {
		evidence = ncs_finding_add_fact(finding, NCS_EVIDENCE_ROOT,
						rank, 0);
		evidence->call = finding->call;
		evidence->number = (uint32_t)call->root;
	}
}

static void report(struct ncs_diagnosis *diagnosis,
		   const struct ncs_unlike_calls *unlike,
		   const struct ncs_rank *root, const struct ncs_rank *peer)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, NCS_VERDICT_SIZE_MISMATCH, ncs_party_of(root));
	uint64_t now_ns = diagnosis->model->now_ns;
	struct ncs_evidence *evidence;

	finding->peer = ncs_party_of(peer);
	finding->call =
		(struct ncs_call_id){ unlike->function, unlike->number };
	ncs_finding_rate(finding, false,
			 unlike->calls[0].agree == unlike->calls[1].agree ?
				 NCS_CONFIDENCE_LIKELY :
				 NCS_CONFIDENCE_CERTAIN);
	add_call(finding, root, &unlike->calls[0], &unlike->calls[1]);
	add_call(finding, peer, &unlike->calls[1], &unlike->calls[0]);
	evidence = ncs_finding_add_evidence(
		finding, NCS_EVIDENCE_ENDED,
		(struct ncs_party){ NULL, root->communicator, -1 });
	evidence->number = unlike->count;
	if (now_ns > unlike->end_ns)
		evidence->duration_ns = now_ns - unlike->end_ns;
}

void ncs_find_ended_mismatches(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;

	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		const struct ncs_unlike_calls *unlike =
			ncs_communicator_unlike_calls(communicator);
		const struct ncs_rank *root, *peer;

		/* Ranks that have only a name in common may belong to
		 * different jobs. */
		if (!unlike ||
		    !(communicator->identity->known & NCS_KNOWN_COMM_ID) ||
		    ncs_diagnosis_find(diagnosis, NCS_VERDICT_SIZE_MISMATCH,
				       communicator))
			continue;
		root = rank_of(communicator, &unlike->calls[0]);
		peer = rank_of(communicator, &unlike->calls[1]);
		if (root && peer)
			report(diagnosis, unlike, root, peer);
	}
}
