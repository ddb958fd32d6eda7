/* SPDX-License-Identifier: MIT */
/* Opens one file of a recording and finds its chunks: by its indexes, and by a
 * search for those that are in none, as the file was cut, is damaged, or is still
 * growing; see recording_file.h. */
#include "record/read/recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

/* --- By a search --------------------------------------------------------- */

static bool is_blank(const struct ncs_recorded_file *file, uint64_t offset,
		     uint64_t limit)
{
	static const char zeros[NCS_CHUNK_ALIGNMENT];
	uint64_t size = limit - offset;

	if (size > sizeof(zeros))
		size = sizeof(zeros);
	return memcmp(file->bytes + offset, zeros, size) == 0;
}

/* Finds the next chunk, and counts the bytes skipped before it. Returns false
 * if there is none. Zeros are not counted: they are reserved space that was
 * never written. */
static bool find_chunk(const struct ncs_recorded_file *file, uint64_t *offset,
		       uint64_t limit, struct ncs_chunk *chunk,
		       uint64_t *skipped_bytes)
{
	*skipped_bytes = 0;
	while (*offset < limit) {
		uint64_t left = limit - *offset;

		if (ncs_recorded_file_chunk(file, *offset, limit, chunk))
			return true;
		if (!is_blank(file, *offset, limit))
			*skipped_bytes += left < NCS_CHUNK_ALIGNMENT ?
						  left :
						  NCS_CHUNK_ALIGNMENT;
		*offset += NCS_CHUNK_ALIGNMENT;
	}
	return false;
}

/* Whether chunks of this type are kept. Indexes are not needed, as the search
 * finds the chunks in them; ends and padding hold nothing that is read. */
static bool is_wanted(uint32_t type)
{
	return type != NCS_CHUNK_INDEX && type != NCS_CHUNK_END &&
	       type != NCS_CHUNK_PADDING;
}

/* Adds a chunk of a known or unknown type. */
static int add(struct ncs_recorded_file *file, uint64_t offset,
	       const struct ncs_chunk *chunk)
{
	struct ncs_chunk_place place = {
		.offset = offset,
		.from_ns = chunk->from_ns,
		.until_ns = chunk->until_ns,
		.rank = chunk->rank,
		.bytes = (uint32_t)chunk->bytes,
		.type = (uint16_t)chunk->type,
	};
	struct ncs_payload payload;

	if (chunk->type > UINT16_MAX || !is_wanted(chunk->type))
		return 0;
	payload = ncs_recorded_file_payload(file, &place, NULL);
	if (!payload.bytes)
		return 0;
	if (chunk->type == NCS_CHUNK_RECORDS &&
	    payload.size >= sizeof(struct ncs_records_head)) {
		struct ncs_records_head head;

		memcpy(&head, payload.bytes, sizeof(head));
		if (head.count >
		    (payload.size - sizeof(head)) / sizeof(struct ncs_record)) {
			file->damaged++;
			return 0;
		}
		place.records = head.count;
		place.lost = head.lost;
	}
	return ncs_recorded_file_add(file, &place);
}

/* Adds the chunks found from one offset up to another. Counts all skipped
 * bytes, and each gap that a chunk follows as damage. Returns 0 or -ENOMEM. */
static int scan(struct ncs_recorded_file *file, uint64_t from, uint64_t until)
{
	uint64_t offset = ncs_chunk_round(from), skipped;
	struct ncs_chunk chunk;
	int error = 0;

	while (!error && find_chunk(file, &offset, until, &chunk, &skipped)) {
		file->skipped_bytes += skipped;
		file->damaged += skipped > 0;
		error = add(file, offset, &chunk);
		offset += ncs_chunk_file_bytes(&chunk);
		skipped = 0;
	}
	/* Behind the last chunk: a chunk was cut short, or is being written. */
	file->skipped_bytes += skipped;
	return error;
}

/* Returns the offset of the last good index in a file; 0 if there is none. */
static uint64_t last_index(const struct ncs_recorded_file *file)
{
	uint64_t offset = file->size & ~(uint64_t)(NCS_CHUNK_ALIGNMENT - 1);
	struct ncs_chunk chunk;

	while (offset > 0) {
		uint64_t magic;

		offset -= NCS_CHUNK_ALIGNMENT;
		if (file->size - offset < sizeof(chunk))
			continue;
		memcpy(&magic, file->bytes + offset, sizeof(magic));
		if (magic == NCS_CHUNK_MAGIC &&
		    ncs_recorded_file_chunk(file, offset, file->size, &chunk) &&
		    chunk.type == NCS_CHUNK_INDEX)
			return offset;
	}
	return 0;
}

/* --- By the indexes ------------------------------------------------------ */

/* Size of an index chunk made by the writer, in bytes. */
#define INDEX_BYTES (UINT64_C(1) << 16)

/* Sets *limit to the end of the file without its last chunk, and *index to
 * the offset of its last index. */
static void find_end(struct ncs_recorded_file *file, uint64_t *limit,
		     uint64_t *index)
{
	uint64_t offset =
		file->size - sizeof(struct ncs_chunk) - sizeof(struct ncs_end);
	struct ncs_chunk chunk;
	struct ncs_end end;

	if (file->size >= sizeof(chunk) + sizeof(end) &&
	    ncs_recorded_file_chunk(file, offset, file->size, &chunk) &&
	    chunk.type == NCS_CHUNK_END && chunk.bytes == sizeof(end) &&
	    ncs_chunk_payload_is_good(&chunk,
				      file->bytes + offset + sizeof(chunk))) {
		memcpy(&end, file->bytes + offset + sizeof(chunk), sizeof(end));
		file->has_end = true;
		*limit = offset;
		*index = end.index_offset;
		return;
	}
	*limit = file->size;
	*index = last_index(file);
}

static bool entry_is_good(const struct ncs_index_entry *entry, uint64_t limit)
{
	return entry->offset % NCS_CHUNK_ALIGNMENT == 0 &&
	       entry->type <= UINT16_MAX &&
	       entry->bytes <= NCS_PAYLOAD_BYTES_MAX && entry->offset < limit &&
	       entry->records <=
		       NCS_PAYLOAD_BYTES_MAX / sizeof(struct ncs_record) &&
	       sizeof(struct ncs_chunk) + entry->bytes <= limit - entry->offset;
}

static int take_entry(struct ncs_recorded_file *file,
		      const struct ncs_index_entry *entry, uint64_t limit)
{
	if (!entry_is_good(entry, limit)) {
		file->damaged++;
		return 0;
	}
	return ncs_recorded_file_add(file,
				     &(struct ncs_chunk_place){
					     .offset = entry->offset,
					     .from_ns = entry->from_ns,
					     .until_ns = entry->until_ns,
					     .records = entry->records,
					     .lost = entry->lost,
					     .rank = entry->rank,
					     .bytes = (uint32_t)entry->bytes,
					     .type = (uint16_t)entry->type,
				     });
}

/* Reads the index at an offset, which ends before `limit`, and adds its entries.
 * Sets *head, *first to the offset of its first entry, and *end to the offset
 * behind it. Returns 1; 0 if there is no good index; or -ENOMEM. */
static int take_index(struct ncs_recorded_file *file, uint64_t offset,
		      uint64_t limit, struct ncs_index_head *head,
		      uint64_t *first, uint64_t *end)
{
	struct ncs_chunk_place place = { .offset = offset,
					 .type = NCS_CHUNK_INDEX };
	struct ncs_index_entry entry;
	struct ncs_payload payload;
	struct ncs_chunk chunk;
	int error = 0;

	ncs_recorded_file_fetch(file, offset, INDEX_BYTES);
	if (!ncs_recorded_file_chunk(file, offset, limit, &chunk) ||
	    chunk.type != NCS_CHUNK_INDEX)
		return 0;
	place.rank = chunk.rank;
	place.bytes = (uint32_t)chunk.bytes;
	payload = ncs_recorded_file_payload(file, &place, NULL);
	if (!payload.bytes || payload.size < sizeof(*head))
		return 0;
	memcpy(head, payload.bytes, sizeof(*head));
	if (head->entry_bytes < sizeof(entry) ||
	    (uint64_t)head->count * head->entry_bytes >
		    payload.size - sizeof(*head))
		return 0;
	*first = offset;
	*end = offset + ncs_chunk_file_bytes(&chunk);
	for (uint32_t i = head->count; i-- > 0 && !error;) {
		memcpy(&entry,
		       payload.bytes + sizeof(*head) +
			       (size_t)i * head->entry_bytes,
		       sizeof(entry));
		if (i == 0 && entry.offset < offset)
			*first = entry.offset;
		error = take_entry(file, &entry, offset);
	}
	return error ? error : 1;
}

static int compare(const void *left, const void *right)
{
	const struct ncs_chunk_place *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sorts the places by offset and removes duplicates. */
static void put_in_order(struct ncs_recorded_file *file)
{
	bool in_order = true;
	size_t kept = 0;

	for (size_t i = 1; i < file->count && in_order; i++)
		in_order = file->places[i - 1].offset < file->places[i].offset;
	if (in_order)
		return;
	qsort(file->places, file->count, sizeof(*file->places), compare);
	for (size_t i = 0; i < file->count; i++)
		if (kept == 0 ||
		    file->places[kept - 1].offset != file->places[i].offset)
			file->places[kept++] = file->places[i];
	file->count = kept;
}

static void reverse(struct ncs_chunk_place *places, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct ncs_chunk_place place = places[i];

		places[i] = places[count - 1 - i];
		places[count - 1 - i] = place;
	}
}

/* Adds the places of all chunks to the file, by its indexes, the last one first,
 * and by a search where there is no good one. Returns 0 or -ENOMEM. */
static int find_chunks(struct ncs_recorded_file *file)
{
	uint64_t limit, offset, before, end, first = 0, indexed_until = 0;
	struct ncs_index_head head = { 0 };
	int found = 1, error = 0;

	find_end(file, &limit, &offset);
	before = limit;
	/* An index lies before the one that refers to it, so this loop ends. */
	while (offset != 0 && found == 1) {
		found = take_index(file, offset, before, &head, &first, &end);
		if (found == 1 && before == limit)
			indexed_until = end;
		before = offset;
		offset = head.previous_offset;
	}
	if (found < 0)
		return found;
	reverse(file->places, file->count);
	/* Nothing is known of what lies before an index that cannot be read. */
	if (found == 0)
		error = scan(file, 0, first);
	if (!error)
		error = scan(file, indexed_until, limit);
	put_in_order(file);
	return error;
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
	error = find_chunks(file);
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
