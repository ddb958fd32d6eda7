/* SPDX-License-Identifier: MIT */
/* The plugin that is chained to ours: its library, the table that fits, and
 * calls through it.
 *
 * The table's version need not be that of the API that NCCL speaks: from
 * version 5 on descriptors only grow at their end, and version 4's are what is
 * left of version 5's when the type is one byte, so tables down to version 4
 * get the later versions' descriptors as they are. What a table's version does
 * not know must not be given to it. Nothing here translates handles, or decides
 * who gets what: chain.c.
 */
#ifndef NCS_PLUGIN_CHAIN_NEXT_PLUGIN_H
#define NCS_PLUGIN_CHAIN_NEXT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "plugin/nccl/nccl_abi.h"
#include "plugin/life/lifecycle.h"

/* Opens the library, for good, and takes the newest table that NCCL's version
 * can be passed on to. Returns 0, or -errno and a sentence without a full stop.
 * May lock, allocate and run the library's constructors. */
int ncs_next_load(const char *path, unsigned api_version, char *why,
		  size_t why_size);

/* The rest: after it was loaded. */
unsigned ncs_next_version(void);
const char *ncs_next_name(void);

/* The event types that its version knows. */
uint32_t ncs_next_known_events(void);

enum nccl_result ncs_next_init(const struct ncs_init *init, void **context,
			       int *mask);
void ncs_next_start_event(void *context, void **handle,
			  union nccl_event_descr *descr);
void ncs_next_stop_event(void *handle);
void ncs_next_record_state(void *handle, unsigned state, void *args);
void ncs_next_finalize(void *context);

#endif
