/* SPDX-License-Identifier: MIT */
/* Rates from two sets of counters; see rates.h. */
#include "analysis/model/rates.h"

#include "analysis/model/waits.h"

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

	for (size_t i = 0; rank->base && i < NCS_FUNCTION_COUNT; i++) {
		now += rank->now.functions[i].operations;
		base += rank->base->functions[i].operations;
	}
	return ncs_rank_rate(rank, now, base);
}

/* Adds up the bytes of a direction's channels whose bytes are known. Returns
 * false if the direction has channels, but the bytes of none are known. */
static bool direction_bytes(const struct ncs_snapshot *snapshot, bool send,
			    uint64_t *bytes)
{
	size_t known = 0, unknown = 0;

	*bytes = 0;
	for (size_t i = 0; i < snapshot->channel_count; i++) {
		const struct ncs_channel_view *channel = &snapshot->channels[i];

		if (channel->send != send)
			continue;
		*bytes += channel->bytes;
		if (ncs_channel_bytes_known(channel))
			known++;
		else
			unknown++;
	}
	return known > 0 || unknown == 0;
}

/* Does the same as direction_bytes() for counters of the past. */
static bool direction_bytes_at(const struct ncs_counters *counters, bool send,
			       uint64_t *bytes)
{
	size_t known = 0, unknown = 0;

	*bytes = 0;
	for (size_t i = 0; i < counters->channel_count; i++) {
		const struct ncs_channel_counters *channel =
			&counters->channels[i];

		if (channel->send != send)
			continue;
		*bytes += channel->bytes;
		if (channel->bytes_known)
			known++;
		else
			unknown++;
	}
	return known > 0 || unknown == 0;
}

double ncs_rank_bytes_rate(const struct ncs_rank *rank, bool send)
{
	uint64_t now, base;

	if (!rank->base || !direction_bytes(&rank->now, send, &now) ||
	    !direction_bytes_at(rank->base, send, &base))
		return -1;
	return ncs_rank_rate(rank, now, base);
}
