/* SPDX-License-Identifier: MIT */
/* A chained plugin: a second profiler plugin behind ours (NCCLSTAT_CHAIN),
 * since NCCL loads only one.
 *
 * The chained plugin gets the calls that NCCL would make to it alone, with its
 * own contexts and handles; our plugin gets all calls. NCCL is asked for the
 * events that either plugin asks for, and holds handles of pairs
 * (handle_pairs.h).
 *
 * Without a chained plugin a callback pays for ncs_chain_is_on() only;
 * callbacks of a step in progress do not even call that.
 */
#ifndef NCS_PLUGIN_CHAIN_CHAIN_H
#define NCS_PLUGIN_CHAIN_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/life/lifecycle.h"
#include "plugin/state/registry.h"

/* Returns true if a plugin is chained. */
static inline bool ncs_chain_is_on(void)
{
	return __builtin_expect(ncs_registry.chained, 0);
}

/* Initializes a communicator in the chained plugin, whose library is loaded
 * with the first communicator. Called at init, when *context is our context;
 * replaces it by the handle of the pair. On failure it logs an error and leaves
 * *context unchanged. */
void ncs_chain_init_comm(const struct ncs_init *init, void **context);

/* The callbacks, for both plugins. `descr` is laid out as in `api_version`.
 * `former` points to the place where NCCL will store the new handle; until then
 * it holds the handle that NCCL forgets. ncs_chain_start_event() returns the
 * handle for NCCL; 0 if neither plugin follows the event. */
uint64_t ncs_chain_start_event(unsigned api_version, void *context,
			       void *const *former, uint64_t type,
			       const void *descr);
void ncs_chain_stop_event(void *handle);
void ncs_chain_record_state(unsigned api_version, void *handle, unsigned state,
			    void *args);
void ncs_chain_finalize_comm(void *context);

#endif
