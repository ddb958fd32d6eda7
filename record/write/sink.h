/* SPDX-License-Identifier: MIT */
/* Where the bytes of a recording go: a file, or a pipe.
 *
 * Bytes are put straight into the sink's buffers, which are written while the
 * next ones are filled: with io_uring and O_DIRECT where the system lets us, and
 * with pwrite(2), through the page cache, where not. Knows nothing of chunks.
 * The only one who waits for a disk is the caller, in ncs_sink_room() and
 * ncs_sink_close(). Not thread-safe.
 */
#ifndef NCS_RECORD_WRITE_SINK_H
#define NCS_RECORD_WRITE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ncs_sink;

/* No piece that is to lie in one buffer may be longer. */
#define NCS_SINK_BUFFER_BYTES (UINT32_C(1) << 20)

/* What a sink may use, if the system lets it. */
enum ncs_sink_means {
	NCS_SINK_URING = 1,
	NCS_SINK_DIRECT = 2, /* past the page cache */
};
#define NCS_SINK_ALL_MEANS (NCS_SINK_URING | NCS_SINK_DIRECT)

/* Creates a file or empties it; "-" is standard output, and like any file that is
 * not a regular one it is written from its beginning to its end, as a pipe is.
 * `means`: enum ncs_sink_means. 0 or -errno; on failure `why` gets a clause for
 * people. */
int ncs_sink_open(struct ncs_sink **sink, const char *path, unsigned means,
		  char *why, size_t why_size);

/* Free room at the end of what was put in, in one piece of *bytes, which is not
 * 0; at the beginning of a buffer it is NCS_SINK_BUFFER_BYTES. May wait. NULL:
 * something could not be written, see ncs_sink_error(). */
void *ncs_sink_room(struct ncs_sink *sink, size_t *bytes);

/* So much of the room was filled. */
void ncs_sink_put(struct ncs_sink *sink, size_t bytes);

/* Begins to write what was put in. It must end at a multiple of
 * ncs_sink_block_bytes(). 0 or -errno. */
int ncs_sink_flush(struct ncs_sink *sink);

/* A flushed file must be a multiple of this long; a pipe 1. */
size_t ncs_sink_block_bytes(const struct ncs_sink *sink);

/* How many bytes were put in. */
uint64_t ncs_sink_offset(const struct ncs_sink *sink);

/* -errno of what could not be written, first; 0: nothing. Nothing more is
 * written then. */
int ncs_sink_error(const struct ncs_sink *sink);

/* How it is written, for people, and what of the means could not be had, and
 * why; "" if nothing. Valid until it is closed. */
const char *ncs_sink_method(const struct ncs_sink *sink);
const char *ncs_sink_fallback(const struct ncs_sink *sink);

/* Writes all of the rest and cuts the file to what was put in: after a failure
 * to what was written without a gap. 0 or -errno, of anything that went wrong
 * since it was opened. `sink` may be NULL. */
int ncs_sink_close(struct ncs_sink *sink);

#endif
