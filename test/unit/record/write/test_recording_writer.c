/* SPDX-License-Identifier: MIT */
/* Tests of writing: each chunk is good and in the index, states equal their
 * images, all records are written or counted as lost, and each file of a
 * recording can be read alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "record/write/recording_writer.h"
#include "shm/read/image.h"
#include "shm/read/job.h"
#include "test/unit/support/recorded_file.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

#define SECOND UINT64_C(1000000000)

struct written_recording {
	struct segment_fixture *fixture;
	char path[300];
	struct ncs_recording_settings settings;
	struct ncs_recording_writer *writer;
	char why[100];
};

static int setup(void **state)
{
	struct written_recording *written = calloc(1, sizeof(*written));
	void *fixture;

	if (!written || segment_fixture_setup(&fixture) != 0)
		return -1;
	written->fixture = fixture;
	snprintf(written->path, sizeof(written->path), "%s",
		 segment_fixture_path(fixture, "recording"));
	ncs_recording_head_here(&written->settings.head);
	written->settings.means = NCS_SINK_ALL_MEANS;
	*state = written;
	return 0;
}

static int teardown(void **state)
{
	struct written_recording *written = *state;
	void *fixture = written->fixture;

	free(written);
	return segment_fixture_teardown(&fixture);
}

static void begin(struct written_recording *written)
{
	assert_int_equal(
		ncs_recording_writer_open(&written->writer, written->path,
					  &written->settings, written->why,
					  sizeof(written->why)),
		0);
}

static void end(struct written_recording *written, struct recorded_file *file)
{
	assert_int_equal(ncs_recording_writer_close(written->writer, NULL), 0);
	recorded_file_read(file, written->path);
}

/* Adds a rank of whose segment only the header has a meaning. */
static size_t add_rank(struct written_recording *written,
		       uint64_t segment_bytes)
{
	struct ncs_header header = *written->fixture->header;
	size_t rank;

	header.segment_bytes = segment_bytes;
	assert_int_equal(ncs_recording_writer_add_rank(written->writer, &header,
						       NCS_NO_OWNER,
						       "/dev/shm/a", &rank),
			 0);
	return rank;
}

static void change(struct written_recording *written, size_t rank,
		   size_t offset, const void *bytes, size_t count)
{
	struct ncs_recording_piece piece = { written->writer, rank };
	char *image = ncs_recording_writer_image(written->writer, rank);

	memcpy(image + offset, bytes, count);
	ncs_recording_writer_piece(&piece, offset, count);
}

static void write_state(struct written_recording *written, size_t rank,
			uint64_t ns)
{
	assert_int_equal(ncs_recording_writer_state(written->writer, rank, ns,
						    0, false),
			 0);
}

static struct ncs_record made_up(uint64_t number)
{
	return (struct ncs_record){
		.start = 1000 + number,
		.duration = 10,
		.value = number,
		.position = (uint32_t)number,
	};
}

static void write_records(struct written_recording *written, size_t rank,
			  uint64_t first, size_t count, uint64_t lost)
{
	struct ncs_record *records = calloc(count + 1, sizeof(*records));

	for (size_t i = 0; i < count; i++)
		records[i] = made_up(first + i);
	assert_int_equal(ncs_recording_writer_records(written->writer, rank, 1,
						      records, count, first,
						      lost, 5000),
			 0);
	free(records);
}

/* --- Files --------------------------------------------------------------- */

UNIT_FIXTURE(setup, teardown)

TEST(empty_recording_is_complete)
{
	struct written_recording *written = *state;
	const struct ncs_file_head *head;
	struct recorded_file file;

	begin(written);
	end(written, &file);
	head = (struct ncs_file_head *)file.chunks[0].payload;
	assert_int_equal(head->version, NCS_FORMAT_VERSION);
	assert_int_equal(head->byte_order, NCS_BYTE_ORDER);
	assert_int_equal(head->abi_version, NCS_ABI_VERSION);
	assert_memory_equal(head->recording, written->settings.head.recording,
			    sizeof(head->recording));
	assert_string_equal(head->boot_id, written->settings.head.boot_id);
	assert_int_equal(file.chunks[1].header.type, NCS_CHUNK_TABLES);
	assert_non_null(strstr(file.chunks[1].payload, "\nfield 8 4 position"));
	assert_non_null(strstr(file.chunks[1].payload, "\nevent 4 proxy_step"));
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_RANK), 0);
	recorded_file_release(&file);
}

TEST(flushed_file_ends_at_a_block)
{
	struct written_recording *written = *state;
	struct recorded_file file;
	size_t rank;

	begin(written);
	rank = add_rank(written, 4096);
	write_records(written, rank, 0, 3, 0);
	assert_int_equal(ncs_recording_writer_flush(written->writer), 0);
	assert_int_equal(ncs_recording_writer_bytes(written->writer) % 4096, 0);
	/* Without new data, nothing is written. */
	assert_int_equal(ncs_recording_writer_flush(written->writer), 0);
	write_records(written, rank, 3, 1, 0);
	end(written, &file);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_PADDING), 1);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_RECORDS), 2);
	recorded_file_release(&file);
}

TEST(opening_failure_gives_the_reason)
{
	struct written_recording *written = *state;
	struct ncs_recording_writer *writer;

	assert_int_equal(
		ncs_recording_writer_open(&writer, written->fixture->directory,
					  &written->settings, written->why,
					  sizeof(written->why)),
		-EISDIR);
	assert_null(writer);
	assert_string_equal(written->why, "Is a directory");
}

/* Every file has the ranks and a key of each; file numbers continue. */
TEST(every_file_is_readable_alone)
{
	struct written_recording *written = *state;
	struct recorded_file files[2];
	struct ncs_state_head head;
	char second[320], segment[8192];
	size_t rank, ended, at = 0;

	snprintf(second, sizeof(second), "%s.1", written->path);
	begin(written);
	ended = add_rank(written, 4096);
	rank = add_rank(written, sizeof(segment));
	change(written, rank, 5000, "first", 6);
	write_state(written, ended, SECOND);
	write_state(written, rank, SECOND);
	write_records(written, rank, 0, 10, 0);
	ncs_recording_writer_end_rank(written->writer, ended);
	assert_int_equal(ncs_recording_writer_rotate(written->writer, second,
						     2 * SECOND, 3 * SECOND,
						     written->why,
						     sizeof(written->why)),
			 0);
	write_records(written, rank, 10, 10, 0);
	change(written, rank, 6000, "second", 7);
	write_state(written, rank, 2 * SECOND);
	assert_int_equal(ncs_recording_writer_totals(written->writer).records,
			 20);
	assert_int_equal(ncs_recording_writer_totals(written->writer).files, 2);
	end(written, &files[0]);
	recorded_file_read(&files[1], second);
	for (int i = 0; i < 2; i++) {
		const struct ncs_file_head *file =
			(struct ncs_file_head *)files[i].chunks[0].payload;
		const struct ncs_end *last = (struct ncs_end *)files[i]
						     .chunks[files[i].count - 1]
						     .payload;

		assert_int_equal(file->number, i);
		assert_memory_equal(file->recording,
				    written->settings.head.recording, 16);
		assert_int_equal(last->records, 10);
		assert_int_equal(last->another, i == 0);
		assert_int_equal(recorded_file_count(&files[i], NCS_CHUNK_RANK),
				 2 - i);
	}
	assert_int_equal(((struct ncs_file_head *)files[1].chunks[0].payload)
				 ->begun_monotonic_ns,
			 2 * SECOND);
	recorded_file_state(&files[1], &at, segment, sizeof(segment), &head);
	assert_true(head.flags & NCS_STATE_KEY);
	assert_string_equal(segment + 5000, "first");
	assert_string_equal(segment + 6000, "second");
	recorded_file_release(&files[0]);
	recorded_file_release(&files[1]);
}

TEST(rank_chunk_holds_header_and_path)
{
	struct written_recording *written = *state;
	const struct recorded_chunk *chunk;
	const struct ncs_rank_head *head;
	struct recorded_file file;
	size_t at = 0;

	begin(written);
	write_records(written, add_rank(written, 4096), 0, 1, 0);
	end(written, &file);
	chunk = recorded_file_next(&file, NCS_CHUNK_RANK, &at);
	head = (const struct ncs_rank_head *)chunk->payload;
	assert_int_equal(chunk->header.rank, 0);
	assert_int_equal(head->header_bytes, sizeof(struct ncs_header));
	assert_int_equal(head->path_bytes, strlen("/dev/shm/a"));
	assert_int_equal(chunk->header.unpacked_bytes,
			 sizeof(*head) + head->header_bytes + head->path_bytes);
	assert_memory_equal(chunk->payload + sizeof(*head) + head->header_bytes,
			    "/dev/shm/a", head->path_bytes);
	recorded_file_release(&file);
}

TEST(rank_has_the_number_of_its_chunk_in_the_file)
{
	struct written_recording *written = *state;
	const struct recorded_chunk *chunk;
	struct recorded_file file;
	size_t second, at = 0;

	begin(written);
	add_rank(written, 4096);
	second = add_rank(written, 4096);
	write_records(written, second, 0, 1, 0);
	end(written, &file);
	chunk = recorded_file_next(&file, NCS_CHUNK_RANK, &at);
	assert_int_equal(chunk->header.rank, 0);
	recorded_file_release(&file);
}

/* --- States -------------------------------------------------------------- */

/* Makes random changes, including changes back to zeros and to the lines of the
 * key. */
TEST(every_state_equals_its_image)
{
	enum { BYTES = 100 * 4096 + 8, STATES = 60 };
	struct written_recording *written = *state;
	struct ncs_state_head head;
	struct recorded_file file;
	char *images[STATES], *segment = malloc(BYTES);
	size_t rank, at = 0, keys = 0;

	srand(7);
	begin(written);
	rank = add_rank(written, BYTES);
	for (size_t i = 0; i < STATES; i++) {
		for (int k = 0; k < (i == 0 ? 100 : 20); k++) {
			uint64_t word = (uint64_t)(rand() % 3);
			size_t offset = (size_t)rand() % (BYTES / 8) * 8;

			change(written, rank, offset, &word, 8);
		}
		images[i] = malloc(BYTES);
		memcpy(images[i],
		       ncs_recording_writer_image(written->writer, rank),
		       BYTES);
		write_state(written, rank, (i + 1) * SECOND);
	}
	end(written, &file);
	for (size_t i = 0; i < STATES; i++) {
		recorded_file_state(&file, &at, segment, BYTES, &head);
		assert_int_equal(head.taken_ns, (i + 1) * SECOND);
		assert_true(head.taken_ns - head.key_taken_ns <
			    NCS_RECORDING_KEY_EVERY_NS);
		assert_memory_equal(segment, images[i], BYTES);
		keys += (head.flags & NCS_STATE_KEY) != 0;
		free(images[i]);
	}
	/* Some keys were due; others were written because much had changed. */
	assert_in_range(keys, STATES / 10, STATES / 2);
	recorded_file_release(&file);
	free(segment);
}

TEST(unchanged_lines_are_not_written_again)
{
	struct written_recording *written = *state;
	struct ncs_state_head head;
	struct recorded_file file;
	char segment[8192];
	size_t rank, at = 0;
	uint64_t before;

	memset(segment, 'x', sizeof(segment));
	begin(written);
	rank = add_rank(written, sizeof(segment));
	change(written, rank, 0, segment, sizeof(segment));
	write_state(written, rank, SECOND);
	before = ncs_recording_writer_bytes(written->writer);
	write_state(written, rank, SECOND + 1);
	assert_int_equal(ncs_recording_writer_bytes(written->writer) - before,
			 128);
	change(written, rank, 100, "y", 1);
	write_state(written, rank, SECOND + 2);
	assert_int_equal(ncs_recording_writer_bytes(written->writer) - before,
			 128 + 64 * 4);
	end(written, &file);
	recorded_file_state(&file, &at, segment, sizeof(segment), &head);
	recorded_file_state(&file, &at, segment, sizeof(segment), &head);
	assert_int_equal(head.runs, 0);
	recorded_file_state(&file, &at, segment, sizeof(segment), &head);
	assert_int_equal(head.runs, 1);
	assert_int_equal(segment[100], 'y');
	recorded_file_release(&file);
}

/* Returns the flags of the latest state in memory. */
static uint32_t latest_flags(const struct ncs_sink_memory *memory)
{
	struct ncs_state_head head = { 0 };
	struct ncs_chunk chunk;

	for (size_t at = 0; at < memory->size;
	     at += ncs_chunk_file_bytes(&chunk)) {
		memcpy(&chunk, memory->bytes + at, sizeof(chunk));
		if (chunk.type == NCS_CHUNK_STATE)
			memcpy(&head, memory->bytes + at + sizeof(chunk),
			       sizeof(head));
	}
	return head.flags;
}

/* Any look but those that stand alone may then be dropped. */
TEST(without_compression_a_stream_has_no_keys_between)
{
	struct written_recording *written = *state;
	char segment[8192];

	for (unsigned is_stream = 0; is_stream < 2; is_stream++) {
		struct ncs_sink_memory memory = { 0 };
		size_t rank;

		written->settings.is_stream = is_stream;
		assert_int_equal(ncs_recording_writer_open_memory(
					 &written->writer, &memory,
					 &written->settings),
				 0);
		rank = add_rank(written, sizeof(segment));
		for (unsigned i = 0; i < 2; i++) {
			memset(segment, 'x' + (int)i, sizeof(segment));
			change(written, rank, 0, segment, sizeof(segment));
			write_state(written, rank, SECOND + i);
			ncs_recording_writer_flush(written->writer);
			assert_true((latest_flags(&memory) & NCS_STATE_KEY) ?
					    i == 0 || !is_stream :
					    i == 1 && is_stream);
		}
		assert_int_equal(
			ncs_recording_writer_close(written->writer, NULL), 0);
		free(memory.bytes);
	}
}

/* A state of several MiB with gaps. */
TEST(large_state_takes_several_parts)
{
	enum { BYTES = 5 << 20 };
	struct written_recording *written = *state;
	struct ncs_state_head head;
	struct recorded_file file;
	char *segment = malloc(BYTES);
	uint64_t *image;
	size_t rank, at = 0;

	begin(written);
	rank = add_rank(written, BYTES);
	image = ncs_recording_writer_image(written->writer, rank);
	for (size_t i = 0; i < BYTES / 8; i++)
		image[i] = i % 1000 < 500 ? i : 0;
	ncs_recording_writer_piece(
		&(struct ncs_recording_piece){ written->writer, rank }, 0,
		BYTES);
	write_state(written, rank, SECOND);
	image = malloc(BYTES);
	memcpy(image, ncs_recording_writer_image(written->writer, rank), BYTES);
	end(written, &file);
	assert_true(recorded_file_count(&file, NCS_CHUNK_STATE) > 2);
	recorded_file_state(&file, &at, segment, BYTES, &head);
	assert_memory_equal(segment, image, BYTES);
	recorded_file_release(&file);
	free(image);
	free(segment);
}

TEST(image_of_a_live_segment_is_recorded_whole)
{
	struct written_recording *written = *state;
	struct segment_fixture *fixture = written->fixture;
	struct ncs_header *header = fixture->header;
	struct ncs_lane *lane = segment_fixture_lane(fixture, 1);
	struct ncs_recording_piece piece = { .rank = 0 };
	char *segment = malloc(header->segment_bytes);
	struct ncs_state_head head;
	struct recorded_file file;
	struct ncs_reader *reader;
	size_t at = 0;

	lane->functions[2].calls = 9;
	begin(written);
	assert_int_equal(ncs_reader_open(fixture->writer.path, &reader, NULL,
					 0),
			 NCS_ATTACHED);
	assert_int_equal(ncs_recording_writer_add_rank(
				 written->writer, ncs_reader_header(reader),
				 NCS_NO_OWNER, ncs_reader_path(reader),
				 &piece.rank),
			 0);
	piece.writer = written->writer;
	for (int i = 0; i < 2; i++) {
		assert_true(ncs_image_take(
			reader,
			ncs_recording_writer_image(written->writer, piece.rank),
			ncs_recording_writer_piece, &piece));
		write_state(written, piece.rank, SECOND + (uint64_t)i);
		lane->functions[2].calls++;
	}
	end(written, &file);
	for (uint64_t i = 0; i < 2; i++) {
		recorded_file_state(&file, &at, segment, header->segment_bytes,
				    &head);
		lane = (struct ncs_lane *)(segment + header->lanes.offset +
					   header->lanes.stride);
		assert_int_equal(lane->functions[2].calls, 9 + i);
	}
	ncs_reader_close(reader);
	recorded_file_release(&file);
	free(segment);
}

/* --- Records ------------------------------------------------------------- */

/* Expects the next `count` records from *at on to begin with `first`, with
 * `lost` records before them. */
static void assert_records(const struct recorded_file *file, size_t *at,
			   uint64_t first, size_t count, uint64_t lost)
{
	while (count > 0 || lost > 0) {
		const struct recorded_chunk *chunk =
			recorded_file_next(file, NCS_CHUNK_RECORDS, at);
		const struct ncs_records_head *head;
		const struct ncs_record *records;

		assert_non_null(chunk);
		head = (const struct ncs_records_head *)chunk->payload;
		records = (const struct ncs_record *)(head + 1);
		assert_int_equal(chunk->header.unpacked_bytes,
				 64 + head->count * 64);
		assert_int_equal(head->lane, 1);
		assert_int_equal(head->record_bytes, 64);
		assert_int_equal(head->first, first);
		assert_int_equal(head->lost, lost);
		assert_true(head->count <= count);
		for (size_t i = 0; i < head->count; i++)
			assert_int_equal(records[i].value, first + i);
		first += head->count;
		count -= head->count;
		lost = 0;
	}
}

TEST(every_record_is_written_or_counted_lost)
{
	struct written_recording *written = *state;
	const struct ncs_end *last;
	struct recorded_file file;
	size_t rank, at = 0;

	begin(written);
	rank = add_rank(written, 4096);
	write_records(written, rank, 0, 50000, 0);
	write_records(written, rank, 50007, 3, 7);
	write_records(written, rank, 50012, 0, 2);
	end(written, &file);
	assert_records(&file, &at, 0, 50000, 0);
	assert_records(&file, &at, 50007, 3, 7);
	assert_records(&file, &at, 50012, 0, 2);
	last = (const struct ncs_end *)file.chunks[file.count - 1].payload;
	assert_int_equal(last->records, 50003);
	assert_int_equal(last->lost, 9);
	recorded_file_release(&file);
}

TEST(chunk_header_covers_the_time_of_its_records)
{
	struct written_recording *written = *state;
	const struct recorded_chunk *chunk;
	struct recorded_file file;
	size_t at = 0;

	begin(written);
	write_records(written, add_rank(written, 4096), 4, 3, 0);
	end(written, &file);
	chunk = recorded_file_next(&file, NCS_CHUNK_RECORDS, &at);
	assert_int_equal(chunk->header.from_ns, 1004);
	assert_int_equal(chunk->header.until_ns, 1006 + 10);
	recorded_file_release(&file);
}

/* Rings of 8 records, of which 7 can be read. */
TEST(drain_records_new_and_lost_records_of_a_ring)
{
	struct written_recording *written = *state;
	struct segment_fixture *fixture = written->fixture;
	struct ncs_reader *reader;
	struct recorded_file file;
	size_t rank, count, at = 0;

	begin(written);
	assert_int_equal(ncs_reader_open(fixture->writer.path, &reader, NULL,
					 0),
			 NCS_ATTACHED);
	rank = add_rank(written, 4096);
	segment_fixture_put(fixture, 1, 5);
	ncs_recording_writer_drain(written->writer, rank, reader, 1, SECOND,
				   &count);
	assert_int_equal(count, 5);
	ncs_recording_writer_drain(written->writer, rank, reader, 1, SECOND,
				   &count);
	assert_int_equal(count, 0);
	segment_fixture_put(fixture, 1, 10);
	ncs_recording_writer_drain(written->writer, rank, reader, 1, SECOND,
				   &count);
	assert_int_equal(count, 7);
	end(written, &file);
	assert_records(&file, &at, 0, 5, 0);
	assert_records(&file, &at, 8, 7, 3);
	ncs_reader_close(reader);
	recorded_file_release(&file);
}

static struct ncs_reader *begin_packed(struct written_recording *written,
				       size_t *rank)
{
	struct ncs_reader *reader;

	written->settings.is_packed = true;
	written->settings.pack_level = -1;
	begin(written);
	assert_int_equal(ncs_reader_open(written->fixture->writer.path, &reader,
					 NULL, 0),
			 NCS_ATTACHED);
	*rank = add_rank(written, 4096);
	return reader;
}

static void put_and_drain(struct written_recording *written, size_t rank,
			  struct ncs_reader *reader, size_t records)
{
	size_t count;

	segment_fixture_put(written->fixture, 1, records);
	assert_int_equal(ncs_recording_writer_drain(written->writer, rank,
						    reader, 1, SECOND, &count),
			 0);
	assert_int_equal(count, records < 7 ? records : 7);
}

/* Rings of 8 records, of which 7 can be read. */
TEST(packed_records_of_several_readings_are_one_chunk_before_the_next_state)
{
	struct written_recording *written = *state;
	size_t at = 0, state_at = 0, rank;
	struct ncs_reader *reader = begin_packed(written, &rank);
	struct recorded_file file;

	put_and_drain(written, rank, reader, 3);
	put_and_drain(written, rank, reader, 2);
	write_state(written, rank, SECOND);
	put_and_drain(written, rank, reader, 2);
	put_and_drain(written, rank, reader, 10);
	put_and_drain(written, rank, reader, 1);
	assert_int_equal(ncs_recording_writer_flush(written->writer), 0);
	put_and_drain(written, rank, reader, 4);
	end(written, &file);
	assert_records(&file, &at, 0, 5, 0);
	recorded_file_next(&file, NCS_CHUNK_STATE, &state_at);
	assert_int_equal(state_at, at + 1);
	assert_records(&file, &at, 5, 2, 0);
	assert_records(&file, &at, 10, 8, 3);
	assert_records(&file, &at, 18, 4, 0);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_RECORDS), 4);
	ncs_reader_close(reader);
	recorded_file_release(&file);
}

TEST(packed_records_that_fill_a_chunk_are_written)
{
	struct written_recording *written = *state;
	size_t at = 0, rank;
	struct ncs_reader *reader = begin_packed(written, &rank);
	struct recorded_file file;

	for (size_t i = 0; i < 1000; i++)
		put_and_drain(written, rank, reader, 5);
	ncs_recording_writer_end_rank(written->writer, rank);
	end(written, &file);
	assert_records(&file, &at, 0, 5000, 0);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_RECORDS), 3);
	ncs_reader_close(reader);
	recorded_file_release(&file);
}

TEST(packed_records_of_a_file_are_written_before_the_next_file)
{
	struct written_recording *written = *state;
	struct recorded_file files[2];
	char second[320];
	size_t at = 0, next_at = 0, rank;
	struct ncs_reader *reader = begin_packed(written, &rank);

	snprintf(second, sizeof(second), "%s.1", written->path);
	put_and_drain(written, rank, reader, 3);
	assert_int_equal(ncs_recording_writer_rotate(written->writer, second,
						     2 * SECOND, 3 * SECOND,
						     written->why,
						     sizeof(written->why)),
			 0);
	put_and_drain(written, rank, reader, 2);
	put_and_drain(written, rank, reader, 4);
	end(written, &files[0]);
	recorded_file_read(&files[1], second);
	assert_records(&files[0], &at, 0, 3, 0);
	assert_records(&files[1], &next_at, 3, 6, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(recorded_file_count(&files[i], NCS_CHUNK_RANK),
				 1);
		assert_int_equal(
			recorded_file_count(&files[i], NCS_CHUNK_RECORDS), 1);
		recorded_file_release(&files[i]);
	}
	ncs_reader_close(reader);
}

/* --- Other chunks -------------------------------------------------------- */

TEST(packed_chunks_unpack_to_the_same)
{
	struct written_recording *written = *state;
	struct recorded_file file;
	size_t rank, at = 0;
	uint64_t plain;

	begin(written);
	write_records(written, add_rank(written, 4096), 0, 50000, 0);
	end(written, &file);
	plain = file.bytes;
	recorded_file_release(&file);
	written->settings.is_packed = true;
	written->settings.pack_level = 1;
	begin(written);
	rank = add_rank(written, 4096);
	write_records(written, rank, 0, 50000, 0);
	write_state(written, rank, SECOND);
	end(written, &file);
	assert_true(file.bytes < plain / 4);
	assert_false(ncs_chunk_is_packed(&file.chunks[0].header));
	assert_records(&file, &at, 0, 50000, 0);
	recorded_file_release(&file);
}

TEST(chunks_of_several_indexes_are_found)
{
	struct written_recording *written = *state;
	struct ncs_clock_reading reading = { 1, 2, 3, 4, 5, 6, { 0 } };
	struct recorded_file file;
	size_t at = 0;

	begin(written);
	for (int i = 0; i < 3000; i++)
		assert_int_equal(ncs_recording_writer_clock(written->writer,
							    &reading),
				 0);
	end(written, &file);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_CLOCK), 3000);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_INDEX), 3);
	assert_memory_equal(
		recorded_file_next(&file, NCS_CHUNK_CLOCK, &at)->payload,
		&reading, sizeof(reading));
	recorded_file_release(&file);
}

TEST(peaks_are_written_when_they_change)
{
	struct written_recording *written = *state;
	struct ncs_machine_peaks peaks = { .network_mb_s = 50000,
					   .gpu_count = 1 };
	struct recorded_file file;

	begin(written);
	ncs_recording_writer_peaks(written->writer, &peaks, SECOND);
	peaks.gpus[0].clock_mhz = 1290;
	ncs_recording_writer_peaks(written->writer, &peaks, 2 * SECOND);
	ncs_recording_writer_peaks(written->writer, &peaks, 3 * SECOND);
	end(written, &file);
	assert_int_equal(recorded_file_count(&file, NCS_CHUNK_PEAKS), 2);
	recorded_file_release(&file);
}

TEST(peaks_are_written_once_a_file)
{
	struct written_recording *written = *state;
	struct ncs_machine_peaks peaks = { .network_mb_s = 50000,
					   .gpu_count = 1 };
	const struct ncs_machine_peaks unknown = { 0 };
	struct recorded_file files[2];
	char second[320];

	snprintf(second, sizeof(second), "%s.1", written->path);
	begin(written);
	for (int i = 0; i < 3; i++) {
		ncs_recording_writer_peaks(written->writer, &unknown, SECOND);
		ncs_recording_writer_peaks(written->writer, &peaks, SECOND);
	}
	ncs_recording_writer_rotate(written->writer, second, 2 * SECOND,
				    3 * SECOND, written->why,
				    sizeof(written->why));
	ncs_recording_writer_peaks(written->writer, &unknown, 2 * SECOND);
	ncs_recording_writer_peaks(written->writer, &peaks, 2 * SECOND);
	end(written, &files[0]);
	recorded_file_read(&files[1], second);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(recorded_file_count(&files[i],
						     NCS_CHUNK_PEAKS),
				 1);
		recorded_file_release(&files[i]);
	}
	remove(second);
}
