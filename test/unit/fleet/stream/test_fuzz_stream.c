/* SPDX-License-Identifier: MIT */
/* Reads a thousand damaged streams, the same ones in every run. Mainly for the
 * build with sanitizers. See test/fuzz/stream_input.h.
 *
 *   test_fuzz_stream FILE   writes the valid stream that is damaged
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/stream/look_pack.h"
#include "test/fuzz/stream_input.h"
#include "test/unit/support/stream_fixture.h"
#include "test/unit/support/unit.h"

#define ROUNDS 1000
#define LOOKS 7
#define SIZE_MAX_BYTES 1048576

static uint8_t valid[SIZE_MAX_BYTES], damaged[SIZE_MAX_BYTES];
static size_t valid_bytes;
static uint8_t packed[SIZE_MAX_BYTES];
static size_t packed_bytes;

/* Packs all looks to `packed`. */
static int pack_all(const struct stream_fixture *fixture)
{
	struct ncs_look_packer *packer = ncs_look_packer_new(NULL);
	struct ncs_sink_memory memory = { 0 };
	int error = packer ? 0 : -1;

	for (size_t i = 0; i < fixture->count && !error; i++) {
		error = ncs_look_packer_pack(packer, fixture->looks[i].bytes,
					     fixture->looks[i].size, &memory);
		if (packed_bytes + memory.size > sizeof(packed))
			error = -1;
		if (error)
			break;
		memcpy(packed + packed_bytes, memory.bytes, memory.size);
		packed_bytes += memory.size;
	}
	ncs_look_packer_free(packer);
	free(memory.bytes);
	return error;
}

/* Makes a stream with keys, changes, records and a segment that cannot
 * be read. */
static int make_valid(void **state)
{
	struct stream_fixture *fixture;
	const char *bytes;

	if (stream_fixture_setup(state) != 0)
		return -1;
	fixture = *state;
	stream_fixture_begin(fixture);
	for (unsigned i = 0; i < LOOKS; i++) {
		uint64_t after_ns = i * RECORDING_INTERVAL_NS;

		recording_fixture_records(fixture->recording,
					  fixture->ranks[i % 2], i % 3, 9 * i,
					  8, i > 0, after_ns);
		ncs_recording_writer_unreadable(fixture->recording->writer,
						NCS_ATTACH_CORRUPT, "/a/path",
						"a reason");
		stream_fixture_look(fixture, after_ns, i, i % 3 == 0);
	}
	stream_fixture_end(fixture);
	bytes = stream_fixture_all(fixture, &valid_bytes);
	if (valid_bytes > sizeof(valid))
		return -1;
	memcpy(valid, bytes, valid_bytes);
	return pack_all(fixture);
}

/* Damages a stream: words, pieces that are missing or repeated, its end.
 * Returns its size. */
static size_t damage(const uint8_t *whole, size_t whole_bytes)
{
	size_t size = whole_bytes;

	memcpy(damaged, whole, whole_bytes);
	for (long i = random() % 6; i > 0; i--) {
		size_t place = (size_t)random() % (whole_bytes - 8);

		/* Mostly in the first words of a chunk or of its payload. */
		while (random() % 4 != 0 && place > 160 &&
		       memcmp(whole + place, "NCSchunk", 8) != 0)
			place--;
		place += (size_t)random() % 150;
		if (place + 8 > whole_bytes)
			continue;
		if (random() % 2)
			damaged[place] ^= (uint8_t)(1 << random() % 8);
		else
			damaged[place] = random() % 2 ? 0 : 0xff;
	}
	if (random() % 3 == 0) {
		size_t from = (size_t)random() % size;
		size_t less = (size_t)random() % (size - from);

		if (random() % 2)
			less = less / 64 * 64;
		memmove(damaged + from, damaged + from + less,
			size - from - less);
		size -= less;
	}
	if (random() % 4 != 0)
		stream_input_count(damaged, size);
	if (random() % 4 != 0)
		recording_input_seal(damaged, size, (uint32_t)random());
	return size;
}

static void readers_survive_any_damage(void **state)
{
	uint64_t looks = 0;

	(void)state;
	srandom(1);
	for (unsigned i = 0; i < ROUNDS; i++)
		looks += stream_input_run(damaged,
					  damage(valid, valid_bytes));
	/* Damage is not all there is: some looks are read. */
	assert_true(looks > ROUNDS && looks < LOOKS * ROUNDS);
}

static void readers_survive_damaged_packs(void **state)
{
	uint64_t looks = 0;

	(void)state;
	srandom(2);
	for (unsigned i = 0; i < ROUNDS; i++)
		looks += stream_input_run(damaged,
					  damage(packed, packed_bytes));
	assert_true(looks > ROUNDS && looks < LOOKS * ROUNDS);
}

/* Chunks in a pack are no more to be trusted than the pack. */
static void readers_survive_packs_of_damage(void **state)
{
	struct ncs_look_packer *packer = ncs_look_packer_new(NULL);
	struct ncs_sink_memory memory = { 0 };
	struct stream_fixture *fixture = *state;
	uint64_t looks = 0;

	assert_non_null(packer);
	srandom(3);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct stream_look *look =
			&fixture->looks[random() % (long)fixture->count];
		size_t place = (size_t)random() % look->size & ~(size_t)63;
		char before[64];

		memcpy(before, look->bytes + place, sizeof(before));
		/* The packer follows the lengths of chunks. */
		if (memcmp(before, "NCSchunk", 8) == 0)
			place += 8;
		look->bytes[place] ^= (char)(1 << random() % 8);
		assert_int_equal(ncs_look_packer_pack(packer, look->bytes,
						      look->size, &memory),
				 0);
		looks += stream_input_run((uint8_t *)memory.bytes, memory.size);
		memcpy(look->bytes + place / 64 * 64, before, sizeof(before));
	}
	assert_true(looks > 0 && looks < ROUNDS);
	ncs_look_packer_free(packer);
	free(memory.bytes);
}

static void the_valid_stream_is_read(void **state)
{
	(void)state;
	assert_true(stream_input_run(valid, valid_bytes) == LOOKS);
	assert_true(stream_input_run(packed, packed_bytes) == LOOKS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_valid_stream_is_read),
		cmocka_unit_test(readers_survive_any_damage),
		cmocka_unit_test(readers_survive_damaged_packs),
		cmocka_unit_test(readers_survive_packs_of_damage),
	};
	void *state;
	FILE *file;

	if (argc < 2)
		return cmocka_run_group_tests(tests, make_valid,
					      stream_fixture_teardown);
	if (make_valid(&state) != 0)
		return 1;
	file = fopen(argv[1], "wb");
	if (!file || fwrite(valid, valid_bytes, 1, file) != 1 ||
	    fclose(file) != 0)
		return 1;
	return stream_fixture_teardown(&state);
}
