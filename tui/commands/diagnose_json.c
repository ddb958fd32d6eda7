/* SPDX-License-Identifier: MIT */
/* The diagnosis as JSON: one object on one line. Keys are part of the
 * interface, as those of the dump are. */
#include "analysis/base/value_names.h"
#include "tui/commands/diagnose_command.h"
#include "tui/text/finding_text.h"
#include "tui/text/json_values.h"

#define SCHEMA 1

static json_t *party_of(const struct ncs_party *party)
{
	json_t *object;

	if (!party->rank && party->number < 0)
		return json_null();
	object = json_object();
	put(object, "rank", whole_if(party->number >= 0, party->number));
	put(object, "pid",
	    number_if(party->rank != NULL,
		      party->rank ? party->rank->header.pid : 0));
	put(object, "seen", json_boolean(party->rank != NULL));
	put(object, "comm",
	    party->rank         ? comm_of(&party->rank->now.identity) :
	    party->communicator ? comm_of(party->communicator->identity) :
				  json_null());
	return object;
}

static json_t *channel_of(const struct ncs_channel_view *channel)
{
	json_t *object;

	if (!channel)
		return json_null();
	object = json_object();
	put(object, "channel", whole(channel->channel));
	put(object, "direction", word(channel->send ? "send" : "recv"));
	put(object, "peer", whole(channel->peer));
	put(object, "state", word(ncs_channel_state_name(channel->state)));
	put(object, "since_ns", moment(channel->since_ns));
	return object;
}

static json_t *evidence_of(const struct ncs_finding *finding)
{
	json_t *evidence = json_array();
	char sentence[NCS_SENTENCE_MAX];

	for (size_t i = 0; i < finding->evidence_count; i++) {
		ncs_evidence_text(&finding->evidence[i], sentence,
				  sizeof(sentence));
		json_array_append_new(evidence, text(sentence));
	}
	return evidence;
}

static json_t *finding_of(const struct ncs_finding *finding)
{
	const struct ncs_call *call = &finding->call;
	json_t *object = json_object();
	char sentence[NCS_SENTENCE_MAX];

	ncs_finding_sentence(finding, sentence, sizeof(sentence));
	put(object, "verdict", word(ncs_verdict_name(finding->verdict)));
	put(object, "severity", word(ncs_severity_name(finding->severity)));
	put(object, "confidence",
	    word(ncs_confidence_name(finding->confidence)));
	put(object, "sentence", text(sentence));
	put(object, "root", party_of(&finding->root));
	put(object, "other", party_of(&finding->peer));
	put(object, "channel", channel_of(finding->channel));
	put(object, "func",
	    call->function < NCS_FUNCTION_COUNT ?
		    word(ncs_function_name(call->function)) :
		    json_null());
	put(object, "seq",
	    number_if(call->sequence_number != NCS_NO_SEQUENCE_NUMBER,
		      call->sequence_number));
	put(object, "lasts_s",
	    real(finding->duration_ns > 0 ? (double)finding->duration_ns / 1e9 :
					    -1));
	put(object, "waiting", number(finding->waiting));
	put(object, "alike", number(finding->alike));
	put(object, "evidence", evidence_of(finding));
	put(object, "next", word(ncs_verdict_next(finding->verdict)));
	return object;
}

void ncs_diagnose_json(FILE *file, const struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_stamp *stamp)
{
	json_t *object, *findings;

	json_set_alloc_funcs(allocate, free);
	object = json_object();
	findings = json_array();
	for (size_t i = 0; i < diagnosis->count; i++)
		json_array_append_new(findings,
				      finding_of(&diagnosis->findings[i]));
	put(object, "schema", whole(SCHEMA));
	put(object, "host", text(stamp->host));
	put(object, "time_ns", number(stamp->monotonic_ns));
	put(object, "realtime_ns", number(stamp->realtime_ns));
	put(object, "recording", recording_of(stamp));
	put(object, "looks", number(diagnosis->passes));
	put(object, "ranks_seen", number(model->rank_count));
	put(object, "unreadable", number(model->unreadable_count));
	/* Where nothing is seen nothing is known to be well. */
	put(object, "severity",
	    model->rank_count > 0 ?
		    word(ncs_severity_name(ncs_diagnosis_severity(diagnosis))) :
		    json_null());
	put(object, "findings", findings);
	json_dumpf(object, file, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(object);
	fputc('\n', file);
}
