/* SPDX-License-Identifier: MIT */
/* Cuts a stream into chunks; see chunk_splitter.h. */
#include "record/stream/chunk_splitter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (2 * (size_t)NCS_CHUNK_BYTES_MAX)

/* Returns the offset of the next place at which a chunk may begin, from `at`
 * on: of a magic, or of what may be the first bytes of one. */
static size_t find_magic(const struct ncs_chunk_splitter *splitter, size_t at)
{
	const uint64_t magic = NCS_CHUNK_MAGIC;
	const char *found;

	if (at >= splitter->size)
		return splitter->size;
	found = memmem(splitter->bytes + at, splitter->size - at, &magic,
		       sizeof(magic));
	if (found)
		return (size_t)(found - splitter->bytes);
	if (splitter->size - at >= sizeof(magic))
		at = splitter->size - sizeof(magic) + 1;
	while (at < splitter->size &&
	       memcmp(splitter->bytes + at, &magic, splitter->size - at) != 0)
		at++;
	return at;
}

/* Drops bytes from the beginning, so that the next chunk is aligned. */
static void drop(struct ncs_chunk_splitter *splitter, size_t bytes)
{
	splitter->size -= bytes;
	memmove(splitter->bytes, splitter->bytes + bytes, splitter->size);
}

/* Visits the chunk at an offset, a multiple of 64. Returns the offset behind
 * it, or the same one if more bytes are needed, or -errno. Sets *is_bad if no
 * chunk is there. */
static int64_t take_chunk(struct ncs_chunk_splitter *splitter, size_t at,
			  ncs_chunk_visit *visit, void *context, bool *is_bad)
{
	size_t left = splitter->size - at;
	struct ncs_chunk chunk;
	const char *payload;
	int error;

	*is_bad = false;
	if (left < sizeof(chunk))
		return (int64_t)at;
	memcpy(&chunk, splitter->bytes + at, sizeof(chunk));
	if (!ncs_chunk_is_good(&chunk)) {
		*is_bad = true;
		return (int64_t)at;
	}
	if (left < ncs_chunk_file_bytes(&chunk))
		return (int64_t)at;
	payload = splitter->bytes + at + sizeof(chunk);
	if (!ncs_chunk_payload_is_good(&chunk, payload)) {
		*is_bad = true;
		return (int64_t)at;
	}
	error = visit(context, &chunk, payload);
	return error ? error :
		       (int64_t)(at + ncs_chunk_file_bytes(&chunk));
}

/* Visits all chunks that are whole. */
static int take_all(struct ncs_chunk_splitter *splitter, ncs_chunk_visit *visit,
		    void *context)
{
	size_t at = 0;
	bool is_bad;

	for (;;) {
		int64_t next = take_chunk(splitter, at, visit, context,
					  &is_bad);

		if (next < 0)
			return (int)next;
		if (is_bad) {
			size_t found = find_magic(splitter, at + 1);

			splitter->skipped_bytes += found - at;
			drop(splitter, found);
			at = 0;
		} else if ((size_t)next == at) {
			break;
		} else {
			at = (size_t)next;
		}
	}
	if (at > 0)
		drop(splitter, at);
	return 0;
}

int ncs_chunk_splitter_feed(struct ncs_chunk_splitter *splitter,
			    const void *bytes, size_t size,
			    ncs_chunk_visit *visit, void *context)
{
	const char *from = bytes;
	int error = 0;

	if (!splitter->bytes)
		splitter->bytes = aligned_alloc(NCS_CHUNK_ALIGNMENT, ROOM);
	if (!splitter->bytes)
		return -ENOMEM;
	while (size > 0 && !error) {
		size_t part = ROOM - splitter->size;

		if (part > size)
			part = size;
		memcpy(splitter->bytes + splitter->size, from, part);
		splitter->size += part;
		from += part;
		size -= part;
		error = take_all(splitter, visit, context);
	}
	return error;
}

void ncs_chunk_splitter_cut(struct ncs_chunk_splitter *splitter)
{
	splitter->skipped_bytes += splitter->size;
	splitter->size = 0;
}

void ncs_chunk_splitter_release(struct ncs_chunk_splitter *splitter)
{
	free(splitter->bytes);
	memset(splitter, 0, sizeof(*splitter));
}
