/* SPDX-License-Identifier: MIT */
/* Opens one file of a recording; see recording_file.h. */
#include "record/read/recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ncclstat/abi_header.h"
#include "shm/read/guard.h"

/* --- Checking the file --------------------------------------------------- */

static int refuse(const struct ncs_recorded_file *file, int error,
		  const char *reason, char *why, size_t why_size)
{
	snprintf(why, why_size, "%s: %s", file->path, reason);
	return -error;
}

/* Describes a file that is not a recording by its first word. Returns NULL if
 * it may be a recording. */
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

/* Whether there is a good chunk anywhere, so that the file is a recording. */
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
