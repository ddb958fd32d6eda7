/* SPDX-License-Identifier: MIT */
/* Opens a segment or an image and reads records; implements those parts of
 * ncclstat/reader.h and image.h. A mapping is hostile input: its geometry is validated once
 * in a private copy of the header, and only that copy is used for
 * addressing. */
#include "ncclstat/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "shm/clock.h"
#include "shm/read/image.h"
#include "shm/read/job.h"
#include "shm/read/reader_internal.h"
#include "shm/segment.h"

/* --- Attaching --------------------------------------------------------- */

/* Copies the header, which may change meanwhile, and terminates its strings. */
static void copy_header(struct ncs_header *copy,
			const struct ncs_header *mapped)
{
	ncs_load_words(copy, mapped, sizeof(*copy));
	copy->host[sizeof(copy->host) - 1] = '\0';
	copy->boot_id[sizeof(copy->boot_id) - 1] = '\0';
	copy->identity.comm_name[sizeof(copy->identity.comm_name) - 1] = '\0';
	copy->identity.gpu[sizeof(copy->identity.gpu) - 1] = '\0';
}

/* Reads the version before the rest of the header, and checks both. */
static enum ncs_attach check_header(struct ncs_reader *reader, char *why,
				    size_t why_size)
{
	const struct ncs_header *mapped =
		(const struct ncs_header *)reader->mapping;
	uint64_t magic = ncs_load_relaxed(&mapped->magic);
	const char *wrong;
	uint32_t version;

	if (magic != 0 && magic != NCS_MAGIC)
		return ncs_attach_refuse(
			NCS_ATTACH_CORRUPT,
			"it does not begin with ncclstat's magic", why,
			why_size);
	/* ORDER: pairs with ncs_writer_publish() (shm/write/writer.c): a reader
	 * that sees the version sees the complete header. */
	version = ncs_load_acquire32(&mapped->version);
	if (version == 0)
		return ncs_attach_refuse(NCS_ATTACH_NOT_READY,
					 "it is not ready yet", why, why_size);
	if (version >> 16 != NCS_ABI_MAJOR) {
		if (why)
			snprintf(why, why_size,
				 "it was made by a plugin with format %u.%u,"
				 " this program reads %u.%u",
				 version >> 16, version & 0xffff, NCS_ABI_MAJOR,
				 NCS_ABI_MINOR);
		return NCS_ATTACH_OTHER_VERSION;
	}
	copy_header(&reader->header, mapped);
	wrong = ncs_segment_check(&reader->header, reader->mapped_bytes);
	return wrong ? ncs_attach_refuse(NCS_ATTACH_CORRUPT, wrong, why,
					 why_size) :
		       NCS_ATTACHED;
}

/* Validates the mapping and allocates what the reader needs; does not refine the
 * clock. */
static enum ncs_attach attach(struct ncs_reader *reader, char *why,
			      size_t why_size)
{
	enum ncs_attach result = check_header(reader, why, why_size);

	if (result != NCS_ATTACHED)
		return result;
	reader->cursors =
		calloc(reader->header.lanes.count, sizeof(*reader->cursors));
	reader->marked = calloc((reader->header.operations.count + 63) / 64,
				sizeof(*reader->marked));
	if (!reader->cursors || !reader->marked || ncs_job_attach(reader) != 0)
		return ncs_attach_failure(ENOMEM, why, why_size);
	return NCS_ATTACHED;
}

/* Opens a reader of an image or, if that is NULL, of the file at the path. */
static enum ncs_attach open_reader(const char *path, const void *image,
				   size_t bytes, struct ncs_reader **out,
				   char *why, size_t why_size)
{
	struct ncs_reader *reader = calloc(1, sizeof(*reader));
	enum ncs_attach result = NCS_ATTACHED;

	*out = NULL;
	if (reader)
		reader->path = strdup(path);
	if (!reader || !reader->path)
		result = ncs_attach_failure(ENOMEM, why, why_size);
	else if (!image)
		result = ncs_mapping_open(&reader->file, path, false,
					  sizeof(struct ncs_header), SIZE_MAX,
					  why, why_size);
	if (result == NCS_ATTACHED) {
		reader->mapping = image ? image : reader->file.start;
		reader->mapped_bytes = image ? bytes : reader->file.bytes;
		result = attach(reader, why, why_size);
	}
	if (result == NCS_ATTACHED)
		*out = reader;
	else
		ncs_reader_close(reader);
	return result;
}

enum ncs_attach ncs_reader_open(const char *path, struct ncs_reader **reader,
				char *why, size_t why_size)
{
	enum ncs_attach result =
		open_reader(path, NULL, 0, reader, why, why_size);

	if (result == NCS_ATTACHED)
		ncs_clock_refine(&(*reader)->header.clock);
	return result;
}

enum ncs_attach ncs_reader_open_image(const void *image, size_t bytes,
				      const char *path,
				      struct ncs_reader **reader, char *why,
				      size_t why_size)
{
	*reader = NULL;
	return bytes < sizeof(struct ncs_header) ?
		       ncs_attach_refuse(NCS_ATTACH_CORRUPT, "it is too short",
					 why, why_size) :
		       open_reader(path, image, bytes, reader, why, why_size);
}

void ncs_reader_set_process_state(struct ncs_reader *reader,
				  struct ncs_process_state state)
{
	reader->process = state;
}

void ncs_reader_set_image(struct ncs_reader *reader, const void *image)
{
	reader->mapping = image;
}

void ncs_reader_close(struct ncs_reader *reader)
{
	if (!reader)
		return;
	ncs_mapping_close(&reader->file);
	free(reader->path);
	free(reader->labels);
	free(reader->cursors);
	free(reader->marked);
	free(reader);
}

void ncs_reader_rest(struct ncs_reader *reader)
{
	if (!ncs_reader_is_image(reader))
		madvise(reader->file.start, reader->file.bytes, MADV_DONTNEED);
}

const char *ncs_reader_path(const struct ncs_reader *reader)
{
	return reader->path;
}

const struct ncs_header *ncs_reader_header(const struct ncs_reader *reader)
{
	return &reader->header;
}

uid_t ncs_reader_owner(const struct ncs_reader *reader)
{
	return reader->file.owner;
}

bool ncs_reader_is_valid(const struct ncs_reader *reader)
{
	struct stat status;

	if (ncs_reader_is_image(reader))
		return true;
	return lstat(reader->path, &status) == 0 &&
	       status.st_dev == reader->file.device &&
	       status.st_ino == reader->file.inode &&
	       (uint64_t)status.st_size >= reader->file.bytes;
}

/* --- Records ----------------------------------------------------------- */

size_t ncs_reader_records(struct ncs_reader *reader, size_t lane,
			  struct ncs_record *records, size_t size,
			  uint64_t *lost)
{
	struct ncs_ring_cursor *cursor;
	struct ncs_mapped_ring mapped;
	uint64_t lost_before, available;
	size_t good;

	if (lane >= reader->header.lanes.count || size == 0 ||
	    ncs_reader_is_image(reader))
		return 0;
	if (!ncs_reader_uses_lane(reader, lane))
		return 0;
	mapped = ncs_reader_ring(reader, lane);
	cursor = &reader->cursors[lane];
	lost_before = cursor->lost;
	available = ncs_ring_available(mapped.ring, mapped.capacity, cursor);
	if (available < size)
		size = (size_t)available;
	good = ncs_ring_copy(mapped.ring,
			     (const struct ncs_record *)(mapped.ring + 1),
			     mapped.capacity, cursor, records, size);
	if (good < size)
		memmove(records, records + (size - good),
			good * sizeof(*records));
	*lost += cursor->lost - lost_before;
	return good;
}

uint64_t ncs_reader_position(const struct ncs_reader *reader, size_t lane)
{
	return reader->cursors[lane].next;
}

size_t ncs_reader_capacity(const struct ncs_reader *reader, size_t lane)
{
	return (size_t)ncs_reader_ring(reader, lane).capacity;
}

uint64_t ncs_reader_waiting(const struct ncs_reader *reader, size_t lane)
{
	uint64_t head;

	if (!ncs_reader_uses_lane(reader, lane))
		return 0;
	head = ncs_load_relaxed(&ncs_reader_ring(reader, lane).ring->head);
	return head > reader->cursors[lane].next ?
		       head - reader->cursors[lane].next :
		       0;
}

void ncs_reader_skip_overwritten(struct ncs_reader *reader)
{
	for (size_t i = 0; i < reader->header.lanes.count; i++) {
		uint64_t waiting = ncs_reader_waiting(reader, i);
		size_t capacity = ncs_reader_capacity(reader, i);
		size_t most = capacity - capacity / 8;

		if (waiting > most)
			reader->cursors[i].next += waiting - most;
	}
}
