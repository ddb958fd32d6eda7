/* SPDX-License-Identifier: MIT */
/* When the kernels of a captured job ran: what a GPU does that is told to
 * behave as the one that the call logs are from.
 *
 * A log tells when a kernel ran by its KernelCh events, which have the GPU's
 * time, or that it ended by its proxy operations. Where it tells neither, a
 * kernel begins once it is launched and its stream is free, and takes a time
 * that its number of elements suggests. In no case does a collective's kernel
 * end before it has begun in all ranks of the job, nor one that receives before
 * the one that sends has begun: the GPUs' clocks are known to some 10 us only.
 *
 * Pure. Times are those of the logs, CLOCK_MONOTONIC when they were recorded.
 */
#ifndef NCS_TEST_HOST_LAUNCH_PLAN_H
#define NCS_TEST_HOST_LAUNCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/host/calllog.h"

/* A time that never comes. */
#define LAUNCH_NEVER UINT64_MAX

struct launch_plan {
	size_t call;		/* the start of KernelLaunch */
	void *stream;
	bool captured;		/* into a CUDA graph: no kernel begins */
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t least_ns;	/* from its begin in all ranks to its end */
	size_t number;		/* among all launches of the job, from 0 */
	/* The numbers of those that must have begun before it ends: a
	 * collective's in the other ranks, and the sends of its receives. None
	 * if it has proxies: these end as their log says, and so does it. */
	size_t *others;
	size_t other_count;
};

struct launch_plans {
	struct launch_plan *all;	/* in the order of calls */
	size_t count;
	size_t job_count;		/* launches of all logs */
};

/* Plans the launches of the logs of one job; plans[i] are those of logs[i].
 * Returns 0 or -ENOMEM. Free each of the plans with launch_plans_free(). */
int launch_plans_make(const struct calllog *const *logs, size_t count,
	struct launch_plans *plans);
void launch_plans_free(struct launch_plans *plans);

/* Returns the launch that a call starts; NULL if it starts none. */
const struct launch_plan *launch_plan_of(const struct launch_plans *plans,
	size_t call);

#endif
