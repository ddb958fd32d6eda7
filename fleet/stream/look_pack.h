/* SPDX-License-Identifier: MIT */
/* Packs of looks: the chunks of a look, compressed together and as the
 * continuation of the latest look that can be read by itself, to which most of
 * it is alike.
 *
 * What a pack unpacks to are the chunks that the stream would have had. A look
 * without its base is left out. Nothing in a pack is trusted. Not
 * thread-safe.
 */
#ifndef NCS_FLEET_STREAM_LOOK_PACK_H
#define NCS_FLEET_STREAM_LOOK_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "record/format/chunk.h"
#include "record/write/sink.h"

struct ncs_look_packer;

/* Creates a packer, whose first look must be one that can be read by itself. It
 * borrows what compresses, some MB; NULL: it has one of its own. Returns NULL if
 * there is no memory; ncs_look_packer_free() accepts NULL. */
struct ncs_look_packer *ncs_look_packer_new(struct ncs_packer *borrowed);
void ncs_look_packer_free(struct ncs_look_packer *packer);

/* Packs a whole look into `packed`, which is overwritten; its memory is the
 * caller's. Chunks that are not compressed pack best. A look that is too large
 * for readers stays as it is. Returns 0 or -ENOMEM. */
int ncs_look_packer_pack(struct ncs_look_packer *packer, const void *look,
			 size_t size, struct ncs_sink_memory *packed);

struct ncs_look_unpacker;

/* Creates an unpacker without a base. Returns NULL if there is no memory;
 * ncs_look_unpacker_free() accepts NULL. */
struct ncs_look_unpacker *ncs_look_unpacker_new(void);
void ncs_look_unpacker_free(struct ncs_look_unpacker *unpacker);

/* Returns the bytes that it keeps as bases, NCS_LOOK_BYTES_MAX at most. */
size_t ncs_look_unpacker_kept(const struct ncs_look_unpacker *unpacker);

/* Reads the head of the payload of a chunk NCS_CHUNK_PACK. Returns false if it is
 * not valid. */
bool ncs_pack_head_read(const struct ncs_chunk *pack, const char *payload,
			struct ncs_pack_head *head);

/* Unpacks a payload whose head was read to `bytes`, which have room for what the
 * head says and are aligned as chunks are: whole chunks, with their checksums,
 * none of them a pack. Returns 0, -ENOMEM, or -EBADMSG if they cannot be
 * unpacked. */
int ncs_look_unpacker_take(struct ncs_look_unpacker *unpacker,
			   const struct ncs_chunk *pack, const char *payload,
			   const struct ncs_pack_head *head, char *bytes);

#endif
