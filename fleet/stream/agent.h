/* SPDX-License-Identifier: MIT */
/* The agent: writes looks at the segments of this machine to a pipe, for a
 * reader that shows them elsewhere.
 *
 * A look is the state of all segments, in the chunks of a recording
 * (record/format/file_format.h), built in memory as a whole. While the look
 * before is not written, newer looks replace the one that waits; those that
 * were dropped are counted, and the next look can be read without them. A
 * stream without a job is valid: its looks are empty. Not thread-safe; one
 * agent a process.
 */
#ifndef NCS_FLEET_STREAM_AGENT_H
#define NCS_FLEET_STREAM_AGENT_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "fleet/launch/lines.h"
#include "fleet/stream/stream_output.h"
#include "record/write/recorder.h"
#include "shm/read/job.h"

struct ncs_agent_settings {
	const char *directory; /* directory of segments; NULL for the default */
	struct ncs_choice choice; /* of processes */
	uint64_t interval_ns; /* time between looks */
	uint64_t count;       /* number of looks; 0 for no limit */
	bool has_lines;       /* write text lines (fleet/launch/lines.h) */
	bool is_packed;       /* whether looks are packed; else once asked */
	bool with_records;
	ncs_read_stacks *read_stacks; /* as of a recorder; NULL: never */
	int pack_level;       /* level of Zstandard */
	int output;           /* file to write to */
	/* File whose end ends the agent, if it is a pipe or a socket. An end
	 * in the first second does not count: the launcher has given none. */
	int input;
	/* Ends the agent once nothing could be read from `input`, whatever it
	 * is, for so long; 0: never, and nothing is read. What
	 * is read are orders (fleet/launch/lines.h). */
	uint64_t heartbeat_ns;
	int stop; /* file that becomes readable when the agent is to end; -1 */
};

enum ncs_agent_end {
	NCS_AGENT_STOPPED,
	NCS_AGENT_COUNTED,       /* all looks are written */
	NCS_AGENT_INPUT_ENDED,
	NCS_AGENT_INPUT_SILENT,  /* for the time of a heartbeat */
	NCS_AGENT_OUTPUT_CLOSED, /* the reader has gone */
	NCS_AGENT_FAILED,
};

struct ncs_agent_result {
	enum ncs_agent_end end;
	int error;        /* -errno after NCS_AGENT_FAILED */
	uint64_t looks;   /* number of looks taken */
	uint64_t dropped; /* and of those that were dropped */
	uint64_t bytes;   /* written */
};

/* Runs until the settings or the files end it. */
void ncs_agent_run(const struct ncs_agent_settings *settings,
		   struct ncs_agent_result *result);

/* --- Waits of a program that writes a stream ------------------------------- */

/* For its time, for the orders of its head, for its end, and for its last look to
 * be written. */
struct ncs_agent_wait {
	const struct ncs_agent_settings *settings;
	struct pollfd files[5];
	struct ncs_orders orders;
	short input_events;
	uint64_t taken_ns;  /* when orders began to be counted, */
	size_t taken_bytes; /* and how many were taken since */
	uint64_t begun_ns;
	uint64_t beat_ns; /* when the input was read last, or the beginning */
	enum ncs_agent_end end;
};

/* Begins. `written` is a file that becomes readable when a write has failed,
 * `more` another one to wait for, or -1. */
void ncs_agent_wait_begin(struct ncs_agent_wait *wait,
			  const struct ncs_agent_settings *settings,
			  int written, int more);

/* Waits until CLOCK_MONOTONIC is until_ns, `more` is readable, or orders have
 * come. Returns false if the program is to end: `end` says why. */
bool ncs_agent_wait(struct ncs_agent_wait *wait, uint64_t until_ns);

/* Closes the output of a program that has come to result->end, or to `error`,
 * and sets the rest of the result but its looks. Waits for what is not written
 * yet: longer if all was to be written than if the program was told to end.
 * `output` may be NULL. */
void ncs_agent_finish(struct ncs_stream_output *output, int error,
		      struct ncs_agent_result *result);

#endif
