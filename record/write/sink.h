/* SPDX-License-Identifier: MIT */
/* Writes the bytes of a recording to a file or a pipe.
 *
 * Callers fill the sink's buffers in place while earlier ones are being
 * written: with io_uring and O_DIRECT if the system allows this, otherwise with
 * pwrite(2) through the page cache, and to a pipe with write(2). A sink knows
 * nothing of chunks. Only ncs_sink_room() and ncs_sink_close() wait for the
 * disk. Not thread-safe.
 */
#ifndef NCS_RECORD_WRITE_SINK_H
#define NCS_RECORD_WRITE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Size of a buffer in bytes. The room returned by ncs_sink_room() is never
 * larger. */
#define NCS_SINK_BUFFER_BYTES (UINT32_C(1) << 20)

/* Methods that a sink may use if the system allows it. */
enum ncs_sink_means {
	NCS_SINK_URING = 1,
	NCS_SINK_DIRECT = 2, /* O_DIRECT, past the page cache */
};
#define NCS_SINK_ALL_MEANS (NCS_SINK_URING | NCS_SINK_DIRECT)

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
	/* The length of a file that is flushed must be a multiple of it; 1 for a
	 * pipe. */
	size_t block_bytes;
	/* -errno of the first write that failed, 0 if none has. After an error
	 * nothing more is written. */
	int error;
	/* Offset of the first byte not written; UINT64_MAX if none. */
	uint64_t failed_offset;
	/* For the user: the method of writing; and which of the allowed methods
	 * were not available and why, "" if all were. */
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

/* Creates a file or empties it. "-" is standard output, which is written
 * sequentially, like any file that is not a regular one. `means` is of enum
 * ncs_sink_means. Returns 0 or -errno; on failure sets `why` to a clause for
 * the user. */
int ncs_sink_open(struct ncs_sink **sink, const char *path, unsigned means,
		  char *why, size_t why_size);

/* Bytes in memory; one of zeros is empty. */
struct ncs_sink_memory {
	char *bytes; /* from malloc() */
	size_t size;
	size_t capacity;
};

/* Appends bytes. Returns 0 or -ENOMEM. */
int ncs_sink_memory_append(struct ncs_sink_memory *memory, const void *bytes,
			   size_t size);

/* Opens a sink that appends to `memory`, which the caller owns and may empty
 * or exchange after a flush. Returns 0 or -errno. */
int ncs_sink_open_memory(struct ncs_sink **sink,
			 struct ncs_sink_memory *memory);

/* Returns the free room behind the bytes appended so far, and sets *bytes to
 * its size, which is not 0; at the beginning of a buffer it is
 * NCS_SINK_BUFFER_BYTES. May wait for the disk. Returns NULL after a write
 * error. */
void *ncs_sink_room(struct ncs_sink *sink, size_t *bytes);

/* Appends bytes that the caller has put into the room. */
void ncs_sink_put(struct ncs_sink *sink, size_t bytes);

/* Begins to write all bytes appended so far; their number must be a multiple of
 * the block size. Does not wait. Returns 0 or -errno. */
int ncs_sink_flush(struct ncs_sink *sink);

/* Returns the number of bytes appended so far. */
uint64_t ncs_sink_offset(const struct ncs_sink *sink);

/* Writes the remaining bytes, cuts the file to its length, and frees the sink.
 * After an error, cuts the file before the first byte that was not written.
 * Returns 0, or -errno of the first error since the sink was opened. `sink` may
 * be NULL. */
int ncs_sink_close(struct ncs_sink *sink);

/* --- For sink*.c and tests ------------------------------------------------- */

/* Opens a sink that writes to a file by a given method. On success the sink
 * owns the file. Returns 0 or -errno. */
int ncs_sink_open_method(struct ncs_sink **sink, int file, bool direct,
			 size_t block_bytes,
			 const struct ncs_sink_method *method);

#endif
