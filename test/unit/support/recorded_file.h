/* SPDX-License-Identifier: MIT */
/* A file of a recording as a row of chunks, for tests of who writes them. It
 * takes nothing on trust: each chunk must be good, and the file must end as one
 * that was closed does. */
#ifndef NCS_TEST_UNIT_SUPPORT_RECORDED_FILE_H
#define NCS_TEST_UNIT_SUPPORT_RECORDED_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "record/format/chunk.h"

struct recorded_chunk {
	struct ncs_chunk header;
	uint64_t offset;
	char *payload; /* unpacked */
};

struct recorded_file {
	struct recorded_chunk *chunks;
	size_t count;
	uint64_t bytes;
};

/* Asserts what is said above, and that indexes name all chunks. */
void recorded_file_read(struct recorded_file *file, const char *path);
void recorded_file_release(struct recorded_file *file);

/* The one of a type that comes next, from the index *at on, which is moved
 * behind it. NULL: no more. */
const struct recorded_chunk *
recorded_file_next(const struct recorded_file *file, uint32_t type, size_t *at);
size_t recorded_file_count(const struct recorded_file *file, uint32_t type);

/* Makes the state of which the next part is at *at: the segment, `bytes` long,
 * of keys before it and of what has changed. Moves *at behind its last part.
 * Its head is put into *head. */
void recorded_file_state(const struct recorded_file *file, size_t *at,
			 char *segment, size_t bytes,
			 struct ncs_state_head *head);

#endif
