/* SPDX-License-Identifier: MIT */
/* Packs and unpacks looks; see look_pack.h. */
#include "fleet/stream/look_pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/format/chunk.h"
#include "shm/array.h"

/* Looks up to so many bytes are packed well, larger ones, which have records,
 * quickly. */
#define SMALL_BYTES (UINT32_C(512) << 10)
#define SMALL_LEVEL 9
#define LARGE_LEVEL 1

/* The largest look, with its end, that is packed; readers refuse larger ones.
 * Any two parts in a row are larger than one may be: this many hold it. */
#define BYTES_MAX (NCS_LOOK_BYTES_MAX + NCS_CHUNK_BYTES_MAX)
#define PARTS_MAX (BYTES_MAX / NCS_CHUNK_BYTES_MAX * 2)

/* A part of the latest base, unpacked. */
struct part {
	uint64_t recording;
	uint64_t look;
	char *bytes;
	size_t size;
};

struct parts {
	size_t bytes; /* of all */
	struct part parts[PARTS_MAX];
};

static void forget_part(struct parts *parts, size_t number)
{
	struct part *part = &parts->parts[number];

	parts->bytes -= part->size;
	free(part->bytes);
	memset(part, 0, sizeof(*part));
}

static void release_parts(struct parts *parts)
{
	for (size_t i = 0; i < PARTS_MAX; i++)
		forget_part(parts, i);
}

/* Keeps what a part of a look without a base unpacks to. All parts together are
 * kept up to the size of a look. Returns 0 or -ENOMEM. */
static int keep_part(struct parts *parts, const struct ncs_pack_head *head,
		     const char *bytes)
{
	struct part *part = &parts->parts[head->part];

	forget_part(parts, head->part);
	if (parts->bytes + head->unpacked_bytes > NCS_LOOK_BYTES_MAX)
		return 0;
	part->bytes = malloc(head->unpacked_bytes);
	if (!part->bytes)
		return -ENOMEM;
	memcpy(part->bytes, bytes, head->unpacked_bytes);
	part->size = head->unpacked_bytes;
	part->recording = head->recording;
	part->look = head->look;
	parts->bytes += part->size;
	return 0;
}

/* Returns the prefix of a pack; NULL if it is not there. */
static const struct part *find_base(const struct parts *parts,
				    const struct ncs_pack_head *head)
{
	static const struct part none;
	const struct part *part = &parts->parts[head->part];

	if (head->base == head->look)
		return &none;
	return part->bytes && part->recording == head->recording &&
			       part->look == head->base ?
		       part :
		       NULL;
}

/* --- Packing ------------------------------------------------------------- */

struct ncs_look_packer {
	struct ncs_packer *packer;
	bool is_borrowed;
	int level; /* of the look that is being packed */
	struct parts base;
	uint64_t base_look;
	char *plain; /* a part without checksums */
	size_t capacity;
};

struct ncs_look_packer *ncs_look_packer_new(struct ncs_packer *borrowed)
{
	struct ncs_look_packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	packer->is_borrowed = borrowed;
	packer->packer = borrowed ? borrowed : ncs_packer_create(SMALL_LEVEL);
	if (packer->packer)
		return packer;
	free(packer);
	return NULL;
}

void ncs_look_packer_free(struct ncs_look_packer *packer)
{
	if (!packer)
		return;
	if (!packer->is_borrowed)
		ncs_packer_free(packer->packer);
	release_parts(&packer->base);
	free(packer->plain);
	free(packer);
}

static size_t chunk_bytes_at(const char *bytes)
{
	return ncs_chunk_file_bytes((const struct ncs_chunk *)bytes);
}

/* Returns the length of the chunks from the beginning that make up a part. */
static size_t part_bytes(const char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t next = chunk_bytes_at(bytes + at);

		if (at > 0 && at + next > NCS_CHUNK_BYTES_MAX)
			break;
		at += next;
	}
	return at;
}

/* Returns the end of the look, its last chunk. */
static const struct ncs_look *end_of(const char *bytes, size_t size)
{
	size_t at = 0, next;

	while (at + (next = chunk_bytes_at(bytes + at)) < size)
		at += next;
	return (const struct ncs_look *)(bytes + at + sizeof(struct ncs_chunk));
}

/* Makes the checksums 0: they are made again when the pack is unpacked. */
static void clear_checksums(char *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += chunk_bytes_at(bytes + at))
		memset(bytes + at +
			       offsetof(struct ncs_chunk, payload_checksum),
		       0, 2 * sizeof(uint64_t));
}

/* Appends a part as a pack, and keeps it if it may be a base; as it is, and no
 * base, if it gets no shorter: the unpacker sees no pack then. */
static int put_part(struct ncs_look_packer *packer,
		    const struct ncs_pack_head *head, const char *bytes,
		    bool is_key, struct ncs_sink_memory *packed)
{
	size_t size = head->unpacked_bytes, frame = 0;
	const struct part *base = find_base(&packer->base, head);
	struct ncs_chunk chunk = { .type = NCS_CHUNK_PACK,
				   .rank = NCS_NO_RANK };
	char *at;

	if (ncs_array_reserve(&packed->bytes, &packed->capacity,
			      packed->size + sizeof(chunk) + sizeof(*head) +
				      size + NCS_CHUNK_ALIGNMENT,
			      1) != 0)
		return -ENOMEM;
	at = packed->bytes + packed->size;
	if (base && size > sizeof(*head))
		frame = ncs_packer_pack_after(
			packer->packer, packer->level, base->bytes, base->size,
			packer->plain, size, at + sizeof(chunk) + sizeof(*head),
			size - sizeof(*head));
	if (frame == 0)
		return ncs_sink_memory_append(packed, bytes, size);
	chunk.bytes = chunk.unpacked_bytes = sizeof(*head) + frame;
	memcpy(at + sizeof(chunk), head, sizeof(*head));
	ncs_chunk_seal(&chunk, at + sizeof(chunk));
	memcpy(at, &chunk, sizeof(chunk));
	memset(at + sizeof(chunk) + chunk.bytes, 0,
	       ncs_chunk_round(chunk.bytes) - chunk.bytes);
	packed->size += ncs_chunk_file_bytes(&chunk);
	return is_key ? keep_part(&packer->base, head, packer->plain) : 0;
}

int ncs_look_packer_pack(struct ncs_look_packer *packer, const void *look,
			 size_t size, struct ncs_sink_memory *packed)
{
	const char *bytes = look;
	const struct ncs_look *end = end_of(bytes, size);
	bool is_key = end->flags & NCS_LOOK_KEY;
	struct ncs_pack_head head = { .recording = end->recording[0],
				      .look = end->number };
	int error = 0;

	packed->size = 0;
	packer->level = size <= SMALL_BYTES ? SMALL_LEVEL : LARGE_LEVEL;
	if (is_key)
		release_parts(&packer->base);
	if (size > BYTES_MAX)
		return ncs_sink_memory_append(packed, bytes, size);
	for (; size > 0 && !error; head.part++) {
		size_t part = part_bytes(bytes, size);

		if (ncs_array_reserve(&packer->plain, &packer->capacity, part,
				      1) != 0)
			return -ENOMEM;
		memcpy(packer->plain, bytes, part);
		clear_checksums(packer->plain, part);
		head.unpacked_bytes = (uint32_t)part;
		head.base = packer->base.parts[head.part].bytes ?
				    packer->base_look :
				    head.look;
		error = put_part(packer, &head, bytes, is_key, packed);
		bytes += part;
		size -= part;
	}
	if (is_key)
		packer->base_look = head.look;
	return error;
}

/* --- Unpacking ----------------------------------------------------------- */

struct ncs_look_unpacker {
	struct parts base;
};

struct ncs_look_unpacker *ncs_look_unpacker_new(void)
{
	return calloc(1, sizeof(struct ncs_look_unpacker));
}

void ncs_look_unpacker_free(struct ncs_look_unpacker *unpacker)
{
	if (!unpacker)
		return;
	release_parts(&unpacker->base);
	free(unpacker);
}

size_t ncs_look_unpacker_kept(const struct ncs_look_unpacker *unpacker)
{
	return unpacker->base.bytes;
}

/* Makes the checksums of chunks. Returns false if they are not whole. */
static bool seal_chunks(char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size) {
		struct ncs_chunk *chunk = (struct ncs_chunk *)(bytes + at);

		/* A pack in a pack would go on for ever. */
		if (size - at < sizeof(*chunk) ||
		    chunk->type == NCS_CHUNK_PACK ||
		    chunk->bytes > NCS_PAYLOAD_BYTES_MAX ||
		    ncs_chunk_file_bytes(chunk) > size - at)
			return false;
		ncs_chunk_seal(chunk, chunk + 1);
		if (!ncs_chunk_is_good(chunk))
			return false;
		at += ncs_chunk_file_bytes(chunk);
	}
	return true;
}

bool ncs_pack_head_read(const struct ncs_chunk *pack, const char *payload,
			struct ncs_pack_head *head)
{
	if (pack->bytes < sizeof(*head) || ncs_chunk_is_packed(pack))
		return false;
	memcpy(head, payload, sizeof(*head));
	return head->part < PARTS_MAX && head->unpacked_bytes > 0 &&
	       head->unpacked_bytes <= NCS_CHUNK_BYTES_MAX;
}

int ncs_look_unpacker_take(struct ncs_look_unpacker *unpacker,
			   const struct ncs_chunk *pack, const char *payload,
			   const struct ncs_pack_head *head, char *bytes)
{
	const struct part *base = find_base(&unpacker->base, head);

	if (!base ||
	    !ncs_unpack_after(base->bytes, base->size, payload + sizeof(*head),
			      pack->bytes - sizeof(*head), bytes,
			      head->unpacked_bytes))
		return -EBADMSG;
	/* Before checksums are made: the packer has none in its base. */
	if (head->base == head->look &&
	    keep_part(&unpacker->base, head, bytes) != 0)
		return -ENOMEM;
	return seal_chunks(bytes, head->unpacked_bytes) ? 0 : -EBADMSG;
}
