/* SPDX-License-Identifier: MIT */
/* Tests of percentiles of histograms, against those of the values; and of selection:
 * it finds the values that sorting would. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/percentile.h"
#include "analysis/model/model.h"
#include "test/unit/support/unit.h"

static uint64_t histogram[NCS_HISTOGRAM_BUCKETS];

static int clear(void **state)
{
	(void)state;
	memset(histogram, 0, sizeof(histogram));
	return 0;
}

static void count(uint64_t value_ns)
{
	histogram[ncs_histogram_bucket(value_ns)]++;
}

UNIT_FIXTURE(clear, NULL)

TEST(empty_histogram_has_no_percentile)
{
	assert_int_equal(ncs_percentile(histogram, 0.5), 0);
}

TEST(one_value_is_every_percentile)
{
	static const double fractions[] = { 0, 0.01, 0.5, 0.99, 1 };

	count(17);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(ncs_percentile(histogram, fractions[i]), 17);
}

TEST(nonzero_buckets_suffice_for_percentiles)
{
	unsigned first = ncs_histogram_bucket(1000);
	unsigned end = ncs_histogram_bucket(9000) + 1;

	for (uint64_t i = 1000; i <= 9000; i += 7)
		count(i);
	for (unsigned i = 0; i <= 100; i++)
		assert_int_equal(ncs_percentile_of(&histogram[first], first,
						   end - first, 1, i / 100.0),
				 ncs_percentile(histogram, i / 100.0));
	assert_int_equal(ncs_percentile_of(histogram, 0, 0, 1, 0.5), 0);
}

TEST(small_values_are_exact)
{
	for (uint64_t i = 0; i <= 20; i++)
		count(i);
	assert_int_equal(ncs_percentile(histogram, 0), 0);
	assert_int_equal(ncs_percentile(histogram, 0.5), 10);
	assert_int_equal(ncs_percentile(histogram, 1), 20);
	assert_int_equal(ncs_percentile(histogram, 2), 20);
}

TEST(fraction_of_values_is_at_or_below_the_percentile)
{
	for (int i = 0; i < 99; i++)
		count(1);
	count(30);
	assert_int_equal(ncs_percentile(histogram, 0.99), 1);
	assert_int_equal(ncs_percentile(histogram, 0.991), 30);
}

TEST(largest_values_are_counted)
{
	count(UINT64_MAX);
	assert_true(ncs_percentile(histogram, 0.5) > UINT64_C(1) << 40);
}

TEST(percentile_in_the_last_bucket_is_a_least_one)
{
	const uint64_t last_ns = ncs_histogram_low(NCS_HISTOGRAM_BUCKETS - 1);
	unsigned width = 4, wide = NCS_HISTOGRAM_BUCKETS / 4;
	uint64_t time_ns;

	for (unsigned i = 0; i < NCS_HISTOGRAM_BUCKETS; i++) {
		histogram[i] = 1;
		time_ns = ncs_percentile(histogram, 0.5);
		assert_int_equal(ncs_percentile_is_least(time_ns),
				 i == NCS_HISTOGRAM_BUCKETS - 1);
		histogram[i] = 0;
	}
	for (unsigned i = 0; i < wide; i++) {
		histogram[i] = 1;
		time_ns = ncs_percentile_of(histogram, 0, wide, width, 0.5);
		assert_int_equal(ncs_percentile_is_least(time_ns),
				 i == wide - 1);
		histogram[i] = 0;
	}
	count(last_ns);
	assert_int_equal(ncs_percentile(histogram, 0.5), last_ns);
}

static uint64_t next_random(uint64_t random)
{
	return random * UINT64_C(6364136223846793005) +
	       UINT64_C(1442695040888963407);
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

TEST(percentiles_are_within_two_percent_of_the_sorted_values)
{
	enum { MANY = 20000 };
	static uint64_t values[MANY];
	static const double fractions[] = { 0.1, 0.5, 0.9, 0.99, 0.999 };
	uint64_t random = 12345;

	/* From 1 us to 16 s, evenly spread over the powers of two. */
	for (size_t i = 0; i < MANY; i++) {
		random = next_random(random);
		values[i] = (UINT64_C(1000) + (random >> 33) % 1000)
			    << (random >> 58) % 24;
		count(values[i]);
	}
	qsort(values, MANY, sizeof(values[0]), compare);
	for (size_t i = 0; i < 5; i++) {
		size_t place = (size_t)(fractions[i] * MANY) - 1;
		double exact = (double)values[place];
		double found = (double)ncs_percentile(histogram, fractions[i]);

		if (found < 0.98 * exact || found > 1.02 * exact)
			fail_msg("p%g is %g, not %g", 100 * fractions[i], found,
				 exact);
	}
}

TEST(percentiles_rise_with_the_fraction)
{
	uint64_t last = 0;

	for (uint64_t i = 1; i < 100000; i += 37)
		count(i * i);
	for (int i = 0; i <= 100; i++) {
		uint64_t found = ncs_percentile(histogram, i / 100.0);

		assert_true(found >= last);
		last = found;
	}
}

/* --- Selection ------------------------------------------------------------ */

enum { VALUES = 37 };

/* Fills `values` with numbers below `limit`, so that a small one repeats. */
static void fill(uint64_t *values, uint64_t limit, unsigned seed)
{
	uint64_t random = seed;

	for (size_t i = 0; i < VALUES; i++) {
		random = next_random(random);
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
