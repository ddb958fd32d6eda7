/* SPDX-License-Identifier: MIT */
/* Taking waits for others off a rank's first data; see first_data.h. */
#include "analysis/records/first_data.h"

/* More channels and peers than a collective has in a tree. */
#define CHANNELS_MAX 256u

/* Returns how long a channel had waited for others before it had data to send
 * at `data_ns`. */
static uint64_t waited_ns(const struct ncs_part_channel *channels, size_t count,
			  unsigned channel, uint64_t begin_ns, uint64_t data_ns)
{
	uint64_t came_ns = 0, since_ns = 0;

	for (size_t i = 0; i < count; i++) {
		if (channels[i].send || channels[i].channel != channel ||
		    channels[i].first_ns > data_ns ||
		    channels[i].first_ns <= came_ns)
			continue;
		came_ns = channels[i].first_ns;
		since_ns = channels[i].first_posted_ns;
	}
	if (since_ns < begin_ns)
		since_ns = begin_ns;
	return came_ns > since_ns ? came_ns - since_ns : 0;
}

/* Returns when a channel had its first data to send; 0 if it sends none, or if
 * another place of `channels` tells that. */
static uint64_t data_of(const struct ncs_part_channel *channels, size_t count,
			size_t place)
{
	uint64_t data_ns = channels[place].first_ns;

	if (!channels[place].send)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (channels[i].send && channels[i].first_ns != 0 &&
		    channels[i].channel == channels[place].channel &&
		    channels[i].first_ns < data_ns)
			return 0;
	return data_ns;
}

uint64_t ncs_first_data_ns(const struct ncs_part_channel *channels,
			   size_t count, uint64_t begin_ns)
{
	uint64_t first_ns = 0;

	if (count > CHANNELS_MAX)
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t data_ns = data_of(channels, count, i);

		if (data_ns == 0)
			continue;
		data_ns -= waited_ns(channels, count, channels[i].channel,
				     begin_ns, data_ns);
		if (first_ns == 0 || data_ns < first_ns)
			first_ns = data_ns;
	}
	return first_ns;
}
