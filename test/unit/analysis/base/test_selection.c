/* SPDX-License-Identifier: MIT */
/* Selection finds the values that sorting would (analysis/base/selection.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/base/selection.h"

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

static void selects_the_value_at_each_place_of_the_sorted_order(void **state)
{
	static const uint64_t limits[] = { 1, 2, 5, 1000000 };
	uint64_t values[VALUES], sorted[VALUES];
	double numbers[VALUES];

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		for (size_t place = 0; place < VALUES; place++) {
			fill(values, limits[i], (unsigned)place + 1);
			memcpy(sorted, values, sizeof(sorted));
			qsort(sorted, VALUES, sizeof(*sorted), compare);
			for (size_t k = 0; k < VALUES; k++)
				numbers[k] = -(double)values[k];
			assert_int_equal(ncs_select_u64(values, VALUES, place),
					 sorted[place]);
			assert_true(ncs_select(numbers, VALUES, place) ==
				    -(double)sorted[VALUES - 1 - place]);
		}
}

static void sorted_and_reversed_values_are_selected(void **state)
{
	uint64_t values[VALUES];

	(void)state;
	for (size_t place = 0; place < VALUES; place++) {
		for (size_t i = 0; i < VALUES; i++)
			values[i] = i;
		assert_int_equal(ncs_select_u64(values, VALUES, place), place);
		for (size_t i = 0; i < VALUES; i++)
			values[i] = VALUES - 1 - i;
		assert_int_equal(ncs_select_u64(values, VALUES, place), place);
	}
}

static void a_percentile_is_not_exceeded_by_its_share_of_values(void **state)
{
	uint64_t values[] = { 40, 10, 30, 20 };

	(void)state;
	assert_int_equal(ncs_percentile_of_values(values, 0, 50), 0);
	assert_int_equal(ncs_percentile_of_values(values, 1, 50), values[0]);
	assert_int_equal(ncs_percentile_of_values(values, 4, 1), 10);
	assert_int_equal(ncs_percentile_of_values(values, 4, 50), 20);
	assert_int_equal(ncs_percentile_of_values(values, 4, 51), 30);
	assert_int_equal(ncs_percentile_of_values(values, 4, 100), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			selects_the_value_at_each_place_of_the_sorted_order),
		cmocka_unit_test(sorted_and_reversed_values_are_selected),
		cmocka_unit_test(
			a_percentile_is_not_exceeded_by_its_share_of_values),
	};

	return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
