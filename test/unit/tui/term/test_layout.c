/* SPDX-License-Identifier: MIT */
/* Tests of the layout at every size: parts are within the screen, do not
 * overlap, and always include the table. */
#include <stdio.h>
#include <string.h>

#include "test/unit/support/unit.h"
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
	{ .title = true, .summary = 3, .info = 3, .rows = 8 },
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

/* Checks that parts follow one another from top to bottom without a gap, and
 * thus are disjoint and within the screen. */
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

TEST(parts_fill_every_screen)
{
	struct ncs_layout layout;

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

TEST(table_is_always_shown)
{
	struct ncs_layout layout;

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

/* A graph gets the lines that the rows do not need, and none of theirs. */
TEST(graph_gets_what_rows_leave_free)
{
	struct ncs_layout_request request = { .height = 30, .width = 80 };
	struct ncs_layout layout;

	ncs_layout_compute(&layout, &request);
	assert_int_equal(layout.part[NCS_PART_GRAPH].height, 0);
	for (request.rows = 1; request.rows < 40; request.rows++) {
		const struct ncs_rect *part = layout.part;
		int lines;

		ncs_layout_compute(&layout, &request);
		lines = part[NCS_PART_ROWS].height +
			part[NCS_PART_GRAPH].height;
		if (request.rows + 1 + NCS_LAYOUT_MIN_GRAPH > lines)
			assert_int_equal(part[NCS_PART_GRAPH].height, 0);
		else
			assert_true(part[NCS_PART_GRAPH].height >=
					    NCS_LAYOUT_MIN_GRAPH &&
				    part[NCS_PART_ROWS].height >
					    request.rows);
	}
}

TEST(too_small_screen_has_no_parts)
{
	struct ncs_layout layout;

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

/* The larger of two screens must not show less of any part. */
TEST(larger_screen_never_shows_less)
{
	struct ncs_layout layout, larger;

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

/* Returns the greatest height at which a part is missing. */
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

TEST(parts_are_dropped_in_order)
{
	static const enum ncs_screen_part order[] = {
		NCS_PART_INFO, NCS_PART_SUMMARY, NCS_PART_TABS,
		NCS_PART_BAR,  NCS_PART_DETAIL,  NCS_PART_TITLE,
	};

	for (size_t i = 1; i < sizeof(order) / sizeof(*order); i++)
		assert_true(gone_at(1, order[i - 1]) > gone_at(1, order[i]));
}

TEST(detail_shrinks_before_it_is_dropped)
{
	struct ncs_layout layout;
	int previous = 6;

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

/* --- Items of a line ------------------------------------------------------ */

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

TEST(kept_items_fit_the_width)
{
	struct ncs_item items[ITEMS];
	uint32_t seed = 1;

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

TEST(all_items_are_kept_if_there_is_room)
{
	struct ncs_item items[ITEMS];
	uint32_t seed = 2;

	random_items(items, ITEMS, &seed);
	assert_true(ncs_layout_fit(items, ITEMS, 1000, 1) < 1000);
	for (size_t i = 0; i < ITEMS; i++)
		assert_true(items[i].kept);
}

TEST(lowest_priority_is_dropped_first)
{
	struct ncs_item items[] = { { 5, 9, false },
				    { 5, 3, false },
				    { 5, 7, false } };

	ncs_layout_fit(items, 3, 11, 1);
	assert_true(items[0].kept && !items[1].kept && items[2].kept);
}

/* One wide column is dropped rather than three narrow ones. */
TEST(few_items_are_dropped)
{
	struct ncs_item items[] = { { 10, 9, false },
				    { 13, 6, false },
				    { 4, 6, false },
				    { 4, 6, false },
				    { 4, 6, false } };

	ncs_layout_fit(items, 5, 30, 1);
	assert_true(items[0].kept && !items[1].kept && items[2].kept &&
		    items[3].kept && items[4].kept);
}

TEST(dropped_items_return_if_they_fit)
{
	struct ncs_item items[] = { { 10, 9, false },
				    { 3, 5, false },
				    { 12, 6, false },
				    { 3, 1, false } };

	ncs_layout_fit(items, 4, 20, 1);
	assert_true(items[0].kept && items[1].kept && !items[2].kept);
	/* Items for wide screens do not return. */
	assert_false(items[3].kept);
}
