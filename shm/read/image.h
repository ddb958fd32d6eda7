/* SPDX-License-Identifier: MIT */
/* A segment's state as an image in memory: taken of a live segment for a
 * recording, and read again as if it were a segment.
 *
 * An image is the segment as ncclstat-shm(5) has it, but for the records in its
 * rings. The header in it is the validated one with the clock refined; blocks
 * under a sequence are copied whole, and where that could not be had their
 * sequence is odd. Part of the reader's half.
 */
#ifndef NCS_SHM_READ_IMAGE_H
#define NCS_SHM_READ_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"

/* What a segment does not tell of itself, as of a moment. */
struct ncs_image_fate {
	bool gone;    /* the process */
	bool stopped; /* by a debugger or a signal */
};

/* Writes the image into `image`, of ncs_reader_header()->segment_bytes: zeros
 * at first, and later as the reader's latest image was left in it. What has
 * never been in use is not touched. Calls `piece`, if not NULL, for each piece
 * that was written, in no order. False: a block was caught in mid-write. */
typedef void ncs_image_piece(void *context, size_t offset, size_t bytes);
bool ncs_image_take(struct ncs_reader *reader, void *image,
		    ncs_image_piece *piece, void *context);

/* Of the process of a segment, now. */
struct ncs_image_fate ncs_image_fate(const struct ncs_reader *reader,
				     uint64_t now_ns);

/* A reader of an image, which stays the caller's and must not change while a
 * snapshot is taken; it may between snapshots. Nothing in it is trusted. It has
 * no records. As ncs_reader_open() otherwise. */
enum ncs_attach ncs_reader_open_image(const void *image, size_t bytes,
				      const char *path,
				      struct ncs_reader **reader, char *why,
				      size_t why_size);

/* What snapshots of an image say of the process from now on. */
void ncs_reader_set_fate(struct ncs_reader *reader, struct ncs_image_fate fate);

#endif
