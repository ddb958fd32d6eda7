/* SPDX-License-Identifier: MIT */
/* Runs ncclstat once on each of many machines, by ssh: for its output, and to fetch
 * what their archives keep. Must not know what it is asked there, nor what is in an
 * archive. Not thread-safe.
 */
#ifndef NCS_FLEET_LAUNCH_EVERYWHERE_H
#define NCS_FLEET_LAUNCH_EVERYWHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

/* --- Archives ------------------------------------------------------------- */

/* The archives of other machines, as far as they keep a job, fetched by ssh and tar into a
 * directory of this machine that has a folder for each, as if they shared one. The
 * directory goes at the end, however the program ends. */
struct ncs_fetch {
	/* The command of ncclstat there, and ssh; the rest does not count. */
	struct ncs_agent_call call;
	const char *job;     /* a pattern */
	const char *archive; /* its directory there; NULL: the default */
	/* Is told why nothing comes from a host. */
	void (*failed)(const char *host, const char *why);
	/* Set by ncs_fetch_begin(). */
	char path[4000];
	char kept[4000 + 8]; /* has a folder for each host that gave all */
	int alive;           /* the directory goes once this is closed */
	pid_t remover;       /* the process that removes it */
};

/* Makes the directory, in $TMPDIR or /tmp. Returns 0 or -errno; end it only after 0. */
int ncs_fetch_begin(struct ncs_fetch *fetch);

/* Fetches from hosts, 16 at a time: of each 2 GiB at most, within two minutes; that takes
 * twice the room while it is unpacked. Returns the number of those from which all has
 * come; of the others nothing is kept. */
size_t ncs_fetch_from(struct ncs_fetch *fetch,
		      const struct ncs_hostlist *hosts);

/* Removes the directory. */
void ncs_fetch_end(struct ncs_fetch *fetch);

#endif
