/* SPDX-License-Identifier: MIT */
/* Reading images: a snapshot of an image equals that of its segment, except
 * that the process's state is set by the caller; invalid images are refused. */
#include <stdlib.h>
#include <string.h>

#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "shm/read/image.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

struct image_reading {
	char *bytes;
	size_t size;
	struct ncs_reader *live;
};

static void take_image(struct image_reading *image,
		       const struct segment_fixture *fixture)
{
	assert_int_equal(ncs_reader_open(fixture->writer.path, &image->live,
					 NULL, 0),
			 NCS_ATTACHED);
	image->size = ncs_reader_header(image->live)->segment_bytes;
	image->bytes = calloc(1, image->size);
	assert_non_null(image->bytes);
	ncs_image_take(image->live, image->bytes, NULL, NULL);
}

static void release_image(struct image_reading *image)
{
	ncs_reader_close(image->live);
	free(image->bytes);
}

static struct ncs_reader *open_image(const struct image_reading *image)
{
	struct ncs_reader *reader;

	assert_int_equal(ncs_reader_open_image(image->bytes, image->size,
					       "there", &reader, NULL, 0),
			 NCS_ATTACHED);
	return reader;
}

/* Fills in something of every kind. */
static void fill(struct segment_fixture *fixture, uint64_t now_ns)
{
	struct ncs_lane *lane = segment_fixture_lane(fixture, 1);
	struct ncs_channel *channel = segment_fixture_channel(fixture, 2);
	struct ncs_operation *operation = segment_fixture_operation(fixture, 5);

	lane->functions[3].calls = 11;
	lane->last_call = now_ns - 5;
	channel->key = NCS_CHANNEL_KEY(1, 1, 2);
	channel->bytes = 12;
	channel->state = NCS_CHANNEL_SEND_WAIT;
	channel->since = now_ns - 1000;
	operation->number = 9;
	operation->bytes = 7;
	fixture->header->identity.rank = 15;
	fixture->header->identity.known = NCS_KNOWN_RANK;
	segment_fixture_put(fixture, 1, 3);
}

UNIT_FIXTURE(segment_fixture_setup, segment_fixture_teardown)

TEST(snapshot_of_an_image_equals_that_of_the_segment)
{
	struct segment_fixture *fixture = *state;
	uint64_t now_ns = ncs_clock_monotonic_ns();
	struct ncs_snapshot live, read;
	struct ncs_reader *reader;
	struct image_reading image;

	fill(fixture, now_ns);
	take_image(&image, fixture);
	reader = open_image(&image);
	assert_string_equal(ncs_reader_path(reader), "there");
	assert_true(ncs_reader_is_valid(reader));
	assert_int_equal(ncs_snapshot_init(&live, image.live), 0);
	assert_int_equal(ncs_snapshot_init(&read, reader), 0);
	ncs_snapshot_take(&live, image.live, now_ns);
	ncs_snapshot_take(&read, reader, now_ns);
	assert_int_equal(read.identity.rank, 15);
	assert_int_equal(read.last_call_ns, live.last_call_ns);
	assert_int_equal(read.liveness, NCS_ALIVE);
	assert_int_equal(read.functions[3].calls, 11);
	assert_int_equal(read.lanes[1].published, 3);
	assert_int_equal(read.channel_count, 1);
	assert_memory_equal(read.channels, live.channels,
			    sizeof(*live.channels));
	assert_int_equal(read.channels[0].time_ns[NCS_CHANNEL_SEND_WAIT], 1000);
	assert_int_equal(read.operation_count, 1);
	assert_memory_equal(read.operations, live.operations,
			    sizeof(*live.operations));
	assert_false(read.torn);
	/* Later, nothing has changed but the time. */
	ncs_snapshot_take(&read, reader, now_ns + 500);
	assert_int_equal(read.channels[0].time_ns[NCS_CHANNEL_SEND_WAIT], 1500);
	ncs_snapshot_release(&live);
	ncs_snapshot_release(&read);
	ncs_reader_close(reader);
	release_image(&image);
}

TEST(process_state_is_the_one_set_by_the_caller)
{
	struct segment_fixture *fixture = *state;
	uint64_t now_ns = ncs_clock_monotonic_ns();
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	struct image_reading image;

	/* The test's own process, which is alive. */
	take_image(&image, fixture);
	reader = open_image(&image);
	assert_int_equal(ncs_snapshot_init(&snapshot, reader), 0);
	ncs_reader_set_process_state(
		reader, (struct ncs_process_state){ .gone = true });
	ncs_snapshot_take(&snapshot, reader, now_ns);
	assert_int_equal(snapshot.liveness, NCS_DEAD);
	assert_true(snapshot.process_gone);
	ncs_reader_set_process_state(
		reader, (struct ncs_process_state){ .stopped = true });
	ncs_snapshot_take(&snapshot, reader, now_ns);
	assert_int_equal(snapshot.liveness, NCS_ALIVE);
	assert_true(snapshot.process_stopped);
	assert_false(snapshot.process_gone);
	ncs_snapshot_release(&snapshot);
	ncs_reader_close(reader);
	release_image(&image);
}

/* The memory is the caller's, so that ncs_reader_rest() leaves it alone. */
TEST(image_has_no_records_and_stays_the_callers)
{
	struct segment_fixture *fixture = *state;
	struct ncs_record records[8];
	struct ncs_reader *reader;
	struct image_reading image;
	uint64_t lost = 0;

	segment_fixture_put(fixture, 1, 3);
	take_image(&image, fixture);
	reader = open_image(&image);
	assert_int_equal(ncs_reader_records(reader, 1, records, 8, &lost), 0);
	assert_int_equal(lost, 0);
	ncs_reader_rest(reader);
	assert_int_equal(((struct ncs_header *)image.bytes)->magic, NCS_MAGIC);
	ncs_reader_close(reader);
	release_image(&image);
}

TEST(torn_block_of_an_image_is_reported)
{
	struct segment_fixture *fixture = *state;
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	struct image_reading image;

	take_image(&image, fixture);
	((struct ncs_header *)image.bytes)->proxy.sequence |= 1;
	reader = open_image(&image);
	assert_int_equal(ncs_snapshot_init(&snapshot, reader), 0);
	ncs_snapshot_take(&snapshot, reader, ncs_clock_monotonic_ns());
	assert_true(snapshot.torn);
	ncs_snapshot_release(&snapshot);
	ncs_reader_close(reader);
	release_image(&image);
}

static void expect_refused(const struct image_reading *image, size_t size,
			   enum ncs_attach expected)
{
	struct ncs_reader *reader;
	char why[160] = "";

	assert_int_equal(ncs_reader_open_image(image->bytes, size, "there",
					       &reader, why, sizeof(why)),
			 expected);
	assert_null(reader);
	assert_true(why[0]);
}

TEST(invalid_image_is_refused)
{
	struct segment_fixture *fixture = *state;
	struct ncs_header *header;
	struct image_reading image;

	take_image(&image, fixture);
	header = (struct ncs_header *)image.bytes;
	expect_refused(&image, 0, NCS_ATTACH_CORRUPT);
	expect_refused(&image, sizeof(*header) - 1, NCS_ATTACH_CORRUPT);
	expect_refused(&image, image.size - 1, NCS_ATTACH_CORRUPT);
	header->operations.offset = image.size;
	expect_refused(&image, image.size, NCS_ATTACH_CORRUPT);
	header->version += 1u << 16;
	expect_refused(&image, image.size, NCS_ATTACH_OTHER_VERSION);
	header->version = 0;
	expect_refused(&image, image.size, NCS_ATTACH_NOT_READY);
	release_image(&image);
}
