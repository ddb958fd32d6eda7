/* SPDX-License-Identifier: MIT */
/* Sets of intervals, compared with a map of single points in time. */
#include <stdlib.h>
#include <string.h>

#include "test/unit/support/unit.h"

/* Included as text: the plugin's objects are for a shared library. */
#include "plugin/life/intervals.c"

#define TIMES 400u

static uint8_t visited[TIMES];

static void visit(void *argument, uint64_t start, uint64_t end)
{
	unsigned *pieces = argument;

	assert_true(start < end && end <= TIMES);
	for (uint64_t i = start; i < end; i++)
		visited[i]++;
	++*pieces;
}

TEST(each_new_piece_is_visited_once)
{
	srand(1);
	for (unsigned round = 0; round < 300; round++) {
		struct ncs_intervals *set = ncs_intervals_new(TIMES);
		uint8_t covered[TIMES] = { 0 };

		assert_non_null(set);
		for (unsigned i = 0; i < 30; i++) {
			uint64_t start = (uint64_t)rand() % TIMES;
			uint64_t end = start + (uint64_t)rand() % 40;
			uint64_t fresh = 0, old = 0;
			unsigned pieces = 0;

			if (end > TIMES)
				end = TIMES;
			memset(visited, 0, sizeof(visited));
			for (uint64_t k = start; k < end; k++)
				old += covered[k];
			assert_int_equal(ncs_intervals_covered(set, start, end),
					 old);
			fresh = ncs_intervals_add(set, start, end, visit,
						  &pieces);
			assert_int_equal(fresh, end - start - old);
			for (uint64_t k = 0; k < TIMES; k++)
				assert_int_equal(visited[k],
						 k >= start && k < end &&
							 !covered[k]);
			memset(covered + start, 1, end - start);
		}
		for (uint32_t i = 1; i < set->count; i++)
			assert_true(set->list[i - 1].end < set->list[i].start);
		free(set);
	}
}

TEST(dropped_intervals_are_not_counted_again)
{
	struct ncs_intervals *set = ncs_intervals_new(8);

	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(ncs_intervals_add(set, 10 * i, 10 * i + 5,
						   NULL, NULL),
				 5);
	assert_int_equal(set->floor, 0);
	assert_int_equal(ncs_intervals_add(set, 80, 85, NULL, NULL), 5);
	assert_int_equal(set->floor, 15);
	assert_int_equal(set->count, 7);
	assert_int_equal(ncs_intervals_add(set, 0, 5, NULL, NULL), 0);
	assert_int_equal(ncs_intervals_add(set, 6, 18, NULL, NULL), 3);
	assert_int_equal(ncs_intervals_covered(set, 0, 100), 7 * 5 + 3);
	free(set);
}

TEST(an_empty_interval_changes_nothing)
{
	struct ncs_intervals *set = ncs_intervals_new(0);

	assert_int_equal(ncs_intervals_add(set, 5, 5, NULL, NULL), 0);
	assert_int_equal(ncs_intervals_covered(set, 0, UINT64_MAX), 0);
	assert_int_equal(set->count, 0);
	free(set);
}
