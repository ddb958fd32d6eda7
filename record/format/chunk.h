/* SPDX-License-Identifier: MIT */
/* One chunk of a recording: sealed, checked, packed, unpacked.
 *
 * Works on memory only; what the payloads mean is for others (file_format.h says).
 * What is checked here is hostile: a chunk that is good may be believed to be
 * what was written, not to make sense. Thread-safe, but for one packer.
 */
#ifndef NCS_RECORD_FORMAT_CHUNK_H
#define NCS_RECORD_FORMAT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/format/file_format.h"

/* The longest payload, in the file and unpacked. */
#define NCS_PAYLOAD_BYTES_MAX (NCS_CHUNK_BYTES_MAX - sizeof(struct ncs_chunk))

/* --- The header ---------------------------------------------------------- */

/* Fills in the magic and both checksums; all else is there. `payload` is of
 * chunk->bytes, as it stands in the file. */
void ncs_chunk_seal(struct ncs_chunk *chunk, const void *payload);

/* The same with a checksum of the payload that is known: XXH3, 64 bits. */
void ncs_chunk_seal_checksum(struct ncs_chunk *chunk,
			     uint64_t payload_checksum);

/* Whether a chunk's header is whole, and its lengths are within bounds. Its type
 * may be one that is not known here. */
bool ncs_chunk_is_good(const struct ncs_chunk *chunk);

/* Whether the payload, chunk->bytes as in the file, is what was written. The
 * header must be good. */
bool ncs_chunk_payload_is_good(const struct ncs_chunk *chunk,
			       const void *payload);

static inline uint64_t ncs_chunk_round(uint64_t bytes)
{
	return (bytes + NCS_CHUNK_ALIGNMENT - 1) &
	       ~(uint64_t)(NCS_CHUNK_ALIGNMENT - 1);
}

/* What a good chunk takes in the file, header and zeros at its end included:
 * the next one begins there. */
static inline uint64_t ncs_chunk_file_bytes(const struct ncs_chunk *chunk)
{
	return sizeof(*chunk) + ncs_chunk_round(chunk->bytes);
}

/* --- Compression --------------------------------------------------------- */

static inline bool ncs_chunk_is_packed(const struct ncs_chunk *chunk)
{
	return chunk->bytes != chunk->unpacked_bytes;
}

/* The highest level that Zstandard has; the lowest is 1. */
int ncs_packer_level_max(void);

/* NULL: no memory. */
struct ncs_packer;
struct ncs_packer *ncs_packer_create(int level);
void ncs_packer_free(struct ncs_packer *packer); /* NULL: nothing */

/* Packs a payload of `bytes` into `packed`. Returns how long that is; 0: it
 * would be no shorter, or not fit into `room`, so leave it as it is. */
size_t ncs_packer_pack(struct ncs_packer *packer, const void *payload,
		       size_t bytes, void *packed, size_t room);

/* Unpacks a good payload into `unpacked`, of chunk->unpacked_bytes. False: it
 * is not what it says. */
bool ncs_chunk_unpack(const struct ncs_chunk *chunk, const void *payload,
		      void *unpacked);

#endif
