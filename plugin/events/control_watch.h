/* SPDX-License-Identifier: MIT */
/* Requests from viewers to change the level of detail while the job runs.
 *
 * A request is one word of the control object (ncclstat/control_object.h). The
 * plugin checks it at the start of each group of calls: two loads and a
 * comparison while there is no new request and no lease. Other processes write
 * the object, so each of its values is checked before use, and none of them is
 * an address or an index.
 */
#ifndef NCS_PLUGIN_EVENTS_CONTROL_WATCH_H
#define NCS_PLUGIN_EVENTS_CONTROL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/nccl/environment.h"
#include "plugin/state/comm.h"
#include "plugin/state/registry.h"

/* Handles a new request or the end of a lease. May be called on several threads
 * at the same time: one of them handles it, the others return without waiting.
 * `lane` is the calling thread's. */
void ncs_control_update(struct ncs_lane_state *lane, uint64_t now);

/* Checks for a new request at the start of a group of calls. */
static inline void ncs_control_check(struct ncs_lane_state *lane, uint64_t now)
{
	const struct ncs_control_watch *watch = &ncs_registry.control;

	if (__builtin_expect(ncs_load_relaxed(watch->request) !=
				     ncs_load_relaxed(&watch->dealt_with),
			     0))
		ncs_control_update(lane, now);
}

/* Creates the control object. The settings that apply without a request are those of
 * the environment. Call it at the first init, before there is a communicator. Returns
 * 0, or -errno: then there will be no requests. */
int ncs_control_open(const struct ncs_environment *config,
		     const struct ncs_process *process, unsigned api_version);

/* Publishes the settings in force in a new communicator's segment. Called at
 * init. */
void ncs_control_join(struct ncs_comm *comm);

/* Removes the object's name. Called at exit. */
void ncs_control_unlink(void);

/* For a forked child: forgets the parent's object and its requests. The child's
 * first init sets its own settings. */
void ncs_control_forget(void);

#endif
