/* SPDX-License-Identifier: MIT */
/* Follows segments; see recorder_segments.h. */
#include "record/write/recorder_segments.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/finding_numbers.h"
#include "ncclstat/abi_header.h"
#include "ncclstat/reader.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/object.h"
#include "shm/read/job.h"
#include "shm/read/paths.h"
#include "shm/read/liveness.h"
#include "shm/read/image.h"
#include "shm/process.h"

void ncs_recorder_segments_init(struct ncs_recorder_segments *followed,
				const struct ncs_recorder_settings *settings,
				struct ncs_recording_writer *writer)
{
	*followed = (struct ncs_recorder_segments){
		.settings = settings,
		.discovery.directory = settings->directory,
		.writer = writer,
		.stop = settings->stop,
	};
}

static void release(struct ncs_recorder_segment *segment)
{
	ncs_reader_close(segment->reader);
	free(segment->path);
}

void ncs_recorder_segments_release(struct ncs_recorder_segments *followed)
{
	for (size_t i = 0; i < followed->count; i++)
		release(&followed->segments[i]);
	free(followed->segments);
	free(followed->processes);
	ncs_peaks_here_release(&followed->peaks);
	ncs_containers_release(&followed->discovery.containers);
}

static void report(const struct ncs_recorder_segments *followed,
		   const char *subject, const char *what)
{
	char text[4500];

	if (!followed->settings->report)
		return;
	snprintf(text, sizeof(text), "%s: %s", subject, what);
	followed->settings->report(followed->settings->context, text);
}

bool ncs_recorder_segments_is_over(const struct ncs_recorder_segments *followed)
{
	return (followed->stop && *followed->stop) ||
	       (followed->until_ns != 0 &&
		ncs_clock_monotonic_ns() >= followed->until_ns);
}

static bool is_live(const struct ncs_recorder_segment *segment)
{
	return segment->reader && !segment->has_ended;
}

/* --- Records and states -------------------------------------------------- */

static int drain(struct ncs_recorder_segments *followed,
		 const struct ncs_recorder_segment *segment, uint64_t least,
		 uint64_t *fullest)
{
	const struct ncs_header *header = ncs_reader_header(segment->reader);
	size_t count;
	int error;

	if (followed->settings->is_stream && !followed->settings->with_records)
		return 0;
	for (size_t i = 0; i < header->lanes.count; i++) {
		uint64_t waiting = ncs_reader_waiting(segment->reader, i);
		size_t capacity = ncs_reader_capacity(segment->reader, i);

		if (waiting == 0)
			continue;
		if (ncs_recorder_segments_is_over(followed))
			return 0;
		/* A ring that was overwritten several times counts as full. */
		if (waiting > capacity)
			waiting = capacity;
		if (waiting * 1024 / capacity > *fullest)
			*fullest = waiting * 1024 / capacity;
		if (waiting * 1024 / capacity < least)
			continue;
		error = ncs_recording_writer_drain(
			followed->writer, segment->rank, segment->reader, i,
			ncs_clock_monotonic_ns(), &count);
		if (error)
			return error;
	}
	return 0;
}

int ncs_recorder_segments_drain(struct ncs_recorder_segments *followed,
				uint64_t least, uint64_t *fullest)
{
	int error = 0;

	*fullest = 0;
	for (size_t i = 0; i < followed->count && !error; i++)
		if (is_live(&followed->segments[i]))
			error = drain(followed, &followed->segments[i], least,
				      fullest);
	return error;
}

static int record_state(struct ncs_recorder_segments *followed,
			const struct ncs_recorder_segment *segment,
			unsigned flags)
{
	struct ncs_recording_piece piece = { followed->writer, segment->rank };
	bool whole = ncs_image_take(segment->reader,
				    ncs_recording_writer_image(followed->writer,
							       segment->rank),
				    ncs_recording_writer_piece, &piece);

	return ncs_recording_writer_state(followed->writer, segment->rank,
					  ncs_clock_monotonic_ns(), flags,
					  !whole);
}

/* Returns the flags of a state. A process that exits normally removes its
 * segment before it is gone. The segment must therefore be checked after the
 * process. */
static unsigned flags_of(struct ncs_recorder_segment *segment,
			 struct ncs_process_state process)
{
	unsigned stopped;

	if (!process.gone && !process.ending)
		segment->was_stopped = process.stopped;
	stopped = segment->was_stopped ? NCS_STATE_STOPPED : 0;
	if (process.gone)
		return ncs_reader_is_valid(segment->reader) ?
			       NCS_STATE_GONE | stopped :
			       NCS_STATE_REMOVED;
	return stopped;
}

/* Records a segment's new records and its state. The process is checked first:
 * if it is gone it writes no more, and what is read afterwards is complete. */
static int record_segment(struct ncs_recorder_segments *followed,
			  struct ncs_recorder_segment *segment, uint64_t now_ns)
{
	struct ncs_process_state process =
		ncs_reader_process(segment->reader, now_ns);
	uint64_t fullest = 0;
	int error = drain(followed, segment, 0, &fullest);

	/* A segment that was not read to its end is not at its end. */
	if (!error && ncs_recorder_segments_is_over(followed))
		return 0;
	if (!error)
		error = record_state(followed, segment,
				     flags_of(segment, process));
	followed->states++;
	if (process.gone && !followed->settings->is_stream) {
		segment->has_ended = true;
		ncs_recording_writer_end_rank(followed->writer, segment->rank);
	}
	return error;
}

static bool has_room(const struct ncs_recorder_segments *followed)
{
	return !followed->has_room || followed->has_room(followed->context);
}

int ncs_recorder_segments_states(struct ncs_recorder_segments *followed,
				 uint64_t now_ns)
{
	int error = 0;

	followed->states = followed->left_out = 0;
	for (size_t i = 0; i < followed->count && !error; i++) {
		if (!is_live(&followed->segments[i]))
			continue;
		if (has_room(followed))
			error = record_segment(followed, &followed->segments[i],
					       now_ns);
		else
			followed->left_out++;
	}
	return error;
}

/* --- New segments -------------------------------------------------------- */

static struct ncs_recorder_process *
find_process(const struct ncs_recorder_segments *followed,
	     const struct ncs_process *process)
{
	for (size_t i = 0; i < followed->process_count; i++)
		if (ncs_process_is_same(process,
					&followed->processes[i].process))
			return &followed->processes[i];
	return NULL;
}

/* Remembers the process of a segment, and the segment's serial number. */
static int remember_process(struct ncs_recorder_segments *followed,
			    const struct ncs_header *header, uint32_t serial)
{
	struct ncs_recorder_process *known;
	struct ncs_process process;

	ncs_process_of_header(header, &process);
	known = find_process(followed, &process);
	if (!known) {
		if (ncs_array_reserve(&followed->processes,
				      &followed->process_capacity,
				      followed->process_count + 1,
				      sizeof(*followed->processes)) != 0)
			return -ENOMEM;
		known = &followed->processes[followed->process_count++];
		*known = (struct ncs_recorder_process){ .process = process };
	}
	/* The first scan finds segments in the order of their numbers; what was
	 * between them may have gone before the recorder came. */
	if (known->recorded == 0 || !followed->has_scanned) {
		known->first = serial;
		known->recorded = 0;
	}
	known->recorded++;
	if (serial >= known->end)
		known->end = serial + 1;
	return 0;
}

/* Begins to record a segment. Records that were overwritten before the recorder
 * started do not count as lost; those of a segment that appeared later do. */
static int begin_rank(struct ncs_recorder_segments *followed,
		      struct ncs_recorder_segment *segment)
{
	const struct ncs_header *header = ncs_reader_header(segment->reader);
	int error = remember_process(followed, header,
				     ncs_object_serial(segment->path));

	if (!error)
		error = ncs_recording_writer_add_rank(
			followed->writer, header,
			ncs_reader_owner(segment->reader), segment->path,
			&segment->rank);
	if (!error && !followed->has_scanned)
		ncs_reader_skip_overwritten(segment->reader);
	if (error || followed->settings->is_stream)
		return error;
	/* Record this segment's state now; its next one comes with those of all
	 * segments. */
	return record_segment(followed, segment, ncs_clock_monotonic_ns());
}

static bool is_wanted(const struct ncs_recorder_segments *followed,
		      const struct ncs_reader *reader)
{
	return ncs_choice_has(&followed->settings->choice,
			      ncs_reader_header(reader),
			      ncs_reader_labels(reader));
}

static int try_to_open(struct ncs_recorder_segments *followed,
		       struct ncs_recorder_segment *segment)
{
	enum ncs_attach before = segment->attach;
	char room[PATH_MAX];

	segment->attach = ncs_reader_open(
		ncs_discovery_file(&followed->discovery, segment->path, room,
				   sizeof(room)),
		&segment->reader, segment->why, sizeof(segment->why));
	if (segment->attach == NCS_ATTACHED) {
		segment->has_ended = !is_wanted(followed, segment->reader);
		return segment->has_ended ? 0 : begin_rank(followed, segment);
	}
	/* Do not report segments of other users or segments that are being
	 * created. */
	if (segment->attach != before && segment->attach != NCS_ATTACH_ABSENT &&
	    segment->attach != NCS_ATTACH_NOT_READY &&
	    segment->attach != NCS_ATTACH_DENIED)
		report(followed, segment->path, segment->why);
	return 0;
}

static int compare_segments(const void *left, const void *right)
{
	const struct ncs_recorder_segment *a = left, *b = right;

	return strverscmp(a->path, b->path);
}

/* Adds the segments whose paths are new. The list of segments and `paths` are
 * sorted. */
static int add_new(struct ncs_recorder_segments *followed,
		   struct ncs_paths *paths)
{
	size_t known = followed->count, place = 0;
	struct ncs_recorder_segment *segments;

	if (ncs_array_reserve(&followed->segments, &followed->capacity,
			      known + paths->count, sizeof(*segments)) != 0)
		return -ENOMEM;
	segments = followed->segments;
	for (size_t i = 0; i < paths->count; i++) {
		while (place < known &&
		       strverscmp(segments[place].path, paths->path[i]) < 0)
			place++;
		if (place < known &&
		    strcmp(segments[place].path, paths->path[i]) == 0)
			continue;
		segments[followed->count++] = (struct ncs_recorder_segment){
			.path = paths->path[i],
			.attach = NCS_ATTACH_ABSENT,
		};
		paths->path[i] = NULL;
	}
	if (followed->count > known)
		qsort(segments, followed->count, sizeof(*segments),
		      compare_segments);
	return 0;
}

/* --- Removed segments ---------------------------------------------------- */

/* Records the last state of a segment whose file was removed or replaced. */
static int record_removal(struct ncs_recorder_segments *followed,
			  struct ncs_recorder_segment *segment)
{
	uint64_t fullest = 0;
	int error = drain(followed, segment, 0, &fullest);

	if (!error && ncs_recorder_segments_is_over(followed))
		return 0;
	if (!error)
		error = record_state(followed, segment, NCS_STATE_REMOVED);
	ncs_recording_writer_end_rank(followed->writer, segment->rank);
	return error;
}

/* Drops segments that no longer exist, and tries to open those that are not
 * open. */
static int refresh(struct ncs_recorder_segments *followed)
{
	size_t kept = 0;
	int error = 0;

	for (size_t i = 0; i < followed->count; i++) {
		struct ncs_recorder_segment *segment = &followed->segments[i];
		bool go_on = !error && !ncs_recorder_segments_is_over(followed);
		bool drop = false;

		if (go_on && segment->reader &&
		    !ncs_reader_is_valid(segment->reader)) {
			if (is_live(segment))
				error = record_removal(followed, segment);
			drop = !ncs_recorder_segments_is_over(followed);
		} else if (go_on && !segment->reader) {
			error = try_to_open(followed, segment);
			drop = segment->attach == NCS_ATTACH_ABSENT;
		}
		if (drop)
			release(segment);
		else
			followed->segments[kept++] = *segment;
	}
	followed->count = kept;
	return error;
}

static bool is_unreadable(const struct ncs_recorder_segment *segment)
{
	return segment->attach != NCS_ATTACHED &&
	       segment->attach != NCS_ATTACH_ABSENT &&
	       segment->attach != NCS_ATTACH_NOT_READY;
}

static void report_waiting(struct ncs_recorder_segments *followed,
			   const char *directory)
{
	size_t i = 0;

	if (followed->has_reported_waiting ||
	    ncs_recorder_segments_any(followed))
		return;
	followed->has_reported_waiting = true;
	while (i < followed->count && !is_unreadable(&followed->segments[i]))
		i++;
	if (i < followed->count)
		report(followed, followed->segments[i].path,
		       followed->segments[i].why);
	report(followed, directory,
	       i < followed->count ?
		       "no segments that can be read; waiting for a job" :
	       ncs_directory_can_have_jobs(directory) ?
		       "no segments yet; waiting for a job" :
		       "no segments, and no job publishes any there: it is not"
		       " on a tmpfs (see NCCLSTAT_DIR)");
}

static int record_peaks(struct ncs_recorder_segments *followed)
{
	const struct ncs_machine_peaks *peaks = NULL;

	if (ncs_recorder_segments_any(followed))
		peaks = ncs_peaks_here(&followed->peaks);
	return peaks ? ncs_recording_writer_peaks(followed->writer, peaks,
						  ncs_clock_monotonic_ns()) :
		       0;
}

/* The latest call of a job's ranks. */
struct job_calls {
	const char *name;
	uid_t owner;
	uint64_t latest_ns;
};

/* Returns the job of a segment, which is added if it is new; `jobs` has room. */
static struct job_calls *find_job(struct job_calls *jobs, size_t *count,
				  const struct ncs_recorder_segment *segment)
{
	const char *name = ncs_job_name(ncs_reader_labels(segment->reader));
	uid_t owner = ncs_reader_owner(segment->reader);
	size_t i = 0;

	while (i < *count &&
	       (jobs[i].owner != owner || strcmp(jobs[i].name, name) != 0))
		i++;
	if (i == *count)
		jobs[(*count)++] = (struct job_calls){ name, owner, 0 };
	return &jobs[i];
}

/* Chooses the segments of jobs of which no rank has made a call for long, and whose
 * stacks were not read since. Returns their number. */
static size_t choose_still(struct ncs_recorder_segments *followed,
			   struct job_calls *jobs,
			   struct ncs_recorder_segment **chosen)
{
	uint64_t now_ns = ncs_clock_monotonic_ns();
	size_t job_count = 0, count = 0;

	for (size_t i = 0; i < followed->count; i++) {
		struct ncs_recorder_segment *segment = &followed->segments[i];
		struct job_calls *job;
		uint64_t call_ns;

		if (!is_live(segment))
			continue;
		job = find_job(jobs, &job_count, segment);
		call_ns = ncs_reader_last_call_ns(segment->reader);
		if (call_ns > job->latest_ns)
			job->latest_ns = call_ns;
	}
	for (size_t i = 0; i < followed->count; i++) {
		struct ncs_recorder_segment *segment = &followed->segments[i];
		uint64_t call_ns;

		if (!is_live(segment))
			continue;
		call_ns = find_job(jobs, &job_count, segment)->latest_ns;
		if (call_ns == 0 || call_ns == segment->stacks_call_ns ||
		    now_ns < call_ns + NCS_STUCK_NS)
			continue;
		segment->stacks_call_ns = call_ns;
		chosen[count++] = segment;
	}
	return count;
}

static int read_stacks(struct ncs_recorder_segments *followed,
		       struct ncs_recorder_segment *const *chosen,
		       struct ncs_reader **readers, char **lines, size_t count)
{
	uint64_t now_ns = ncs_clock_monotonic_ns();
	int error = 0;

	for (size_t i = 0; i < count; i++)
		readers[i] = chosen[i]->reader;
	report(followed, "stacks",
	       "no rank of a job has called anything for 5 s; each"
	       " process pauses while its own is read");
	followed->settings->read_stacks(readers, lines, count);
	for (size_t i = 0; i < count; i++) {
		if (lines[i] && !error)
			error = ncs_recording_writer_stack(followed->writer,
							   chosen[i]->rank,
							   lines[i], now_ns);
		free(lines[i]);
	}
	return error;
}

static int record_stacks(struct ncs_recorder_segments *followed)
{
	size_t most = followed->count, count;
	struct ncs_recorder_segment **chosen;
	struct job_calls *jobs;
	struct ncs_reader **readers;
	char **lines;
	int error = 0;

	if (!followed->settings->read_stacks || most == 0)
		return 0;
	jobs = calloc(most, sizeof(*jobs));
	chosen = calloc(most, sizeof(struct ncs_recorder_segment *));
	readers = calloc(most, sizeof(struct ncs_reader *));
	lines = calloc(most, sizeof(char *));
	if (jobs && chosen && readers && lines) {
		count = choose_still(followed, jobs, chosen);
		if (count > 0)
			error = read_stacks(followed, chosen, readers, lines,
					    count);
	} else {
		error = -ENOMEM;
	}
	free(jobs);
	free(chosen);
	free(readers);
	free(lines);
	return error;
}

void ncs_recorder_segments_forget_stacks(struct ncs_recorder_segments *followed)
{
	for (size_t i = 0; i < followed->count; i++)
		followed->segments[i].stacks_call_ns = 0;
}

int ncs_recorder_segments_scan(struct ncs_recorder_segments *followed)
{
	const char *directory = ncs_directory(followed->settings->directory);
	struct ncs_paths paths;
	int error = ncs_discovery_list(&followed->discovery, &paths);

	/* The directory may appear later, with the job. */
	if (!error) {
		error = add_new(followed, &paths);
		ncs_paths_release(&paths);
	} else {
		error = error == -ENOMEM ? error : 0;
	}
	if (!error)
		error = refresh(followed);
	if (!error)
		error = record_peaks(followed);
	if (!error)
		error = record_stacks(followed);
	followed->has_scanned = true;
	report_waiting(followed, directory);
	return error;
}

bool ncs_recorder_segments_any(const struct ncs_recorder_segments *followed)
{
	return followed->process_count > 0;
}

bool ncs_recorder_segments_are_gone(const struct ncs_recorder_segments *followed)
{
	if (!ncs_recorder_segments_any(followed))
		return false;
	for (size_t i = 0; i < followed->count; i++)
		if (is_live(&followed->segments[i]))
			return false;
	for (size_t i = 0; i < followed->process_count; i++)
		if (!ncs_process_is_gone(&followed->processes[i].process))
			return false;
	return true;
}

uint64_t ncs_recorder_segments_missed(
	const struct ncs_recorder_segments *followed)
{
	uint64_t missed = 0;

	for (size_t i = 0; i < followed->process_count; i++) {
		const struct ncs_recorder_process *process =
			&followed->processes[i];
		uint64_t made = process->end - process->first;

		/* After exec(), a process counts from 0 on again. */
		if (made > process->recorded)
			missed += made - process->recorded;
	}
	return missed;
}

size_t ncs_recorder_segments_unreadable(
	const struct ncs_recorder_segments *followed)
{
	size_t count = 0;

	for (size_t i = 0; i < followed->count; i++)
		count += is_unreadable(&followed->segments[i]);
	return count;
}
