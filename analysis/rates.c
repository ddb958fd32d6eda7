/* Rates of a rank over the latest interval. Pure. */
#include "analysis/model.h"

double ncs_rank_rate(const struct ncs_rank *rank, uint64_t now, uint64_t before)
{
	/* A counter that went back is no counter of ours. */
	if (!rank->has_before || now < before ||
	    rank->now.taken_ns <= rank->before.taken_ns)
		return -1;
	return (double)(now - before) * 1e9 /
	       (double)(rank->now.taken_ns - rank->before.taken_ns);
}

static uint64_t operations(const struct ncs_snapshot *snapshot)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		sum += snapshot->functions[i].operations;
	return sum;
}

double ncs_rank_operations_rate(const struct ncs_rank *rank)
{
	return ncs_rank_rate(rank, operations(&rank->now),
			     operations(&rank->before));
}

/* The bytes of all channels of a direction whose bytes are known; false if
 * there are channels, but none such. */
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

double ncs_rank_bytes_rate(const struct ncs_rank *rank, bool send)
{
	uint64_t now, before;

	if (!rank->has_before || !direction_bytes(&rank->now, send, &now) ||
	    !direction_bytes(&rank->before, send, &before))
		return -1;
	return ncs_rank_rate(rank, now, before);
}
