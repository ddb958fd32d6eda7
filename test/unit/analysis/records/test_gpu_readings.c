/* SPDX-License-Identifier: MIT */
/* Tests of readings of a GPU's clock: a converted time is right within the
 * reported error, also between and beyond readings. */
#include <math.h>
#include <stdlib.h>

#include "analysis/records/gpu_readings.h"
#include "test/unit/support/unit.h"

#define US UINT64_C(1000)
#define S UINT64_C(1000000000)
#define DRIFT 20e-6
#define START_NS (1000 * S)

/* Returns the GPU's time at a time of the host. */
static uint64_t gpu_at(uint64_t host_ns)
{
	double moved = DRIFT * (double)(host_ns - START_NS);

	return UINT64_C(1700000000) * S + host_ns - START_NS +
	       (uint64_t)llround(moved);
}

static void add(struct ncs_gpu_readings *readings, uint64_t told_ns,
		int64_t wrong_ns)
{
	struct ncs_gpu_clock_view clock = {
		.known = true,
		.told_ns = told_ns,
		.offset_ns = (int64_t)(gpu_at(told_ns) - told_ns) + wrong_ns,
		.error_ns = 2 * US,
		.quantum_ns = 32,
	};

	assert_int_equal(ncs_gpu_readings_add(readings, &clock), 0);
}

static uint64_t true_error(const struct ncs_gpu_readings *readings,
			   uint64_t host_ns, uint64_t *error_ns)
{
	uint64_t found_ns;

	assert_true(ncs_gpu_readings_find(readings, gpu_at(host_ns), &found_ns,
					  error_ns));
	return (uint64_t)llabs((int64_t)(found_ns - host_ns));
}

TEST(time_is_unknown_without_a_reading)
{
	struct ncs_gpu_readings readings = { 0 };
	struct ncs_gpu_clock_view unknown = { 0 };
	uint64_t host_ns, error_ns;

	assert_int_equal(ncs_gpu_readings_add(&readings, &unknown), 0);
	assert_false(ncs_gpu_readings_find(&readings, 5, &host_ns, &error_ns));
	ncs_gpu_readings_release(&readings);
}

/* A single offset would be off by 20 us after each second. */
TEST(times_between_readings_are_interpolated)
{
	struct ncs_gpu_readings readings = { 0 };
	uint64_t error_ns;

	for (uint64_t i = 0; i <= 60; i += 10)
		add(&readings, START_NS + i * S, i % 20 ? 1500 : -1500);
	for (uint64_t i = 0; i < 60; i++) {
		assert_true(true_error(&readings, START_NS + i * S + 77,
				       &error_ns) <= 2 * US);
		assert_true(error_ns >= 2 * US);
		assert_true(error_ns < 30 * US);
	}
	ncs_gpu_readings_release(&readings);
}

TEST(times_beyond_readings_have_larger_errors)
{
	struct ncs_gpu_readings readings = { 0 };
	uint64_t near_ns, far_ns;

	add(&readings, START_NS + 100 * S, 1000);
	assert_true(true_error(&readings, START_NS + 90 * S, &far_ns) <=
		    far_ns);
	add(&readings, START_NS + 110 * S, -1000);
	assert_true(true_error(&readings, START_NS + 111 * S, &near_ns) <=
		    near_ns);
	assert_true(true_error(&readings, START_NS + 400 * S, &far_ns) <=
		    far_ns);
	assert_true(far_ns > near_ns);
	assert_true(true_error(&readings, START_NS, &far_ns) <= far_ns);
	ncs_gpu_readings_release(&readings);
}

TEST(earlier_readings_are_dropped_if_the_clock_jumps)
{
	struct ncs_gpu_readings readings = { 0 };
	uint64_t error_ns;

	add(&readings, START_NS, 0);
	add(&readings, START_NS + 10 * S, (int64_t)(3600 * S));
	assert_int_equal(readings.count, 1);
	add(&readings, START_NS + 20 * S, 0);
	assert_int_equal(readings.count, 1);
	assert_true(true_error(&readings, START_NS + 21 * S, &error_ns) <=
		    error_ns);
	ncs_gpu_readings_release(&readings);
}

TEST(number_of_readings_is_bounded)
{
	struct ncs_gpu_readings readings = { 0 };
	uint64_t error_ns;

	for (uint64_t i = 0; i < 3 * NCS_GPU_READINGS_MAX; i++)
		add(&readings, START_NS + i * S, 0);
	assert_true(readings.count <= NCS_GPU_READINGS_MAX);
	assert_true(true_error(&readings, START_NS + 5000 * S, &error_ns) <
		    2 * US);
	ncs_gpu_readings_release(&readings);
}

/* Random readings must not crash the conversion. */
TEST(hostile_readings_do_no_harm)
{
	struct ncs_gpu_readings readings = { 0 };
	uint64_t random = 1, host_ns, error_ns;

	for (unsigned i = 0; i < 10000; i++) {
		struct ncs_gpu_clock_view clock = { .known = true };

		random = random * UINT64_C(6364136223846793005) + 1;
		clock.told_ns = random >> i % 64;
		clock.offset_ns = (int64_t)(random << i % 61);
		clock.error_ns = random >> 33;
		assert_int_equal(ncs_gpu_readings_add(&readings, &clock), 0);
		ncs_gpu_readings_find(&readings, random, &host_ns, &error_ns);
	}
	ncs_gpu_readings_release(&readings);
}
