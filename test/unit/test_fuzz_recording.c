/* Some thousand damaged recordings, always the same ones, given to the reader;
 * for the sanitizers' build above all. See test/fuzz/recording_input.h.
 *
 *   test_fuzz_recording FILE   writes the recording they are made from
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/recording_input.h"
#include "test/unit/recording_fixture.h"

#define ROUNDS 250
#define S_NS UINT64_C(1000000000)

static char *valid, *damaged;
static size_t valid_bytes;

static void make_valid(struct recording_fixture *fixture)
{
	struct ncs_channel *channel =
		segment_fixture_channel(fixture->segment, 2);
	size_t ranks[2];

	fixture->settings.key_every_ns = 2 * S_NS;
	recording_fixture_begin(fixture, "valid");
	ranks[0] = recording_fixture_add_rank(fixture, "a");
	ranks[1] = recording_fixture_add_rank(fixture, "b");
	for (unsigned i = 0; i < 8; i++) {
		struct ncs_clock_reading reading = {
			.before_ns = RECORDING_BEGUN_NS + i,
			.realtime_ns = RECORDING_REALTIME_NS + i,
			.after_ns = RECORDING_BEGUN_NS + i + 9,
		};

		channel->bytes = i;
		recording_fixture_state(fixture, ranks[i % 2], i * S_NS, 0);
		recording_fixture_records(fixture, ranks[i % 2], i % 3, 5 * i,
					  5, i, i * S_NS);
		ncs_record_writer_clock(fixture->writer, &reading);
	}
	recording_fixture_end(fixture);
	valid = recording_fixture_read(fixture->path, &valid_bytes);
	damaged = aligned_alloc(NCS_CHUNK_ALIGNMENT,
				ncs_chunk_round(valid_bytes));
	assert_non_null(damaged);
}

static uint64_t a_number(void)
{
	switch (random() % 5) {
	case 0:
		return (uint64_t)random() % 32;
	case 1:
		return 0 - (uint64_t)random() % 32;
	case 2:
		return UINT64_C(1) << random() % 64;
	case 3:
		return (uint64_t)random() % valid_bytes / 64 * 64;
	default:
		return (uint64_t)random() << 33 ^ (uint64_t)random();
	}
}

/* Mostly the beginning of a chunk, where what it means is said. */
static size_t a_place(void)
{
	size_t wanted = (size_t)random() % valid_bytes, offset = 0;

	if (random() % 4 == 0)
		return wanted;
	for (;;) {
		const struct ncs_chunk *chunk =
			(const struct ncs_chunk *)(valid + offset);
		size_t next = offset + ncs_chunk_file_bytes(chunk);

		if (next > wanted)
			break;
		offset = next;
	}
	return offset + (size_t)random() % (valid_bytes - offset < 256 ?
						    valid_bytes - offset :
						    256);
}

/* Returns the size. */
static size_t damage(void)
{
	unsigned count = 1 + (unsigned)(random() % 5);

	memcpy(damaged, valid, valid_bytes);
	for (unsigned i = 0; i < count; i++) {
		size_t place = a_place() & ~(size_t)7;
		uint64_t number = a_number();

		if (random() % 3 == 0)
			memcpy(damaged + place, &number, 4);
		else
			memcpy(damaged + place, &number, 8);
	}
	return random() % 8 == 0 ? (size_t)random() % valid_bytes : valid_bytes;
}

static void no_damage_harms_the_reader(void **state)
{
	make_valid(*state);
	srandom(1);
	for (unsigned i = 0; i < ROUNDS; i++)
		assert_true(recording_input_run(damaged, damage()));
	free(valid);
	free(damaged);
}

static int write_valid(const char *path)
{
	void *state = NULL;
	FILE *file;
	bool good;

	if (recording_fixture_setup(&state) != 0)
		return 1;
	make_valid(state);
	file = fopen(path, "we");
	good = file && fwrite(valid, valid_bytes, 1, file) == 1;
	if (file)
		good = fclose(file) == 0 && good;
	free(valid);
	free(damaged);
	recording_fixture_teardown(&state);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_damage_harms_the_reader,
						recording_fixture_setup,
						recording_fixture_teardown),
	};

	if (argc == 2)
		return write_valid(argv[1]);
	return cmocka_run_group_tests_name("fuzz recording", tests, NULL, NULL);
}
