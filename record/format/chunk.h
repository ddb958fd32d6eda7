/* SPDX-License-Identifier: MIT */
/* One chunk of a recording: seals, checks, packs and unpacks it.
 *
 * Works on memory only, and interprets no payloads; file_format.h describes
 * them. The bytes of a chunk are not trusted: a good chunk is as it was
 * written, but its contents need not make sense. Thread-safe, except that a
 * packer serves one thread at a time.
 */
#ifndef NCS_RECORD_FORMAT_CHUNK_H
#define NCS_RECORD_FORMAT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/format/file_format.h"

/* The largest payload in bytes, both in the file and unpacked. */
#define NCS_PAYLOAD_BYTES_MAX (NCS_CHUNK_BYTES_MAX - sizeof(struct ncs_chunk))

/* --- The header ---------------------------------------------------------- */

/* Sets the magic and both checksums of a header whose other fields are set.
 * `payload` is the payload as in the file, chunk->bytes long. */
void ncs_chunk_seal(struct ncs_chunk *chunk, const void *payload);

/* Seals a chunk whose payload's checksum (XXH3, 64 bits) is known. */
void ncs_chunk_seal_checksum(struct ncs_chunk *chunk,
			     uint64_t payload_checksum);

/* Whether a header's checksum is right and its lengths are within bounds. The
 * type may be unknown here. */
bool ncs_chunk_is_good(const struct ncs_chunk *chunk);

/* Whether the payload is as it was written. `payload` is the payload as in the
 * file, chunk->bytes long. The header must be good. */
bool ncs_chunk_payload_is_good(const struct ncs_chunk *chunk,
			       const void *payload);

/* Rounds a length up to the alignment of chunks. */
static inline uint64_t ncs_chunk_round(uint64_t bytes)
{
	return (bytes + NCS_CHUNK_ALIGNMENT - 1) &
	       ~(uint64_t)(NCS_CHUNK_ALIGNMENT - 1);
}

/* Returns the bytes that a good chunk occupies in the file, header and trailing
 * zeros included; the next chunk begins behind them. */
static inline uint64_t ncs_chunk_file_bytes(const struct ncs_chunk *chunk)
{
	return sizeof(*chunk) + ncs_chunk_round(chunk->bytes);
}

/* --- Compression --------------------------------------------------------- */

/* Whether the payload in the file is compressed. */
static inline bool ncs_chunk_is_packed(const struct ncs_chunk *chunk)
{
	return chunk->bytes != chunk->unpacked_bytes;
}

/* Returns the highest compression level of Zstandard; the lowest is 1. */
int ncs_packer_level_max(void);

/* Compresses payloads at a level from 1 to ncs_packer_level_max().
 * ncs_packer_create() returns NULL if there is no memory; ncs_packer_free()
 * accepts NULL. */
struct ncs_packer;
struct ncs_packer *ncs_packer_create(int level);
void ncs_packer_free(struct ncs_packer *packer);

/* Packs a payload of `bytes` into `packed`, which has `room` bytes. Returns the
 * packed length, or 0 if the packed payload would not be shorter or does not
 * fit; the caller must then write the payload unpacked. */
size_t ncs_packer_pack(struct ncs_packer *packer, const void *payload,
		       size_t bytes, void *packed, size_t room);

/* Packs as ncs_packer_pack() does, at this level and as the continuation of
 * `prefix`, which may have no bytes. The unpacker needs the same prefix. */
size_t ncs_packer_pack_after(struct ncs_packer *packer, int level,
			     const void *prefix, size_t prefix_bytes,
			     const void *payload, size_t bytes, void *packed,
			     size_t room);

/* Unpacks what ncs_packer_pack_after() packed. Returns false if it does not
 * unpack to `bytes` bytes, or there is no memory. */
bool ncs_unpack_after(const void *prefix, size_t prefix_bytes,
		      const void *packed, size_t packed_bytes, void *unpacked,
		      size_t bytes);

/* Unpacks a good payload into `unpacked`, which has chunk->unpacked_bytes
 * bytes. Returns false if the payload does not unpack to that length, or there
 * is no memory. */
bool ncs_chunk_unpack(const struct ncs_chunk *chunk, const void *payload,
		      void *unpacked);

#endif
