/* SPDX-License-Identifier: MIT */
/* A set of intervals of time, to which intervals are added in any order.
 *
 * The set keeps disjoint intervals, sorted by time. When it is full it drops
 * the oldest ones: time before `floor` is no longer counted. Not for callbacks:
 * adding moves memory.
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
	struct ncs_interval list[]; /* `count` of them, disjoint, sorted */
};

/* Returns an empty set with room for `capacity` intervals, at least 4, to be
 * freed by free(); NULL if there is no memory. */
struct ncs_intervals *ncs_intervals_new(uint32_t capacity);

/* Called with a piece of time that the set did not cover before. */
typedef void (*ncs_interval_visit)(void *argument, uint64_t start,
				   uint64_t end);

/* Adds an interval and calls `visit`, unless it is NULL, for each new piece of
 * it. Returns the total length of the new pieces. */
uint64_t ncs_intervals_add(struct ncs_intervals *set, uint64_t start,
			   uint64_t end, ncs_interval_visit visit,
			   void *argument);

/* Returns the length of the part of an interval that the set covers. */
uint64_t ncs_intervals_covered(const struct ncs_intervals *set, uint64_t start,
			       uint64_t end);

#endif
