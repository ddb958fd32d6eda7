/* SPDX-License-Identifier: MIT */
/* Fetches what the archives of other machines keep of a job, by ssh and tar: into a
 * directory of this machine that has a folder for each, as if they shared one. The
 * directory goes at the end, however the program ends. Must not know what is in an
 * archive. Not thread-safe.
 */
#ifndef NCS_FLEET_LAUNCH_FETCH_H
#define NCS_FLEET_LAUNCH_FETCH_H

#include <stddef.h>
#include <sys/types.h>

#include "fleet/launch/hostlist.h"
#include "fleet/launch/launchers.h"

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
	int alive;     /* the directory goes once this is closed */
	pid_t remover; /* the process that removes it */
};

/* Makes the directory, in $TMPDIR or /tmp. Returns 0 or -errno; end it only after 0. */
int ncs_fetch_begin(struct ncs_fetch *fetch);

/* Fetches from hosts, 16 at a time: of each 2 GiB at most, within two minutes; that takes
 * twice the room while it is unpacked. Returns the number of those from which all has
 * come; of the others nothing is kept. */
size_t ncs_fetch_from(struct ncs_fetch *fetch, const struct ncs_hostlist *hosts);

/* Removes the directory. */
void ncs_fetch_end(struct ncs_fetch *fetch);

#endif
