/* SPDX-License-Identifier: MIT */
/* The live source: segments in a directory, read through ncclstat/reader.h.
 *
 * Readers stay open from pass to pass. A file that was replaced is opened
 * again, one that vanished is dropped. A segment that cannot be read is
 * reported with the reason; segments of other users only if there is no other
 * segment, or if the caller wants them.
 */
#include "analysis/sources/source_shm.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/peaks/peaks_here.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/reader.h"
#include "shm/read/containers.h"

/* The most records of a segment in one pass, more than the plugin's rings hold;
 * the rest waits for the next pass. */
#define RECORD_MAX 65536u

/* Pages of so many segments stay mapped between passes: mapping them again takes a
 * quarter of a pass. */
#define MAPPED_MAX 16u

struct live_segment {
	char *path;
	struct ncs_reader *reader; /* NULL if not attached */
	enum ncs_attach attach;
	char why[256];
};

struct source_shm {
	struct ncs_source source; /* first: is cast to this struct */
	char *directory;          /* NULL for the default */
	struct ncs_discovery discovery;
	struct ncs_choice choice;
	struct live_segment *segments;
	size_t count;
	/* The latest sample and its reader; NULL if there is none. */
	struct ncs_snapshot snapshot;
	struct ncs_reader *shown;
	struct ncs_record *records; /* RECORD_MAX */
	size_t place;               /* of next() */
	bool show_denied;
	struct ncs_peaks_here peaks;
	uint64_t now_ns;
};

static struct source_shm *self_of(struct ncs_source *source)
{
	return (struct source_shm *)source;
}

/* Releases the latest sample, so that only one segment's is in memory. */
static void forget_sample(struct source_shm *self)
{
	if (!self->shown)
		return;
	ncs_snapshot_release(&self->snapshot);
	if (self->count > MAPPED_MAX)
		ncs_reader_rest(self->shown);
	self->shown = NULL;
}

static void segment_release(struct live_segment *segment)
{
	ncs_reader_close(segment->reader);
	free(segment->path);
}

/* Checks that an attached segment is still valid, or else tries to attach
 * it. */
static void segment_refresh(const struct source_shm *self,
			    struct live_segment *segment)
{
	char room[PATH_MAX];

	if (segment->reader && ncs_reader_is_valid(segment->reader))
		return;
	ncs_reader_close(segment->reader);
	segment->reader = NULL;
	segment->why[0] = '\0';
	segment->attach = ncs_reader_open(
		ncs_discovery_file(&self->discovery, segment->path, room,
				   sizeof(room)),
		&segment->reader, segment->why, sizeof(segment->why));
}

/* Returns the process in a segment's file name, ncclstat.PID.*; 0 if none. */
static uint32_t named_pid(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned pid;

	name = strchr(name ? name : path, '.');
	return name && sscanf(name, ".%u", &pid) == 1 ? pid : 0;
}

static bool is_wanted(const struct source_shm *self,
		      const struct live_segment *segment)
{
	if (segment->attach == NCS_ATTACH_ABSENT)
		return false;
	if (segment->reader)
		return ncs_choice_has(&self->choice,
				      ncs_reader_header(segment->reader),
				      ncs_reader_labels(segment->reader));
	return !self->choice.job &&
	       (self->choice.pid == 0 ||
		self->choice.pid == named_pid(segment->path));
}

/* Makes the list of segments the one of the paths, keeping segments that were
 * in it. Takes the strings out of `paths`. Returns 0, or -ENOMEM. */
static int take_paths(struct source_shm *self, struct ncs_paths *paths)
{
	struct live_segment *segments =
		calloc(paths->count + 1, sizeof(*segments));
	size_t old = 0;

	if (!segments)
		return -ENOMEM;
	/* Both lists are in the order of the paths. */
	for (size_t i = 0; i < paths->count; i++) {
		struct live_segment *segment = &segments[i];

		while (old < self->count &&
		       strverscmp(self->segments[old].path, paths->path[i]) < 0)
			segment_release(&self->segments[old++]);
		if (old < self->count &&
		    strcmp(self->segments[old].path, paths->path[i]) == 0) {
			*segment = self->segments[old++];
			continue;
		}
		segment->path = paths->path[i];
		paths->path[i] = NULL;
	}
	while (old < self->count)
		segment_release(&self->segments[old++]);
	free(self->segments);
	self->segments = segments;
	self->count = paths->count;
	return 0;
}

static int begin(struct ncs_source *source, uint64_t now_ns, char *why,
		 size_t why_size)
{
	struct source_shm *self = self_of(source);
	const char *directory = ncs_directory(self->directory);
	struct ncs_paths paths;
	int error = ncs_discovery_list(&self->discovery, &paths);

	forget_sample(self);
	self->place = 0;
	self->now_ns = now_ns;
	if (!error) {
		error = take_paths(self, &paths);
		ncs_paths_release(&paths);
	}
	if (error) {
		snprintf(why, why_size, "%s: %s", directory, strerror(-error));
		self->place = self->count;
		return error;
	}
	self->show_denied = true;
	for (size_t i = 0; i < self->count; i++) {
		struct live_segment *segment = &self->segments[i];

		segment_refresh(self, segment);
		if (segment->attach != NCS_ATTACH_DENIED &&
		    is_wanted(self, segment))
			self->show_denied = false;
	}
	return 0;
}

/* Reads at most one ring of records per lane, so that a writer that never
 * pauses cannot keep the reader busy. */
static void read_records(struct source_shm *self, struct live_segment *segment,
			 struct ncs_sample *sample)
{
	const struct ncs_header *header = ncs_reader_header(segment->reader);

	sample->records = self->records;
	for (size_t i = 0; i < header->lanes.count; i++) {
		size_t room = RECORD_MAX - sample->record_count;
		size_t capacity = ncs_reader_capacity(segment->reader, i);

		if (room > capacity)
			room = capacity;
		sample->record_count +=
			ncs_reader_records(segment->reader, i,
					   self->records + sample->record_count,
					   room, &sample->records_lost);
	}
}

static void take_sample(struct source_shm *self, struct live_segment *segment,
			struct ncs_sample *sample)
{
	forget_sample(self);
	if (ncs_snapshot_init(&self->snapshot, segment->reader) != 0) {
		sample->attach = NCS_ATTACH_FAILED;
		sample->why = strerror(ENOMEM);
		return;
	}
	self->shown = segment->reader;
	ncs_snapshot_take(&self->snapshot, segment->reader, self->now_ns);
	sample->header = ncs_reader_header(segment->reader);
	sample->owner = ncs_reader_owner(segment->reader);
	sample->labels = ncs_reader_labels(segment->reader);
	sample->snapshot = &self->snapshot;
	if (self->source.wants_peaks)
		sample->peaks = ncs_peaks_here(&self->peaks);
	if (!self->source.wants_records ||
	    self->source.wants_records(self->source.wants_context,
				       segment->path))
		read_records(self, segment, sample);
	else
		sample->without_records = true;
}

static bool next(struct ncs_source *source, struct ncs_sample *sample)
{
	struct source_shm *self = self_of(source);

	while (self->place < self->count) {
		struct live_segment *segment = &self->segments[self->place++];

		if (!is_wanted(self, segment) ||
		    (segment->attach == NCS_ATTACH_DENIED &&
		     !self->show_denied && !source->shows_denied))
			continue;
		memset(sample, 0, sizeof(*sample));
		sample->id = segment->path;
		sample->attach = segment->attach;
		sample->why = segment->why;
		if (segment->reader)
			take_sample(self, segment, sample);
		return true;
	}
	return false;
}

static void close_source(struct ncs_source *source)
{
	struct source_shm *self = self_of(source);

	forget_sample(self);
	for (size_t i = 0; i < self->count; i++)
		segment_release(&self->segments[i]);
	free(self->segments);
	free(self->records);
	ncs_peaks_here_release(&self->peaks);
	ncs_containers_release(&self->discovery.containers);
	free(self->directory);
	free(self);
}

struct ncs_source *ncs_source_open_shm(const char *directory,
				       const struct ncs_choice *choice)
{
	struct source_shm *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->records = calloc(RECORD_MAX, sizeof(*self->records));
	if (directory)
		self->directory = strdup(directory);
	if (!self->records || (directory && !self->directory)) {
		close_source(&self->source);
		return NULL;
	}
	if (choice)
		self->choice = *choice;
	self->source.shows_part = self->choice.pid != 0;
	self->discovery.directory = self->directory;
	self->source.begin = begin;
	self->source.next = next;
	self->source.close = close_source;
	return &self->source;
}
