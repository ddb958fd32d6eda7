/* SPDX-License-Identifier: MIT */
/* The rules for what is slow although no wait explains it: calls that have not
 * begun, and communicators that are slower than they were.
 */
#include "analysis/diagnosis/rules.h"

#include <stdlib.h>

#include "analysis/model/stragglers.h"
#include "analysis/records/operation_record.h"

/* --- Calls that have not begun -------------------------------------------- */

/* The calls of a communicator that have started no operation. */
struct unstarted {
	const struct ncs_rank *longest; /* the rank that is in one longest */
	unsigned function;              /* of its call */
	uint64_t duration_ns;
	const struct ncs_rank *other; /* another rank that is in one */
	const struct ncs_rank *outside; /* a stalled rank that is in none */
	size_t inside_count, outside_count;
	uint64_t sends, receives;
};

static void add_unstarted(struct unstarted *found,
			  const struct ncs_wait_node *node)
{
	const struct ncs_rank *rank = node->rank;
	unsigned function;
	uint64_t inside_ns = ncs_unstarted_ns(rank, &function);

	if (inside_ns < NCS_LONG_WAIT_NS) {
		if (node->stalled)
			found->outside = rank;
		found->outside_count++;
		return;
	}
	found->sends += ncs_unstarted_calls(rank, NCS_FUNCTION_SEND);
	found->receives += ncs_unstarted_calls(rank, NCS_FUNCTION_RECV);
	found->inside_count++;
	if (inside_ns <= found->duration_ns) {
		found->other = rank;
		return;
	}
	found->other = found->longest;
	found->longest = rank;
	found->function = function;
	found->duration_ns = inside_ns;
}

static struct unstarted
find_unstarted(const struct ncs_diagnosis *diagnosis,
	       const struct ncs_communicator *communicator)
{
	struct unstarted found = { 0 };

	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];
		const struct ncs_wait_node *node =
			ncs_wait_node_of(&diagnosis->graph, rank);

		if (node->waits)
			add_unstarted(&found, node);
	}
	return found;
}

/* Whether a half of a transfer is missing: all ranks are seen, and as many
 * receive as send if nothing is. */
static bool lacks_half(const struct ncs_communicator *communicator,
		       const struct unstarted *found)
{
	const struct ncs_identity *identity = communicator->identity;

	return ncs_is_transfer(found->function) &&
	       (identity->known & NCS_KNOWN_NRANKS) &&
	       (uint64_t)identity->nranks == communicator->live &&
	       found->sends != found->receives;
}

/* Returns how long calls may take before they start an operation: where all
 * ranks that are seen have called, and no half of a transfer is missing, NCCL
 * connects them. */
static uint64_t tolerated_ns(const struct ncs_communicator *communicator,
			     const struct unstarted *found)
{
	return found->inside_count == communicator->live &&
			       found->inside_count > 1 &&
			       !lacks_half(communicator, found) ?
		       NCS_CONNECT_NS :
		       NCS_STUCK_NS;
}

static void report_unstarted(struct ncs_diagnosis *diagnosis,
			     const struct ncs_communicator *communicator,
			     const struct unstarted *found)
{
	bool lacks = lacks_half(communicator, found);
	bool is_circle = lacks && found->outside_count == 0 && found->other;
	bool is_unmet = lacks && found->outside_count == 1 && found->outside;
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis,
		is_circle ? NCS_VERDICT_DEADLOCK :
		is_unmet  ? NCS_VERDICT_P2P_UNMET :
			    NCS_VERDICT_NOT_BEGUN,
		ncs_party_of(is_unmet ? found->outside : found->longest));

	if (is_unmet || is_circle)
		finding->peer = ncs_party_of(is_unmet ? found->longest :
							found->other);
	finding->call =
		(struct ncs_call_id){ found->function, NCS_NO_SEQUENCE_NUMBER };
	finding->duration_ns = found->duration_ns;
	finding->waiting = is_unmet || is_circle ? found->inside_count : 0;
	ncs_finding_rate(
		finding, lacks || found->duration_ns > 3 * NCS_CONNECT_NS,
		lacks ? NCS_CONFIDENCE_LIKELY : NCS_CONFIDENCE_POSSIBLE);
	if (is_unmet)
		ncs_finding_add_fact(
			finding, NCS_EVIDENCE_IDLE, found->outside,
			ncs_age_ns(found->outside,
				   found->outside->now.last_call_ns));
	ncs_finding_add_open_calls(finding, found->longest);
	if (found->other)
		ncs_finding_add_open_calls(finding, found->other);
	ncs_finding_add_unseen(finding, communicator);
}

bool ncs_find_unstarted_calls(struct ncs_diagnosis *diagnosis,
			      const struct ncs_communicator *communicator)
{
	struct unstarted found = find_unstarted(diagnosis, communicator);

	if (found.duration_ns < tolerated_ns(communicator, &found))
		return false;
	report_unstarted(diagnosis, communicator, &found);
	return true;
}

/* --- What is slow --------------------------------------------------------- */

static void add_shares(struct ncs_finding *finding, const struct ncs_rank *rank)
{
	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++) {
		struct ncs_evidence *evidence;
		bool send = i <= NCS_CHANNEL_SEND_WAIT;
		double share =
			ncs_state_share(rank, send, (enum ncs_channel_state)i);

		if (share < 0.01)
			continue;
		evidence = ncs_finding_add_fact(finding, NCS_EVIDENCE_SHARE,
						rank, 0);
		evidence->number = i;
		evidence->share = share;
	}
}

static void report_pace(struct ncs_diagnosis *diagnosis,
			const struct ncs_communicator *communicator,
			const struct ncs_pace_finding *pace)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis,
		pace->verdict == NCS_PACE_SLOW_RANK ? NCS_VERDICT_SLOW_RANK :
						      NCS_VERDICT_SLOW_NETWORK,
		ncs_party_of(pace->rank));
	struct ncs_evidence *evidence;

	finding->channel = pace->channel;
	if (pace->channel) {
		finding->call.function = pace->channel->function;
		finding->peer = (struct ncs_party){
			ncs_peer_rank(pace->rank, pace->channel->peer),
			communicator, pace->channel->peer
		};
	}
	finding->waiting = ncs_communicator_judged(communicator) - 1;
	finding->share = finding->share_most = pace->share;
	ncs_finding_rate(finding, false, NCS_CONFIDENCE_LIKELY);
	if (pace->median.bytes_rate > 0) {
		evidence = ncs_finding_add_evidence(
			finding, NCS_EVIDENCE_SPEED,
			(struct ncs_party){ NULL, communicator, -1 });
		evidence->number = (uint64_t)pace->now.bytes_rate;
		evidence->expected = (uint64_t)pace->median.bytes_rate;
	}
	add_shares(finding, pace->rank);
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i] != pace->rank) {
			add_shares(finding, communicator->ranks[i]);
			break;
		}
	ncs_finding_add_unseen(finding, communicator);
}

/* Adds what a slow sender costs to the finding of another communicator of its
 * process: it is one link. Returns false if there is none. */
static bool join_pace(struct ncs_diagnosis *diagnosis,
		      const struct ncs_pace_finding *pace)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		struct ncs_finding *finding = &diagnosis->findings[i];

		if (!pace->sender ||
		    finding->verdict != NCS_VERDICT_SLOW_NETWORK ||
		    !ncs_shares_process(finding->root.rank, pace->sender))
			continue;
		finding->share += pace->share;
		if (finding->share > 1)
			finding->share = 1;
		finding->share_most = finding->share;
		return true;
	}
	return false;
}

/* Reports the verdict on a communicator, if it has one of its own. */
static void judge_pace(struct ncs_diagnosis *diagnosis,
		       const struct ncs_communicator *communicator,
		       struct ncs_pace_finding *pace)
{
	/* Where lateness is known, it tells which rank is slow. */
	if (pace->verdict == NCS_PACE_USUAL ||
	    ncs_diagnosis_explains(diagnosis, communicator) ||
	    (pace->verdict == NCS_PACE_SLOW_RANK &&
	     ncs_communicator_skew(communicator)))
		return;
	if (pace->verdict != NCS_PACE_SLOW_NETWORK ||
	    !join_pace(diagnosis, pace))
		report_pace(diagnosis, communicator, pace);
	pace->sender = NULL;
}

void ncs_find_slow_communicators(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;
	size_t count = model->communicator_count;
	struct ncs_pace_finding *paces = calloc(count + 1, sizeof(*paces));
	int error = paces ? 0 : -1;

	for (size_t i = 0; i < count && !error; i++)
		error = ncs_paces_add(&diagnosis->paces, model,
				      &model->communicators[i], &paces[i]);
	for (size_t i = 0; i < count && !error; i++)
		judge_pace(diagnosis, &model->communicators[i], &paces[i]);
	/* Its communicators that send little wait for the same link. */
	for (size_t i = 0; i < count && !error; i++)
		join_pace(diagnosis, &paces[i]);
	if (error)
		diagnosis->no_memory = true;
	else
		ncs_paces_end_pass(&diagnosis->paces);
	free(paces);
}
