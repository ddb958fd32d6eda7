/* SPDX-License-Identifier: MIT */
/* The memory of a communicator's private side: mapping it, and bringing it into
 * the state in which the first callback expects it.
 *
 * For init and fork only, under the lock of plugin/life/lifecycle.c, and while
 * no callback can use the communicator.
 */
#ifndef NCS_PLUGIN_STATE_COMM_MEMORY_H
#define NCS_PLUGIN_STATE_COMM_MEMORY_H

#include "plugin/state/comm.h"

/* Maps the private arrays for tables of the communicator's size and points its
 * members to them. Returns 0, or -errno with nothing changed. */
int ncs_comm_map(struct ncs_comm *comm);

/* Unmaps what ncs_comm_map() has mapped, if anything. */
void ncs_comm_unmap(struct ncs_comm *comm);

/* Points the communicator's members to the tables of its segment, which was
 * created with its size. Reads nothing in the segment: others can change it. */
void ncs_comm_bind(struct ncs_comm *comm);

/* Frees all slots that a former communicator used in this memory. Their tags
 * keep growing, so that its handles stay stale. */
void ncs_comm_free_slots(struct ncs_comm *comm);

/* Resets everything else: empties the queues and tables, and clears the
 * counters and hints. The segment must be bound. */
void ncs_comm_reset(struct ncs_comm *comm);

#endif
