/* SPDX-License-Identifier: MIT */
/* The reader: which files it attaches to and which it refuses, the contents of
 * snapshots, and that no change of the file does any harm. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "shm/control.h"
#include "shm/process.h"
#include "shm/ring.h"
#include "shm/seqlock.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

#define SOMEBODY_ELSE 65534
#define S UINT64_C(1000000000)
/* The time at which most snapshots are taken. */
#define NOW (1000 * S)

/* --- Attaching --------------------------------------------------------- */

static char why[128];

static enum ncs_attach attach(const char *path)
{
	struct ncs_reader *reader = (struct ncs_reader *)1;
	enum ncs_attach result;

	why[0] = '\0';
	result = ncs_reader_open(path, &reader, why, sizeof(why));
	assert_int_equal(result == NCS_ATTACHED, reader != NULL);
	assert_int_equal(result == NCS_ATTACHED, why[0] == '\0');
	ncs_reader_close(reader);
	return result;
}

static struct ncs_reader *open_reader(struct segment_fixture *fixture)
{
	struct ncs_reader *reader;

	assert_int_equal(ncs_reader_open(fixture->writer.path, &reader, why,
					 sizeof(why)),
			 NCS_ATTACHED);
	return reader;
}

static int teardown(void **state);

UNIT_FIXTURE(segment_fixture_setup, teardown)

TEST(published_segment_is_attached)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader = open_reader(fixture);
	const struct ncs_header *header = ncs_reader_header(reader);

	assert_string_equal(ncs_reader_path(reader), fixture->writer.path);
	assert_int_equal(header->pid, getpid());
	assert_int_equal(header->process_start, fixture->process.start);
	assert_string_equal(header->host, fixture->process.host);
	assert_memory_equal(&header->rings, &fixture->header->rings,
			    sizeof(header->rings));
	assert_true(ncs_reader_is_valid(reader));
	ncs_reader_close(reader);
	ncs_reader_close(NULL);
}

TEST(reason_is_optional)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader;
	char one = 'x';

	fixture->header->version = 7u << 16;
	assert_int_equal(ncs_reader_open(fixture->writer.path, &reader, NULL,
					 0),
			 NCS_ATTACH_OTHER_VERSION);
	assert_int_equal(ncs_reader_open(fixture->writer.path, &reader, &one,
					 1),
			 NCS_ATTACH_OTHER_VERSION);
	assert_int_equal(one, '\0');
	assert_int_equal(ncs_reader_open(fixture->writer.path, &reader, &one,
					 0),
			 NCS_ATTACH_OTHER_VERSION);
}

TEST(missing_file_is_absent)
{
	assert_int_equal(attach(segment_fixture_path(*state, "absent")),
			 NCS_ATTACH_ABSENT);
}

TEST(unpublished_segment_is_not_ready)
{
	struct segment_fixture *fixture = *state;
	const char *path = fixture->writer.path;
	uint64_t magic = fixture->header->magic;

	fixture->header->version = 0;
	assert_int_equal(attach(path), NCS_ATTACH_NOT_READY);
	fixture->header->magic = 0;
	assert_int_equal(attach(path), NCS_ATTACH_NOT_READY);
	fixture->header->magic = magic;
	fixture->header->version = NCS_ABI_VERSION;
	assert_int_equal(attach(path), NCS_ATTACHED);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(attach(path), NCS_ATTACH_NOT_READY);
}

TEST(other_major_version_is_reported)
{
	struct segment_fixture *fixture = *state;
	char ours[32];

	snprintf(ours, sizeof(ours), "%u.%u", NCS_ABI_MAJOR, NCS_ABI_MINOR);
	fixture->header->version = (NCS_ABI_MAJOR + 1) << 16 | 3;
	/* Only the version is certain to be valid. */
	fixture->header->record_bytes = 128;
	fixture->header->lanes.count = 0;
	assert_int_equal(attach(fixture->writer.path),
			 NCS_ATTACH_OTHER_VERSION);
	assert_non_null(strstr(why, "2.3"));
	assert_non_null(strstr(why, ours));
}

TEST(later_minor_version_is_attached)
{
	struct segment_fixture *fixture = *state;

	fixture->header->version = NCS_ABI_MAJOR << 16 | 0xffff;
	fixture->header->header_bytes += 8;
	assert_int_equal(attach(fixture->writer.path), NCS_ATTACHED);
}

TEST(invalid_segment_is_corrupt)
{
	struct segment_fixture *fixture = *state;
	struct ncs_header good = *fixture->header;

	fixture->header->magic ^= 1;
	assert_int_equal(attach(fixture->writer.path), NCS_ATTACH_CORRUPT);
	*fixture->header = good;
	fixture->header->lanes.offset = UINT64_MAX - 7;
	assert_int_equal(attach(fixture->writer.path), NCS_ATTACH_CORRUPT);
	*fixture->header = good;
	fixture->header->ring_records = 7;
	assert_int_equal(attach(fixture->writer.path), NCS_ATTACH_CORRUPT);
	*fixture->header = good;
	assert_int_equal(attach(fixture->writer.path), NCS_ATTACHED);
	assert_int_equal(truncate(fixture->writer.path,
				  (off_t)good.segment_bytes - 4096),
			 0);
	assert_int_equal(attach(fixture->writer.path), NCS_ATTACH_CORRUPT);
	for (off_t bytes = 1; bytes < (off_t)sizeof(good); bytes += 7) {
		assert_int_equal(truncate(fixture->writer.path, bytes), 0);
		assert_int_equal(attach(fixture->writer.path),
				 NCS_ATTACH_CORRUPT);
	}
	/* A file too short for a header, even if it is all zeros so far. */
	assert_int_equal(truncate(fixture->writer.path, 0), 0);
	assert_int_equal(truncate(fixture->writer.path, 100), 0);
	assert_int_equal(attach(fixture->writer.path), NCS_ATTACH_CORRUPT);
}

/* A few written pages could claim to be rings of gigabytes. */
TEST(file_with_holes_is_corrupt)
{
	struct segment_fixture *fixture = *state;
	const char *path = segment_fixture_path(fixture, "ncclstat.1.2.3");
	const struct ncs_header *header = fixture->header;
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(header, header->segment_bytes - 4096, 1, file),
			 1);
	assert_int_equal(fflush(file), 0);
	assert_int_equal(ftruncate(fileno(file), (off_t)header->segment_bytes),
			 0);
	assert_int_equal(attach(path), NCS_ATTACH_CORRUPT);
	assert_string_equal(why, "it has holes");
	assert_int_equal(posix_fallocate(fileno(file), 0,
					 (off_t)header->segment_bytes),
			 0);
	assert_int_equal(attach(path), NCS_ATTACHED);
	fclose(file);
}

TEST(special_file_is_corrupt)
{
	struct segment_fixture *fixture = *state;
	const char *path = segment_fixture_path(fixture, "ncclstat.1.2.3");

	assert_int_equal(symlink(fixture->writer.path, path), 0);
	assert_int_equal(attach(path), NCS_ATTACH_CORRUPT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(attach(path), NCS_ATTACH_CORRUPT);
	assert_int_equal(rmdir(path), 0);
	/* A FIFO without a writer; opening it must not hang. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(attach(path), NCS_ATTACH_CORRUPT);
}

TEST(socket_is_not_attached)
{
	const char *path = segment_fixture_path(*state, "ncclstat.1.2.3");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int file = socket(AF_UNIX, SOCK_STREAM, 0);
	enum ncs_attach result;

	assert_true(file >= 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(
		bind(file, (struct sockaddr *)&address, sizeof(address)), 0);
	result = attach(path);
	close(file);
	assert_true(result == NCS_ATTACH_FAILED ||
		    result == NCS_ATTACH_CORRUPT);
}

static int attach_as_somebody_else(struct segment_fixture *fixture)
{
	struct ncs_reader *reader;

	if (setegid(SOMEBODY_ELSE) != 0 || seteuid(SOMEBODY_ELSE) != 0)
		return 100;
	return (int)ncs_reader_open(fixture->writer.path, &reader, NULL, 0);
}

TEST(segment_of_another_user_is_denied_even_if_readable)
{
	struct segment_fixture *fixture = *state;
	int status;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(fixture->directory, 0755), 0);
	status = segment_fixture_in_child(attach_as_somebody_else, fixture);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), NCS_ATTACH_DENIED);
	assert_int_equal(chmod(fixture->writer.path, 0644), 0);
	status = segment_fixture_in_child(attach_as_somebody_else, fixture);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), NCS_ATTACH_DENIED);
}

TEST(root_may_read_all_segments)
{
	struct segment_fixture *fixture = *state;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(fixture->writer.path, SOMEBODY_ELSE, 0), 0);
	assert_int_equal(attach(fixture->writer.path), NCS_ATTACHED);
}

static int attach_without_descriptors(struct segment_fixture *fixture)
{
	const struct rlimit none = { 0, 0 };
	struct ncs_reader *reader;

	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		return 100;
	return (int)ncs_reader_open(fixture->writer.path, &reader, NULL, 0);
}

TEST(attaching_fails_without_file_descriptors)
{
	int status =
		segment_fixture_in_child(attach_without_descriptors, *state);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), NCS_ATTACH_FAILED);
}

TEST(mapping_is_read_only)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader = open_reader(fixture);
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned seen = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, fixture->writer.path))
			continue;
		/* The mappings of the writer and of the reader. */
		assert_true(strstr(line, " rw-s ") || strstr(line, " r--s "));
		seen += strstr(line, " r--s ") != NULL;
	}
	fclose(maps);
	assert_int_equal(seen, 1);
	ncs_reader_close(reader);
}

/* --- Validity ---------------------------------------------------------- */

TEST(removed_or_replaced_file_is_not_valid)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader = open_reader(fixture);
	char copy[600];

	assert_true(ncs_reader_is_valid(reader));
	snprintf(copy, sizeof(copy), "%s.new", fixture->writer.path);
	assert_int_equal(rename(fixture->writer.path, copy), 0);
	assert_false(ncs_reader_is_valid(reader));
	assert_int_equal(rename(copy, fixture->writer.path), 0);
	assert_true(ncs_reader_is_valid(reader));
	/* Another file with the same name and size. */
	fclose(fopen(copy, "w"));
	assert_int_equal(truncate(copy, (off_t)fixture->writer.mapped_bytes),
			 0);
	assert_int_equal(rename(copy, fixture->writer.path), 0);
	assert_false(ncs_reader_is_valid(reader));
	ncs_reader_close(reader);
}

TEST(truncated_file_is_not_valid)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader = open_reader(fixture);

	assert_int_equal(truncate(fixture->writer.path,
				  (off_t)fixture->writer.mapped_bytes + 1),
			 0);
	assert_true(ncs_reader_is_valid(reader));
	assert_int_equal(truncate(fixture->writer.path,
				  (off_t)fixture->writer.mapped_bytes - 1),
			 0);
	assert_false(ncs_reader_is_valid(reader));
	ncs_reader_close(reader);
}

/* --- Records ----------------------------------------------------------- */

TEST(records_are_read_in_order_and_loss_is_exact)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader = open_reader(fixture);
	struct ncs_record records[16];
	uint64_t lost = 0, lost_elsewhere = 100;

	segment_fixture_put(fixture, 1, 3);
	assert_int_equal(ncs_reader_records(reader, 1, records, 16, &lost), 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(records[i].value, i);
		assert_int_equal(records[i].position, i);
	}
	assert_int_equal(lost, 0);
	assert_int_equal(ncs_reader_records(reader, 1, records, 16, &lost), 0);
	/* Records 3 … 22; of a ring of 8 the latest 7 are readable. */
	segment_fixture_put(fixture, 1, 20);
	assert_int_equal(ncs_reader_records(reader, 1, records, 4, &lost), 4);
	assert_int_equal(records[0].value, 16);
	assert_int_equal(lost, 13);
	assert_int_equal(ncs_reader_records(reader, 1, records, 16, &lost), 3);
	assert_int_equal(records[2].value, 22);
	assert_int_equal(lost, 13);
	/* Lanes are independent. */
	segment_fixture_put(fixture, 2, 8);
	assert_int_equal(
		ncs_reader_records(reader, 2, records, 16, &lost_elsewhere), 7);
	assert_int_equal(lost_elsewhere, 101);
	assert_int_equal(ncs_reader_records(reader, 0, records, 16, &lost), 0);
	assert_int_equal(lost, 13);
	ncs_reader_close(reader);
}

TEST(unknown_lane_and_empty_buffer_give_no_records)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader = open_reader(fixture);
	struct ncs_record record;
	uint64_t lost = 0;

	segment_fixture_put(fixture, 0, 20);
	assert_int_equal(ncs_reader_records(reader, 3, &record, 1, &lost), 0);
	assert_int_equal(
		ncs_reader_records(reader, SIZE_MAX, &record, 1, &lost), 0);
	assert_int_equal(ncs_reader_records(reader, 0, &record, 0, &lost), 0);
	assert_int_equal(lost, 0);
	ncs_reader_close(reader);
}

TEST(snapshot_counts_records_that_a_late_reader_missed)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader = open_reader(fixture);
	struct ncs_record records[16];
	struct ncs_snapshot snapshot;
	uint64_t lost = 0;

	assert_int_equal(ncs_snapshot_init(&snapshot, reader), 0);
	segment_fixture_put(fixture, 0, 7);
	ncs_snapshot_take(&snapshot, reader, NOW);
	assert_int_equal(snapshot.losses[NCS_LOSS_OVERWRITTEN], 0);
	segment_fixture_put(fixture, 0, 1);
	ncs_snapshot_take(&snapshot, reader, NOW);
	assert_int_equal(snapshot.losses[NCS_LOSS_OVERWRITTEN], 1);
	segment_fixture_put(fixture, 0, 4);
	segment_fixture_put(fixture, 2, 100);
	ncs_snapshot_take(&snapshot, reader, NOW);
	assert_int_equal(snapshot.lanes[0].published, 12);
	assert_int_equal(snapshot.lanes[1].published, 0);
	assert_int_equal(snapshot.lanes[2].published, 100);
	for (size_t i = 0; i < 3; i++)
		ncs_reader_records(reader, i, records, 16, &lost);
	assert_int_equal(snapshot.losses[NCS_LOSS_OVERWRITTEN], lost);
	assert_int_equal(lost, 5 + 93);
	ncs_snapshot_release(&snapshot);
	ncs_reader_close(reader);
}

/* Puts a record into a ring; `mask` is one less than its capacity. */
static void put_in(void *ring, uint64_t mask, struct ncs_record record)
{
	struct ncs_ring_producer producer = {
		.ring = ring,
		.records = (struct ncs_record *)((struct ncs_ring *)ring + 1),
		.position = ((struct ncs_ring *)ring)->head,
		.mask = mask,
	};

	ncs_ring_put(&producer, &record);
}

/* Makes a segment of 2 lanes with rings of 8 records, and of a call lane with 32.
 * It has 100 steps, and then 40 operations, one each ns. */
static void make_call_lane(struct segment_fixture *fixture)
{
	struct ncs_segment_size size = segment_fixture_size;
	struct ncs_record record = { .event = NCS_EVENT_COLL, .duration = 1 };
	struct ncs_writer *writer = &fixture->writer;
	struct ncs_header *header;
	struct ncs_lane *lane;
	char *base;

	size.lanes = 2;
	size.call_lanes = 1;
	size.call_ring_records = 32;
	assert_int_equal(ncs_writer_create(writer, fixture->directory,
					   &fixture->process, 0, &size, NULL),
			 0);
	header = fixture->header = writer->header;
	header->clock.kind = NCS_CLOCK_MONOTONIC;
	header->clock.multiplier = UINT64_C(1) << 32;
	base = (char *)header;
	for (unsigned i = 1; i < 3; i++)
		segment_fixture_lane(fixture, i);
	lane = segment_fixture_lane(fixture, 1);
	lane->events[NCS_EVENT_PROXY_STEP] = 100;
	for (unsigned i = 0; i < 100; i++) {
		record.event = NCS_EVENT_PROXY_STEP;
		record.start = 900 + i;
		put_in(base + header->rings.offset + header->rings.stride, 7,
		       record);
	}
	record.event = NCS_EVENT_COLL;
	for (unsigned i = 0; i < 40; i++) {
		record.start = 1000 + i;
		put_in(base + header->rings.offset + 2 * header->rings.stride,
		       7, record);
		put_in(base + header->call_rings.offset, 31, record);
	}
	ncs_writer_publish(writer);
}

TEST_WITH(call_lane_is_read_from_its_own_ring, segment_fixture_setup_bare,
	  segment_fixture_teardown)
{
	struct segment_fixture *fixture = *state;
	struct ncs_record records[64];
	struct ncs_snapshot snapshot;
	struct ncs_reader *reader;
	uint64_t lost = 0;

	make_call_lane(fixture);
	reader = open_reader(fixture);
	assert_int_equal(ncs_reader_capacity(reader, 1), 8);
	assert_int_equal(ncs_reader_capacity(reader, 2), 32);
	assert_int_equal(ncs_snapshot_init(&snapshot, reader), 0);
	ncs_snapshot_take(&snapshot, reader, NOW);
	assert_int_equal(snapshot.lanes[2].published, 40);
	assert_int_equal(ncs_reader_waiting(reader, 2), 40);
	assert_int_equal(ncs_reader_records(reader, 2, records, 64, &lost), 31);
	assert_int_equal(lost, 9);
	for (unsigned i = 0; i < 31; i++)
		assert_int_equal(records[i].start, 1000 + 9 + i);
	assert_int_equal(snapshot.losses[NCS_LOSS_OVERWRITTEN], 9 + 93);
	/* The oldest eighth may go before it is read. */
	assert_int_equal(snapshot.calls_reach.overwritten, 9);
	assert_int_equal(snapshot.calls_reach.from_ns, 1000 + 9 + 31 / 8 + 1);
	assert_int_equal(snapshot.children_reach.overwritten, 93);
	assert_int_equal(snapshot.children_reach.from_ns, 900 + 93 + 1);
	ncs_snapshot_release(&snapshot);
	ncs_reader_close(reader);
}

/* A reader up to minor version 9 sees a segment with its own, shorter header. */
TEST_WITH(reader_before_1_10_sees_operations_in_the_short_ring,
	  segment_fixture_setup_bare, segment_fixture_teardown)
{
	struct segment_fixture *fixture = *state;
	struct ncs_record records[64];
	struct ncs_reader *reader;
	uint64_t lost = 0;

	make_call_lane(fixture);
	fixture->header->header_bytes = offsetof(struct ncs_header, call_rings);
	reader = open_reader(fixture);
	assert_int_equal(ncs_reader_records(reader, 2, records, 64, &lost), 7);
	assert_int_equal(lost, 33);
	assert_int_equal(records[6].start, 1000 + 39);
	ncs_reader_close(reader);
}

TEST(records_without_call_lanes_reach_as_far_as_their_ring)
{
	struct segment_fixture *fixture = *state;
	struct ncs_reader *reader = open_reader(fixture);
	struct ncs_snapshot snapshot;

	assert_int_equal(ncs_snapshot_init(&snapshot, reader), 0);
	segment_fixture_put(fixture, 1, 7);
	ncs_snapshot_take(&snapshot, reader, NOW);
	assert_int_equal(snapshot.calls_reach.overwritten, 0);
	assert_int_equal(snapshot.calls_reach.from_ns, 0);
	segment_fixture_put(fixture, 1, 13);
	ncs_snapshot_take(&snapshot, reader, NOW);
	assert_int_equal(snapshot.calls_reach.overwritten, 13);
	assert_int_equal(snapshot.children_reach.overwritten, 0);
	segment_fixture_lane(fixture, 1)->events[NCS_EVENT_PROXY_OP] = 1;
	ncs_snapshot_take(&snapshot, reader, NOW);
	assert_int_equal(snapshot.children_reach.overwritten, 13);
	ncs_snapshot_release(&snapshot);
	ncs_reader_close(reader);
}

/* --- Snapshots --------------------------------------------------------- */

/* The snapshot of a test and its reader; the teardown releases both. */
static struct ncs_snapshot seen;
static struct ncs_reader *reader_of_seen;

static void refresh(void)
{
	ncs_snapshot_take(&seen, reader_of_seen, NOW);
}

static void forget(void)
{
	if (reader_of_seen)
		ncs_snapshot_release(&seen);
	ncs_reader_close(reader_of_seen);
	reader_of_seen = NULL;
}

static int teardown(void **state)
{
	forget();
	return segment_fixture_teardown(state);
}

static void observe(struct segment_fixture *fixture)
{
	forget();
	reader_of_seen = open_reader(fixture);
	assert_int_equal(ncs_snapshot_init(&seen, reader_of_seen), 0);
	refresh();
}

TEST(fresh_segment_has_empty_tables)
{
	observe(*state);
	assert_false(seen.torn);
	assert_int_equal(seen.taken_ns, NOW);
	assert_int_equal(seen.last_call_ns, 0);
	assert_int_equal(seen.finished_ns, 0);
	assert_int_equal(seen.liveness, NCS_ALIVE);
	assert_false(seen.process_gone);
	assert_int_equal(seen.identity.known, 0);
	assert_int_equal(seen.channel_count, 0);
	assert_int_equal(seen.operation_count, 0);
	assert_int_equal(seen.lane_count, 3);
	assert_int_equal(seen.proxy.state, NCS_PROXY_UNKNOWN);
	assert_int_equal(seen.proxy.time_ns[NCS_PROXY_UNKNOWN], 0);
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *view = &seen.functions[i];

		assert_int_equal(view->operations, 0);
		assert_int_equal(view->last_sequence_number,
				 NCS_NO_SEQUENCE_NUMBER);
		for (size_t k = 0; k < NCS_TIMING_COUNT; k++)
			assert_null(view->histogram[k]);
	}
	assert_int_equal(seen.launches.status, NCS_STREAM_UNKNOWN);
	assert_int_equal(seen.launches.launched, 0);
}

TEST(liveness_is_reported)
{
	struct segment_fixture *fixture = *state;
	struct ncs_header *header = fixture->header;
	struct ncs_lane *lane = segment_fixture_lane(fixture, 2);

	lane->last_call = NOW - S;
	segment_fixture_lane(fixture, 1)->last_call = NOW - 20 * S;
	observe(fixture);
	assert_int_equal(seen.liveness, NCS_ALIVE);
	assert_int_equal(seen.last_call_ns, NOW - S);
	assert_int_equal(seen.lanes[1].last_call_ns, NOW - 20 * S);
	lane->last_call = NOW - 11 * S;
	refresh();
	assert_int_equal(seen.liveness, NCS_SILENT);
	header->finished = NOW - 5 * S;
	header->life = NCS_LIFE_FINISHED;
	refresh();
	assert_int_equal(seen.liveness, NCS_FINISHED);
	assert_int_equal(seen.finished_ns, NOW - 5 * S);
	assert_false(seen.process_gone);
}

TEST(rank_without_callbacks_is_silent_since_its_creation)
{
	struct segment_fixture *fixture = *state;

	fixture->header->created = NOW - 9 * S;
	observe(fixture);
	assert_int_equal(seen.liveness, NCS_ALIVE);
	forget();
	fixture->header->created = NOW - 11 * S;
	observe(fixture);
	assert_int_equal(seen.liveness, NCS_SILENT);
	assert_int_equal(seen.last_call_ns, 0);
}

/* Attaches after the header was given to another process. */
static enum ncs_liveness liveness_with(struct segment_fixture *fixture,
				       const struct ncs_header *header,
				       bool *gone)
{
	enum ncs_liveness liveness;

	*fixture->header = *header;
	observe(fixture);
	liveness = seen.liveness;
	*gone = seen.process_gone;
	forget();
	return liveness;
}

TEST(process_is_identified_by_more_than_its_pid)
{
	struct segment_fixture *fixture = *state;
	const struct ncs_header good = *fixture->header;
	struct ncs_header header = good;
	struct ncs_process dead;
	bool gone;

	segment_fixture_dead_process(&dead);
	header.process_start++; /* another process has its PID now */
	assert_int_equal(liveness_with(fixture, &header, &gone), NCS_DEAD);
	assert_true(gone);
	header = good;
	/* A container may have a boot ID of its own: somebody holds it. */
	header.boot_id[3] ^= 1;
	assert_int_equal(liveness_with(fixture, &header, &gone), NCS_ALIVE);
	assert_false(gone);
	header = good;
	header.pid = dead.pid;
	header.process_start = dead.start;
	assert_int_equal(liveness_with(fixture, &header, &gone), NCS_DEAD);
	assert_true(gone);
	header.pid_namespace++; /* another PID namespace, and it is held */
	assert_int_equal(liveness_with(fixture, &header, &gone), NCS_ALIVE);
	assert_false(gone);
	header.pid_namespace--;
	header.life = NCS_LIFE_FINISHED; /* finished, and then gone */
	assert_int_equal(liveness_with(fixture, &header, &gone), NCS_FINISHED);
	assert_true(gone);
}

TEST(stopped_process_is_reported)
{
	struct segment_fixture *fixture = *state;
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	fixture->header->pid = (uint32_t)child;
	fixture->header->process_start = ncs_process_start((uint32_t)child);
	observe(fixture);
	assert_true(seen.process_stopped);
	assert_false(seen.process_gone);
	forget();
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
}

/* Bits of later versions mean nothing to this one. */
TEST(code_outside_nccl_is_reported_if_known)
{
	struct segment_fixture *fixture = *state;

	fixture->header->outside_code =
		UINT64_C(1) << 63 | UINT64_C(1) << NCS_OUTSIDE_CODE_COUNT |
		UINT64_C(1) << NCS_OUTSIDE_VLLM;
	observe(fixture);
	assert_int_equal(seen.outside_code, UINT64_C(1) << NCS_OUTSIDE_VLLM);
}

TEST(code_outside_nccl_that_is_loaded_later_is_reported)
{
	struct segment_fixture *fixture = *state;

	observe(fixture);
	assert_int_equal(seen.outside_code, 0);
	fixture->header->outside_code = UINT64_C(1) << NCS_OUTSIDE_DEEP_EP;
	refresh();
	assert_int_equal(seen.outside_code, UINT64_C(1) << NCS_OUTSIDE_DEEP_EP);
}

TEST(settings_are_reported_if_valid)
{
	static const struct ncs_detail in_force = {
		.has_groups = 1,
		.groups = NCS_GROUPS_ALL,
		.kernel = NCS_KERNEL_DETAIL_EVERY + 6,
		.sample = 1,
	};
	struct segment_fixture *fixture = *state;
	struct ncs_settings *settings = &fixture->header->settings;
	const struct ncs_settings_view *view;
	struct ncs_detail partly = in_force;

	observe(fixture);
	view = &seen.settings;
	assert_false(view->known); /* the settings are not known yet */
	settings->in_force = ncs_detail_pack(&in_force);
	settings->asked = 77;
	settings->changes = 3;
	settings->changed = NOW - S;
	settings->refused = NCS_REFUSAL_KERNEL;
	settings->lease_until_ns = NOW + S;
	settings->lease_holder = UINT64_C(4711) << 32 | 1;
	refresh();
	assert_true(view->known);
	assert_memory_equal(&view->in_force, &in_force, sizeof(in_force));
	assert_int_equal(view->asked, 77);
	assert_int_equal(view->changes, 3);
	assert_int_equal(view->changed_ns, NOW - S);
	assert_int_equal(view->refused, NCS_REFUSAL_KERNEL);
	assert_int_equal(view->lease_until_ns, NOW + S);
	assert_int_equal(view->lease_pid, 4711);
	settings->refused = NCS_REFUSAL_COUNT;
	refresh();
	assert_true(view->refused < NCS_REFUSAL_COUNT);
	/* A detail in force has all fields set, or is invalid. */
	partly.kernel = NCS_KERNEL_DETAIL_DEFAULT;
	settings->in_force = ncs_detail_pack(&partly);
	refresh();
	assert_false(view->known);
	assert_int_equal(view->asked, 0);
	settings->in_force = UINT64_MAX;
	refresh();
	assert_false(view->known);
	assert_int_equal(view->in_force.kernel, 0);
	settings->in_force = ncs_detail_pack(&in_force);
	settings->sequence = 7;
	refresh();
	assert_true(seen.torn);
}

TEST(time_in_the_current_state_counts_until_now)
{
	struct segment_fixture *fixture = *state;
	struct ncs_proxy *proxy = &fixture->header->proxy;
	struct ncs_channel *channel = segment_fixture_channel(fixture, 0);

	proxy->state = NCS_PROXY_IDLE;
	proxy->since = NOW - 7 * S;
	proxy->time[NCS_PROXY_IDLE] = 100;
	proxy->time[NCS_PROXY_ACTIVE] = 200;
	proxy->count[NCS_TRANSITION_SLEEP] = 3;
	proxy->appended_operations = 9;
	channel->key = NCS_CHANNEL_KEY(1, 1, 5);
	channel->state = NCS_CHANNEL_SEND_WAIT;
	channel->since = NOW - 3 * S;
	channel->time[NCS_CHANNEL_SEND_WAIT] = 50;
	channel->time[NCS_CHANNEL_SEND_GPU_WAIT] = 60;
	observe(fixture);
	assert_int_equal(seen.proxy.state, NCS_PROXY_IDLE);
	assert_int_equal(seen.proxy.since_ns, NOW - 7 * S);
	assert_int_equal(seen.proxy.time_ns[NCS_PROXY_IDLE], 7 * S + 100);
	assert_int_equal(seen.proxy.time_ns[NCS_PROXY_ACTIVE], 200);
	assert_int_equal(seen.proxy.count[NCS_TRANSITION_SLEEP], 3);
	assert_int_equal(seen.proxy.appended_operations, 9);
	assert_int_equal(seen.channels[0].time_ns[NCS_CHANNEL_SEND_WAIT],
			 3 * S + 50);
	assert_int_equal(seen.channels[0].time_ns[NCS_CHANNEL_SEND_GPU_WAIT],
			 60);
}

TEST(cupti_times_are_reported_if_the_segment_has_them)
{
	struct segment_fixture *fixture = *state;
	struct ncs_cupti *cupti = &fixture->header->cupti;
	const struct ncs_gpu_time total = { 1, 2, 3, 4, 5, 6 };

	cupti->status = NCS_CUPTI_TAKEN;
	observe(fixture);
	assert_true(seen.cupti.known);
	assert_int_equal(seen.cupti.status, NCS_CUPTI_TAKEN);
	cupti->status = NCS_CUPTI_ON;
	cupti->total = total;
	cupti->unplaced = 7;
	cupti->lost = 8;
	refresh();
	assert_memory_equal(&seen.cupti.total, &total, sizeof(total));
	assert_int_equal(seen.cupti.unplaced, 7);
	assert_int_equal(seen.cupti.lost, 8);
	/* Invalid, or of a newer version. */
	cupti->status = NCS_CUPTI_STATUS_COUNT;
	refresh();
	assert_false(seen.cupti.known);
	assert_int_equal(seen.cupti.total.compute_ns, 0);
	forget();
	cupti->status = NCS_CUPTI_ON;
	fixture->header->header_bytes = offsetof(struct ncs_header, cupti);
	observe(fixture);
	assert_false(seen.cupti.known);
}

TEST(kernel_timing_is_reported)
{
	struct segment_fixture *fixture = *state;
	struct ncs_kernel *kernel = &fixture->header->kernel;

	observe(fixture);
	assert_int_equal(seen.kernel.status, NCS_KERNEL_UNKNOWN);
	kernel->status = NCS_KERNEL_SEVERAL;
	kernel->mode = NCS_KERNEL_TIMING_SAMPLED;
	kernel->period = 16;
	kernel->timed_calls = 3;
	kernel->captured_on = 4;
	kernel->captured_off = 5;
	refresh();
	assert_false(seen.kernel.counted);
	assert_int_equal(seen.kernel.period, 0);
	forget();
	/* A plugin that timed single calls. */
	fixture->header->version = NCS_ABI_MAJOR << 16 | 5;
	observe(fixture);
	assert_true(seen.kernel.counted);
	assert_int_equal(seen.kernel.status, NCS_KERNEL_SEVERAL);
	assert_int_equal(seen.kernel.mode, NCS_KERNEL_TIMING_SAMPLED);
	assert_int_equal(seen.kernel.period, 16);
	assert_int_equal(seen.kernel.timed_calls, 3);
	assert_int_equal(seen.kernel.captured_on, 4);
	assert_int_equal(seen.kernel.captured_off, 5);
	/* Invalid, or of a newer version. */
	kernel->status = UINT64_MAX;
	kernel->mode = NCS_KERNEL_TIMING_COUNT;
	refresh();
	assert_int_equal(seen.kernel.status, NCS_KERNEL_UNKNOWN);
	assert_int_equal(seen.kernel.mode, NCS_KERNEL_TIMING_OFF);
}

TEST(gpu_clock_is_reported_with_its_error)
{
	struct segment_fixture *fixture = *state;
	struct ncs_gpu_clock *clock = &fixture->header->gpu_clock;

	observe(fixture);
	assert_false(seen.gpu_clock.known);
	clock->ticks = NOW;
	clock->low_ns = NOW + 5 * S;
	clock->high_ns = NOW + 5 * S + 2001;
	clock->quantum_ns = 32;
	refresh();
	assert_true(seen.gpu_clock.known);
	assert_int_equal(seen.gpu_clock.told_ns, NOW);
	assert_int_equal(seen.gpu_clock.offset_ns, 5 * S + 1000);
	assert_int_equal(seen.gpu_clock.error_ns, 1001);
	assert_int_equal(seen.gpu_clock.quantum_ns, 32);
	/* A GPU's clock that started later is behind. */
	clock->low_ns = 1000;
	clock->high_ns = 1200;
	refresh();
	assert_true(seen.gpu_clock.known);
	assert_true(seen.gpu_clock.offset_ns == 1100 - (int64_t)NOW);
	/* Contradictory bounds are no bounds. */
	clock->high_ns = 999;
	refresh();
	assert_false(seen.gpu_clock.known);
}

TEST(times_of_an_ended_rank_stand_still)
{
	struct segment_fixture *fixture = *state;
	struct ncs_proxy *proxy = &fixture->header->proxy;

	proxy->state = NCS_PROXY_ACTIVE;
	proxy->since = NOW - 9 * S;
	segment_fixture_lane(fixture, 0)->last_call = NOW - 4 * S;
	fixture->header->life = NCS_LIFE_FINISHED;
	fixture->header->finished = NOW - 6 * S;
	observe(fixture);
	assert_int_equal(seen.proxy.time_ns[NCS_PROXY_ACTIVE], 3 * S);
	/* Finished, but the time of the end is not stored yet. */
	fixture->header->finished = 0;
	refresh();
	assert_int_equal(seen.proxy.time_ns[NCS_PROXY_ACTIVE], 5 * S);
	forget();
	fixture->header->life = NCS_LIFE_LIVE;
	fixture->header->process_start++;
	observe(fixture);
	assert_int_equal(seen.liveness, NCS_DEAD);
	assert_int_equal(seen.proxy.time_ns[NCS_PROXY_ACTIVE], 5 * S);
	/* Times do not run backwards either. */
	proxy->since = NOW - S;
	refresh();
	assert_int_equal(seen.proxy.time_ns[NCS_PROXY_ACTIVE], 0);
}

/* Observes a rank that died after this call, while it waited for its GPU. */
static void observe_dead(struct segment_fixture *fixture, uint64_t last_call)
{
	struct ncs_channel *channel = segment_fixture_channel(fixture, 0);

	channel->key = NCS_CHANNEL_KEY(0, true, 1);
	channel->state = NCS_CHANNEL_SEND_GPU_WAIT;
	channel->since = NOW - 9 * S;
	segment_fixture_lane(fixture, 0)->last_call = last_call;
	fixture->header->process_start++;
	observe(fixture);
	assert_int_equal(seen.liveness, NCS_DEAD);
}

/* The first snapshot already knows that the rank is dead, and since when. */
TEST(first_snapshot_of_a_dead_rank_ends_with_it)
{
	struct segment_fixture *fixture = *state;

	observe_dead(fixture, NOW - 4 * S);
	assert_int_equal(seen.channel_count, 1);
	assert_int_equal(seen.channels[0].time_ns[NCS_CHANNEL_SEND_GPU_WAIT],
			 5 * S);
	/* Its launches moved after its last call. */
	fixture->header->launches.begun = 1;
	fixture->header->launches.begun_at = NOW - 3 * S;
	refresh();
	assert_int_equal(seen.channels[0].time_ns[NCS_CHANNEL_SEND_GPU_WAIT],
			 6 * S);
	/* Its watch thread was awake after that. */
	fixture->header->alive = NOW - 2 * S;
	refresh();
	assert_int_equal(seen.alive_ns, NOW - 2 * S);
	assert_int_equal(seen.channels[0].time_ns[NCS_CHANNEL_SEND_GPU_WAIT],
			 7 * S);
	fixture->header->alive = NOW + 1000 * S;
	refresh();
	assert_int_equal(seen.alive_ns, NOW);
}

TEST(no_state_lasts_longer_than_until_the_snapshot)
{
	struct segment_fixture *fixture = *state;

	observe_dead(fixture, NOW + 1000 * S);
	assert_int_equal(seen.channels[0].time_ns[NCS_CHANNEL_SEND_GPU_WAIT],
			 9 * S);
}

TEST(channels_are_sorted_by_channel_direction_and_peer)
{
	static const struct {
		uint8_t channel;
		bool send;
		int32_t peer;
	} order[] = { { 0, true, 3 },
		      { 0, false, -1 },
		      { 0, false, 7 },
		      { 255, true, 2 } };
	static const unsigned places[] = { 2, 3, 0, 1 };
	struct segment_fixture *fixture = *state;

	for (unsigned i = 0; i < 4; i++) {
		struct ncs_channel *channel =
			segment_fixture_channel(fixture, places[i]);

		channel->key = NCS_CHANNEL_KEY(order[i].channel, order[i].send,
					       order[i].peer);
		channel->operation = 10 + i;
		channel->step = 20 + i;
		channel->nsteps = 30 + i;
		channel->operations_started = 40 + i;
		channel->operations_done = 50 + i;
		channel->steps_started = 60 + i;
		channel->steps_done = 70 + i;
		channel->bytes = 80 + i;
		channel->size_unknown = 90 + i;
		channel->function = NCS_FUNCTION_BROADCAST;
	}
	observe(fixture);
	assert_int_equal(seen.channel_count, 4);
	for (unsigned i = 0; i < 4; i++) {
		const struct ncs_channel_view *view = &seen.channels[i];

		assert_int_equal(view->channel, order[i].channel);
		assert_int_equal(view->send, order[i].send);
		assert_int_equal(view->peer, order[i].peer);
		assert_int_equal(view->operation, 10 + i);
		assert_int_equal(view->step, 20 + i);
		assert_int_equal(view->nsteps, 30 + i);
		assert_int_equal(view->operations_started, 40 + i);
		assert_int_equal(view->operations_done, 50 + i);
		assert_int_equal(view->steps_started, 60 + i);
		assert_int_equal(view->steps_done, 70 + i);
		assert_int_equal(view->bytes, 80 + i);
		assert_int_equal(view->size_unknown, 90 + i);
		assert_int_equal(view->function, NCS_FUNCTION_BROADCAST);
	}
	/* No trace is left of a channel that disappears. */
	segment_fixture_channel(fixture, 2)->key = 0;
	refresh();
	assert_int_equal(seen.channel_count, 3);
	assert_int_equal(seen.channels[0].peer, -1);
}

TEST(operations_are_sorted_oldest_first)
{
	struct segment_fixture *fixture = *state;
	struct ncs_operation *operation;

	segment_fixture_operation(fixture, 0)->number = 9;
	segment_fixture_operation(fixture, 1)->bytes = 77; /* empty slot */
	operation = segment_fixture_operation(fixture, 3);
	*operation = (struct ncs_operation){
		.number = 4,
		.start = NOW - 3 * S,
		.sequence_number = 5,
		.bytes = 6,
		.count = 7,
		.event = NCS_EVENT_P2P,
		.function = NCS_FUNCTION_SEND,
		.datatype = 1,
		.algorithm = 2,
		.protocol = 3,
		.nchannels = 4,
		.peer = -1,
		.enqueued = NOW - 2 * S,
		.children_started = 8,
		.children_done = 2,
		.first_child = NOW - S,
		.last_child_done = NOW,
	};
	observe(fixture);
	assert_int_equal(seen.operation_count, 2);
	assert_int_equal(seen.operations[0].number, 4);
	assert_int_equal(seen.operations[0].start_ns, NOW - 3 * S);
	assert_int_equal(seen.operations[0].sequence_number, 5);
	assert_int_equal(seen.operations[0].bytes, 6);
	assert_int_equal(seen.operations[0].count, 7);
	assert_int_equal(seen.operations[0].event, NCS_EVENT_P2P);
	assert_int_equal(seen.operations[0].function, NCS_FUNCTION_SEND);
	assert_int_equal(seen.operations[0].datatype, 1);
	assert_int_equal(seen.operations[0].algorithm, 2);
	assert_int_equal(seen.operations[0].protocol, 3);
	assert_int_equal(seen.operations[0].nchannels, 4);
	assert_int_equal(seen.operations[0].peer, -1);
	assert_int_equal(seen.operations[0].enqueued_ns, NOW - 2 * S);
	assert_int_equal(seen.operations[0].children_started, 8);
	assert_int_equal(seen.operations[0].children_done, 2);
	assert_int_equal(seen.operations[0].first_child_ns, NOW - S);
	assert_int_equal(seen.operations[0].last_child_done_ns, NOW);
	assert_int_equal(seen.operations[1].number, 9);
	assert_int_equal(seen.operations[1].enqueued_ns, 0);
}

/* A slot is given out first and filled in later, by a thread that may be
 * stopped in between. */
TEST(operation_is_seen_however_late_its_slot_is_filled_in)
{
	struct segment_fixture *fixture = *state;
	uint64_t *given = &fixture->header->filled.operations;
	struct ncs_operation *operation =
		segment_fixture_operation(fixture, 99);
	unsigned readings = 0;

	/* The slot is given out, and still empty. */
	observe(fixture);
	*given = 200;
	operation->number = 3;
	refresh();
	assert_int_equal(seen.operation_count, 1);
	operation->number = 0;
	for (unsigned i = 0; i < 3; i++)
		refresh();
	assert_int_equal(seen.operation_count, 0);
	operation->number = 4;
	do
		refresh();
	while (seen.operation_count == 0 && readings++ < 16);
	assert_in_range(readings, 2, 15);
	refresh(); /* an operation that lasts stays visible */
	assert_int_equal(seen.operation_count, 1);
}

TEST(slots_given_out_cyclically_are_all_read)
{
	struct segment_fixture *fixture = *state;
	uint64_t *given = &fixture->header->filled.operations;

	*given = UINT64_MAX;
	observe(fixture);
	refresh();
	refresh();
	*given = 100; /* beyond 2^64 */
	segment_fixture_operation(fixture, 255)->number = 5;
	segment_fixture_operation(fixture, 99)->number = 7;
	refresh();
	assert_int_equal(seen.operation_count, 2);
	for (unsigned i = 0; i < 3; i++)
		refresh();
	*given += 256; /* all slots */
	segment_fixture_operation(fixture, 120)->number = 6;
	refresh();
	assert_int_equal(seen.operation_count, 3);
}

/* Operations of functions that never have a child, next to ones in flight. */
TEST(operations_without_a_reported_end_are_not_in_flight)
{
	struct segment_fixture *fixture = *state;

	for (unsigned i = 0; i < 4; i++) {
		struct ncs_operation *operation =
			segment_fixture_operation(fixture, i);

		operation->number = i + 1;
		operation->sequence_number = 7 + i;
		operation->start = 1000;
		operation->enqueued = i == 3 ? 0 : 2000;
		operation->function = i == 2 ? NCS_FUNCTION_REDUCE :
					       NCS_FUNCTION_ALL_REDUCE;
	}
	segment_fixture_lane(fixture, 0)
		->functions[NCS_FUNCTION_REDUCE]
		.with_children = 1;
	fixture->header->filled.operations = 4;
	observe(fixture);
	/* An operation that may still get a child, and one that is being
	 * enqueued. */
	assert_int_equal(seen.operation_count, 2);
	assert_int_equal(seen.operations[0].number, 3);
	assert_int_equal(seen.operations[1].number, 4);
}

TEST(launch_progress_is_read)
{
	struct segment_fixture *fixture = *state;
	struct ncs_launch_progress *progress = &fixture->header->launches;
	const struct ncs_launches_view *view;

	*progress = (struct ncs_launch_progress){
		.status = NCS_STREAM_SOME,
		.level = 3,
		.ended = 5,
		.ended_at = 500,
		.begun = 6,
		.begun_at = 600,
		.followed = 8,
		.launched = 9,
		.launched_at = 900,
		.timed = 2,
		.captured = 4,
		.bias_ns = 1250,
		.error_ns = 3000,
		.failure = 709,
		.watch_since = 950,
		.missed = 7,
	};
	observe(fixture);
	view = &seen.launches;
	assert_int_equal(view->status, NCS_STREAM_SOME);
	assert_int_equal(view->level, 3);
	assert_int_equal(view->ended, 5);
	assert_int_equal(view->ended_ns, 500);
	assert_int_equal(view->begun, 6);
	assert_int_equal(view->begun_ns, 600);
	assert_int_equal(view->followed, 8);
	assert_int_equal(view->launched, 9);
	assert_int_equal(view->launched_ns, 900);
	assert_int_equal(view->timed, 2);
	assert_int_equal(view->captured, 4);
	assert_int_equal(view->bias_ns, 1250);
	assert_int_equal(view->error_ns, 3000);
	assert_int_equal(view->failure, 709);
	assert_int_equal(view->watch_since_ns, 950);
	assert_int_equal(view->missed, 7);
	/* Whatever it contains, a launch does not end before it begins. */
	progress->ended = 20;
	progress->level = UINT64_MAX;
	progress->status = UINT64_MAX;
	refresh();
	assert_int_equal(view->ended, 20);
	assert_int_equal(view->begun, 20);
	assert_int_equal(view->begun_ns, 500);
	assert_int_equal(view->followed, 20);
	assert_int_equal(view->launched, 20);
	assert_int_equal(view->level, 63);
	assert_int_equal(view->status, NCS_STREAM_UNKNOWN);
}

/* One letter for each launch from 0 on: '-' unknown, 'q' queued, 'r' running,
 * 'o' over. */
static void assert_phases(const struct ncs_launches_view *launches,
			  const char *phases)
{
	static const char letters[] = {
		[NCS_LAUNCH_PHASE_UNKNOWN] = '-',
		[NCS_LAUNCH_PHASE_QUEUED] = 'q',
		[NCS_LAUNCH_PHASE_RUNNING] = 'r',
		[NCS_LAUNCH_PHASE_OVER] = 'o',
	};

	for (size_t i = 0; phases[i]; i++)
		assert_int_equal(letters[ncs_launch_phase(launches, i)],
				 phases[i]);
}

TEST_WITH(all_launches_are_timed_only_if_none_was_missed, NULL, NULL)
{
	struct ncs_launches_view view = { .status = NCS_STREAM_ALL };

	assert_int_equal(ncs_launches_told(&view), NCS_STREAM_ALL);
	view.missed = 1;
	assert_int_equal(ncs_launches_told(&view), NCS_STREAM_MOST);
	/* Some of the missed ones may be in progress. */
	view.status = NCS_STREAM_SOME;
	assert_int_equal(ncs_launches_told(&view), NCS_STREAM_MOST);
	view.level = 3;
	assert_int_equal(ncs_launches_told(&view), NCS_STREAM_SOME);
	view.level = 0;
	view.status = NCS_STREAM_WAITING;
	assert_int_equal(ncs_launches_told(&view), NCS_STREAM_MOST);
	view.status = NCS_STREAM_FAILED;
	assert_int_equal(ncs_launches_told(&view), NCS_STREAM_FAILED);
}

TEST(launches_that_nccl_is_not_asked_for_are_told)
{
	struct segment_fixture *fixture = *state;

	fixture->header->event_mask = 1u << NCS_EVENT_COLL;
	fixture->header->launches.status = NCS_STREAM_ALL;
	observe(fixture);
	assert_int_equal(seen.launches.status, NCS_STREAM_NO_EVENTS);
	fixture->header->launches.status = NCS_STREAM_NO_DRIVER;
	refresh();
	assert_int_equal(seen.launches.status, NCS_STREAM_NO_DRIVER);
	fixture->header->launches.status = NCS_STREAM_WAITING;
	fixture->header->event_mask |= 1u << NCS_EVENT_KERNEL_LAUNCH;
	refresh();
	assert_int_equal(seen.launches.status, NCS_STREAM_WAITING);
}

TEST_WITH(phase_of_a_launch_is_told_only_where_it_is_known, NULL, NULL)
{
	struct ncs_launches_view view = {
		.status = NCS_STREAM_SOME,
		.ended = 3,
		.begun = 5,
		.followed = 7,
		.launched = 9,
	};

	/* Launch 5 runs, so 4, which was not followed, is over. */
	assert_phases(&view, "-oooorqqqq");
	/* Launches 4 to 6 are not followed: each of them may run now. */
	view.begun = 3;
	assert_phases(&view, "-ooo---qqq");
	/* All are followed. */
	view.status = NCS_STREAM_ALL;
	assert_phases(&view, "-oooqqqqqq");
	/* The latest launches are not followed. */
	view.ended = view.begun = 7;
	assert_phases(&view, "-ooooooo--");
	/* Nobody looks any more. */
	view.status = NCS_STREAM_FAILED;
	view.ended = 3;
	view.begun = 5;
	assert_phases(&view, "-oooo-----");
}

/* An operation without children ends with its launch; one with children not
 * before they do. */
TEST(operation_of_an_ended_launch_is_over)
{
	struct segment_fixture *fixture = *state;

	fixture->header->launches = (struct ncs_launch_progress){
		.status = NCS_STREAM_SOME,
		.ended = 2,
		.begun = 4,
		.followed = 4,
		.launched = 5,
	};
	for (unsigned i = 0; i < 7; i++) {
		struct ncs_operation *operation =
			segment_fixture_operation(fixture, i);

		operation->number = i + 1;
		operation->enqueued = 2000;
		/* The last one is of a graph. */
		operation->launch = i < 6 ? i : 0;
		operation->function = NCS_FUNCTION_ALL_REDUCE;
	}
	segment_fixture_operation(fixture, 2)->children_started = 2;
	segment_fixture_operation(fixture, 2)->children_done = 1;
	observe(fixture);
	/* Launch 2 has ended, but its operation has a child; 3 has ended
	 * before 4 began; 4 runs; 5 is queued. */
	assert_int_equal(seen.operation_count, 3);
	assert_int_equal(seen.operations[0].launch, 2);
	assert_int_equal(seen.operations[1].launch, 4);
	assert_int_equal(seen.operations[2].launch, 5);
	segment_fixture_operation(fixture, 2)->children_done = 2;
	fixture->header->launches.ended = 4;
	refresh();
	/* Launch 5 is not followed. */
	assert_int_equal(seen.operation_count, 0);
}

/* The plugin reports an operation that was reopened and is not recent. */
TEST(reopened_operation_is_seen_at_once)
{
	struct segment_fixture *fixture = *state;
	struct ncs_operation *operation = segment_fixture_operation(fixture, 2);

	fixture->header->filled.operations = 200;
	observe(fixture);
	for (unsigned i = 0; i < 3; i++)
		refresh();
	operation->number = 1;
	refresh();
	assert_int_equal(seen.operation_count, 0);
	fixture->header->filled.revived++;
	refresh();
	assert_int_equal(seen.operation_count, 1);
}

TEST(tables_of_minor_version_1_are_read_completely)
{
	struct segment_fixture *fixture = *state;

	segment_fixture_channel(fixture, 2)->key = NCS_CHANNEL_KEY(0, 1, 1);
	fixture->header->filled = (struct ncs_filled){ 0 };
	fixture->header->header_bytes = offsetof(struct ncs_header, filled);
	observe(fixture);
	assert_int_equal(seen.channel_count, 1);
	refresh();
	segment_fixture_operation(fixture, 3)->number = 1;
	fixture->header->filled = (struct ncs_filled){ 0 };
	refresh();
	assert_int_equal(seen.operation_count, 1);
}

TEST(functions_are_summed_over_lanes)
{
	struct segment_fixture *fixture = *state;
	const struct ncs_function_view *view;

	for (unsigned i = 0; i < 3; i++) {
		struct ncs_lane *lane = segment_fixture_lane(fixture, i);
		struct ncs_function *function =
			&lane->functions[NCS_FUNCTION_REDUCE];

		function->calls = 1 + i;
		function->operations = 10 + i;
		function->with_children = 100 + i;
		function->bytes = 1000 + i;
		function->size_unknown = 5;
		function->timed[NCS_TIMING_PROXY] = 2;
		function->time_ns[NCS_TIMING_PROXY] = 4;
		function->timed_bytes[NCS_TIMING_KERNEL] = 8;
		lane->events[NCS_EVENT_COLL] = 7 * i;
		lane->losses[NCS_LOSS_STALE] = i;
		lane->open_since[NCS_EVENT_GROUP] = i;
	}
	/* Subtracted by another lane than the one that counted. */
	segment_fixture_lane(fixture, 0)
		->functions[NCS_FUNCTION_REDUCE]
		.operations_done = 8;
	segment_fixture_lane(fixture, 1)
		->functions[NCS_FUNCTION_REDUCE]
		.operations_done = UINT64_MAX;
	/* Plus 1; 0 in other lanes is ignored. */
	segment_fixture_lane(fixture, 1)
		->functions[NCS_FUNCTION_REDUCE]
		.last_sequence_number = 1;
	observe(fixture);
	view = &seen.functions[NCS_FUNCTION_REDUCE];
	assert_int_equal(view->calls, 6);
	assert_int_equal(view->operations, 33);
	assert_int_equal(view->operations_done, 7);
	assert_int_equal(view->with_children, 303);
	assert_int_equal(view->bytes, 3003);
	assert_int_equal(view->size_unknown, 15);
	assert_int_equal(view->timed[NCS_TIMING_PROXY], 6);
	assert_int_equal(view->time_ns[NCS_TIMING_PROXY], 12);
	assert_int_equal(view->timed_bytes[NCS_TIMING_KERNEL], 24);
	assert_int_equal(view->last_sequence_number, 0);
	assert_int_equal(seen.events[NCS_EVENT_COLL], 21);
	assert_int_equal(seen.losses[NCS_LOSS_STALE], 3);
	assert_int_equal(seen.lanes[2].open_since_ns[NCS_EVENT_GROUP], 2);
	/* Sums do not accumulate from one snapshot to the next. */
	segment_fixture_lane(fixture, 2)
		->functions[NCS_FUNCTION_REDUCE]
		.last_sequence_number = 50;
	refresh();
	assert_int_equal(view->calls, 6);
	assert_int_equal(view->last_sequence_number, 49);
	assert_int_equal(seen.events[NCS_EVENT_COLL], 21);
}

TEST(stream_times_are_summed_over_lanes)
{
	struct segment_fixture *fixture = *state;
	const struct ncs_function_view *view;

	for (unsigned i = 0; i < 3; i++) {
		struct ncs_lane *lane = segment_fixture_lane(fixture, i);

		lane->stream_times[NCS_FUNCTION_REDUCE] =
			(struct ncs_stream_times){ 1 + i, 10 + i, 100 + i, 0 };
		lane->functions[NCS_FUNCTION_REDUCE].sequence = 2 * i;
	}
	observe(fixture);
	view = &seen.functions[NCS_FUNCTION_REDUCE];
	assert_false(seen.torn);
	assert_int_equal(view->timed[NCS_TIMING_STREAM], 6);
	assert_int_equal(view->time_ns[NCS_TIMING_STREAM], 33);
	assert_int_equal(view->timed_bytes[NCS_TIMING_STREAM], 303);
	assert_int_equal(view->timed[NCS_TIMING_KERNEL], 0);
	refresh();
	assert_int_equal(view->timed[NCS_TIMING_STREAM], 6);
	/* The function's sequence covers them. */
	segment_fixture_lane(fixture, 1)
		->functions[NCS_FUNCTION_REDUCE]
		.sequence = 3;
	refresh();
	assert_true(seen.torn);
	assert_int_equal(view->timed[NCS_TIMING_STREAM], 6);
}

TEST(segment_before_1_5_has_no_stream_times)
{
	struct segment_fixture *fixture = *state;
	struct ncs_header *header = fixture->header;

	segment_fixture_lane(fixture, 0)
		->stream_times[NCS_FUNCTION_REDUCE]
		.timed = 1;
	header->launches.status = NCS_STREAM_ALL;
	header->launches.ended = 7;
	segment_fixture_operation(fixture, 0)->number = 1;
	segment_fixture_operation(fixture, 0)->launch = 7;
	header->header_bytes = offsetof(struct ncs_header, launches);
	observe(fixture);
	assert_int_equal(
		seen.functions[NCS_FUNCTION_REDUCE].timed[NCS_TIMING_STREAM],
		0);
	assert_int_equal(seen.launches.status, NCS_STREAM_UNKNOWN);
	assert_int_equal(seen.launches.ended, 0);
	assert_int_equal(seen.operation_count, 1);
}

TEST(histograms_are_read_by_function_and_timing)
{
	struct segment_fixture *fixture = *state;
	struct ncs_histogram *histogram;
	const uint64_t *buckets;

	histogram = segment_fixture_histogram(fixture, 0);
	histogram->buckets[5] = 55; /* no key yet */
	observe(fixture);
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		assert_null(seen.functions[i].histogram[0]);
	histogram->key =
		NCS_HISTOGRAM_KEY(NCS_FUNCTION_ALL_REDUCE, NCS_TIMING_PROXY);
	histogram->buckets[NCS_HISTOGRAM_BUCKETS - 1] = 1;
	refresh();
	buckets = seen.functions[NCS_FUNCTION_ALL_REDUCE]
			  .histogram[NCS_TIMING_PROXY];
	assert_non_null(buckets);
	assert_int_equal(buckets[5], 55);
	assert_int_equal(buckets[4], 0);
	assert_int_equal(buckets[NCS_HISTOGRAM_BUCKETS - 1], 1);
	assert_null(seen.functions[NCS_FUNCTION_ALL_REDUCE]
			    .histogram[NCS_TIMING_KERNEL]);
	histogram->buckets[5]++;
	refresh();
	assert_int_equal(buckets[5], 56);
}

static void claim_class(struct segment_fixture *fixture, unsigned index,
			uint64_t key, uint64_t operations)
{
	struct ncs_class *class =
		segment_fixture_class(fixture, NCS_FUNCTION_MAX + index);

	class->key = key;
	class->operations = operations;
}

static struct ncs_histogram *claim_times(struct segment_fixture *fixture,
					 unsigned place, unsigned class_index,
					 enum ncs_timing timing)
{
	struct ncs_histogram *histogram =
		segment_fixture_histogram(fixture, place);

	histogram->key = NCS_HISTOGRAM_KEY(class_index, timing);
	return histogram;
}

TEST(classes_are_sorted_and_have_their_times)
{
	struct segment_fixture *fixture = *state;
	const struct ncs_class_times *times;
	const struct ncs_class_view *classes;
	struct ncs_histogram *histogram;

	claim_class(fixture, 0, NCS_CLASS_KEY(NCS_FUNCTION_REDUCE, 12, 2, 3),
		    70);
	claim_class(fixture, 1, NCS_CLASS_KEY(NCS_FUNCTION_REDUCE, 9, 2, 3),
		    80);
	histogram = claim_times(fixture, 0, NCS_FUNCTION_MAX, NCS_TIMING_PROXY);
	histogram->first = 101;
	histogram->end = 103;
	histogram->buckets[100] = 4;
	histogram->buckets[102] = 5;
	histogram->buckets[103] = 1000; /* just being counted */
	histogram->time_ns = 11;
	histogram->bytes = 12;
	histogram->longest_ns = 13;
	observe(fixture);
	classes = seen.classes;
	assert_int_equal(seen.class_count, 2);
	assert_int_equal(classes[0].size_class, 9);
	assert_int_equal(classes[0].operations, 80);
	assert_int_equal(classes[0].times[NCS_TIMING_PROXY].timed, 0);
	assert_int_equal(classes[1].function, NCS_FUNCTION_REDUCE);
	assert_int_equal(classes[1].size_class, 12);
	assert_int_equal(classes[1].algorithm, 2);
	assert_int_equal(classes[1].protocol, 3);
	assert_int_equal(classes[1].operations, 70);
	assert_int_equal(classes[1].times[NCS_TIMING_KERNEL].count, 0);
	times = &classes[1].times[NCS_TIMING_PROXY];
	assert_int_equal(times->timed, 9);
	assert_int_equal(times->time_ns, 11);
	assert_int_equal(times->bytes, 12);
	assert_int_equal(times->longest_ns, 13);
	assert_int_equal(times->first, 100);
	assert_int_equal(times->count, 3);
	assert_int_equal(seen.class_bucket_count, 3);
	assert_int_equal(seen.class_buckets[times->place + 2], 5);
}

static struct ncs_range *range_at(struct segment_fixture *fixture,
				  uint32_t number, uint64_t key)
{
	char *base = (char *)fixture->header;
	struct ncs_range *range =
		(struct ncs_range *)(base + fixture->header->ranges.offset +
				     (number - 1) *
					     fixture->header->ranges.stride);

	range->key = key;
	fixture->header->ranges_filled = 4;
	return range;
}

static struct ncs_range_histogram *
range_histogram_at(struct segment_fixture *fixture, size_t place, uint64_t key)
{
	const struct ncs_table *table = &fixture->header->range_histograms;
	struct ncs_range_histogram *histogram =
		(struct ncs_range_histogram *)((char *)fixture->header +
					       table->offset +
					       place * table->stride);

	histogram->key = key;
	return histogram;
}

TEST(ranges_are_read_with_their_histograms)
{
	struct segment_fixture *fixture = *state;
	const struct ncs_range_view *view;
	struct ncs_range *range;

	range_at(fixture, 2, NCS_RANGE_KEY(0));
	range = range_at(fixture, 4, NCS_RANGE_KEY(2));
	memset(range->name, 'x', sizeof(range->name));
	range->calls = 7;
	range->busy = 3 | UINT64_C(0x1234) << 16;
	range->busy_since = NOW - 50;
	range->busy_time = 100;
	range->timed[NCS_TIMING_PROXY] = 20;
	range->stream_times = (struct ncs_stream_times){ 21, 22, 23, 0 };
	range_histogram_at(fixture, 2,
			   NCS_RANGE_HISTOGRAM_KEY(4, NCS_TIMING_KERNEL))
		->buckets[5] = 9;
	observe(fixture);
	assert_int_equal(seen.range_count, 2);
	view = &seen.ranges[1];
	assert_int_equal(view->number, 4);
	assert_int_equal(view->parent, 2);
	assert_int_equal(strlen(view->name), NCS_RANGE_NAME_BYTES - 1);
	assert_int_equal(view->calls, 7);
	assert_int_equal(view->busy, 3);
	assert_int_equal(view->busy_ns, 150);
	assert_int_equal(view->timed[NCS_TIMING_PROXY], 20);
	assert_int_equal(view->timed[NCS_TIMING_STREAM], 21);
	assert_int_equal(view->time_ns[NCS_TIMING_STREAM], 22);
	assert_int_equal(view->timed_bytes[NCS_TIMING_STREAM], 23);
	assert_null(ncs_range_buckets(&seen, view, NCS_TIMING_PROXY));
	assert_int_equal(ncs_range_buckets(&seen, view, NCS_TIMING_KERNEL)[5],
			 9);
}

/* A segment that says the same gives the same snapshot, taken later. */
TEST(a_snapshot_moves_on)
{
	const uint64_t later = NOW + 3 * S;
	struct segment_fixture *fixture = *state;
	struct ncs_snapshot taken;
	struct ncs_range *range = range_at(fixture, 1, NCS_RANGE_KEY(0));

	range->busy = 1;
	range->busy_since = NOW - 50;
	fixture->header->proxy.state = NCS_PROXY_ACTIVE;
	fixture->header->proxy.since = NOW - 7 * S;
	observe(fixture);
	ncs_snapshot_advance(&seen, fixture->header->created, later, NOW + S);
	assert_int_equal(ncs_snapshot_init(&taken, reader_of_seen), 0);
	ncs_snapshot_take(&taken, reader_of_seen, later);
	assert_int_equal(seen.taken_ns, later);
	assert_int_equal(seen.alive_ns, NOW + S);
	assert_int_equal(seen.liveness, taken.liveness);
	assert_int_equal(seen.ranges[0].busy_ns, 3 * S + 50);
	assert_int_equal(seen.ranges[0].busy_ns, taken.ranges[0].busy_ns);
	assert_int_equal(seen.proxy.time_ns[NCS_PROXY_ACTIVE], 10 * S);
	assert_int_equal(seen.proxy.time_ns[NCS_PROXY_ACTIVE],
			 taken.proxy.time_ns[NCS_PROXY_ACTIVE]);
	ncs_snapshot_release(&taken);
}

/* A loop of ranges, histograms of missing ranges, and an invalid timing. */
TEST(invalid_ranges_are_left_out)
{
	struct segment_fixture *fixture = *state;

	range_at(fixture, 1, NCS_RANGE_KEY(2));
	range_at(fixture, 2, NCS_RANGE_KEY(1));
	range_at(fixture, 3, NCS_RANGE_KEY(3));
	range_histogram_at(fixture, 0, NCS_RANGE_HISTOGRAM_KEY(3, 0));
	range_histogram_at(fixture, 1, UINT64_MAX);
	range_histogram_at(fixture, 2,
			   NCS_RANGE_HISTOGRAM_KEY(2, NCS_TIMING_COUNT));
	fixture->header->ranges_filled = UINT64_MAX;
	observe(fixture);
	assert_int_equal(seen.range_count, 1);
	assert_int_equal(seen.ranges[0].number, 2);
	assert_int_equal(seen.range_histogram_count, 0);
}

TEST(times_of_a_function_are_those_of_its_classes)
{
	struct segment_fixture *fixture = *state;
	const uint64_t *sum;

	claim_class(fixture, 0, NCS_CLASS_KEY(NCS_FUNCTION_SEND, 3, 0, 0), 1);
	claim_class(fixture, 1, NCS_CLASS_KEY(NCS_FUNCTION_SEND, 4, 0, 0), 1);
	for (unsigned i = 0; i < 2; i++) {
		struct ncs_histogram *histogram = claim_times(
			fixture, i, NCS_FUNCTION_MAX + i, NCS_TIMING_KERNEL);

		histogram->first = 51;
		histogram->end = 51;
		histogram->buckets[50] = 10 + i;
	}
	claim_times(fixture, 2, NCS_FUNCTION_SEND, NCS_TIMING_KERNEL)
		->buckets[60] = 7;
	observe(fixture);
	refresh();
	sum = seen.functions[NCS_FUNCTION_SEND].histogram[NCS_TIMING_KERNEL];
	assert_int_equal(sum[50], 21);
	assert_int_equal(sum[60], 7);
	assert_int_equal(seen.class_count, 3);
	assert_int_equal(seen.classes[2].size_class, NCS_CLASS_OTHER);
	assert_int_equal(seen.classes[2].algorithm, NCS_CLASS_OTHER);
	assert_int_equal(seen.classes[2].protocol, NCS_CLASS_OTHER);
	assert_int_equal(seen.classes[2].times[NCS_TIMING_KERNEL].timed, 7);
}

TEST(all_times_before_1_2_are_the_functions)
{
	struct segment_fixture *fixture = *state;

	memset(&fixture->header->classes, 0, sizeof(struct ncs_table));
	claim_times(fixture, 0, NCS_FUNCTION_SEND, NCS_TIMING_PROXY)
		->buckets[9] = 6;
	observe(fixture);
	assert_int_equal(
		seen.functions[NCS_FUNCTION_SEND].histogram[NCS_TIMING_PROXY][9],
		6);
	assert_int_equal(seen.class_count, 1);
	assert_int_equal(seen.classes[0].function, NCS_FUNCTION_SEND);
	assert_int_equal(seen.classes[0].operations, 0);
}

/* --- Hostile contents -------------------------------------------------- */

TEST(sampling_is_reported)
{
	struct segment_fixture *fixture = *state;

	observe(fixture);
	assert_int_equal(seen.sampling.level, 0);
	fixture->header->sampling = (struct ncs_sampling){
		.level = 4,
		.slow_ns = 5,
		.kept = 6,
		.left_out = 7,
		.slow = 8,
	};
	refresh();
	assert_int_equal(seen.sampling.level, 4);
	assert_int_equal(seen.sampling.slow_ns, 5);
	assert_int_equal(seen.sampling.kept, 6);
	assert_int_equal(seen.sampling.left_out, 7);
	assert_int_equal(seen.sampling.slow, 8);
}

TEST(unterminated_strings_are_terminated)
{
	struct segment_fixture *fixture = *state;
	struct ncs_header *header = fixture->header;
	const struct ncs_header *read;

	memset(header->identity.comm_name, 'c',
	       sizeof(header->identity.comm_name));
	memset(header->identity.gpu, 'g', sizeof(header->identity.gpu));
	memset(header->host, 'h', sizeof(header->host));
	memset(header->boot_id, 'b', sizeof(header->boot_id));
	observe(fixture);
	read = ncs_reader_header(reader_of_seen);
	assert_int_equal(strlen(read->host), sizeof(read->host) - 1);
	assert_int_equal(strlen(read->boot_id), sizeof(read->boot_id) - 1);
	assert_int_equal(strlen(read->identity.comm_name),
			 sizeof(read->identity.comm_name) - 1);
	assert_int_equal(strlen(read->identity.gpu),
			 sizeof(read->identity.gpu) - 1);
	assert_int_equal(strlen(seen.identity.comm_name),
			 sizeof(read->identity.comm_name) - 1);
	assert_int_equal(strlen(seen.identity.gpu),
			 sizeof(read->identity.gpu) - 1);
}

TEST(numbers_out_of_range_are_brought_into_range)
{
	struct segment_fixture *fixture = *state;
	struct ncs_channel *channel = segment_fixture_channel(fixture, 0);

	fixture->header->proxy.state = UINT64_MAX;
	fixture->header->sampling.level = UINT64_MAX;
	channel->key = UINT64_MAX;
	channel->state = NCS_CHANNEL_STATE_COUNT;
	channel->function = UINT64_MAX;
	segment_fixture_operation(fixture, 0)->number = UINT64_MAX;
	segment_fixture_operation(fixture, 0)->function = 255;
	claim_class(fixture, 0, UINT64_MAX, 1);
	segment_fixture_histogram(fixture, 0)->key = UINT64_MAX;
	segment_fixture_histogram(fixture, 1)->key =
		NCS_HISTOGRAM_KEY(NCS_FUNCTION_MAX + 1, 0);
	segment_fixture_histogram(fixture, 2)->key =
		NCS_HISTOGRAM_KEY(0, NCS_TIMING_COUNT);
	segment_fixture_ring(fixture, 0)->head = UINT64_MAX;
	observe(fixture);
	assert_int_equal(seen.proxy.state, NCS_PROXY_UNKNOWN);
	assert_int_equal(seen.sampling.level, NCS_LEVEL_MAX);
	assert_int_equal(seen.channel_count, 1);
	assert_int_equal(seen.channels[0].state, NCS_CHANNEL_IDLE);
	assert_int_equal(seen.channels[0].function, NCS_FUNCTION_OTHER);
	assert_int_equal(seen.operations[0].function, NCS_FUNCTION_OTHER);
	assert_int_equal(seen.class_count, 1);
	assert_int_equal(seen.classes[0].function, NCS_FUNCTION_OTHER);
	assert_int_equal(seen.classes[0].size_class, NCS_CLASS_OTHER);
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		assert_int_equal(seen.functions[i].calls, 0);
		for (size_t k = 0; k < NCS_TIMING_COUNT; k++)
			assert_null(seen.functions[i].histogram[k]);
	}
	segment_fixture_histogram(fixture, 0)->key =
		NCS_HISTOGRAM_KEY(0, NCS_TIMING_PROXY);
	segment_fixture_histogram(fixture, 0)->first = UINT64_MAX;
	segment_fixture_histogram(fixture, 0)->end = UINT64_MAX;
	refresh();
	assert_int_equal(seen.class_bucket_count, NCS_HISTOGRAM_BUCKETS);
}

TEST(geometry_is_read_once)
{
	struct segment_fixture *fixture = *state;
	struct ncs_record records[16];
	uint64_t lost = 0;

	observe(fixture);
	segment_fixture_put(fixture, 1, 3);
	fixture->header->lanes.count = UINT32_MAX;
	fixture->header->rings.offset = UINT64_MAX - 7;
	fixture->header->channels.stride = UINT32_MAX;
	fixture->header->ring_records = 1u << 31;
	fixture->header->operations.count = UINT32_MAX;
	refresh();
	assert_int_equal(seen.lane_count, 3);
	assert_int_equal(seen.lanes[1].published, 3);
	assert_int_equal(
		ncs_reader_records(reader_of_seen, 1, records, 16, &lost), 3);
}

TEST(block_left_in_mid_write_is_reported_and_still_shown)
{
	struct segment_fixture *fixture = *state;
	struct ncs_header *header = fixture->header;
	struct ncs_channel *channel = segment_fixture_channel(fixture, 1);
	struct ncs_function *function =
		&segment_fixture_lane(fixture, 1)
			 ->functions[NCS_FUNCTION_ALL_REDUCE];
	uint64_t *sequences[] = {
		&header->identity.sequence,
		&header->proxy.sequence,
		&channel->sequence,
		&function->sequence,
	};

	snprintf(header->identity.comm_name, sizeof(header->identity.comm_name),
		 "world");
	header->proxy.state = NCS_PROXY_SLEEP;
	channel->key = NCS_CHANNEL_KEY(3, 1, 2);
	channel->bytes = 4096;
	function->calls = 12;
	/* An unused entry does not matter. */
	segment_fixture_channel(fixture, 2)->sequence = 7;
	observe(fixture);
	assert_false(seen.torn);
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		*sequences[i] = 7;
		refresh();
		assert_true(seen.torn);
		assert_string_equal(seen.identity.comm_name, "world");
		assert_int_equal(seen.proxy.state, NCS_PROXY_SLEEP);
		assert_int_equal(seen.channel_count, 1);
		assert_int_equal(seen.channels[0].bytes, 4096);
		assert_int_equal(seen.functions[NCS_FUNCTION_ALL_REDUCE].calls,
				 12);
		*sequences[i] = 8;
		refresh();
		assert_false(seen.torn);
	}
}

/* A rank is killed inside a callback, and its segment read later. */
static int die_in_mid_write(struct segment_fixture *fixture)
{
	struct ncs_process self;
	struct ncs_writer writer;
	struct ncs_proxy *proxy;
	struct ncs_operation *operation;

	ncs_process_describe(&self);
	if (segment_fixture_create(fixture, &self, 0, &writer) != 0)
		return 1;
	ncs_writer_publish(&writer);
	proxy = &writer.header->proxy;
	ncs_seqlock_begin(&proxy->sequence);
	ncs_payload_store(&proxy->state, NCS_PROXY_APPEND);
	operation = (struct ncs_operation *)((char *)writer.header +
					     writer.header->operations.offset);
	ncs_payload_store(&operation->bytes, 5); /* number is still 0 */
	rename(writer.path, fixture->writer.path);
	return raise(SIGKILL);
}

TEST(segment_of_a_process_killed_in_mid_write_is_readable)
{
	struct segment_fixture *fixture = *state;
	int status = segment_fixture_in_child(die_in_mid_write, fixture);

	assert_true(WIFSIGNALED(status));
	observe(fixture);
	assert_int_equal(seen.liveness, NCS_DEAD);
	assert_true(seen.torn);
	assert_int_equal(seen.proxy.state, NCS_PROXY_APPEND);
	assert_int_equal(seen.operation_count, 0);
}

/* --- Truncated files --------------------------------------------------- */

/* Touches everything in use after the file was truncated. Returns 0 if all of
 * it reads as zeros. */
static int cut_short(struct segment_fixture *fixture, bool guarded)
{
	struct ncs_reader *reader, *other;
	struct ncs_snapshot snapshot;
	struct ncs_record records[16];
	uint64_t lost = 0;

	if (guarded) {
		ncs_reader_guard();
		ncs_reader_guard(); /* calling it twice does no harm */
	}
	segment_fixture_put(fixture, 1, 5);
	segment_fixture_channel(fixture, 0)->key = NCS_CHANNEL_KEY(0, 0, 0);
	if (ncs_reader_open(fixture->writer.path, &other, NULL, 0) !=
		    NCS_ATTACHED ||
	    ncs_reader_open(fixture->writer.path, &reader, NULL, 0) !=
		    NCS_ATTACHED ||
	    ncs_snapshot_init(&snapshot, reader) != 0)
		return 2;
	ncs_snapshot_take(&snapshot, reader, NOW);
	if (snapshot.channel_count != 1 ||
	    ncs_reader_records(reader, 1, records, 2, &lost) != 2)
		return 3;
	if (truncate(fixture->writer.path, 0) != 0)
		return 4;
	if (ncs_reader_records(reader, 1, records, 16, &lost) != 0 || lost != 0)
		return 5;
	ncs_snapshot_take(&snapshot, reader, NOW);
	if (snapshot.channel_count != 0 || snapshot.operation_count != 0 ||
	    snapshot.lanes[1].published != 0 || snapshot.torn)
		return 6;
	if (ncs_reader_is_valid(reader))
		return 7;
	ncs_snapshot_take(&snapshot, other, NOW);
	if (snapshot.channel_count != 0)
		return 8;
	ncs_snapshot_release(&snapshot);
	ncs_reader_close(other);
	ncs_reader_close(reader);
	return 0;
}

static int cut_short_guarded(struct segment_fixture *fixture)
{
	return cut_short(fixture, true);
}

static int cut_short_unguarded(struct segment_fixture *fixture)
{
	return cut_short(fixture, false);
}

TEST(truncated_file_reads_as_zeros_with_the_guard)
{
	int status = segment_fixture_in_child(cut_short_guarded, *state);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Otherwise the test above would prove nothing. */
TEST(truncated_file_raises_sigbus_without_the_guard)
{
	assert_int_not_equal(
		segment_fixture_in_child(cut_short_unguarded, *state), 0);
}

/* A truncated mapping that is not a reader's, most likely at a former reader's
 * address. */
static int touch_truncated_mapping(struct segment_fixture *fixture)
{
	const char *path = segment_fixture_path(fixture, "other");
	int file = open(path, O_RDWR | O_CREAT, 0600);
	size_t bytes = fixture->writer.mapped_bytes;
	const volatile char *mapping;
	struct ncs_reader *reader;

	ncs_reader_guard();
	ncs_reader_guard();
	if (file < 0 || ftruncate(file, (off_t)bytes) != 0 ||
	    ncs_reader_open(fixture->writer.path, &reader, NULL, 0) !=
		    NCS_ATTACHED)
		return 0;
	ncs_reader_close(reader);
	mapping = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
	if (mapping == MAP_FAILED || ftruncate(file, 0) != 0)
		return 0;
	return mapping[0] & 0;
}

static int send_sigbus(struct segment_fixture *fixture)
{
	struct ncs_reader *reader;

	ncs_reader_guard();
	if (ncs_reader_open(fixture->writer.path, &reader, NULL, 0) !=
	    NCS_ATTACHED)
		return 0;
	kill(getpid(), SIGBUS);
	return 0;
}

TEST(sigbus_of_other_causes_keeps_its_effect)
{
	struct segment_fixture *fixture = *state;

	int status;

	status = segment_fixture_in_child(touch_truncated_mapping, fixture);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
	status = segment_fixture_in_child(send_sigbus, fixture);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

/* Over time more readers than the guard has entries, closed in any order. */
static int guard_many(struct segment_fixture *fixture)
{
	enum { COUNT = 200 };
	struct ncs_reader *readers[COUNT] = { NULL };
	struct ncs_record record;
	uint64_t lost;

	ncs_reader_guard();
	srandom(1);
	for (unsigned i = 0; i < 100 * COUNT; i++) {
		unsigned k = (unsigned)random() % COUNT;

		if (readers[k]) {
			ncs_reader_close(readers[k]);
			readers[k] = NULL;
		} else if (ncs_reader_open(fixture->writer.path, &readers[k],
					   NULL, 0) != NCS_ATTACHED) {
			return 2;
		}
	}
	if (truncate(fixture->writer.path, 0) != 0)
		return 3;
	for (unsigned k = 0; k < COUNT; k++) {
		if (readers[k] &&
		    ncs_reader_records(readers[k], 1, &record, 1, &lost) != 0)
			return 4;
		ncs_reader_close(readers[k]);
	}
	return 0;
}

TEST(guard_supports_many_readers)
{
	int status = segment_fixture_in_child(guard_many, *state);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}
