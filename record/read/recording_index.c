/* SPDX-License-Identifier: MIT */
/* Finds chunks by the indexes of a file. Begins with the last index that is
 * good, and goes backwards from each index to the one before it. Searches for
 * the chunks that are in no index (recording_scan.c). */
#include "record/read/recording_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/array.h"

/* Size of an index chunk made by the writer, in bytes. */
#define INDEX_BYTES (UINT64_C(1) << 16)

struct file_index {
	uint64_t offset;
	uint64_t end; /* offset behind the index */
	struct ncs_index_head head;
};

/* The indexes of a file, the last one first. */
struct index_chain {
	struct file_index *indexes;
	size_t count;
	size_t capacity;
	bool broken; /* an earlier index could not be read */
};

/* --- The end ------------------------------------------------------------- */

/* Sets *limit to the end of the file without its last chunk, and *last_index to
 * the offset of its last index. */
static void find_end(struct ncs_recorded_file *file, uint64_t *limit,
		     uint64_t *last_index)
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
		*last_index = end.index_offset;
		return;
	}
	*limit = file->size;
	*last_index = ncs_recorded_file_last_index(file, file->size);
}

/* --- The chain ----------------------------------------------------------- */

/* Reads the index at an offset. Returns its entries, unpacked; NULL if there is
 * no good index. */
static const char *read_index(struct ncs_recorded_file *file, uint64_t offset,
			      uint64_t limit, struct file_index *index)
{
	struct ncs_chunk_place place = { .offset = offset,
					 .type = NCS_CHUNK_INDEX };
	struct ncs_payload payload;
	struct ncs_chunk chunk;

	ncs_recorded_file_fetch(file, offset, INDEX_BYTES);
	if (!ncs_recorded_file_chunk(file, offset, limit, &chunk) ||
	    chunk.type != NCS_CHUNK_INDEX)
		return NULL;
	place.rank = chunk.rank;
	place.bytes = (uint32_t)chunk.bytes;
	payload = ncs_recorded_file_payload(file, &place, NULL);
	if (!payload.bytes || payload.size < sizeof(index->head))
		return NULL;
	memcpy(&index->head, payload.bytes, sizeof(index->head));
	index->offset = offset;
	index->end = offset + ncs_chunk_file_bytes(&chunk);
	if (index->head.entry_bytes < sizeof(struct ncs_index_entry) ||
	    (uint64_t)index->head.count * index->head.entry_bytes >
		    payload.size - sizeof(index->head))
		return NULL;
	return payload.bytes + sizeof(index->head);
}

static int append(struct index_chain *chain, const struct file_index *index)
{
	if (ncs_array_reserve(&chain->indexes, &chain->capacity,
			      chain->count + 1, sizeof(*chain->indexes)) != 0)
		return -ENOMEM;
	chain->indexes[chain->count++] = *index;
	return 0;
}

static int follow(struct ncs_recorded_file *file, uint64_t offset,
		  uint64_t limit, struct index_chain *chain)
{
	while (offset != 0) {
		struct file_index index;
		int error;

		/* An index lies before the one that refers to it, so this loop
		 * ends. */
		if (!read_index(file, offset, limit, &index)) {
			chain->broken = true;
			return 0;
		}
		error = append(chain, &index);
		if (error)
			return error;
		limit = offset;
		offset = index.head.previous_offset;
	}
	return 0;
}

/* --- Entries ------------------------------------------------------------- */

static bool entry_is_good(const struct ncs_index_entry *entry, uint64_t limit)
{
	return entry->offset % NCS_CHUNK_ALIGNMENT == 0 &&
	       entry->type <= UINT16_MAX &&
	       entry->bytes <= NCS_PAYLOAD_BYTES_MAX && entry->offset < limit &&
	       entry->records <=
		       NCS_PAYLOAD_BYTES_MAX / sizeof(struct ncs_record) &&
	       sizeof(struct ncs_chunk) + entry->bytes <= limit - entry->offset;
}

static int take_entry(struct ncs_recorded_file *file, const char *bytes,
		      uint64_t limit)
{
	struct ncs_index_entry entry;

	memcpy(&entry, bytes, sizeof(entry));
	if (!entry_is_good(&entry, limit)) {
		file->damaged++;
		return 0;
	}
	return ncs_recorded_file_add(file,
				     &(struct ncs_chunk_place){
					     .offset = entry.offset,
					     .from_ns = entry.from_ns,
					     .until_ns = entry.until_ns,
					     .records = entry.records,
					     .lost = entry.lost,
					     .rank = entry.rank,
					     .bytes = (uint32_t)entry.bytes,
					     .type = (uint16_t)entry.type,
				     });
}

static int take_entries(struct ncs_recorded_file *file, uint64_t offset,
			uint64_t limit)
{
	struct file_index index;
	const char *entries = read_index(file, offset, limit, &index);
	int error = 0;

	for (uint32_t i = 0; entries && !error && i < index.head.count; i++)
		error = take_entry(file,
				   entries + (size_t)i * index.head.entry_bytes,
				   offset);
	return error;
}

/* Returns the offset of the first chunk that is in an index. If the chain is
 * broken, everything before that must be searched. */
static uint64_t first_indexed(struct ncs_recorded_file *file,
			      const struct index_chain *chain, uint64_t limit)
{
	struct ncs_index_entry entry;
	const struct file_index *first;
	const char *entries;
	struct file_index index;

	if (chain->count == 0)
		return 0;
	first = &chain->indexes[chain->count - 1];
	entries = read_index(file, first->offset, limit, &index);
	if (!entries || index.head.count == 0)
		return first->offset;
	memcpy(&entry, entries, sizeof(entry));
	return entry.offset < first->offset ? entry.offset : first->offset;
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

int ncs_recorded_file_index(struct ncs_recorded_file *file)
{
	struct index_chain chain = { 0 };
	uint64_t limit, last_index, indexed_until = 0;
	int error;

	find_end(file, &limit, &last_index);
	error = follow(file, last_index, limit, &chain);
	if (chain.count > 0)
		indexed_until = chain.indexes[0].end;
	if (!error && chain.broken)
		error = ncs_recorded_file_scan(
			file, 0, first_indexed(file, &chain, limit));
	for (size_t i = chain.count; i-- > 0 && !error;)
		error = take_entries(file, chain.indexes[i].offset, limit);
	if (!error)
		error = ncs_recorded_file_scan(file, indexed_until, limit);
	put_in_order(file);
	free(chain.indexes);
	return error;
}
