/* SPDX-License-Identifier: MIT */
/* Puts states together; see state_image.h. */
#include "record/read/state_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analysis/base/move_clock.h"
#include "ncclstat/reader.h"
#include "record/format/chunk.h"
#include "shm/read/image.h"
#include "shm/segment.h"

#define PAGE_BYTES 4096u
#define MODEL_BYTES_A_BYTE 3u

/* An image gives its memory back after so many pages were written: 64 MB. */
#define IMAGE_PAGES 16384u

bool ncs_rank_payload_read(const char *payload, size_t size,
			   struct ncs_header *header, uid_t *owner,
			   const char **path, size_t *path_bytes)
{
	struct ncs_rank_head head;
	size_t header_bytes;

	if (!payload || size < sizeof(head))
		return false;
	memcpy(&head, payload, sizeof(head));
	if (head.header_bytes < NCS_HEADER_BYTES_LEAST ||
	    head.header_bytes > size - sizeof(head) ||
	    head.path_bytes > size - sizeof(head) - head.header_bytes)
		return false;
	header_bytes = head.header_bytes < sizeof(*header) ? head.header_bytes :
							     sizeof(*header);
	memset(header, 0, sizeof(*header));
	memcpy(header, payload + sizeof(head), header_bytes);
	if (header->header_bytes > header_bytes)
		header->header_bytes = (uint32_t)header_bytes;
	header->boot_id[sizeof(header->boot_id) - 1] = '\0';
	header->host[sizeof(header->host) - 1] = '\0';
	*owner = (uid_t)(head.owner - 1);
	*path = payload + sizeof(head) + head.header_bytes;
	*path_bytes = head.path_bytes;
	return header->version >> 16 == NCS_ABI_MAJOR &&
	       header->clock.multiplier != 0 &&
	       !ncs_segment_check(header, header->segment_bytes);
}

/* Sets a part to a payload. Returns the bytes that its runs take. */
static uint64_t set_part(struct ncs_state_part *part, const char *payload)
{
	uint64_t runs_bytes;

	memcpy(&part->head, payload, sizeof(part->head));
	runs_bytes = ncs_chunk_round((uint64_t)part->head.runs *
				     sizeof(*part->runs));
	part->runs = (const struct ncs_run *)(payload + sizeof(part->head));
	part->lines = payload + sizeof(part->head) + runs_bytes;
	return runs_bytes;
}

bool ncs_state_part_read(const char *payload, size_t size,
			 uint64_t segment_bytes, struct ncs_state_part *part)
{
	uint64_t runs_bytes, lines = 0, all;

	if (!payload || size < sizeof(part->head))
		return false;
	runs_bytes = set_part(part, payload);
	if (runs_bytes > size - sizeof(part->head) ||
	    part->head.segment_bytes != segment_bytes)
		return false;
	all = (segment_bytes + NCS_STATE_LINE_BYTES - 1) / NCS_STATE_LINE_BYTES;
	for (uint32_t i = 0; i < part->head.runs; i++) {
		lines += part->runs[i].lines;
		if ((uint64_t)part->runs[i].line + part->runs[i].lines > all)
			return false;
	}
	return lines * NCS_STATE_LINE_BYTES <=
	       size - sizeof(part->head) - runs_bytes;
}

/* --- States that are kept -------------------------------------------------- */

/* Returns how many pages a part writes. Its runs are in order, in most cases. */
static size_t pages_of(const struct ncs_state_part *part)
{
	size_t pages = 0, next = 0;

	for (uint32_t i = 0; i < part->head.runs; i++) {
		size_t from = (size_t)part->runs[i].line *
			      NCS_STATE_LINE_BYTES / PAGE_BYTES;
		size_t end =
			((size_t)part->runs[i].line + part->runs[i].lines) *
				NCS_STATE_LINE_BYTES / PAGE_BYTES +
			1;

		pages += end - from - (from + 1 == next);
		next = end;
	}
	return pages;
}

int ncs_state_parts_add(struct ncs_state_parts *parts,
			const struct ncs_state_part *part, const char *payload,
			size_t size)
{
	const uint64_t length = size;
	size_t before = parts->size;
	size_t after = before + sizeof(length) + ncs_chunk_round(size);
	char *larger = realloc(parts->bytes, after);

	if (!larger)
		return -ENOMEM;
	parts->bytes = larger;
	parts->size = after;
	parts->pages += pages_of(part);
	memcpy(larger + before, &length, sizeof(length));
	memcpy(larger + before + sizeof(length), payload, size);
	return 0;
}

bool ncs_state_parts_next(const struct ncs_state_parts *parts, size_t *at,
			  struct ncs_state_part *part)
{
	const char *payload;
	uint64_t size;

	if (*at >= parts->size)
		return false;
	memcpy(&size, parts->bytes + *at, sizeof(size));
	payload = parts->bytes + *at + sizeof(size);
	set_part(part, payload);
	*at += sizeof(size) + ncs_chunk_round(size);
	return true;
}

void ncs_state_parts_forget(struct ncs_state_parts *parts)
{
	parts->size = parts->pages = 0;
}

void ncs_state_parts_release(struct ncs_state_parts *parts)
{
	free(parts->bytes);
	*parts = (struct ncs_state_parts){ .size = 0 };
}

void ncs_kept_state_release(struct ncs_kept_state *state)
{
	ncs_state_parts_release(&state->key);
	ncs_state_parts_release(&state->change);
}

/* Writes the lines of all parts, or zeros in their places, into the first `room` bytes of
 * a segment. */
static void lay(const struct ncs_state_parts *parts, char *bytes, size_t room,
		bool zeros)
{
	struct ncs_state_part part;
	size_t at = 0;

	while (ncs_state_parts_next(parts, &at, &part)) {
		const char *from = part.lines;

		for (uint32_t i = 0; i < part.head.runs; i++) {
			size_t to = (size_t)part.runs[i].line *
				    NCS_STATE_LINE_BYTES;
			size_t all = (size_t)part.runs[i].lines *
				     NCS_STATE_LINE_BYTES;
			size_t size = to >= room      ? 0 :
				      all < room - to ? all :
							room - to;

			if (zeros)
				memset(bytes + to, 0, size);
			else if (size > 0)
				memcpy(bytes + to, from, size);
			from += all;
		}
	}
}

bool ncs_kept_state_is_of(const struct ncs_kept_state *state,
			  const struct ncs_header *header)
{
	struct ncs_header found = { 0 };

	lay(&state->key, (char *)&found, sizeof(found), false);
	lay(&state->change, (char *)&found, sizeof(found), false);
	return found.pid == header->pid &&
	       found.process_start == header->process_start &&
	       found.created == header->created;
}

uint64_t ncs_kept_state_image_bytes(const struct ncs_kept_state *state)
{
	/* Changes write pages of their key. */
	size_t pages = state->key.pages > state->change.pages ?
			       state->key.pages :
			       state->change.pages;

	return (uint64_t)pages * PAGE_BYTES;
}

uint64_t ncs_kept_state_model_bytes(const struct ncs_kept_state *state)
{
	return ncs_kept_state_image_bytes(state) * MODEL_BYTES_A_BYTE;
}

/* --- The image -------------------------------------------------------------- */

/* Makes the image large enough for a segment. Returns 0 or -ENOMEM. */
static int make(struct ncs_state_image *image, size_t size)
{
	void *bytes;

	if (size <= image->size)
		return 0;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return -ENOMEM;
	/* A line must not take 2 MB. */
	madvise(bytes, size, MADV_NOHUGEPAGE);
	ncs_state_image_release(image);
	*image = (struct ncs_state_image){ .bytes = bytes, .size = size };
	return 0;
}

int ncs_state_image_open(struct ncs_state_image *image,
			 const struct ncs_kept_state *state,
			 const struct ncs_header *header,
			 const struct ncs_clock_move *move, const char *path,
			 struct ncs_reader **reader)
{
	size_t size = ncs_chunk_round(header->segment_bytes);
	struct ncs_header *moved;
	enum ncs_attach attach;

	if (size < sizeof(*header) || size > NCS_STATE_IMAGE_BYTES_MAX)
		return -EBADMSG;
	if (image->state != state) {
		ncs_state_image_clear(image);
		if (make(image, size) != 0)
			return -ENOMEM;
		image->state = state;
		lay(&state->key, image->bytes, size, false);
		lay(&state->change, image->bytes, size, false);
		moved = (struct ncs_header *)image->bytes;
		moved->clock = header->clock;
		ncs_clock_move(&moved->clock, move);
		/* The only other time that is not in ticks. */
		if (moved->settings.lease_until_ns != 0)
			moved->settings.lease_until_ns = ncs_clock_moved_ns(
				move, moved->settings.lease_until_ns);
	}
	if (*reader) {
		ncs_reader_set_image(*reader, image->bytes);
		return 0;
	}
	attach = ncs_reader_open_image(image->bytes, size, path, reader, NULL,
				       0);
	if (attach == NCS_ATTACHED)
		return 0;
	return attach == NCS_ATTACH_FAILED ? -ENOMEM : -EBADMSG;
}

/* Memory is given back from time to time: segments need not have their lines in the
 * same places. */
void ncs_state_image_clear(struct ncs_state_image *image)
{
	const struct ncs_kept_state *state = image->state;

	if (!state)
		return;
	image->state = NULL;
	image->pages += state->key.pages + state->change.pages;
	if (image->pages > IMAGE_PAGES &&
	    madvise(image->bytes, image->size, MADV_DONTNEED) == 0) {
		image->pages = 0;
		return;
	}
	lay(&state->key, image->bytes, image->size, true);
	lay(&state->change, image->bytes, image->size, true);
	memset(image->bytes, 0, sizeof(struct ncs_header));
}

void ncs_state_image_release(struct ncs_state_image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->size);
	*image = (struct ncs_state_image){ .size = 0 };
}
