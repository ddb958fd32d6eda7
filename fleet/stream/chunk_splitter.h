/* SPDX-License-Identifier: MIT */
/* Cuts the bytes of a stream into chunks. Bytes may be missing, damaged or
 * anybody's: it goes on at the next chunk that is whole. Memory is that of two
 * chunks, and time in proportion to the bytes: if many chunks are damaged, not
 * all are searched for others that may begin in them. Not thread-safe.
 */
#ifndef NCS_FLEET_STREAM_CHUNK_SPLITTER_H
#define NCS_FLEET_STREAM_CHUNK_SPLITTER_H

#include <stddef.h>
#include <stdint.h>

#include "record/format/chunk.h"

/* One of zeros is at the beginning of a stream. */
struct ncs_chunk_splitter {
	char *bytes; /* those that are not cut yet */
	size_t size;
	uint64_t skipped_bytes; /* bytes that were in no chunk */
	/* Bytes that may be searched again, in chunks that are damaged. */
	uint64_t search_bytes;
};

/* Receives a chunk whose checksums are right; the payload, as in the stream, is
 * valid during the call and aligned to 64 bytes. Returns 0, or -errno to
 * stop. */
typedef int ncs_chunk_visit(void *context, const struct ncs_chunk *chunk,
			    const char *payload);

/* Takes the next bytes of the stream, and visits the chunks that they complete.
 * Returns 0, -ENOMEM, or what `visit` returned; after an error the splitter may
 * only be released. */
int ncs_chunk_splitter_feed(struct ncs_chunk_splitter *splitter,
			    const void *bytes, size_t size,
			    ncs_chunk_visit *visit, void *context);

/* Forgets a chunk that has begun: the bytes that come next do not belong to
 * it. */
void ncs_chunk_splitter_cut(struct ncs_chunk_splitter *splitter);

/* Frees the memory; the splitter is then at the beginning of a stream. */
void ncs_chunk_splitter_release(struct ncs_chunk_splitter *splitter);

#endif
