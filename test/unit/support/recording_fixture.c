/* SPDX-License-Identifier: MIT */
/* A small recording for tests; see recording_fixture.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ncclstat/reader.h"
#include "shm/read/image.h"
#include "shm/read/job.h"
#include "test/unit/support/recording_fixture.h"
#include "test/unit/support/unit.h"

#define MS_NS UINT64_C(1000000)

static void fill(struct segment_fixture *segment)
{
	struct ncs_header *header = segment->header;
	struct ncs_lane *lane = segment_fixture_lane(segment, 1);
	struct ncs_channel *channel = segment_fixture_channel(segment, 2);
	struct ncs_operation *operation = segment_fixture_operation(segment, 5);

	/* Times are those of the test. */
	header->clock.base_ticks = RECORDING_BEGUN_NS;
	header->clock.base_monotonic_ns = RECORDING_BEGUN_NS;
	header->created = RECORDING_BEGUN_NS - MS_NS;
	header->identity.known = NCS_KNOWN_RANK | NCS_KNOWN_NRANKS;
	header->identity.rank = 3;
	header->identity.nranks = 8;
	lane->last_call = RECORDING_BEGUN_NS;
	lane->functions[2].calls = 11;
	channel->key = NCS_CHANNEL_KEY(1, 1, 2);
	channel->state = NCS_CHANNEL_SEND_WAIT;
	channel->since = RECORDING_BEGUN_NS;
	channel->bytes = 12;
	operation->number = 9;
	operation->start = RECORDING_BEGUN_NS;
	operation->bytes = 4096;
}

int recording_fixture_setup(void **state)
{
	struct recording_fixture *fixture = calloc(1, sizeof(*fixture));
	struct ncs_file_head *head;
	void *segment;

	if (!fixture || segment_fixture_setup(&segment) != 0)
		return -1;
	fixture->segment = segment;
	fill(segment);
	/* The process runs in a container of the host that is recorded. */
	strcpy(fixture->segment->writer.header->host, "pod-a");
	if (ncs_reader_open(fixture->segment->writer.path, &fixture->reader,
			    NULL, 0) != NCS_ATTACHED)
		return -1;
	fixture->settings.means = NCS_SINK_ALL_MEANS;
	head = &fixture->settings.head;
	ncs_recording_head_here(head);
	head->begun_monotonic_ns = RECORDING_BEGUN_NS;
	head->begun_realtime_ns = RECORDING_REALTIME_NS;
	head->interval_ns = RECORDING_INTERVAL_NS;
	strcpy(head->host, "alpha");
	*state = fixture;
	return 0;
}

int recording_fixture_teardown(void **state)
{
	struct recording_fixture *fixture = *state;
	void *segment = fixture->segment;

	ncs_reader_close(fixture->reader);
	free(fixture);
	return segment_fixture_teardown(&segment);
}

void recording_fixture_begin(struct recording_fixture *fixture,
			     const char *name)
{
	snprintf(fixture->path, sizeof(fixture->path), "%s",
		 segment_fixture_path(fixture->segment, name));
	if (ncs_recording_writer_open(&fixture->writer, fixture->path,
				      &fixture->settings, fixture->why,
				      sizeof(fixture->why)) != 0)
		fail_msg("%s", fixture->why);
}

void recording_fixture_end(struct recording_fixture *fixture)
{
	assert_int_equal(ncs_recording_writer_close(fixture->writer, NULL), 0);
}

size_t recording_fixture_add_rank(struct recording_fixture *fixture,
				  const char *path)
{
	size_t rank;

	assert_int_equal(ncs_recording_writer_add_rank(
				 fixture->writer,
				 ncs_reader_header(fixture->reader),
				 NCS_NO_OWNER, path, &rank),
			 0);
	return rank;
}

void recording_fixture_state(struct recording_fixture *fixture, size_t rank,
			     uint64_t after_ns, unsigned flags)
{
	struct ncs_recording_piece piece = { fixture->writer, rank };
	bool whole = ncs_image_take(fixture->reader,
				    ncs_recording_writer_image(fixture->writer,
							       rank),
				    ncs_recording_writer_piece, &piece);

	assert_int_equal(ncs_recording_writer_state(
				 fixture->writer, rank,
				 RECORDING_BEGUN_NS + after_ns, flags, !whole),
			 0);
}

void recording_fixture_records(struct recording_fixture *fixture, size_t rank,
			       unsigned lane, uint64_t first, size_t count,
			       uint64_t lost, uint64_t after_ns)
{
	struct ncs_record *records = calloc(count + 1, sizeof(*records));

	assert_non_null(records);
	for (size_t i = 0; i < count; i++)
		records[i] = (struct ncs_record){
			.start = RECORDING_BEGUN_NS + (first + i) * 10 * MS_NS,
			.duration = 10 * MS_NS,
			.event = NCS_EVENT_PROXY_STEP,
			.position = (uint32_t)(first + i),
			.value = first + i,
		};
	assert_int_equal(ncs_recording_writer_records(
				 fixture->writer, rank, lane, records, count,
				 first, lost, RECORDING_BEGUN_NS + after_ns),
			 0);
	free(records);
}

char *recording_fixture_read(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "re");
	char *memory;
	long end;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	end = ftell(file);
	assert_true(end > 0);
	rewind(file);
	*bytes = (size_t)end;
	memory = aligned_alloc(64, (*bytes + 63) / 64 * 64);
	assert_non_null(memory);
	assert_int_equal(fread(memory, 1, *bytes, file), *bytes);
	fclose(file);
	return memory;
}
