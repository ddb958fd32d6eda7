/* SPDX-License-Identifier: MIT */
/* Tests of moves of clocks (analysis/base/move_clock.h). */
#include "analysis/base/move_clock.h"
#include "shm/clock.h"
#include "test/unit/support/unit.h"

#define S UINT64_C(1000000000)

TEST(test_a_move_and_back_is_none)
{
	const struct ncs_clock_move move = { .offset_ns = -7 * (int64_t)S,
					     .drift = 1e-4,
					     .at_ns = 100 * S };
	const struct ncs_clock_move back = ncs_clock_move_back(&move);

	assert_true(ncs_clock_moved_ns(&move, 100 * S) == 93 * S);
	assert_true(ncs_clock_moved_ns(&move, 200 * S) == 193 * S + S / 100);
	for (uint64_t ns = 50 * S; ns < 300 * S; ns += 7 * S + 1) {
		uint64_t moved = ncs_clock_moved_ns(
			&back, ncs_clock_moved_ns(&move, ns));

		assert_true(moved + 2 > ns && moved < ns + 2);
	}
}

TEST(test_a_clock_moves_as_its_times)
{
	const struct ncs_clock_move move = { .offset_ns = 3 * (int64_t)S,
					     .drift = -2e-5,
					     .at_ns = 500 * S };
	const struct ncs_clock before = { .base_ticks = 1000,
					  .base_monotonic_ns = 20 * S,
					  .multiplier = UINT64_C(3) << 31 };
	struct ncs_clock after = before;

	ncs_clock_move(&after, &move);
	for (uint64_t ticks = 400 * S; ticks < 500 * S; ticks += 13 * S) {
		uint64_t moved = ncs_clock_moved_ns(
			&move, ncs_clock_ns(&before, ticks));
		uint64_t found = ncs_clock_ns(&after, ticks);

		assert_true(found + 100 > moved && found < moved + 100);
	}
}

/* A sanitizer finds what overflows. */
TEST(test_moves_that_make_no_sense_wrap)
{
	const struct ncs_clock_move far = { .offset_ns = INT64_MAX,
					    .drift = 0.5,
					    .at_ns = 0 };
	const struct ncs_clock_move least = { .offset_ns = INT64_MIN };

	assert_true(ncs_clock_move_by(&far, 64) == INT64_MIN + 31);
	assert_true(ncs_clock_move_back(&least).offset_ns == INT64_MIN);
}
