/* SPDX-License-Identifier: MIT */
/* Keeps the parts of the latest operations, and has their cost computed; see
 * lateness_state.h. Must not judge: analysis/cost does. */
#include "analysis/model/lateness_state.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/hash.h"

/* Parts are kept for so long: the window is longer where steps are. */
#define KEPT_NS (16 * NCS_COST_WINDOW_NS)

/* Costs are computed anew so many times in a window, and less often the more parts
 * there are: 80,000 took 220 to 290 ms. */
#define ANEW 20u
#define MANY 8192u

struct ncs_costs {
	struct ncs_cost_part *parts;
	size_t count, capacity;
	uint64_t latest_ns;
	uint32_t processes;             /* numbers given so far, from 1 */
	struct ncs_cost_of_rank *costs; /* by process, from 1 */
	struct ncs_costs_step *steps;     /* likewise: those of their jobs */
	size_t cost_count;
	bool is_computed, has_new; /* parts came since then */
	uint64_t now_ns, computed_ns;
	uint64_t took_ns;    /* of a processor, the latest time */
	uint64_t dropped_ns; /* latest_ns as old parts were last dropped */
	uint64_t window_ns; /* the longest that was computed */
};

/* Gives the rank the number of its process and GPU. */
static void number_process(const struct ncs_model *model,
			   struct ncs_costs *costs, const struct ncs_rank *rank)
{
	struct ncs_late_rank *late = rank->late;

	for (size_t i = 0; i < model->rank_count && late->process == 0; i++) {
		const struct ncs_rank *other = model->ranks[i];

		if (other->late && ncs_compare_gpus(rank, other) == 0)
			late->process = other->late->process;
	}
	if (late->process == 0)
		late->process = ++costs->processes;
	late->costs = costs;
}

/* Returns a number for a communicator that stays while clocks are being aligned; ranks
 * whose clocks cannot be compared are of different ones. */
static uint64_t number_of(const struct ncs_communicator *communicator,
			  const struct ncs_joined *joined)
{
	uint64_t number = ncs_hash((uintptr_t)communicator->skew);

	return communicator->other_clocks > 0 ?
		       ncs_hash_add(number, joined->comm_id) :
		       number;
}

int ncs_costs_note(const struct ncs_comparison *comparison,
		   const struct ncs_communicator *communicator)
{
	const struct ncs_joined *joined = comparison->joined;
	struct ncs_skews *skews = comparison->model->skews;
	struct ncs_costs *costs = skews->costs;

	if (!costs)
		costs = skews->costs = calloc(1, sizeof(*costs));
	if (!costs || ncs_array_reserve(&costs->parts, &costs->capacity,
					costs->count + joined->count,
					sizeof(*costs->parts)) != 0)
		return -ENOMEM;
	costs->has_new = true;
	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_rank *rank = comparison->ranks[i];
		struct ncs_cost_part *part = &costs->parts[costs->count++];

		if (rank->late->process == 0)
			number_process(comparison->model, costs, rank);
		*part = ncs_cost_part_of(
			joined, &joined->parts[i], rank->late->process,
			i == comparison->last ? comparison->data_late_ns : 0);
		part->comm_id = number_of(communicator, joined);
		if (part->call_ns > costs->latest_ns)
			costs->latest_ns = part->call_ns;
	}
	return 0;
}

/* Returns whether a part is of the latest so many ns. */
static bool is_within(const struct ncs_costs *costs,
		      const struct ncs_cost_part *part, uint64_t window_ns)
{
	return part->call_ns + window_ns >= costs->latest_ns;
}

static void drop_old(struct ncs_costs *costs)
{
	size_t kept = 0, from = 0;

	if (costs->count > NCS_COSTS_PARTS)
		from = costs->count - NCS_COSTS_PARTS;
	for (size_t i = from; i < costs->count; i++)
		if (is_within(costs, &costs->parts[i], KEPT_NS))
			costs->parts[kept++] = costs->parts[i];
	costs->count = kept;
	costs->dropped_ns = costs->latest_ns;
}

void ncs_costs_update(struct ncs_costs *costs, uint64_t now_ns,
		      uint64_t every_times)
{
	uint64_t anew_ns;

	if (!costs)
		return;
	costs->now_ns = now_ns;
	if (costs->count > NCS_COSTS_PARTS + NCS_COSTS_PARTS / 8 ||
	    costs->latest_ns >= costs->dropped_ns + NCS_COST_WINDOW_NS)
		drop_old(costs);
	anew_ns = costs->window_ns / ANEW * (1 + costs->count / MANY);
	if (anew_ns < every_times * costs->took_ns)
		anew_ns = every_times * costs->took_ns;
	/* Older ones would be of operations that are forgotten. */
	if (anew_ns > KEPT_NS)
		anew_ns = KEPT_NS;
	costs->is_computed &= !costs->has_new ||
			      now_ns < costs->computed_ns + anew_ns;
}

static int by_communicator(const void *a, const void *b)
{
	const struct ncs_cost_part *x = a, *y = b;

	if (x->comm_id != y->comm_id)
		return x->comm_id < y->comm_id ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Makes processes one job that have parts in one communicator. Returns 0 or
 * -ENOMEM. */
static int find_jobs(const struct ncs_costs *costs, size_t *jobs)
{
	struct {
		uint64_t comm_id;
		uint32_t process; /* the first one with a part; 0: no entry */
	} * first;
	size_t size = 1;

	while (size < 2 * costs->count)
		size *= 2;
	first = calloc(size, sizeof(*first));
	if (!first)
		return -ENOMEM;
	for (uint32_t i = 0; i <= costs->processes; i++)
		jobs[i] = i;
	for (size_t i = 0; i < costs->count; i++) {
		const struct ncs_cost_part *part = &costs->parts[i];
		size_t at = ncs_hash(part->comm_id) & (size - 1);

		while (first[at].process != 0 &&
		       first[at].comm_id != part->comm_id)
			at = (at + 1) & (size - 1);
		if (first[at].process == 0) {
			first[at].comm_id = part->comm_id;
			first[at].process = part->rank;
		}
		jobs[ncs_job_of_one(jobs, part->rank)] =
			ncs_job_of_one(jobs, first[at].process);
	}
	free(first);
	return 0;
}

/* Notes the step of a job, and which of its processes costs most. */
static void note_step(struct ncs_costs *costs, const struct ncs_cost *cost,
		      const struct ncs_cost_of_rank *ranks, size_t count)
{
	struct ncs_costs_step step = {
		.step = *ncs_cost_step(cost),
		.transfers = *ncs_cost_find(cost, NCS_COST_TRANSFERS),
	};

	for (size_t i = 0; i < count; i++) {
		const struct ncs_cost_of_rank *of = &costs->costs[ranks[i].rank];

		if (of->unknown != NCS_COST_KNOWN ||
		    of->least < NCS_COST_LEAST / 100. ||
		    of->share <= step.latest_share)
			continue;
		step.latest = ranks[i].rank;
		step.latest_share = of->share;
	}
	for (size_t i = 0; i < count; i++)
		costs->steps[ranks[i].rank] = step;
}

/* Returns the dependencies of the stretch of parts that has times; of all if it has too
 * few steps, which then tell why nothing is known. Returns NULL if there is no memory. */
static struct ncs_cost *learn(struct ncs_cost_part *parts, size_t count)
{
	size_t kept = count;
	struct ncs_cost *cost;
	enum ncs_cost_unknown unknown;

	if (ncs_cost_keep_stretch(parts, &kept) != 0)
		return NULL;
	cost = ncs_cost_new(parts, kept);
	if (!cost || kept == count)
		return cost;
	unknown = ncs_cost_step(cost)->unknown;
	if (unknown != NCS_COST_NO_STEP && unknown != NCS_COST_FEW_STEPS)
		return cost;
	ncs_cost_free(cost);
	return ncs_cost_new(parts, count);
}

/* Computes the cost of processes by `count` parts; a shorter window's stays if this one
 * does not tell. Sets *is_short if the steps of some are too few. */
static int compute_parts(struct ncs_costs *costs, struct ncs_cost_part *parts,
			 size_t count, bool *is_short)
{
	struct ncs_cost *cost = learn(parts, count);
	int error = cost ? ncs_cost_compute(cost, NCS_COST_EACH) : -ENOMEM;
	const struct ncs_cost_of_rank *ranks;

	*is_short = false;
	if (!error) {
		ranks = ncs_cost_ranks(cost, &count);
		for (size_t i = 0; i < count; i++) {
			if (ranks[i].unknown == NCS_COST_KNOWN ||
			    costs->costs[ranks[i].rank].steps == 0)
				costs->costs[ranks[i].rank] = ranks[i];
			*is_short |= ranks[i].steps <
				     NCS_COST_STEPS_WANTED;
		}
		note_step(costs, cost, ranks, count);
	}
	ncs_cost_free(cost);
	return error;
}

/* Computes the cost of the processes of a job, over as long a window as its steps
 * need. `parts` has room for all. */
static int compute_job(struct ncs_costs *costs, size_t *jobs, size_t job,
		       struct ncs_cost_part *parts)
{
	uint64_t window_ns = NCS_COST_WINDOW_NS;
	bool is_short = true, is_all = false;
	int error = 0;

	for (; !error && is_short && !is_all && window_ns <= KEPT_NS;
	     window_ns *= 2) {
		size_t count = 0;

		is_all = true;
		for (size_t i = 0; i < costs->count; i++) {
			const struct ncs_cost_part *part = &costs->parts[i];

			if (ncs_job_of_one(jobs, part->rank) != job)
				continue;
			if (is_within(costs, part, window_ns))
				parts[count++] = *part;
			else
				is_all = false;
		}
		qsort(parts, count, sizeof(*parts), by_communicator);
		if (count > 0)
			error = compute_parts(costs, parts, count, &is_short);
		if (window_ns > costs->window_ns)
			costs->window_ns = window_ns;
	}
	return error;
}

static int compute(struct ncs_costs *costs)
{
	size_t *jobs = calloc(costs->processes + 1, sizeof(*jobs));
	struct ncs_cost_part *parts = calloc(costs->count + 1, sizeof(*parts));
	int error = jobs && parts ? find_jobs(costs, jobs) : -ENOMEM;

	costs->window_ns = NCS_COST_WINDOW_NS;
	free(costs->costs);
	free(costs->steps);
	costs->costs = calloc(costs->processes + 1, sizeof(*costs->costs));
	costs->steps = calloc(costs->processes + 1, sizeof(*costs->steps));
	costs->cost_count =
		costs->costs && costs->steps ? costs->processes + 1 : 0;
	if (costs->cost_count == 0)
		error = -ENOMEM;
	for (uint32_t i = 1; !error && i <= costs->processes; i++)
		if (jobs[i] == i)
			error = compute_job(costs, jobs, i, parts);
	free(jobs);
	free(parts);
	return error;
}

/* Returns whether what is kept of a rank's process was computed, after it is if it was
 * not; it may have come since then. */
static bool is_computed(const struct ncs_late_rank *late)
{
	struct ncs_costs *costs = late->costs;
	uint64_t began_ns;

	if (costs && !costs->is_computed) {
		began_ns = ncs_clock_thread_ns();
		if (compute(costs) != 0)
			return false;
		costs->took_ns = ncs_clock_thread_ns() - began_ns;
		costs->computed_ns = costs->now_ns;
		costs->is_computed = true;
		costs->has_new = false;
	}
	return costs && late->process < costs->cost_count;
}

const struct ncs_cost_of_rank *ncs_costs_find(const struct ncs_late_rank *late)
{
	const struct ncs_cost_of_rank *found;

	if (!is_computed(late))
		return NULL;
	found = &late->costs->costs[late->process];
	return found->rank == late->process ? found : NULL;
}

const struct ncs_costs_step *ncs_costs_step(const struct ncs_late_rank *late)
{
	return ncs_costs_find(late) ? &late->costs->steps[late->process] : NULL;
}

void ncs_costs_forget(struct ncs_costs *costs)
{
	if (!costs)
		return;
	costs->count = costs->latest_ns = costs->dropped_ns = 0;
	costs->has_new = true;
}

void ncs_costs_free(struct ncs_costs *costs)
{
	if (costs) {
		free(costs->parts);
		free(costs->costs);
		free(costs->steps);
	}
	free(costs);
}
