/* SPDX-License-Identifier: MIT */
/* The states of ranks in memory, as the chunks of a recording or a stream bring
 * them: a key, and the changes of one later state. They are kept as they came,
 * and put together in an image to be read, which all ranks share.
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

/* Largest segment, in bytes: a process has one ring of 1 GiB for each of nine
 * threads at most. */
#define NCS_STATE_IMAGE_BYTES_MAX (UINT64_C(1) << 34)

struct ncs_clock_move; /* analysis/base/move_clock.h */
struct ncs_header;     /* ncclstat/abi_header.h */
struct ncs_reader;     /* ncclstat/reader.h */

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

/* --- States that are kept -------------------------------------------------- */

/* Payloads of the chunks of a state, each after its length, aligned. One of zeros
 * is empty. */
struct ncs_state_parts {
	char *bytes;
	size_t size;
	size_t pages; /* of the segment that they write, at most */
};

/* Adds the payload of a part that was read. Returns 0, or -ENOMEM with nothing
 * added. */
int ncs_state_parts_add(struct ncs_state_parts *parts,
			const struct ncs_state_part *part, const char *payload,
			size_t size);

/* Sets *part to the next of the parts from *at on, 0 at first. Returns false at
 * their end. */
bool ncs_state_parts_next(const struct ncs_state_parts *parts, size_t *at,
			  struct ncs_state_part *part);

/* Forget the parts. The first function keeps their memory for those that come next,
 * which are as large in most cases. */
void ncs_state_parts_forget(struct ncs_state_parts *parts);
void ncs_state_parts_release(struct ncs_state_parts *parts);

/* A rank's state. */
struct ncs_kept_state {
	struct ncs_state_parts key;    /* the latest, */
	struct ncs_state_parts change; /* and the later state over it */
};

/* Forgets it, and frees its memory. */
void ncs_kept_state_release(struct ncs_kept_state *state);

/* Whether a state is of the segment with this header, as far as that can be seen:
 * another one may have got its number meanwhile. */
bool ncs_kept_state_is_of(const struct ncs_kept_state *state,
			  const struct ncs_header *header);

/* Return how much memory an image takes that has the state; and a model that shows
 * it: a snapshot of it, and its past, three bytes at most for each one that is not
 * a zero. */
uint64_t ncs_kept_state_image_bytes(const struct ncs_kept_state *state);
uint64_t ncs_kept_state_model_bytes(const struct ncs_kept_state *state);

/* --- The image -------------------------------------------------------------- */

/* Memory in which a state is put together to be read, all zeros in between. One
 * of zeros is empty. */
struct ncs_state_image {
	char *bytes;
	size_t size;
	size_t pages; /* written since memory was last given back, at most */
	/* The state that is in it, which must not change meanwhile; NULL: none. */
	const struct ncs_kept_state *state;
};

/* Puts a state together, unless it is in the image already, with all times moved.
 * `header` is its segment's. Opens a reader of it, or has *reader read it that was
 * opened for an earlier one of the same segment and move. Returns 0, -ENOMEM, or
 * -EBADMSG if the state makes no sense. */
int ncs_state_image_open(struct ncs_state_image *image,
			 const struct ncs_kept_state *state,
			 const struct ncs_header *header,
			 const struct ncs_clock_move *move, const char *path,
			 struct ncs_reader **reader);

/* Takes the state out of the image. */
void ncs_state_image_clear(struct ncs_state_image *image);

/* Frees the image, which is empty then. */
void ncs_state_image_release(struct ncs_state_image *image);

#endif
