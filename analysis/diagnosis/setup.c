/* SPDX-License-Identifier: MIT */
/* The rules for what NCCL has not finished connecting: communicators that nobody has
 * called yet, and calls that have not begun.
 *
 * NCCL initializes the plugin in the middle of a communicator's setup: before it,
 * a rank is in bootstrap; after it, in transports, rings, a barrier, or it is set
 * up and idle. Nothing tells these apart, so that a communicator which all ranks
 * have joined is never said to be stuck.
 */
#include "analysis/diagnosis/rules.h"

#include "analysis/model/model.h"
#include "analysis/model/waits.h"
#include "analysis/records/operation_record.h"

/* --- Communicators that nobody has called ----------------------------------- */

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

/* Returns how long ago a rank joined. */
static uint64_t joined_ns(const struct ncs_rank *rank)
{
	return ncs_age_ns(rank, rank->history.birth.taken_ns);
}

/* Returns the rank that joined last. */
static const struct ncs_rank *
latest(const struct ncs_communicator *communicator)
{
	const struct ncs_rank *found = communicator->ranks[0];

	for (size_t i = 1; i < communicator->rank_count; i++)
		if (joined_ns(communicator->ranks[i]) < joined_ns(found))
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
		age_ns = joined_ns(last);
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

/* --- Calls that have not begun -------------------------------------------- */

/* The calls of a communicator that have started no operation. */
struct unstarted {
	const struct ncs_rank *longest; /* the rank that is in one longest */
	unsigned function;              /* of its call */
	uint64_t duration_ns;
	const struct ncs_rank *other;   /* another rank that is in one */
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
		finding->peer =
			ncs_party_of(is_unmet ? found->longest : found->other);
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
