/* SPDX-License-Identifier: MIT */
/* A rank's state in memory, put together from the chunks of a recording or a
 * stream: a key, and the changes of one later state.
 *
 * Nothing in a chunk is trusted: lines are written only inside the image, and a
 * reader of the image (shm/read/image.h) validates the rest. Not
 * thread-safe.
 */
#ifndef NCS_RECORD_READ_STATE_IMAGE_H
#define NCS_RECORD_READ_STATE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/format/file_format.h"
#include "record/read/budget.h"

/* Largest segment, in bytes: a process has one ring of 1 GiB for each of nine
 * threads at most. */
#define NCS_STATE_IMAGE_BYTES_MAX (UINT64_C(1) << 34)

struct ncs_header; /* ncclstat/abi_header.h */

/* Reads the payload of a chunk NCS_CHUNK_RANK: the segment's header, its owner
 * (NCS_NO_OWNER: not known), and where its path is in the payload. Returns false
 * if it is not valid. */
bool ncs_rank_payload_read(const char *payload, size_t size,
			   struct ncs_header *header, uid_t *owner,
			   const char **path, size_t *path_bytes);

/* A chunk NCS_CHUNK_STATE. Pointers are into its payload. */
struct ncs_state_part {
	struct ncs_state_head head;
	const struct ncs_run *runs;
	const char *lines;
};

/* Reads the payload of a chunk NCS_CHUNK_STATE of a segment of this length.
 * Returns false if it is not valid. */
bool ncs_state_part_read(const char *payload, size_t size,
			 uint64_t segment_bytes, struct ncs_state_part *part);

/* A line of the key, saved before a later state's line replaced it. */
struct ncs_saved_line {
	uint32_t line;
	char bytes[NCS_STATE_LINE_BYTES];
};

/* An image; one of zeros is empty. */
struct ncs_state_image {
	char *bytes; /* NULL until it is made */
	size_t size;
	/* Pages that were written since the image was made, a bit each. */
	uint64_t *written;
	size_t pages; /* number of these */
	/* Lines of the key that were overwritten. */
	struct ncs_saved_line *saved;
	size_t saved_count;
	size_t saved_capacity;
	/* The budget that pays for its memory, NULL: none; and how much. */
	struct ncs_budget *budget;
	uint64_t paid;
};

/* Makes an image of zeros for a segment of this length, unless there is one.
 * Memory is used only where it is written. The budget pays for it until the
 * image is released; it may be NULL. Returns 0, -ENOMEM, -ENOSPC if the budget
 * has too little left, or -E2BIG if the length makes no sense. Release it with
 * ncs_state_image_release(). */
int ncs_state_image_make(struct ncs_state_image *image, uint64_t segment_bytes,
			 struct ncs_budget *budget);
void ncs_state_image_release(struct ncs_state_image *image);

/* Whether the state in the image is of the segment with this header, as far as
 * that can be seen: another one may have got its number meanwhile. */
bool ncs_state_image_is_of(const struct ncs_state_image *image,
			   const struct ncs_header *header);

/* Returns how much memory a model takes that shows the state: a snapshot of it,
 * and its past, three bytes at most for each one that is not a zero. */
uint64_t ncs_state_image_model_bytes(const struct ncs_state_image *image);

/* Makes the image all zeros, for a key. Its memory stays in use: the key needs
 * nearly all of it again. */
void ncs_state_image_clear(struct ncs_state_image *image);

/* Writes a part's lines into the image, of a key or over a key. Returns 0,
 * -ENOMEM or -ENOSPC; the image is then to be released. */
int ncs_state_image_lay(struct ncs_state_image *image,
			const struct ncs_state_part *part, bool is_key);

/* Makes the image its key again. */
void ncs_state_image_undo(struct ncs_state_image *image);

#endif
