/* SPDX-License-Identifier: MIT */
/* A reader from within: what reader.c and the two halves of image.h share.
 *
 * Part of the reader's half; nobody else includes it. Addresses are only made of
 * the validated header, and what they point to is read word by word.
 */
#ifndef NCS_SHM_READ_READER_INTERNAL_H
#define NCS_SHM_READ_READER_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ncclstat/reader.h"
#include "shm/atomics.h"
#include "shm/read/image.h"
#include "shm/ring.h"
#include "shm/seqlock.h"

struct ncs_reader {
	const char *mapping;
	size_t mapped_bytes;
	bool is_image; /* the mapping is somebody else's memory, and no file's */
	struct ncs_image_fate fate; /* of an image's process */
	dev_t device;
	ino_t inode;
	struct ncs_header header; /* validated; the only source of geometry */
	struct ncs_ring_cursor *cursors; /* one a lane */
	/* Slots of operations that held one at the latest look, a bit each, and
	 * how many had been given out at the latest look and the one before. */
	uint64_t *held;
	uint64_t given[2];
	uint64_t revived;
	unsigned looks; /* modulo WHOLE_LOOK_EVERY */
	char path[PATH_MAX];
};

/* Validates what is mapped and makes the rest of the reader, but for refining
 * the clock. ncs_reader_close() releases it either way. */
enum ncs_attach ncs_reader_attach(struct ncs_reader *reader, char *why,
				  size_t why_size);

static inline const void *ncs_reader_entry(const struct ncs_reader *reader,
					   const struct ncs_table *table,
					   size_t index)
{
	return reader->mapping + table->offset + index * table->stride;
}

static inline const struct ncs_header *
ncs_reader_mapped_header(const struct ncs_reader *reader)
{
	return (const struct ncs_header *)reader->mapping;
}

/* Up to minor version 1 there is no telling how far tables are filled. */
static inline bool ncs_reader_tells_filled(const struct ncs_reader *reader)
{
	return reader->header.header_bytes >=
	       offsetof(struct ncs_header, filled) + sizeof(struct ncs_filled);
}

/* Channels that need to be looked at: the first ones. */
static inline size_t ncs_reader_channels(const struct ncs_reader *reader)
{
	const struct ncs_header *header = ncs_reader_mapped_header(reader);
	size_t count = reader->header.channels.count;
	uint64_t given;

	if (!ncs_reader_tells_filled(reader))
		return count;
	given = ncs_load_relaxed(&header->filled.channels);
	return given < count ? (size_t)given : count;
}

/* The shared lane may be used without an owner. What is not used need not be
 * brought into memory. */
static inline bool ncs_reader_uses_lane(const struct ncs_reader *reader,
					size_t index)
{
	const struct ncs_lane *lane =
		ncs_reader_entry(reader, &reader->header.lanes, index);

	return index == 0 || ncs_load_relaxed(&lane->owner) != 0;
}

/* Marks in reader->held which slots of operations are to be looked at now. */
void ncs_reader_mark_operations(struct ncs_reader *reader);

static inline bool ncs_reader_holds(const struct ncs_reader *reader,
				    size_t index)
{
	return reader->held[index / 64] >> (index % 64) & 1;
}

/* Copies a marked slot; false if it is empty or just changing. An empty one is
 * not marked again before it has been given out. */
bool ncs_reader_copy_operation(struct ncs_reader *reader, size_t index,
			       struct ncs_operation *copy);

#endif
