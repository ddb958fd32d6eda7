/* SPDX-License-Identifier: MIT */
/* Arrivals and ends in columns; see path_lockstep.h. */
#include "analysis/path/path_lockstep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of doubles besides those of operations. */
#define COLUMNS 3

/* Number of arrivals that are computed in all runs before the next ones, so
 * that they stay in the cache. */
#define BLOCK 64u

static bool make_columns(struct ncs_lockstep *lockstep)
{
	size_t count = lockstep->count;
	double *column =
		calloc((COLUMNS + NCS_PATH_ENDS) * count, sizeof(*column));
	struct ncs_last_channel *last_channels =
		calloc(NCS_PATH_ENDS * count, sizeof(*last_channels));

	lockstep->least_ns = column;
	lockstep->operations[0].last_channels = last_channels;
	lockstep->owners = calloc(count, sizeof(*lockstep->owners));
	if (!column || !last_channels || !lockstep->owners)
		return false;
	lockstep->busy_ns = column += count;
	lockstep->producer_ns = column += count;
	for (unsigned i = 0; i < NCS_PATH_ENDS; i++) {
		lockstep->operations[i].end_ns = column += count;
		lockstep->operations[i].last_channels =
			&last_channels[i * count];
	}
	return true;
}

struct ncs_lockstep *ncs_lockstep_new(const struct ncs_part_times *part_times,
				      size_t count, size_t run_count)
{
	struct ncs_lockstep *lockstep = calloc(1, sizeof(*lockstep));

	if (!lockstep)
		return NULL;
	lockstep->count = count;
	lockstep->run_count = run_count;
	if (!make_columns(lockstep)) {
		ncs_lockstep_free(lockstep);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		lockstep->owners[i] = part_times[i].owner;
	for (size_t k = 0; k < run_count; k++)
		lockstep->named[k] = count;
	return lockstep;
}

void ncs_lockstep_free(struct ncs_lockstep *lockstep)
{
	if (!lockstep)
		return;
	free(lockstep->least_ns);
	free(lockstep->operations[0].last_channels);
	free(lockstep->owners);
	free(lockstep);
}

const struct ncs_lockstep_operation *
ncs_lockstep_operation_at(const struct ncs_lockstep *lockstep, unsigned age)
{
	return &lockstep->operations[(lockstep->latest - age) % NCS_PATH_ENDS];
}

const struct ncs_lockstep_operation *
ncs_lockstep_before_call(const struct ncs_lockstep *lockstep, size_t i,
			 double call_ns)
{
	for (unsigned age = 0; age < lockstep->operation_count; age++) {
		const struct ncs_lockstep_operation *operation =
			ncs_lockstep_operation_at(lockstep, age);

		if (operation->end_ns[i] <= call_ns)
			return operation;
	}
	return NULL;
}

/* Facts of up to BLOCK arrivals that scenarios need, as recorded. */
struct arrival_block {
	double total_ns[BLOCK];
	double gap_ns[NCS_PATH_GAPS][BLOCK];
	const struct ncs_lockstep_operation *called[BLOCK]; /* may be NULL */
	double call_gap_ns[BLOCK];                          /* since its end */
};

static inline void note_last(struct ncs_lockstep_arrivals *arrivals, size_t k,
			     size_t i, double at_ns)
{
	if (at_ns > arrivals->ready_in_ns[k]) {
		arrivals->ready_in_ns[k] = at_ns;
		arrivals->last[k] = i;
	}
}

/* Makes parts arrive in the replay. `block` is NULL, as a constant, if there
 * are no scenarios: the function is then compiled without it. */
static inline __attribute__((always_inline)) bool arrive_in_replay(
	struct ncs_lockstep *lockstep, const struct ncs_part_times *part_times,
	size_t from, size_t until, uint64_t base_ns, double latest_ns,
	struct arrival_block *block, struct ncs_lockstep_arrivals *arrivals)
{
	const struct ncs_lockstep_operation *predecessor =
		ncs_lockstep_operation_at(lockstep, 0);
	const double *end_ns = predecessor->end_ns;
	/* A copy that nothing else can point to. */
	struct ncs_lockstep_arrivals own = *arrivals;

	for (size_t i = from; i < until; i++) {
		struct ncs_path_entry entry =
			ncs_path_entry_of(&part_times[i], base_ns, latest_ns);
		double from_ns = end_ns[i], gap_ns[NCS_PATH_GAPS];
		double total_ns = entry.arrival_ns - from_ns;
		double at_ns =
			ncs_lockstep_end_ns(predecessor, 0, i) + total_ns;
		const struct ncs_lockstep_operation *called = NULL;
		double call_gap_ns = 0;

		if (part_times[i].owner != lockstep->owners[i] ||
		    entry.arrival_ns < from_ns)
			return false;
		if (entry.call_ns < from_ns) {
			called = ncs_lockstep_before_call(lockstep, i,
							  entry.call_ns);
			if (!called &&
			    lockstep->operation_count < NCS_PATH_ENDS)
				return false;
		}
		if (called) {
			call_gap_ns = entry.call_ns - called->end_ns[i];
			at_ns = ncs_larger(at_ns,
					   ncs_lockstep_end_ns(called, 0, i) +
						   call_gap_ns);
		}
		ncs_path_split_gap(&entry, from_ns, &lockstep->least_ns[i],
				   gap_ns);
		own.violations += entry.is_violation;
		own.ready_ns = ncs_larger(own.ready_ns, entry.arrival_ns);
		own.first_call_ns =
			ncs_smaller(own.first_call_ns, entry.call_ns);
		note_last(&own, 0, i, at_ns);
		if (!block)
			continue;
		lockstep->producer_ns[i] = gap_ns[NCS_PATH_PRODUCER];
		for (unsigned gap = 0; gap < NCS_PATH_GAPS; gap++)
			block->gap_ns[gap][i - from] = gap_ns[gap];
		block->total_ns[i - from] = total_ns;
		block->called[i - from] = called;
		block->call_gap_ns[i - from] = call_gap_ns;
	}
	*arrivals = own;
	return true;
}

/* Makes parts arrive in the run of a scenario. */
static void arrive_in_run(const struct ncs_lockstep *lockstep, size_t from,
			  size_t until, const struct arrival_block *block,
			  size_t k, const struct ncs_path_changes *changes,
			  struct ncs_lockstep_arrivals *arrivals)
{
	const struct ncs_lockstep_operation *predecessor =
		ncs_lockstep_operation_at(lockstep, 0);
	const double *gap_ns = block->gap_ns[changes->gap[k]];
	double saved = changes->saved[k], factor = changes->host_factor[k];

	for (size_t i = from; i < until; i++) {
		const struct ncs_lockstep_operation *called =
			block->called[i - from];
		double at_ns = ncs_lockstep_end_ns(predecessor, k, i) +
			       block->total_ns[i - from];

		at_ns -= gap_ns[i - from] * saved;
		if (called)
			at_ns = ncs_larger(
				at_ns,
				ncs_lockstep_end_ns(called, k, i) +
					block->call_gap_ns[i - from] * factor);
		if (i != lockstep->named[k])
			note_last(arrivals, k, i, at_ns);
	}
}

bool ncs_lockstep_arrive(struct ncs_lockstep *lockstep,
			 const struct ncs_path_changes *changes,
			 const struct ncs_part_times *part_times, size_t count,
			 uint64_t base_ns, double latest_ns,
			 struct ncs_lockstep_arrivals *arrivals)
{
	struct arrival_block block;

	if (lockstep->operation_count == 0 || count != lockstep->count)
		return false;
	arrivals->ready_ns = -INFINITY;
	arrivals->first_call_ns = INFINITY;
	arrivals->violations = 0;
	for (size_t k = 0; k < lockstep->run_count; k++) {
		arrivals->ready_in_ns[k] = -INFINITY;
		arrivals->last[k] = 0;
	}
	if (lockstep->run_count == 1)
		return arrive_in_replay(lockstep, part_times, 0, count, base_ns,
					latest_ns, NULL, arrivals);
	for (size_t from = 0; from < count; from += BLOCK) {
		size_t until = from + BLOCK < count ? from + BLOCK : count;

		if (!arrive_in_replay(lockstep, part_times, from, until,
				      base_ns, latest_ns, &block, arrivals))
			return false;
		for (size_t k = 1; k < lockstep->run_count; k++)
			arrive_in_run(lockstep, from, until, &block, k, changes,
				      arrivals);
	}
	for (size_t i = 0; i < count; i++)
		lockstep->busy_ns[i] += lockstep->producer_ns[i];
	return true;
}

double ncs_lockstep_end(struct ncs_lockstep *lockstep,
			const struct ncs_path_ready *ready,
			const struct ncs_path_edits *edits,
			const struct ncs_part_times *part_times,
			uint64_t base_ns)
{
	unsigned latest = (lockstep->latest + 1) % NCS_PATH_ENDS;
	struct ncs_lockstep_operation *operation =
		&lockstep->operations[latest];
	double last_ns = -INFINITY, *ends_ns = operation->end_ns;
	struct ncs_last_channel *last_channels = operation->last_channels;
	size_t count = lockstep->count;

	lockstep->latest = latest;
	lockstep->operation_count += lockstep->operation_count < NCS_PATH_ENDS;
	if (lockstep->unsaved < NCS_PATH_ENDS)
		lockstep->unsaved++;
	else
		lockstep->has_dropped = true;
	operation->ready.operation = ready->operation;
	operation->ready.ns = ready->ns;
	memcpy(operation->ready.in_ns, ready->in_ns,
	       lockstep->run_count * sizeof(double));
	if (lockstep->run_count > 1)
		operation->edits = *edits;
	for (size_t i = 0; i < count; i++) {
		double end_ns = ncs_since(base_ns, part_times[i].end_ns);

		last_ns = ncs_larger(last_ns, end_ns);
		ends_ns[i] = end_ns;
		last_channels[i] = part_times[i].last_channel;
	}
	return last_ns;
}
