/* SPDX-License-Identifier: MIT */
/* The events of a kind whose works are compared; see cost_anchors.h: of each rank as
 * many, spread evenly over the window. */
#include "analysis/base/collective_waits.h"
#include "analysis/cost/cost_anchors.h"

#include <math.h>

/* Returns whether all launches between a launch and the same one a step before
 * are regular. */
static bool follows_a_step(const struct ncs_cost_window *window,
			   const struct ncs_cost_class *class,
			   const struct ncs_cost_rank *rank, uint32_t regular)
{
	const uint32_t *launches = &window->regular[rank->regular];

	return regular >= class->depth && regular >= class->period &&
	       launches[regular] - launches[regular - class->period] ==
		       class->period;
}

static uint32_t add_instances(struct ncs_cost_instances *of, uint32_t place,
			      uint32_t position)
{
	const struct ncs_cost_window *window = of->window;
	const struct ncs_cost_rank *rank =
		&window->ranks[of->class->ranks[place]];
	uint32_t period = of->class->period, fitting = 0, next = 0, kept = 0;
	uint32_t first = of->first[place];

	for (uint32_t pass = 0; pass < 2; pass++) {
		uint32_t seen = 0, ahead;
		double apart = fmax(1, (double)fitting / NCS_COST_LOOKED_AT);

		for (uint32_t i = 0; i < rank->regular_count; i += ahead) {
			const struct ncs_cost_launch *launch =
				&window->launches
					 [window->regular[rank->regular + i]];

			ahead = launch->position == position ? period : 1;
			if (ahead == 1 && period > 1)
				continue;
			if (!follows_a_step(window, of->class, rank, i))
				continue;
			fitting += pass == 0;
			if (pass == 0 || seen++ != next ||
			    kept == NCS_COST_LOOKED_AT)
				continue;
			of->instances[first + kept++] =
				(struct ncs_cost_instance){
					launch,
					ncs_cost_at_ns(launch, of->event),
					of->event == NCS_COST_READY &&
						launch->is_censored,
				};
			next = (uint32_t)(kept * apart);
		}
		if (fitting < NCS_COST_STEPS)
			return 0;
	}
	return kept;
}

void ncs_cost_find_instances(struct ncs_cost_instances *of, uint32_t position)
{
	of->rank_count = of->known = 0;
	for (uint32_t i = 0; i < of->class->rank_count; i++) {
		uint32_t count = add_instances(of, i, position);

		of->first[i + 1] = of->first[i] + count;
		of->rank_count += count > 0;
	}
	for (uint32_t i = 0; i < of->first[of->class->rank_count]; i++)
		of->known += !of->instances[i].is_censored;
}

bool ncs_cost_is_awaited(const struct ncs_cost_instances *of, uint32_t place)
{
	const struct ncs_cost_window *window = of->window;
	uint32_t count = of->first[place + 1] - of->first[place], last = 0;

	for (uint32_t i = of->first[place]; i < of->first[place + 1]; i++) {
		const struct ncs_cost_launch *launch = of->instances[i].launch;
		uint32_t operation =
			window->launch_operations[launch->operations];

		last += launch->wait_rule != NCS_WAIT_FOR_ALL ||
			window->operations[operation].last_begin_ns -
					launch->begin_ns <
				(double)NCS_LAUNCH_NS +
					(double)launch->clocks_apart_ns;
	}
	/* Where many ranks are alike, each is last in few operations. */
	return (uint64_t)100 * last * of->class->rank_count >=
	       (uint64_t)NCS_COST_SHARE * count;
}
