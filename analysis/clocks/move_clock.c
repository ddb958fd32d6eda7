/* SPDX-License-Identifier: MIT */
/* Moves of clocks; see move_clock.h. */
#include "analysis/clocks/move_clock.h"

#include <math.h>

#include "shm/clock.h"

int64_t ncs_clock_move_by(const struct ncs_clock_move *move, uint64_t ns)
{
	int64_t by_ns = move->offset_ns;

	if (move->drift != 0)
		by_ns += llrint(move->drift *
				((double)ns - (double)move->at_ns));
	return by_ns;
}

void ncs_clock_move(struct ncs_clock *clock, const struct ncs_clock_move *move)
{
	if (move->drift != 0) {
		if (move->at_ns > clock->base_monotonic_ns) {
			uint64_t ticks = ncs_clock_duration_ticks(
				clock, move->at_ns - clock->base_monotonic_ns);

			clock->base_monotonic_ns +=
				ncs_clock_duration_ns(clock, ticks);
			clock->base_ticks += ticks;
		}
		clock->multiplier =
			(uint64_t)((long double)clock->multiplier *
					   (1 + (long double)move->drift) +
				   0.5L);
	}
	clock->base_monotonic_ns +=
		(uint64_t)ncs_clock_move_by(move, clock->base_monotonic_ns);
}
