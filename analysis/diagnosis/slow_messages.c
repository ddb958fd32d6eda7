/* SPDX-License-Identifier: MIT */
/* The rule for links that have turned slow, by how long messages are on the way.
 * Must not name a link that an earlier rule has named by its sender.
 */
#include "analysis/diagnosis/diagnosis.h"

#include "analysis/model/communicators.h"
#include "analysis/model/slow_links.h"
#include "analysis/model/stragglers.h"

/* Returns whether a finding tells of a slow link of one of these ranks'
 * processes. */
static bool is_reported(const struct ncs_diagnosis *diagnosis,
		    const struct ncs_rank *from, const struct ncs_rank *to)
{
	for (size_t i = 0; i < diagnosis->count; i++) {
		const struct ncs_rank *root = diagnosis->findings[i].root.rank;

		if (diagnosis->findings[i].verdict ==
			    NCS_VERDICT_SLOW_NETWORK &&
		    root &&
		    (ncs_shares_process(root, from) ||
		     ncs_shares_process(root, to)))
			return true;
	}
	return false;
}

static const struct ncs_rank *
rank_of(const struct ncs_communicator *communicator, int32_t number)
{
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->now.identity.rank == number)
			return communicator->ranks[i];
	return NULL;
}

static void add_times(struct ncs_finding *finding, enum ncs_evidence_kind kind,
		      const struct ncs_party *party,
		      const struct ncs_slow_link *link, double now_ns,
		      double usual_ns)
{
	struct ncs_evidence *evidence =
		ncs_finding_add_evidence(finding, kind, *party);

	evidence->call = finding->call;
	evidence->number = link->operations;
	evidence->duration_ns = (uint64_t)now_ns;
	evidence->expected = (uint64_t)usual_ns;
}

static void report(struct ncs_diagnosis *diagnosis,
		   const struct ncs_communicator *communicator,
		   const struct ncs_slow_link *link,
		   const struct ncs_rank *from, const struct ncs_rank *to)
{
	struct ncs_finding *finding = ncs_diagnosis_add(
		diagnosis, NCS_VERDICT_SLOW_NETWORK, ncs_party_of(from));

	finding->peer = ncs_party_of(to);
	finding->call.function = link->function == NCS_FUNCTION_SEND_RECV ?
					 NCS_FUNCTION_SEND :
					 link->function;
	finding->waiting = ncs_communicator_judged(communicator) - 1;
	finding->share = finding->share_most = link->share;
	ncs_finding_rate(finding, false,
			 link->past == NCS_PAST_LINK ? NCS_CONFIDENCE_LIKELY :
						       NCS_CONFIDENCE_POSSIBLE);
	add_times(finding, NCS_EVIDENCE_MESSAGES, &finding->root, link,
		  link->message_ns, link->usual_message_ns);
	if (link->past != NCS_PAST_LINK)
		finding->doubt = finding->evidence_count;
	if (link->past == NCS_PAST_COUNTERS)
		add_times(finding, NCS_EVIDENCE_TOOK, &finding->peer, link,
			  link->moving_ns, link->usual_moving_ns);
	else
		add_times(finding, NCS_EVIDENCE_MOVED, &finding->root, link,
			  link->moving_ns, link->usual_moving_ns);
	ncs_finding_add_fact(finding, NCS_EVIDENCE_RECEIVER, to, 0);
	ncs_finding_add_unseen(finding, communicator);
}

bool ncs_find_slow_links(struct ncs_diagnosis *diagnosis,
			 const struct ncs_communicator *communicator)
{
	const struct ncs_rank *from, *to;
	struct ncs_slow_link link;

	if (!ncs_communicator_slow_link(diagnosis->model, communicator,
					&link) ||
	    link.share < NCS_STRAGGLER_COST)
		return false;
	from = rank_of(communicator, link.from);
	to = rank_of(communicator, link.to);
	if (from && to && !is_reported(diagnosis, from, to))
		report(diagnosis, communicator, &link, from, to);
	return false;
}

/* --- What can be found ---------------------------------------------------- */

/* Returns whether a rank has sent lately, and often enough for a verdict. */
static bool sends(const struct ncs_rank *rank)
{
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];

		if (channel->send &&
		    channel->operations_done >= NCS_IN_A_ROW &&
		    ncs_age_ns(rank, channel->since_ns) < NCS_COST_WINDOW_NS)
			return true;
	}
	return false;
}

enum ncs_link_check
ncs_diagnosis_links(const struct ncs_diagnosis *diagnosis,
		    const struct ncs_communicator *communicator)
{
	if (ncs_communicator_links_compared(communicator))
		return NCS_LINKS_CHECKED;
	for (size_t i = 0; i < communicator->rank_count; i++)
		if (ncs_rank_is_live(communicator->ranks[i]) &&
		    sends(communicator->ranks[i]))
			return ncs_paces_know(&diagnosis->paces,
					      communicator->key) ?
				       NCS_LINKS_BY_SENDER :
				       NCS_LINKS_UNCHECKED;
	return NCS_LINKS_CHECKED;
}
