/* Handles: what NCCL gets for an event and hands back later.
 *
 * Numbers, never pointers: NCCL may hand back one that is old, doubled, zero,
 * or of another process (PXN), and each must be told from a good one without
 * touching anything. Pure.
 *
 *   bits  0- 3  kind        bits 10-19  slot
 *   bits  4- 9  communicator          bits 20-23  lane, or step of a proxy op
 *   bits 24-63  low 40 bits of the slot's tag
 */
#ifndef NCS_PLUGIN_HANDLE_H
#define NCS_PLUGIN_HANDLE_H

#include <stdint.h>

enum ncs_handle_kind {
	NCS_HANDLE_NONE = 0,
	NCS_HANDLE_SPAN = 1,
	NCS_HANDLE_OPERATION = 2,
	NCS_HANDLE_PROXY_OP = 3,
	NCS_HANDLE_STEP = 4,
	NCS_HANDLE_CTRL = 5,
	/* Stand-ins for events that are not followed, where NCCL wants a
	 * handle or children are to be recognised: of another process, or
	 * without a free slot. */
	NCS_HANDLE_FOREIGN = 6,
	NCS_HANDLE_UNTRACKED = 7,
};

struct ncs_handle {
	enum ncs_handle_kind kind;
	unsigned comm;
	unsigned slot;
	unsigned lane; /* or step */
	uint64_t tag;  /* low 40 bits */
};

#define NCS_HANDLE_TAG_MASK ((UINT64_C(1) << 40) - 1)

static inline uint64_t ncs_handle_encode(enum ncs_handle_kind kind,
					 unsigned comm, unsigned slot,
					 unsigned lane, uint64_t tag)
{
	return (uint64_t)kind | (uint64_t)(comm & 0x3f) << 4 |
	       (uint64_t)(slot & 0x3ff) << 10 | (uint64_t)(lane & 0xf) << 20 |
	       tag << 24;
}

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

/* Whether a slot with this tag is the one that the handle was given for. */
static inline int ncs_handle_matches(const struct ncs_handle *handle,
				     uint64_t tag)
{
	return (tag & 1) && (tag & NCS_HANDLE_TAG_MASK) == handle->tag;
}

#endif
