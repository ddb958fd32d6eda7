/* SPDX-License-Identifier: MIT */
/* Launches that end before others of their operation begin; see cost_window.h. Where such
 * times cannot be, as a leaf ends before its root begins, it leaves them alone. */
#include <math.h>
#include <stdlib.h>

#include "analysis/base/collective_waits.h"
#include "analysis/cost/cost_window.h"
#include "shm/array.h"

/* Work space. */
struct separation {
	struct ncs_cost_window *window;
	size_t capacity;       /* of operations */
	uint32_t member_count; /* in the window's list */
};

/* Returns when a launch had ended on any clock. */
static double ended_ns(const struct ncs_cost_launch *launch)
{
	return launch->end_ns + (double)launch->tail_ns +
	       fmax((double)NCS_ERROR_NS, (double)launch->clocks_apart_ns);
}

static int by_begin(const void *a, const void *b, void *context)
{
	const struct ncs_cost_launch *launches = context;
	double x = launches[*(const uint32_t *)a].begin_ns;
	double y = launches[*(const uint32_t *)b].begin_ns;

	return (x > y) - (x < y);
}

/* Returns the last of members, sorted by begin, that had begun at a time. The first one
 * had. */
static uint32_t last_begun(const struct ncs_cost_window *window,
			   const uint32_t *members, uint32_t count,
			   double at_ns)
{
	uint32_t low = 0, high = count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (window->launches[members[middle]].begin_ns <= at_ns)
			low = middle;
		else
			high = middle;
	}
	return members[low];
}

/* Adds the operation that a launch of `operation` ended with. */
static int add(struct separation *separation, uint32_t index, uint32_t last,
	       uint32_t root, const struct ncs_cost_operation *operation,
	       bool waits_less)
{
	struct ncs_cost_window *window = separation->window;
	uint32_t first = separation->member_count;
	uint32_t *members = &window->members[first], count = 0;

	if (ncs_array_reserve(&window->operations, &separation->capacity,
			      window->operation_count + 1,
			      sizeof(*window->operations)) != 0)
		return -ENOMEM;
	members[count++] = index;
	if (last != index)
		members[count++] = last;
	if (root != NCS_COST_NONE && root != last && root != index)
		members[count++] = root;
	separation->member_count += count;
	window->launch_operations[window->launches[index].operations] =
		(uint32_t)window->operation_count;
	window->operations[window->operation_count++] =
		(struct ncs_cost_operation){
			.first = first,
			.count = count,
			.last_begin_ns = window->launches[last].begin_ns,
			.is_transfer = operation->is_transfer,
			.is_separate = true,
			.waits_less = waits_less,
		};
	return 0;
}

static int separate(struct separation *separation, size_t index)
{
	struct ncs_cost_window *window = separation->window;
	const struct ncs_cost_operation operation = window->operations[index];
	uint32_t *members = &window->members[operation.first];
	uint32_t root = NCS_COST_NONE, latest = NCS_COST_NONE;
	bool any = false;
	int error = 0;

	for (uint32_t i = 0; i < operation.count; i++) {
		const struct ncs_cost_launch *launch =
			&window->launches[members[i]];

		if (launch->is_root && launch->wait_rule == NCS_WAIT_FOR_ROOT)
			root = members[i];
		any |= launch->may_end_early &&
		       ended_ns(launch) < operation.last_begin_ns;
	}
	if (!any)
		return 0;
	qsort_r(members, operation.count, sizeof(*members), by_begin,
		window->launches);
	for (uint32_t i = 0; !error && i < operation.count; i++) {
		const struct ncs_cost_launch *launch =
			&window->launches[members[i]];
		double at_ns = ended_ns(launch);
		uint32_t last;

		if (!launch->may_end_early || at_ns >= operation.last_begin_ns ||
		    (root != NCS_COST_NONE &&
		     window->launches[root].begin_ns > at_ns))
			continue;
		last = last_begun(window, members, operation.count, at_ns);
		error = add(separation, members[i], last, root, &operation,
			    last == latest);
		latest = last;
	}
	return error;
}

int ncs_cost_separate(struct ncs_cost_window *window)
{
	struct separation separation = {
		.window = window,
		.capacity = window->operation_count,
		.member_count = (uint32_t)window->item_count,
	};
	int error = 0;

	window->whole_count = window->operation_count;
	for (size_t i = 0; !error && i < window->whole_count; i++)
		error = separate(&separation, i);
	return error;
}
