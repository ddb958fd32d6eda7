/* SPDX-License-Identifier: MIT */
/* The buckets of duration histograms. */
#include "ncclstat/histogram.h"
#include "test/unit/support/unit.h"

#define END (UINT64_C(1) << 41)

/* Values around the edge of every bucket, then far beyond the last one. */
static void for_many_values(void (*check)(uint64_t value))
{
	for (unsigned bucket = 0; bucket < NCS_HISTOGRAM_BUCKETS; bucket++) {
		uint64_t low = ncs_histogram_low(bucket);
		uint64_t end = ncs_histogram_low(bucket + 1);

		check(low);
		check(low + (end - low) / 3);
		check(end - 1);
	}
}

TEST(buckets_cover_disjoint_ranges)
{
	for (unsigned bucket = 0; bucket < NCS_HISTOGRAM_BUCKETS; bucket++) {
		uint64_t low = ncs_histogram_low(bucket);
		uint64_t end = ncs_histogram_low(bucket + 1);

		assert_true(low < end);
		assert_int_equal(ncs_histogram_bucket(low), bucket);
		assert_int_equal(ncs_histogram_bucket(end - 1), bucket);
		assert_int_equal(
			ncs_histogram_bucket(ncs_histogram_middle(bucket)),
			bucket);
	}
	assert_int_equal(ncs_histogram_low(0), 0);
	assert_int_equal(ncs_histogram_low(NCS_HISTOGRAM_BUCKETS), END);
}

TEST(buckets_grow_with_the_value)
{
	unsigned before = 0;

	for (uint64_t value = 0; value < 100000; value++) {
		unsigned bucket = ncs_histogram_bucket(value);

		assert_true(bucket == before || bucket == before + 1);
		before = bucket;
	}
}

static void check_error(uint64_t value)
{
	uint64_t middle = ncs_histogram_middle(ncs_histogram_bucket(value));
	uint64_t error = middle > value ? middle - value : value - middle;

	assert_true((double)error <= 0.016 * (double)value);
}

TEST(middle_of_a_bucket_is_within_1_6_percent)
{
	for_many_values(check_error);
}

TEST(values_under_64_are_exact)
{
	for (uint64_t value = 0; value < 64; value++)
		assert_int_equal(
			ncs_histogram_middle(ncs_histogram_bucket(value)),
			value);
}

TEST(last_bucket_counts_longer_durations)
{
	assert_int_equal(ncs_histogram_bucket(END - 1),
			 NCS_HISTOGRAM_BUCKETS - 1);
	assert_int_equal(ncs_histogram_bucket(END), NCS_HISTOGRAM_BUCKETS - 1);
	assert_int_equal(ncs_histogram_bucket(END * 2),
			 NCS_HISTOGRAM_BUCKETS - 1);
	assert_int_equal(ncs_histogram_bucket(UINT64_MAX),
			 NCS_HISTOGRAM_BUCKETS - 1);
}
