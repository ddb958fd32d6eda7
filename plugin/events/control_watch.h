/* SPDX-License-Identifier: MIT */
/* What the process was asked for from outside while it runs, and doing it.
 *
 * The request is one word of the control object (ncclstat/control_object.h),
 * looked at as each group of calls begins: two loads and a comparison, as long
 * as nobody has asked for anything new and no lease is in force. All else is
 * apart. The object is written by others: no value in it is used before it was
 * checked, and nothing in it is an address or an index.
 */
#ifndef NCS_PLUGIN_EVENTS_CONTROL_WATCH_H
#define NCS_PLUGIN_EVENTS_CONTROL_WATCH_H

#include <stdint.h>

#include "plugin/state/comm.h"
#include "plugin/nccl/environment.h"

struct ncs_control_watch {
	/* The request's word; where there is no control object, `dealt_with`:
	 * then nothing is ever new. Set before the first callback. */
	const uint64_t *request;
	/* The request that was dealt with last; while a lease is in force, a
	 * value that no request has, so that each group looks whether it still
	 * is. */
	uint64_t dealt_with;
};

extern struct ncs_control_watch ncs_control_watch;

/* Deals with what is new. Any thread; of several at a time one does it, and the
 * others go on without waiting. The lane is the calling thread's. */
void ncs_control_update(struct ncs_lane_state *lane, uint64_t now);

/* A group of calls begins. */
static inline void ncs_control_check(struct ncs_lane_state *lane, uint64_t now)
{
	if (__builtin_expect(
		    ncs_load_relaxed(ncs_control_watch.request) !=
			    ncs_load_relaxed(&ncs_control_watch.dealt_with),
		    0))
		ncs_control_update(lane, now);
}

/* What holds as long as nobody asks for anything else. */
struct ncs_control_start {
	const char *directory;
	const struct ncs_process *process;
	unsigned api_version;
	enum ncs_kernel_timing kernel_timing;
	uint32_t kernel_period; /* of SAMPLED, a power of two */
};

/* From the first init, before there is a communicator: makes the control
 * object. 0 or -errno: nobody can ask for anything then. */
int ncs_control_open(const struct ncs_control_start *start);

/* From init: the communicator's segment tells what is in force, from now on. */
void ncs_control_join(struct ncs_comm *comm);

/* At exit: removes the object's name. */
void ncs_control_unlink(void);

/* In a forked child: the object is its parent's, and so is what was asked for
 * by it. What is in force the child's first init sets anew. */
void ncs_control_forget(void);

#endif
