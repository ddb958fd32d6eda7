/* SPDX-License-Identifier: MIT */
/* A set of intervals of time: what a GPU's kernels cover, in whatever order
 * they are told.
 *
 * It holds the latest ones, apart from each other, by time; what lies before
 * `floor` has been let go of to make room and is not counted any more. Not for
 * callbacks: adding moves memory.
 */
#ifndef NCS_PLUGIN_LIFE_INTERVALS_H
#define NCS_PLUGIN_LIFE_INTERVALS_H

#include <stdint.h>

struct ncs_interval {
	uint64_t start;
	uint64_t end;
};

struct ncs_intervals {
	uint64_t floor;
	uint32_t count;
	uint32_t capacity;
	struct ncs_interval list[];
};

/* An empty set for free(); NULL: no memory. It has room for at least 4. */
struct ncs_intervals *ncs_intervals_new(uint32_t capacity);

/* A piece of time that the set did not cover before. */
typedef void (*ncs_interval_visit)(void *argument, uint64_t start,
				   uint64_t end);

/* Adds an interval; `visit` (NULL: nobody) gets each piece of it that is new.
 * Returns how long these are together. */
uint64_t ncs_intervals_add(struct ncs_intervals *set, uint64_t start,
			   uint64_t end, ncs_interval_visit visit,
			   void *argument);

/* How much of an interval the set covers. */
uint64_t ncs_intervals_covered(const struct ncs_intervals *set, uint64_t start,
			       uint64_t end);

#endif
