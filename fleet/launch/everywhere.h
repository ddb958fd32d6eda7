/* SPDX-License-Identifier: MIT */
/* Runs ncclstat once on each of many machines, by ssh, for its output. Must not know
 * what it is asked there. Not thread-safe.
 */
#ifndef NCS_FLEET_LAUNCH_EVERYWHERE_H
#define NCS_FLEET_LAUNCH_EVERYWHERE_H

#include <stdbool.h>

#include "fleet/launch/hostlist.h"
#include "fleet/launch/launchers.h"

/* The result on one machine. */
struct ncs_outcome {
	char *text; /* its standard output; NULL if it did not end */
	/* Why it failed, with what it said last; "" if it did not, or if only the text
	 * tells. */
	char why[512];
	bool is_good; /* it has ended with status 0 */
};

/* Runs ncclstat with these options on each host, 16 at a time: for a minute each, and
 * with 1 MiB of output at most. Of the call, the command and ssh count. `outcomes`,
 * which are all zeros, are as many as hosts and in their order. Returns 0, or -errno
 * if nothing could be run. */
int ncs_run_everywhere(const struct ncs_agent_call *call,
		       const struct ncs_hostlist *hosts,
		       const struct ncs_words *options,
		       struct ncs_outcome *outcomes);

/* Releases the texts. */
void ncs_outcomes_release(struct ncs_outcome *outcomes, size_t count);

#endif
