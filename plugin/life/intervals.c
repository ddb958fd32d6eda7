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
	set = malloc(sizeof(*set) + capacity * sizeof(set->held[0]));
	if (set)
		*set = (struct ncs_intervals){ .capacity = capacity };
	return set;
}

/* The first one that ends at this moment or later. */
static uint32_t first_ending(const struct ncs_intervals *set, uint64_t moment)
{
	uint32_t low = 0, high = set->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (set->held[middle].end < moment)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Several at once, so that it costs little for each that is added. */
static void let_go(struct ncs_intervals *set)
{
	uint32_t count = set->capacity / CAPACITY_LEAST;

	set->floor = set->held[count - 1].end;
	set->count -= count;
	memmove(set->held, set->held + count,
		set->count * sizeof(set->held[0]));
}

/* In the place of those in [first, end), which it covers. */
static void replace(struct ncs_intervals *set, uint32_t first, uint32_t end,
		    struct ncs_interval by)
{
	memmove(set->held + first + 1, set->held + end,
		(set->count - end) * sizeof(set->held[0]));
	set->held[first] = by;
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
		let_go(set);
	if (start < set->floor)
		start = set->floor;
	if (start >= end)
		return 0;
	at = start;
	whole = (struct ncs_interval){ start, end };
	first = i = first_ending(set, start);
	for (; i < set->count && set->held[i].start <= end; i++) {
		const struct ncs_interval *held = &set->held[i];

		if (at < held->start) {
			total += held->start - at;
			if (visit)
				visit(argument, at, held->start);
		}
		if (at < held->end)
			at = held->end;
		if (whole.start > held->start)
			whole.start = held->start;
		if (whole.end < held->end)
			whole.end = held->end;
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
	     i < set->count && set->held[i].start < end; i++) {
		const struct ncs_interval *held = &set->held[i];
		uint64_t from = held->start > start ? held->start : start;
		uint64_t to = held->end < end ? held->end : end;

		if (from < to)
			total += to - from;
	}
	return total;
}
