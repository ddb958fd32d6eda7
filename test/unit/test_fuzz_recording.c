/* A few thousand damaged recordings, always the same ones, given to whoever
 * reads recordings; for the sanitizers' build above all. See
 * test/fuzz/recording_input.h.
 *
 *   test_fuzz_recording FILE   writes the valid recording they are made from
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/writer.h"
#include "shm/image.h"
#include "test/fuzz/recording_input.h"
#include "test/unit/segment_fixture.h"

#define ROUNDS 2000
#define SIZE_MAX_BYTES 1048576

static uint8_t valid[SIZE_MAX_BYTES], damaged[SIZE_MAX_BYTES];
static size_t valid_bytes;

/* Two ranks of one segment, the second of which changes more; half of the
 * chunks are compressed. */
static int record(struct segment_fixture *fixture, const char *path)
{
	struct ncs_record_settings settings = {
		.means = NCS_SINK_ALL_MEANS,
		.is_packed = true,
		.pack_level = 1,
	};
	struct ncs_record_writer *writer;
	struct ncs_reader *reader;
	size_t rank[2], count;
	char why[128];
	int error;

	ncs_record_head_here(&settings.head);
	if (ncs_reader_open(fixture->writer.path, &reader, why, sizeof(why)) !=
	    NCS_ATTACHED)
		return -1;
	if (ncs_record_writer_open(&writer, path, &settings, why,
				   sizeof(why)) != 0)
		return -1;
	error = 0;
	for (size_t i = 0; i < 2; i++)
		error |= ncs_record_writer_add_rank(
			writer, ncs_reader_header(reader),
			i == 0 ? "/dev/shm/ncclstat.7.1" : "ncclstat.8.1",
			&rank[i]);
	for (uint64_t look = 0; look < 4; look++) {
		uint64_t now_ns = SEGMENT_INPUT_NOW + look * 100000000;

		fixture->header->proxy.count[0] += look;
		for (unsigned i = 0; i < 3; i++)
			segment_fixture_put(fixture, i, 3);
		for (size_t i = 0; i < 2; i++) {
			struct ncs_record_piece piece = { writer, rank[i] };

			ncs_image_take(reader,
				       ncs_record_writer_image(writer, rank[i]),
				       ncs_record_writer_piece, &piece);
			error |= ncs_record_writer_state(writer, rank[i],
							 now_ns, 0, false);
		}
		for (size_t lane = 0; lane < 3; lane++)
			error |= ncs_record_writer_drain(writer, rank[lane & 1],
							 reader, lane, now_ns,
							 &count);
	}
	error |= ncs_record_writer_close(writer, NULL);
	ncs_reader_close(reader);
	return error;
}

static int make_valid(void **state)
{
	struct segment_fixture *fixture;
	const char *path;
	FILE *file;
	int error;

	if (segment_fixture_setup(state) != 0)
		return -1;
	fixture = *state;
	segment_fixture_fill(fixture, SEGMENT_INPUT_NOW);
	path = segment_fixture_path(fixture, "recording");
	error = record(fixture, path);
	file = fopen(segment_fixture_path(fixture, "recording"), "r");
	if (error || !file)
		return -1;
	valid_bytes = fread(valid, 1, sizeof(valid), file);
	error = !feof(file) || ferror(file);
	fclose(file);
	return error ? -1 : 0;
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

/* Mostly the first words of a chunk or of what is in it. */
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

/* Returns the size. */
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

static void no_damage_harms_who_reads_a_recording(void **state)
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
		segment_fixture_teardown(&state);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_damage_harms_who_reads_a_recording),
	};

	if (argc > 1)
		return write_valid(argv[1]);
	return cmocka_run_group_tests(tests, make_valid,
				      segment_fixture_teardown);
}
