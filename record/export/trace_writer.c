/* SPDX-License-Identifier: MIT */
/* Words and tracks of a trace; see trace_writer.h. */
#include "record/export/trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/base/utf8.h"
#include "record/export/trace_format.h"
#include "shm/array.h"

/* --- Words --------------------------------------------------------------- */

/* A word in the hash table; ncs_trace_word.text points into it. */
struct word_entry {
	struct ncs_hash_link link; /* by text; the first member */
	uint32_t number;
	char text[];
};

static uint32_t find_word(const struct ncs_trace_writer *writer,
			  const char *text, uint64_t hash)
{
	struct ncs_hash_link *link = ncs_hash_table_first(&writer->texts, hash);

	for (; link; link = ncs_hash_table_next(link)) {
		const struct word_entry *entry =
			NCS_HASH_ITEM(link, struct word_entry, link);

		if (strcmp(entry->text, text) == 0)
			return entry->number;
	}
	return 0;
}

/* Returns NULL if there is no memory. */
static struct word_entry *add_entry(struct ncs_trace_writer *writer,
				    const char *text, uint64_t hash)
{
	size_t bytes = strlen(text) + 1;
	struct word_entry *entry = malloc(sizeof(*entry) + bytes);

	if (!entry)
		return NULL;
	entry->number = writer->word_count;
	memcpy(entry->text, text, bytes);
	if (ncs_array_reserve(&writer->words, &writer->word_capacity,
			      (size_t)writer->word_count + 1,
			      sizeof(*writer->words)) != 0 ||
	    ncs_hash_table_insert(&writer->texts, &entry->link, hash) != 0) {
		free(entry);
		return NULL;
	}
	return entry;
}

uint32_t ncs_trace_word(struct ncs_trace_writer *writer, const char *text)
{
	char clean[4096];
	struct word_entry *entry;
	uint32_t number;
	uint64_t hash;

	ncs_utf8_clean(clean, sizeof(clean), text, false);
	hash = XXH3_64bits(clean, strlen(clean));
	number = find_word(writer, clean, hash);
	if (number != 0)
		return number;
	entry = add_entry(writer, clean, hash);
	if (!entry) {
		writer->error = -ENOMEM;
		return 0;
	}
	writer->words[writer->word_count++] =
		(struct ncs_trace_word){ .text = entry->text };
	return entry->number;
}

/* --- Opening and closing ------------------------------------------------- */

/* Reserves entry 0 of each array, so that number 0 can stand for none in the
 * formats as well. */
static int reserve_zero(struct ncs_trace_writer *writer)
{
	writer->word_count = writer->track_count = 1;
	if (ncs_array_reserve_zeroed(&writer->words, &writer->word_capacity, 1,
				     sizeof(*writer->words)) != 0)
		return -ENOMEM;
	return ncs_array_reserve_zeroed(&writer->tracks,
					&writer->track_capacity, 1,
					sizeof(*writer->tracks));
}

struct ncs_trace_writer *ncs_trace_open(enum ncs_trace_format format,
					FILE *file,
					const struct ncs_trace_base *base)
{
	struct ncs_trace_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->format = format == NCS_TRACE_PERFETTO ? &ncs_trace_perfetto :
							&ncs_trace_chrome;
	writer->file = file;
	writer->base = *base;
	if (reserve_zero(writer) != 0) {
		free(writer->words);
		free(writer->tracks);
		free(writer);
		return NULL;
	}
	writer->format->begin(writer);
	return writer;
}

int ncs_trace_close(struct ncs_trace_writer *writer)
{
	int error;

	if (!writer)
		return 0;
	writer->format->end(writer);
	errno = 0;
	error = writer->error;
	if (fflush(writer->file) != 0 || ferror(writer->file))
		error = error ? error : errno ? -errno : -EIO;
	ncs_hash_table_sweep(&writer->texts, NULL, 0);
	ncs_hash_table_release(&writer->texts);
	free(writer->words);
	free(writer->tracks);
	free(writer);
	return error;
}

/* --- Tracks -------------------------------------------------------------- */

/* Adds a track; `unit` is that of a counter, else NULL. */
static uint32_t add_track(struct ncs_trace_writer *writer,
			  enum ncs_trace_kind kind, uint32_t parent,
			  const char *name, const char *unit, uint32_t place)
{
	struct ncs_trace_track track = { .kind = kind,
					 .parent = parent,
					 .place = place };

	track.name = ncs_trace_word(writer, name);
	if (unit)
		track.unit = ncs_trace_word(writer, unit);
	if (ncs_array_reserve(&writer->tracks, &writer->track_capacity,
			      (size_t)writer->track_count + 1,
			      sizeof(*writer->tracks)) != 0) {
		writer->error = -ENOMEM;
		return 0;
	}
	writer->tracks[writer->track_count] = track;
	return writer->track_count++;
}

uint32_t ncs_trace_track(struct ncs_trace_writer *writer, uint32_t parent,
			 const char *name, uint32_t place)
{
	return add_track(writer, NCS_TRACE_PLAIN, parent, name, NULL, place);
}

uint32_t ncs_trace_process(struct ncs_trace_writer *writer, uint32_t parent,
			   const char *name, uint32_t place)
{
	return add_track(writer, NCS_TRACE_PROCESS, parent, name, NULL, place);
}

uint32_t ncs_trace_counter(struct ncs_trace_writer *writer, uint32_t parent,
			   const char *name, const char *unit, uint32_t place)
{
	return add_track(writer, NCS_TRACE_COUNTER, parent, name, unit, place);
}

uint32_t ncs_trace_parent(const struct ncs_trace_writer *writer, uint32_t track)
{
	return writer->tracks[track].parent;
}

/* Returns the track whose latest slice ended last before a time; 0: none did. */
static uint32_t find_free(const struct ncs_trace_writer *writer, uint32_t first,
			  uint64_t start_ns)
{
	const struct ncs_trace_track *all = writer->tracks;
	uint32_t found = 0;

	for (uint32_t i = first; i != 0; i = all[i].next)
		if (all[i].end_ns <= start_ns &&
		    (found == 0 || all[i].end_ns > all[found].end_ns))
			found = i;
	return found;
}

uint32_t ncs_slice_tracks_take(struct ncs_slice_tracks *tracks,
			       struct ncs_trace_writer *writer,
			       uint64_t start_ns, uint64_t end_ns)
{
	uint32_t track = find_free(writer, tracks->first, start_ns);

	if (track == 0) {
		track = ncs_trace_track(writer, tracks->parent, tracks->name,
					tracks->place);
		if (track == 0 || tracks->count == NCS_SLICE_TRACKS_MAX)
			return track;
		if (tracks->count++ == 0)
			tracks->first = track;
		else
			writer->tracks[tracks->last].next = track;
		tracks->last = track;
	}
	writer->tracks[track].end_ns = end_ns;
	return track;
}

/* Writes a track, after its parents. The recursion ends because a parent has a
 * lower number than its children. */
static void write_track(struct ncs_trace_writer *writer, uint32_t number)
{
	struct ncs_trace_track *track = &writer->tracks[number];

	if (track->is_written || number == 0)
		return;
	track->is_written = true;
	write_track(writer, track->parent);
	writer->format->track(writer, number);
}

/* Makes sure that a track has been written. Returns false if there is no such
 * track, e.g. because there was no memory for it. */
static bool is_ready(struct ncs_trace_writer *writer, uint32_t track)
{
	if (track == 0 || track >= writer->track_count)
		return false;
	if (__builtin_expect(!writer->tracks[track].is_written, 0))
		write_track(writer, track);
	return true;
}

/* --- Events -------------------------------------------------------------- */

void ncs_trace_slice(struct ncs_trace_writer *writer, uint32_t track,
		     uint64_t start_ns, uint64_t end_ns,
		     const struct ncs_trace_event *event)
{
	if (is_ready(writer, track))
		writer->format->slice(writer, track, start_ns, end_ns, event);
}

void ncs_trace_instant(struct ncs_trace_writer *writer, uint32_t track,
		       uint64_t at_ns, const struct ncs_trace_event *event)
{
	if (is_ready(writer, track))
		writer->format->instant(writer, track, at_ns, event);
}

void ncs_trace_count(struct ncs_trace_writer *writer, uint32_t track,
		     uint64_t at_ns, double value)
{
	if (is_ready(writer, track))
		writer->format->count(writer, track, at_ns, value);
}
