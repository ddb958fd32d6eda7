/* SPDX-License-Identifier: MIT */
/* The methods by which a sink writes. Only sink*.c and their tests include this
 * header. */
#ifndef NCS_RECORD_WRITE_SINK_INTERNAL_H
#define NCS_RECORD_WRITE_SINK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/write/sink.h"

/* Number of buffers of a sink. More buffers would displace other data, e.g. the
 * rings, from the processor's cache. */
#define NCS_SINK_BUFFERS 8

struct ncs_sink_buffer {
	char *bytes;
	size_t filled;
	size_t written;  /* bytes of `filled` that are written */
	uint64_t offset; /* offset of the buffer in the file */
	bool busy;
};

struct ncs_sink {
	const struct ncs_sink_method *method;
	void *own; /* the method's own data */
	int file;
	unsigned means;  /* means that the caller allows */
	int uring_error; /* why io_uring is not available; 0 if it is */
	bool direct;
	char *memory; /* memory of all buffers, page-aligned */
	struct ncs_sink_buffer buffers[NCS_SINK_BUFFERS];
	/* The buffer being filled; NULL if none. */
	struct ncs_sink_buffer *current;
	size_t busy_count;
	/* Offset in the file of the current or the next buffer. */
	uint64_t offset;
	size_t block_bytes;
	int error;
	/* Offset of the first byte not written; UINT64_MAX if none. */
	uint64_t failed_offset;
	char method_text[64];
	char fallback[192];
};

/* Result of ncs_sink_method.write() if the write is pending;
 * ncs_sink_method.wait() will return its result. */
#define NCS_SINK_LATER (-EINPROGRESS)

struct ncs_sink_method {
	const char *name;
	/* Returns 0 or -errno. May be NULL. */
	int (*open)(struct ncs_sink *sink);
	void (*close)(struct ncs_sink *sink);
	/* Writes the rest of a buffer. Returns the number of bytes written,
	 * -errno, or NCS_SINK_LATER. */
	ssize_t (*write)(struct ncs_sink *sink, struct ncs_sink_buffer *buffer);
	/* Returns the result of a pending write, and sets *buffer to its
	 * buffer. If `wait` is false and there is no result yet, returns
	 * NCS_SINK_LATER and sets *buffer to NULL. The function is NULL if
	 * writes are never pending. */
	ssize_t (*wait)(struct ncs_sink *sink, struct ncs_sink_buffer **buffer,
			bool wait);
};

extern const struct ncs_sink_method ncs_sink_uring;

/* Opens a sink that writes to a file by a given method. On success the sink
 * owns the file. Returns 0 or -errno. */
int ncs_sink_open_method(struct ncs_sink **sink, int file, bool direct,
			 size_t block_bytes,
			 const struct ncs_sink_method *method);

#endif
