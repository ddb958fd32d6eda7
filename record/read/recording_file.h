/* SPDX-License-Identifier: MIT */
/* One file of a recording: the places of its chunks, and their payloads.
 *
 * Nothing in the file is trusted, and it may be truncated while it is read.
 * Chunks are found by the file's indexes, or by a search where there is none
 * (recording_open.c). Damaged chunks are left out and counted. Only files in record/
 * include this header. Not thread-safe.
 */
#ifndef NCS_RECORD_READ_RECORDING_FILE_H
#define NCS_RECORD_READ_RECORDING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/format/chunk.h"
#include "record/format/file_format.h"

enum ncs_chunk_check {
	NCS_PLACE_UNCHECKED,
	NCS_PLACE_GOOD,
	NCS_PLACE_DAMAGED,
};

/* A chunk as the index describes it, or as the search found it. */
struct ncs_chunk_place {
	uint64_t offset; /* offset of its header in the file */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t records;
	uint64_t lost;
	uint32_t rank;
	/* The recording's rank that it is of, which may have its number after
	 * another one; NCS_NO_RANK: none is known. */
	uint32_t owner;
	uint32_t bytes; /* length of the payload as in the file */
	uint16_t type;
	/* enum ncs_chunk_check: whether the payload is checked */
	uint16_t check;
};

struct ncs_recorded_file {
	char *path;
	const char *bytes;
	size_t size;
	bool is_mapped; /* false if the bytes are the caller's */
	bool has_head;
	bool has_end; /* false if the file is still growing, or was cut */
	struct ncs_file_head head;
	struct ncs_chunk_place *places; /* sorted by offset */
	size_t count;
	size_t capacity;
	uint64_t damaged; /* number of damaged chunks */
	uint64_t skipped_bytes;
	char *unpacked; /* NCS_CHUNK_BYTES_MAX bytes; NULL until needed */
};

/* An unpacked payload; its bytes are NULL if it is damaged. */
struct ncs_payload {
	const char *bytes;
	size_t size;
};

/* Unmaps the file and frees what belongs to it. */
void ncs_recorded_file_release(struct ncs_recorded_file *file);

/* Reads the header of the chunk at an offset. Returns false if there is no good
 * chunk that ends before `limit`. */
bool ncs_recorded_file_chunk(const struct ncs_recorded_file *file,
			     uint64_t offset, uint64_t limit,
			     struct ncs_chunk *chunk);

/* Makes the kernel read this part of the file ahead, and nothing around it. */
void ncs_recorded_file_fetch(const struct ncs_recorded_file *file,
			     uint64_t offset, uint64_t bytes);

/* Returns the payload at a place. A packed payload is unpacked into `room`,
 * which has NCS_CHUNK_BYTES_MAX bytes, or if `room` is NULL into the file's own
 * memory, which the next call reuses. Each damaged chunk is counted once. */
struct ncs_payload ncs_recorded_file_payload(struct ncs_recorded_file *file,
					     struct ncs_chunk_place *place,
					     void *room);

/* Adds a place at the end of the list. Returns 0 or -ENOMEM. */
int ncs_recorded_file_add(struct ncs_recorded_file *file,
			  const struct ncs_chunk_place *place);

/* --- Opening -------------------------------------------------------------- */

/* Opens a file: maps it, checks that it is a recording that this program can
 * read, and finds its chunks. Returns 0 or -errno; on failure sets `why` to a
 * clause for the user that names the file. On success the caller releases the
 * file. */
int ncs_recorded_file_open(struct ncs_recorded_file *file, const char *path,
			   char *why, size_t why_size);
/* Opens a file's bytes in memory, which must outlive it. The path is a name for
 * messages. */
int ncs_recorded_file_open_memory(struct ncs_recorded_file *file,
				  const void *bytes, size_t size,
				  const char *path, char *why, size_t why_size);

#endif
