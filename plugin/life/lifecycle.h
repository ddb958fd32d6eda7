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

#include "plugin/nccl/environment.h"
#include "plugin/nccl/nccl_abi.h"

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
	uint32_t *mask;           /* what NCCL is asked for, of all of them */
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

/* Calls this function in a forked child after the floors up to this one have
 * forgotten their parent's communicators: for the floors above, which this one
 * does not know. There is one such function. */
void ncs_process_on_fork(void (*forget)(void));

/* What the environment said; from the first init on. */
const struct ncs_environment *ncs_process_environment(void);

#endif
