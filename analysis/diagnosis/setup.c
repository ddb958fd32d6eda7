/* SPDX-License-Identifier: MIT */
/* The rule for communicators that nobody has called yet: ranks that have not
 * joined, and setups that do not end.
 *
 * NCCL initializes the plugin in the middle of a communicator's setup: before it,
 * a rank is in bootstrap; after it, in transports, rings, a barrier, or it is set
 * up and idle. Nothing tells these apart, so that a communicator which all ranks
 * have joined is never said to be stuck.
 */
#include "analysis/diagnosis/rules.h"

#include "analysis/model/model.h"
#include "analysis/model/waits.h"

/* Whether a communicator is one that NCCL sets up, or that it has set up and that
 * nobody uses. */
static bool is_uncalled(const struct ncs_communicator *communicator)
{
	for (size_t i = 0; i < communicator->rank_count; i++) {
		const struct ncs_rank *rank = communicator->ranks[i];

		if (!ncs_rank_is_live(rank) || rank->is_past ||
		    rank->now.graphs.are_replays ||
		    ncs_rank_has_called(rank))
			return false;
	}
	return communicator->rank_count > 0;
}

/* Returns the rank that joined last. */
static const struct ncs_rank *
latest(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *found = communicator->ranks[0];

	for (size_t i = 1; i < communicator->rank_count; i++)
		if (ncs_age_ns(communicator->ranks[i],
			       communicator->ranks[i]->history.birth.taken_ns) <
		    ncs_age_ns(found, found->history.birth.taken_ns))
			found = communicator->ranks[i];
	return found;
}

/* Whether the ranks that are not seen are on machines of which a rank is seen.
 * Ranks of one machine follow each other. */
static bool are_machines_seen(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;
	int32_t machines = 1;

	for (size_t i = 1; i < communicator->rank_count; i++)
		machines += !ncs_shares_clock(communicator->ranks[i - 1],
					      communicator->ranks[i]);
	return (identity->known & NCS_KNOWN_NNODES) &&
	       machines >= identity->nnodes;
}

/* Whether segments of some ranks cannot be read, or do not exist, for other reasons
 * than that these have not joined. */
static bool hides_ranks(const struct ncs_model *model)
{
	bool hides = model->shows_part || model->unreadable_count > 0;

	for (size_t i = 0; !hides && i < model->rank_count; i++)
		hides = model->ranks[i]->now.losses[NCS_LOSS_UNPUBLISHED] > 0;
	return hides;
}

/* Returns the lowest number that no rank has. */
static int32_t first_unseen(const struct ncs_communicator *communicator)
{
	int32_t number = 0;

	for (size_t i = 0; i < communicator->numbered_count; i++)
		number += communicator->numbered[i]->now.identity.rank == number;
	return number;
}

static void report_unjoined(struct ncs_diagnosis *diagnosis,
			    const struct ncs_communicator *communicator,
			    const struct ncs_rank *last, uint64_t age_ns)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, NCS_VERDICT_NOT_JOINED,
		(struct ncs_party){ NULL, communicator,
				    first_unseen(communicator) });

	finding->duration_ns = age_ns;
	finding->waiting = communicator->live;
	finding->alike = ncs_communicator_unseen(communicator) - 1;
	ncs_finding_rate(finding, age_ns > 3 * NCS_CONNECT_NS,
			 NCS_CONFIDENCE_LIKELY);
	ncs_finding_add_fact(finding, NCS_EVIDENCE_JOINED, last, age_ns);
	ncs_finding_add_unseen(finding, communicator);
}

static void report_setup(struct ncs_diagnosis *diagnosis,
			 const struct ncs_rank *last, uint64_t age_ns)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, NCS_VERDICT_IN_SETUP, ncs_party_of(last));

	finding->duration_ns = age_ns;
	ncs_finding_rate(finding, false, NCS_CONFIDENCE_POSSIBLE);
	ncs_finding_add_fact(finding, NCS_EVIDENCE_JOINED, last, age_ns);
}

/* Whether any rank of the job has called something within this time. */
static bool has_moved(const struct ncs_model *model, uint64_t age_ns)
{
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (ncs_rank_has_called(rank) &&
		    ncs_age_ns(rank, rank->now.last_call_ns) < age_ns)
			return true;
	}
	return false;
}

void ncs_find_setups(struct ncs_diagnosis *diagnosis)
{
	const struct ncs_model *model = diagnosis->model;
	const struct ncs_rank *newest = NULL;
	uint64_t newest_ns = 0;

	for (size_t i = 0; i < model->communicator_count; i++) {
		const struct ncs_communicator *communicator =
			&model->communicators[i];
		const struct ncs_rank *last;
		uint64_t age_ns;

		if (diagnosis->explained[i] || !is_uncalled(communicator))
			continue;
		last = latest(communicator);
		age_ns = ncs_age_ns(last, last->history.birth.taken_ns);
		if (age_ns < NCS_CONNECT_NS)
			continue;
		if (ncs_is_seen_whole(communicator)) {
			if (!newest || age_ns < newest_ns) {
				newest = last;
				newest_ns = age_ns;
			}
			continue;
		}
		if (hides_ranks(model) || !are_machines_seen(communicator))
			continue;
		report_unjoined(diagnosis, communicator, last, age_ns);
		diagnosis->explained[i] = true;
	}
	/* A communicator that is not used while others are is a usual one. */
	if (newest && !has_moved(model, newest_ns))
		report_setup(diagnosis, newest, newest_ns);
}
