/* SPDX-License-Identifier: MIT */
/* Sums and differences of times that come from other hosts and need not make
 * sense: they wrap, modulo 2^64, where C leaves an overflow undefined. Pure.
 */
#ifndef NCS_ANALYSIS_BASE_WRAPPING_H
#define NCS_ANALYSIS_BASE_WRAPPING_H

#include <stdint.h>

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

#endif
