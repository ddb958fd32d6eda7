/* SPDX-License-Identifier: MIT */
/* Puts states together; see state_image.h. */
#include "record/read/state_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/format/chunk.h"
#include "shm/array.h"
#include "shm/segment.h"

#define PAGE_BYTES 4096u
#define PAGES_A_WORD 64u

#define MODEL_BYTES_A_BYTE 3u

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

bool ncs_state_part_read(const char *payload, size_t size,
			 uint64_t segment_bytes, struct ncs_state_part *part)
{
	uint64_t runs_bytes, lines = 0, all;

	if (!payload || size < sizeof(part->head))
		return false;
	memcpy(&part->head, payload, sizeof(part->head));
	runs_bytes = ncs_chunk_round((uint64_t)part->head.runs *
				     sizeof(*part->runs));
	if (runs_bytes > size - sizeof(part->head) ||
	    part->head.segment_bytes != segment_bytes)
		return false;
	part->runs = (const struct ncs_run *)(payload + sizeof(part->head));
	part->lines = payload + sizeof(part->head) + runs_bytes;
	all = (segment_bytes + NCS_STATE_LINE_BYTES - 1) / NCS_STATE_LINE_BYTES;
	for (uint32_t i = 0; i < part->head.runs; i++) {
		lines += part->runs[i].lines;
		if ((uint64_t)part->runs[i].line + part->runs[i].lines > all)
			return false;
	}
	return lines * NCS_STATE_LINE_BYTES <=
	       size - sizeof(part->head) - runs_bytes;
}

/* --- Memory ----------------------------------------------------------------- */

static size_t words_of(const struct ncs_state_image *image)
{
	return image->size / PAGE_BYTES / PAGES_A_WORD + 1;
}

/* Returns what an image is to pay if so many of its pages are written. */
static uint64_t price(const struct ncs_state_image *image, size_t pages)
{
	return PAGE_BYTES + words_of(image) * sizeof(*image->written) +
	       (uint64_t)pages * PAGE_BYTES +
	       image->saved_capacity * sizeof(*image->saved);
}

/* Pays for an image of which so many pages are written, or gets back what was
 * paid too much. Returns 0 or -ENOSPC. */
static int pay(struct ncs_state_image *image, size_t pages)
{
	uint64_t due = price(image, pages);

	if (due > image->paid &&
	    !ncs_budget_take(image->budget, due - image->paid))
		return -ENOSPC;
	if (due < image->paid)
		ncs_budget_give(image->budget, image->paid - due);
	image->paid = due;
	return 0;
}

int ncs_state_image_make(struct ncs_state_image *image, uint64_t segment_bytes,
			 struct ncs_budget *budget)
{
	uint64_t bytes = (segment_bytes + NCS_STATE_LINE_BYTES - 1) &
			 ~(uint64_t)(NCS_STATE_LINE_BYTES - 1);
	void *memory;

	if (image->bytes)
		return 0;
	if (bytes > NCS_STATE_IMAGE_BYTES_MAX)
		return -E2BIG;
	*image = (struct ncs_state_image){ .size = bytes, .budget = budget };
	if (pay(image, 0) != 0)
		return -ENOSPC;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory != MAP_FAILED)
		image->bytes = memory;
	image->written = calloc(words_of(image), sizeof(*image->written));
	if (image->bytes && image->written)
		return 0;
	ncs_state_image_release(image);
	return -ENOMEM;
}

void ncs_state_image_release(struct ncs_state_image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->size);
	ncs_budget_give(image->budget, image->paid);
	free(image->written);
	free(image->saved);
	memset(image, 0, sizeof(*image));
}

bool ncs_state_image_is_of(const struct ncs_state_image *image,
			   const struct ncs_header *header)
{
	struct ncs_header found;

	if (image->size < NCS_HEADER_BYTES_LEAST)
		return false;
	memcpy(&found, image->bytes, NCS_HEADER_BYTES_LEAST);
	return found.pid == header->pid &&
	       found.process_start == header->process_start &&
	       found.created == header->created;
}

uint64_t ncs_state_image_model_bytes(const struct ncs_state_image *image)
{
	return (uint64_t)image->pages * PAGE_BYTES * MODEL_BYTES_A_BYTE;
}

/* --- Writing ---------------------------------------------------------------- */

static bool is_written(const struct ncs_state_image *image, size_t page)
{
	return image->written[page / PAGES_A_WORD] >> (page % PAGES_A_WORD) & 1;
}

void ncs_state_image_clear(struct ncs_state_image *image)
{
	size_t pages = (image->size + PAGE_BYTES - 1) / PAGE_BYTES;

	image->saved_count = 0;
	for (size_t i = 0; i < pages; i++) {
		size_t at = i * PAGE_BYTES, left = image->size - at;

		if (image->written[i / PAGES_A_WORD] == 0)
			i |= PAGES_A_WORD - 1; /* skip the rest of the word */
		else if (is_written(image, i))
			memset(image->bytes + at, 0,
			       left < PAGE_BYTES ? left : PAGE_BYTES);
	}
}

/* Notes that these bytes are no longer zeros. */
static void note_written(struct ncs_state_image *image, size_t offset,
			 size_t bytes)
{
	for (size_t i = offset / PAGE_BYTES; i * PAGE_BYTES < offset + bytes;
	     i++)
		image->written[i / PAGES_A_WORD] |= UINT64_C(1)
						    << (i % PAGES_A_WORD);
}

/* Pays for the pages that a part is the first to write, and for the lines of the
 * key that it replaces. Returns 0, -ENOMEM or -ENOSPC. */
static int pay_for(struct ncs_state_image *image,
		   const struct ncs_state_part *part, bool is_key)
{
	size_t pages = image->pages, next = 0, lines = 0;

	for (uint32_t i = 0; i < part->head.runs; i++) {
		const struct ncs_run *run = &part->runs[i];
		size_t offset = (size_t)run->line * NCS_STATE_LINE_BYTES;
		size_t end = offset + (size_t)run->lines * NCS_STATE_LINE_BYTES;
		size_t page = offset / PAGE_BYTES;

		lines += run->lines;
		/* Runs are in order: the page before may be counted. */
		for (page += page + 1 == next; page * PAGE_BYTES < end; page++)
			pages += !is_written(image, page);
		next = page;
	}
	if (!is_key &&
	    ncs_array_reserve(&image->saved, &image->saved_capacity,
			      image->saved_count + lines,
			      sizeof(*image->saved)) != 0)
		return -ENOMEM;
	if (pay(image, pages) != 0)
		return -ENOSPC;
	image->pages = pages;
	return 0;
}

static void save_line(struct ncs_state_image *image, uint32_t line)
{
	struct ncs_saved_line *saved = &image->saved[image->saved_count++];

	saved->line = line;
	memcpy(saved->bytes, image->bytes + (size_t)line * NCS_STATE_LINE_BYTES,
	       NCS_STATE_LINE_BYTES);
}

int ncs_state_image_lay(struct ncs_state_image *image,
			const struct ncs_state_part *part, bool is_key)
{
	const char *from = part->lines;
	int error = pay_for(image, part, is_key);

	for (uint32_t i = 0; i < part->head.runs && !error; i++) {
		const struct ncs_run *run = &part->runs[i];
		size_t bytes = (size_t)run->lines * NCS_STATE_LINE_BYTES;
		size_t offset = (size_t)run->line * NCS_STATE_LINE_BYTES;

		for (uint32_t k = 0; !is_key && k < run->lines; k++)
			save_line(image, run->line + k);
		memcpy(image->bytes + offset, from, bytes);
		note_written(image, offset, bytes);
		from += bytes;
	}
	return error;
}

void ncs_state_image_undo(struct ncs_state_image *image)
{
	while (image->saved_count > 0) {
		const struct ncs_saved_line *saved =
			&image->saved[--image->saved_count];

		memcpy(image->bytes +
			       (size_t)saved->line * NCS_STATE_LINE_BYTES,
		       saved->bytes, NCS_STATE_LINE_BYTES);
	}
}
