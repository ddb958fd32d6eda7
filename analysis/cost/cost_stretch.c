/* SPDX-License-Identifier: MIT */
/* The stretch of a window whose launches have times; see cost.h: a plugin that may not time
 * all launches of a fast job times all of a while, on all ranks at once. Must not judge. */
#include "analysis/cost/cost_items.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* An operation: parts that are next to one another once sorted. */
struct operation {
	uint64_t call_ns; /* of its first part */
	uint32_t timed;   /* parts with times */
	/* Operations of its series since the one before it that no rank has noted. */
	uint32_t missing;
	/* It has times of as many ranks as any operation of its series has. */
	bool is_full;
	bool is_weighed; /* some operation of its series has times */
};

/* Weight of an operation without times; NCS_COST_MISFIT is that of one with them. */
#define WITHOUT (1000 - (int64_t)NCS_COST_MISFIT)

struct stretch {
	size_t first, end; /* operations, in the order of calls */
};

static int by_operation(const void *a, const void *b)
{
	return ncs_cost_compare_operations(a, b);
}

static int by_call(const void *a, const void *b)
{
	uint64_t x = ((const struct operation *)a)->call_ns;
	uint64_t y = ((const struct operation *)b)->call_ns;

	return (x > y) - (x < y);
}

/* Makes an operation of the parts from `first` on. Returns where it ends. */
static size_t make_operation(const struct ncs_cost_part *parts, size_t first,
			     size_t count, struct operation *operation)
{
	size_t end = first;

	*operation = (struct operation){ .call_ns = parts[first].call_ns };
	for (; end < count && ncs_cost_compare_operations(&parts[first],
							  &parts[end]) == 0;
	     end++) {
		operation->timed += ncs_cost_has_times(&parts[end]);
		if (parts[end].call_ns < operation->call_ns)
			operation->call_ns = parts[end].call_ns;
	}
	return end;
}

/* Notes which operations of a series have the times of all ranks that can be timed. */
static void finish_series(struct operation *operations, size_t count)
{
	uint32_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (operations[i].timed > most)
			most = operations[i].timed;
	for (size_t i = 0; i < count; i++) {
		operations[i].is_weighed = most > 0;
		operations[i].is_full = most > 0 && operations[i].timed == most;
	}
}

/* Returns how many operations are missing before that of a part; the numbers are those
 * that a job tells. */
static uint32_t missing_before(const struct ncs_cost_part *part)
{
	uint64_t missing = ncs_cost_missing_between(part - 1, part);

	return missing < UINT32_MAX ? (uint32_t)missing : UINT32_MAX;
}

/* Makes the operations of sorted parts. Returns their number. */
static size_t make_operations(const struct ncs_cost_part *parts, size_t count,
			      struct operation *operations)
{
	size_t made = 0, series = 0;

	for (size_t i = 0, end; i < count; i = end) {
		end = make_operation(parts, i, count, &operations[made]);
		if (made > series)
			operations[made].missing = missing_before(&parts[i]);
		made++;
		if (end < count &&
		    ncs_cost_compare_series(&parts[i], &parts[end]) == 0)
			continue;
		finish_series(&operations[series], made - series);
		series = made;
	}
	return made;
}

/* Returns the stretch with most timed operations, each one without times taking as many
 * off as must have times for it. */
static struct stretch find_stretch(const struct operation *operations,
				   size_t count)
{
	struct stretch best = { 0, 0 };
	int64_t sum = 0, best_sum = 0;
	size_t first = 0;

	for (size_t i = 0; i < count; i++) {
		if (!operations[i].is_weighed)
			continue;
		sum -= (int64_t)operations[i].missing * WITHOUT;
		if (sum <= 0) {
			sum = 0;
			first = i;
		}
		sum += operations[i].timed > 0 ? NCS_COST_MISFIT : -WITHOUT;
		if (sum > 0 && sum >= best_sum) {
			best_sum = sum;
			best = (struct stretch){ first, i + 1 };
		}
	}
	/* Ranks begin and end to time launches some milliseconds apart. */
	while (best.first < best.end && !operations[best.first].is_full)
		best.first++;
	while (best.first < best.end && !operations[best.end - 1].is_full)
		best.end--;
	return best;
}

static bool has_gaps(const struct operation *operations, size_t count)
{
	uint64_t timed = 0, without = 0;

	for (size_t i = 0; i < count; i++) {
		if (!operations[i].is_weighed)
			continue;
		timed += operations[i].timed > 0;
		without += operations[i].missing + (operations[i].timed == 0);
	}
	return 1000 * without > NCS_COST_MISFIT * timed;
}

int ncs_cost_keep_stretch(struct ncs_cost_part *parts, size_t *count)
{
	struct operation *operations = malloc((*count + 1) * sizeof(*operations));
	struct stretch stretch;
	size_t made, kept = 0;
	uint64_t from_ns, until_ns;

	if (!operations)
		return -ENOMEM;
	qsort(parts, *count, sizeof(*parts), by_operation);
	made = make_operations(parts, *count, operations);
	qsort(operations, made, sizeof(*operations), by_call);
	stretch = (struct stretch){ 0, 0 };
	if (has_gaps(operations, made))
		stretch = find_stretch(operations, made);
	if (stretch.first == stretch.end) {
		free(operations);
		return 0;
	}
	from_ns = operations[stretch.first].call_ns;
	until_ns = operations[stretch.end - 1].call_ns;
	free(operations);
	for (size_t i = 0, end; i < *count; i = end) {
		struct operation of;

		end = make_operation(parts, i, *count, &of);
		if (of.call_ns < from_ns || of.call_ns > until_ns)
			continue;
		for (size_t k = i; k < end; k++) {
			struct ncs_cost_part part = parts[k];

			parts[k] = parts[kept];
			parts[kept++] = part;
		}
	}
	*count = kept;
	return 0;
}
