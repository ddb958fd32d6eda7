/* SPDX-License-Identifier: MIT */
/* Handles: the numbers that NCCL gets for events and hands back later.
 *
 * A handle is never a pointer: NCCL may hand back one that is stale, stopped
 * twice, zero, or from another process (PXN), and the plugin must recognise
 * each of these without dereferencing it. Pure functions.
 *
 *   bits  0- 3  kind          bits 10-19  slot
 *   bits  4- 9  communicator  bits 20-23  lane
 *   bits 24-63  low 40 bits of the slot's tag
 *
 * Proxy operations and steps, which most callbacks are about, have no tag.
 * Their slots hold the whole handle, and bits 24-63 count the slot's uses. The
 * slot number of a step takes 13 bits, 10-22.
 */
#ifndef NCS_PLUGIN_STATE_HANDLE_H
#define NCS_PLUGIN_STATE_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

enum ncs_handle_kind {
	NCS_HANDLE_NONE = 0,
	NCS_HANDLE_SPAN = 1,
	NCS_HANDLE_OPERATION = 2,
	NCS_HANDLE_PROXY_OP = 3,
	NCS_HANDLE_STEP = 4,
	NCS_HANDLE_CTRL = 5,
	/* Stand-ins for events that are not followed, so that NCCL has a handle
	 * and their children can be recognised: events of another process, and
	 * events that found no free slot. */
	NCS_HANDLE_FOREIGN = 6,
	NCS_HANDLE_UNTRACKED = 7,
	/* A handle for two plugins: plugin/chain/handle_pairs.h. */
	NCS_HANDLE_PAIR = 8,
	/* Marks a slot that is being filled; NCCL never gets it. */
	NCS_HANDLE_CLAIMED = 15,
};

struct ncs_handle {
	enum ncs_handle_kind kind;
	unsigned comm;
	unsigned slot;
	unsigned lane;
	uint64_t tag; /* low 40 bits */
};

#define NCS_HANDLE_SLOT_SHIFT 10
#define NCS_HANDLE_TAG_SHIFT 24
#define NCS_HANDLE_TAG_MASK ((UINT64_C(1) << 40) - 1)

/* Packs the parts of a handle into a word. */
static inline uint64_t ncs_handle_encode(enum ncs_handle_kind kind,
					 unsigned comm, unsigned slot,
					 unsigned lane, uint64_t tag)
{
	return (uint64_t)kind | (uint64_t)(comm & 0x3f) << 4 |
	       (uint64_t)(slot & 0x3ff) << NCS_HANDLE_SLOT_SHIFT |
	       (uint64_t)(lane & 0xf) << 20 | tag << NCS_HANDLE_TAG_SHIFT;
}

/* Unpacks a handle, which may be any value. */
static inline struct ncs_handle ncs_handle_decode(uint64_t value)
{
	struct ncs_handle handle;

	handle.kind = (enum ncs_handle_kind)(value & 0xf);
	handle.comm = (unsigned)(value >> 4 & 0x3f);
	handle.slot = (unsigned)(value >> 10 & 0x3ff);
	handle.lane = (unsigned)(value >> 20 & 0xf);
	handle.tag = value >> 24;
	return handle;
}

/* Returns nonzero if the handle was made for the current use of a slot with
 * this tag. */
static inline int ncs_handle_matches(const struct ncs_handle *handle,
				     uint64_t tag)
{
	return (tag & 1) && (tag & NCS_HANDLE_TAG_MASK) == handle->tag;
}

/* The next three functions are for slots that hold the whole handle. */

/* Returns the initial value of a slot, which is free. */
static inline uint64_t ncs_handle_free(unsigned comm, unsigned slot)
{
	return (uint64_t)(comm & 0x3f) << 4 | (uint64_t)(slot & 0x1fff) << 10;
}

/* Returns the handle for the next use of a free slot. */
static inline uint64_t ncs_handle_next(uint64_t free_handle,
				       enum ncs_handle_kind kind)
{
	return free_handle + (UINT64_C(1) << 24) + (uint64_t)kind;
}

/* Returns the value of a slot that becomes free. */
static inline uint64_t ncs_handle_freed(uint64_t handle)
{
	return handle & ~UINT64_C(0xf);
}

/* Returns true if the handle is of this kind. */
static inline bool ncs_handle_is(uint64_t handle, enum ncs_handle_kind kind)
{
	return (handle & 0xf) == (uint64_t)kind;
}

/* Returns the communicator of a handle, which may be any value. */
static inline unsigned ncs_handle_comm(uint64_t handle)
{
	return (unsigned)(handle >> 4 & 0x3f);
}

/* Returns the 13-bit slot of a handle, which may be any value. */
static inline unsigned ncs_handle_slot(uint64_t handle)
{
	return (unsigned)(handle >> 10 & 0x1fff);
}

#endif
