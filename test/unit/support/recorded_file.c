/* SPDX-License-Identifier: MIT */
/* A recording as a sequence of chunks; see recorded_file.h. */
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"
#include "test/unit/support/recorded_file.h"
#include "test/unit/support/recording_fixture.h"
#include "test/unit/support/unit.h"

static void add(struct recorded_file *file, const struct ncs_chunk *header,
		const char *payload, uint64_t offset)
{
	struct recorded_chunk *chunk;

	assert_int_equal(ncs_array_reserve(&file->chunks, &file->capacity,
					   file->count + 1, sizeof(*chunk)),
			 0);
	chunk = &file->chunks[file->count++];
	chunk->header = *header;
	chunk->offset = offset;
	chunk->payload = malloc(header->unpacked_bytes + 1);
	if (ncs_chunk_is_packed(header))
		assert_true(ncs_chunk_unpack(header, payload, chunk->payload));
	else
		memcpy(chunk->payload, payload, header->bytes);
}

static const struct recorded_chunk *at_offset(const struct recorded_file *file,
					      uint64_t offset)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->chunks[i].offset == offset)
			return &file->chunks[i];
	return NULL;
}

/* Follows the indexes back to the first one; asserts that they have all chunks
 * except padding, indexes and the end. */
static void check_indexes(const struct recorded_file *file, uint64_t offset)
{
	size_t entries = 0;

	while (offset != 0) {
		const struct recorded_chunk *index = at_offset(file, offset);
		const struct ncs_index_head *head;

		assert_non_null(index);
		assert_int_equal(index->header.type, NCS_CHUNK_INDEX);
		head = (const struct ncs_index_head *)index->payload;
		assert_int_equal(head->entry_bytes,
				 sizeof(struct ncs_index_entry));
		for (size_t i = 0; i < head->count; i++) {
			const struct ncs_index_entry *entry =
				(const struct ncs_index_entry *)(head + 1) + i;
			const struct recorded_chunk *chunk =
				at_offset(file, entry->offset);

			assert_non_null(chunk);
			assert_int_equal(entry->type, chunk->header.type);
			assert_int_equal(entry->rank, chunk->header.rank);
			assert_int_equal(entry->bytes, chunk->header.bytes);
			assert_int_equal(entry->from_ns, chunk->header.from_ns);
			assert_int_equal(entry->until_ns,
					 chunk->header.until_ns);
			assert_true(entry->from_ns >= index->header.from_ns);
			assert_true(entry->until_ns <= index->header.until_ns);
			entries++;
		}
		assert_true(head->previous_offset < offset);
		offset = head->previous_offset;
	}
	assert_int_equal(
		entries,
		file->count - recorded_file_count(file, NCS_CHUNK_PADDING) -
			recorded_file_count(file, NCS_CHUNK_INDEX) - 1);
}

void recorded_file_read(struct recorded_file *file, const char *path)
{
	size_t bytes;
	char *all = recording_fixture_read(path, &bytes);
	const struct ncs_end *end;
	uint64_t offset = 0;

	file->bytes = bytes;
	file->chunks = NULL;
	file->count = file->capacity = 0;
	while (offset < file->bytes) {
		struct ncs_chunk header;

		assert_true(file->bytes - offset >= sizeof(header));
		memcpy(&header, all + offset, sizeof(header));
		assert_true(ncs_chunk_is_good(&header));
		assert_true(ncs_chunk_file_bytes(&header) <=
			    file->bytes - offset);
		/* No chunk crosses the border of two buffers of a sink. */
		assert_true(ncs_chunk_file_bytes(&header) <=
			    NCS_CHUNK_BYTES_MAX);
		assert_true(ncs_chunk_payload_is_good(
			&header, all + offset + sizeof(header)));
		add(file, &header, all + offset + sizeof(header), offset);
		offset += ncs_chunk_file_bytes(&header);
	}
	free(all);
	assert_true(file->count >= 2);
	assert_int_equal(file->chunks[0].header.type, NCS_CHUNK_FILE);
	assert_int_equal(file->chunks[file->count - 1].header.type,
			 NCS_CHUNK_END);
	assert_int_equal(file->chunks[file->count - 1].offset,
			 file->bytes - 128);
	end = (const struct ncs_end *)file->chunks[file->count - 1].payload;
	assert_int_equal(end->chunks, file->count - 1);
	check_indexes(file, end->index_offset);
}

void recorded_file_release(struct recorded_file *file)
{
	for (size_t i = 0; i < file->count; i++)
		free(file->chunks[i].payload);
	free(file->chunks);
}

const struct recorded_chunk *
recorded_file_next(const struct recorded_file *file, uint32_t type, size_t *at)
{
	while (*at < file->count)
		if (file->chunks[(*at)++].header.type == type)
			return &file->chunks[*at - 1];
	return NULL;
}

size_t recorded_file_count(const struct recorded_file *file, uint32_t type)
{
	size_t count = 0;

	for (size_t i = 0; i < file->count; i++)
		count += file->chunks[i].header.type == type;
	return count;
}

static void apply(const struct recorded_chunk *chunk, char *segment,
		  size_t bytes)
{
	const struct ncs_state_head *head =
		(const struct ncs_state_head *)chunk->payload;
	const struct ncs_run *runs = (const struct ncs_run *)(head + 1);
	size_t at = sizeof(*head) +
		    ncs_chunk_round(head->runs * sizeof(struct ncs_run));

	for (size_t i = 0; i < head->runs; i++) {
		size_t length = (size_t)runs[i].lines * NCS_STATE_LINE_BYTES;
		size_t to = (size_t)runs[i].line * NCS_STATE_LINE_BYTES;

		assert_true(length > 0);
		assert_true(at + length <= chunk->header.unpacked_bytes);
		assert_true(to + length <= ncs_chunk_round(bytes));
		if (to + length > bytes)
			length = bytes - to;
		memcpy(segment + to, chunk->payload + at, length);
		at += (size_t)runs[i].lines * NCS_STATE_LINE_BYTES;
	}
	assert_int_equal(at, chunk->header.unpacked_bytes);
}

/* Applies all parts of the state that begins at an index. Returns the index
 * behind them. */
static size_t apply_parts(const struct recorded_file *file, size_t at,
			  char *segment, size_t bytes,
			  struct ncs_state_head *head)
{
	uint32_t part = 0;

	do {
		const struct recorded_chunk *chunk =
			recorded_file_next(file, NCS_CHUNK_STATE, &at);

		assert_non_null(chunk);
		memcpy(head, chunk->payload, sizeof(*head));
		assert_int_equal(head->part, part++);
		assert_int_equal(head->segment_bytes, bytes);
		assert_int_equal(head->taken_ns, chunk->header.from_ns);
		apply(chunk, segment, bytes);
	} while (!(head->flags & NCS_STATE_LAST));
	return at;
}

void recorded_file_state(const struct recorded_file *file, size_t *at,
			 char *segment, size_t bytes,
			 struct ncs_state_head *head)
{
	const struct recorded_chunk *chunk;
	struct ncs_state_head key;
	size_t first = *at;

	chunk = recorded_file_next(file, NCS_CHUNK_STATE, &first);
	assert_non_null(chunk);
	memcpy(head, chunk->payload, sizeof(*head));
	memset(segment, 0, bytes);
	chunk = at_offset(file, head->key_offset);
	assert_non_null(chunk);
	apply_parts(file, (size_t)(chunk - file->chunks), segment, bytes, &key);
	assert_true(key.flags & NCS_STATE_KEY);
	assert_int_equal(key.taken_ns, head->key_taken_ns);
	*at = apply_parts(file, *at, segment, bytes, head);
}
