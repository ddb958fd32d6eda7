/* SPDX-License-Identifier: MIT */
/* The geometry of a segment: the writer's layout is valid, and every geometry
 * that a reader accepts lies within the file, whatever the header contains. */
#include <stdlib.h>
#include <string.h>

#include "shm/segment.h"

#include "ncclstat/abi.h"
#include "test/unit/support/unit.h"

typedef unsigned __int128 wide;

static struct ncs_header laid_out(struct ncs_segment_size size)
{
	struct ncs_header header;

	memset(&header, 0, sizeof(header));
	header.magic = NCS_MAGIC;
	header.byte_order = NCS_BYTE_ORDER;
	header.header_bytes = sizeof(struct ncs_header);
	header.record_bytes = sizeof(struct ncs_record);
	ncs_segment_lay_out(&header, &size);
	return header;
}

static const struct ncs_segment_size small = {
	.lanes = 3,
	.channels = 5,
	.operations = 7,
	.classes = 6,
	.histograms = 2,
	.ring_records = 16,
	.ranges = 3,
	.range_histograms = 2,
	.call_lanes = 1,
	.call_ring_records = 32,
};

#define SMALL_LANES (small.lanes + small.call_lanes)

/* --- The writer's layout ----------------------------------------------- */

static void assert_table(const struct ncs_table *table, uint32_t count,
			 uint64_t entry_bytes, uint64_t *end)
{
	assert_int_equal(table->count, count);
	assert_true(table->stride >= entry_bytes);
	assert_int_equal(table->stride % 8, 0);
	assert_int_equal(table->offset % 4096, 0);
	assert_true(table->offset >= *end);
	*end = table->offset + (uint64_t)table->count * table->stride;
}

static void assert_laid_out(struct ncs_segment_size size)
{
	struct ncs_header header = laid_out(size);
	uint32_t lanes = size.lanes + size.call_lanes;
	uint64_t end = NCS_HEADER_BYTES;

	assert_table(&header.lanes, lanes, sizeof(struct ncs_lane), &end);
	assert_table(&header.channels, size.channels,
		     sizeof(struct ncs_channel), &end);
	assert_table(&header.operations, size.operations,
		     sizeof(struct ncs_operation), &end);
	assert_table(&header.classes, size.classes, sizeof(struct ncs_class),
		     &end);
	assert_table(&header.rings, lanes,
		     sizeof(struct ncs_ring) +
			     size.ring_records * sizeof(struct ncs_record),
		     &end);
	assert_table(&header.call_rings, size.call_lanes,
		     sizeof(struct ncs_ring) +
			     size.call_ring_records * sizeof(struct ncs_record),
		     &end);
	assert_table(&header.histograms, size.histograms,
		     sizeof(struct ncs_histogram), &end);
	assert_table(&header.ranges, size.ranges, sizeof(struct ncs_range),
		     &end);
	assert_table(&header.range_histograms, size.range_histograms,
		     sizeof(struct ncs_range_histogram), &end);
	assert_int_equal(header.ring_records, size.ring_records);
	assert_int_equal(header.call_ring_records, size.call_ring_records);
	assert_true(header.segment_bytes >= end);
	assert_true(header.segment_bytes < end + 4096);
	assert_null(ncs_segment_check(&header, header.segment_bytes));
	assert_non_null(ncs_segment_check(&header, header.segment_bytes - 1));
}

TEST(tables_follow_each_other_without_overlap)
{
	assert_laid_out(small);
	assert_laid_out(
		(struct ncs_segment_size){ 1, 1, 1, 1, 1, 2, 0, 0, 0, 0 });
	assert_laid_out((struct ncs_segment_size){
		.lanes = NCS_SEGMENT_LANES_MAX,
		.channels = NCS_SEGMENT_CHANNELS_MAX,
		.operations = NCS_SEGMENT_OPERATIONS_MAX,
		.classes = NCS_SEGMENT_CLASSES_MAX,
		.histograms = NCS_SEGMENT_HISTOGRAMS_MAX,
		.ring_records = NCS_SEGMENT_RING_RECORDS_MAX,
		.ranges = NCS_SEGMENT_RANGES_MAX,
		.range_histograms = NCS_SEGMENT_RANGES_MAX,
	});
	srandom(1);
	for (unsigned i = 0; i < 1000; i++)
		assert_laid_out((struct ncs_segment_size){
			.lanes = 2 + (uint32_t)random() % 64,
			.channels = 1 + (uint32_t)random() % 4096,
			.operations = 1 + (uint32_t)random() % 4096,
			.classes = 1 + (uint32_t)random() % 128,
			.histograms = 1 + (uint32_t)random() % 64,
			.ring_records = UINT32_C(2) << random() % 16,
			.ranges = (uint32_t)random() % 4096,
			.range_histograms = (uint32_t)random() % 64,
			.call_lanes = i % 2,
			.call_ring_records = UINT32_C(2) << random() % 16,
		});
}

TEST(records_do_not_straddle_cache_lines)
{
	struct ncs_header header = laid_out(small);

	assert_int_equal(header.rings.stride % 64, 0);
	assert_int_equal((header.rings.offset + sizeof(struct ncs_ring)) % 64,
			 0);
	assert_int_equal(header.lanes.stride % 64, 0);
	assert_int_equal(header.channels.stride % 64, 0);
	assert_int_equal(header.operations.stride % 64, 0);
	assert_int_equal(header.classes.stride % 64, 0);
	assert_int_equal(header.histograms.stride % 64, 0);
}

/* --- Geometry that readers accept -------------------------------------- */

/* Each of these alone makes a valid header invalid. */
#define CORRUPTIONS(X) \
	X(magic, 0) \
	X(magic, NCS_MAGIC ^ 1) \
	X(byte_order, 0) \
	X(byte_order, 0x04030201) \
	X(header_bytes, 0) \
	X(header_bytes, NCS_HEADER_BYTES_LEAST - 1) \
	X(record_bytes, 0) \
	X(record_bytes, 63) \
	X(record_bytes, 128) \
	X(segment_bytes, header.segment_bytes + 1) \
	X(segment_bytes, UINT64_MAX) \
	X(ring_records, 0) \
	X(ring_records, 1) \
	X(ring_records, 15) \
	X(ring_records, 32) \
	X(ring_records, NCS_SEGMENT_RING_RECORDS_MAX * 2) \
	X(ring_records, UINT32_C(1) << 31) \
	X(ring_records, UINT32_MAX) \
	X(rings.count, SMALL_LANES - 1) \
	X(rings.count, SMALL_LANES + 1) \
	X(lanes.count, SMALL_LANES - 1) \
	X(call_ring_records, 0) \
	X(call_ring_records, 1) \
	X(call_ring_records, 31) \
	X(call_ring_records, 64) \
	X(call_ring_records, UINT64_C(1) << 32) \
	X(call_rings.count, 2) \
	X(call_rings.count, SMALL_LANES) \
	TABLE_FROM(X, lanes, NCS_SEGMENT_LANES_MAX, NCS_LANE_BYTES_LEAST) \
	X(lanes.count, 0) \
	TABLE_OR_NONE(X, classes, NCS_SEGMENT_CLASSES_MAX) \
	TABLE(X, channels, NCS_SEGMENT_CHANNELS_MAX) \
	TABLE(X, operations, NCS_SEGMENT_OPERATIONS_MAX) \
	TABLE(X, histograms, NCS_SEGMENT_HISTOGRAMS_MAX) \
	TABLE(X, rings, NCS_SEGMENT_LANES_MAX) \
	TABLE_OR_NONE(X, call_rings, NCS_SEGMENT_LANES_MAX) \
	TABLE_FROM(X, ranges, NCS_SEGMENT_RANGES_MAX, NCS_RANGE_BYTES_LEAST) \
	TABLE_OR_NONE(X, range_histograms, NCS_SEGMENT_RANGES_MAX)

#define TABLE(X, table, max) \
	X(table.count, 0) \
	TABLE_OR_NONE(X, table, max)

#define TABLE_OR_NONE(X, table, max) \
	TABLE_FROM(X, table, max, header.table.stride)

/* Entries of earlier minor versions have `least` bytes. */
#define TABLE_FROM(X, table, max, least) \
	X(table.count, (max) + 1) \
	X(table.count, UINT32_MAX) \
	X(table.stride, 0) \
	X(table.stride, 8) \
	X(table.stride, (least)-8) \
	X(table.stride, header.table.stride + 1) \
	X(table.stride, header.table.stride + 4) \
	X(table.stride, UINT32_MAX) \
	X(table.stride, UINT32_MAX - 7) \
	X(table.offset, header.table.offset + 1) \
	X(table.offset, header.table.offset + 4) \
	X(table.offset, header.segment_bytes) \
	X(table.offset, header.segment_bytes + 4096) \
	X(table.offset, UINT64_MAX - 7) \
	X(table.offset, UINT64_MAX) \
	X(table.offset, UINT64_C(1) << 63) \
	X(table.offset, 0 - (uint64_t)header.table.count * header.table.stride)

TEST(every_corrupt_field_is_refused)
{
	struct ncs_header header = laid_out(small), bad;
	unsigned count = 0;

	assert_null(ncs_segment_check(&header, header.segment_bytes));
#define X(field, value) \
	bad = header; \
	bad.field = (value); \
	if (!ncs_segment_check(&bad, header.segment_bytes)) \
		fail_msg("accepted: %s = %s", #field, #value); \
	count++;
	CORRUPTIONS(X)
#undef X
	assert_true(count > 100);
}

TEST(truncated_file_is_refused)
{
	struct ncs_header header = laid_out(small);

	for (uint64_t bytes = 0; bytes < header.segment_bytes; bytes += 512)
		assert_non_null(ncs_segment_check(&header, bytes));
}

TEST(longer_files_strides_and_headers_are_accepted)
{
	struct ncs_header header = laid_out(small);

	assert_null(ncs_segment_check(&header, header.segment_bytes + 4096));
	header.header_bytes += 64;
	assert_null(ncs_segment_check(&header, header.segment_bytes));
	header.operations.stride += 64; /* as a later minor version's */
	assert_null(ncs_segment_check(&header, header.segment_bytes));
	memset(&header.classes, 0, sizeof(header.classes)); /* before 1.2 */
	assert_null(ncs_segment_check(&header, header.segment_bytes));
}

/* Bytes beyond an earlier version's header are not part of it. */
TEST(earlier_header_has_no_ranges)
{
	struct ncs_header header = laid_out(small);

	assert_true(NCS_SEGMENT_HAS(&header, ranges_filled));
	header.ranges.offset = header.range_histograms.offset = UINT64_MAX;
	assert_non_null(ncs_segment_check(&header, header.segment_bytes));
	header.header_bytes = offsetof(struct ncs_header, ranges_filled);
	assert_false(NCS_SEGMENT_HAS(&header, ranges_filled));
	assert_null(ncs_segment_check(&header, header.segment_bytes));
}

TEST(earlier_header_has_no_call_lanes)
{
	struct ncs_header header = laid_out(small);

	assert_int_equal(ncs_segment_call_lanes(&header), 1);
	assert_false(ncs_segment_is_call_lane(&header, small.lanes - 1));
	assert_true(ncs_segment_is_call_lane(&header, small.lanes));
	header.call_rings.offset = UINT64_MAX;
	assert_non_null(ncs_segment_check(&header, header.segment_bytes));
	header.header_bytes = offsetof(struct ncs_header, call_rings);
	assert_null(ncs_segment_check(&header, header.segment_bytes));
	assert_int_equal(ncs_segment_call_lanes(&header), 0);
	assert_false(ncs_segment_is_call_lane(&header, small.lanes));
}

TEST(entries_before_1_5_have_no_stream_times)
{
	struct ncs_header header = laid_out(small);

	assert_true(NCS_SEGMENT_HAS(&header, launches));
	assert_true(ncs_segment_has_stream_times(&header));
	header.ranges.stride = NCS_RANGE_BYTES_LEAST;
	assert_null(ncs_segment_check(&header, header.segment_bytes));
	assert_false(ncs_segment_has_stream_times(&header));
	header = laid_out(small);
	header.lanes.stride = NCS_LANE_BYTES_LEAST;
	assert_null(ncs_segment_check(&header, header.segment_bytes));
	assert_false(ncs_segment_has_stream_times(&header));
	header = laid_out(small);
	header.header_bytes = offsetof(struct ncs_header, launches);
	assert_null(ncs_segment_check(&header, header.segment_bytes));
	assert_false(NCS_SEGMENT_HAS(&header, launches));
	assert_false(ncs_segment_has_stream_times(&header));
}

/* In a file that is large enough for any table. */
TEST(tables_beyond_the_limits_are_refused)
{
	const struct ncs_header good = laid_out((struct ncs_segment_size){
		.lanes = NCS_SEGMENT_LANES_MAX,
		.channels = NCS_SEGMENT_CHANNELS_MAX,
		.operations = NCS_SEGMENT_OPERATIONS_MAX,
		.classes = NCS_SEGMENT_CLASSES_MAX,
		.histograms = NCS_SEGMENT_HISTOGRAMS_MAX,
		.ring_records = NCS_SEGMENT_RING_RECORDS_MAX,
	});
	const uint64_t file_bytes = UINT64_C(1) << 50;
	struct ncs_header header = good;
	struct ncs_table *const tables[] = {
		&header.channels,
		&header.operations,
		&header.classes,
		&header.histograms,
	};

	assert_null(ncs_segment_check(&header, file_bytes));
	header.lanes.count++;
	header.rings.count++;
	assert_non_null(ncs_segment_check(&header, file_bytes));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		header = good;
		tables[i]->count++;
		assert_non_null(ncs_segment_check(&header, file_bytes));
	}
	header = good;
	header.ring_records *= 2;
	header.rings.stride = 3u << 30;
	assert_non_null(ncs_segment_check(&header, file_bytes));
}

/* --- Random headers ---------------------------------------------------- */

static uint64_t random64(void)
{
	return (uint64_t)random() << 62 ^ (uint64_t)random() << 31 ^
	       (uint64_t)random();
}

/* Returns a number that is likely to be a boundary case. */
static uint64_t interesting(uint64_t file_bytes)
{
	switch (random() % 9) {
	case 0:
		return (uint64_t)random() % 16;
	case 1:
		return UINT64_C(1) << random() % 64;
	case 2:
		return (UINT64_C(1) << random() % 64) - (uint64_t)random() % 9;
	case 3:
		return file_bytes - (uint64_t)random() % 4096;
	case 4:
		return file_bytes / (1 + (uint64_t)random() % 64) &
		       ~UINT64_C(7);
	case 5:
		return UINT64_MAX - (uint64_t)random() % 4096;
	case 6:
		return (uint64_t)random() % 65536 * 8;
	case 7:
		return (uint64_t)random() % 512 * 64;
	default:
		return random64();
	}
}

static void spoil_table(struct ncs_table *table, uint64_t file_bytes)
{
	switch (random() % 4) {
	case 0:
		table->offset = interesting(file_bytes);
		break;
	case 1:
		table->count = (uint32_t)interesting(file_bytes);
		break;
	case 2:
		table->stride = (uint32_t)interesting(file_bytes);
		break;
	default:
		break;
	}
}

static void assert_inside(const struct ncs_table *table, uint64_t entry_bytes,
			  uint64_t file_bytes)
{
	wide last =
		(wide)table->offset + (wide)(table->count - 1) * table->stride;

	assert_true(table->count > 0);
	assert_true(table->stride >= entry_bytes);
	assert_int_equal(table->offset % 8, 0);
	assert_int_equal(table->stride % 8, 0);
	assert_true(last + entry_bytes <= file_bytes);
}

TEST(accepted_tables_lie_within_the_file)
{
	unsigned accepted = 0, refused = 0;

	srandom(2);
	for (unsigned i = 0; i < 1000000; i++) {
		struct ncs_header header = laid_out(small);
		struct ncs_table *tables[] = {
			&header.lanes,      &header.channels,
			&header.operations, &header.classes,
			&header.histograms, &header.rings,
			&header.call_rings,
		};
		uint64_t file_bytes = random() % 2 ? header.segment_bytes :
						     interesting(1 << 20);

		if (random() % 2)
			header.segment_bytes = (uint64_t)random() % 4096;
		if (random() % 8 == 0)
			header.ring_records = (uint32_t)interesting(64);
		if (random() % 8 == 0)
			header.call_ring_records = interesting(64);
		if (random() % 8 == 0)
			header.lanes.count = header.rings.count =
				(uint32_t)interesting(256);
		for (unsigned spoils = random() % 4; spoils > 0; spoils--)
			spoil_table(tables[random() % 7], file_bytes);
		if (ncs_segment_check(&header, file_bytes)) {
			refused++;
			continue;
		}
		accepted++;
		assert_inside(&header.lanes, NCS_LANE_BYTES_LEAST, file_bytes);
		if (ncs_segment_has_stream_times(&header))
			assert_inside(&header.lanes, sizeof(struct ncs_lane),
				      file_bytes);
		assert_inside(&header.channels, sizeof(struct ncs_channel),
			      file_bytes);
		assert_inside(&header.operations, sizeof(struct ncs_operation),
			      file_bytes);
		if (header.classes.count > 0)
			assert_inside(&header.classes, sizeof(struct ncs_class),
				      file_bytes);
		assert_inside(&header.histograms, sizeof(struct ncs_histogram),
			      file_bytes);
		assert_inside(&header.rings,
			      sizeof(struct ncs_ring) +
				      (uint64_t)header.ring_records *
					      sizeof(struct ncs_record),
			      file_bytes);
		if (ncs_segment_call_lanes(&header) > 0)
			assert_inside(&header.call_rings,
				      sizeof(struct ncs_ring) +
					      header.call_ring_records *
						      sizeof(struct ncs_record),
				      file_bytes);
		assert_true(ncs_segment_call_lanes(&header) <
			    header.lanes.count);
		assert_true(header.ring_records >= 2);
		assert_int_equal(
			header.ring_records & (header.ring_records - 1), 0);
		assert_true(header.rings.count >= header.lanes.count);
	}
	print_message("%u accepted, %u refused\n", accepted, refused);
	assert_true(accepted > 10000);
	assert_true(refused > 10000);
}
