/* SPDX-License-Identifier: MIT */
/* Finds the ranks of a recording, and the chunks of each; see
 * recording_internal.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/base/hash_table.h"
#include "ncclstat/abi_header.h"
#include "record/read/recording_internal.h"
#include "shm/array.h"
#include "shm/hash.h"
#include "shm/read/job.h"

/* A rank's number in a file is less than this and the number of its chunks: it
 * is that of the ranks before it. */
#define NUMBERS_LEAST 16384u

/* --- An index ------------------------------------------------------------- */

/* A rank that can be found by a hash. */
struct found_rank {
	struct ncs_hash_link link;
	size_t rank;
};

/* Ranks, of which as many are added as there is room for. */
struct rank_index {
	struct ncs_hash_table table;
	struct found_rank *items;
	size_t count;
};

/* Returns what is the same in all recordings of a segment, as a hash. */
static uint64_t hash_of(const struct ncs_header *header, const char *path,
			size_t path_bytes)
{
	return ncs_hash_add(ncs_hash_add(XXH3_64bits(path, path_bytes),
					 header->created),
			    header->pid);
}

/* --- Ranks ---------------------------------------------------------------- */

/* Returns 0 or -ENOMEM. */
static int add_ref(struct ncs_chunk_refs *refs, struct ncs_chunk_ref at)
{
	if (ncs_array_reserve(&refs->at, &refs->capacity, refs->count + 1,
			      sizeof(*refs->at)) != 0)
		return -ENOMEM;
	refs->at[refs->count++] = at;
	return 0;
}

bool ncs_recording_read_rank(struct ncs_recorded_file *file,
			     struct ncs_chunk_place *place,
			     struct ncs_header *header, uid_t *owner,
			     const char **path, size_t *path_bytes)
{
	struct ncs_payload payload =
		ncs_recorded_file_payload(file, place, NULL);

	return ncs_rank_payload_read(payload.bytes, payload.size, header, owner,
				     path, path_bytes);
}

static bool is_same_process(const struct ncs_header *a,
			    const struct ncs_header *b)
{
	return a->pid == b->pid && a->process_start == b->process_start &&
	       a->created == b->created &&
	       a->segment_bytes == b->segment_bytes &&
	       strcmp(a->boot_id, b->boot_id) == 0;
}

/* Finds a segment of a host that was named before, perhaps in an earlier
 * recording. Returns SIZE_MAX if it was not. */
static size_t find_rank(const struct ncs_recording *recording,
			const struct rank_index *index, size_t host,
			const struct ncs_header *header, const char *path,
			size_t path_bytes)
{
	const struct found_rank *found = ncs_hash_table_first(
		&index->table, hash_of(header, path, path_bytes));

	for (; found; found = ncs_hash_table_next(found)) {
		const struct ncs_rank_entry *rank =
			&recording->ranks[found->rank];

		if (rank->facts.host == host &&
		    is_same_process(&rank->recorded, header) &&
		    strlen(rank->path) == path_bytes &&
		    memcmp(rank->path, path, path_bytes) == 0)
			return found->rank;
	}
	return SIZE_MAX;
}

static int add_rank(struct ncs_recording *recording, size_t host,
		    const struct ncs_header *header, const char *path,
		    size_t path_bytes)
{
	struct ncs_rank_entry *rank;

	if (ncs_array_reserve(&recording->ranks, &recording->rank_capacity,
			      recording->rank_count + 1, sizeof(*rank)) != 0)
		return -ENOMEM;
	rank = &recording->ranks[recording->rank_count++];
	memset(rank, 0, sizeof(*rank));
	rank->recorded = *header;
	rank->facts.host = host;
	rank->facts.owner = NCS_NO_OWNER;
	rank->path = strndup(path, path_bytes);
	return rank->path ? 0 : -ENOMEM;
}

/* The ranks of a file by their numbers, as of a place in it. */
struct file_numbers {
	uint32_t *owners; /* NCS_NO_RANK: none is known */
	size_t count;
	size_t capacity;
};

/* Returns where the owner of a number is; NULL if there is no memory. */
static uint32_t *owner_of(struct file_numbers *numbers, uint32_t number)
{
	if (ncs_array_reserve(&numbers->owners, &numbers->capacity,
			      (size_t)number + 1,
			      sizeof(*numbers->owners)) != 0)
		return NULL;
	while (numbers->count <= number)
		numbers->owners[numbers->count++] = NCS_NO_RANK;
	return &numbers->owners[number];
}

/* Finds or adds a rank. Sets *rank to its number. */
static int name_rank(struct ncs_recording *recording, struct rank_index *index,
		     size_t host, const struct ncs_header *header,
		     const char *path, size_t path_bytes, uint32_t *rank)
{
	size_t found = find_rank(recording, index, host, header, path,
				 path_bytes);
	struct found_rank *item;
	int error = 0;

	if (found == SIZE_MAX) {
		found = recording->rank_count;
		error = add_rank(recording, host, header, path, path_bytes);
		item = &index->items[index->count++];
		item->rank = found;
		if (!error)
			error = ncs_hash_table_insert(
				&index->table, &item->link,
				hash_of(header, path, path_bytes));
	}
	*rank = (uint32_t)found;
	return error;
}

static int take_rank(struct ncs_recording *recording, struct rank_index *index,
		     size_t number, struct file_numbers *numbers,
		     struct ncs_chunk_place *place)
{
	struct ncs_recorded_file *file = &recording->files[number];
	const struct ncs_file_series *series =
		&recording->series[recording->file_series[number]];
	struct ncs_header header;
	size_t path_bytes;
	const char *path;
	uint32_t *owner;
	uid_t user;
	int error;

	if (place->rank >= NUMBERS_LEAST + file->count) {
		file->damaged += place->check != NCS_PLACE_DAMAGED;
		return 0;
	}
	owner = owner_of(numbers, place->rank);
	if (!owner)
		return -ENOMEM;
	*owner = NCS_NO_RANK;
	if (!ncs_recording_read_rank(file, place, &header, &user, &path,
				     &path_bytes)) {
		file->damaged += place->check != NCS_PLACE_DAMAGED;
		return 0;
	}
	error = name_rank(recording, index, series->host, &header, path,
			  path_bytes, owner);
	if (!error && user != NCS_NO_OWNER)
		recording->ranks[*owner].facts.owner = user;
	return error;
}

/* Extends the rank's time by the chunk's. Times are still in the host's
 * clock. */
static void extend(struct ncs_rank_entry *rank, struct ncs_file_series *series,
		   const struct ncs_chunk_place *place)
{
	struct ncs_recorded_rank *facts = &rank->facts;

	if (rank->states.count + rank->records.count == 1 ||
	    place->from_ns < facts->from_ns)
		facts->from_ns = place->from_ns;
	if (place->until_ns > facts->until_ns)
		facts->until_ns = place->until_ns;
	if (place->type == NCS_CHUNK_STATE && place->from_ns < series->from_ns)
		series->from_ns = place->from_ns;
	if (place->type == NCS_CHUNK_RECORDS &&
	    place->from_ns < series->records_from_ns)
		series->records_from_ns = place->from_ns;
	if (place->until_ns > series->until_ns)
		series->until_ns = place->until_ns;
	facts->records += place->records;
	facts->lost += place->lost;
}

static int take_place(struct ncs_recording *recording, size_t file,
		      size_t index, const struct file_numbers *numbers)
{
	struct ncs_chunk_place *place = &recording->files[file].places[index];
	struct ncs_file_series *series =
		&recording->series[recording->file_series[file]];
	const struct ncs_chunk_ref at = { (uint32_t)file, (uint32_t)index };
	struct ncs_rank_entry *rank;
	int error;

	if (place->rank >= numbers->count || place->from_ns > place->until_ns)
		return 0;
	place->owner = numbers->owners[place->rank];
	if (place->owner == NCS_NO_RANK)
		return 0;
	rank = &recording->ranks[place->owner];
	if (place->type == NCS_CHUNK_STACK)
		return add_ref(&rank->stacks, at);
	if (place->type == NCS_CHUNK_STATE) {
		error = add_ref(&rank->states, at);
	} else {
		error = add_ref(&rank->records, at);
		if (!error)
			error = add_ref(&series->records, at);
	}
	if (!error)
		extend(rank, series, place);
	return error;
}

/* Takes the ranks of a file and their chunks, in its order: a number is that of
 * another rank once it is named again. */
static int take_file(struct ncs_recording *recording, struct rank_index *index,
		     size_t number)
{
	struct ncs_recorded_file *file = &recording->files[number];
	struct ncs_file_series *series =
		&recording->series[recording->file_series[number]];
	struct file_numbers numbers = { 0 };
	int error = 0;

	for (size_t i = 0; i < file->count && !error; i++) {
		struct ncs_chunk_place *place = &file->places[i];

		place->owner = NCS_NO_RANK;
		if (place->type == NCS_CHUNK_RANK)
			error = take_rank(recording, index, number, &numbers,
					  place);
		else if (place->type == NCS_CHUNK_STATE ||
			 place->type == NCS_CHUNK_RECORDS ||
			 place->type == NCS_CHUNK_STACK)
			error = take_place(recording, number, i, &numbers);
		else if (place->type == NCS_CHUNK_PEAKS)
			error = add_ref(&series->peaks,
					(struct ncs_chunk_ref){ (uint32_t)number,
								(uint32_t)i });
	}
	free(numbers.owners);
	return error;
}

/* Returns when a recording begins: with its first state, as records may be from before;
 * with its first record if it has no state. */
static uint64_t begin_of(const struct ncs_file_series *series)
{
	return series->from_ns != UINT64_MAX ? series->from_ns :
					       series->records_from_ns;
}

static int compare_refs(const void *left, const void *right, void *context)
{
	const struct ncs_recording *recording = context;
	const struct ncs_chunk_ref *a = left, *b = right;
	size_t one = recording->file_series[a->file];
	size_t other = recording->file_series[b->file];
	const uint64_t keys[][2] = {
		{ begin_of(&recording->series[one]),
		  begin_of(&recording->series[other]) },
		{ a->file, b->file },
		{ a->place, b->place },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

/* Puts chunks of successive recordings of a rank in the order of these, in whatever
 * order they were given. */
static void put_in_order(struct ncs_recording *recording,
			 struct ncs_chunk_refs *refs)
{
	if (refs->count > 0 &&
	    recording->file_series[refs->at[0].file] !=
		    recording->file_series[refs->at[refs->count - 1].file])
		qsort_r(refs->at, refs->count, sizeof(*refs->at), compare_refs,
			recording);
}

int ncs_recording_take_ranks(struct ncs_recording *recording)
{
	struct rank_index index = { .count = 0 };
	size_t named = 0;
	int error = 0;

	for (size_t i = 0; i < recording->file_count; i++)
		for (size_t k = 0; k < recording->files[i].count; k++)
			named += recording->files[i].places[k].type ==
				 NCS_CHUNK_RANK;
	index.items = calloc(named + 1, sizeof(*index.items));
	if (!index.items)
		return -ENOMEM;
	for (size_t i = 0; i < recording->file_count && !error; i++)
		error = take_file(recording, &index, i);
	ncs_hash_table_release(&index.table);
	free(index.items);
	for (size_t i = 0; i < recording->rank_count && !error; i++) {
		put_in_order(recording, &recording->ranks[i].states);
		put_in_order(recording, &recording->ranks[i].records);
		put_in_order(recording, &recording->ranks[i].stacks);
	}
	return error;
}

/* A rank that is found by its id. */
struct named_rank {
	struct ncs_name_link link;
	unsigned next; /* number that makes another one with its id unique */
};

static struct named_rank *find_id(const struct ncs_hash_table *ids,
				  const char *id)
{
	return ncs_hash_table_find_name(ids, id, strlen(id));
}

/* Names a rank by its path, as in the live view, or if there are several hosts
 * by host and path. A number makes a name unique that is taken. */
static int set_id(struct ncs_recording *recording, struct ncs_hash_table *ids,
		  struct named_rank *named, struct ncs_rank_entry *rank)
{
	bool several = recording->host_count > 1;
	const char *host = recording->hosts[rank->facts.host].name;
	struct named_rank *first;
	char *plain;

	if (asprintf(&plain, "%s%s%s", several ? host : "", several ? ":" : "",
		     rank->path) < 0)
		return -ENOMEM;
	rank->id = plain;
	first = find_id(ids, plain);
	while (first && find_id(ids, rank->id)) {
		if (rank->id != plain)
			free(rank->id);
		if (asprintf(&rank->id, "%s (%u)", plain, first->next++) < 0) {
			rank->id = plain;
			return -ENOMEM;
		}
	}
	if (rank->id != plain)
		free(plain);
	rank->facts.id = rank->id;
	named->next = 2;
	return ncs_hash_table_insert_name(ids, &named->link, rank->id);
}

int ncs_recording_name_ranks(struct ncs_recording *recording)
{
	struct named_rank *named =
		calloc(recording->rank_count + 1, sizeof(*named));
	struct ncs_hash_table ids = { .count = 0 };
	int error = named ? 0 : -ENOMEM;

	for (size_t i = 0; i < recording->rank_count && !error; i++)
		error = set_id(recording, &ids, &named[i],
			       &recording->ranks[i]);
	ncs_hash_table_release(&ids);
	free(named);
	return error;
}

/* Whether the state at a place of a rank is not later than the one before it, which
 * another recording has. */
static bool is_twice(const struct ncs_recording *recording,
		     const struct ncs_rank_entry *rank, size_t state)
{
	struct ncs_chunk_ref before = rank->states.at[state - 1];
	struct ncs_chunk_ref at = rank->states.at[state];

	return recording->file_series[before.file] !=
		       recording->file_series[at.file] &&
	       ncs_recording_chunk(recording, at)->from_ns <=
		       ncs_recording_chunk(recording, before)->from_ns;
}

int ncs_recording_refuse_twice(const struct ncs_recording *recording, char *why,
			       size_t why_size)
{
	for (size_t i = 0; i < recording->rank_count; i++) {
		const struct ncs_rank_entry *rank = &recording->ranks[i];

		for (size_t k = 1; k < rank->states.count; k++) {
			if (!is_twice(recording, rank, k))
				continue;
			snprintf(why, why_size,
				 "%s and %s have recorded the same rank at the"
				 " same time: give one of them",
				 recording->files[rank->states.at[k - 1].file]
					 .path,
				 recording->files[rank->states.at[k].file]
					 .path);
			return -EEXIST;
		}
	}
	return 0;
}
