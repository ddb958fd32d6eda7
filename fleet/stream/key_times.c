/* SPDX-License-Identifier: MIT */
/* When looks are due that can be read by themselves; see key_times.h. */
#include "fleet/stream/key_times.h"

static bool are_level(const struct ncs_key_ranks *ranks)
{
	return ranks->ranks > 0 && ranks->level >= ranks->ranks - ranks->level;
}

/* Whether ranks are in what they were in then, and most of those that are level
 * have digests. Otherwise states differ from those of then in all looks, and
 * another look to which they are relative makes them smaller. */
static bool is_settled(const struct ncs_key_times *times,
		       const struct ncs_key_ranks *ranks)
{
	return ranks->has_digests && are_level(ranks) == times->was_level &&
	       ranks->digests >= ranks->level / 2;
}

void ncs_key_times_note(struct ncs_key_times *times, uint64_t now_ns,
			const struct ncs_key_ranks *ranks)
{
	times->latest_ns = now_ns;
	times->was_level = are_level(ranks);
}

bool ncs_key_times_are_due(const struct ncs_key_times *times, uint64_t now_ns,
			   const struct ncs_key_ranks *ranks)
{
	uint64_t every_ns = is_settled(times, ranks) ?
				    NCS_KEY_SETTLED_EVERY_NS :
				    NCS_KEY_EVERY_NS;
	uint64_t shift_ns = times->phase % every_ns;

	return times->latest_ns == 0 ||
	       (now_ns + shift_ns) / every_ns !=
		       (times->latest_ns + shift_ns) / every_ns;
}
