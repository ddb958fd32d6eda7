/* SPDX-License-Identifier: MIT */
/* Images of a live segment: everything in use is copied, word for word, and
 * nothing else; blocks caught in mid-write are marked; finished operations are
 * removed from the next image. */
#include <stdlib.h>
#include <string.h>

#include "ncclstat/reader.h"
#include "shm/read/image.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

struct image_taking {
	struct ncs_reader *reader;
	char *bytes;
	size_t size;
	char *written; /* a byte is 1 if a piece covered it */
	const char *mapped;
};

static void note(void *context, size_t offset, size_t bytes)
{
	struct image_taking *image = context;

	assert_true(offset + bytes <= image->size);
	assert_int_equal(offset % 8, 0);
	memset(image->written + offset, 1, bytes);
}

static void open_image(struct image_taking *image,
		       const struct segment_fixture *fixture)
{
	assert_int_equal(ncs_reader_open(fixture->writer.path, &image->reader,
					 NULL, 0),
			 NCS_ATTACHED);
	image->size = ncs_reader_header(image->reader)->segment_bytes;
	image->bytes = calloc(1, image->size);
	image->written = calloc(1, image->size);
	image->mapped = (const char *)fixture->header;
}

static void close_image(struct image_taking *image)
{
	ncs_reader_close(image->reader);
	free(image->bytes);
	free(image->written);
}

static bool take(struct image_taking *image)
{
	memset(image->written, 0, image->size);
	return ncs_image_take(image->reader, image->bytes, note, image);
}

/* Checks that an entry of the image equals the segment's. */
static void assert_taken(const struct image_taking *image, const void *entry,
			 size_t bytes)
{
	size_t offset = (size_t)((const char *)entry - image->mapped);

	assert_memory_equal(image->bytes + offset, entry, bytes);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(image->written[offset + i], 1);
}

static struct ncs_operation *add_operation(struct segment_fixture *fixture,
					   unsigned index, uint64_t number)
{
	struct ncs_operation *operation =
		segment_fixture_operation(fixture, index);

	operation->number = number;
	operation->bytes = 7;
	return operation;
}

UNIT_FIXTURE(segment_fixture_setup, segment_fixture_teardown)

TEST(image_contains_everything_in_use)
{
	struct segment_fixture *fixture = *state;
	struct ncs_lane *lane = segment_fixture_lane(fixture, 1);
	struct ncs_channel *channel = segment_fixture_channel(fixture, 2);
	struct ncs_operation *operation = add_operation(fixture, 5, 1);
	struct ncs_class *class =
		segment_fixture_class(fixture, NCS_FUNCTION_MAX);
	struct ncs_histogram *histogram = segment_fixture_histogram(fixture, 0);
	struct image_taking image;

	lane->functions[3].calls = 11;
	lane->stream_times[3].timed = 17;
	channel->bytes = 12;
	channel->key = NCS_CHANNEL_KEY(1, 1, 2);
	class->key = NCS_CLASS_KEY(0, 1, 2, 3);
	class->operations = 13;
	histogram->key = NCS_HISTOGRAM_KEY(NCS_FUNCTION_MAX, 0);
	histogram->buckets[40] = 14;
	histogram->first = 41;
	histogram->end = 41;
	fixture->header->life = NCS_LIFE_FINISHED;
	fixture->header->identity.rank = 15;
	fixture->header->cupti.lost = 16;
	fixture->header->launches.ended = 18;
	segment_fixture_put(fixture, 1, 3);
	open_image(&image, fixture);
	fixture->header->alive = 19;
	fixture->header->outside_code = 20;
	assert_true(take(&image));
	assert_taken(&image, fixture->header, sizeof(*fixture->header));
	assert_taken(&image, lane, sizeof(*lane));
	assert_taken(&image, channel, sizeof(*channel));
	assert_taken(&image, operation, sizeof(*operation));
	assert_taken(&image, class, sizeof(*class));
	assert_taken(&image, &histogram->key, 8);
	assert_taken(&image, &histogram->buckets[40], 8);
	assert_taken(&image, &histogram->time_ns, 5 * 8);
	assert_taken(&image, &segment_fixture_ring(fixture, 1)->head, 8);
	close_image(&image);
}

/* Records and lanes without an owner are not copied, and nothing unused is
 * written: a large segment takes no more memory than its used part. */
TEST(unused_parts_of_the_image_are_not_written)
{
	struct segment_fixture *fixture = *state;
	const struct ncs_header *header = fixture->header;
	struct image_taking image;
	size_t first, last;

	segment_fixture_put(fixture, 0, 3);
	open_image(&image, fixture);
	assert_true(take(&image));
	for (size_t i = 0; i < image.size; i++)
		if (!image.written[i])
			assert_int_equal(image.bytes[i], 0);
	first = header->rings.offset + sizeof(struct ncs_ring);
	last = header->rings.offset + header->rings.stride;
	assert_null(memchr(image.written + first, 1, last - first));
	first = header->lanes.offset + header->lanes.stride;
	last = header->lanes.offset + 3 * header->lanes.stride;
	assert_null(memchr(image.written + first, 1, last - first));
	close_image(&image);
}

/* A segment of minor version 4: what it has beyond its entries is not read, and
 * what its image has is not overwritten. */
TEST(shorter_entries_of_earlier_versions_are_taken)
{
	struct segment_fixture *fixture = *state;
	struct ncs_header *header = fixture->header;
	struct ncs_lane *lane = segment_fixture_lane(fixture, 0);
	struct ncs_lane *next;
	struct image_taking image;

	header->header_bytes = offsetof(struct ncs_header, launches);
	header->lanes.stride = NCS_LANE_BYTES_LEAST + sizeof(lane->padding);
	header->launches.ended = 1;
	header->alive = 1;
	lane->functions[1].calls = 11;
	next = (struct ncs_lane *)((char *)lane + header->lanes.stride);
	next->owner = 1;
	next->last_call = 12;
	next->functions[1].calls = 13;
	open_image(&image, fixture);
	assert_true(take(&image));
	assert_taken(&image, lane, header->lanes.stride);
	assert_taken(&image, next, header->lanes.stride);
	assert_int_equal(((struct ncs_header *)image.bytes)->header_bytes,
			 header->header_bytes);
	close_image(&image);
}

TEST(block_in_mid_write_has_an_odd_sequence)
{
	struct segment_fixture *fixture = *state;
	struct ncs_channel *channel = segment_fixture_channel(fixture, 0);
	const struct ncs_channel *taken;
	struct image_taking image;

	channel->key = NCS_CHANNEL_KEY(1, 1, 2);
	channel->sequence = 7;
	open_image(&image, fixture);
	taken = (const struct ncs_channel *)(image.bytes +
					     ((char *)channel - image.mapped));
	assert_false(take(&image));
	assert_int_equal(taken->sequence % 2, 1);
	channel->sequence = 8;
	assert_true(take(&image));
	assert_int_equal(taken->sequence, 8);
	close_image(&image);
}

TEST(finished_operation_is_removed_from_the_image)
{
	struct segment_fixture *fixture = *state;
	struct ncs_operation *operation = add_operation(fixture, 5, 1);
	const struct ncs_operation none = { 0 };
	struct image_taking image;

	open_image(&image, fixture);
	assert_true(take(&image));
	assert_taken(&image, operation, sizeof(*operation));
	operation->number = 0;
	assert_true(take(&image));
	assert_memory_equal(image.bytes + ((char *)operation - image.mapped),
			    &none, sizeof(none));
	assert_int_equal(image.written[(char *)operation - image.mapped], 1);
	close_image(&image);
}

/* The segment of a process that is gone, and one of this process. */
TEST(process_state_is_that_of_the_segments_process)
{
	struct segment_fixture *fixture = *state;
	struct ncs_process dead;
	struct ncs_writer writer;
	struct ncs_reader *reader;
	struct image_taking image;

	open_image(&image, fixture);
	assert_false(ncs_reader_process(image.reader, 1).gone);
	close_image(&image);
	segment_fixture_dead_process(&dead);
	segment_fixture_make(fixture, &dead, 1, &writer);
	assert_int_equal(ncs_reader_open(writer.path, &reader, NULL, 0),
			 NCS_ATTACHED);
	assert_true(ncs_reader_process(reader, 2).gone);
	ncs_reader_close(reader);
	segment_fixture_let_go(&writer);
}
