/* SPDX-License-Identifier: MIT */
/* The rules for what is slow although no wait explains it: calls that have not
 * begun, and communicators that are slower than they were.
 */
#include "analysis/diagnosis/rules.h"

#include <errno.h>

#include "analysis/diagnosis/summary.h"

/* --- Calls that have not begun -------------------------------------------- */

/* Returns the longest time that a thread has been inside NCCL's API; 0 if no
 * thread is inside. */
static uint64_t in_api_ns(const struct ncs_rank *rank)
{
	static const enum ncs_event events[] = {
		NCS_EVENT_COLL_API,
		NCS_EVENT_P2P_API,
		NCS_EVENT_GROUP_API,
	};
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < rank->now.lane_count; i++)
		for (size_t k = 0; k < sizeof(events) / sizeof(*events); k++) {
			uint64_t open_ns =
				rank->now.lanes[i].open_since_ns[events[k]];
			uint64_t age_ns = ncs_age_ns(rank, open_ns);

			if (age_ns > longest_ns)
				longest_ns = age_ns;
		}
	return longest_ns;
}

/* Whether a rank has called a function more often than NCCL has started it, and
 * which function. Calls that a CUDA graph captures look the same, so this alone
 * proves nothing. */
static bool has_unstarted_call(const struct ncs_rank *rank, unsigned *function)
{
	if (!ncs_rank_calls_known(rank) || rank->now.operation_count > 0)
		return false;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *view = &rank->now.functions[i];

		if (view->calls <= view->operations)
			continue;
		*function = i;
		return true;
	}
	return false;
}

static int report_unstarted_call(struct ncs_diagnosis *diagnosis,
				 const struct ncs_rank *rank, unsigned function,
				 uint64_t duration_ns)
{
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis, NCS_VERDICT_NOT_BEGUN);

	if (!finding)
		return -ENOMEM;
	finding->root = ncs_party_of(rank);
	finding->call =
		(struct ncs_call_id){ function, NCS_NO_SEQUENCE_NUMBER };
	finding->duration_ns = duration_ns;
	ncs_finding_set_severity(finding, false);
	ncs_finding_set_confidence(finding, NCS_CONFIDENCE_POSSIBLE);
	ncs_finding_add_open_calls(finding, rank);
	ncs_finding_add_proxy(finding, rank);
	return 0;
}

int ncs_find_unstarted_calls(struct ncs_diagnosis *diagnosis,
			     const struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];

		for (size_t k = 0;
		     k < communicator->rank_count && !diagnosis->explained[i];
		     k++) {
			const struct ncs_rank *rank = communicator->ranks[k];
			uint64_t inside_ns = in_api_ns(rank);
			unsigned function;

			if (!ncs_rank_is_live(rank) ||
			    inside_ns < NCS_STUCK_NS ||
			    !has_unstarted_call(rank, &function))
				continue;
			if (report_unstarted_call(diagnosis, rank, function,
						  inside_ns) != 0)
				return -ENOMEM;
			diagnosis->explained[i] = true;
		}
	}
	return 0;
}

/* --- What is slow --------------------------------------------------------- */

static void add_shares(struct ncs_finding *finding, const struct ncs_rank *rank)
{
	for (unsigned i = NCS_CHANNEL_IDLE + 1; i < NCS_CHANNEL_STATE_COUNT;
	     i++) {
		bool send = i <= NCS_CHANNEL_SEND_WAIT;
		double share =
			ncs_state_share(rank, send, (enum ncs_channel_state)i);

		if (share < 0.01)
			continue;
		ncs_finding_add_evidence(finding,
					 (struct ncs_evidence){
						 .kind = NCS_EVIDENCE_SHARE,
						 .party = ncs_party_of(rank),
						 .call = ncs_no_call,
						 .number = i,
						 .share = share,
					 });
	}
}

static int report_pace(struct ncs_diagnosis *diagnosis,
		       const struct ncs_communicator *communicator,
		       const struct ncs_pace_finding *pace)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, pace->verdict == NCS_PACE_SLOW_RANK ?
				   NCS_VERDICT_SLOW_RANK :
				   NCS_VERDICT_SLOW_NETWORK);

	if (!finding)
		return -ENOMEM;
	finding->root = ncs_party_of(pace->rank);
	finding->channel = pace->channel;
	if (pace->channel) {
		finding->call.function = pace->channel->function;
		finding->peer = (struct ncs_party){
			ncs_peer_rank(pace->rank, pace->channel->peer),
			communicator, pace->channel->peer
		};
	}
	finding->waiting = communicator->live - 1;
	ncs_finding_set_severity(finding, false);
	ncs_finding_set_confidence(finding, NCS_CONFIDENCE_LIKELY);
	ncs_finding_add_evidence(
		finding, (struct ncs_evidence){
				 .kind = NCS_EVIDENCE_SPEED,
				 .party = { NULL, communicator, -1 },
				 .call = ncs_no_call,
				 .number = (uint64_t)pace->now.bytes_rate,
				 .expected = (uint64_t)pace->median.bytes_rate,
			 });
	add_shares(finding, pace->rank);
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i] != pace->rank) {
			add_shares(finding, communicator->ranks[i]);
			break;
		}
	ncs_finding_add_unseen(finding, communicator);
	return 0;
}

int ncs_find_slow_communicators(struct ncs_diagnosis *diagnosis,
				const struct ncs_model *model)
{
	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		struct ncs_pace_finding pace;

		if (ncs_paces_add(&diagnosis->paces, model, communicator,
				  &pace) != 0)
			return -ENOMEM;
		if (pace.verdict != NCS_PACE_USUAL &&
		    !diagnosis->explained[i] &&
		    report_pace(diagnosis, communicator, &pace) != 0)
			return -ENOMEM;
	}
	ncs_paces_end_pass(&diagnosis->paces);
	return 0;
}
