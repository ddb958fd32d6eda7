/* SPDX-License-Identifier: MIT */
/* The process-wide state: configuration, clock, and the communicators.
 *
 * init, finalize, fork and exit are handled here and may lock, allocate and
 * call the kernel; the inline lookups are what callbacks use.
 */
#ifndef NCS_PLUGIN_LIFE_LIFECYCLE_H
#define NCS_PLUGIN_LIFE_LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/state/comm.h"
#include "plugin/nccl/environment.h"
#include "plugin/state/handle.h"
#include "plugin/nccl/nccl_abi.h"

struct ncs_process_state {
	uint64_t clock_kind; /* read by every callback */
	uint64_t sample_level; /* one operation in 2^sample_level is kept … */
	uint64_t slow_ticks;   /* and those under way for longer */
	/* Another plugin gets the calls too (chain.h): set by the first init,
	 * before there is anything to call back about. */
	bool chained;
	uint32_t pid;
	struct ncs_comm comms[NCS_COMM_MAX];
};

extern struct ncs_process_state ncs_process_state;

/* What NCCL tells at init; what an API version does not tell is -1, 0 or
 * NULL. */
struct ncs_init {
	unsigned api_version;
	uint64_t comm_id;
	bool has_comm_id;
	const char *comm_name;
	int nnodes;
	int nranks;
	int rank;
	uint32_t *mask;		  /* what NCCL is asked for, of all of them */
	nccl_debug_logger logger; /* NULL: none */
	const void *caller;       /* an address in NCCL */
};

/* Makes a communicator, and its context for NCCL. Never fails: where nothing
 * can be published, the context is one that every callback ignores, and one
 * line says why. */
void ncs_process_init_comm(const struct ncs_init *init, void **context);

/* Asks NCCL for the events of a communicator that was made, and lets readers
 * in: when it is known what a chained plugin asks for, and before NCCL's init
 * returns. */
void ncs_process_publish_comm(const struct ncs_init *init, void *context);
void ncs_process_finalize_comm(void *context);

/* What the environment said; from the first init on. */
const struct ncs_config *ncs_process_config(void);

static inline uint64_t ncs_now(void)
{
	return ncs_clock_ticks(ncs_process_state.clock_kind);
}

/* The communicator that a context stands for, also a finalized one; NULL:
 * none of ours. */
static inline struct ncs_comm *ncs_comm_of_context(const void *context)
{
	uint64_t value = (uint64_t)(uintptr_t)context;
	struct ncs_comm *comm =
		&ncs_process_state.comms[value >> 1 & (NCS_COMM_MAX - 1)];

	/* ORDER: pairs with admit_callbacks() (plugin/life/lifecycle.c). */
	return value != 0 && ncs_load_acquire(&comm->context) == value ? comm :
									 NULL;
}

/* The communicator of a handle. Its slot's tag must be checked by the caller.
 * NULL: that communicator does not exist. */
static inline struct ncs_comm *ncs_comm_of_handle(const struct ncs_handle *h)
{
	struct ncs_comm *comm =
		&ncs_process_state.comms[h->comm & (NCS_COMM_MAX - 1)];

	/* ORDER: pairs with admit_callbacks() (plugin/life/lifecycle.c). */
	return ncs_load_acquire(&comm->context) != 0 ? comm : NULL;
}

static inline bool ncs_comm_is_live(const struct ncs_comm *comm)
{
	/* ORDER: pairs with admit_callbacks() (plugin/life/lifecycle.c): what callbacks
	 * use of the communicator is in place. */
	return ncs_load_acquire(&comm->live) != 0;
}

/* Where to count what belongs to no communicator: the first that lives, else
 * any; NULL: there is none. */
struct ncs_comm *ncs_comm_for_strays(void);

#endif
