/* SPDX-License-Identifier: MIT */
/* How much of a processor a view of many nodes may take: looks for which it has
 * no time are left out. Pure; not thread-safe.
 */
#ifndef NCS_TUI_SCREEN_ALLOWANCE_H
#define NCS_TUI_SCREEN_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

/* A sixth of a core, over time; so much more at once, as the first looks need;
 * and one look in so many, whatever it takes. */
#define NCS_ALLOWANCE_SHARE 6u
#define NCS_ALLOWANCE_BURST_NS UINT64_C(1000000000)
#define NCS_ALLOWANCE_ONE_IN 10u

/* One of zeros has taken nothing. */
struct ncs_allowance {
	uint64_t at_ns;    /* of the latest call, */
	uint64_t used_ns;  /* and the time that was used until then */
	uint64_t over_ns;  /* of that, what was beyond the share */
	unsigned left_out; /* looks since the latest one */
};

/* Whether there is time for a look at now_ns (CLOCK_MONOTONIC), if the process
 * has used used_ns of processors until then. */
static inline bool ncs_allowance_permits(struct ncs_allowance *allowance,
					 uint64_t now_ns, uint64_t used_ns)
{
	uint64_t share_ns = (now_ns - allowance->at_ns) / NCS_ALLOWANCE_SHARE;
	uint64_t over_ns = allowance->over_ns + (used_ns - allowance->used_ns);

	allowance->over_ns = over_ns > share_ns ? over_ns - share_ns : 0;
	allowance->at_ns = now_ns;
	allowance->used_ns = used_ns;
	if (allowance->over_ns >= NCS_ALLOWANCE_BURST_NS &&
	    ++allowance->left_out < NCS_ALLOWANCE_ONE_IN)
		return false;
	allowance->left_out = 0;
	return true;
}

#endif
