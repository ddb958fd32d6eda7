/* SPDX-License-Identifier: MIT */
/* Reads chunks of one file of a recording; see recording_file.h. */
#include "record/read/recording_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shm/array.h"
#include "shm/read/guard.h"

bool ncs_recorded_file_chunk(const struct ncs_recorded_file *file,
			     uint64_t offset, uint64_t limit,
			     struct ncs_chunk *chunk)
{
	if (limit > file->size)
		limit = file->size;
	if (offset % NCS_CHUNK_ALIGNMENT != 0 || offset > limit ||
	    limit - offset < sizeof(*chunk))
		return false;
	memcpy(chunk, file->bytes + offset, sizeof(*chunk));
	return ncs_chunk_is_good(chunk) &&
	       chunk->bytes <= limit - offset - sizeof(*chunk);
}

void ncs_recorded_file_fetch(const struct ncs_recorded_file *file,
			     uint64_t offset, uint64_t bytes)
{
	uint64_t skew = offset % NCS_BLOCK_BYTES;

	if (!file->is_mapped || offset >= file->size)
		return;
	if (bytes > file->size - offset)
		bytes = file->size - offset;
	madvise((void *)(uintptr_t)(file->bytes + offset - skew), bytes + skew,
		MADV_WILLNEED);
}

static bool is_as_indexed(const struct ncs_chunk *chunk,
			  const struct ncs_chunk_place *place)
{
	return chunk->type == place->type && chunk->rank == place->rank &&
	       chunk->bytes == place->bytes;
}

static struct ncs_payload damaged(struct ncs_recorded_file *file,
				  struct ncs_chunk_place *place)
{
	if (place->check != NCS_PLACE_DAMAGED)
		file->damaged++;
	place->check = NCS_PLACE_DAMAGED;
	return (struct ncs_payload){ 0 };
}

/* Returns the memory to unpack to; NULL if there is none. */
static void *room_of(struct ncs_recorded_file *file, void *room)
{
	if (room)
		return room;
	if (!file->unpacked)
		file->unpacked =
			aligned_alloc(NCS_CHUNK_ALIGNMENT, NCS_CHUNK_BYTES_MAX);
	return file->unpacked;
}

struct ncs_payload ncs_recorded_file_payload(struct ncs_recorded_file *file,
					     struct ncs_chunk_place *place,
					     void *room)
{
	const char *bytes =
		file->bytes + place->offset + sizeof(struct ncs_chunk);
	struct ncs_chunk chunk;

	/* States are read in any order, records in sequence. */
	if (place->type == NCS_CHUNK_STATE &&
	    place->check == NCS_PLACE_UNCHECKED)
		ncs_recorded_file_fetch(file, place->offset,
					sizeof(chunk) + place->bytes);
	if (place->check == NCS_PLACE_DAMAGED ||
	    !ncs_recorded_file_chunk(file, place->offset, file->size, &chunk) ||
	    !is_as_indexed(&chunk, place))
		return damaged(file, place);
	if (place->check == NCS_PLACE_UNCHECKED &&
	    !ncs_chunk_payload_is_good(&chunk, bytes))
		return damaged(file, place);
	place->check = NCS_PLACE_GOOD;
	if (ncs_chunk_is_packed(&chunk)) {
		void *unpacked = room_of(file, room);

		if (!unpacked || !ncs_chunk_unpack(&chunk, bytes, unpacked))
			return damaged(file, place);
		bytes = unpacked;
	}
	return (struct ncs_payload){
		.bytes = bytes,
		.size = chunk.unpacked_bytes,
	};
}

int ncs_recorded_file_add(struct ncs_recorded_file *file,
			  const struct ncs_chunk_place *place)
{
	if (ncs_array_reserve(&file->places, &file->capacity, file->count + 1,
			      sizeof(*file->places)) != 0)
		return -ENOMEM;
	file->places[file->count++] = *place;
	return 0;
}

void ncs_recorded_file_release(struct ncs_recorded_file *file)
{
	if (file->is_mapped) {
		ncs_guard_remove(file->bytes);
		munmap((void *)(uintptr_t)file->bytes, file->size);
	}
	free(file->path);
	free(file->places);
	free(file->unpacked);
	memset(file, 0, sizeof(*file));
}
