/* SPDX-License-Identifier: MIT */
/* Moves of clocks; see move_clock.h. */
#include "analysis/base/move_clock.h"

#include <math.h>

#include "shm/clock.h"

int64_t ncs_clock_move_by(const struct ncs_clock_move *move, uint64_t ns)
{
	if (move->drift == 0)
		return move->offset_ns;
	return ncs_plus(
		move->offset_ns,
		llrint(move->drift * ((double)ns - (double)move->at_ns)));
}

uint64_t ncs_clock_moved_ns(const struct ncs_clock_move *move, uint64_t ns)
{
	return ns + (uint64_t)ncs_clock_move_by(move, ns);
}

struct ncs_clock_move ncs_clock_move_between(const struct ncs_clock *from,
					     const struct ncs_clock *to)
{
	struct ncs_clock_move move = { .at_ns = from->base_monotonic_ns };

	if (to->base_ticks >= from->base_ticks)
		move.at_ns += ncs_clock_duration_ns(
			from, to->base_ticks - from->base_ticks);
	else
		move.at_ns -= ncs_clock_duration_ns(
			from, from->base_ticks - to->base_ticks);
	move.offset_ns = (int64_t)(to->base_monotonic_ns - move.at_ns);
	if (from->multiplier != 0)
		move.drift =
			(double)(int64_t)(to->multiplier - from->multiplier) /
			(double)from->multiplier;
	return move;
}

struct ncs_clock_move ncs_clock_move_back(const struct ncs_clock_move *move)
{
	return (struct ncs_clock_move){
		.offset_ns = ncs_minus(0, move->offset_ns),
		.drift = -move->drift / (1 + move->drift),
		.at_ns = move->at_ns + (uint64_t)move->offset_ns,
	};
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
