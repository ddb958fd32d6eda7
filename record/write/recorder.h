/* SPDX-License-Identifier: MIT */
/* Records the segments in a directory while their processes live: those that
 * are there and those that appear later.
 *
 * Only reads segments, and never makes a job wait: what it is too late for is
 * overwritten, and counted as lost. Where files are slower than rings, that is
 * what happens. Not thread-safe.
 */
#ifndef NCS_RECORD_WRITE_RECORDER_H
#define NCS_RECORD_WRITE_RECORDER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/write/recording_writer.h"

#define NCS_RECORDING_INTERVAL_NS UINT64_C(200000000)

struct ncs_recorder_settings {
	/* The first file, or "-"; the others are FILE.1, FILE.2 …, and "-" has
	 * no others. */
	const char *path;
	const char *directory; /* of segments; NULL: the default */
	uint32_t pid;         /* of the only process that is recorded; 0: all */
	uint64_t interval_ns; /* between two states of a rank */
	uint64_t duration_ns; /* 0: until it ends for another reason */
	uint64_t rotate_bytes; /* a file this long is followed by another … */
	uint64_t rotate_ns;    /* … and one that is this old; 0: never */
	uint64_t keep;         /* so many of the latest files; 0: all */
	unsigned means;        /* enum ncs_sink_means */
	bool is_packed;
	int pack_level;
	const volatile sig_atomic_t *stop; /* not 0: end */
	/* Called with sentences for people, of what they would not expect. */
	void (*report)(void *context, const char *text);
	void *context;
};

enum ncs_recorder_end {
	NCS_RECORDER_STOPPED,
	NCS_RECORDER_DURATION,   /* is over */
	NCS_RECORDER_GONE,       /* all processes that were recorded are */
	NCS_RECORDER_NO_PROCESS, /* there is none with that number */
	NCS_RECORDER_FAILED,
};

struct ncs_recorder_result {
	enum ncs_recorder_end end;
	struct ncs_recording_totals totals;
	char method[64]; /* as ncs_sink_method() */
	/* NCS_RECORDER_FAILED: a clause for people. */
	char why[4608];
};

/* Records until there is nothing more to record, or as told. What was recorded
 * until a failure is in the file. */
void ncs_recorder_run(const struct ncs_recorder_settings *settings,
		      struct ncs_recorder_result *result);

#endif
