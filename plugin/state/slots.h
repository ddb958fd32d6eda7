/* SPDX-License-Identifier: MIT */
/* Slots of operations: looking one up, and the word that counts its children.
 *
 * Called by callbacks on any thread: no lock, no allocation, no system call.
 * Only plugin/events/operation.c changes a slot.
 */
#ifndef NCS_PLUGIN_STATE_SLOTS_H
#define NCS_PLUGIN_STATE_SLOTS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/state/comm.h"
#include "plugin/state/handle.h"

/* `children` of struct ncs_operation_slot is one word, so that it changes as a
 * whole:
 *   bits  0-15  number of children in progress; each has a slot, so that there
 *               are never as many
 *   bits 16-39  number of children started; stays at its greatest value
 *   bit  40     the operation is counted in operations_done
 *   bit  41     the operation's launch is followed, and not over yet
 *   bits 42-63  owner of the slot, derived from the operation's tag
 * Several threads may start and end children at the same time (from NCCL 2.31
 * on a thread of its own reports kernels), while another operation claims the
 * slot. A child or a launch in progress keeps the slot. The last one in progress
 * counts the operation while it still keeps the slot, and undoes that if another
 * child has started in the meantime. No thread waits. */
#define NCS_CHILD_LIVE UINT64_C(1)
#define NCS_CHILDREN_LIVE UINT64_C(0xffff)
#define NCS_CHILD_STARTED (UINT64_C(1) << 16)
#define NCS_CHILDREN_STARTED UINT64_C(0xffffff0000)
#define NCS_CHILDREN_COUNTED (UINT64_C(1) << 40)
#define NCS_LAUNCH_PENDING (UINT64_C(1) << 41)
#define NCS_CHILDREN_OWNER_SHIFT 42

static_assert(NCS_PROXY_OP_MAX + NCS_LANE_MAX * NCS_SPAN_MAX <
		      NCS_CHILDREN_LIVE,
	      "children in progress can be counted");

/* Returns the number of children in progress. */
static inline uint64_t ncs_children_live(uint64_t children)
{
	return children & NCS_CHILDREN_LIVE;
}

/* Returns true if a child or the launch is in progress. */
static inline bool ncs_children_in_progress(uint64_t children)
{
	return (children & (NCS_CHILDREN_LIVE | NCS_LAUNCH_PENDING)) != 0;
}

/* Returns the number of children started. */
static inline uint64_t ncs_children_started(uint64_t children)
{
	return (children & NCS_CHILDREN_STARTED) / NCS_CHILD_STARTED;
}

/* Returns the word after another child has started, with the operation not
 * counted. */
static inline uint64_t ncs_children_with_another(uint64_t children)
{
	uint64_t full = (children & NCS_CHILDREN_STARTED) ==
			NCS_CHILDREN_STARTED;

	return (children & ~NCS_CHILDREN_COUNTED) + NCS_CHILD_LIVE +
	       (full ? 0 : NCS_CHILD_STARTED);
}

/* Returns the word for an operation with this tag and without children. */
static inline uint64_t ncs_children_none(uint64_t tag)
{
	return (tag + 1) / 2 << NCS_CHILDREN_OWNER_SHIFT;
}

/* Returns true if the slot still belongs to the operation with this tag. */
static inline bool ncs_children_are_of(uint64_t children, uint64_t tag)
{
	return children >> NCS_CHILDREN_OWNER_SHIFT ==
	       ncs_children_none(tag) >> NCS_CHILDREN_OWNER_SHIFT;
}

/* Returns the operation of a handle, which may be any value; NULL if it is not
 * an operation's handle, is another communicator's, or is stale. */
static inline struct ncs_operation_slot *
ncs_operation_find(struct ncs_comm *comm, uint64_t value)
{
	struct ncs_handle handle = ncs_handle_decode(value);
	struct ncs_operation_slot *op;

	if (handle.kind != NCS_HANDLE_OPERATION || handle.comm != comm->index ||
	    handle.slot >= comm->operation_count)
		return NULL;
	op = &comm->ops[handle.slot];
	return ncs_handle_matches(&handle, ncs_load_relaxed(&op->tag)) ? op :
									 NULL;
}

#endif
