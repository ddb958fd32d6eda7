/* SPDX-License-Identifier: MIT */
/* Words and tracks of a trace; see trace_writer.h. */
#include "record/export/trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "record/export/trace_format.h"

/* A reader who does not find it at 0 would take it for a number. */
static int add_nothing(struct ncs_trace_writer *writer)
{
	writer->words = calloc(1, sizeof(*writer->words));
	writer->tracks = calloc(1, sizeof(*writer->tracks));
	writer->word_count = writer->track_count = 1;
	return writer->words && writer->tracks ? 0 : -ENOMEM;
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
	if (add_nothing(writer) != 0) {
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
	for (uint32_t i = 1; i < writer->word_count; i++)
		free(writer->words[i].text);
	ncs_open_flows_release(&writer->flow_ends);
	free(writer->words);
	free(writer->slots);
	free(writer->tracks);
	free(writer);
	return error;
}

/* --- Words ---------------------------------------------------------------- */

/* FNV-1a. */
static uint32_t hash_of(const char *text)
{
	uint32_t hash = UINT32_C(2166136261);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT32_C(16777619);
	return hash;
}

/* Where a text is, or would be. */
static uint32_t *slot_of(const struct ncs_trace_writer *writer,
			 const char *text)
{
	uint32_t mask = writer->slot_count - 1;
	uint32_t i = hash_of(text) & mask;

	while (writer->slots[i] != 0 &&
	       strcmp(writer->words[writer->slots[i]].text, text) != 0)
		i = (i + 1) & mask;
	return &writer->slots[i];
}

/* Room for one more, half of the slots empty. False: no memory. */
static bool grow_words(struct ncs_trace_writer *writer)
{
	uint32_t count = writer->slot_count ? writer->slot_count : 64;
	struct ncs_trace_word *words;
	uint32_t *slots;

	if (writer->slot_count > 2 * writer->word_count)
		return true;
	while (count <= 2 * writer->word_count)
		count *= 2;
	words = realloc(writer->words, count * sizeof(*words));
	if (!words)
		return false;
	writer->words = words;
	slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(writer->slots);
	writer->slots = slots;
	writer->slot_count = count;
	for (uint32_t i = 1; i < writer->word_count; i++)
		*slot_of(writer, words[i].text) = i;
	return true;
}

static uint32_t add_word(struct ncs_trace_writer *writer, uint32_t *slot,
			 const char *text)
{
	char *copy = strdup(text);

	if (!copy) {
		writer->error = -ENOMEM;
		return 0;
	}
	*slot = writer->word_count++;
	writer->words[*slot] = (struct ncs_trace_word){ .text = copy };
	return *slot;
}

uint32_t ncs_trace_word(struct ncs_trace_writer *writer, const char *text)
{
	char clean[4096];
	uint32_t *slot;

	ncs_utf8_clean(clean, sizeof(clean), text, false);
	if (!grow_words(writer)) {
		writer->error = -ENOMEM;
		return 0;
	}
	slot = slot_of(writer, clean);
	return *slot != 0 ? *slot : add_word(writer, slot, clean);
}

/* --- Tracks --------------------------------------------------------------- */

static uint32_t add_track(struct ncs_trace_writer *writer,
			  const struct ncs_trace_track *track)
{
	uint32_t count = writer->track_count;
	struct ncs_trace_track *tracks = writer->tracks;

	if ((count & (count - 1)) == 0) /* full, as it doubles */
		tracks = realloc(tracks, 2 * (size_t)count * sizeof(*tracks));
	if (!tracks) {
		writer->error = -ENOMEM;
		return 0;
	}
	writer->tracks = tracks;
	tracks[count] = *track;
	writer->track_count++;
	return count;
}

uint32_t ncs_trace_track(struct ncs_trace_writer *writer, uint32_t parent,
			 const char *name, uint32_t place)
{
	struct ncs_trace_track track = {
		.kind = NCS_TRACE_PLAIN,
		.parent = parent,
		.name = ncs_trace_word(writer, name),
		.place = place,
	};

	return add_track(writer, &track);
}

uint32_t ncs_trace_process(struct ncs_trace_writer *writer, uint32_t parent,
			   const char *name, uint32_t place)
{
	struct ncs_trace_track track = {
		.kind = NCS_TRACE_PROCESS,
		.parent = parent,
		.name = ncs_trace_word(writer, name),
		.place = place,
	};

	return add_track(writer, &track);
}

uint32_t ncs_trace_counter(struct ncs_trace_writer *writer, uint32_t parent,
			   const char *name, const char *unit, uint32_t place)
{
	struct ncs_trace_track track = {
		.kind = NCS_TRACE_COUNTER,
		.parent = parent,
		.name = ncs_trace_word(writer, name),
		.unit = ncs_trace_word(writer, unit),
		.place = place,
	};

	return add_track(writer, &track);
}

uint32_t ncs_trace_parent(const struct ncs_trace_writer *writer, uint32_t track)
{
	return writer->tracks[track].parent;
}

/* Parents first: a parent has a lower number than its children. */
static void tell(struct ncs_trace_writer *writer, uint32_t track)
{
	struct ncs_trace_track *told = &writer->tracks[track];

	if (told->told || track == 0)
		return;
	told->told = true;
	tell(writer, told->parent);
	writer->format->track(writer, track);
}

/* False: there is no such track, for want of memory. */
static bool is_ready(struct ncs_trace_writer *writer, uint32_t track)
{
	if (track == 0 || track >= writer->track_count)
		return false;
	if (__builtin_expect(!writer->tracks[track].told, 0))
		tell(writer, track);
	return true;
}

/* --- Things on tracks ----------------------------------------------------- */

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
