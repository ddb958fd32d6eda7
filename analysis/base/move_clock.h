/* SPDX-License-Identifier: MIT */
/* Moves times of one host to those of another clock, by an offset and a drift. Times
 * that come from other hosts need not make sense: their sums and differences wrap,
 * modulo 2^64, where C leaves an overflow undefined. Pure.
 */
#ifndef NCS_ANALYSIS_BASE_MOVE_CLOCK_H
#define NCS_ANALYSIS_BASE_MOVE_CLOCK_H

#include <stdint.h>

struct ncs_clock; /* ncclstat/abi_clock.h */

/* Returns a + b. */
static inline int64_t ncs_plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Returns a - b. */
static inline int64_t ncs_minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Returns the difference without its sign: it takes 64 bits of its own. */
static inline uint64_t ncs_magnitude(int64_t difference)
{
	return difference < 0 ? -(uint64_t)difference : (uint64_t)difference;
}

/* A move: time t becomes t + offset_ns + drift × (t - at_ns). One of zeros
 * leaves times as they are. */
struct ncs_clock_move {
	int64_t offset_ns;
	double drift;
	uint64_t at_ns;
};

/* Returns by how much a time is moved. */
int64_t ncs_clock_move_by(const struct ncs_clock_move *move, uint64_t ns);

/* Adds the move to a time. */
uint64_t ncs_clock_moved_ns(const struct ncs_clock_move *move, uint64_t ns);

/* Returns the move that takes a time by one clock to the same tick's time by
 * another one that counts the same ticks; and the move back. */
struct ncs_clock_move ncs_clock_move_between(const struct ncs_clock *from,
					     const struct ncs_clock *to);
struct ncs_clock_move
ncs_clock_move_back(const struct ncs_clock_move *move);

/* Moves a clock, so that ticks become moved times. If it drifts, its base
 * becomes a time near at_ns: the multiplier's rounding error grows from
 * there. */
void ncs_clock_move(struct ncs_clock *clock, const struct ncs_clock_move *move);

#endif
