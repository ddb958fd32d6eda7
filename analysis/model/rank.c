/* SPDX-License-Identifier: MIT */
/* Facts from a rank's snapshot and history; see rank.h. */
#include "analysis/model/rank.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/model/lateness_state.h"
#include "shm/labels.h"

static int compare_words(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int ncs_rank_compare(const struct ncs_rank *a, const struct ncs_rank *b)
{
	const struct ncs_identity *of_a = &a->now.identity;
	const struct ncs_identity *of_b = &b->now.identity;
	int order = strcmp(a->process.host, b->process.host);

	/* A communicator without a name comes last. */
	if (order == 0)
		order = !of_a->comm_name[0] - !of_b->comm_name[0];
	if (order == 0)
		order = strcmp(of_a->comm_name, of_b->comm_name);
	if (order == 0)
		order = compare_words(of_a->comm_id, of_b->comm_id);
	if (order == 0)
		order = (of_a->rank > of_b->rank) - (of_a->rank < of_b->rank);
	if (order == 0)
		order = compare_words(a->process.pid, b->process.pid);
	return order ? order : strcmp(a->id, b->id);
}

uint32_t ncs_rank_pid(const struct ncs_rank *rank)
{
	const char *here = ncs_labels_value(rank->labels, "host_pid");

	return here ? (uint32_t)strtoul(here, NULL, 10) : rank->process.pid;
}

/* Orders ranks so that those of one process are neighbours. */
static int compare_processes(const struct ncs_rank *left,
			     const struct ncs_rank *right)
{
	const struct ncs_process *a = &left->process, *b = &right->process;
	int order = compare_words(a->pid, b->pid);

	if (order == 0)
		order = compare_words(a->start, b->start);
	if (order == 0)
		order = compare_words(a->pid_namespace, b->pid_namespace);
	if (order == 0)
		order = compare_words(a->time_namespace, b->time_namespace);
	if (order == 0)
		order = strncmp(a->boot_id, b->boot_id, sizeof(a->boot_id));
	return order ? order : strncmp(a->host, b->host, sizeof(a->host));
}

int ncs_compare_gpus(const struct ncs_rank *a, const struct ncs_rank *b)
{
	int order = compare_processes(a, b);

	return order ? order :
		       strncmp(a->now.identity.gpu, b->now.identity.gpu,
			       sizeof(a->now.identity.gpu));
}

bool ncs_shares_process(const struct ncs_rank *a, const struct ncs_rank *b)
{
	return compare_processes(a, b) == 0;
}

uint64_t ncs_rank_window_ns(const struct ncs_rank *rank)
{
	const struct ncs_counters *base = rank->base;
	uint64_t end_ns = rank->now.taken_ns;

	if (!base)
		return 0;
	if (base == &rank->history.birth)
		end_ns = ncs_rank_end_ns(rank);
	return end_ns > base->taken_ns ? end_ns - base->taken_ns : 0;
}

const struct ncs_counters *ncs_rank_before(const struct ncs_rank *rank)
{
	return ncs_history_base(&rank->history, NCS_WINDOW_NOW,
				rank->now.taken_ns);
}

uint64_t ncs_rank_end_ns(const struct ncs_rank *rank)
{
	const struct ncs_snapshot *now = &rank->now;
	uint64_t end_ns = ncs_launches_moved_ns(&now->launches);

	if (now->liveness == NCS_FINISHED)
		return now->finished_ns;
	if (now->liveness != NCS_DEAD)
		return now->taken_ns;
	if (end_ns < now->last_call_ns)
		end_ns = now->last_call_ns;
	if (end_ns < now->alive_ns)
		end_ns = now->alive_ns;
	return end_ns > rank->alive_ns ? end_ns : rank->alive_ns;
}

bool ncs_rank_end_is_known(const struct ncs_rank *rank)
{
	return rank->now.liveness != NCS_DEAD || rank->alive_ns != 0 ||
	       rank->now.alive_ns != 0;
}

uint64_t ncs_rank_lost_in_window(const struct ncs_rank *rank)
{
	return ncs_rank_lost(rank) - (rank->base ? rank->base->lost : 0);
}

bool ncs_rank_has_called(const struct ncs_rank *rank)
{
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (ncs_function_is_used(&rank->now.functions[i]))
			return true;
	return rank->now.launches.launched > 0;
}

bool ncs_channel_peer_wait_known(const struct ncs_rank *rank,
				 const struct ncs_channel_view *channel)
{
	return !channel->send || ncs_rank_peer_wait_known(rank) ||
	       channel->time_ns[NCS_CHANNEL_SEND_PEER_WAIT] > 0;
}

/* --- Rates -------------------------------------------------------------- */

double ncs_rank_rate(const struct ncs_rank *rank, uint64_t now, uint64_t base)
{
	uint64_t window_ns = ncs_rank_window_ns(rank);

	/* A counter that went back was reset or is corrupt. */
	if (window_ns == 0 || now < base)
		return -1;
	/* A rank that has ended moves nothing, whatever it did just before. */
	if (!ncs_rank_is_live(rank) && rank->base != &rank->history.birth)
		return 0;
	return (double)(now - base) * 1e9 / (double)window_ns;
}

double ncs_rank_operations_rate(const struct ncs_rank *rank)
{
	uint64_t now = 0, base = 0;

	if (rank->base && rank->base != &rank->history.birth &&
	    rank->base->taken_ns >= rank->unchanged_since_ns)
		return ncs_rank_rate(rank, 0, 0);
	for (size_t i = 0; rank->base && i < NCS_FUNCTION_COUNT; i++) {
		now += rank->now.functions[i].operations;
		base += rank->base->functions[i].operations;
	}
	return ncs_rank_rate(rank, now, base);
}

/* The bytes of a direction's channels. */
struct direction_bytes {
	uint64_t sum;
	bool is_known, is_unknown; /* of a channel */
};

static void add_bytes(struct direction_bytes *bytes, bool send,
		      const struct ncs_channel_counters *channel)
{
	if (channel->send != send)
		return;
	bytes->sum += channel->bytes;
	bytes->is_known |= channel->bytes_known;
	bytes->is_unknown |= !channel->bytes_known;
}

double ncs_rank_bytes_rate(const struct ncs_rank *rank, bool send)
{
	struct direction_bytes now = { 0 }, base = { 0 };
	struct ncs_channel_counters channel;

	if (!rank->base)
		return -1;
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		ncs_channel_count(&channel, &rank->now.channels[i]);
		add_bytes(&now, send, &channel);
	}
	for (size_t i = 0; i < rank->base->channel_count; i++)
		add_bytes(&base, send, &rank->base->channels[i]);
	/* There are channels, but of none the bytes are known. */
	if ((now.is_unknown && !now.is_known) ||
	    (base.is_unknown && !base.is_known))
		return -1;
	return ncs_rank_rate(rank, now.sum, base.sum);
}
