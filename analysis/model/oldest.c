/* SPDX-License-Identifier: MIT */
/* The longest wait of a rank; see oldest.h. */
#include "analysis/model/oldest.h"

#include "analysis/model/launch_waits.h"

struct ncs_oldest ncs_rank_oldest(const struct ncs_rank *rank)
{
	struct ncs_wait channels = ncs_oldest_wait(rank);
	struct ncs_launch_wait launch;

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
