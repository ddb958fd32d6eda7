/* SPDX-License-Identifier: MIT */
/* Computed cells of channels and of proxy threads. */
#include "analysis/model/rank.h"
#include "analysis/model/waits.h"
#include "analysis/views/getters.h"

#include <inttypes.h>
#include <stdio.h>

static const struct ncs_channel_view *channel_of(const struct ncs_row *row)
{
	return &row->rank->now.channels[row->index];
}

/* Returns the channel as the window began; NULL if it was not there. */
static const struct ncs_channel_counters *
channel_base(const struct ncs_row *row)
{
	const struct ncs_counters *base = row->rank->base;

	return base ? ncs_counters_channel(base, channel_of(row), row->index) :
		      NULL;
}

/* --- Shares of time ------------------------------------------------------- */

static uint64_t grown(uint64_t now, uint64_t base)
{
	return now > base ? now - base : 0;
}

/* Sets the share of a state's time in that of all states from `first` on, over
 * the window. Without a window, and if the clock stood still in it, as that of
 * a rank that has ended does, it is the share since the start. */
static void set_share(struct ncs_value *value, const uint64_t *now,
		      const uint64_t *base, size_t first, size_t count,
		      size_t state)
{
	uint64_t part = 0, total = 0;

	for (size_t i = first; base && i < count; i++)
		total += grown(now[i], base[i]);
	if (total > 0) {
		part = grown(now[state], base[state]);
	} else {
		for (size_t i = first; i < count; i++)
			total += now[i];
		part = now[state];
	}
	if (total > 0)
		ncs_value_set_real(value, NCS_VALUE_SHARE,
				   (double)part / (double)total);
}

/* Whether the window begins with the latest snapshot, so that nothing has a
 * share of it yet. */
static bool begins_now(const struct ncs_rank *rank)
{
	return rank->base && rank->base->taken_ns >= rank->now.taken_ns;
}

/* --- Channels ------------------------------------------------------------- */

NCS_GETTER(channel_direction)
{
	ncs_value_set_text(value, channel_of(row)->send ? "send" : "recv");
}

NCS_GETTER(channel_since)
{
	ncs_value_set_lasting(value, row->rank, channel_of(row)->since_ns);
}

NCS_GETTER(channel_step)
{
	const struct ncs_channel_view *channel = channel_of(row);

	if (channel->state == NCS_CHANNEL_IDLE)
		return;
	value->kind = NCS_VALUE_TEXT;
	if (channel->nsteps > 0)
		snprintf(value->text, sizeof(value->text),
			 "%" PRIu64 "/%" PRIu64, channel->step,
			 channel->nsteps);
	else
		snprintf(value->text, sizeof(value->text), "%" PRIu64,
			 channel->step);
}

NCS_GETTER(channel_rate)
{
	const struct ncs_channel_view *channel = channel_of(row);
	const struct ncs_channel_counters *base = channel_base(row);

	if (ncs_channel_bytes_known(channel))
		ncs_value_set_real(value, NCS_VALUE_REAL,
				   ncs_rank_rate(row->rank, channel->bytes,
						 base ? base->bytes : 0) /
					   1e6);
}

NCS_GETTER(channel_recent)
{
	const struct ncs_recent_values *recent = &row->rank->traces;

	if (row->index < recent->channel_count)
		ncs_value_set_recent(value,
				     &recent->channels[row->index].rate,
				     recent->count);
}

NCS_GETTER(channel_share)
{
	/* By whether it sends. */
	static const enum ncs_channel_state states[NCS_WAIT_COUNT][2] = {
		[NCS_WAIT_GPU] = { NCS_CHANNEL_RECV_GPU_WAIT,
				   NCS_CHANNEL_SEND_GPU_WAIT },
		[NCS_WAIT_PEER] = { NCS_CHANNEL_RECV_WAIT,
				    NCS_CHANNEL_SEND_PEER_WAIT },
		[NCS_WAIT_NETWORK] = { NCS_CHANNEL_RECV_FLUSH_WAIT,
				       NCS_CHANNEL_SEND_WAIT },
		[NCS_WAIT_IDLE] = { NCS_CHANNEL_IDLE, NCS_CHANNEL_IDLE },
	};
	const struct ncs_channel_view *channel = channel_of(row);
	const struct ncs_channel_counters *base = channel_base(row);
	struct ncs_channel_counters now;

	if (begins_now(row->rank) ||
	    (argument == NCS_WAIT_PEER &&
	     !ncs_channel_peer_wait_known(row->rank, channel)))
		return;
	ncs_channel_count(&now, channel);
	set_share(value, now.time_ns, base ? base->time_ns : NULL, 0,
		  NCS_CHANNEL_TIMES,
		  ncs_channel_time(states[argument][channel->send]));
}

/* --- Proxy threads -------------------------------------------------------- */

NCS_GETTER(proxy_since)
{
	if (ncs_rank_proxy_known(row->rank))
		ncs_value_set_lasting(value, row->rank,
				      row->rank->now.proxy.since_ns);
}

/* Time before the first state was reported does not count. */
NCS_GETTER(proxy_share)
{
	const struct ncs_rank *rank = row->rank;

	if (!begins_now(rank))
		set_share(value, rank->now.proxy.time_ns,
			  rank->base ? rank->base->proxy_time_ns : NULL,
			  NCS_PROXY_UNKNOWN + 1, NCS_PROXY_STATE_COUNT,
			  (size_t)argument);
}

NCS_GETTER(proxy_rate)
{
	const struct ncs_rank *rank = row->rank;

	if (ncs_rank_proxy_known(rank) && rank->base)
		ncs_value_set_real(
			value, NCS_VALUE_RATE,
			ncs_rank_rate(rank, rank->now.proxy.count[argument],
				      rank->base->proxy_count[argument]));
}
