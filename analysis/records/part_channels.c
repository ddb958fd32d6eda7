/* SPDX-License-Identifier: MIT */
/* Adding up the channels of a part; see part_channels.h. */
#include "analysis/records/part_channels.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/records/step_record.h"
#include "shm/array.h"
#include "shm/clock.h"

/* More channels than any operation has. */
#define CHANNELS_MAX 4096u

/* More channels and peers than a collective has in a tree. */
#define COMPARED_MAX 256u

void ncs_part_channels_release(struct ncs_part_channels *channels)
{
	free(channels->all);
	*channels = (struct ncs_part_channels){ 0 };
}

/* Returns the channel of a record, or NULL if there is no memory or there are
 * too many channels. */
static struct ncs_part_channel *channel_of(struct ncs_part_channels *channels,
					   const struct ncs_record *record)
{
	bool send = ncs_step_sends(record);
	struct ncs_part_channel *channel;

	/* Most records are of the same channel as the one before, or the next
	 * one. */
	for (size_t i = 0; i < channels->count; i++) {
		size_t place = (channels->found + i) % channels->count;

		channel = &channels->all[place];
		if (channel->channel == record->channel &&
		    channel->send == send && channel->peer == record->peer) {
			channels->found = place;
			return channel;
		}
	}
	if (channels->count == CHANNELS_MAX ||
	    ncs_array_reserve(&channels->all, &channels->capacity,
			      channels->count + 1, sizeof(*channel)) != 0)
		return NULL;
	channels->found = channels->count++;
	channel = &channels->all[channels->found];
	*channel = (struct ncs_part_channel){
		.channel = record->channel,
		.send = send,
		.peer = record->peer,
	};
	return channel;
}

/* Notes when a channel's first data was ready or came. */
static void note_first(struct ncs_part_channel *channel,
		       const struct ncs_clock *clock,
		       const struct ncs_record *record)
{
	uint64_t first_ns = ncs_clock_ns(clock, ncs_step_data_ticks(record));

	if (first_ns == 0 ||
	    (channel->first_ns != 0 && channel->first_ns <= first_ns))
		return;
	channel->first_ns = first_ns;
	channel->first_posted_ns = ncs_clock_ns(clock, record->start);
}

/* Adds when a step's data was handed to the network, or came. */
static void note_moment(struct ncs_part_channel *channel,
			const struct ncs_clock *clock,
			const struct ncs_record *record)
{
	uint64_t moment_ns = ncs_clock_ns(clock, ncs_step_moved_ticks(record));

	if (moment_ns == 0)
		return;
	channel->moments_ns += moment_ns;
	channel->moments++;
	if (moment_ns > channel->last_ns)
		channel->last_ns = moment_ns;
}

int ncs_part_channels_take(struct ncs_part_channels *channels,
			   const struct ncs_clock *clock,
			   const struct ncs_record *record)
{
	struct ncs_part_channel *channel = channel_of(channels, record);
	uint64_t ticks[NCS_STEP_TIMES], end_ns;

	if (!channel)
		return -ENOMEM;
	end_ns = ncs_clock_ns(clock, record->start + record->duration);
	if (end_ns > channel->end_ns)
		channel->end_ns = end_ns;
	if (record->event != NCS_EVENT_PROXY_STEP)
		return 0;
	note_first(channel, clock, record);
	note_moment(channel, clock, record);
	ncs_step_split(record, ticks);
	channel->steps++;
	channel->bytes += record->value;
	for (unsigned i = NCS_STEP_FIRST_WAIT; i < NCS_STEP_TIMES; i++)
		channel->wait_ns[ncs_step_state(channel->send, i)] +=
			ncs_clock_duration_ns(clock, ticks[i]);
	return 0;
}

/* Returns the mean time on the wire in ns of a channel that has steps. */
static double wire_time(const struct ncs_part_channel *channel)
{
	return (double)channel->wait_ns[NCS_CHANNEL_SEND_WAIT] /
	       (double)channel->steps;
}

void ncs_part_channels_sum(const struct ncs_part_channels *channels,
			   struct ncs_part *part)
{
	bool is_known = !(part->flags & NCS_PART_LEFT_OUT);
	uint64_t last_ns = 0;

	part->channels = (uint32_t)channels->count;
	for (size_t i = 0; i < channels->count; i++) {
		const struct ncs_part_channel *channel = &channels->all[i];

		is_known &= channel->moments == channel->steps;
		if (channel->last_ns > last_ns)
			last_ns = channel->last_ns;
		for (unsigned k = 0; k < NCS_CHANNEL_STATE_COUNT; k++)
			part->wait_ns[k] += channel->wait_ns[k];
		if (channel->steps > 0 &&
		    channel->end_ns > part->slowest.end_ns)
			part->slowest = *channel;
		if (channel->steps > 0 && channel->send &&
		    (part->wire.steps == 0 ||
		     wire_time(channel) > wire_time(&part->wire)))
			part->wire = *channel;
	}
	if (is_known)
		part->last_data_ns = last_ns;
}

/* --- Links ---------------------------------------------------------------- */

/* Returns the place of a link; link_count if there is none. */
static uint32_t find_link(const struct ncs_part *part, int32_t peer, bool send)
{
	uint32_t place = 0;

	while (place < part->link_count && (part->links[place].peer != peer ||
					    part->links[place].send != send))
		place++;
	return place;
}

const struct ncs_part_link *ncs_part_link_of(const struct ncs_part *part,
					     int32_t peer, bool send)
{
	uint32_t place = find_link(part, peer, send);

	return place < part->link_count ? &part->links[place] : NULL;
}

/* Returns the sum of a channel's moments since `begin_ns`. */
static double since(const struct ncs_part_channel *channel, uint64_t begin_ns)
{
	return (double)(int64_t)(channel->moments_ns -
				 channel->moments * begin_ns);
}

void ncs_part_channels_link(const struct ncs_part_channels *channels,
			    struct ncs_part *part)
{
	uint64_t begin_ns = part->at_ns[NCS_MOMENT_OPERATION];
	double moments[NCS_PART_LINKS] = { 0 }, waits[NCS_PART_LINKS] = { 0 };
	bool unknown[NCS_PART_LINKS] = { false };

	part->link_count = 0;
	for (size_t i = 0; i < channels->count; i++) {
		const struct ncs_part_channel *channel = &channels->all[i];
		uint32_t place = find_link(part, channel->peer, channel->send);
		struct ncs_part_link *link = &part->links[place];

		if (channel->steps == 0 || place == NCS_PART_LINKS)
			continue;
		if (place == part->link_count) {
			*link = (struct ncs_part_link){ .peer = channel->peer,
							.send = channel->send };
			part->link_count++;
		}
		link->channels++;
		link->steps += (uint32_t)channel->steps;
		moments[place] += since(channel, begin_ns);
		waits[place] += (double)channel->wait_ns[NCS_CHANNEL_RECV_WAIT];
		unknown[place] |= channel->moments != channel->steps;
	}
	for (uint32_t i = 0; i < part->link_count; i++) {
		struct ncs_part_link *link = &part->links[i];
		double mean_ns = moments[i] / link->steps;

		link->wait_ns = (float)(waits[i] / link->steps);
		/* It may be nonsense, which fits into no integer. */
		if (!unknown[i] && mean_ns > 0 && mean_ns < 1e18)
			link->mean_ns = begin_ns + (uint64_t)mean_ns;
	}
}

double ncs_link_message_ns(const struct ncs_part_link *send,
			   const struct ncs_part_link *receive)
{
	double message_ns;

	if (send->mean_ns == 0 || receive->mean_ns <= send->mean_ns ||
	    send->steps != receive->steps)
		return 0;
	message_ns = (double)(receive->mean_ns - send->mean_ns);
	return message_ns < (double)receive->wait_ns ? message_ns :
						       (double)receive->wait_ns;
}

/* --- First data ----------------------------------------------------------- */

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

	if (count > COMPARED_MAX)
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
