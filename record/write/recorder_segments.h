/* SPDX-License-Identifier: MIT */
/* The segments that a recorder follows, from the moment that they appear until
 * their process is gone or they are removed. For record/write/recorder.c. */
#ifndef NCS_RECORD_WRITE_RECORDER_SEGMENTS_H
#define NCS_RECORD_WRITE_RECORDER_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"
#include "record/write/recorder.h"
#include "record/write/recording_writer.h"

/* One file in the directory. */
struct ncs_recorder_segment {
	char *path;
	struct ncs_reader *reader; /* NULL: it cannot be read yet, or at all */
	enum ncs_attach attach;
	size_t rank;
	/* Nothing more of it is recorded: its process is gone, or not the one
	 * that is wanted. */
	bool has_ended;
};

struct ncs_recorder_segments {
	const struct ncs_recorder_settings *settings;
	struct ncs_recording_writer *writer;
	struct ncs_recorder_segment *segments; /* by path */
	size_t count;
	size_t capacity;
	struct ncs_header *processes; /* one header of each that was seen */
	size_t process_count;
	size_t process_capacity;
	bool has_scanned;
	bool said_waiting;
};

void ncs_recorder_segments_init(struct ncs_recorder_segments *followed,
				const struct ncs_recorder_settings *settings,
				struct ncs_recording_writer *writer);
void ncs_recorder_segments_release(struct ncs_recorder_segments *followed);

/* Each of these: 0 or -errno of what could not be written. */

/* Finds what is new, and records the end of what was removed. */
int ncs_recorder_segments_scan(struct ncs_recorder_segments *followed);

/* Records what is in the rings. *fullest: how much of the fullest was new, in
 * 1/1024. */
int ncs_recorder_segments_drain(struct ncs_recorder_segments *followed,
				uint64_t *fullest);

/* Records the state of each, and what its ring had until then. */
int ncs_recorder_segments_states(struct ncs_recorder_segments *followed,
				 uint64_t now_ns);

/* Whether any was recorded; whether all of their processes are gone, and all of
 * them is recorded. */
bool ncs_recorder_segments_any(const struct ncs_recorder_segments *followed);
bool ncs_recorder_segments_are_gone(
	const struct ncs_recorder_segments *followed);

#endif
