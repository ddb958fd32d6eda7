/* SPDX-License-Identifier: MIT */
/* The rule for ranks that the others wait for again and again. Must not guess:
 * lateness is that of the GPUs (analysis/model/stragglers.h), and what could not
 * be compared is named.
 */
#include "analysis/diagnosis/rules.h"

#include <errno.h>

#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"

/* A rank that came late until then is not late any more. */
#define CURRENT_NS NCS_COST_WINDOW_NS

static bool is_late(const struct ncs_rank *rank,
		    const struct ncs_lateness_view *view)
{
	return view && view->is_straggler && ncs_rank_is_live(rank) &&
	       view->latest_ns + CURRENT_NS > rank->now.taken_ns;
}

/* Adds what the finding rests on, and what it could not see. */
static void add_evidence(struct ncs_finding *finding,
			 const struct ncs_rank *rank,
			 const struct ncs_communicator *communicator,
			 const struct ncs_lateness *lateness)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

	ncs_finding_add_evidence(finding,
				 (struct ncs_evidence){
					 .kind = NCS_EVIDENCE_LATE,
					 .party = ncs_party_of(rank),
					 .call = finding->call,
					 .number = lateness->last,
					 .expected = lateness->operations,
					 .duration_ns = lateness->p99_ns,
				 });
	if (view->count.unknown > 0)
		ncs_finding_add_evidence(
			finding, (struct ncs_evidence){
					 .kind = NCS_EVIDENCE_UNCOMPARED,
					 .party = ncs_party_of(rank),
					 .call = ncs_no_call,
					 .number = view->count.unknown,
					 .expected = view->count.seen,
				 });
	if (communicator->other_clocks > 0)
		ncs_finding_add_evidence(
			finding, (struct ncs_evidence){
					 .kind = NCS_EVIDENCE_CLOCKS,
					 .party = ncs_party_of(rank),
					 .call = ncs_no_call,
					 .number = communicator->other_clocks,
				 });
	ncs_finding_add_unseen(finding, communicator);
}

static int report(struct ncs_diagnosis *diagnosis,
		  const struct ncs_communicator *communicator,
		  const struct ncs_rank *rank,
		  const struct ncs_lateness_view *view)
{
	struct ncs_finding *finding =
		ncs_diagnosis_add(diagnosis, NCS_VERDICT_LATE_RANK);
	struct ncs_lateness lateness;

	if (!finding)
		return -ENOMEM;
	finding->root = ncs_party_of(rank);
	finding->call.function = ncs_rank_late_function(rank, &lateness);
	finding->share = view->cost;
	finding->cause = ncs_lateness_cause(&view->recent);
	finding->waiting = communicator->live - 1;
	ncs_finding_set_severity(finding, false);
	ncs_finding_set_confidence(finding, communicator->other_clocks > 0 ?
						    NCS_CONFIDENCE_POSSIBLE :
						    NCS_CONFIDENCE_LIKELY);
	add_evidence(finding, rank, communicator, &lateness);
	return 0;
}

/* Returns whether another rank of the job is late by itself: a rank that comes
 * late because it waits for a peer is then that one's victim. */
static bool has_other_cause(const struct ncs_model *model)
{
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

		if (is_late(rank, view) &&
		    ncs_lateness_cause(&view->recent) != NCS_LATE_PEER)
			return true;
	}
	return false;
}

int ncs_find_late_ranks(struct ncs_diagnosis *diagnosis,
			const struct ncs_model *model)
{
	bool has_cause = has_other_cause(model);

	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		bool found = false;

		for (size_t k = 0;
		     k < communicator->rank_count && !diagnosis->explained[i];
		     k++) {
			const struct ncs_rank *rank = communicator->ranks[k];
			const struct ncs_lateness_view *view =
				ncs_rank_lateness(rank);

			if (!is_late(rank, view))
				continue;
			found = true;
			if (has_cause &&
			    ncs_lateness_cause(&view->recent) == NCS_LATE_PEER)
				continue;
			if (report(diagnosis, communicator, rank, view) != 0)
				return -ENOMEM;
		}
		diagnosis->explained[i] |= found;
	}
	return 0;
}
