/* SPDX-License-Identifier: MIT */
/* The ways in which a sink writes; for record/sink*.c and their tests. */
#ifndef NCS_RECORD_WRITE_SINK_INTERNAL_H
#define NCS_RECORD_WRITE_SINK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/write/sink.h"

/* More only push other things, rings among them, out of the processor's cache. */
#define NCS_SINK_BUFFERS 8

struct ncs_sink_buffer {
	char *bytes;
	size_t filled;
	size_t written;  /* of these */
	uint64_t offset; /* of the buffer in the file */
	bool busy;
};

struct ncs_sink {
	const struct ncs_sink_method *method;
	void *own; /* the way's */
	int file;
	unsigned means; /* that were asked for */
	int uring_error; /* why io_uring could not be had; 0: it could */
	bool direct;
	char *memory; /* of all buffers, page-aligned */
	struct ncs_sink_buffer buffers[NCS_SINK_BUFFERS];
	struct ncs_sink_buffer *current; /* being filled; NULL: none */
	size_t busy_count;
	uint64_t offset; /* of the current buffer; of the next one */
	size_t block_bytes;
	int error;
	uint64_t failed_offset; /* of the first buffer that was not written */
	char method_text[64];
	char fallback[192];
};

/* What ncs_sink_method.write() returns if ncs_sink_method.wait() is to tell. */
#define NCS_SINK_LATER (-EINPROGRESS)

struct ncs_sink_method {
	const char *name;
	/* 0 or -errno. */
	int (*open)(struct ncs_sink *sink);
	void (*close)(struct ncs_sink *sink);
	/* Writes what is left of a buffer: how many bytes of it were written, or
	 * -errno, or NCS_SINK_LATER. */
	ssize_t (*write)(struct ncs_sink *sink, struct ncs_sink_buffer *buffer);
	/* What has come of one of those: as write(), and which buffer it is.
	 * Waits for one if told to, else it may be NCS_SINK_LATER again, of no
	 * buffer. NULL where it is never later. */
	ssize_t (*wait)(struct ncs_sink *sink, struct ncs_sink_buffer **buffer,
			bool wait);
};

extern const struct ncs_sink_method ncs_sink_uring;
extern const struct ncs_sink_method ncs_sink_pwrite;
extern const struct ncs_sink_method ncs_sink_pipe; /* write(2), one by one */

/* A sink of a file that is open, and becomes the sink's, in this way. */
int ncs_sink_open_method(struct ncs_sink **sink, int file, bool direct,
			 size_t block_bytes,
			 const struct ncs_sink_method *method);

#endif
