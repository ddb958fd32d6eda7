/* SPDX-License-Identifier: MIT */
/* Finds the ranks of a recording, and the chunks of each; see
 * recording_internal.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/recording_internal.h"
#include "shm/array.h"

/* Largest number of ranks in one file. */
#define RANKS_MAX 16384u

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
			     struct ncs_header *header, const char **path,
			     size_t *path_bytes)
{
	struct ncs_payload payload =
		ncs_recorded_file_payload(file, place, NULL);

	return ncs_rank_payload_read(payload.bytes, payload.size, header, path,
				     path_bytes);
}

static bool is_same_process(const struct ncs_header *a,
			    const struct ncs_header *b)
{
	return a->pid == b->pid && a->process_start == b->process_start &&
	       a->created == b->created &&
	       a->segment_bytes == b->segment_bytes &&
	       strcmp(a->boot_id, b->boot_id) == 0;
}

/* Finds the same segment in an earlier file of the recording. Returns SIZE_MAX
 * if there is none. */
static size_t find_rank(const struct ncs_recording *recording,
			const struct ncs_file_series *series,
			const struct ncs_header *header, const char *path,
			size_t path_bytes)
{
	for (size_t i = 0; i < recording->rank_count; i++) {
		const struct ncs_rank_entry *rank = &recording->ranks[i];

		if (ncs_recording_is_same(rank->recording, series->recording) &&
		    is_same_process(&rank->recorded, header) &&
		    strlen(rank->path) == path_bytes &&
		    memcmp(rank->path, path, path_bytes) == 0)
			return i;
	}
	return SIZE_MAX;
}

static int add_rank(struct ncs_recording *recording,
		    const struct ncs_file_series *series,
		    const struct ncs_header *header, const char *path,
		    size_t path_bytes)
{
	struct ncs_rank_entry *rank;

	if (ncs_array_reserve(&recording->ranks, &recording->rank_capacity,
			      recording->rank_count + 1, sizeof(*rank)) != 0)
		return -ENOMEM;
	rank = &recording->ranks[recording->rank_count++];
	memset(rank, 0, sizeof(*rank));
	memcpy(rank->recording, series->recording, sizeof(rank->recording));
	rank->recorded = *header;
	rank->facts.host = series->host;
	rank->path = strndup(path, path_bytes);
	return rank->path ? 0 : -ENOMEM;
}

/* Makes room for a rank of this number in a file. */
static int grow_numbers(struct ncs_recording *recording, size_t file,
			uint32_t number)
{
	size_t count = (size_t)number + 1;
	size_t *grown = recording->file_ranks[file];

	if (number < recording->file_rank_counts[file])
		return 0;
	grown = realloc(grown, count * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (size_t i = recording->file_rank_counts[file]; i < count; i++)
		grown[i] = SIZE_MAX;
	recording->file_ranks[file] = grown;
	recording->file_rank_counts[file] = count;
	return 0;
}

static int take_rank(struct ncs_recording *recording, size_t index,
		     struct ncs_chunk_place *place)
{
	struct ncs_recorded_file *file = &recording->files[index];
	const struct ncs_file_series *series =
		&recording->series[recording->file_series[index]];
	struct ncs_header header;
	size_t path_bytes, rank;
	const char *path;
	int error;

	if (place->rank >= RANKS_MAX ||
	    !ncs_recording_read_rank(file, place, &header, &path,
				     &path_bytes)) {
		file->damaged += place->check != NCS_PLACE_DAMAGED;
		return 0;
	}
	error = grow_numbers(recording, index, place->rank);
	if (error)
		return error;
	rank = find_rank(recording, series, &header, path, path_bytes);
	if (rank == SIZE_MAX) {
		rank = recording->rank_count;
		error = add_rank(recording, series, &header, path, path_bytes);
	}
	if (!error)
		recording->file_ranks[index][place->rank] = rank;
	return error;
}

/* Returns the rank of a chunk; SIZE_MAX if it is not known. */
static size_t rank_of(const struct ncs_recording *recording, size_t file,
		      const struct ncs_chunk_place *place)
{
	return place->rank < recording->file_rank_counts[file] ?
		       recording->file_ranks[file][place->rank] :
		       SIZE_MAX;
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
	if (place->until_ns > series->until_ns)
		series->until_ns = place->until_ns;
	facts->records += place->records;
	facts->lost += place->lost;
}

static int take_place(struct ncs_recording *recording, size_t file,
		      size_t index)
{
	struct ncs_chunk_place *place = &recording->files[file].places[index];
	struct ncs_file_series *series =
		&recording->series[recording->file_series[file]];
	const struct ncs_chunk_ref at = { (uint32_t)file, (uint32_t)index };
	size_t number = rank_of(recording, file, place);
	struct ncs_rank_entry *rank;
	int error;

	if (number == SIZE_MAX || place->from_ns > place->until_ns)
		return 0;
	rank = &recording->ranks[number];
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

int ncs_recording_take_ranks(struct ncs_recording *recording)
{
	int error = 0;

	for (size_t i = 0; i < recording->file_count; i++) {
		struct ncs_recorded_file *file = &recording->files[i];

		for (size_t k = 0; k < file->count && !error; k++)
			if (file->places[k].type == NCS_CHUNK_RANK)
				error = take_rank(recording, i,
						  &file->places[k]);
		for (size_t k = 0; k < file->count && !error; k++)
			if (file->places[k].type == NCS_CHUNK_STATE ||
			    file->places[k].type == NCS_CHUNK_RECORDS)
				error = take_place(recording, i, k);
	}
	return error;
}

static bool is_taken(const struct ncs_recording *recording, size_t before,
		     const char *id)
{
	for (size_t i = 0; i < before; i++)
		if (strcmp(recording->ranks[i].id, id) == 0)
			return true;
	return false;
}

/* Names ranks by their paths, as in the live view, or if there are several
 * hosts by host and path. A number makes a name unique that is taken. */
int ncs_recording_name_ranks(struct ncs_recording *recording)
{
	for (size_t i = 0; i < recording->rank_count; i++) {
		struct ncs_rank_entry *rank = &recording->ranks[i];
		bool several = recording->host_count > 1;
		const char *host = recording->hosts[rank->facts.host].name;

		if (asprintf(&rank->id, "%s%s%s", several ? host : "",
			     several ? ":" : "", rank->path) < 0) {
			rank->id = NULL;
			return -ENOMEM;
		}
		for (unsigned n = 2; is_taken(recording, i, rank->id); n++) {
			free(rank->id);
			if (asprintf(&rank->id, "%s%s%s (%u)",
				     several ? host : "", several ? ":" : "",
				     rank->path, n) < 0) {
				rank->id = NULL;
				return -ENOMEM;
			}
		}
		rank->facts.id = rank->id;
	}
	return 0;
}

static const char *file_of(const struct ncs_recording *recording,
			   const struct ncs_rank_entry *rank)
{
	const struct ncs_chunk_refs *places =
		rank->states.count > 0 ? &rank->states : &rank->records;

	return places->count > 0 ? recording->files[places->at[0].file].path :
				   "?";
}

/* A rank with two recordings of the same time would be counted twice. */
int ncs_recording_refuse_twice(const struct ncs_recording *recording, char *why,
			       size_t why_size)
{
	for (size_t i = 0; i < recording->rank_count; i++) {
		const struct ncs_rank_entry *a = &recording->ranks[i];

		for (size_t k = 0; k < i; k++) {
			const struct ncs_rank_entry *b = &recording->ranks[k];

			if (ncs_recording_is_same(a->recording, b->recording) ||
			    a->facts.host != b->facts.host ||
			    !is_same_process(&a->recorded, &b->recorded) ||
			    strcmp(a->path, b->path) != 0 ||
			    a->facts.from_ns > b->facts.until_ns ||
			    b->facts.from_ns > a->facts.until_ns)
				continue;
			snprintf(why, why_size,
				 "%s and %s have recorded the same rank at the"
				 " same time: give one of them",
				 file_of(recording, b), file_of(recording, a));
			return -EEXIST;
		}
	}
	return 0;
}
