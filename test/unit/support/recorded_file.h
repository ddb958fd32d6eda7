/* SPDX-License-Identifier: MIT */
/* A file of a recording as a sequence of chunks, for tests of its writers.
 * Every chunk must be valid, and the file must end as a closed file does.
 */
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
	size_t count, capacity;
	uint64_t bytes;
};

/* Reads a file. Asserts that it is valid and that its indexes name all chunks.
 * Release it with recorded_file_release(). */
void recorded_file_read(struct recorded_file *file, const char *path);
void recorded_file_release(struct recorded_file *file);

/* Returns the next chunk of a type, from index *at on, or NULL if there is
 * none. Moves *at behind it. */
const struct recorded_chunk *
recorded_file_next(const struct recorded_file *file, uint32_t type, size_t *at);

/* Returns the number of chunks of a type. */
size_t recorded_file_count(const struct recorded_file *file, uint32_t type);

/* Rebuilds the state whose next part is at index *at: a segment of `bytes`
 * bytes, from the key states before it and the changes. Moves *at behind its
 * last part. Copies its head to *head. */
void recorded_file_state(const struct recorded_file *file, size_t *at,
			 char *segment, size_t bytes,
			 struct ncs_state_head *head);

#endif
