/* SPDX-License-Identifier: MIT */
/* Some thousand damaged segments, the same ones in each run, given to the
 * reader; above all for the build with sanitizers. See
 * test/fuzz/segment_input.h.
 *
 *   test_fuzz_segment FILE   writes the valid segment they are made from
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/segment_input.h"
#include "test/unit/support/segment_fixture.h"
#include "test/unit/support/unit.h"

#define ROUNDS 4000
#define SIZE_MAX_BYTES 131072

static uint8_t valid[SIZE_MAX_BYTES], damaged[SIZE_MAX_BYTES];
static size_t valid_bytes;

static int make_valid(void **state)
{
	struct segment_fixture *fixture;

	if (segment_fixture_setup(state) != 0)
		return -1;
	fixture = *state;
	segment_fixture_fill(fixture, SEGMENT_INPUT_NOW);
	valid_bytes = fixture->writer.mapped_bytes;
	if (valid_bytes > sizeof(valid))
		return -1;
	memcpy(valid, fixture->header, valid_bytes);
	return 0;
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
		return valid_bytes - (uint64_t)random() % 128 * 64;
	default:
		return (uint64_t)random() << 33 ^ (uint64_t)random();
	}
}

/* The offset of a field: mostly in the header's geometry, else anywhere. */
static size_t a_place(void)
{
	switch (random() % 4) {
	case 0:
		return (size_t)random() % valid_bytes;
	case 1:
		return (size_t)random() % sizeof(struct ncs_header);
	default:
		return 16 + (size_t)random() % 112;
	}
}

/* Returns the size. */
static size_t damage(void)
{
	size_t size = valid_bytes;
	unsigned count = (unsigned)(random() % 6);

	memcpy(damaged, valid, valid_bytes);
	for (unsigned i = 0; i < count; i++) {
		size_t place = a_place();
		uint64_t number = a_number();

		switch (random() % 4) {
		case 0:
			damaged[place] ^= (uint8_t)(1 << random() % 8);
			break;
		case 1:
			place &= ~(size_t)3;
			memcpy(damaged + place, &number, 4);
			break;
		case 2:
			place &= ~(size_t)7;
			memcpy(damaged + place, &number, 8);
			break;
		default:
			memset(damaged + place, random() % 2 ? 0 : 0xff,
			       (size_t)random() % (valid_bytes - place));
			break;
		}
	}
	if (random() % 8 == 0)
		size = (size_t)random() % valid_bytes;
	return size;
}

static void reader_survives_random_damage(void **state)
{
	unsigned results[NCS_ATTACH_FAILED + 1] = { 0 };
	struct segment_input input;

	(void)state;
	segment_input_open(&input);
	srandom(1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t size = damage();

		results[segment_input_run(&input, damaged, size)]++;
	}
	segment_input_close(&input);
	print_message("attached %u, not ready %u, other version %u,"
		      " corrupt %u\n",
		      results[NCS_ATTACHED], results[NCS_ATTACH_NOT_READY],
		      results[NCS_ATTACH_OTHER_VERSION],
		      results[NCS_ATTACH_CORRUPT]);
	assert_true(results[NCS_ATTACHED] > ROUNDS / 10);
	assert_true(results[NCS_ATTACH_CORRUPT] > ROUNDS / 10);
	assert_int_equal(results[NCS_ATTACH_ABSENT], 0);
	assert_int_equal(results[NCS_ATTACH_DENIED], 0);
	assert_int_equal(results[NCS_ATTACH_FAILED], 0);
}

/* Changes each byte of the header's geometry, one at a time. */
static void reader_survives_any_changed_byte_of_the_header(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct segment_input input;
	unsigned attached = 0;

	(void)state;
	segment_input_open(&input);
	for (size_t i = 0; i < offsetof(struct ncs_header, clock); i++) {
		for (size_t k = 0; k < sizeof(values); k++) {
			memcpy(damaged, valid, valid_bytes);
			damaged[i] = values[k];
			attached += segment_input_run(&input, damaged,
						      valid_bytes) ==
				    NCS_ATTACHED;
		}
	}
	segment_input_close(&input);
	assert_true(attached > 0);
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
		cmocka_unit_test(reader_survives_random_damage),
		cmocka_unit_test(
			reader_survives_any_changed_byte_of_the_header),
	};

	if (argc == 2)
		return write_valid(argv[1]);
	return cmocka_run_group_tests(tests, make_valid,
				      segment_fixture_teardown);
}
