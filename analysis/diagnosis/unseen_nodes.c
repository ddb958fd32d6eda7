/* SPDX-License-Identifier: MIT */
/* The rule for nodes whose ranks are not seen: these are findings of their own,
 * and make findings on communicators that they may have ranks of less certain.
 * Must not judge ranks.
 */
#include "analysis/diagnosis/rules.h"

#include "analysis/model/model.h"

/* --- Less certain ---------------------------------------------------------- */

static bool is_past(const struct ncs_party *party)
{
	return party->rank && party->rank->is_past;
}

/* Whether a finding is on its root and peer alone: what other ranks do cannot
 * make it wrong. */
static bool is_on_two(const struct ncs_finding *finding)
{
	switch (finding->verdict) {
	case NCS_VERDICT_ORDER_MISMATCH:
	case NCS_VERDICT_SIZE_MISMATCH:
	case NCS_VERDICT_RANK_DIED:
	case NCS_VERDICT_RANK_STOPPED:
		return true;
	default:
		return false;
	}
}

/* Adds evidence that lowers the confidence; if there is no room, in place of the
 * last. */
static struct ncs_evidence *add_doubt(struct ncs_finding *finding,
				      enum ncs_evidence_kind kind,
				      struct ncs_party party,
				      const struct ncs_node *node)
{
	struct ncs_evidence *evidence;

	if (finding->evidence_count == NCS_EVIDENCE_MAX)
		finding->evidence_count--;
	evidence = ncs_finding_add_evidence(finding, kind, party);
	evidence->node = node;
	finding->doubt = finding->evidence_count;
	return evidence;
}

static void lower(struct ncs_finding *finding, enum ncs_confidence most)
{
	if (finding->confidence < most)
		finding->confidence = most;
}

static void doubt_past(struct ncs_finding *finding,
		       const struct ncs_model *model,
		       const struct ncs_party *party)
{
	const struct ncs_node *node = &model->nodes[party->rank->node];

	add_doubt(finding, NCS_EVIDENCE_PAST, *party, node)->duration_ns =
		ncs_node_age_ns(node, model->now_ns);
	lower(finding, NCS_CONFIDENCE_POSSIBLE);
}

static void doubt_nodes(struct ncs_finding *finding,
			const struct ncs_model *model,
			const struct ncs_node_counts *counts)
{
	size_t unseen = counts->nodes - counts->seen, first = 0;
	struct ncs_evidence *evidence;

	lower(finding, NCS_CONFIDENCE_LIKELY);
	if (unseen == 0)
		return;
	while (model->nodes[first].state == NCS_NODE_GONE ||
	       ncs_node_sight(model->nodes[first].state) == NCS_SIGHT_LIVE)
		first++;
	evidence = add_doubt(
		finding, NCS_EVIDENCE_NODES,
		(struct ncs_party){ NULL, finding->root.communicator, -1 },
		&model->nodes[first]);
	evidence->number = unseen;
	evidence->expected = counts->nodes;
	evidence->share = (double)counts->silent / (double)unseen;
}

static void weigh(struct ncs_finding *finding, const struct ncs_model *model,
		  const struct ncs_node_counts *counts)
{
	const struct ncs_communicator *communicator =
		finding->root.communicator;

	if (!is_on_two(finding) &&
	    !(communicator && ncs_is_seen_whole(communicator)))
		doubt_nodes(finding, model, counts);
	if (is_past(&finding->root))
		doubt_past(finding, model, &finding->root);
	else if (is_past(&finding->peer))
		doubt_past(finding, model, &finding->peer);
}

/* --- Nodes ------------------------------------------------------------------ */

/* Adds a node to the finding on nodes in the same state. Returns false if there
 * is none. */
static bool join(struct ncs_diagnosis *diagnosis, const struct ncs_node *node)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		struct ncs_finding *finding = &diagnosis->findings[i];

		if (!finding->node || finding->node->state != node->state)
			continue;
		finding->alike++;
		ncs_finding_add_evidence(finding, NCS_EVIDENCE_NODE,
					 (struct ncs_party){ .number = -1 })
			->node = node;
		return true;
	}
	return false;
}

static void report(struct ncs_diagnosis *diagnosis, const struct ncs_node *node)
{
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis, NCS_VERDICT_NODE_UNSEEN,
				  (struct ncs_party){ .number = -1 });

	finding->node = node;
	if (node->look_ns != 0)
		finding->duration_ns =
			ncs_node_age_ns(node, diagnosis->model->now_ns);
	ncs_finding_rate(finding, false, NCS_CONFIDENCE_CERTAIN);
}

void ncs_find_unseen_nodes(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;
	struct ncs_node_counts counts;

	if (model->node_count == 0)
		return;
	ncs_count_nodes(model, &counts);
	for (size_t i = 0; i < diagnosis->count; i++)
		weigh(&diagnosis->findings[i], model, &counts);
	for (size_t i = 0; i < model->node_count; i++) {
		const struct ncs_node *node = &model->nodes[i];

		if (ncs_node_sight(node->state) != NCS_SIGHT_LIVE &&
		    !join(diagnosis, node))
			report(diagnosis, node);
	}
}
