/* SPDX-License-Identifier: MIT */
/* Findings: their words, and adding evidence. Must not know the diagnosis:
 * rules hand in what they found. */
#include "analysis/diagnosis/finding.h"

#include "analysis/base/lookup.h"
#include "analysis/model/stragglers.h"

/* --- Words ---------------------------------------------------------------- */

static const struct {
	enum ncs_verdict_severity severity;
	const char *next;
} verdicts[] = {
#define X(ID, name, severity, sentence, next) { NCS_SEVERITY_##severity, next },
	NCS_VERDICTS(X)
#undef X
};

#define SENTENCE(ID, name, severity, sentence, next) sentence,

NCS_DEFINE_LOOKUP(ncs_severity_name, NCS_SEVERITIES, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_severity_help, NCS_SEVERITIES, NCS_HELP, "unknown")
NCS_DEFINE_LOOKUP(ncs_confidence_name, NCS_CONFIDENCES, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_confidence_help, NCS_CONFIDENCES, NCS_HELP, "unknown")
NCS_DEFINE_LOOKUP(ncs_verdict_name, NCS_VERDICTS, NCS_NAME, "unknown")
NCS_DEFINE_LOOKUP(ncs_verdict_sentence, NCS_VERDICTS, SENTENCE, "")

const char *ncs_finding_next(const struct ncs_finding *finding)
{
	const struct ncs_rank *rank = finding->root.rank;
	static const struct {
		enum ncs_verdict verdict;
		unsigned cause;
		const char *next;
	} advice[] = {
#define X(VERDICT, CAUSE, next) \
	{ NCS_VERDICT_##VERDICT, NCS_LATE_##CAUSE, next },
		NCS_ADVICE(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(advice) / sizeof(*advice); i++)
		if (advice[i].verdict == finding->verdict &&
		    advice[i].cause == finding->cause)
			return advice[i].next;
	/* The stack of a process that is not seen cannot be looked at here. */
	if (finding->verdict == NCS_VERDICT_RANK_MISSING && !rank)
		return verdicts[NCS_VERDICT_PEER_WAIT].next;
	/* In a replay of a graph its GPU may be busy, not its host. */
	if (finding->verdict == NCS_VERDICT_RANK_MISSING &&
	    rank->now.graphs.are_replays)
		return verdicts[NCS_VERDICT_GPU_LATE].next;
	return verdicts[finding->verdict].next;
}

/* --- Findings ------------------------------------------------------------- */

const struct ncs_call_id ncs_no_call = { NCS_FUNCTION_COUNT,
					 NCS_NO_SEQUENCE_NUMBER };

struct ncs_call_id ncs_call_of(const struct ncs_operation_view *operation)
{
	return (struct ncs_call_id){ operation->function,
				     operation->sequence_number };
}

bool ncs_is_same_call(struct ncs_call_id a, struct ncs_call_id b)
{
	return a.function == b.function &&
	       a.sequence_number == b.sequence_number;
}

struct ncs_party ncs_party_of(const struct ncs_rank *rank)
{
	const struct ncs_identity *identity = &rank->now.identity;

	return (struct ncs_party){
		.rank = rank,
		.communicator = rank->communicator,
		.number = identity->known & NCS_KNOWN_RANK ? identity->rank :
							     -1,
	};
}

struct ncs_evidence *ncs_finding_add_evidence(struct ncs_finding *finding,
					      enum ncs_evidence_kind kind,
					      struct ncs_party party)
{
	struct ncs_evidence *evidence =
		&finding->evidence[finding->evidence_count];

	finding->evidence_count += finding->evidence_count < NCS_EVIDENCE_MAX;
	*evidence = (struct ncs_evidence){
		.kind = kind,
		.party = party,
		.call = ncs_no_call,
	};
	return evidence;
}

struct ncs_evidence *ncs_finding_add_fact(struct ncs_finding *finding,
					  enum ncs_evidence_kind kind,
					  const struct ncs_rank *rank,
					  uint64_t duration_ns)
{
	struct ncs_evidence *evidence =
		ncs_finding_add_evidence(finding, kind, ncs_party_of(rank));

	evidence->duration_ns = duration_ns;
	return evidence;
}

void ncs_finding_add_wait(struct ncs_finding *finding,
			  const struct ncs_rank *rank,
			  const struct ncs_channel_view *channel)
{
	ncs_finding_add_fact(finding, NCS_EVIDENCE_WAIT, rank,
			     ncs_wait_ns(rank, channel))
		->channel = channel;
}

void ncs_finding_add_operation(struct ncs_finding *finding,
			       const struct ncs_rank *rank,
			       const struct ncs_operation_view *operation)
{
	struct ncs_evidence *evidence = ncs_finding_add_fact(
		finding,
		operation->enqueued_ns ? NCS_EVIDENCE_OPERATION :
					 NCS_EVIDENCE_ENQUEUEING,
		rank, ncs_age_ns(rank, operation->start_ns));

	evidence->operation = operation;
	evidence->call = ncs_call_of(operation);
}

void ncs_finding_add_open_calls(struct ncs_finding *finding,
				const struct ncs_rank *rank)
{
	static const enum ncs_event events[] = {
		NCS_EVENT_KERNEL_LAUNCH,
		NCS_EVENT_COLL_API,
		NCS_EVENT_P2P_API,
		NCS_EVENT_GROUP_API,
	};

	for (size_t i = 0; i < rank->now.lane_count; i++) {
		const struct ncs_lane_view *lane = &rank->now.lanes[i];

		for (size_t k = 0; k < sizeof(events) / sizeof(*events); k++) {
			uint64_t inside_ns = ncs_age_ns(
				rank, lane->open_since_ns[events[k]]);

			if (inside_ns < NCS_LONG_WAIT_NS)
				continue;
			ncs_finding_add_fact(finding, NCS_EVIDENCE_INSIDE, rank,
					     inside_ns)
				->number = events[k];
			break;
		}
	}
}

void ncs_finding_add_unseen(struct ncs_finding *finding,
			    const struct ncs_communicator *communicator)
{
	size_t unseen = communicator ? ncs_communicator_unseen(communicator) :
				       0;
	struct ncs_evidence *evidence;

	if (unseen == 0)
		return;
	evidence = ncs_finding_add_evidence(
		finding, NCS_EVIDENCE_UNSEEN,
		(struct ncs_party){ NULL, communicator, -1 });
	evidence->number = communicator->rank_count;
	evidence->expected = communicator->rank_count + unseen;
}

uint64_t ncs_stuck_ns(const struct ncs_rank *rank)
{
	return rank->now.liveness == NCS_DEAD && rank->now.alive_ns != 0 ?
		       NCS_STUCK_NS - NCS_HEARTBEAT_NS :
		       NCS_STUCK_NS;
}

void ncs_finding_rate(struct ncs_finding *finding, bool stalled,
		      enum ncs_confidence confidence)
{
	const struct ncs_rank *rank = finding->root.rank;
	/* A wait for one that died goes on. */
	bool is_over = rank && finding->verdict != NCS_VERDICT_RANK_DIED;

	finding->severity = verdicts[finding->verdict].severity;
	if (finding->severity == NCS_SEVERITY_STUCK &&
	    (!stalled || finding->duration_ns <
				 (is_over ? ncs_stuck_ns(rank) : NCS_STUCK_NS)))
		finding->severity = NCS_SEVERITY_SLOW;
	finding->confidence = confidence;
	if (confidence == NCS_CONFIDENCE_CERTAIN && rank &&
	    (ncs_rank_lost(rank) > 0 || rank->now.torn))
		finding->confidence = NCS_CONFIDENCE_LIKELY;
}
