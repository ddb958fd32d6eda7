/* SPDX-License-Identifier: MIT */
/* Words and tracks of a trace; see trace_writer.h. */
#include "record/export/trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "record/export/trace_format.h"
#include "shm/array.h"

/* --- Words --------------------------------------------------------------- */

/* Returns NULL if there is no memory. */
static struct ncs_trace_word *add_word(struct ncs_trace_writer *writer,
				       const char *text)
{
	size_t bytes = strlen(text) + 1;
	struct ncs_trace_word *word = calloc(1, sizeof(*word) + bytes);

	if (!word)
		return NULL;
	word->number = writer->word_count;
	memcpy(word->text, text, bytes);
	if (ncs_array_reserve(&writer->words, &writer->word_capacity,
			      (size_t)writer->word_count + 1,
			      sizeof(struct ncs_trace_word *)) != 0 ||
	    /* An empty text has a number of its own: 0 is none's. */
	    (word->number > 0 &&
	     ncs_hash_table_insert_name(&writer->texts, &word->link,
					word->text) != 0)) {
		free(word);
		return NULL;
	}
	writer->words[writer->word_count++] = word;
	return word;
}

uint32_t ncs_trace_word(struct ncs_trace_writer *writer, const char *text)
{
	char clean[4096];
	struct ncs_trace_word *word;

	ncs_utf8_clean(clean, sizeof(clean), text, false);
	word = ncs_hash_table_find_name(&writer->texts, clean, strlen(clean));
	if (!word)
		word = add_word(writer, clean);
	if (word)
		return word->number;
	writer->error = -ENOMEM;
	return 0;
}

/* --- Opening and closing ------------------------------------------------- */

/* Frees the writer. */
static void release(struct ncs_trace_writer *writer)
{
	ncs_hash_table_sweep(&writer->texts, NULL, 0);
	ncs_hash_table_release(&writer->texts);
	if (writer->word_count > 0)
		free(writer->words[0]);
	free(writer->words);
	free(writer->tracks);
	free(writer);
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
	/* Number 0 stands for none, in the formats as well. */
	writer->track_count = 1;
	if (ncs_array_reserve_zeroed(&writer->tracks, &writer->track_capacity,
				     1, sizeof(*writer->tracks)) != 0 ||
	    !add_word(writer, "")) {
		release(writer);
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
	release(writer);
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
