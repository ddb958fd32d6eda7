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

struct ncs_sink;

/* Size of a buffer in bytes. The room returned by ncs_sink_room() is never
 * larger. */
#define NCS_SINK_BUFFER_BYTES (UINT32_C(1) << 20)

/* Methods that a sink may use if the system allows it. */
enum ncs_sink_means {
	NCS_SINK_URING = 1,
	NCS_SINK_DIRECT = 2, /* O_DIRECT, past the page cache */
};
#define NCS_SINK_ALL_MEANS (NCS_SINK_URING | NCS_SINK_DIRECT)

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

/* Opens a sink that appends to `memory`, which the caller owns and may empty
 * or exchange after a flush. Returns 0 or -errno. */
int ncs_sink_open_memory(struct ncs_sink **sink,
			 struct ncs_sink_memory *memory);

/* Returns the free room behind the bytes appended so far, and sets *bytes to
 * its size, which is not 0; at the beginning of a buffer it is
 * NCS_SINK_BUFFER_BYTES. May wait for the disk. Returns NULL after a write
 * error; see ncs_sink_error(). */
void *ncs_sink_room(struct ncs_sink *sink, size_t *bytes);

/* Appends bytes that the caller has put into the room. */
void ncs_sink_put(struct ncs_sink *sink, size_t bytes);

/* Begins to write all bytes appended so far; their number must be a multiple of
 * ncs_sink_block_bytes(). Does not wait. Returns 0 or -errno. */
int ncs_sink_flush(struct ncs_sink *sink);

/* Returns the block size in bytes: the length of a file that is flushed must be
 * a multiple of it. The block size of a pipe is 1. */
size_t ncs_sink_block_bytes(const struct ncs_sink *sink);

/* Returns the number of bytes appended so far. */
uint64_t ncs_sink_offset(const struct ncs_sink *sink);

/* Returns -errno of the first write that failed, 0 if none has. After an error
 * nothing more is written. */
int ncs_sink_error(const struct ncs_sink *sink);

/* Return texts for the user, valid until the sink is closed: the method of
 * writing; and which of the allowed methods were not available and why, "" if
 * all were. */
const char *ncs_sink_method(const struct ncs_sink *sink);
const char *ncs_sink_fallback(const struct ncs_sink *sink);

/* Writes the remaining bytes, cuts the file to its length, and frees the sink.
 * After an error, cuts the file before the first byte that was not written.
 * Returns 0, or -errno of the first error since the sink was opened. `sink` may
 * be NULL. */
int ncs_sink_close(struct ncs_sink *sink);

#endif
