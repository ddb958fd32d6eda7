/* SPDX-License-Identifier: MIT */
/* Calls of hosts: whether a host waits for its GPU, and for which share of the time it
 * worked. Private to analysis/model. Pure, but that it allocates. Times are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_HOST_CALLS_H
#define NCS_ANALYSIS_MODEL_HOST_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/host_waits.h"

struct ncs_model;
struct ncs_rank;

/* The share of the time for which a host worked: as it seems, and at least. */
struct ncs_host_share {
	double share, at_least;
};

/* The host of a process, as far as its latest calls tell. A gap is the time between two
 * calls; long gaps, in which a host waits once in a step, make most of the time. */
struct ncs_host_work {
	enum ncs_host_wait wait; /* while its GPU is idle */
	/* If it waits then … */
	struct ncs_host_share waiting;
	/* … and if it goes on with its work. */
	struct ncs_host_share going_on;
	size_t long_count; /* gaps that are long … */
	size_t idle_count; /* … and after which its GPU was idle */
	bool varies;       /* these are not always as long */
};

/* Room for the calls of one process. NULL if there is no memory. */
struct ncs_host_calls;
struct ncs_host_calls *ncs_host_calls_new(void);
void ncs_host_calls_free(struct ncs_host_calls *calls);

/* Sets *host to what the recent calls of a rank's process tell, in all of its
 * communicators, once the operations of an update have been compared. Of fewer than
 * NCS_STRAGGLER_OPERATIONS calls nothing is known, and the host did not work. Returns 0
 * or -ENOMEM. */
int ncs_host_calls_look(struct ncs_host_calls *calls,
			const struct ncs_model *model,
			const struct ncs_rank *rank, struct ncs_host_work *host);

#endif
