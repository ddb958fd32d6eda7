/* SPDX-License-Identifier: MIT */
/* The clock: conversion of ticks to ns, and when a reader refines the rate. No
 * test depends on the speed of the machine. */
#include <stdlib.h>
#include <string.h>

#include "shm/clock.h"
#include "test/unit/support/unit.h"

#define S UINT64_C(1000000000) /* ns */

typedef unsigned __int128 wide;

static uint64_t multiplier_of(uint64_t hz)
{
	return (uint64_t)(((wide)S << 32) / hz);
}

/* Clocks from 24 MHz (Arm) to 5 GHz. */
static const uint64_t rates[] = {
	24000000, 25000000, 62500000, 1000000000, 2596000000, 5000000000,
};
#define RATES (sizeof(rates) / sizeof(rates[0]))

TEST(durations_are_correct_and_do_not_overflow)
{
	for (size_t i = 0; i < RATES; i++) {
		struct ncs_clock clock = {
			.multiplier = multiplier_of(rates[i]),
		};

		assert_int_equal(ncs_clock_duration_ns(&clock, 0), 0);
		/* A year; its product with the multiplier has 96 bits. */
		for (uint64_t s = 1; s <= 365 * 86400; s = s * 3 + 1) {
			uint64_t ns =
				ncs_clock_duration_ns(&clock, s * rates[i]);
			uint64_t error = ns > s * S ? ns - s * S : s * S - ns;

			/* The multiplier has at least 29 bits. */
			assert_true(error <= s * S >> 29);
			assert_true(error <= (s * rates[i] >> 32) + 1);
		}
	}
}

TEST(duration_is_the_whole_part_of_the_product)
{
	srandom(1);
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t ticks = (uint64_t)random() << 32 ^ (uint64_t)random();
		struct ncs_clock clock = {
			.multiplier = (uint64_t)random() << 4,
		};

		assert_int_equal(ncs_clock_duration_ns(&clock, ticks),
				 (uint64_t)(((wide)ticks * clock.multiplier) >>
					    32));
	}
}

TEST(times_before_and_after_the_base_are_correct)
{
	const uint64_t hz = 2500000000;
	struct ncs_clock clock = {
		.base_ticks = 1000 * hz,
		.base_monotonic_ns = 500 * S,
		.multiplier = multiplier_of(hz),
	};

	assert_int_equal(ncs_clock_ns(&clock, clock.base_ticks), 500 * S);
	for (uint64_t s = 1; s < 400; s++) {
		uint64_t after = ncs_clock_ns(&clock, (1000 + s) * hz);
		uint64_t before = ncs_clock_ns(&clock, (1000 - s) * hz);

		assert_true(after - (500 + s) * S + s <= 2 * s);
		assert_true(before - (500 - s) * S + s <= 2 * s);
	}
}

TEST(never_stays_never)
{
	struct ncs_clock clock = {
		.base_ticks = 7,
		.base_monotonic_ns = 9,
		.multiplier = 1,
	};

	assert_int_equal(ncs_clock_ns(&clock, 0), 0);
}

TEST(later_ticks_are_never_earlier_ns)
{
	srandom(2);
	for (size_t i = 0; i < RATES; i++) {
		struct ncs_clock clock = {
			.base_ticks = UINT64_C(1) << 50,
			.base_monotonic_ns = UINT64_C(1) << 60,
			.multiplier = multiplier_of(rates[i]),
		};
		uint64_t ticks = clock.base_ticks - 100000, before = 0;

		for (unsigned k = 0; k < 10000; k++) {
			uint64_t now = ncs_clock_ns(&clock, ticks);

			assert_true(now >= before);
			before = now;
			ticks += (uint64_t)random() % 50;
		}
	}
}

/* --- This machine's clock ---------------------------------------------- */

TEST(the_chosen_clock_agrees_with_monotonic_time)
{
	uint64_t kind = ncs_clock_choose();
	struct ncs_clock clock;

	ncs_clock_calibrate(&clock, kind);
	assert_int_equal(clock.kind, kind);
	assert_true(clock.base_ticks != 0);
	assert_true(clock.multiplier != 0);
	for (unsigned i = 0; i < 100; i++) {
		uint64_t before = ncs_clock_monotonic_ns();
		uint64_t now = ncs_clock_ns(&clock, ncs_clock_ticks(kind));
		uint64_t after = ncs_clock_monotonic_ns();

		/* Loose bounds: another clock would be off by days. */
		assert_true(now + S / 10 >= before);
		assert_true(now <= after + S / 10);
	}
}

TEST(monotonic_ticks_are_ns)
{
	struct ncs_clock clock;
	uint64_t before = ncs_clock_monotonic_ns(), ticks;

	ncs_clock_calibrate(&clock, NCS_CLOCK_MONOTONIC);
	ticks = ncs_clock_ticks(NCS_CLOCK_MONOTONIC);
	assert_int_equal(ncs_clock_ns(&clock, ticks), ticks);
	assert_true(ticks >= before);
	assert_true(ticks <= ncs_clock_monotonic_ns());
	assert_true(clock.base_monotonic_ns >= before);
	assert_true(clock.base_realtime_ns > S);
}

/* --- Refining the rate ------------------------------------------------- */

/* Returns a clock of this machine as if it had been calibrated `s` seconds ago,
 * with a multiplier that is off by `parts` of 1048576. Skips the test if there
 * is no counter. */
static struct ncs_clock calibrated_ago(uint64_t s, int64_t parts)
{
	uint64_t kind = ncs_clock_choose();
	struct ncs_clock clock;

	if (kind == NCS_CLOCK_MONOTONIC)
		skip();
	ncs_clock_calibrate(&clock, kind);
	clock.base_monotonic_ns -= s * S;
	clock.base_ticks -=
		(uint64_t)(((wide)(s * S) << 32) / clock.multiplier);
	clock.multiplier +=
		(uint64_t)((int64_t)(clock.multiplier >> 20) * parts);
	return clock;
}

TEST(nearly_correct_rate_is_refined)
{
	for (int64_t parts = -500; parts <= 500; parts += 1000) {
		struct ncs_clock right = calibrated_ago(100, 0);
		struct ncs_clock clock = calibrated_ago(100, parts);
		struct ncs_clock before = clock;
		uint64_t error;

		ncs_clock_refine(&clock);
		error = clock.multiplier > right.multiplier ?
				clock.multiplier - right.multiplier :
				right.multiplier - clock.multiplier;
		assert_true(clock.multiplier != before.multiplier);
		assert_true(error < 200 * (right.multiplier >> 20));
		before.multiplier = clock.multiplier;
		assert_memory_equal(&clock, &before, sizeof(clock));
	}
}

TEST(implausible_rate_is_not_refined)
{
	for (int64_t parts = -20000; parts <= 20000; parts += 40000) {
		struct ncs_clock clock = calibrated_ago(100, parts);
		struct ncs_clock before = clock;

		ncs_clock_refine(&clock);
		assert_memory_equal(&clock, &before, sizeof(clock));
	}
}

TEST(clock_with_a_near_or_future_base_is_not_refined)
{
	struct ncs_clock clock, before;

	if (ncs_clock_choose() == NCS_CLOCK_MONOTONIC)
		skip();
	/* If it were measured again now, some bit would differ. */
	for (unsigned i = 0; i < 20; i++) {
		ncs_clock_calibrate(&clock, ncs_clock_choose());
		before = clock;
		ncs_clock_refine(&clock);
		assert_memory_equal(&clock, &before, sizeof(clock));
	}
	clock.base_monotonic_ns += 1000 * S;
	clock.base_ticks += UINT64_C(1) << 45;
	before = clock;
	ncs_clock_refine(&clock);
	assert_memory_equal(&clock, &before, sizeof(clock));
	/* Only one of the two is ahead. */
	clock.base_ticks = before.base_ticks = 1;
	ncs_clock_refine(&clock);
	assert_memory_equal(&clock, &before, sizeof(clock));
}

TEST(clock_not_readable_here_is_not_refined)
{
	struct ncs_clock clock = {
		.kind = ncs_clock_choose() == NCS_CLOCK_TSC ? NCS_CLOCK_CNTVCT :
							      NCS_CLOCK_TSC,
		.base_ticks = 1,
		.base_monotonic_ns = 1,
		.multiplier = UINT64_C(1) << 32,
	};
	struct ncs_clock before = clock;

	ncs_clock_refine(&clock);
	assert_memory_equal(&clock, &before, sizeof(clock));
	clock.kind = before.kind = NCS_CLOCK_MONOTONIC;
	ncs_clock_refine(&clock);
	assert_memory_equal(&clock, &before, sizeof(clock));
	clock.kind = before.kind = UINT64_MAX;
	ncs_clock_refine(&clock);
	assert_memory_equal(&clock, &before, sizeof(clock));
}

TEST(any_clock_in_a_header_is_harmless)
{
	srandom(3);
	for (unsigned i = 0; i < 2000; i++) {
		struct ncs_clock clock;
		uint64_t *words = (uint64_t *)&clock;

		for (size_t k = 0; k < sizeof(clock) / sizeof(uint64_t); k++)
			words[k] = random() % 3 ? (uint64_t)random() << 33 :
						  0 - (uint64_t)random() % 2;
		clock.kind = random() % 4 ? ncs_clock_choose() : clock.kind;
		ncs_clock_refine(&clock);
		/* There is no correct result; sanitizers find errors. */
		assert_int_equal(ncs_clock_ns(&clock, 0), 0);
		ncs_clock_ns(&clock, words[1] - 1);
		ncs_clock_ns(&clock, UINT64_MAX);
		ncs_clock_duration_ticks(&clock, words[2]);
		clock.multiplier = 0;
		assert_int_equal(ncs_clock_duration_ticks(&clock, words[2]), 0);
	}
}
