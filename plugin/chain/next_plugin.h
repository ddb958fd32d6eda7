/* SPDX-License-Identifier: MIT */
/* Loading and calling the chained plugin: its library, and the table of
 * functions that fits NCCL's version of the API.
 *
 * The table's version may be older than that of NCCL. From version 5 on
 * descriptors only grow at their end, and those of version 4 are those of
 * version 5 with a type of one byte, so a table of version 4 or later can take
 * the descriptors of later versions as they are. It must not be given events
 * that its version does not know. chain.c decides which plugin gets which
 * event, and translates handles; this module does neither.
 */
#ifndef NCS_PLUGIN_CHAIN_NEXT_PLUGIN_H
#define NCS_PLUGIN_CHAIN_NEXT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "plugin/nccl/nccl_abi.h"
#include "plugin/life/lifecycle.h"

/* Loads the library for good, and chooses the newest table that can take the
 * descriptors of NCCL's version. Returns 0, or -errno and the reason in `why`,
 * a sentence without a full stop. May lock, allocate and run the library's
 * constructors. */
int ncs_next_load(const char *path, unsigned api_version, char *why,
		  size_t why_size);

/* The functions below are valid only after ncs_next_load() has succeeded. */

/* Return the table's version, and the plugin's name. */
unsigned ncs_next_version(void);
const char *ncs_next_name(void);

/* Returns the event types that the table's version knows, as bits of a mask. */
uint32_t ncs_next_known_events(void);

/* Call the chained plugin. `mask` points to the word in which it stores the
 * events that it asks for; `descr` and `args` are passed on as they are. */
enum nccl_result ncs_next_init(const struct ncs_init *init, void **context,
			       int *mask);
void ncs_next_start_event(void *context, void **handle,
			  union nccl_event_descr *descr);
void ncs_next_stop_event(void *handle);
void ncs_next_record_state(void *handle, unsigned state, void *args);
void ncs_next_finalize(void *context);

#endif
