/* SPDX-License-Identifier: MIT */
/* The live source: segments that come, go, are replaced, or cannot be read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/sources/source_shm.h"
#include "ncclstat/reader.h"
#include "shm/clock.h"
#include "shm/ring.h"
#include "shm/write/writer.h"
#include "test/unit/support/unit.h"

static char directory[64];
static struct ncs_process self;

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/dev/shm/ncclstat-test-XXXXXX");
	ncs_process_describe(&self);
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	struct ncs_paths paths;

	(void)state;
	if (ncs_discover(directory, &paths) != 0)
		return -1;
	for (size_t i = 0; i < paths.count; i++)
		unlink(paths.path[i]);
	ncs_paths_release(&paths);
	return rmdir(directory);
}

/* Creates a segment of a process with this pid, which need not exist. */
static struct ncs_writer write_segment(uint32_t pid, unsigned serial)
{
	static const struct ncs_segment_size size = {
		.lanes = 2,
		.channels = 4,
		.operations = 4,
		.classes = 1,
		.histograms = 2,
		.ring_records = 8,
	};
	struct ncs_process process = self;
	struct ncs_writer writer;

	process.pid = pid;
	assert_int_equal(ncs_writer_create(&writer, directory, &process, serial,
					   &size, NULL),
			 0);
	writer.header->identity.known = NCS_KNOWN_RANK;
	writer.header->identity.rank = (int32_t)serial;
	ncs_writer_publish(&writer);
	return writer;
}

static void write_garbage(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Makes a pass. Returns the number of samples, and the last one. */
static size_t pass(struct ncs_source *source, struct ncs_sample *sample)
{
	struct ncs_sample each;
	size_t count = 0;
	char why[128];

	assert_int_equal(source->begin(source, ncs_clock_monotonic_ns(), why,
				       sizeof(why)),
			 0);
	while (source->next(source, &each)) {
		*sample = each;
		count++;
	}
	return count;
}

UNIT_FIXTURE(setup, teardown)

TEST(an_empty_directory_has_no_samples)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_sample sample;

	assert_int_equal(pass(source, &sample), 0);
	source->close(source);
}

TEST(a_missing_directory_is_an_error)
{
	struct ncs_source *source = ncs_source_open_shm("/no/such", NULL);
	struct ncs_sample sample;
	char why[128] = "";

	assert_int_equal(source->begin(source, 1, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "/no/such"));
	assert_false(source->next(source, &sample));
	source->close(source);
}

TEST(segments_come_and_go_between_passes)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_writer first = write_segment(self.pid, 1), second;
	struct ncs_sample sample;

	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.attach, NCS_ATTACHED);
	assert_string_equal(sample.id, first.path);
	second = write_segment(self.pid, 2);
	assert_int_equal(pass(source, &sample), 2);
	assert_int_equal(sample.snapshot->identity.rank, 2);
	ncs_writer_unlink(&first);
	assert_int_equal(pass(source, &sample), 1);
	assert_string_equal(sample.id, second.path);
	ncs_writer_unlink(&second);
	assert_int_equal(pass(source, &sample), 0);
	source->close(source);
}

TEST(each_pass_sees_what_was_written_since)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_writer writer = write_segment(self.pid, 1);
	struct ncs_sample sample;

	assert_int_equal(pass(source, &sample), 1);
	writer.header->proxy.appended_operations = 9;
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.snapshot->proxy.appended_operations, 9);
	source->close(source);
}

static struct ncs_lane *lane_of(struct ncs_writer *writer, unsigned index)
{
	const struct ncs_table *lanes = &writer->header->lanes;

	return (struct ncs_lane *)((char *)writer->header + lanes->offset +
				   (size_t)index * lanes->stride);
}

static void write_records(struct ncs_ring_producer *producer, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct ncs_record record = { .number = producer->position };

		ncs_ring_put(producer, &record);
	}
}

TEST(each_pass_returns_the_new_records)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_writer writer = write_segment(self.pid, 1);
	const struct ncs_header *header = writer.header;
	struct ncs_ring_producer producers[2];
	struct ncs_sample sample;

	for (unsigned i = 0; i < 2; i++) {
		struct ncs_ring *ring =
			(struct ncs_ring *)((char *)writer.header +
					    header->rings.offset +
					    (size_t)i * header->rings.stride);

		lane_of(&writer, i)->owner = i + 1;
		producers[i] = (struct ncs_ring_producer){
			.ring = ring,
			.records = (struct ncs_record *)(ring + 1),
			.mask = header->ring_records - 1,
		};
	}
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.record_count, 0);
	write_records(&producers[0], 3);
	write_records(&producers[1], 2);
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.record_count, 5);
	assert_int_equal(sample.records[2].number, 2);
	assert_int_equal(sample.records[4].number, 1);
	assert_int_equal(sample.records_lost, 0);
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.record_count, 0);
	/* 7 records of a ring of 8 are left. */
	write_records(&producers[1], 10);
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.record_count, 7);
	assert_int_equal(sample.records_lost, 3);
	source->close(source);
}

static bool wants_none(const void *context, const char *id)
{
	(void)context;
	(void)id;
	return false;
}

TEST(unwanted_records_stay_in_the_ring)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_writer writer = write_segment(self.pid, 1);
	struct ncs_ring *ring =
		(struct ncs_ring *)((char *)writer.header +
				    writer.header->rings.offset);
	struct ncs_ring_producer producer = {
		.ring = ring,
		.records = (struct ncs_record *)(ring + 1),
		.mask = writer.header->ring_records - 1,
	};
	struct ncs_sample sample;

	source->wants_records = wants_none;
	write_records(&producer, 3);
	assert_int_equal(pass(source, &sample), 1);
	assert_true(sample.without_records);
	assert_int_equal(sample.record_count, 0);
	source->wants_records = NULL;
	assert_int_equal(pass(source, &sample), 1);
	assert_false(sample.without_records);
	assert_int_equal(sample.record_count, 3);
	assert_int_equal(sample.records_lost, 0);
	source->close(source);
}

TEST(a_replaced_segment_is_opened_again)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_writer writer = write_segment(self.pid, 1);
	struct ncs_sample sample;

	assert_int_equal(pass(source, &sample), 1);
	ncs_writer_unlink(&writer);
	writer = write_segment(self.pid, 1);
	writer.header->proxy.appended_operations = 4;
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.snapshot->proxy.appended_operations, 4);
	source->close(source);
}

TEST(an_unreadable_file_is_reported_with_the_reason)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_sample sample;

	write_garbage("ncclstat.1.2.3", "no segment");
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.attach, NCS_ATTACH_CORRUPT);
	assert_true(strlen(sample.why) > 0);
	assert_null(sample.snapshot);
	source->close(source);
}

TEST(a_segment_is_attached_once_it_is_ready)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_writer writer = write_segment(self.pid, 1);
	struct ncs_sample sample;

	writer.header->version = 0;
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.attach, NCS_ATTACH_NOT_READY);
	ncs_writer_publish(&writer);
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.attach, NCS_ATTACHED);
	source->close(source);
}

TEST(other_files_are_ignored)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_sample sample;
	char path[256];

	write_garbage("something.else", "x");
	assert_int_equal(pass(source, &sample), 0);
	source->close(source);
	snprintf(path, sizeof(path), "%s/something.else", directory);
	unlink(path);
}

TEST(a_pid_selects_the_segments_of_one_process)
{
	struct ncs_source *source = ncs_source_open_shm(
		directory, &(struct ncs_choice){ .pid = 4711 });
	struct ncs_sample sample;

	write_segment(self.pid, 1);
	write_segment(4711, 2);
	write_garbage("ncclstat.5.2.3", "no segment");
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.header->pid, 4711);
	/* An unreadable segment of this process is still reported. */
	write_garbage("ncclstat.4711.2.3", "no segment");
	assert_int_equal(pass(source, &sample), 2);
	source->close(source);
}

/* Only root can make files of another user, but root can read all files: the
 * pass runs as the user nobody. */
TEST(other_users_segments_are_told_only_if_there_is_nothing_else)
{
	struct ncs_source *source = ncs_source_open_shm(directory, NULL);
	struct ncs_writer foreign, own;
	struct ncs_sample sample;

	if (geteuid() != 0) {
		source->close(source);
		skip();
	}
	foreign = write_segment(self.pid, 1);
	own = write_segment(self.pid, 2);
	assert_int_equal(chown(own.path, 65534, 65534), 0);
	assert_int_equal(chmod(directory, 0755), 0);
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.attach, NCS_ATTACHED);
	assert_int_equal(seteuid(0), 0);
	ncs_writer_unlink(&own);
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(pass(source, &sample), 1);
	assert_int_equal(sample.attach, NCS_ATTACH_DENIED);
	assert_string_equal(sample.id, foreign.path);
	assert_int_equal(seteuid(0), 0);
	source->close(source);
}
