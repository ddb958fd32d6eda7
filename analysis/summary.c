/* The state of the whole job. Must not draw and must not guess: the chain
 * follows what each rank says it waits for, and says where it cannot go on.
 * Called once a sample.
 */
#include "analysis/summary.h"

#include <string.h>

static bool waits_for_peer(const struct ncs_channel_view *channel)
{
	return channel->state == NCS_CHANNEL_SEND_PEER_WAIT ||
	       channel->state == NCS_CHANNEL_RECV_WAIT;
}

/* What holds a rank up. Its GPU may wait for data that a peer owes, so a wait
 * for a peer explains one for the GPU; data that is owed explains a buffer
 * that is not free. */
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

static bool is_same_comm(const struct ncs_rank *a, const struct ncs_rank *b)
{
	const struct ncs_identity *of_a = &a->now.identity;
	const struct ncs_identity *of_b = &b->now.identity;

	if (of_a->known & of_b->known & NCS_KNOWN_COMM_ID)
		return of_a->comm_id == of_b->comm_id;
	return (of_a->known & of_b->known & NCS_KNOWN_COMM_NAME) &&
	       strcmp(of_a->comm_name, of_b->comm_name) == 0;
}

const struct ncs_rank *ncs_peer_rank(const struct ncs_model *model,
				     const struct ncs_rank *rank, int peer)
{
	const struct ncs_rank *found = NULL;

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *other = model->ranks[i];

		if (!(other->now.identity.known & NCS_KNOWN_RANK) ||
		    other->now.identity.rank != peer || other == rank ||
		    !is_same_comm(rank, other))
			continue;
		/* Of an earlier life of the job and this one, this one. */
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

/* One step along the chain from `wait`; false at its end. */
static bool follow(struct ncs_summary *summary, const struct ncs_model *model,
		   struct ncs_wait *wait)
{
	const struct ncs_rank *next;

	if (!waits_for_peer(wait->channel)) {
		summary->chain_end = NCS_CHAIN_LOCAL;
		summary->last = *wait;
		return false;
	}
	summary->peer = wait->channel->peer;
	next = ncs_peer_rank(model, wait->rank, summary->peer);
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

static void find_chain(struct ncs_summary *summary,
		       const struct ncs_model *model)
{
	struct ncs_wait wait = summary->oldest;

	if (!wait.channel || wait.duration_ns < NCS_LONG_WAIT_NS)
		return;
	wait = cause_of(wait.rank);
	summary->chain[summary->chain_length++] = wait.rank;
	while (follow(summary, model, &wait))
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

/* --- Who is behind -------------------------------------------------------- */

static bool has_moved(const struct ncs_rank *rank)
{
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (rank->has_before &&
		    rank->now.functions[i].operations !=
			    rank->before.functions[i].operations)
			return true;
	return !rank->has_before;
}

static bool sequence_of(const struct ncs_rank *rank, unsigned function,
			uint64_t *sequence)
{
	*sequence = rank->now.functions[function].last_sequence_number;
	return ncs_rank_is_live(rank) && *sequence != NCS_NO_SEQUENCE_NUMBER;
}

/* Ranks of a job that runs are a little apart, but none keeps its place. */
static bool stands_still(const struct ncs_rank *rank, unsigned function)
{
	return rank->has_before &&
	       rank->now.functions[function].last_sequence_number ==
		       rank->before.functions[function].last_sequence_number;
}

/* Compares all ranks of one communicator in one function. */
static void compare_sequences(struct ncs_behind *behind,
			      const struct ncs_model *model,
			      const struct ncs_rank *of, unsigned function)
{
	struct ncs_behind found = { .function = function };
	uint64_t sequence;

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (!is_same_comm(rank, of) ||
		    !sequence_of(rank, function, &sequence))
			continue;
		if (sequence > found.others_at)
			found.others_at = sequence;
		if (!found.rank || sequence < found.at) {
			found.rank = rank;
			found.at = sequence;
			found.count = 0;
		}
		found.count += sequence == found.at;
	}
	if (found.rank && found.at < found.others_at &&
	    stands_still(found.rank, function))
		*behind = found;
}

/* Where a job stands, the rank that is behind is the one to look at. */
static void find_behind(struct ncs_summary *summary,
			const struct ncs_model *model)
{
	const struct ncs_wait *oldest = &summary->oldest;

	if (oldest->channel && oldest->duration_ns >= NCS_LONG_WAIT_NS) {
		compare_sequences(&summary->behind, model, oldest->rank,
				  oldest->channel->function);
		return;
	}
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_rank_is_live(model->ranks[i]) &&
		    has_moved(model->ranks[i]))
			return;
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		/* Ranks of one communicator stand together. */
		if (summary->behind.rank ||
		    (i > 0 && is_same_comm(model->ranks[i - 1], rank)))
			continue;
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++)
			compare_sequences(&summary->behind, model, rank, k);
	}
}

/* --- All of it ------------------------------------------------------------ */

static void add_rank(struct ncs_summary *summary, const struct ncs_rank *rank)
{
	struct ncs_wait oldest;

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
	oldest = ncs_oldest_wait(rank);
	if (oldest.channel &&
	    (!summary->oldest.channel ||
	     oldest.duration_ns > summary->oldest.duration_ns))
		summary->oldest = oldest;
}

void ncs_summarize(struct ncs_summary *summary, const struct ncs_model *model)
{
	memset(summary, 0, sizeof(*summary));
	for (size_t i = 0; i < model->rank_count; i++)
		add_rank(summary, model->ranks[i]);
	find_chain(summary, model);
	find_behind(summary, model);
}
