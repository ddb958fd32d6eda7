/* SPDX-License-Identifier: MIT */
/* One file of a recording: where its chunks are, and what is in them.
 *
 * Nothing in the file is trusted, and it may be cut while it is read. Chunks are
 * found by the indexes of a file, and by looking for them where there is none
 * (recording_index.c, recording_scan.c); what is damaged is left out and
 * counted. Of record/ only.
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

/* A chunk, as the index tells of it or as it was found. */
struct ncs_chunk_place {
	uint64_t offset; /* of its header */
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t records;
	uint64_t lost;
	uint32_t rank;
	uint32_t bytes; /* of the payload, in the file */
	uint16_t type;
	uint16_t check; /* enum ncs_chunk_check, of the payload */
};

struct ncs_recorded_file {
	char *path;
	const char *bytes;
	size_t size;
	bool is_mapped; /* else the bytes are the caller's */
	bool has_head;
	bool has_end; /* else it is still growing, or was cut */
	struct ncs_file_head head;
	struct ncs_chunk_place *places; /* in the order of their offsets */
	size_t count;
	size_t capacity;
	uint64_t damaged; /* chunks */
	uint64_t skipped_bytes;
	char *unpacked; /* NCS_CHUNK_BYTES_MAX; NULL: was not needed yet */
};

/* A payload, unpacked; bytes NULL: it is damaged. */
struct ncs_payload {
	const char *bytes;
	size_t size;
};

/* Unmaps the file and frees what belongs to it. */
void ncs_recorded_file_release(struct ncs_recorded_file *file);

/* The header of the chunk at an offset; false: there is none that is whole and
 * ends before `limit`. */
bool ncs_recorded_file_chunk(const struct ncs_recorded_file *file,
			     uint64_t offset, uint64_t limit,
			     struct ncs_chunk *chunk);

/* Has the system read this part of the file, and no more of it: it would read
 * far around what is looked at next. */
void ncs_recorded_file_fetch(const struct ncs_recorded_file *file,
			     uint64_t offset, uint64_t bytes);

/* The payload of a place. What is packed is unpacked into `room`, of
 * NCS_CHUNK_BYTES_MAX, or, where that is NULL, into memory of the file's that
 * the next call uses again. Damage is counted once. */
struct ncs_payload ncs_recorded_file_payload(struct ncs_recorded_file *file,
					     struct ncs_chunk_place *place,
					     void *room);

/* Adds a place at the end of the list. 0 or -ENOMEM. */
int ncs_recorded_file_add(struct ncs_recorded_file *file,
			  const struct ncs_chunk_place *place);

#endif
