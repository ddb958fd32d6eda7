/* SPDX-License-Identifier: MIT */
/* The geometry of a segment: laid out by the writer, validated by readers.
 *
 * Pure functions over a header; they touch no file and no mapping beyond it.
 * The header that a reader validates is hostile input, and fuzzed.
 */
#ifndef NCS_SHM_SEGMENT_H
#define NCS_SHM_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi_header.h"
#include "ncclstat/abi_lane.h"
#include "ncclstat/abi_range.h"

/* Upper bounds that a reader accepts, so that a corrupt header cannot make it
 * allocate without limit. */
#define NCS_SEGMENT_LANES_MAX 256u
#define NCS_SEGMENT_CHANNELS_MAX 65536u
#define NCS_SEGMENT_OPERATIONS_MAX 65536u
#define NCS_SEGMENT_CLASSES_MAX 1024u
#define NCS_SEGMENT_HISTOGRAMS_MAX 1024u
#define NCS_SEGMENT_RING_RECORDS_MAX (1u << 24)
#define NCS_SEGMENT_RANGES_MAX 65536u

/* The place of the job labels in segments that this program lays out. The
 * plugin writes there without looking at the header, which others may have
 * overwritten. */
#define NCS_SEGMENT_LABELS_OFFSET NCS_HEADER_BYTES

/* The sizes of a segment's tables, in entries. */
struct ncs_segment_size {
	uint32_t lanes; /* including the shared one */
	uint32_t channels;
	uint32_t operations;
	uint32_t classes; /* including the functions' own */
	uint32_t histograms;
	uint32_t ring_records; /* of each lane; a power of two, at least 2 */
	uint32_t ranges;       /* may be 0 */
	uint32_t range_histograms;
	uint32_t call_lanes; /* besides `lanes`, less than them; may be 0 */
	uint32_t call_ring_records; /* as ring_records, of each call lane */
};

/* Fills in the header's tables, ring_records and segment_bytes for this
 * size. */
void ncs_segment_lay_out(struct ncs_header *header,
			 const struct ncs_segment_size *size);

/* Tells whether a header is long enough to have a member. By minor versions:
 * filled from 2 on; tables of ranges, ranges_filled, from 3 on; times by CUPTI in
 * later headers of 3, and from 4 on; the progress of launches from 5 on; when the
 * process was last known to live, alive, from 8 on; how many launches were in
 * other contexts from 9 on; captured graphs and replays from 11 on. */
#define NCS_SEGMENT_HAS(header, member) \
	((header)->header_bytes >= \
	 offsetof(struct ncs_header, member) + sizeof((header)->member))

/* Tells whether a segment has job labels, as most have from minor version 8 on. */
static inline bool ncs_segment_has_labels(const struct ncs_header *header)
{
	return NCS_SEGMENT_HAS(header, labels) && header->labels.count > 0;
}

/* Returns how many of the last lanes are call lanes (minor version 10 and
 * later). */
static inline uint32_t ncs_segment_call_lanes(const struct ncs_header *header)
{
	return NCS_SEGMENT_HAS(header, call_ring_records) ?
		       header->call_rings.count :
		       0;
}

/* Tells whether a lane of the segment is a call lane. */
static inline bool ncs_segment_is_call_lane(const struct ncs_header *header,
					    size_t lane)
{
	return lane >= header->lanes.count - ncs_segment_call_lanes(header);
}

/* Tells whether lanes and ranges have struct ncs_stream_times (minor version 5
 * and later). */
static inline bool ncs_segment_has_stream_times(const struct ncs_header *header)
{
	return NCS_SEGMENT_HAS(header, launches) &&
	       header->lanes.stride >= sizeof(struct ncs_lane) &&
	       (header->ranges.count == 0 ||
		header->ranges.stride >= sizeof(struct ncs_range));
}

/* Checks that a header describes a segment that fits into `file_bytes` bytes
 * and that this program can read. Returns NULL if so, else the reason as a
 * constant string, one clause for users. Does not check the version. */
const char *ncs_segment_check(const struct ncs_header *header,
			      uint64_t file_bytes);

#endif
