/* SPDX-License-Identifier: MIT */
/* Which peers metrics name; see metrics.h. */
#include "analysis/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

static struct ncs_peers_of_rank *find(struct ncs_named_peers *list,
				      uint32_t serial)
{
	struct ncs_peers_of_rank *found;

	for (size_t i = 0; i < list->count; i++)
		if (list->ranks[i].serial == serial)
			return &list->ranks[i];
	if (ncs_array_reserve(&list->ranks, &list->capacity, list->count + 1,
			      sizeof(*list->ranks)) != 0)
		return NULL;
	found = &list->ranks[list->count++];
	memset(found, 0, sizeof(*found));
	found->serial = serial;
	return found;
}

/* Returns the place of a peer's sum; that of all others if it has no name. */
static size_t place_of(struct ncs_peers_of_rank *named, int32_t peer)
{
	size_t place = 0;

	while (place < named->count && named->peers[place] != peer)
		place++;
	if (place == named->count && place < NCS_METRIC_PEERS_MAX)
		named->peers[named->count++] = peer;
	return place;
}

const struct ncs_peers_of_rank *
ncs_peers_sum(struct ncs_named_peers *list, const struct ncs_rank *rank,
	      struct ncs_peer_sum sums[NCS_METRIC_PEERS_MAX + 1])
{
	struct ncs_peers_of_rank *named = find(list, rank->serial);

	memset(sums, 0, (NCS_METRIC_PEERS_MAX + 1) * sizeof(*sums));
	if (!named)
		return NULL;
	named->is_seen = true;
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];
		struct ncs_peer_sum *sum = &sums[place_of(named, channel->peer)];

		if (channel->send) {
			bool known = ncs_channel_bytes_known(channel);

			sum->bytes_known =
				known && (sum->bytes_known || !sum->sends);
			sum->sent_bytes += channel->bytes;
			sum->sends = true;
		} else {
			sum->receives = true;
		}
		sum->is_used = true;
		for (unsigned k = 0; k < NCS_CHANNEL_STATE_COUNT; k++)
			sum->time_ns[k] += channel->time_ns[k];
	}
	return named;
}

void ncs_peers_forget(struct ncs_named_peers *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!list->ranks[i].is_seen)
			continue;
		list->ranks[kept] = list->ranks[i];
		list->ranks[kept++].is_seen = false;
	}
	list->count = kept;
}

void ncs_peers_release(struct ncs_named_peers *list)
{
	free(list->ranks);
	memset(list, 0, sizeof(*list));
}
