/* SPDX-License-Identifier: MIT */
/* Recent rates; see recent_values.h. */
#include "analysis/base/recent_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ncs_recent_values_release(struct ncs_recent_values *traces)
{
	free(traces->channels);
	memset(traces, 0, sizeof(*traces));
}

void ncs_recent_set(struct ncs_recent *trace, uint64_t count, double value)
{
	trace->values[(count - 1) % NCS_RECENT_LENGTH] = (float)value;
}

double ncs_recent_latest(const struct ncs_recent *trace, uint64_t count)
{
	return trace->values[(count - 1) % NCS_RECENT_LENGTH];
}

bool ncs_recent_is_known(const struct ncs_recent *trace, uint64_t count)
{
	for (uint64_t i = 0; i < NCS_RECENT_LENGTH && i < count; i++)
		if (trace->values[i] >= 0)
			return true;
	return false;
}

static bool is_of(const struct ncs_recent_channel *trace,
		  const struct ncs_channel_view *channel)
{
	return trace->channel == channel->channel &&
	       trace->send == channel->send && trace->peer == channel->peer;
}

/* Sets the values of a channel in a place to those that it had before, most likely in
 * the same place; they are unknown if there are none. */
static void copy_or_clear(struct ncs_recent *to,
			  const struct ncs_recent_values *from, size_t place,
			  const struct ncs_channel_view *channel)
{
	size_t count = from->channel_count;

	for (size_t i = 0; i < count; i++) {
		const struct ncs_recent_channel *had =
			&from->channels[(place + i) % count];

		if (is_of(had, channel)) {
			*to = had->rate;
			return;
		}
	}
	for (size_t i = 0; i < NCS_RECENT_LENGTH; i++)
		to->values[i] = -1;
}

static int take_channels(struct ncs_recent_values *traces,
			 const struct ncs_snapshot *snapshot)
{
	size_t count = snapshot->channel_count;
	struct ncs_recent_channel *channels;

	channels = malloc((count > 0 ? count : 1) * sizeof(*channels));
	if (!channels)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct ncs_channel_view *channel = &snapshot->channels[i];

		channels[i].channel = channel->channel;
		channels[i].send = channel->send;
		channels[i].peer = channel->peer;
		copy_or_clear(&channels[i].rate, traces, i, channel);
	}
	free(traces->channels);
	traces->channels = channels;
	traces->channel_count = count;
	return 0;
}

int ncs_recent_values_begin(struct ncs_recent_values *traces,
			    const struct ncs_snapshot *snapshot)
{
	if (take_channels(traces, snapshot) != 0) {
		ncs_recent_values_release(traces);
		return -ENOMEM;
	}
	traces->count++;
	for (size_t i = 0; i < traces->channel_count; i++)
		ncs_recent_set(&traces->channels[i].rate, traces->count, -1);
	return 0;
}
