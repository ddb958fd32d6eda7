/* SPDX-License-Identifier: MIT */
/* Opening and reading one file of a recording; see recording_file.h. */
#include "record/read/recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ncclstat/abi.h"
#include "shm/read/guard.h"

/* --- Chunks -------------------------------------------------------------- */

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

static bool is_as_told(const struct ncs_chunk *chunk,
		       const struct ncs_place *place)
{
	return chunk->type == place->type && chunk->rank == place->rank &&
	       chunk->bytes == place->bytes;
}

static struct ncs_payload damaged(struct ncs_recorded_file *file,
				  struct ncs_place *place)
{
	if (place->check != NCS_PLACE_DAMAGED)
		file->damaged++;
	place->check = NCS_PLACE_DAMAGED;
	return (struct ncs_payload){ 0 };
}

/* Where to unpack to; NULL: no memory. */
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
					     struct ncs_place *place,
					     void *room)
{
	const char *bytes =
		file->bytes + place->offset + sizeof(struct ncs_chunk);
	struct ncs_chunk chunk;

	/* States are looked at here and there, records in a row. */
	if (place->type == NCS_CHUNK_STATE &&
	    place->check == NCS_PLACE_UNCHECKED)
		ncs_recorded_file_fetch(file, place->offset,
					sizeof(chunk) + place->bytes);
	if (place->check == NCS_PLACE_DAMAGED ||
	    !ncs_recorded_file_chunk(file, place->offset, file->size, &chunk) ||
	    !is_as_told(&chunk, place))
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
			  const struct ncs_place *place)
{
	if (file->count == file->room) {
		size_t room = file->room > 0 ? 2 * file->room : 256;
		struct ncs_place *places =
			realloc(file->places, room * sizeof(*places));

		if (!places)
			return -ENOMEM;
		file->places = places;
		file->room = room;
	}
	file->places[file->count++] = *place;
	return 0;
}

/* --- What kind of file it is --------------------------------------------- */

static int refuse(const struct ncs_recorded_file *file, int error,
		  const char *reason, char *why, size_t why_size)
{
	snprintf(why, why_size, "%s: %s", file->path, reason);
	return -error;
}

/* What something that is no recording is, as its first word tells. */
static const char *kind_of(const struct ncs_recorded_file *file)
{
	uint64_t first = 0;

	memcpy(&first, file->bytes,
	       file->size < sizeof(first) ? file->size : sizeof(first));
	if (first == __builtin_bswap64(NCS_CHUNK_MAGIC))
		return "it was recorded on a machine with another byte order;"
		       " read it on such a machine";
	if (first == NCS_MAGIC)
		return "it is a segment, not a recording: look at it with"
		       " --dir, or record it with --record";
	if ((uint32_t)first == 0xfd2fb528u)
		return "it is compressed; unpack it with zstd -d";
	return NULL;
}

/* Any chunk at all, so that the file is a recording. */
static bool has_chunk(const struct ncs_recorded_file *file)
{
	struct ncs_chunk chunk;

	for (uint64_t at = 0; at < file->size; at += NCS_CHUNK_ALIGNMENT)
		if (ncs_recorded_file_chunk(file, at, file->size, &chunk))
			return true;
	return false;
}

static bool read_head(struct ncs_recorded_file *file)
{
	struct ncs_chunk chunk;

	if (!ncs_recorded_file_chunk(file, 0, file->size, &chunk) ||
	    chunk.type != NCS_CHUNK_FILE || chunk.bytes < sizeof(file->head) ||
	    ncs_chunk_is_packed(&chunk) ||
	    !ncs_chunk_payload_is_good(&chunk, file->bytes + sizeof(chunk)))
		return false;
	memcpy(&file->head, file->bytes + sizeof(chunk), sizeof(file->head));
	file->head.boot_id[sizeof(file->head.boot_id) - 1] = '\0';
	file->head.host[sizeof(file->head.host) - 1] = '\0';
	return true;
}

static int check_kind(struct ncs_recorded_file *file, char *why,
		      size_t why_size)
{
	const struct ncs_file_head *head = &file->head;
	const char *kind;

	if (file->size == 0)
		return refuse(file, EINVAL, "it is empty", why, why_size);
	kind = kind_of(file);
	if (kind)
		return refuse(file, EINVAL, kind, why, why_size);
	file->has_head = read_head(file);
	if (!file->has_head && !has_chunk(file))
		return refuse(file, EINVAL,
			      "it is no recording of ncclstat's, or nothing of"
			      " it is whole",
			      why, why_size);
	if (!file->has_head) {
		file->damaged++;
		return 0;
	}
	if (head->byte_order != NCS_BYTE_ORDER)
		return refuse(file, EINVAL, "its byte order is another", why,
			      why_size);
	if (head->version >> 16 == NCS_FORMAT_MAJOR)
		return 0;
	snprintf(why, why_size,
		 "%s: its format is %u.%u, this program reads %u: read it with"
		 " the ncclstat that recorded it",
		 file->path, head->version >> 16, head->version & 0xffff,
		 NCS_FORMAT_MAJOR);
	return -EPROTONOSUPPORT;
}

/* --- Opening ------------------------------------------------------------- */

static int map(struct ncs_recorded_file *file, char *why, size_t why_size)
{
	struct stat status;
	int opened, error = 0;
	void *mapping;

	opened = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (opened < 0 || fstat(opened, &status) != 0)
		error = errno;
	else if (S_ISDIR(status.st_mode))
		error = EISDIR;
	else if (!S_ISREG(status.st_mode))
		error = ESPIPE;
	if (!error && status.st_size > 0) {
		mapping = mmap(NULL, (size_t)status.st_size, PROT_READ,
			       MAP_SHARED, opened, 0);
		if (mapping == MAP_FAILED) {
			error = errno;
		} else {
			file->bytes = mapping;
			file->size = (size_t)status.st_size;
			file->is_mapped = true;
			ncs_guard_add(file->bytes, file->size);
		}
	}
	if (opened >= 0)
		close(opened);
	if (error == ESPIPE)
		return refuse(file, error,
			      "it is no file: a recording that comes through a"
			      " pipe must be written to one first",
			      why, why_size);
	return error ? refuse(file, error, strerror(error), why, why_size) : 0;
}

static int begin(struct ncs_recorded_file *file, const char *path, char *why,
		 size_t why_size)
{
	memset(file, 0, sizeof(*file));
	file->path = strdup(path);
	if (file->path)
		return 0;
	snprintf(why, why_size, "%s", strerror(ENOMEM));
	return -ENOMEM;
}

static int finish(struct ncs_recorded_file *file, char *why, size_t why_size)
{
	int error = check_kind(file, why, why_size);

	if (error)
		return error;
	error = ncs_recorded_file_index(file);
	return error ? refuse(file, -error, strerror(-error), why, why_size) :
		       0;
}

int ncs_recorded_file_open(struct ncs_recorded_file *file, const char *path,
			   char *why, size_t why_size)
{
	int error = begin(file, path, why, why_size);

	if (!error)
		error = map(file, why, why_size);
	if (!error)
		error = finish(file, why, why_size);
	if (error)
		ncs_recorded_file_release(file);
	return error;
}

int ncs_recorded_file_open_memory(struct ncs_recorded_file *file,
				  const void *bytes, size_t size,
				  const char *path, char *why, size_t why_size)
{
	int error = begin(file, path, why, why_size);

	file->bytes = bytes;
	file->size = size;
	if (!error)
		error = finish(file, why, why_size);
	if (error)
		ncs_recorded_file_release(file);
	return error;
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
