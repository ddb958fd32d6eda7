/* SPDX-License-Identifier: MIT */
/* Lays out and validates segments; see segment.h. Pure. */
#include "shm/segment.h"

#include "ncclstat/abi.h"

#define ALIGNMENT 4096u

static uint64_t align(uint64_t offset)
{
	return (offset + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

static uint64_t ring_bytes(uint64_t records)
{
	return sizeof(struct ncs_ring) + records * sizeof(struct ncs_record);
}

/* Places a table at `offset` and returns the offset of the next one. */
static uint64_t place(struct ncs_table *table, uint64_t offset, uint32_t count,
		      uint64_t stride)
{
	table->offset = offset;
	table->count = count;
	table->stride = (uint32_t)stride;
	return align(offset + (uint64_t)count * stride);
}

void ncs_segment_lay_out(struct ncs_header *header,
			 const struct ncs_segment_size *size)
{
	uint64_t offset = place(&header->labels, NCS_SEGMENT_LABELS_OFFSET, 1,
				sizeof(struct ncs_labels));
	uint32_t lanes = size->lanes + size->call_lanes;

	offset = place(&header->lanes, offset, lanes, sizeof(struct ncs_lane));
	offset = place(&header->channels, offset, size->channels,
		       sizeof(struct ncs_channel));
	offset = place(&header->operations, offset, size->operations,
		       sizeof(struct ncs_operation));
	offset = place(&header->classes, offset, size->classes,
		       sizeof(struct ncs_class));
	offset = place(&header->rings, offset, lanes,
		       ring_bytes(size->ring_records));
	offset = place(&header->call_rings, offset, size->call_lanes,
		       ring_bytes(size->call_ring_records));
	offset = place(&header->histograms, offset, size->histograms,
		       sizeof(struct ncs_histogram));
	offset = place(&header->ranges, offset, size->ranges,
		       sizeof(struct ncs_range));
	offset = place(&header->range_histograms, offset,
		       size->range_histograms,
		       sizeof(struct ncs_range_histogram));
	header->ring_records = size->ring_records;
	header->call_ring_records = size->call_ring_records;
	header->segment_bytes = offset;
}

/* Tells whether a table is within the segment. No sum or product overflows:
 * count and stride have 32 bits, and the offset is checked first. */
static bool table_is_good(const struct ncs_table *table, uint32_t max,
			  uint64_t entry_bytes, uint64_t segment_bytes)
{
	return table->count > 0 && table->count <= max &&
	       table->stride >= entry_bytes && table->stride % 8 == 0 &&
	       table->offset % 8 == 0 && table->offset <= segment_bytes &&
	       (uint64_t)table->count * table->stride <=
		       segment_bytes - table->offset;
}

static bool rings_are_good(const struct ncs_table *rings, uint64_t records,
			   uint64_t segment_bytes)
{
	return records >= 2 && records <= NCS_SEGMENT_RING_RECORDS_MAX &&
	       (records & (records - 1)) == 0 &&
	       table_is_good(rings, NCS_SEGMENT_LANES_MAX, ring_bytes(records),
			     segment_bytes);
}

/* Each call lane belongs to another lane, which is not the shared one. */
static bool call_rings_are_good(const struct ncs_header *header,
				uint64_t segment_bytes)
{
	uint32_t count = ncs_segment_call_lanes(header);

	return count == 0 ||
	       (count <= (header->lanes.count - 1) / 2 &&
		rings_are_good(&header->call_rings, header->call_ring_records,
			       segment_bytes));
}

static bool ranges_are_good(const struct ncs_header *header,
			    uint64_t segment_bytes)
{
	const struct ncs_table *ranges = &header->ranges;
	const struct ncs_table *histograms = &header->range_histograms;

	return !NCS_SEGMENT_HAS(header, ranges_filled) ||
	       ((ranges->count == 0 ||
		 table_is_good(ranges, NCS_SEGMENT_RANGES_MAX,
			       NCS_RANGE_BYTES_LEAST, segment_bytes)) &&
		(histograms->count == 0 ||
		 table_is_good(histograms, NCS_SEGMENT_RANGES_MAX,
			       sizeof(struct ncs_range_histogram),
			       segment_bytes)));
}

const char *ncs_segment_check(const struct ncs_header *header,
			      uint64_t file_bytes)
{
	uint64_t segment_bytes = header->segment_bytes;

	if (header->magic != NCS_MAGIC)
		return "it does not begin with ncclstat's magic";
	if (header->byte_order != NCS_BYTE_ORDER)
		return "its byte order is another";
	if (header->header_bytes < NCS_HEADER_BYTES_LEAST)
		return "its header is too short";
	if (header->record_bytes != sizeof(struct ncs_record))
		return "its records are not 64 bytes long";
	if (segment_bytes > file_bytes)
		return "it is shorter than its header says";
	if (segment_bytes < NCS_HEADER_BYTES)
		return "it has no room for its header";
	if (!table_is_good(&header->lanes, NCS_SEGMENT_LANES_MAX,
			   NCS_LANE_BYTES_LEAST, segment_bytes))
		return "its table of lanes is out of bounds";
	if (!table_is_good(&header->channels, NCS_SEGMENT_CHANNELS_MAX,
			   sizeof(struct ncs_channel), segment_bytes))
		return "its table of channels is out of bounds";
	if (!table_is_good(&header->operations, NCS_SEGMENT_OPERATIONS_MAX,
			   sizeof(struct ncs_operation), segment_bytes))
		return "its table of operations is out of bounds";
	if (header->classes.count != 0 &&
	    !table_is_good(&header->classes, NCS_SEGMENT_CLASSES_MAX,
			   sizeof(struct ncs_class), segment_bytes))
		return "its table of classes is out of bounds";
	if (!table_is_good(&header->histograms, NCS_SEGMENT_HISTOGRAMS_MAX,
			   sizeof(struct ncs_histogram), segment_bytes))
		return "its table of histograms is out of bounds";
	if (header->rings.count != header->lanes.count ||
	    !rings_are_good(&header->rings, header->ring_records,
			    segment_bytes))
		return "its rings are out of bounds";
	if (!call_rings_are_good(header, segment_bytes))
		return "its rings of calls are out of bounds";
	if (!ranges_are_good(header, segment_bytes))
		return "its tables of ranges are out of bounds";
	if (ncs_segment_has_labels(header) &&
	    !table_is_good(&header->labels, 1, sizeof(struct ncs_labels),
			   segment_bytes))
		return "its job labels are out of bounds";
	return NULL;
}
