/* SPDX-License-Identifier: MIT */
/* Tests of selection: it finds the values that sorting would. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/percentile.h"
#include "test/unit/support/unit.h"

enum { VALUES = 37 };

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Fills `values` with numbers below `limit`, so that a small one repeats. */
static void fill(uint64_t *values, uint64_t limit, unsigned seed)
{
	uint64_t random = seed;

	for (size_t i = 0; i < VALUES; i++) {
		random = random * UINT64_C(6364136223846793005) +
			 UINT64_C(1442695040888963407);
		values[i] = (random >> 33) % limit;
	}
}

TEST(value_at_each_place_of_the_sorted_order_is_selected)
{
	static const uint64_t limits[] = { 1, 2, 5, 1000000 };
	uint64_t sorted[VALUES];
	double values[VALUES];

	for (unsigned i = 0; i < 4; i++)
		for (size_t place = 0; place < VALUES; place++) {
			fill(sorted, limits[i], (unsigned)place + 1);
			for (size_t k = 0; k < VALUES; k++)
				values[k] = (double)sorted[k];
			qsort(sorted, VALUES, sizeof(*sorted), compare);
			assert_true(ncs_select(values, VALUES, place) ==
				    (double)sorted[place]);
		}
}

TEST(sorted_and_reversed_values_are_selected)
{
	double values[VALUES];

	for (size_t place = 0; place < VALUES; place++) {
		for (size_t i = 0; i < VALUES; i++)
			values[i] = (double)i;
		assert_true(ncs_select(values, VALUES, place) == (double)place);
		for (size_t i = 0; i < VALUES; i++)
			values[i] = (double)(VALUES - 1 - i);
		assert_true(ncs_select(values, VALUES, place) == (double)place);
	}
}

TEST(percentiles_are_those_of_the_sorted_values)
{
	uint64_t values[VALUES], sorted[VALUES];

	for (unsigned percent = 1; percent <= 100; percent++) {
		fill(values, 20, percent);
		memcpy(sorted, values, sizeof(sorted));
		qsort(sorted, VALUES, sizeof(*sorted), compare);
		assert_int_equal(ncs_percentile_of_values(values, VALUES,
							  percent),
				 sorted[(VALUES * percent + 99) / 100 - 1]);
	}
}

TEST(percentile_of_few_values_is_one_of_them)
{
	uint64_t values[] = { 40, 10, 30, 20 };

	assert_int_equal(ncs_percentile_of_values(values, 0, 50), 0);
	assert_int_equal(ncs_percentile_of_values(values, 1, 50), values[0]);
	assert_int_equal(ncs_percentile_of_values(values, 4, 1), 10);
	assert_int_equal(ncs_percentile_of_values(values, 4, 50), 20);
	assert_int_equal(ncs_percentile_of_values(values, 4, 51), 30);
	assert_int_equal(ncs_percentile_of_values(values, 4, 100), 40);
}
