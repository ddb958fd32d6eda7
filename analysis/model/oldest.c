/* SPDX-License-Identifier: MIT */
/* The longest wait of a rank; see oldest.h. */
#include "analysis/model/oldest.h"

#include "analysis/model/launch_waits.h"

/* A rank that is level tells of one wait, without more. */
static struct ncs_oldest level_oldest(const struct ncs_rank *rank)
{
	const struct ncs_rank_level *level = &rank->level;
	uint64_t since_ns = level->wait_ns != 0 ? level->wait_ns :
						  level->operation_ns;

	if (since_ns == 0)
		return (struct ncs_oldest){ 0 };
	return (struct ncs_oldest){ rank, since_ns,
				    level->taken_ns > since_ns ?
					    level->taken_ns - since_ns :
					    0 };
}

struct ncs_oldest ncs_rank_oldest(const struct ncs_rank *rank)
{
	struct ncs_wait channels;
	struct ncs_launch_wait launch;

	if (ncs_rank_is_level(rank))
		return level_oldest(rank);
	channels = ncs_oldest_wait(rank);
	if (channels.channel)
		return (struct ncs_oldest){ rank, channels.channel->since_ns,
					    channels.duration_ns };
	launch = ncs_rank_launch_wait(rank);
	if (!launch.operation)
		return (struct ncs_oldest){ 0 };
	return (struct ncs_oldest){ rank, launch.since_ns, launch.duration_ns };
}

void ncs_oldest_add(struct ncs_oldest *oldest, const struct ncs_rank *rank)
{
	struct ncs_oldest own = ncs_rank_oldest(rank);

	if (own.rank && ncs_rank_is_live(rank) &&
	    (!oldest->rank || own.duration_ns > oldest->duration_ns))
		*oldest = own;
}
