/* SPDX-License-Identifier: MIT */
/* The geometry of a segment: laid out by the writer, validated by readers.
 *
 * Pure functions over a header; they touch no file and no mapping beyond it.
 * Fuzzed: the header that a reader validates is hostile input.
 */
#ifndef NCS_SHM_SEGMENT_H
#define NCS_SHM_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"

/* Upper bounds that a reader accepts, so that a corrupt header cannot make it
 * allocate without limit. */
#define NCS_SEGMENT_LANES_MAX 256u
#define NCS_SEGMENT_CHANNELS_MAX 65536u
#define NCS_SEGMENT_OPERATIONS_MAX 65536u
#define NCS_SEGMENT_CLASSES_MAX 1024u
#define NCS_SEGMENT_HISTOGRAMS_MAX 1024u
#define NCS_SEGMENT_RING_RECORDS_MAX (1u << 24)
#define NCS_SEGMENT_RANGES_MAX 65536u

struct ncs_segment_size {
	uint32_t lanes; /* the shared one included */
	uint32_t channels;
	uint32_t operations;
	uint32_t classes; /* the functions' own included */
	uint32_t histograms;
	uint32_t ring_records; /* a power of two, at least 2 */
	uint32_t ranges;       /* may be none */
	uint32_t range_histograms;
};

/* Fills in the header's tables and segment_bytes for this size. */
void ncs_segment_lay_out(struct ncs_header *header,
			 const struct ncs_segment_size *size);

/* From minor version 3 on headers tell of ranges. */
static inline bool ncs_segment_has_ranges(const struct ncs_header *header)
{
	return header->header_bytes >=
	       offsetof(struct ncs_header, ranges_filled) + sizeof(uint64_t);
}

/* … later ones of it of CUPTI, too. */
static inline bool ncs_segment_has_cupti(const struct ncs_header *header)
{
	return header->header_bytes >=
	       offsetof(struct ncs_header, cupti) + sizeof(struct ncs_cupti);
}

/* Whether a header that was found at the start of `file_bytes` bytes is one
 * that we can read. NULL if it is; else what is wrong, a constant string.
 * Does not look at the version. */
const char *ncs_segment_check(const struct ncs_header *header,
			      uint64_t file_bytes);

#endif
