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

/* The chained plugin, once ncs_next_load() has succeeded. Its functions get what
 * NCCL passes, except for init. */
struct ncs_next {
	unsigned version;      /* the table's */
	uint32_t known_events; /* by that version, as bits of a mask */
	const char *name;
	const struct nccl_profiler *table;
};

extern struct ncs_next ncs_next;

/* Initializes a communicator. `mask` points to the word in which the plugin
 * stores the events that it asks for. */
enum nccl_result ncs_next_init(const struct ncs_init *init, void **context,
			       int *mask);

#endif
