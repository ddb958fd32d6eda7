/* SPDX-License-Identifier: MIT */
/* Sums over trees of ranges: each call counts in all ranges around it;
 * bandwidth is bytes over time, not a mean of bandwidths. */
#include <stdlib.h>
#include <string.h>

#include "analysis/model/range_totals.h"
#include "test/unit/support/unit.h"

#define MAX 64

static struct ncs_range_view ranges[MAX];
static struct ncs_range_sum sums[MAX];
static uint64_t buckets[4 * NCS_RANGE_BUCKETS];
static struct ncs_snapshot snapshot;

static int setup(void **state)
{
	(void)state;
	memset(ranges, 0, sizeof(ranges));
	memset(buckets, 0, sizeof(buckets));
	memset(&snapshot, 0, sizeof(snapshot));
	snapshot.ranges = ranges;
	snapshot.range_buckets = buckets;
	return 0;
}

static struct ncs_range_view *add(uint32_t number, uint32_t parent,
				  uint64_t calls)
{
	struct ncs_range_view *range = &ranges[snapshot.range_count++];

	range->number = number;
	range->parent = parent;
	range->calls = calls;
	return range;
}

/* Adds operations of the same time and size. */
static void add_times(struct ncs_range_view *range, uint32_t place,
		      uint64_t count, uint64_t time_ns, uint64_t bytes)
{
	range->timed[NCS_TIMING_PROXY] += count;
	range->time_ns[NCS_TIMING_PROXY] += count * time_ns;
	range->timed_bytes[NCS_TIMING_PROXY] += count * bytes;
	range->histogram[NCS_TIMING_PROXY] = place;
	buckets[(place - 1) * NCS_RANGE_BUCKETS + ncs_range_bucket(time_ns)] +=
		count;
}

static void assert_sum(size_t place, uint32_t number, unsigned depth,
		       uint64_t calls)
{
	assert_int_equal(sums[place].range->number, number);
	assert_int_equal(sums[place].depth, depth);
	assert_int_equal(sums[place].calls, calls);
}

UNIT_FIXTURE(setup, NULL)

TEST(ranges_inside_follow_their_parent_and_count_in_it)
{
	add(2, 0, 1);
	add(3, 2, 10);
	add(5, 0, 100);
	add(6, 2, 1000);
	add(9, 3, 10000);
	assert_int_equal(ncs_ranges_sum(&snapshot, sums), 0);
	assert_sum(0, 2, 0, 11011);
	assert_sum(1, 3, 1, 10010);
	assert_sum(2, 9, 2, 10000);
	assert_sum(3, 6, 1, 1000);
	assert_sum(4, 5, 0, 100);
}

TEST(kernel_times_are_summed_but_busy_time_is_not)
{
	struct ncs_gpu_time inner = { 1, 10, 10, 2, 20, 7 };
	struct ncs_gpu_time outer = { 3, 30, 35, 4, 40, 8 };

	add(2, 0, 0)->gpu = outer;
	add(3, 2, 0)->gpu = inner;
	assert_int_equal(ncs_ranges_sum(&snapshot, sums), 0);
	assert_int_equal(sums[0].gpu.compute_kernels, 4);
	assert_int_equal(sums[0].gpu.compute_ns, 40);
	assert_int_equal(sums[0].gpu.compute_busy_ns, 35);
	assert_int_equal(sums[0].gpu.communication_kernels, 6);
	assert_int_equal(sums[0].gpu.communication_ns, 60);
	assert_int_equal(sums[0].gpu.hidden_ns, 15);
	assert_memory_equal(&sums[1].gpu, &inner, sizeof(inner));
}

/* Recordings may hold any value: each range comes exactly once. */
TEST(range_without_known_parent_is_outermost)
{
	add(7, 3, 1);
	add(8, 7, 2);
	assert_int_equal(ncs_ranges_sum(&snapshot, sums), 0);
	assert_sum(0, 7, 0, 3);
	assert_sum(1, 8, 1, 2);
}

TEST(no_ranges_give_no_sums)
{
	assert_int_equal(ncs_ranges_sum(&snapshot, sums), 0);
}

TEST(bandwidth_is_bytes_over_time)
{
	struct ncs_range_view *outer = add(2, 0, 0), *inner = add(3, 2, 0);

	add_times(outer, 1, 1, 1000, 1000);   /* 1 GB/s */
	add_times(inner, 2, 1, 1000, 100000); /* 100 GB/s */
	add_times(inner, 2, 8, 1000, 0);
	outer->with_children_bytes = 1000;
	inner->with_children_bytes = 100000;
	outer->busy_ns = 5000; /* two at a time */
	assert_int_equal(ncs_ranges_sum(&snapshot, sums), 0);
	assert_true(ncs_range_busy_bandwidth(&sums[0]) == 101000.0 / 5000);
	assert_true(ncs_range_busy_bandwidth(&sums[1]) < 0);
	inner->size_unknown = 1;
	assert_int_equal(ncs_ranges_sum(&snapshot, sums), 0);
	assert_true(ncs_range_busy_bandwidth(&sums[0]) < 0);
}

TEST(percentiles_include_operations_of_ranges_inside)
{
	struct ncs_range_view *outer = add(2, 0, 0), *inner = add(3, 2, 0);
	struct ncs_range_view *beside = add(4, 0, 0);
	uint64_t p50, p99;

	add_times(outer, 1, 60, 1000, 1);
	add_times(inner, 2, 40, 1000000, 1);
	add_times(beside, 3, 1000, 50, 1);
	assert_int_equal(ncs_ranges_sum(&snapshot, sums), 0);
	p50 = ncs_range_percentile(&snapshot, &sums[0], 0.50);
	p99 = ncs_range_percentile(&snapshot, &sums[0], 0.99);
	assert_true(p50 > 920 && p50 < 1080);
	assert_true(p99 > 920000 && p99 < 1080000);
	p50 = ncs_range_percentile(&snapshot, &sums[1], 0.50);
	assert_true(p50 > 920000 && p50 < 1080000);
	memset(outer->histogram, 0, sizeof(outer->histogram));
	memset(inner->histogram, 0, sizeof(inner->histogram));
	assert_int_equal(ncs_range_percentile(&snapshot, &sums[0], 0.5), 0);
}

/* The manual says 8 percent. */
TEST_WITH(middle_of_a_bucket_is_near_all_its_values, NULL, NULL)
{
	for (uint64_t ns = 32; ns < UINT64_C(1) << 40; ns += 1 + ns / 100) {
		uint64_t middle = ncs_histogram_middle(
			ncs_range_bucket_middle(ncs_range_bucket(ns)));
		uint64_t away = middle > ns ? middle - ns : ns - middle;

		if (away * 100 > ns * 8 + 400)
			fail_msg("%llu stands for %llu",
				 (unsigned long long)middle,
				 (unsigned long long)ns);
	}
}

TEST(longest_wait_is_found_with_its_share)
{
	struct ncs_range_view *outer = add(2, 0, 0), *inner = add(3, 2, 0);
	double share;

	outer->channel_time_ns[NCS_CHANNEL_SEND_WAIT] = 100;
	inner->channel_time_ns[NCS_CHANNEL_RECV_WAIT] = 300;
	assert_int_equal(ncs_ranges_sum(&snapshot, sums), 0);
	assert_int_equal(ncs_range_wait(&sums[0], &share),
			 NCS_CHANNEL_RECV_WAIT);
	assert_true(share == 0.75);
	memset(&sums[0].channel_time_ns, 0, sizeof(sums[0].channel_time_ns));
	assert_int_equal(ncs_range_wait(&sums[0], &share), NCS_CHANNEL_IDLE);
	assert_true(share == 0);
}

TEST(path_has_all_names_outermost_first)
{
	char text[64] = "in ";

	strcpy(add(2, 0, 1)->name, "step");
	strcpy(add(5, 2, 1)->name, "back");
	strcpy(add(9, 5, 1)->name, "sum");
	ncs_range_append_path(&snapshot, 9, text, sizeof(text));
	assert_string_equal(text, "in step/back/sum");
	text[0] = '\0';
	ncs_range_append_path(&snapshot, 4, text, sizeof(text));
	assert_string_equal(text, "");
	ranges[0].parent = 9; /* inside itself */
	ncs_range_append_path(&snapshot, 5, text, sizeof(text));
	assert_string_equal(text, "step/back");
}
