/* SPDX-License-Identifier: MIT */
/* The summary of a job. Must not draw and must not guess: the chain follows
 * what each rank reports that it waits for, and records why it ends. Called
 * once per refresh.
 */
#include "analysis/diagnosis/summary.h"

#include <string.h>

#include "analysis/model/communicators.h"

static bool waits_for_peer(const struct ncs_channel_view *channel)
{
	return channel->state == NCS_CHANNEL_SEND_PEER_WAIT ||
	       channel->state == NCS_CHANNEL_RECV_WAIT;
}

/* Returns the wait that holds a rank up. Waiting for a peer explains waiting
 * for the GPU, which may need the peer's data; waiting for data explains
 * waiting for a free buffer. */
static struct ncs_wait cause_of(const struct ncs_rank *rank)
{
	struct ncs_wait cause = ncs_oldest_wait(rank);
	int best = 0;

	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];
		uint64_t duration_ns = ncs_wait_ns(rank, channel);
		int weight = channel->state == NCS_CHANNEL_RECV_WAIT ? 2 : 1;

		if (!waits_for_peer(channel) ||
		    duration_ns < NCS_LONG_WAIT_NS || weight < best ||
		    (weight == best && duration_ns <= cause.duration_ns))
			continue;
		best = weight;
		cause.channel = channel;
		cause.duration_ns = duration_ns;
	}
	return cause;
}

const struct ncs_rank *ncs_peer_rank(const struct ncs_rank *rank, int peer)
{
	const struct ncs_communicator *communicator = rank->communicator;
	const struct ncs_rank *found = NULL;

	for (size_t i = 0; communicator && i < communicator->rank_count; i++) {
		const struct ncs_rank *other = communicator->ranks[i];

		if (!(other->now.identity.known & NCS_KNOWN_RANK) ||
		    other->now.identity.rank != peer || other == rank)
			continue;
		if (!found || ncs_rank_is_live(other))
			found = other;
	}
	return found;
}

static bool is_in_chain(const struct ncs_summary *summary,
			const struct ncs_rank *rank)
{
	for (size_t i = 0; i < summary->chain_length; i++)
		if (summary->chain[i] == rank)
			return true;
	return false;
}

/* Takes one step along the chain from `wait`. Returns false at its end. */
static bool follow(struct ncs_summary *summary, struct ncs_wait *wait)
{
	const struct ncs_rank *next;

	if (!waits_for_peer(wait->channel)) {
		summary->chain_end = NCS_CHAIN_LOCAL;
		summary->last = *wait;
		return false;
	}
	summary->peer = wait->channel->peer;
	next = ncs_peer_rank(wait->rank, summary->peer);
	if (!next) {
		summary->chain_end = NCS_CHAIN_UNSEEN;
		return false;
	}
	if (is_in_chain(summary, next) ||
	    summary->chain_length == NCS_CHAIN_MAX) {
		summary->chain_end = NCS_CHAIN_CIRCLE;
		return false;
	}
	summary->chain[summary->chain_length++] = next;
	if (!ncs_rank_is_live(next)) {
		summary->chain_end = NCS_CHAIN_ENDED;
		return false;
	}
	*wait = cause_of(next);
	if (wait->channel && wait->duration_ns >= NCS_LONG_WAIT_NS)
		return true;
	summary->chain_end = wait->channel ? NCS_CHAIN_MOVING :
					     NCS_CHAIN_ABSENT;
	return false;
}

static void find_chain(struct ncs_summary *summary)
{
	struct ncs_wait wait = summary->channel_wait;

	if (!wait.channel || wait.duration_ns < NCS_LONG_WAIT_NS)
		return;
	wait = cause_of(wait.rank);
	summary->chain[summary->chain_length++] = wait.rank;
	while (follow(summary, &wait))
		;
}

const struct ncs_rank *ncs_suspect(const struct ncs_summary *summary)
{
	if (summary->chain_end != NCS_CHAIN_ENDED &&
	    summary->chain_end != NCS_CHAIN_ABSENT &&
	    summary->chain_end != NCS_CHAIN_LOCAL)
		return NULL;
	return summary->chain[summary->chain_length - 1];
}

/* --- Ranks that are behind ------------------------------------------------ */

static bool has_moved(const struct ncs_rank *rank)
{
	const struct ncs_counters *before = ncs_rank_before(rank);

	for (size_t i = 0; before && i < NCS_FUNCTION_COUNT; i++)
		if (rank->now.functions[i].operations !=
		    before->functions[i].operations)
			return true;
	return !before;
}

static void find_behind_in(struct ncs_behind *behind,
			   const struct ncs_communicator *communicator,
			   unsigned function)
{
	struct ncs_progress progress;

	ncs_communicator_progress(communicator, function, &progress);
	if (ncs_progress_is_held_up(&progress, function))
		*behind = (struct ncs_behind){
			.rank = progress.slowest,
			.function = function,
			.at = progress.least,
			.others_at = progress.most,
			.count = progress.slowest_count,
		};
}

/* Finds the rank that is behind in a stalled job. */
static void find_behind(struct ncs_summary *summary,
			const struct ncs_model *model)
{
	const struct ncs_wait *wait = &summary->channel_wait;

	if (wait->channel && wait->duration_ns >= NCS_LONG_WAIT_NS) {
		if (wait->rank->communicator)
			find_behind_in(&summary->behind,
				       wait->rank->communicator,
				       wait->channel->function);
		return;
	}
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_is_live(model->ranks[i]) &&
		    has_moved(model->ranks[i]))
			return;
	for (size_t i = 0; i < model->communicator_count; i++)
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			/* A communicator that has ended holds up no rank. */
			if (!summary->behind.rank &&
			    model->communicators[i].live > 0)
				find_behind_in(&summary->behind,
					       &model->communicators[i], k);
}

/* --- All of it ------------------------------------------------------------ */

/* Counts what a rank without a busy channel waits for. */
static void add_launch(struct ncs_summary *summary, const struct ncs_rank *rank)
{
	struct ncs_launch_wait launch = ncs_rank_launch_wait(rank);

	if (!launch.operation)
		return;
	summary->launches[launch.kind]++;
	summary->long_waits += launch.duration_ns >= NCS_LONG_WAIT_NS;
}

static void add_rank(struct ncs_summary *summary, const struct ncs_rank *rank)
{
	struct ncs_wait wait;

	summary->ranks++;
	summary->lost += ncs_rank_lost(rank);
	summary->dead += rank->now.liveness == NCS_DEAD;
	summary->finished += rank->now.liveness == NCS_FINISHED;
	summary->silent += rank->now.liveness == NCS_SILENT;
	if (rank->now.liveness == NCS_DEAD && !summary->first_dead)
		summary->first_dead = rank;
	if (!ncs_rank_is_live(rank))
		return;
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];

		summary->channels++;
		summary->states[channel->state]++;
		summary->long_waits += ncs_wait_ns(rank, channel) >=
				       NCS_LONG_WAIT_NS;
	}
	wait = ncs_oldest_wait(rank);
	summary->launching += rank->now.launches.launched > 0;
	if (!wait.channel)
		add_launch(summary, rank);
	if (wait.channel &&
	    (!summary->channel_wait.channel ||
	     wait.duration_ns > summary->channel_wait.duration_ns))
		summary->channel_wait = wait;
	ncs_oldest_add(&summary->oldest, rank);
}

void ncs_summarize(struct ncs_summary *summary, const struct ncs_model *model)
{
	memset(summary, 0, sizeof(*summary));
	for (size_t i = 0; i < model->rank_count; i++)
		add_rank(summary, model->ranks[i]);
	find_chain(summary);
	find_behind(summary, model);
}
