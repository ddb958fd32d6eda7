/* SPDX-License-Identifier: MIT */
/* The segments that a recorder follows, from their appearance until their
 * process is gone or they are removed. Only record/write/recorder.c and tests
 * include this header. */
#ifndef NCS_RECORD_WRITE_RECORDER_SEGMENTS_H
#define NCS_RECORD_WRITE_RECORDER_SEGMENTS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/peaks/peaks_here.h"
#include "ncclstat/attach_result.h"
#include "ncclstat/snapshot.h"
#include "record/write/recorder.h"
#include "record/write/recording_writer.h"
#include "shm/process.h"
#include "shm/read/containers.h"

/* One file in the directory. */
struct ncs_recorder_segment {
	char *path;
	struct ncs_reader *reader; /* NULL while the segment cannot be read */
	enum ncs_attach attach;
	char why[256]; /* why it cannot be read */
	size_t rank;
	/* Whether nothing more of the segment is recorded: its process is gone,
	 * or is not the one to record. */
	bool has_ended;
	bool was_stopped; /* its process, before it began to end */
	/* The latest call of its job when its stack was read; 0: it was not. */
	uint64_t stacks_call_ns;
};

/* A process with a segment that was recorded. */
struct ncs_recorder_process {
	struct ncs_process process;
	/* Serial numbers of its segments: the first that it could have made
	 * while the recorder ran, and the one after the last; and how many of
	 * these were recorded. */
	uint32_t first, end;
	uint64_t recorded;
};

struct ncs_recorder_segments {
	const struct ncs_recorder_settings *settings;
	struct ncs_discovery discovery;
	struct ncs_recording_writer *writer;
	struct ncs_recorder_segment *segments; /* sorted by path */
	size_t count;
	size_t capacity;
	struct ncs_recorder_process *processes;
	size_t process_count;
	size_t process_capacity;
	bool has_scanned;
	bool has_reported_waiting;
	struct ncs_peaks_here peaks; /* of this machine */
	/* When to stop reading, even in the middle: once *stop is not 0, and
	 * from this time on. NULL and 0: never. */
	const volatile sig_atomic_t *stop;
	uint64_t until_ns;
	/* Returns whether there is room for another segment's state; NULL:
	 * always. Others are left out and counted. */
	bool (*has_room)(void *context);
	void *context;
	uint32_t states;   /* written by the latest call of _states() */
	uint32_t left_out; /* by the same */
};

/* Begins with an empty list. The settings and the writer are borrowed.
 * ncs_recorder_segments_release() frees the list and closes the segments. */
void ncs_recorder_segments_init(struct ncs_recorder_segments *followed,
				const struct ncs_recorder_settings *settings,
				struct ncs_recording_writer *writer);
void ncs_recorder_segments_release(struct ncs_recorder_segments *followed);

/* Whether it is time to stop reading. The clock is read between rings and
 * between segments: whatever a segment claims to hold, the recorder ends. */
bool ncs_recorder_segments_is_over(const struct ncs_recorder_segments *followed);

/* Each of the next three functions returns 0, -ENOMEM, or -errno of a failed
 * write. */

/* Finds new segments, and records the end of removed ones; the peaks of this
 * machine, once there is a process and they are known; and stacks, of each job
 * whose ranks have made no call for NCS_STUCK_NS, once until one does. */
int ncs_recorder_segments_scan(struct ncs_recorder_segments *followed);

/* Records the new records of all rings, of which so many 1/1024 at least are new: a chunk
 * for each ring, which is small otherwise. Sets *fullest to the new share of the fullest
 * ring, in 1/1024. */
int ncs_recorder_segments_drain(struct ncs_recorder_segments *followed,
				uint64_t least, uint64_t *fullest);

/* Records the state of each segment, and the records that were in its rings
 * before. */
int ncs_recorder_segments_states(struct ncs_recorder_segments *followed,
				 uint64_t now_ns);

/* Has the stacks of jobs that still make no call recorded again, as in another
 * file. */
void ncs_recorder_segments_forget_stacks(struct ncs_recorder_segments *followed);

/* Return whether any process was recorded; and whether all recorded processes
 * are gone and all their data is recorded. */
bool ncs_recorder_segments_any(const struct ncs_recorder_segments *followed);
bool ncs_recorder_segments_are_gone(
	const struct ncs_recorder_segments *followed);

/* Returns the number of segments that are known to have come and gone between
 * two scans: the serial numbers of later ones tell. */
uint64_t ncs_recorder_segments_missed(
	const struct ncs_recorder_segments *followed);

/* Returns the number of segments that cannot be read, except those that are
 * being created. */
size_t ncs_recorder_segments_unreadable(
	const struct ncs_recorder_segments *followed);

#endif
