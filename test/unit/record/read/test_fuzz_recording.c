/* SPDX-License-Identifier: MIT */
/* Reads a few thousand damaged recordings, the same ones in every run. Mainly
 * for the build with sanitizers. See test/fuzz/recording_input.h.
 *
 *   test_fuzz_recording FILE   writes the valid recording that is damaged
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/recording_input.h"
#include "test/unit/support/recording_fixture.h"
#include "test/unit/support/unit.h"

#define ROUNDS 2000
#define SIZE_MAX_BYTES 1048576

static uint8_t valid[SIZE_MAX_BYTES], damaged[SIZE_MAX_BYTES];
static size_t valid_bytes;

/* Makes a recording of two ranks with changes, in compressed chunks. */
static int make_valid(void **state)
{
	struct recording_fixture *fixture;
	size_t rank[2];
	char *bytes;

	if (recording_fixture_setup(state) != 0)
		return -1;
	fixture = *state;
	fixture->settings.is_packed = true;
	fixture->settings.pack_level = 1;
	recording_fixture_begin(fixture, "recording");
	rank[0] = recording_fixture_add_rank(fixture, "ncclstat.7.1.0");
	rank[1] = recording_fixture_add_rank(fixture, "ncclstat.8.1.0");
	for (unsigned refresh = 0; refresh < 4; refresh++) {
		uint64_t after_ns = refresh * RECORDING_INTERVAL_NS;

		for (unsigned i = 0; i < 2; i++) {
			fixture->segment->header->proxy.count[0] += refresh;
			recording_fixture_state(fixture, rank[i], after_ns, 0);
			recording_fixture_records(fixture, rank[i], i,
						  9 * refresh, 8, refresh > 0,
						  after_ns);
		}
	}
	recording_fixture_end(fixture);
	bytes = recording_fixture_read(fixture->path, &valid_bytes);
	if (valid_bytes > sizeof(valid))
		return -1;
	memcpy(valid, bytes, valid_bytes);
	free(bytes);
	return 0;
}

static uint64_t a_number(void)
{
	switch (random() % 4) {
	case 0:
		return (uint64_t)random() % 32;
	case 1:
		return 0 - (uint64_t)random() % 32;
	case 2:
		return UINT64_C(1) << random() % 64;
	default:
		return (uint64_t)random() << 33 ^ (uint64_t)random();
	}
}

/* Returns an offset, mostly in the first words of a chunk or of its payload. */
static size_t a_place(void)
{
	size_t place = (size_t)random() % valid_bytes;

	if (random() % 4 == 0)
		return place;
	while (place > 0 && (place % NCS_CHUNK_ALIGNMENT != 0 ||
			     memcmp(valid + place, "NCSchunk", 8) != 0))
		place--;
	return place + (size_t)random() % 160;
}

/* Damages the recording. Returns its size. */
static size_t damage(void)
{
	size_t size = valid_bytes;

	memcpy(damaged, valid, valid_bytes);
	for (long i = random() % 6; i > 0; i--) {
		size_t place = a_place() & ~(size_t)7;
		uint64_t number = a_number();

		if (place + 8 > valid_bytes)
			continue;
		if (random() % 2)
			damaged[place] ^= (uint8_t)(1 << random() % 8);
		else
			memcpy(damaged + place, &number, random() % 2 ? 4 : 8);
	}
	if (random() % 8 == 0)
		size = (size_t)random() % valid_bytes;
	if (random() % 4 != 0)
		recording_input_seal(damaged, size, (uint32_t)random());
	return size;
}

static void readers_survive_any_damage(void **state)
{
	unsigned opened = 0;

	(void)state;
	srandom(1);
	for (unsigned i = 0; i < ROUNDS; i++)
		opened += recording_input_run(damaged, damage()) == 0;
	print_message("opened %u of %u\n", opened, ROUNDS);
	assert_true(opened > ROUNDS / 2);
}

static int write_valid(const char *path)
{
	void *state = NULL;
	FILE *file = NULL;
	bool good = make_valid(&state) == 0 && (file = fopen(path, "w")) &&
		    fwrite(valid, valid_bytes, 1, file) == 1;

	if (file)
		good = fclose(file) == 0 && good;
	if (state)
		recording_fixture_teardown(&state);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_survive_any_damage),
	};

	if (argc > 1)
		return write_valid(argv[1]);
	return cmocka_run_group_tests(tests, make_valid,
				      recording_fixture_teardown);
}
