/* SPDX-License-Identifier: MIT */
/* Seals, checks, packs and unpacks chunks; see chunk.h. */
#include "record/format/chunk.h"

#include <pthread.h>
#include <stdlib.h>
#include <xxhash.h>
#include <zstd.h>

/* The dispatching variant uses the widest instructions of the processor and is
 * several times as fast, but not every build of the library has it. */
#ifdef __x86_64__
__attribute__((weak)) XXH64_hash_t XXH3_64bits_dispatch(const void *bytes,
							size_t count);
#endif

static uint64_t xxh3(const void *bytes, size_t count)
{
#ifdef __x86_64__
	if (XXH3_64bits_dispatch)
		return XXH3_64bits_dispatch(bytes, count);
#endif
	return XXH3_64bits(bytes, count);
}

/* --- The header ---------------------------------------------------------- */

static uint64_t header_checksum(const struct ncs_chunk *chunk)
{
	return xxh3(chunk, offsetof(struct ncs_chunk, checksum));
}

void ncs_chunk_seal_checksum(struct ncs_chunk *chunk, uint64_t payload_checksum)
{
	chunk->magic = NCS_CHUNK_MAGIC;
	chunk->payload_checksum = payload_checksum;
	chunk->checksum = header_checksum(chunk);
}

void ncs_chunk_seal(struct ncs_chunk *chunk, const void *payload)
{
	ncs_chunk_seal_checksum(chunk, xxh3(payload, chunk->bytes));
}

bool ncs_chunk_is_good(const struct ncs_chunk *chunk)
{
	return chunk->magic == NCS_CHUNK_MAGIC &&
	       chunk->bytes <= NCS_PAYLOAD_BYTES_MAX &&
	       chunk->unpacked_bytes <= NCS_PAYLOAD_BYTES_MAX &&
	       chunk->bytes <= chunk->unpacked_bytes &&
	       header_checksum(chunk) == chunk->checksum;
}

bool ncs_chunk_payload_is_good(const struct ncs_chunk *chunk,
			       const void *payload)
{
	return xxh3(payload, chunk->bytes) == chunk->payload_checksum;
}

/* --- Compression --------------------------------------------------------- */

struct ncs_packer {
	ZSTD_CCtx *context;
	int level;
};

int ncs_packer_level_max(void)
{
	return ZSTD_maxCLevel();
}

struct ncs_packer *ncs_packer_create(int level)
{
	struct ncs_packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	packer->level = level;
	packer->context = ZSTD_createCCtx();
	if (!packer->context) {
		free(packer);
		return NULL;
	}
	return packer;
}

void ncs_packer_free(struct ncs_packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->context);
	free(packer);
}

size_t ncs_packer_pack(struct ncs_packer *packer, const void *payload,
		       size_t bytes, void *packed, size_t room)
{
	return ncs_packer_pack_after(packer, packer->level, NULL, 0, payload,
				     bytes, packed, room);
}

size_t ncs_packer_pack_after(struct ncs_packer *packer, int level,
			     const void *prefix, size_t prefix_bytes,
			     const void *payload, size_t bytes, void *packed,
			     size_t room)
{
	ZSTD_CCtx *context = packer->context;
	size_t result;

	/* Readers would take a packed payload of the original length for an
	 * unpacked one. */
	if (room >= bytes)
		room = bytes > 0 ? bytes - 1 : 0;
	ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
	result = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel,
					level);
	if (!ZSTD_isError(result) && prefix_bytes > 0)
		result = ZSTD_CCtx_refPrefix(context, prefix, prefix_bytes);
	if (!ZSTD_isError(result))
		result = ZSTD_compress2(context, packed, room, payload, bytes);
	return ZSTD_isError(result) ? 0 : result;
}

/* Each thread keeps a context: making one for each chunk costs more than to
 * unpack a small chunk, as it asks for the processor's features, which leaves a
 * virtual machine. */
static pthread_key_t context_key;
static bool has_context_key;

static void free_context(void *context)
{
	ZSTD_freeDCtx(context);
}

static void make_context_key(void)
{
	has_context_key = pthread_key_create(&context_key, free_context) == 0;
}

/* Returns this thread's context; NULL if there is no memory. */
static ZSTD_DCtx *get_context(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	ZSTD_DCtx *context;

	pthread_once(&once, make_context_key);
	if (!has_context_key)
		return NULL;
	context = pthread_getspecific(context_key);
	if (context)
		return context;
	context = ZSTD_createDCtx();
	if (context && pthread_setspecific(context_key, context) != 0) {
		ZSTD_freeDCtx(context);
		context = NULL;
	}
	return context;
}

bool ncs_chunk_unpack(const struct ncs_chunk *chunk, const void *payload,
		      void *unpacked)
{
	return ncs_unpack_after(NULL, 0, payload, chunk->bytes, unpacked,
				chunk->unpacked_bytes);
}

bool ncs_unpack_after(const void *prefix, size_t prefix_bytes,
		      const void *packed, size_t packed_bytes, void *unpacked,
		      size_t bytes)
{
	ZSTD_DCtx *context = get_context();
	bool is_good;

	if (!context)
		return false;
	/* A prefix is for the next frame only. */
	is_good = prefix_bytes == 0 ||
		  !ZSTD_isError(
			  ZSTD_DCtx_refPrefix(context, prefix, prefix_bytes));
	is_good = is_good &&
		  ZSTD_decompressDCtx(context, unpacked, bytes, packed,
				      packed_bytes) == bytes;
	ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
	return is_good;
}
