/* SPDX-License-Identifier: MIT */
/* The way out of an agent: a thread that writes one look after another to
 * standard output, so that the agent never waits for the reader.
 *
 * At most one look waits while another is being written; the agent drops the
 * one that waits when it has a newer one. A look that was begun is written to
 * its end. The file's flags are left alone: other processes share them. The
 * functions are called by one thread.
 */
#ifndef NCS_FLEET_STREAM_STREAM_OUTPUT_H
#define NCS_FLEET_STREAM_STREAM_OUTPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fleet/launch/lines.h"
#include "record/write/sink.h"

/* Starts a thread with all signals blocked: they are for the program's others.
 * Returns 0 or -errno. */
int ncs_stream_thread_start(pthread_t *thread, void *(*routine)(void *context),
			    void *context);

struct ncs_stream_output;

enum ncs_stream_output_form {
	NCS_STREAM_OUTPUT_BYTES, /* as they are */
	NCS_STREAM_OUTPUT_LINES, /* made into lines */
	NCS_STREAM_OUTPUT_TEXT,  /* they are whole lines already */
};

/* Begins to write to `file`, which stays the caller's. `lines` is copied; it
 * may be NULL for other forms than NCS_STREAM_OUTPUT_LINES. Returns 0 or -errno.
 * Ignores SIGPIPE in the whole process. */
int ncs_stream_output_open(struct ncs_stream_output **output, int file,
			   enum ncs_stream_output_form form,
			   const struct ncs_line_writer *lines);

/* Drops the look that waits. Returns false if there is none. */
bool ncs_stream_output_drop(struct ncs_stream_output *output);

/* Whether a look waits. */
bool ncs_stream_output_waits(struct ncs_stream_output *output);

/* Hands over a look, which begins to wait; none may wait already. `look` is
 * empty afterwards. */
void ncs_stream_output_put(struct ncs_stream_output *output,
			   struct ncs_sink_memory *look);

/* Returns a file that becomes readable when a write has failed. */
int ncs_stream_output_event(const struct ncs_stream_output *output);

struct ncs_stream_output_totals {
	uint64_t bytes; /* written */
	int error;      /* -errno of the first write that failed; 0: none */
};

/* Ends the thread, after at most `wait_ns` for looks that are not written yet,
 * and sets *totals. A thread that hangs in a write is left behind with its
 * memory; the program must end then. */
void ncs_stream_output_close(struct ncs_stream_output *output,
			     uint64_t wait_ns,
			     struct ncs_stream_output_totals *totals);

#endif
