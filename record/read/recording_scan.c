/* SPDX-License-Identifier: MIT */
/* Searches for chunks that are in no index: in a file that was cut, is damaged,
 * or is still growing. */
#include "record/read/recording_file.h"

#include <string.h>

static bool is_blank(const struct ncs_recorded_file *file, uint64_t offset,
		     uint64_t limit)
{
	static const char zeros[NCS_CHUNK_ALIGNMENT];
	uint64_t size = limit - offset;

	if (size > sizeof(zeros))
		size = sizeof(zeros);
	return memcmp(file->bytes + offset, zeros, size) == 0;
}

/* Finds the next chunk, and counts the bytes skipped before it. Returns false
 * if there is none. Zeros are not counted: they are reserved space that was
 * never written. */
static bool find_chunk(const struct ncs_recorded_file *file, uint64_t *offset,
		       uint64_t limit, struct ncs_chunk *chunk,
		       uint64_t *skipped_bytes)
{
	*skipped_bytes = 0;
	while (*offset < limit) {
		uint64_t left = limit - *offset;

		if (ncs_recorded_file_chunk(file, *offset, limit, chunk))
			return true;
		if (!is_blank(file, *offset, limit))
			*skipped_bytes += left < NCS_CHUNK_ALIGNMENT ?
						  left :
						  NCS_CHUNK_ALIGNMENT;
		*offset += NCS_CHUNK_ALIGNMENT;
	}
	return false;
}

/* Whether chunks of this type are kept. Indexes are not needed, as the search
 * finds the chunks in them; ends and padding hold nothing that is read. */
static bool is_wanted(uint32_t type)
{
	return type != NCS_CHUNK_INDEX && type != NCS_CHUNK_END &&
	       type != NCS_CHUNK_PADDING;
}

/* Adds a chunk of a known or unknown type. */
static int add(struct ncs_recorded_file *file, uint64_t offset,
	       const struct ncs_chunk *chunk)
{
	struct ncs_chunk_place place = {
		.offset = offset,
		.from_ns = chunk->from_ns,
		.until_ns = chunk->until_ns,
		.rank = chunk->rank,
		.bytes = (uint32_t)chunk->bytes,
		.type = (uint16_t)chunk->type,
	};
	struct ncs_payload payload;

	if (chunk->type > UINT16_MAX || !is_wanted(chunk->type))
		return 0;
	payload = ncs_recorded_file_payload(file, &place, NULL);
	if (!payload.bytes)
		return 0;
	if (chunk->type == NCS_CHUNK_RECORDS &&
	    payload.size >= sizeof(struct ncs_records_head)) {
		struct ncs_records_head head;

		memcpy(&head, payload.bytes, sizeof(head));
		if (head.count > (payload.size - sizeof(head)) /
					 sizeof(struct ncs_record)) {
			file->damaged++;
			return 0;
		}
		place.records = head.count;
		place.lost = head.lost;
	}
	return ncs_recorded_file_add(file, &place);
}

int ncs_recorded_file_scan(struct ncs_recorded_file *file, uint64_t from,
			   uint64_t until)
{
	uint64_t offset = ncs_chunk_round(from), skipped;
	struct ncs_chunk chunk;
	int error = 0;

	while (!error && find_chunk(file, &offset, until, &chunk, &skipped)) {
		file->skipped_bytes += skipped;
		file->damaged += skipped > 0;
		error = add(file, offset, &chunk);
		offset += ncs_chunk_file_bytes(&chunk);
		skipped = 0;
	}
	/* Behind the last chunk: a chunk was cut short, or is being written. */
	file->skipped_bytes += skipped;
	return error;
}

uint64_t ncs_recorded_file_last_index(const struct ncs_recorded_file *file,
				      uint64_t until)
{
	uint64_t offset = until & ~(uint64_t)(NCS_CHUNK_ALIGNMENT - 1);
	struct ncs_chunk chunk;

	while (offset > 0) {
		uint64_t magic;

		offset -= NCS_CHUNK_ALIGNMENT;
		if (until - offset < sizeof(chunk))
			continue;
		memcpy(&magic, file->bytes + offset, sizeof(magic));
		if (magic == NCS_CHUNK_MAGIC &&
		    ncs_recorded_file_chunk(file, offset, until, &chunk) &&
		    chunk.type == NCS_CHUNK_INDEX)
			return offset;
	}
	return 0;
}
