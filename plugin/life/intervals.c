/* SPDX-License-Identifier: MIT */
/* Sets of intervals; see intervals.h. */
#include "plugin/life/intervals.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_LEAST 4u

struct ncs_intervals *ncs_intervals_new(uint32_t capacity)
{
	struct ncs_intervals *set;

	if (capacity < CAPACITY_LEAST)
		capacity = CAPACITY_LEAST;
	set = malloc(sizeof(*set) + capacity * sizeof(set->list[0]));
	if (set)
		*set = (struct ncs_intervals){ .capacity = capacity };
	return set;
}

/* Returns the index of the first interval that ends at this time or later. */
static uint32_t first_ending(const struct ncs_intervals *set, uint64_t time)
{
	uint32_t low = 0, high = set->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (set->list[middle].end < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Drops several intervals at a time, so that adding one costs little on
 * average. */
static void drop_oldest(struct ncs_intervals *set)
{
	uint32_t count = set->capacity / CAPACITY_LEAST;

	set->floor = set->list[count - 1].end;
	set->count -= count;
	memmove(set->list, set->list + count,
		set->count * sizeof(set->list[0]));
}

/* Replaces the intervals [first, end) by a single one that covers them. */
static void replace(struct ncs_intervals *set, uint32_t first, uint32_t end,
		    struct ncs_interval by)
{
	memmove(set->list + first + 1, set->list + end,
		(set->count - end) * sizeof(set->list[0]));
	set->list[first] = by;
	set->count = set->count + 1 - (end - first);
}

uint64_t ncs_intervals_add(struct ncs_intervals *set, uint64_t start,
			   uint64_t end, ncs_interval_visit visit,
			   void *argument)
{
	struct ncs_interval whole;
	uint64_t total = 0, at;
	uint32_t first, i;

	if (set->count == set->capacity)
		drop_oldest(set);
	if (start < set->floor)
		start = set->floor;
	if (start >= end)
		return 0;
	at = start;
	whole = (struct ncs_interval){ start, end };
	first = i = first_ending(set, start);
	for (; i < set->count && set->list[i].start <= end; i++) {
		const struct ncs_interval *known = &set->list[i];

		if (at < known->start) {
			total += known->start - at;
			if (visit)
				visit(argument, at, known->start);
		}
		if (at < known->end)
			at = known->end;
		if (whole.start > known->start)
			whole.start = known->start;
		if (whole.end < known->end)
			whole.end = known->end;
	}
	if (at < end) {
		total += end - at;
		if (visit)
			visit(argument, at, end);
	}
	replace(set, first, i, whole);
	return total;
}

uint64_t ncs_intervals_covered(const struct ncs_intervals *set, uint64_t start,
			       uint64_t end)
{
	uint64_t total = 0;

	for (uint32_t i = first_ending(set, start);
	     i < set->count && set->list[i].start < end; i++) {
		const struct ncs_interval *known = &set->list[i];
		uint64_t from = known->start > start ? known->start : start;
		uint64_t to = known->end < end ? known->end : end;

		if (from < to)
			total += to - from;
	}
	return total;
}
