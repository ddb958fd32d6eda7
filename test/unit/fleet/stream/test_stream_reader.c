/* SPDX-License-Identifier: MIT */
/* Tests of the reader of streams (fleet/stream/stream_reader.h): bytes that
 * are whole, torn, missing, repeated, or anybody's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/stream/stream_internal.h"
#include "fleet/stream/stream_reader.h"
#include "ncclstat/reader.h"
#include "record/format/chunk.h"
#include "record/read/state_image.h"
#include "shm/read/job.h"
#include "test/unit/support/stream_fixture.h"

#define S UINT64_C(1000000000)
#define NOW_NS (1000 * S)

static struct ncs_budget whole;
static struct ncs_stream_reader *reader;
static struct ncs_state_image image;

static int setup(void **state)
{
	whole = (struct ncs_budget){ .most = UINT64_MAX };
	reader = ncs_stream_new(&whole, NULL, NULL);
	return reader ? stream_fixture_setup(state) : -1;
}

static int teardown(void **state)
{
	ncs_stream_free(reader);
	ncs_state_image_release(&image);
	/* All that was taken is given back. */
	assert_true(whole.used == 0);
	return stream_fixture_teardown(state);
}

static const struct ncs_stream_facts *facts(void)
{
	return &reader->facts;
}

static void feed(const struct stream_look *look)
{
	assert_int_equal(ncs_stream_feed(reader, look->bytes, look->size, NOW_NS), 0);
}

/* Returns the count that the look's state of a rank has. */
static uint64_t shown(size_t number)
{
	struct ncs_stream_rank *rank = &reader->ranks[number];
	const struct ncs_clock_move none = { 0 };
	struct ncs_snapshot snapshot;
	struct ncs_header header;
	uint64_t count;

	assert_true(rank->is_there && rank->has_state);
	assert_int_equal(ncs_stream_snapshot(rank, &none, &image, &snapshot,
					     &header),
			 0);
	assert_true(snapshot.taken_ns == rank->taken_ns);
	count = snapshot.proxy.count[0];
	ncs_snapshot_release(&snapshot);
	return count;
}

/* A key, two changes to it, another key, and a change to that. */
static void make_looks(struct stream_fixture *fixture)
{
	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0 * S, 100, true);
	stream_fixture_look(fixture, 1 * S, 101, false);
	stream_fixture_look(fixture, 2 * S, 102, false);
	stream_fixture_look(fixture, 3 * S, 103, true);
	stream_fixture_look(fixture, 4 * S, 104, false);
	stream_fixture_end(fixture);
}

static void test_a_look_is_taken_with_its_last_byte(void **state)
{
	struct stream_fixture *fixture = *state;

	make_looks(fixture);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct stream_look *look = &fixture->looks[i];

		for (size_t k = 0; k < look->size; k++) {
			assert_true(facts()->looks == i);
			ncs_stream_feed(reader, look->bytes + k, 1, NOW_NS);
		}
		assert_true(facts()->looks == i + 1);
		assert_true(shown(0) == 100 + i);
		assert_true(shown(1) == 100 + i);
	}
	assert_true(facts()->looks_lost == 0 && facts()->skipped_bytes == 0);
	assert_string_equal(facts()->head.host, "alpha");
}

static void test_a_torn_change_costs_one_look(void **state)
{
	struct stream_fixture *fixture = *state;
	const struct stream_look *torn;

	make_looks(fixture);
	torn = &fixture->looks[1];
	feed(&fixture->looks[0]);
	ncs_stream_feed(reader, torn->bytes, torn->size / 2, NOW_NS);
	feed(&fixture->looks[2]);
	assert_true(facts()->looks == 2 && facts()->looks_lost == 1);
	assert_true(shown(0) == 102);
	assert_false(reader->ranks[0].is_behind);
}

static void test_without_its_key_a_change_is_not_used(void **state)
{
	struct stream_fixture *fixture = *state;
	struct stream_look *key;

	make_looks(fixture);
	key = &fixture->looks[3];
	feed(&fixture->looks[0]);
	feed(&fixture->looks[1]);
	/* The state of the rank is damaged, wherever it is. */
	for (size_t i = key->size / 4; i < key->size * 3 / 4; i += 64)
		key->bytes[i] ^= 4;
	feed(key);
	feed(&fixture->looks[4]);
	/* The latest look says that the rank is there, not what it is in. */
	assert_true(reader->ranks[0].is_behind);
	assert_true(shown(0) == 101);
	assert_true(facts()->looks_lost == 2);
}

static void test_a_key_look_ends_that(void **state)
{
	struct stream_fixture *fixture = *state;

	make_looks(fixture);
	fixture->looks[0].bytes[fixture->looks[0].size / 2] ^= 4;
	feed(&fixture->looks[0]);
	feed(&fixture->looks[1]);
	assert_true(reader->rank_count == 0);
	feed(&fixture->looks[3]);
	assert_true(shown(0) == 103);
}

/* Lines that are zeros are in no key. */
static void test_what_a_key_lacks_is_zero_again(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_function *function =
		&segment_fixture_lane(fixture->recording->segment, 1)
			 ->functions[2];
	const struct ncs_clock_move none = { 0 };
	struct ncs_stream_rank *rank;
	struct ncs_snapshot snapshot;
	struct ncs_header header;

	assert_int_equal(function->calls, 11);
	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0 * S, 100, true);
	memset(function, 0, sizeof(*function));
	stream_fixture_look(fixture, 1 * S, 101, true);
	stream_fixture_end(fixture);
	for (size_t i = 0; i < 2; i++) {
		feed(&fixture->looks[i]);
		rank = &reader->ranks[0];
		assert_int_equal(ncs_stream_snapshot(rank, &none, &image,
						     &snapshot, &header),
				 0);
		assert_true(snapshot.functions[2].calls == (i == 0 ? 11 : 0));
		ncs_snapshot_release(&snapshot);
	}
}

static void test_a_reader_that_comes_late_joins_at_a_key(void **state)
{
	struct stream_fixture *fixture = *state;
	const struct stream_look *second;

	make_looks(fixture);
	second = &fixture->looks[1];
	ncs_stream_feed(reader, second->bytes + 13, second->size - 13, NOW_NS);
	feed(&fixture->looks[2]);
	assert_true(facts()->looks == 0);
	feed(&fixture->looks[3]);
	feed(&fixture->looks[4]);
	assert_true(facts()->looks == 2 && facts()->looks_lost == 0);
	assert_true(shown(1) == 104);
}

static void test_strange_bytes_between_looks_are_skipped(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t size = 3 * NCS_CHUNK_BYTES_MAX + 7;
	char *noise = malloc(size);

	make_looks(fixture);
	assert_non_null(noise);
	srandom(3);
	for (size_t i = 0; i < size; i++)
		noise[i] = random() % 64 == 0 ? 'N' : (char)random();
	for (size_t i = 0; i + 64 < size; i += 999)
		memcpy(noise + i, "NCSchunk", 8);
	feed(&fixture->looks[0]);
	ncs_stream_feed(reader, noise, size, NOW_NS);
	feed(&fixture->looks[1]);
	free(noise);
	assert_true(facts()->skipped_bytes >= size - 1 &&
		    facts()->skipped_bytes <= size);
	assert_true(facts()->looks == 2 && shown(0) == 101);
}

static void test_repeated_bytes_change_nothing(void **state)
{
	struct stream_fixture *fixture = *state;

	make_looks(fixture);
	feed(&fixture->looks[0]);
	feed(&fixture->looks[1]);
	feed(&fixture->looks[1]);
	feed(&fixture->looks[2]);
	assert_true(facts()->looks_lost == 0 && shown(0) == 102);
}

static void test_dropped_looks_are_not_lost_ones(void **state)
{
	struct stream_fixture *fixture = *state;

	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0, 1, true);
	fixture->number += 5;
	fixture->dropped += 5;
	stream_fixture_look(fixture, 6 * S, 7, true);
	stream_fixture_end(fixture);
	feed(&fixture->looks[0]);
	feed(&fixture->looks[1]);
	assert_true(facts()->look.dropped == 5 && facts()->looks_lost == 0);
	assert_true(shown(0) == 7);
}

static void test_a_rank_without_a_state_is_gone(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_look look = { .number = 1, .taken_ns = RECORDING_BEGUN_NS };

	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0, 1, true);
	recording_fixture_state(fixture->recording, fixture->ranks[1], S,
				NCS_STATE_GONE);
	ncs_recording_writer_look(fixture->recording->writer, &look);
	feed(&fixture->looks[0]);
	ncs_stream_feed(reader, fixture->memory.bytes, fixture->memory.size, NOW_NS);
	assert_false(reader->ranks[0].is_there);
	assert_true(reader->ranks[1].is_there);
	assert_true(reader->ranks[1].flags & NCS_STATE_GONE);
	stream_fixture_end(fixture);
}

static void test_another_agent_begins_anew(void **state)
{
	struct stream_fixture *fixture = *state;

	make_looks(fixture);
	fixture->recording->settings.head.recording[0]++;
	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 9 * S, 55, true);
	stream_fixture_end(fixture);
	feed(&fixture->looks[0]);
	feed(&fixture->looks[1]);
	feed(&fixture->looks[5]);
	assert_true(shown(0) == 55 && facts()->looks_lost == 0);
	/* A change of the agent before. */
	feed(&fixture->looks[2]);
	assert_true(shown(0) == 55);
}

static void test_a_segment_that_cannot_be_read_is_told(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_recording_writer *writer;
	struct ncs_look look = { .denied = 1, .flags = NCS_LOOK_KEY };
	const struct ncs_stream_unreadable *unreadable;

	stream_fixture_begin(fixture);
	writer = fixture->recording->writer;
	ncs_recording_writer_unreadable(writer, NCS_ATTACH_DENIED, "/a/b",
					"it belongs to root");
	ncs_recording_writer_look(writer, &look);
	ncs_stream_feed(reader, fixture->memory.bytes, fixture->memory.size, NOW_NS);
	assert_int_equal(reader->unreadable_count, 1);
	unreadable = &reader->unreadable[0];
	assert_int_equal(unreadable->attach, NCS_ATTACH_DENIED);
	assert_string_equal(unreadable->path, "/a/b");
	assert_string_equal(unreadable->why, "it belongs to root");
	stream_fixture_end(fixture);
}

static void test_another_major_version_is_refused_in_words(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_chunk chunk;
	uint32_t version = (NCS_FORMAT_MAJOR + 1) << 16 | 3;
	char *bytes;

	make_looks(fixture);
	bytes = fixture->looks[0].bytes;
	memcpy(&chunk, bytes, sizeof(chunk));
	memcpy(bytes + sizeof(chunk), &version, sizeof(version));
	ncs_chunk_seal(&chunk, bytes + sizeof(chunk));
	memcpy(bytes, &chunk, sizeof(chunk));
	feed(&fixture->looks[0]);
	assert_non_null(strstr(facts()->refused, "writes format 2.3"));
	feed(&fixture->looks[3]);
	assert_true(facts()->looks == 0);
}

/* --- Limits ---------------------------------------------------------------- */

/* Feeds as many of the largest chunks as a look has at most, and `more`. */
static void feed_chunks(size_t more)
{
	size_t size = NCS_CHUNK_BYTES_MAX;
	char *bytes = calloc(1, size);
	struct ncs_chunk *chunk = (struct ncs_chunk *)(void *)bytes;

	assert_non_null(bytes);
	chunk->type = 77;
	chunk->bytes = chunk->unpacked_bytes = size - sizeof(*chunk);
	ncs_chunk_seal(chunk, bytes + sizeof(*chunk));
	for (size_t i = 0; i < NCS_LOOK_BYTES_MAX / size + more; i++)
		ncs_stream_feed(reader, bytes, size, NOW_NS);
	free(bytes);
}

static void test_a_look_without_end_is_left_out(void **state)
{
	struct stream_fixture *fixture = *state;

	make_looks(fixture);
	feed_chunks(1);
	assert_string_equal(facts()->limited,
			    "a look from it is more than 32 MiB");
	assert_true(whole.used <= 2 * NCS_LOOK_BYTES_MAX);
	/* Its chunks are forgotten by then. */
	feed(&fixture->looks[0]);
	assert_true(facts()->looks == 1 && shown(0) == 100);
	feed(&fixture->looks[3]);
	assert_true(facts()->looks == 2 && shown(0) == 103);
}

/* Its chunks behind the limit are no look of their own. */
static void test_the_rest_of_a_look_over_the_limit_is_left_out(void **state)
{
	struct stream_fixture *fixture = *state;

	make_looks(fixture);
	feed_chunks(2);
	feed(&fixture->looks[0]);
	assert_true(facts()->looks == 0);
	feed(&fixture->looks[3]);
	assert_true(facts()->looks == 1 && shown(0) == 103);
}

/* Makes a look of `count` chunks of zeros, 1 MiB each, which pack well. */
static struct stream_look zero_look(uint64_t number, size_t count)
{
	struct ncs_packer *packer = ncs_packer_create(1);
	size_t size = NCS_PAYLOAD_BYTES_MAX;
	char *zeros = calloc(1, size), *packed = calloc(1, size);
	struct ncs_chunk chunk = { .type = 77, .unpacked_bytes = size };
	struct ncs_chunk end = { .type = NCS_CHUNK_LOOK,
				 .bytes = sizeof(struct ncs_look),
				 .unpacked_bytes = sizeof(struct ncs_look) };
	struct ncs_look look = { .number = number,
				 .chunks = count,
				 .flags = NCS_LOOK_KEY };
	struct stream_look made = { 0 };
	FILE *file = open_memstream(&made.bytes, &made.size);

	assert_true(packer && zeros && packed && file);
	chunk.bytes = ncs_packer_pack(packer, zeros, size, packed, size);
	ncs_chunk_seal(&chunk, packed);
	look.bytes = count * ncs_chunk_file_bytes(&chunk);
	ncs_chunk_seal(&end, &look);
	for (size_t i = 0; i < count; i++) {
		fwrite(&chunk, sizeof(chunk), 1, file);
		fwrite(packed, ncs_chunk_round(chunk.bytes), 1, file);
	}
	fwrite(&end, sizeof(end), 1, file);
	fwrite(&look, sizeof(look), 1, file);
	assert_int_equal(fclose(file), 0);
	ncs_packer_free(packer);
	free(zeros);
	free(packed);
	return made;
}

static void test_what_a_look_unpacks_to_is_limited(void **state)
{
	struct stream_look small = zero_look(0, 63), large = zero_look(1, 65);

	(void)state;
	assert_true(large.size < 100000);
	feed(&small);
	assert_true(facts()->looks == 1 && facts()->limited_times == 0);
	feed(&large);
	assert_true(facts()->looks == 1 && facts()->limited_times == 1);
	assert_string_equal(facts()->limited,
			    "a look from it is more than 64 MiB, unpacked");
	free(small.bytes);
	free(large.bytes);
}

static void test_what_is_unpacked_in_a_second_is_limited(void **state)
{
	struct stream_look look = zero_look(0, 60);

	(void)state;
	feed(&look);
	feed(&look);
	assert_true(facts()->looks == 2 && facts()->limited_times == 0);
	feed(&look);
	assert_true(facts()->looks == 2 && facts()->limited_times == 1);
	assert_string_equal(facts()->limited,
			    "more than 64 MiB a second come from it, unpacked");
	ncs_stream_feed(reader, look.bytes, look.size, NOW_NS + S);
	assert_true(facts()->looks == 3);
	free(look.bytes);
}

static void test_ranks_beyond_the_memory_are_left_out(void **state)
{
	struct stream_fixture *fixture = *state;
	uint64_t used;

	make_looks(fixture);
	feed(&fixture->looks[0]);
	assert_true(facts()->left_out == 0);
	used = whole.used;
	ncs_stream_free(reader);
	ncs_state_image_release(&image);
	assert_true(whole.used == 0);
	reader = ncs_stream_new(&whole, NULL, NULL);
	assert_non_null(reader);
	/* The second one has room for its name only. */
	whole.most = used - 4096;
	feed(&fixture->looks[0]);
	assert_true(facts()->looks == 1 && facts()->left_out == 1);
	assert_true(whole.used <= whole.most);
	assert_non_null(strstr(facts()->limited, "all nodes together"));
	assert_true(shown(0) == 100);
	assert_false(reader->ranks[1].has_state);
	feed(&fixture->looks[1]);
	assert_true(facts()->left_out == 1 && shown(0) == 101);
	/* Once there is room, the next key brings it back. */
	whole.most = UINT64_MAX;
	feed(&fixture->looks[3]);
	assert_true(facts()->left_out == 0 && shown(1) == 103);
}

/* A packed look of many ranks costs an agent little. */
static void test_a_stream_takes_only_its_share(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_look look = { .flags = NCS_LOOK_KEY };
	char path[32];
	size_t rank;

	stream_fixture_begin(fixture);
	for (unsigned i = 0; i < 9000; i++) {
		snprintf(path, sizeof(path), "ncclstat.%u.2.0", i);
		rank = recording_fixture_add_rank(fixture->recording, path);
		recording_fixture_state(fixture->recording, rank, 0, 0);
		ncs_recording_writer_end_rank(fixture->recording->writer, rank);
	}
	ncs_recording_writer_look(fixture->recording->writer, &look);
	assert_int_equal(ncs_stream_feed(reader, fixture->memory.bytes,
					 fixture->memory.size, NOW_NS),
			 0);
	assert_true(whole.used <= NCS_STREAM_BYTES_MAX);
	stream_fixture_end(fixture);
}

/* --- Numbers --------------------------------------------------------------- */

/* Takes a look at a communicator that is there for this look only. */
static void look_at_short_one(struct stream_fixture *fixture, unsigned number)
{
	struct ncs_recording_writer *writer = fixture->recording->writer;
	struct ncs_look look = { .number = number,
				 .flags = number == 0 ? NCS_LOOK_KEY : 0 };
	char path[32];
	size_t rank;

	snprintf(path, sizeof(path), "ncclstat.%u.1.0", number);
	rank = recording_fixture_add_rank(fixture->recording, path);
	recording_fixture_state(fixture->recording, rank, S, 0);
	ncs_recording_writer_look(writer, &look);
	assert_int_equal(ncs_stream_feed(reader, fixture->memory.bytes,
					 fixture->memory.size, NOW_NS),
			 0);
	fixture->memory.size = 0;
	assert_string_equal(reader->ranks[0].path, path);
	assert_true(reader->ranks[0].is_there && reader->ranks[0].has_state);
	recording_fixture_state(fixture->recording, rank, S,
				NCS_STATE_REMOVED);
	ncs_recording_writer_end_rank(writer, rank);
}

static void test_communicators_may_come_and_go_for_ever(void **state)
{
	struct stream_fixture *fixture = *state;

	stream_fixture_begin(fixture);
	for (unsigned i = 0; i < NCS_STREAM_RANKS_MAX + 100; i++)
		look_at_short_one(fixture, i);
	assert_int_equal(reader->rank_count, 1);
	assert_true(facts()->left_out == 0 && facts()->limited_times == 0);
	stream_fixture_end(fixture);
}

static void test_more_ranks_than_numbers_are_told(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_chunk chunk;
	struct ncs_look end;
	char *bytes;

	make_looks(fixture);
	/* The second rank gets a number that is too high, wherever it is. */
	bytes = fixture->looks[0].bytes;
	for (size_t at = 0; at < fixture->looks[0].size;
	     at += ncs_chunk_file_bytes(&chunk)) {
		memcpy(&chunk, bytes + at, sizeof(chunk));
		if (chunk.rank == 1)
			chunk.rank = NCS_STREAM_RANKS_MAX;
		ncs_chunk_seal(&chunk, bytes + at + sizeof(chunk));
		memcpy(bytes + at, &chunk, sizeof(chunk));
	}
	memcpy(&end, bytes + fixture->looks[0].size - sizeof(end), sizeof(end));
	feed(&fixture->looks[0]);
	assert_true(facts()->looks == 1 && facts()->left_out == 1);
	assert_string_equal(facts()->limited, "it has more than 16384 ranks");
	assert_true(shown(0) == 100);
}

/* The name of a segment did not come; its states have the number of another. */
static void test_a_state_is_not_shown_under_another_name(void **state)
{
	struct stream_fixture *fixture = *state;
	struct recording_fixture *recording = fixture->recording;
	struct ncs_header header = *ncs_reader_header(recording->reader);
	struct ncs_look look = { .flags = NCS_LOOK_KEY };
	size_t rank;

	stream_fixture_begin(fixture);
	header.created++;
	assert_int_equal(ncs_recording_writer_add_rank(recording->writer,
						       &header, NCS_NO_OWNER,
						       "ncclstat.9.1.0", &rank),
			 0);
	recording_fixture_state(recording, rank, 0, 0);
	ncs_recording_writer_look(recording->writer, &look);
	ncs_stream_feed(reader, fixture->memory.bytes, fixture->memory.size,
			NOW_NS);
	assert_string_equal(reader->ranks[0].path, "ncclstat.9.1.0");
	assert_true(reader->ranks[0].is_behind);
	assert_false(reader->ranks[0].has_state);
	stream_fixture_end(fixture);
}

/* Names rank 0 with a segment of that size. Returns whether it has its name. */
static bool names(const struct stream_fixture *fixture, uint64_t size)
{
	struct {
		struct ncs_rank_head head;
		struct ncs_header header;
		char path[8];
	} payload = {
		.head = { .header_bytes = sizeof(payload.header),
			  .path_bytes = 4 },
		.header = *ncs_reader_header(fixture->recording->reader),
		.path = "path",
	};

	payload.header.segment_bytes = size;
	assert_int_equal(ncs_stream_take_rank(reader, 0, (const char *)&payload,
					      sizeof(payload)),
			 0);
	return reader->ranks[0].is_named;
}

static void test_a_segment_that_is_too_large_is_not_named(void **state)
{
	struct stream_fixture *fixture = *state;

	stream_fixture_begin(fixture);
	assert_true(names(fixture, NCS_STATE_IMAGE_BYTES_MAX));
	assert_int_equal(reader->ranks[0].header.segment_bytes,
			 NCS_STATE_IMAGE_BYTES_MAX);
	names(fixture, NCS_STATE_IMAGE_BYTES_MAX + 64);
	names(fixture, UINT64_MAX - 8);
	assert_int_equal(reader->ranks[0].header.segment_bytes,
			 NCS_STATE_IMAGE_BYTES_MAX);
	stream_fixture_end(fixture);
}

/* Chunks whose payloads are damaged, and in each of which the next one seems to
 * begin. */
static void test_damaged_chunks_in_each_other_are_skipped(void **state)
{
	struct stream_fixture *fixture = *state;
	size_t size = NCS_CHUNK_BYTES_MAX, at;
	char *bytes = calloc(2, size);
	struct ncs_chunk chunk = { .type = 77 };

	assert_non_null(bytes);
	make_looks(fixture);
	chunk.bytes = chunk.unpacked_bytes = size - sizeof(chunk);
	ncs_chunk_seal_checksum(&chunk, 1);
	for (at = 0; at + sizeof(chunk) + 1 < 2 * size; at += sizeof(chunk) + 1)
		memcpy(bytes + at, &chunk, sizeof(chunk));
	ncs_stream_feed(reader, bytes, 2 * size, NOW_NS);
	free(bytes);
	for (size_t i = 0; i < 5; i++)
		ncs_stream_feed(reader, fixture->looks[0].bytes,
				fixture->looks[0].size, NOW_NS);
	/* The chunk that has no end yet ends in zeros. */
	bytes = calloc(1, size);
	assert_non_null(bytes);
	ncs_stream_feed(reader, bytes, size, NOW_NS);
	free(bytes);
	feed(&fixture->looks[3]);
	assert_true(shown(0) == 103);
}

static void test_records_come_once_and_gaps_are_counted(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_recording_writer *writer;
	struct ncs_record *records =
		calloc(NCS_STREAM_RECORDS_MAX, sizeof(*records));
	struct ncs_look look = { .number = 1, .taken_ns = RECORDING_BEGUN_NS };
	struct ncs_stream_rank *rank;
	uint64_t lost;

	assert_non_null(records);
	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0, 1, true);
	feed(&fixture->looks[0]);
	writer = fixture->recording->writer;
	/* Lane 1, then 0, then 1 again from 2 before to 4 behind a gap. */
	recording_fixture_records(fixture->recording, 0, 1, 10, 5, 0, S);
	recording_fixture_records(fixture->recording, 0, 0, 0, 3, 0, S);
	recording_fixture_records(fixture->recording, 0, 1, 13, 4, 0, S);
	recording_fixture_records(fixture->recording, 0, 1, 20, 1, 3, S);
	for (size_t i = 0; i < 2; i++)
		recording_fixture_state(fixture->recording, i, S, 0);
	ncs_recording_writer_look(writer, &look);
	ncs_stream_feed(reader, fixture->memory.bytes, fixture->memory.size, NOW_NS);
	rank = &reader->ranks[0];
	assert_int_equal(ncs_stream_move_records(rank, records, &lost),
			 3 + 5 + 2 + 1);
	assert_true(lost == 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(records[i].value == i);
	for (size_t i = 0; i < 7; i++)
		assert_true(records[3 + i].value == 10 + i);
	assert_true(records[10].value == 20);
	assert_int_equal(ncs_stream_move_records(rank, records, &lost), 0);
	assert_true(lost == 0);
	free(records);
	stream_fixture_end(fixture);
}

static void test_times_are_moved(void **state)
{
	struct stream_fixture *fixture = *state;
	const struct ncs_clock_move move = { .offset_ns = -5 * (int64_t)S };
	struct ncs_snapshot snapshot;
	struct ncs_header header;
	struct ncs_stream_rank *rank;

	make_looks(fixture);
	feed(&fixture->looks[0]);
	rank = &reader->ranks[0];
	assert_int_equal(ncs_stream_snapshot(rank, &move, &image, &snapshot,
					     &header),
			 0);
	assert_true(snapshot.taken_ns == RECORDING_BEGUN_NS - 5 * S);
	assert_true(snapshot.last_call_ns == RECORDING_BEGUN_NS - 5 * S);
	assert_true(header.clock.base_monotonic_ns ==
		    rank->header.clock.base_monotonic_ns - 5 * S);
	ncs_snapshot_release(&snapshot);
	assert_true(shown(0) == 100);
}

/* Takes the next look, and says whether its state says what the one before
 * did, of which a snapshot is then taken. */
static bool is_same(const struct stream_look *look,
		    struct ncs_state_times *times)
{
	const struct ncs_clock_move move = { .offset_ns = 5 * (int64_t)S };
	struct ncs_stream_rank *rank;
	struct ncs_snapshot snapshot;
	struct ncs_header header;
	bool same;

	feed(look);
	rank = &reader->ranks[0];
	same = ncs_stream_is_same(rank, &move, times, &header);
	assert_int_equal(ncs_stream_snapshot(rank, &move, &image, &snapshot,
					     &header),
			 0);
	assert_true(!same || times->taken_ns == snapshot.taken_ns);
	assert_true(!same || times->alive_ns == snapshot.alive_ns);
	ncs_snapshot_release(&snapshot);
	return same;
}

static void test_the_heartbeat_alone_says_nothing_new(void **state)
{
	struct stream_fixture *fixture = *state;
	struct ncs_header *header = fixture->recording->segment->header;
	struct ncs_state_times times;

	stream_fixture_begin(fixture);
	for (unsigned i = 0; i < 6; i++) {
		header->alive += 1000;
		stream_fixture_look(fixture, i * S, 7, i % 3 == 0);
	}
	stream_fixture_end(fixture);
	assert_false(is_same(&fixture->looks[0], &times));
	for (unsigned i = 1; i < 6; i++)
		assert_true(is_same(&fixture->looks[i], &times));
}

/* In changes and in keys: any other word, and that the process is stopped. */
static void test_any_other_word_says_something_new(void **state)
{
	struct stream_fixture *fixture = *state;
	struct segment_fixture *segment = fixture->recording->segment;
	struct ncs_header *header = segment->header;
	uint64_t *const words[] = {
		&header->alive - 1,
		&header->other_context,
		&header->proxy.time[1],
		(uint64_t *)((char *)header + header->lanes.offset + 16),
	};
	const size_t count = sizeof(words) / sizeof(*words);
	struct ncs_state_times times;

	stream_fixture_begin(fixture);
	stream_fixture_look(fixture, 0, 7, true);
	for (size_t i = 0; i < 2 * count; i++) {
		header->alive += 1000;
		*words[i % count] ^= 1;
		stream_fixture_look(fixture, (i + 1) * S, 7, i >= count);
	}
	stream_fixture_look(fixture, (2 * count + 1) * S, 7, true);
	stream_fixture_end(fixture);
	for (size_t i = 0; i < fixture->count - 1; i++)
		assert_false(is_same(&fixture->looks[i], &times));
	assert_true(is_same(&fixture->looks[fixture->count - 1], &times));
	reader->ranks[0].flags |= NCS_STATE_STOPPED;
	assert_false(ncs_stream_is_same(&reader->ranks[0],
					&reader->ranks[0].reader_move, &times,
					&(struct ncs_header){ 0 }));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_look_is_taken_with_its_last_byte),
		TEST(test_a_torn_change_costs_one_look),
		TEST(test_without_its_key_a_change_is_not_used),
		TEST(test_a_key_look_ends_that),
		TEST(test_what_a_key_lacks_is_zero_again),
		TEST(test_the_heartbeat_alone_says_nothing_new),
		TEST(test_any_other_word_says_something_new),
		TEST(test_a_reader_that_comes_late_joins_at_a_key),
		TEST(test_strange_bytes_between_looks_are_skipped),
		TEST(test_repeated_bytes_change_nothing),
		TEST(test_dropped_looks_are_not_lost_ones),
		TEST(test_a_rank_without_a_state_is_gone),
		TEST(test_another_agent_begins_anew),
		TEST(test_a_segment_that_cannot_be_read_is_told),
		TEST(test_another_major_version_is_refused_in_words),
		TEST(test_a_look_without_end_is_left_out),
		TEST(test_the_rest_of_a_look_over_the_limit_is_left_out),
		TEST(test_what_a_look_unpacks_to_is_limited),
		TEST(test_what_is_unpacked_in_a_second_is_limited),
		TEST(test_ranks_beyond_the_memory_are_left_out),
		TEST(test_a_stream_takes_only_its_share),
		TEST(test_communicators_may_come_and_go_for_ever),
		TEST(test_more_ranks_than_numbers_are_told),
		TEST(test_a_state_is_not_shown_under_another_name),
		TEST(test_a_segment_that_is_too_large_is_not_named),
		TEST(test_damaged_chunks_in_each_other_are_skipped),
		TEST(test_records_come_once_and_gaps_are_counted),
		TEST(test_times_are_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
