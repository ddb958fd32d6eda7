/* SPDX-License-Identifier: MIT */
/* The registry: every communicator of the process, and what all of them share.
 *
 * Callbacks find the communicator of a context or handle here, without a lock.
 * The registry changes at init, finalize and fork only, under the lock of
 * plugin/life/lifecycle.c, except for the sampling level.
 */
#ifndef NCS_PLUGIN_STATE_REGISTRY_H
#define NCS_PLUGIN_STATE_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/state/comm.h"
#include "plugin/state/handle.h"
#include "shm/clock.h"

/* Requests from viewers (events/control_watch.h): the state that each group of
 * calls checks. */
struct ncs_control_watch {
	/* Address of the request's word; that of `dealt_with` if there is no
	 * control object, so that no request is ever new. Set before the first
	 * callback. */
	const uint64_t *request;
	/* The request that was handled last; during a lease its complement, so
	 * that each group of calls checks if the lease is over. */
	uint64_t dealt_with;
};

/* The one registry of the process. */
struct ncs_registry {
	/* The clock of all records; every callback reads its kind. Segments
	 * have a copy, which others can change. */
	struct ncs_clock clock;
	/* One operation in 2^sample_level keeps the records of its children. */
	uint64_t sample_level;
	/* Each operation in progress for longer than this keeps them as
	 * well. */
	uint64_t slow_ticks;
	/* True if a chained plugin gets the calls as well
	 * (plugin/chain/chain.h). The first init sets it, before there is
	 * anything to call back about. */
	bool chained;
	uint32_t pid;         /* of this process */
	uint64_t ranges_used; /* 1 once the program has set a range */
	struct ncs_control_watch control;
	struct ncs_comm comms[NCS_COMM_MAX];
};

extern struct ncs_registry ncs_registry;

/* Returns the time now, in ticks of the clock in use. */
static inline uint64_t ncs_now(void)
{
	return ncs_clock_ticks(ncs_registry.clock.kind);
}

/* Converts a duration by that clock to ns. */
static inline uint64_t ncs_ns_of_ticks(uint64_t ticks)
{
	return ncs_clock_duration_ns(&ncs_registry.clock, ticks);
}

/* Converts a duration from ns. */
static inline uint64_t ncs_ticks_of_ns(uint64_t duration_ns)
{
	return ncs_clock_duration_ticks(&ncs_registry.clock, duration_ns);
}

/* Returns the communicator of a context, which may be any value; NULL if the
 * context is not ours. A finalized communicator is returned until its entry is
 * reused. */
static inline struct ncs_comm *ncs_comm_of_context(const void *context)
{
	uint64_t value = (uint64_t)(uintptr_t)context;
	struct ncs_comm *comm =
		&ncs_registry.comms[value >> 1 & (NCS_COMM_MAX - 1)];

	/* ORDER: pairs with admit_callbacks() (plugin/life/lifecycle.c). */
	return value != 0 && ncs_load_acquire(&comm->context) == value ? comm :
									 NULL;
}

/* Returns the communicator of a handle, or NULL if there is none with its
 * number. The caller must check the tag of the handle's slot. */
static inline struct ncs_comm *ncs_comm_of_handle(const struct ncs_handle *h)
{
	struct ncs_comm *comm =
		&ncs_registry.comms[h->comm & (NCS_COMM_MAX - 1)];

	/* ORDER: pairs with admit_callbacks() (plugin/life/lifecycle.c). */
	return ncs_load_acquire(&comm->context) != 0 ? comm : NULL;
}

/* Returns true if the communicator takes events: after its init, before its
 * finalize. */
static inline bool ncs_comm_is_live(const struct ncs_comm *comm)
{
	/* ORDER: pairs with admit_callbacks() (plugin/life/lifecycle.c):
	 * everything that callbacks use of the communicator is in place. */
	return ncs_load_acquire(&comm->live) != 0;
}

/* Returns the communicator in which to count an event that belongs to none: the
 * first live one, else any; NULL if there is none. */
struct ncs_comm *ncs_comm_for_unattributed(void);

#endif
