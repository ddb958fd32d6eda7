/* SPDX-License-Identifier: MIT */
/* Records the segments in a directory while their processes live: the existing
 * ones and those that appear later.
 *
 * Only reads segments, and never makes a job wait: if the rings fill faster
 * than the disk can write, records are overwritten before they are read, and
 * are counted as lost. Not thread-safe.
 */
#ifndef NCS_RECORD_WRITE_RECORDER_H
#define NCS_RECORD_WRITE_RECORDER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/write/recording_writer.h"
#include "shm/read/job.h"

#define NCS_RECORDING_INTERVAL_NS UINT64_C(200000000)

/* Reads the stacks of the processes of segments, as lines of text: lines[i], to be
 * freed, is that of readers[i]; NULL: none. */
typedef void ncs_read_stacks(struct ncs_reader *const *readers, char **lines,
			     size_t count);

struct ncs_recorder_settings {
	/* The first file, or "-" for standard output. Later files are FILE.1,
	 * FILE.2 and so on; standard output has no later files. */
	const char *path;
	const char *directory; /* directory of segments; NULL for the default */
	struct ncs_choice choice; /* of processes to record */
	/* The recording that the first file goes on with, of the same boot, and the
	 * file's number in it; zeros: it is another one. */
	uint64_t recording[2];
	uint64_t number;
	/* Goes on once all processes are gone; a file goes on while there are none. */
	bool stays;
	uint64_t interval_ns; /* time between two states of a rank */
	/* Longest time between two readings of the rings; 0 for 10 ms. */
	uint64_t pause_ns;
	uint64_t duration_ns; /* time to record; 0 for no limit */
	/* Size at which a new file begins; 0 for never. */
	uint64_t rotate_bytes;
	uint64_t rotate_ns;    /* age at which a new file begins; 0 for never */
	uint64_t keep;         /* number of latest files to keep; 0 for all */
	unsigned means;        /* enum ncs_sink_means */
	bool is_packed;
	int pack_level;
	/* For an agent's looks: a segment has a state only in
	 * ncs_recorder_segments_states(), and one whose process is gone has
	 * one as long as it is there; records are left out, unless
	 * with_records. */
	bool is_stream;
	bool with_records;
	/* The stacks of a job are read by this whenever none of its ranks has
	 * made a call for NCS_STUCK_NS, once until one does; NULL: never. */
	ncs_read_stacks *read_stacks;
	/* The recorder ends when *stop is not 0; may be NULL. */
	const volatile sig_atomic_t *stop;
	/* Called with sentences for the user about anything unexpected; may be
	 * NULL. */
	void (*report)(void *context, const char *text);
	void *context;
};

enum ncs_recorder_end {
	NCS_RECORDER_STOPPED,
	NCS_RECORDER_DURATION,   /* the duration is over */
	NCS_RECORDER_GONE,       /* all recorded processes are gone */
	NCS_RECORDER_NO_PROCESS, /* there is no process with this pid */
	NCS_RECORDER_FAILED,
};

struct ncs_recorder_result {
	enum ncs_recorder_end end;
	struct ncs_recording_totals totals;
	uint64_t unreadable; /* segments that could not be read at the end */
	uint64_t missed; /* segments known to have gone before they were read */
	char method[64]; /* as of a sink */
	/* After NCS_RECORDER_FAILED: the reason, as a clause for the user. */
	char why[4608];
};

/* Records until there is nothing more to record, or the settings end it. After
 * a failure the file holds what was recorded before. */
void ncs_recorder_run(const struct ncs_recorder_settings *settings,
		      struct ncs_recorder_result *result);

#endif
