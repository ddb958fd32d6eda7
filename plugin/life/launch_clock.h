/* SPDX-License-Identifier: MIT */
/* The GPU's clock by the host's: when an event happened, in ticks, and what a
 * pair of events costs.
 *
 * Each CUDA context has one clock: a stream of its own and an event whose time
 * is known by the host's clock, renewed every few seconds. Only for the watch
 * thread; every function calls the driver, so its callers hold no lock and are
 * between ncs_cuda_begin() and ncs_cuda_end().
 */
#ifndef NCS_PLUGIN_LIFE_LAUNCH_CLOCK_H
#define NCS_PLUGIN_LIFE_LAUNCH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/nccl/cuda_driver.h"
#include "plugin/state/launches.h"

/* Members of the watch thread, unless they say otherwise. */
struct ncs_launch_clock {
	void *context;         /* NULL if unused */
	unsigned long long id; /* the context's */
	unsigned users; /* communicators whose launches are in this context */
	bool failed; /* the driver refused a call: it may be another context */
	void *stream;
	void *base, *end;    /* events */
	uint64_t base_ticks; /* 0 if it is not known yet */
	/* For all threads. */
	uint64_t error_ticks;
	uint64_t bias_ns; /* 0 if it is not known yet */
};

/* Returns the clock of a context, which is current, for a communicator more.
 * Returns NULL if there is no room, or the driver refused. */
struct ncs_launch_clock *
ncs_launch_clock_join(const struct ncs_cuda_primary *primary);

/* A communicator needs a clock no more. With the last one its events are
 * destroyed, unless their context may be gone: `current` says that it is there
 * and current. */
void ncs_launch_clock_leave(struct ncs_launch_clock *clock, bool current);

/* Compares the clocks again if that is due. The context is current. */
void ncs_launch_clock_renew(struct ncs_launch_clock *clock);

/* Fetches when the kernel of a timed launch that has ended began, and how long
 * it took, into the slot; leaves what is not known 0. `clock` may be NULL. */
void ncs_launch_clock_fetch(struct ncs_launch_clock *clock,
			    struct ncs_launch_slot *slot);

/* For a forked child: forgets the parent's clocks. */
void ncs_launch_clock_forget(void);

#endif
