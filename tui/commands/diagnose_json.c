/* SPDX-License-Identifier: MIT */
/* The diagnosis as JSON: one object on one line. Keys are part of the
 * interface, like those of the dump. Must not judge: it prints findings as they
 * are. */
#include "analysis/base/value_names.h"
#include "analysis/model/stragglers.h"
#include "tui/commands/diagnose_command.h"
#include "tui/commands/job_stacks.h"
#include "tui/commands/ras.h"
#include "tui/text/evidence_text.h"
#include "tui/text/finding_text.h"
#include "tui/commands/json_values.h"
#include "tui/text/job_verdict.h"

static json_t *party_of(const struct ncs_party *party)
{
	json_t *object;

	if (!party->rank && !party->communicator && party->number < 0)
		return json_null();
	object = json_object();
	ncs_json_add_signed_if(object, "rank", party->number >= 0,
			       party->number);
	ncs_json_add_number_if(object, "pid", party->rank != NULL,
			       party->rank ? ncs_rank_pid(party->rank) : 0);
	ncs_json_add_number_if(object, "container_pid",
			       party->rank && ncs_rank_pid(party->rank) !=
						      party->rank->process.pid,
			       party->rank ? party->rank->process.pid : 0);
	ncs_json_add_text_if(object, "host", party->rank != NULL,
			     party->rank ? party->rank->process.host : "");
	ncs_json_add_text_if(object, "gpu_pci_id",
			     party->rank && party->rank->now.identity.known &
						    NCS_KNOWN_GPU,
			     party->rank ? party->rank->now.identity.gpu : "");
	ncs_json_add_bool(object, "seen", party->rank != NULL);
	ncs_json_add(object, "communicator",
		     party->rank ?
			     ncs_json_comm(&party->rank->now.identity) :
		     party->communicator ?
			     ncs_json_comm(party->communicator->identity) :
			     json_null());
	return object;
}

static json_t *channel_of(const struct ncs_channel_view *channel)
{
	json_t *object;

	if (!channel)
		return json_null();
	object = json_object();
	ncs_json_add_signed(object, "channel", channel->channel);
	ncs_json_add_word(object, "direction", channel->send ? "send" : "recv");
	ncs_json_add_signed(object, "peer", channel->peer);
	ncs_json_add_word(object, "state",
			  ncs_channel_state_name(channel->state));
	ncs_json_add_time(object, "since_ns", channel->since_ns);
	return object;
}

static json_t *evidence_of(const struct ncs_finding *finding,
			   const struct ncs_ras *ras)
{
	json_t *evidence = json_array();
	char sentence[NCS_SENTENCE_MAX];

	for (size_t i = 0; i < finding->evidence_count; i++) {
		ncs_evidence_text(&finding->evidence[i], sentence,
				  sizeof(sentence));
		ncs_json_append(evidence, ncs_json_clean(sentence));
	}
	for (size_t i = 0; ncs_ras_text(ras, finding->root.communicator, i,
					sentence, sizeof(sentence));
	     i++)
		ncs_json_append(evidence, ncs_json_clean(sentence));
	return evidence;
}

static json_t *commands_of(const struct ncs_finding *finding)
{
	json_t *commands = json_array();
	char command[NCS_SENTENCE_MAX];

	for (size_t i = 0;
	     ncs_finding_command(finding, i, command, sizeof(command)); i++)
		ncs_json_append(commands, ncs_json_clean(command));
	return commands;
}

static json_t *unchecked_of(const struct ncs_model *model)
{
	json_t *unchecked = json_array();
	char clause[NCS_SENTENCE_MAX];

	for (size_t i = 0;
	     ncs_unchecked_text(model, i, clause, sizeof(clause)); i++)
		ncs_json_append(unchecked, ncs_json_clean(clause));
	return unchecked;
}

static json_t *finding_of(const struct ncs_finding *finding,
			  const struct ncs_ras *ras)
{
	const struct ncs_call_id *call = &finding->call;
	json_t *object = json_object();
	char sentence[NCS_SENTENCE_MAX];

	ncs_json_add_word(object, "verdict",
			  ncs_verdict_name(finding->verdict));
	ncs_json_add_word(object, "severity",
			  ncs_severity_name(finding->severity));
	ncs_json_add_word(object, "confidence",
			  ncs_confidence_name(finding->confidence));
	ncs_finding_certainty(finding, sentence, sizeof(sentence));
	ncs_json_add_text(object, "certainty", sentence);
	ncs_finding_sentence(finding, sentence, sizeof(sentence));
	ncs_json_add_text(object, "sentence", sentence);
	ncs_json_add(object, "root", party_of(&finding->root));
	ncs_json_add(object, "other", party_of(&finding->peer));
	ncs_json_add_text_if(object, "node", finding->node != NULL,
			     finding->node ? finding->node->name : "");
	ncs_json_add(object, "channel", channel_of(finding->channel));
	ncs_json_add_word_if(object, "function",
			     call->function < NCS_FUNCTION_COUNT,
			     ncs_function_name(call->function));
	ncs_json_add_number_if(object, "sequence_number",
			       call->sequence_number != NCS_NO_SEQUENCE_NUMBER,
			       call->sequence_number);
	ncs_json_add_time(object, "lasts_ns", finding->duration_ns);
	ncs_json_add_real(object, "cost_share",
			  finding->share > 0 ? finding->share : -1);
	ncs_json_add_real(object, "cost_share_least",
			  finding->share > 0 ? finding->share_least : -1);
	ncs_json_add_real(object, "cost_share_most",
			  finding->share > 0 ? finding->share_most : -1);
	ncs_json_add_time(object, "step_ns", (uint64_t)finding->step_ns);
	ncs_json_add_word_if(object, "cause",
			     finding->cause < NCS_LATE_CAUSE_COUNT,
			     ncs_late_cause_name(finding->cause));
	ncs_json_add_number(object, "ranks_waiting", finding->waiting);
	ncs_json_add_number(object, "alike", finding->alike);
	ncs_json_add(object, "evidence", evidence_of(finding, ras));
	ncs_json_add_word(object, "next", ncs_finding_next(finding));
	ncs_json_add(object, "commands", commands_of(finding));
	return object;
}

void ncs_diagnose_json(FILE *file, const struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_stamp *stamp)
{
	json_t *object = ncs_json_stamped(stamp), *findings = json_array();

	for (size_t i = 0; i < diagnosis->count; i++)
		ncs_json_append(findings, finding_of(&diagnosis->findings[i],
						     stamp->ras));
	ncs_json_add_number(object, "looks", diagnosis->passes);
	ncs_json_add_number(object, "ranks_seen", model->rank_count);
	ncs_json_add(object, "unreadable", ncs_json_unreadable(model));
	ncs_json_add(object, "nodes", ncs_json_nodes(model));
	ncs_json_add_verdict(object, model, diagnosis);
	ncs_json_add(object, "findings", findings);
	ncs_json_add(object, "episodes", ncs_json_episodes(stamp->episodes));
	ncs_json_add(object, "stacks", ncs_job_stacks_json(stamp->stacks));
	ncs_json_add(object, "not_checked", unchecked_of(model));
	ncs_json_print(file, object, JSON_COMPACT | JSON_REAL_PRECISION(9));
}
