/* SPDX-License-Identifier: MIT */
/* Tests of images (record/read/state_image.h): keys, and states that are laid
 * over them and undone. */
#include <errno.h>
#include <string.h>

#include "record/read/state_image.h"
#include "shm/hash.h"
#include "test/unit/support/unit.h"

#define LINES 5000u
#define BYTES (LINES * NCS_STATE_LINE_BYTES)

static struct ncs_state_image image;
static char expected[BYTES], key[BYTES];

/* Lays runs of some lines over the image, with a part of them zeros. */
static void lay(uint64_t seed, bool is_key)
{
	static char lines[LINES * NCS_STATE_LINE_BYTES];
	struct ncs_run runs[40];
	struct ncs_state_part part = { .runs = runs, .lines = lines };
	size_t count = 0;

	if (!is_key)
		memcpy(expected, key, BYTES);
	for (unsigned i = 0; i < 40; i++) {
		uint64_t chosen = ncs_hash(seed + i);

		runs[i] = (struct ncs_run){ .line = (uint32_t)(chosen % 4900),
					    .lines = 1 + chosen / 5000 % 80 };
		for (uint32_t k = 0; k < runs[i].lines; k++, count++) {
			int word = (int)(ncs_hash(chosen + k) % 3);

			memset(lines + count * NCS_STATE_LINE_BYTES, word,
			       NCS_STATE_LINE_BYTES);
			memset(expected + (runs[i].line + k) *
						  NCS_STATE_LINE_BYTES,
			       word, NCS_STATE_LINE_BYTES);
		}
	}
	assert_true(count <= LINES);
	part.head.runs = 40;
	assert_int_equal(ncs_state_image_lay(&image, &part, is_key), 0);
	if (is_key)
		memcpy(key, expected, BYTES);
}

static void expect_alike(void)
{
	assert_memory_equal(image.bytes, expected, BYTES);
}

static int setup(void **state)
{
	(void)state;
	memset(expected, 0, BYTES);
	if (ncs_state_image_make(&image, BYTES, NULL) != 0)
		return -1;
	lay(1, true);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ncs_state_image_release(&image);
	return 0;
}

UNIT_FIXTURE(setup, teardown)

TEST(test_a_later_state_is_laid_over_it_and_undone)
{
	lay(2, false);
	expect_alike();
	ncs_state_image_undo(&image);
	memcpy(expected, key, BYTES);
	expect_alike();
}

TEST(test_another_key_replaces_it)
{
	ncs_state_image_clear(&image);
	memset(expected, 0, BYTES);
	expect_alike();
	lay(3, true);
	expect_alike();
}

/* Whatever is done with it, an image has paid for what it takes; and nothing
 * more once it is released. */
TEST(test_a_budget_pays_for_an_image)
{
	struct ncs_budget whole = { .most = 100 * BYTES };
	struct ncs_budget budget = { .whole = &whole, .most = 50 * BYTES };
	uint64_t used;

	ncs_state_image_release(&image);
	assert_int_equal(ncs_state_image_make(&image, BYTES, &budget), 0);
	lay(1, true);
	used = budget.used;
	assert_true(used >= image.pages * 4096 && whole.used == used);
	lay(2, false);
	assert_true(budget.used > used);
	ncs_state_image_release(&image);
	assert_true(budget.used == 0 && whole.used == 0);
}

TEST(test_an_image_beyond_the_budget_is_not_made)
{
	struct ncs_budget whole = { .most = 20000 };
	struct ncs_budget budget = { .whole = &whole, .most = 50 * BYTES };
	static char lines[8192];
	const struct ncs_run run = { .line = 0, .lines = 128 };
	const struct ncs_run far = { .line = 4000, .lines = 128 };
	struct ncs_state_part part = { .head.runs = 1,
				       .runs = &run,
				       .lines = lines };

	ncs_state_image_release(&image);
	assert_int_equal(ncs_state_image_make(&image, UINT64_C(1) << 40,
					      &budget),
			 -E2BIG);
	assert_int_equal(ncs_state_image_make(&image, UINT64_C(1) << 33,
					      &budget),
			 -ENOSPC);
	assert_int_equal(ncs_state_image_make(&image, BYTES, &budget), 0);
	assert_int_equal(ncs_state_image_lay(&image, &part, true), 0);
	part.runs = &far;
	assert_int_equal(ncs_state_image_lay(&image, &part, true), -ENOSPC);
	ncs_state_image_release(&image);
	assert_true(whole.used == 0);
}
