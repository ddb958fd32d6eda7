/* SPDX-License-Identifier: MIT */
/* Cuts a stream into chunks; see chunk_splitter.h. */
#include "fleet/stream/chunk_splitter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (2 * (size_t)NCS_CHUNK_BYTES_MAX)

/* How often each byte may be searched again, on average of the latest ones. */
#define SEARCHES 4
#define SEARCH_BYTES_MAX (SEARCHES * (uint64_t)ROOM)

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

/* Returns the offset of the next good header from `at` on, or of what may become
 * one. */
static size_t find_header(const struct ncs_chunk_splitter *splitter, size_t at)
{
	struct ncs_chunk chunk;

	for (;; at++) {
		at = find_magic(splitter, at);
		if (splitter->size - at < sizeof(chunk))
			return at;
		memcpy(&chunk, splitter->bytes + at, sizeof(chunk));
		if (ncs_chunk_is_good(&chunk))
			return at;
	}
}

/* Drops bytes from the beginning, so that the next chunk is aligned. */
static void drop(struct ncs_chunk_splitter *splitter, size_t bytes)
{
	splitter->size -= bytes;
	memmove(splitter->bytes, splitter->bytes + bytes, splitter->size);
}

/* Returns where to go on behind a chunk with a good header and a bad payload:
 * inside it, where another one may begin if bytes are missing; or behind it, as
 * moving and checking what is there so often takes too long. */
static size_t after_damage(struct ncs_chunk_splitter *splitter, size_t at,
			   const struct ncs_chunk *chunk)
{
	if (splitter->search_bytes < splitter->size)
		return at + ncs_chunk_file_bytes(chunk);
	splitter->search_bytes -= splitter->size;
	return find_header(splitter, at + 1);
}

/* Makes the offset of a chunk a multiple of 64. Returns it. If bytes were moved
 * too often for that, all are skipped. */
static size_t align(struct ncs_chunk_splitter *splitter, size_t at)
{
	if (at % NCS_CHUNK_ALIGNMENT == 0)
		return at;
	if (splitter->search_bytes < splitter->size) {
		splitter->skipped_bytes += splitter->size - at;
		splitter->size = 0;
		return 0;
	}
	splitter->search_bytes -= splitter->size;
	drop(splitter, at);
	return 0;
}

/* Visits all chunks that are whole. */
static int take_all(struct ncs_chunk_splitter *splitter, ncs_chunk_visit *visit,
		    void *context)
{
	size_t at = 0, next;
	int error = 0;

	while (!error && splitter->size - at >= sizeof(struct ncs_chunk)) {
		const struct ncs_chunk *chunk =
			(const struct ncs_chunk *)(splitter->bytes + at);
		bool is_good = ncs_chunk_is_good(chunk);

		if (is_good &&
		    splitter->size - at < ncs_chunk_file_bytes(chunk))
			break;
		if (is_good && ncs_chunk_payload_is_good(chunk, chunk + 1)) {
			error = visit(context, chunk,
				      (const char *)(chunk + 1));
			at += ncs_chunk_file_bytes(chunk);
			continue;
		}
		next = is_good ? after_damage(splitter, at, chunk) :
				 find_header(splitter, at + 1);
		splitter->skipped_bytes += next - at;
		at = align(splitter, next);
	}
	if (!error && at > 0)
		drop(splitter, at);
	return error;
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
	splitter->search_bytes += SEARCHES * (uint64_t)size;
	if (splitter->search_bytes > SEARCH_BYTES_MAX)
		splitter->search_bytes = SEARCH_BYTES_MAX;
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
