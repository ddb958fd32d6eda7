/* SPDX-License-Identifier: MIT */
/* Tests of packs (fleet/stream/look_pack.h): looks come out of them as they
 * went in, or not at all. */
#include <stdlib.h>
#include <string.h>

#include "fleet/stream/look_pack.h"
#include "fleet/stream/stream_reader.h"
#include "record/format/chunk.h"
#include "test/unit/support/stream_fixture.h"
#include "test/unit/support/unit.h"

#define S UINT64_C(1000000000)
#define NOW_NS (1000 * S)

static struct ncs_look_packer *packer;
static struct ncs_sink_memory packed;
/* The bytes of the looks that the reader took. */
static struct ncs_sink_memory kept;
static struct ncs_stream_reader *reader;

static void keep(void *context, const void *bytes, size_t size, size_t end)
{
	(void)context;
	assert_true(end < size);
	assert_int_equal(ncs_sink_memory_append(&kept, bytes, size), 0);
}

static int setup(void **state)
{
	int error = stream_fixture_setup(state);
	struct stream_fixture *fixture = *state;

	if (error)
		return error;
	fixture->recording->settings.is_packed = false;
	packer = ncs_look_packer_new(NULL);
	reader = ncs_stream_new(NULL, keep, NULL);
	return packer && reader ? 0 : -1;
}

static int teardown(void **state)
{
	ncs_look_packer_free(packer);
	ncs_stream_free(reader);
	free(packed.bytes);
	free(kept.bytes);
	memset(&packed, 0, sizeof(packed));
	memset(&kept, 0, sizeof(kept));
	return stream_fixture_teardown(state);
}

/* A key, two changes, another key, a change to that. */
static void make_looks(struct stream_fixture *fixture)
{
	stream_fixture_begin(fixture);
	for (uint64_t i = 0; i < 5; i++)
		stream_fixture_look(fixture, i * S, 100 + i, i % 3 == 0);
	stream_fixture_end(fixture);
}

static void pack(const struct stream_look *look)
{
	assert_int_equal(ncs_look_packer_pack(packer, look->bytes, look->size,
					      &packed),
			 0);
	assert_true(packed.size % NCS_CHUNK_ALIGNMENT == 0);
}

static void feed(void)
{
	assert_int_equal(ncs_stream_feed(reader, packed.bytes, packed.size, NOW_NS), 0);
}

static uint64_t looks(void)
{
	return reader->facts.looks;
}

UNIT_FIXTURE(setup, teardown)

TEST(test_looks_come_out_as_they_went_in)
{
	struct stream_fixture *fixture = *state;

	make_looks(fixture);
	for (size_t i = 0; i < fixture->count; i++) {
		const struct stream_look *look = &fixture->looks[i];

		kept.size = 0;
		pack(look);
		assert_true(packed.size < look->size);
		feed();
		assert_true(looks() == i + 1);
		assert_int_equal(kept.size, look->size);
		assert_memory_equal(kept.bytes, look->bytes, look->size);
	}
	assert_true(reader->facts.looks_lost == 0);
}

/* A whole look, not changes, is packed again: only its times are new. */
TEST(test_what_is_as_in_the_base_costs_little)
{
	struct stream_fixture *fixture = *state;
	struct ncs_look_packer *other = ncs_look_packer_new(NULL);
	struct ncs_sink_memory alone = { 0 };

	assert_non_null(other);
	make_looks(fixture);
	pack(&fixture->looks[0]);
	pack(&fixture->looks[1]);
	assert_int_equal(ncs_look_packer_pack(other, fixture->looks[1].bytes,
					      fixture->looks[1].size, &alone),
			 0);
	assert_true(packed.size < alone.size);
	ncs_look_packer_free(other);
	free(alone.bytes);
}

TEST(test_without_its_base_a_look_is_left_out)
{
	struct stream_fixture *fixture = *state;

	make_looks(fixture);
	pack(&fixture->looks[0]);
	pack(&fixture->looks[1]);
	feed();
	pack(&fixture->looks[2]);
	feed();
	assert_true(looks() == 0);
	pack(&fixture->looks[3]);
	feed();
	pack(&fixture->looks[4]);
	feed();
	assert_true(looks() == 2);
}

/* The base is of this stream, or none. */
TEST(test_the_base_of_another_agent_is_not_used)
{
	struct stream_fixture *fixture = *state;
	struct ncs_look_packer *other = ncs_look_packer_new(NULL);

	assert_non_null(other);
	make_looks(fixture);
	fixture->recording->settings.head.recording[0]++;
	make_looks(fixture);
	pack(&fixture->looks[0]);
	feed();
	assert_int_equal(ncs_look_packer_pack(other, fixture->looks[5].bytes,
					      fixture->looks[5].size, &packed),
			 0);
	assert_int_equal(ncs_look_packer_pack(other, fixture->looks[6].bytes,
					      fixture->looks[6].size, &packed),
			 0);
	feed();
	assert_true(looks() == 1);
	ncs_look_packer_free(other);
}

/* Records make a look of several packs, some of noise. */
TEST(test_large_looks_take_several_packs)
{
	struct stream_fixture *fixture = *state;
	struct recording_fixture *recording = fixture->recording;
	const size_t count = 12000;
	struct ncs_record *noise = calloc(count, sizeof(*noise));
	struct ncs_record *zeros = calloc(count, sizeof(*zeros));

	assert_non_null(noise);
	assert_non_null(zeros);
	srandom(1);
	for (size_t i = 0; i < count * sizeof(*noise); i++)
		((char *)noise)[i] = (char)random();
	stream_fixture_begin(fixture);
	for (uint64_t i = 0; i < 2; i++) {
		for (uint64_t k = 0; k < 4; k++)
			assert_int_equal(ncs_recording_writer_records(
						 recording->writer,
						 fixture->ranks[0], 1,
						 k == 2 ? noise : zeros, count,
						 (4 * i + k) * count, 0,
						 RECORDING_BEGUN_NS),
					 0);
		stream_fixture_look(fixture, i * S, 7, i == 0);
	}
	for (size_t i = 0; i < 2; i++) {
		const struct stream_look *look = &fixture->looks[i];

		assert_true(look->size > 2 * (size_t)NCS_CHUNK_BYTES_MAX);
		kept.size = 0;
		pack(look);
		assert_true(packed.size < look->size / 2);
		feed();
		assert_true(looks() == i + 1);
		assert_int_equal(kept.size, look->size);
		assert_memory_equal(kept.bytes, look->bytes, look->size);
	}
	stream_fixture_end(fixture);
	free(noise);
	free(zeros);
}

/* Appends a chunk with a payload of noise or zeros to a look. */
static void add_chunk(struct ncs_sink_memory *look, uint32_t type,
		      const void *payload, size_t bytes)
{
	struct ncs_chunk chunk = { .type = type,
				   .rank = NCS_NO_RANK,
				   .bytes = bytes,
				   .unpacked_bytes = bytes };
	char *at;

	ncs_chunk_seal(&chunk, payload);
	look->bytes = realloc(look->bytes,
			      look->size + ncs_chunk_file_bytes(&chunk));
	assert_non_null(look->bytes);
	at = look->bytes + look->size;
	memset(at, 0, ncs_chunk_file_bytes(&chunk));
	memcpy(at, &chunk, sizeof(chunk));
	memcpy(at + sizeof(chunk), payload, bytes);
	look->size += ncs_chunk_file_bytes(&chunk);
}

/* Makes a look of `chunks` chunks of one payload. */
static struct ncs_sink_memory large_look(uint64_t number, uint64_t chunks,
					 const char *payload, size_t bytes)
{
	struct ncs_look end = { .number = number,
				.chunks = chunks,
				.flags = number == 0 ? NCS_LOOK_KEY : 0 };
	struct ncs_file_head head = { .byte_order = NCS_BYTE_ORDER,
				      .version = NCS_FORMAT_VERSION };
	struct ncs_sink_memory look = { 0 };

	if (number == 0) {
		add_chunk(&look, NCS_CHUNK_FILE, &head, sizeof(head));
		end.chunks++;
	}
	for (uint64_t i = 0; i < chunks; i++)
		add_chunk(&look, NCS_CHUNK_INDEX, payload, bytes);
	end.bytes = look.size;
	add_chunk(&look, NCS_CHUNK_LOOK, &end, sizeof(end));
	return look;
}

/* A part that cannot be packed is no base of later ones. */
TEST(test_noise_is_no_base)
{
	char *noise = malloc(NCS_PAYLOAD_BYTES_MAX);

	assert_non_null(noise);
	srandom(2);
	for (size_t i = 0; i < NCS_PAYLOAD_BYTES_MAX; i++)
		noise[i] = (char)random();
	for (uint64_t i = 0; i < 2; i++) {
		struct ncs_sink_memory look =
			large_look(i, 2, noise, NCS_PAYLOAD_BYTES_MAX);

		assert_int_equal(ncs_look_packer_pack(packer, look.bytes,
						      look.size, &packed),
				 0);
		feed();
		assert_true(looks() == i + 1);
		free(look.bytes);
	}
	free(noise);
}

/* Makes a look of so many bytes before its end, and feeds it as it is or packed. */
static void feed_look_of(size_t bytes, bool is_packed)
{
	static const char zeros[NCS_PAYLOAD_BYTES_MAX];
	const struct ncs_file_head head = { .byte_order = NCS_BYTE_ORDER,
					    .version = NCS_FORMAT_VERSION };
	struct ncs_look end = { .number = looks(), .flags = NCS_LOOK_KEY };
	struct ncs_sink_memory look = { 0 };

	add_chunk(&look, NCS_CHUNK_FILE, &head, sizeof(head));
	for (end.chunks = 1; look.size < bytes; end.chunks++) {
		size_t left = bytes - look.size - sizeof(struct ncs_chunk);

		add_chunk(&look, NCS_CHUNK_INDEX, zeros,
			  left < sizeof(zeros) ? left : sizeof(zeros));
	}
	assert_int_equal(look.size, bytes);
	end.bytes = look.size;
	add_chunk(&look, NCS_CHUNK_LOOK, &end, sizeof(end));
	pack(&(struct stream_look){ .bytes = look.bytes, .size = look.size });
	if (!is_packed) {
		free(packed.bytes);
		packed = look;
	} else {
		free(look.bytes);
	}
	feed();
}

TEST(test_a_look_has_one_limit_packed_or_not)
{
	for (unsigned i = 0; i < 2; i++) {
		feed_look_of(NCS_LOOK_BYTES_MAX, i);
		assert_true(looks() == i + 1);
		feed_look_of(NCS_LOOK_BYTES_MAX + NCS_CHUNK_ALIGNMENT, i);
		assert_true(looks() == i + 1);
	}
}

TEST(test_looks_that_are_too_large_are_left_out)
{
	char *zeros = calloc(1, NCS_PAYLOAD_BYTES_MAX);
	struct ncs_sink_memory look = large_look(
		0, NCS_LOOK_BYTES_MAX / NCS_CHUNK_BYTES_MAX * 3, zeros,
		NCS_PAYLOAD_BYTES_MAX);

	assert_int_equal(ncs_look_packer_pack(packer, look.bytes, look.size,
					      &packed),
			 0);
	feed();
	assert_true(looks() == 0);
	assert_string_equal(reader->facts.limited,
			    "a look from it is more than 32 MiB");
	free(look.bytes);
	free(zeros);
}
