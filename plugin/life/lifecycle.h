/* SPDX-License-Identifier: MIT */
/* The life cycle: init and finalize of communicators, fork and exit of the
 * process.
 *
 * Never called by event callbacks: everything here may lock, allocate and call
 * the kernel. Callbacks find communicators in state/registry.h.
 */
#ifndef NCS_PLUGIN_LIFE_LIFECYCLE_H
#define NCS_PLUGIN_LIFE_LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/nccl/environment.h"
#include "plugin/nccl/nccl_abi.h"

/* NCCL's arguments of init. Those that an API version does not pass are -1, 0
 * or NULL. */
struct ncs_init {
	unsigned api_version;
	uint64_t comm_id;
	bool has_comm_id;
	const char *comm_name;
	int nnodes;
	int nranks;
	int rank;
	uint32_t *mask; /* the activation mask, which all communicators share */
	nccl_debug_logger logger; /* NULL if there is none */
	const void *caller;       /* an address in NCCL's code */
};

/* Makes a communicator and its context for NCCL. Never fails: if the
 * communicator cannot be published, callbacks ignore the context, and one line
 * of the log says why. */
void ncs_process_init_comm(const struct ncs_init *init, void **context);

/* Asks NCCL for a communicator's events, and publishes the communicator. To be
 * called before NCCL's init returns, and after a chained plugin has said which
 * events it asks for. */
void ncs_process_publish_comm(const struct ncs_init *init, void *context);
/* Ends a communicator. Does nothing if the context, which may be any value, is
 * not ours. */
void ncs_process_finalize_comm(void *context);

/* Logs a line by NCCL's logger, if there is one. `format` is printf()'s. */
__attribute__((format(printf, 3, 4))) void
ncs_process_log(const struct ncs_init *init, enum nccl_log_level level,
		const char *format, ...);

/* Sets the function to call in a forked child after the lower floors have
 * forgotten the parent's communicators. It serves the floor above, which this
 * one must not know; there is only one such function. */
void ncs_process_on_fork(void (*forget)(void));

/* Returns the settings from the environment; valid from the first init on. */
const struct ncs_environment *ncs_process_environment(void);

#endif
