/* SPDX-License-Identifier: MIT */
/* Calibration by a clock that is not the kernel's (libfaketime), stands still or
 * goes back: it ends, and yields a clock that can be converted. This program has
 * a clock_gettime() of its own. */
#include <time.h>
#include <unistd.h>

#include "shm/clock.h"
#include "test/unit/support/unit.h"

#define S UINT64_C(1000000000) /* ns */

/* ns that the clock advances at each reading, and by which every second reading
 * is ahead. */
static struct {
	int64_t step, lead;
	uint64_t readings;
} broken;

int clock_gettime(clockid_t id, struct timespec *now)
{
	uint64_t reading = broken.readings++;
	uint64_t ns = 1000 * S + (uint64_t)broken.step * reading +
		      (uint64_t)broken.lead * (reading % 2);

	(void)id;
	now->tv_sec = (time_t)(ns / S);
	now->tv_nsec = (long)(ns % S);
	return 0;
}

#if defined(__aarch64__)
#define COUNTER NCS_CLOCK_CNTVCT
#else
#define COUNTER NCS_CLOCK_TSC
#endif

static struct ncs_clock calibrate(int64_t step, int64_t lead)
{
	struct ncs_clock clock;

	broken.step = step;
	broken.lead = lead;
	broken.readings = 0;
	/* A hang is what is to be found. */
	alarm(100);
	ncs_clock_calibrate(&clock, COUNTER);
	alarm(0);
	return clock;
}

static void check_unusable(int64_t step, int64_t lead)
{
	struct ncs_clock clock = calibrate(step, lead);

	assert_int_equal(clock.kind, NCS_CLOCK_MONOTONIC);
	assert_int_equal(clock.multiplier, UINT64_C(1) << 32);
	assert_int_equal(ncs_clock_duration_ticks(&clock, S), S);
	assert_int_equal(clock.base_ticks, clock.base_monotonic_ns);
	assert_true(broken.readings <= NCS_CALIBRATION_TRIES + 1000);
}

TEST(clock_that_stands_still_is_given_up)
{
	check_unusable(0, 0);
}

TEST(clock_that_goes_back_is_given_up)
{
	check_unusable(-1, 0);
	check_unusable(-1000, 0);
	check_unusable(-(int64_t)S / 10000, 0);
}

TEST(clock_that_races_is_given_up)
{
	check_unusable((int64_t)S, 0);
	check_unusable(100 * (int64_t)S, 0);
}

/* Whatever the clock does, the result can be used. */
TEST(any_clock_yields_a_usable_rate)
{
	static const int64_t steps[] = { -1000, -1, 0, 1, 7, 100, 3000, 900000 };
	static const int64_t leads[] = { -1000000000, -1, 0, 1, 1000000000 };

	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		for (unsigned k = 0; k < sizeof(leads) / sizeof(leads[0]);
		     k++) {
			struct ncs_clock clock = calibrate(steps[i], leads[k]);

			assert_true(clock.kind == COUNTER ||
				    clock.kind == NCS_CLOCK_MONOTONIC);
			assert_true(clock.multiplier >= UINT64_C(1) << 27);
			assert_true(clock.multiplier <= UINT64_C(1000) << 32);
			assert_true(ncs_clock_duration_ticks(&clock, S) > 0);
		}
	}
}
