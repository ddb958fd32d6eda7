/* SPDX-License-Identifier: MIT */
/* Images: the state of a segment as a block of memory, taken of a live segment
 * for a recording and read again as if it were a segment.
 *
 * An image has the layout of a segment (ncclstat-shm(5)) without the records in
 * its rings. Its header is the validated one with the clock refined. Blocks
 * under a seqlock are copied whole; if that fails, their sequence is odd.
 */
#ifndef NCS_SHM_READ_IMAGE_H
#define NCS_SHM_READ_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "ncclstat/attach_result.h"
#include "shm/read/liveness.h"

struct ncs_reader; /* ncclstat/reader.h */

/* Receives the place of a piece that was written into an image. */
typedef void ncs_image_piece(void *context, size_t offset, size_t bytes);

/* Writes the segment's state into `image`, which has
 * ncs_reader_header(reader)->segment_bytes bytes: all zeros at first, and the
 * reader's previous image afterwards. Entries that were never in use are not
 * written. Calls `piece`, unless NULL, for each piece written, in no particular
 * order. Returns false if a block was caught in mid-write. */
bool ncs_image_take(struct ncs_reader *reader, void *image,
		    ncs_image_piece *piece, void *context);

/* Opens a reader of an image. The image stays the caller's and must outlive the
 * reader; it may change between snapshots, not while one is taken. It is
 * validated like a segment. It has no records. `path` is what
 * ncs_reader_path() is to return. Otherwise as ncs_reader_open(). */
enum ncs_attach ncs_reader_open_image(const void *image, size_t bytes,
				      const char *path,
				      struct ncs_reader **reader, char *why,
				      size_t why_size);

/* Has later snapshots read the image at another address, with as many bytes. */
void ncs_reader_set_image(struct ncs_reader *reader, const void *image);

/* Sets the process state that later snapshots of an image report. */
void ncs_reader_set_process_state(struct ncs_reader *reader,
				  struct ncs_process_state state);

#endif
