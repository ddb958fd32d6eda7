/* SPDX-License-Identifier: MIT */
/* Tests of states that are kept as they came, and put together in an image
 * (record/read/state_image.h). */
#include <errno.h>
#include <string.h>

#include "analysis/base/move_clock.h"
#include "ncclstat/abi_header.h"
#include "record/read/state_image.h"
#include "shm/hash.h"
#include "test/unit/support/unit.h"

#define LINES 5000u
#define BYTES (LINES * NCS_STATE_LINE_BYTES)
#define RUNS 40u
#define RUN_BYTES (RUNS * sizeof(struct ncs_run))

static struct ncs_state_image image;
static struct ncs_kept_state kept;
static const struct ncs_header header = { .segment_bytes = BYTES };
static char expected[BYTES];

/* Adds a part with runs of some lines, with a part of them zeros. */
static void add(struct ncs_state_parts *parts, uint64_t seed)
{
	static struct {
		struct ncs_state_head head;
		struct ncs_run runs[RUNS];
		char lines[BYTES];
	} payload;
	struct ncs_state_part part;
	size_t count = 0;

	static_assert(RUN_BYTES % NCS_STATE_LINE_BYTES == 0, "no padding");
	payload.head =
		(struct ncs_state_head){ .segment_bytes = BYTES, .runs = RUNS };
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t chosen = ncs_hash(seed + i);
		struct ncs_run *run = &payload.runs[i];

		*run = (struct ncs_run){ .line = (uint32_t)(chosen % 4900),
					 .lines = 1 + chosen / 5000 % 80 };
		for (uint32_t k = 0; k < run->lines; k++, count++) {
			int word = (int)(ncs_hash(chosen + k) % 3);

			memset(payload.lines + count * NCS_STATE_LINE_BYTES,
			       word, NCS_STATE_LINE_BYTES);
			memset(expected +
				       (run->line + k) * NCS_STATE_LINE_BYTES,
			       word, NCS_STATE_LINE_BYTES);
		}
	}
	assert_true(count <= LINES);
	assert_true(ncs_state_part_read((char *)&payload, sizeof(payload),
					BYTES, &part));
	assert_int_equal(ncs_state_parts_add(parts, &part, (char *)&payload,
					     sizeof(payload)),
			 0);
}

/* Puts the state together, which is not that of a segment; its header is left out
 * here, as its clock is moved. */
static void expect_alike(void)
{
	const struct ncs_clock_move none = { .offset_ns = 0 };
	struct ncs_reader *reader = NULL;

	assert_int_equal(ncs_state_image_open(&image, &kept, &header, &none, "",
					      &reader),
			 -EBADMSG);
	assert_memory_equal(image.bytes + sizeof(header),
			    expected + sizeof(header), BYTES - sizeof(header));
}

static int setup(void **state)
{
	(void)state;
	memset(expected, 0, BYTES);
	add(&kept.key, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ncs_kept_state_release(&kept);
	ncs_state_image_release(&image);
	return 0;
}

UNIT_FIXTURE(setup, teardown)

TEST(test_a_later_state_is_laid_over_its_key)
{
	add(&kept.change, 2);
	add(&kept.change, 3);
	expect_alike();
}

TEST(test_nothing_stays_of_a_state_that_is_taken_out)
{
	add(&kept.change, 2);
	expect_alike();
	ncs_state_image_clear(&image);
	memset(expected, 0, BYTES);
	assert_memory_equal(image.bytes, expected, BYTES);
	ncs_state_parts_forget(&kept.key);
	ncs_state_parts_forget(&kept.change);
	add(&kept.key, 4);
	expect_alike();
}

TEST(test_a_state_takes_no_more_memory_than_it_says)
{
	add(&kept.change, 2);
	assert_true(kept.key.pages >= 40 && kept.key.pages <= 40 * 3);
	assert_true(ncs_kept_state_image_bytes(&kept) >=
		    kept.change.pages * 4096);
	assert_true(ncs_kept_state_model_bytes(&kept) >
		    ncs_kept_state_image_bytes(&kept));
}

TEST(test_a_segment_of_no_sensible_size_has_no_image)
{
	struct ncs_header strange = { .segment_bytes = UINT64_MAX };
	const struct ncs_clock_move none = { .offset_ns = 0 };
	struct ncs_reader *reader = NULL;

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(ncs_state_image_open(&image, &kept, &strange,
						      &none, "", &reader),
				 -EBADMSG);
		assert_null(image.bytes);
		strange.segment_bytes = UINT64_C(1) << 40;
	}
}
