/* SPDX-License-Identifier: MIT */
/* Links of a part; see part_links.h. */
#include "analysis/records/part_links.h"

static struct ncs_part_link *find(struct ncs_part *part,
				  const struct ncs_part_channel *channel)
{
	for (uint32_t i = 0; i < part->link_count; i++)
		if (part->links[i].peer == channel->peer &&
		    part->links[i].send == channel->send)
			return &part->links[i];
	return NULL;
}

static struct ncs_part_link *add(struct ncs_part *part,
				 const struct ncs_part_channel *channel)
{
	struct ncs_part_link *link = find(part, channel);

	if (link || part->link_count == NCS_PART_LINKS)
		return link;
	link = &part->links[part->link_count++];
	*link = (struct ncs_part_link){ .peer = channel->peer,
					.send = channel->send };
	return link;
}

/* Returns the sum of a channel's moments since `begin_ns`. */
static double since(const struct ncs_part_channel *channel, uint64_t begin_ns)
{
	return (double)(int64_t)(channel->moments_ns -
				 channel->moments * begin_ns);
}

void ncs_part_links_make(const struct ncs_part_channel *channels, size_t count,
			 struct ncs_part *part)
{
	uint64_t begin_ns = part->at_ns[NCS_MOMENT_OPERATION];
	double moments[NCS_PART_LINKS] = { 0 }, waits[NCS_PART_LINKS] = { 0 };
	bool unknown[NCS_PART_LINKS] = { false };

	part->link_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct ncs_part_channel *channel = &channels[i];
		struct ncs_part_link *link =
			channel->steps > 0 ? add(part, channel) : NULL;
		size_t place = link ? (size_t)(link - part->links) : 0;

		if (!link)
			continue;
		link->channels++;
		link->steps += (uint32_t)channel->steps;
		moments[place] += since(channel, begin_ns);
		waits[place] += (double)channel->wait_ns
					[channel->send ? NCS_CHANNEL_SEND_WAIT :
							 NCS_CHANNEL_RECV_WAIT];
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

const struct ncs_part_link *ncs_part_link_of(const struct ncs_part *part,
					     int32_t peer, bool send)
{
	for (uint32_t i = 0; i < part->link_count; i++)
		if (part->links[i].peer == peer && part->links[i].send == send)
			return &part->links[i];
	return NULL;
}

double ncs_link_message_ns(const struct ncs_part_link *send,
			   const struct ncs_part_link *receive)
{
	double message_ns;

	if (send->mean_ns == 0 || receive->mean_ns <= send->mean_ns ||
	    send->steps != receive->steps)
		return 0;
	message_ns = (double)(receive->mean_ns - send->mean_ns);
	return message_ns < (double)receive->wait_ns ?
		       message_ns :
		       (double)receive->wait_ns;
}
