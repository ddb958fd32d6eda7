/* SPDX-License-Identifier: MIT */
/* A second profiler plugin behind ours (NCCLSTAT_CHAIN): NCCL takes only one.
 *
 * The other gets the calls that NCCL would make if it were alone, with its own
 * contexts and handles; ours gets them all. NCCL is asked for what either of
 * them wants, and holds pairs (handle_pairs.h).
 *
 * Where no plugin is chained, ncs_chain_is_on() is all that a callback pays,
 * and that of a step under way not even that.
 */
#ifndef NCS_PLUGIN_CHAIN_CHAIN_H
#define NCS_PLUGIN_CHAIN_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/life/lifecycle.h"
#include "plugin/state/registry.h"

static inline bool ncs_chain_is_on(void)
{
	return __builtin_expect(ncs_process_state.chained, 0);
}

/* After ours has made its own of the communicator: loads the other plugin with
 * the first one, and makes its. *context is ours, and becomes the pair's. What
 * goes wrong is logged, and ours goes on alone. */
void ncs_chain_init_comm(const struct ncs_init *init, void **context);

/* The callbacks, for both plugins. `descr` is laid out as the version says.
 * Returns the handle for NCCL; 0: neither follows the event. `former`: where
 * NCCL will put it; it forgets what is there. */
uint64_t ncs_chain_start_event(unsigned api_version, void *context,
			       void *const *former, uint64_t type,
			       const void *descr);
void ncs_chain_stop_event(void *handle);
void ncs_chain_record_state(unsigned api_version, void *handle, unsigned state,
			    void *args);
void ncs_chain_finalize_comm(void *context);

#endif
