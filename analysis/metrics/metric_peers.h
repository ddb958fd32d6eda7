/* SPDX-License-Identifier: MIT */
/* Which peers of a rank metrics name: the first that it had, so that a peer that
 * has a name keeps it and none moves to "other". Pure. */
#ifndef NCS_ANALYSIS_METRICS_METRIC_PEERS_H
#define NCS_ANALYSIS_METRICS_METRIC_PEERS_H

#include "analysis/model/rank.h"

#define NCS_METRIC_PEERS_MAX 8u

/* All zeros is an empty list. */
struct ncs_named_peers {
	struct ncs_peers_of_rank {
		uint32_t serial; /* of the rank */
		bool is_seen;
		size_t count;
		int32_t peers[NCS_METRIC_PEERS_MAX];
	} *ranks;
	size_t count, capacity;
};

/* Sums over the channels between a rank and a peer, or its other peers. */
struct ncs_peer_sum {
	bool is_used; /* there is such a channel */
	bool sends, receives;
	bool bytes_known;
	uint64_t sent_bytes;
	uint64_t time_ns[NCS_CHANNEL_STATE_COUNT];
};

/* Adds up a rank's channels by peer: the named ones in their order, then one
 * for all others. Names new peers while there is room. Returns the named peers;
 * NULL if there is no memory. */
const struct ncs_peers_of_rank *
ncs_peers_sum(struct ncs_named_peers *list, const struct ncs_rank *rank,
	      struct ncs_peer_sum sums[NCS_METRIC_PEERS_MAX + 1]);

/* Forgets ranks of which nothing was added up since the last call. */
void ncs_peers_forget(struct ncs_named_peers *list);

/* Releases the list. */
void ncs_peers_release(struct ncs_named_peers *list);

#endif
