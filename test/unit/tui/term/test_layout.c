/* SPDX-License-Identifier: MIT */
/* The layout for every size there is: what is on the screen is within it, does
 * not overlap, and the table is always there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tui/term/layout.h"

#define WIDTHS 300
#define HEIGHTS 100

static const int boxes[] = { 6, 5, 1 };

static const struct ncs_layout_request requests[] = {
	{ .title = true, .summary = 2, .info = 2 },
	{ .title = true,
	  .summary = 3,
	  .info = 2,
	  .detail = boxes,
	  .detail_count = 3 },
	{ .title = true,
	  .summary = 2,
	  .info = 2,
	  .detail = boxes + 1,
	  .detail_count = 2 },
	{ .title = false,
	  .summary = 0,
	  .info = 2,
	  .detail = boxes,
	  .detail_count = 3 },
	{ .title = false },
	{ .title = true, .summary = 200, .info = 300 },
};
#define REQUESTS (sizeof(requests) / sizeof(*requests))

static void compute(struct ncs_layout *layout, size_t request, int height,
		    int width)
{
	struct ncs_layout_request sized = requests[request];

	sized.height = height;
	sized.width = width;
	ncs_layout_compute(layout, &sized);
}

/* Parts follow one another from top to bottom without a gap, so they are
 * disjoint and within the screen. */
static void check_parts(const struct ncs_layout *layout, int height, int width)
{
	int y = 0;

	for (size_t i = 0; i < NCS_PART_COUNT; i++) {
		const struct ncs_rect *part = &layout->part[i];

		assert_true(part->height >= 0);
		assert_int_equal(part->x, 0);
		assert_int_equal(part->width, width);
		assert_int_equal(part->y, y);
		y += part->height;
	}
	assert_int_equal(y, height);
}

static void parts_fill_every_screen(void **state)
{
	struct ncs_layout layout;

	(void)state;
	for (size_t r = 0; r < REQUESTS; r++) {
		for (int height = NCS_LAYOUT_MIN_HEIGHT; height <= HEIGHTS;
		     height++) {
			for (int width = NCS_LAYOUT_MIN_WIDTH; width <= WIDTHS;
			     width++) {
				compute(&layout, r, height, width);
				assert_false(layout.too_small);
				check_parts(&layout, height, width);
			}
		}
	}
}

static void the_table_is_always_there(void **state)
{
	struct ncs_layout layout;

	(void)state;
	for (size_t r = 0; r < REQUESTS; r++) {
		for (int height = NCS_LAYOUT_MIN_HEIGHT; height <= HEIGHTS;
		     height++) {
			compute(&layout, r, height, 80);
			assert_int_equal(layout.part[NCS_PART_HEADER].height,
					 1);
			assert_true(layout.part[NCS_PART_ROWS].height >=
				    NCS_LAYOUT_MIN_ROWS);
		}
	}
}

static void what_is_too_small_has_no_parts(void **state)
{
	struct ncs_layout layout;

	(void)state;
	for (int height = 1; height <= HEIGHTS; height++) {
		for (int width = 1; width <= WIDTHS; width++) {
			compute(&layout, 0, height, width);
			if (height >= NCS_LAYOUT_MIN_HEIGHT &&
			    width >= NCS_LAYOUT_MIN_WIDTH)
				continue;
			assert_true(layout.too_small);
			for (size_t i = 0; i < NCS_PART_COUNT; i++)
				assert_int_equal(layout.part[i].height, 0);
		}
	}
}

/* The larger of two screens never shows less of anything. */
static void a_line_more_takes_nothing_away(void **state)
{
	struct ncs_layout layout, larger;

	(void)state;
	for (size_t r = 0; r < REQUESTS; r++) {
		for (int height = NCS_LAYOUT_MIN_HEIGHT; height < HEIGHTS;
		     height++) {
			compute(&layout, r, height, 80);
			compute(&larger, r, height + 1, 80);
			for (size_t i = 0; i < NCS_PART_COUNT; i++)
				if (i != NCS_PART_ROWS)
					assert_true(larger.part[i].height >=
						    layout.part[i].height);
		}
	}
}

/* The first height, from above, at which a part is not there. */
static int gone_at(size_t request, enum ncs_screen_part part)
{
	struct ncs_layout layout;

	for (int height = HEIGHTS; height >= NCS_LAYOUT_MIN_HEIGHT; height--) {
		compute(&layout, request, height, 80);
		if (layout.part[part].height == 0)
			return height;
	}
	return 0;
}

static void parts_fall_away_in_order(void **state)
{
	static const enum ncs_screen_part order[] = {
		NCS_PART_INFO, NCS_PART_SUMMARY, NCS_PART_TABS,
		NCS_PART_BAR,  NCS_PART_DETAIL,  NCS_PART_TITLE,
	};

	(void)state;
	for (size_t i = 1; i < sizeof(order) / sizeof(*order); i++)
		assert_true(gone_at(1, order[i - 1]) > gone_at(1, order[i]));
}

static void the_detail_takes_a_smaller_form_first(void **state)
{
	struct ncs_layout layout;
	int previous = 6;

	(void)state;
	for (int height = 30; height >= NCS_LAYOUT_MIN_HEIGHT; height--) {
		int now;

		compute(&layout, 1, height, 80);
		now = layout.part[NCS_PART_DETAIL].height;
		assert_true(now == 6 || now == 5 || now == 1 || now == 0);
		assert_true(now <= previous);
		previous = now;
	}
	assert_int_equal(previous, 0);
}

/* --- In a line ------------------------------------------------------------ */

#define ITEMS 16

static uint32_t random_number(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void random_items(struct ncs_item *items, size_t count, uint32_t *seed)
{
	for (size_t i = 0; i < count; i++)
		items[i] = (struct ncs_item){
			.width = 1 + (int)(random_number(seed) % 20),
			.priority = 1 + random_number(seed) % 9,
		};
}

static int width_of(const struct ncs_item *items, size_t count, int gap)
{
	int width = -gap;

	for (size_t i = 0; i < count; i++)
		if (items[i].kept)
			width += items[i].width + gap;
	return width > 0 ? width : 0;
}

static void items_fit(void **state)
{
	struct ncs_item items[ITEMS];
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t count = random_number(&seed) % (ITEMS + 1);
		int width = (int)(random_number(&seed) % 200) - 10;
		int used;

		random_items(items, count, &seed);
		used = ncs_layout_fit(items, count, width, 1);
		assert_int_equal(used, width_of(items, count, 1));
		assert_true(used <= (width > 0 ? width : 0));
	}
}

static void all_stay_where_there_is_room(void **state)
{
	struct ncs_item items[ITEMS];
	uint32_t seed = 2;

	(void)state;
	random_items(items, ITEMS, &seed);
	assert_true(ncs_layout_fit(items, ITEMS, 1000, 1) < 1000);
	for (size_t i = 0; i < ITEMS; i++)
		assert_true(items[i].kept);
}

static void the_lowest_priority_goes(void **state)
{
	struct ncs_item items[] = { { 5, 9, false },
				    { 5, 3, false },
				    { 5, 7, false } };

	(void)state;
	ncs_layout_fit(items, 3, 11, 1);
	assert_true(items[0].kept && !items[1].kept && items[2].kept);
}

/* One wide column goes rather than three narrow ones. */
static void as_few_as_possible_go(void **state)
{
	struct ncs_item items[] = { { 10, 9, false },
				    { 13, 6, false },
				    { 4, 6, false },
				    { 4, 6, false },
				    { 4, 6, false } };

	(void)state;
	ncs_layout_fit(items, 5, 30, 1);
	assert_true(items[0].kept && !items[1].kept && items[2].kept &&
		    items[3].kept && items[4].kept);
}

static void what_fits_after_all_comes_back(void **state)
{
	struct ncs_item items[] = { { 10, 9, false },
				    { 3, 5, false },
				    { 12, 6, false },
				    { 3, 1, false } };

	(void)state;
	ncs_layout_fit(items, 4, 20, 1);
	assert_true(items[0].kept && items[1].kept && !items[2].kept);
	/* But not what is for wide screens. */
	assert_false(items[3].kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_fill_every_screen),
		cmocka_unit_test(the_table_is_always_there),
		cmocka_unit_test(what_is_too_small_has_no_parts),
		cmocka_unit_test(a_line_more_takes_nothing_away),
		cmocka_unit_test(parts_fall_away_in_order),
		cmocka_unit_test(the_detail_takes_a_smaller_form_first),
		cmocka_unit_test(items_fit),
		cmocka_unit_test(all_stay_where_there_is_room),
		cmocka_unit_test(the_lowest_priority_goes),
		cmocka_unit_test(as_few_as_possible_go),
		cmocka_unit_test(what_fits_after_all_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
