/* SPDX-License-Identifier: MIT */
/* The diagnosis as JSON: one object on one line. Keys are part of the
 * interface, like those of the dump. Must not judge: it prints findings as they
 * are. */
#include "analysis/base/value_names.h"
#include "analysis/model/stragglers.h"
#include "tui/commands/diagnose_command.h"
#include "tui/commands/job_stacks.h"
#include "tui/commands/ras.h"
#include "tui/text/finding_text.h"
#include "tui/commands/json_values.h"
#include "tui/text/job_verdict.h"

static json_t *party_of(const struct ncs_party *party)
{
	const struct ncs_rank *rank = party->rank;
	const struct ncs_identity *communicator =
		rank                ? &rank->now.identity :
		party->communicator ? party->communicator->identity :
				      NULL;

	if (!communicator && party->number < 0)
		return json_null();
	return NCS_JSON_OBJECT(
		{ "rank", NCS_JSON_IF(party->number >= 0, party->number) },
		{ "pid", NCS_JSON_IF(rank, ncs_rank_pid(rank)) },
		{ "container_pid",
		  NCS_JSON_IF(rank && ncs_rank_pid(rank) != rank->process.pid,
			      rank->process.pid) },
		{ "host", ncs_json_name(rank ? rank->process.host : NULL) },
		{ "gpu_pci_id",
		  ncs_json_name(rank && rank->now.identity.known &
							NCS_KNOWN_GPU ?
					rank->now.identity.gpu :
					NULL) },
		{ "seen", json_boolean(rank) },
		{ "communicator",
		  communicator ? ncs_json_comm(communicator) : json_null() });
}

static json_t *channel_of(const struct ncs_channel_view *channel)
{
	if (!channel)
		return json_null();
	return NCS_JSON_OBJECT(
		{ "channel", NCS_JSON(channel->channel) },
		{ "direction", NCS_JSON(channel->send ? "send" : "recv") },
		{ "peer", NCS_JSON(channel->peer) },
		{ "state", NCS_JSON(ncs_channel_state_name(channel->state)) },
		{ "since_ns", ncs_json_known(channel->since_ns) });
}

static json_t *evidence_of(const struct ncs_finding *finding,
			   const struct ncs_ras *ras)
{
	json_t *evidence = json_array();
	char sentence[NCS_SENTENCE_MAX];

	for (size_t i = 0; i < finding->evidence_count; i++) {
		ncs_evidence_text(&finding->evidence[i], sentence,
				  sizeof(sentence));
		json_array_append_new(evidence, NCS_JSON(sentence));
	}
	for (size_t i = 0; ncs_ras_text(ras, finding->root.communicator, i,
					sentence, sizeof(sentence));
	     i++)
		json_array_append_new(evidence, NCS_JSON(sentence));
	return evidence;
}

static json_t *commands_of(const struct ncs_finding *finding)
{
	json_t *commands = json_array();
	char command[NCS_SENTENCE_MAX];

	for (size_t i = 0;
	     ncs_finding_command(finding, i, command, sizeof(command)); i++)
		json_array_append_new(commands, NCS_JSON(command));
	return commands;
}

static json_t *unchecked_of(const struct ncs_model *model)
{
	json_t *unchecked = json_array();
	char clause[NCS_SENTENCE_MAX];

	for (size_t i = 0;
	     ncs_unchecked_text(model, i, clause, sizeof(clause)); i++)
		json_array_append_new(unchecked, NCS_JSON(clause));
	return unchecked;
}

static json_t *finding_of(const struct ncs_finding *finding,
			  const struct ncs_ras *ras)
{
	const struct ncs_call_id *call = &finding->call;
	bool has_cost = finding->share > 0;
	char certainty[NCS_SENTENCE_MAX], sentence[NCS_SENTENCE_MAX];

	ncs_finding_certainty(finding, certainty, sizeof(certainty));
	ncs_finding_sentence(finding, sentence, sizeof(sentence));
	return NCS_JSON_OBJECT(
		{ "verdict", NCS_JSON(ncs_verdict_name(finding->verdict)) },
		{ "severity", NCS_JSON(ncs_severity_name(finding->severity)) },
		{ "confidence",
		  NCS_JSON(ncs_confidence_name(finding->confidence)) },
		{ "certainty", NCS_JSON(certainty) },
		{ "sentence", NCS_JSON(sentence) },
		{ "root", party_of(&finding->root) },
		{ "other", party_of(&finding->peer) },
		{ "node",
		  ncs_json_name(finding->node ? finding->node->name : NULL) },
		{ "channel", channel_of(finding->channel) },
		{ "function", NCS_JSON_IF(call->function < NCS_FUNCTION_COUNT,
					  ncs_function_name(call->function)) },
		{ "sequence_number",
		  NCS_JSON_IF(call->sequence_number != NCS_NO_SEQUENCE_NUMBER,
			      call->sequence_number) },
		{ "lasts_ns", ncs_json_known(finding->duration_ns) },
		{ "cost_share", NCS_JSON_IF(has_cost, finding->share) },
		{ "cost_share_least",
		  NCS_JSON_IF(has_cost, finding->share_least) },
		{ "cost_share_most",
		  NCS_JSON_IF(has_cost, finding->share_most) },
		{ "step_ns", ncs_json_known((uint64_t)finding->step_ns) },
		{ "cause", NCS_JSON_IF(finding->cause < NCS_LATE_CAUSE_COUNT,
				       ncs_late_cause_name(finding->cause)) },
		{ "ranks_waiting", NCS_JSON(finding->waiting) },
		{ "alike", NCS_JSON(finding->alike) },
		{ "evidence", evidence_of(finding, ras) },
		{ "next", NCS_JSON(ncs_finding_next(finding)) },
		{ "commands", commands_of(finding) });
}

NCS_JSON_ARRAY(static json_t *findings_of(const struct ncs_diagnosis *diagnosis,
					  const struct ncs_ras *ras),
	       diagnosis->count, finding_of(&diagnosis->findings[i], ras))

void ncs_diagnose_json(FILE *file, const struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_stamp *stamp)
{
	json_t *object = ncs_json_stamped(stamp);

	NCS_JSON_ADD(object, { "looks", NCS_JSON(diagnosis->passes) },
		     { "ranks_seen", NCS_JSON(model->rank_count) },
		     { "unreadable", ncs_json_unreadable(model) },
		     { "nodes", ncs_json_nodes(model) });
	ncs_json_add_verdict(object, model, diagnosis);
	NCS_JSON_ADD(object, { "findings", findings_of(diagnosis, stamp->ras) },
		     { "episodes", ncs_json_episodes(stamp->episodes) },
		     { "stacks", ncs_job_stacks_json(stamp->stacks) },
		     { "not_checked", unchecked_of(model) });
	ncs_json_print(file, object, JSON_COMPACT | JSON_REAL_PRECISION(9));
}
