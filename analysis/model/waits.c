/* SPDX-License-Identifier: MIT */
/* Waits from the states of channels; see waits.h. */
#include "analysis/model/waits.h"

#include <stddef.h>

#include "analysis/model/model.h"

uint64_t ncs_wait_ns(const struct ncs_rank *rank,
		     const struct ncs_channel_view *channel)
{
	uint64_t end_ns = ncs_rank_end_ns(rank);

	if (channel->state == NCS_CHANNEL_IDLE || channel->since_ns == 0 ||
	    end_ns < channel->since_ns)
		return 0;
	return end_ns - channel->since_ns;
}

uint64_t ncs_age_ns(const struct ncs_rank *rank, uint64_t since_ns)
{
	uint64_t end_ns = ncs_rank_end_ns(rank);

	return since_ns != 0 && end_ns > since_ns ? end_ns - since_ns : 0;
}

struct ncs_wait ncs_oldest_wait(const struct ncs_rank *rank)
{
	struct ncs_wait oldest = { .rank = rank };

	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];
		uint64_t duration_ns = ncs_wait_ns(rank, channel);

		if (channel->state == NCS_CHANNEL_IDLE ||
		    (oldest.channel && duration_ns <= oldest.duration_ns))
			continue;
		oldest.channel = channel;
		oldest.duration_ns = duration_ns;
	}
	return oldest;
}

uint64_t ncs_job_end_ns(const struct ncs_model *model)
{
	uint64_t end_ns = 0;

	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (ncs_rank_is_live(rank))
			return 0;
		if (ncs_rank_end_ns(rank) > end_ns)
			end_ns = ncs_rank_end_ns(rank);
	}
	return end_ns;
}
