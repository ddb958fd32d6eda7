/* SPDX-License-Identifier: MIT */
/* Coming and ending in columns; see path_lockstep.h. */
#include "analysis/path/path_lockstep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of doubles beside those of turns. */
#define COLUMNS 3

/* Arrivals that are looked at for one scenario after the other. */
#define BLOCK 64u

static bool make_columns(struct ncs_lockstep *lockstep)
{
	size_t count = lockstep->count;
	double *column =
		calloc((COLUMNS + NCS_PATH_ENDS) * count, sizeof(*column));
	struct ncs_last_channel *last_channels =
		calloc(NCS_PATH_ENDS * count, sizeof(*last_channels));

	lockstep->least_ns = column;
	lockstep->turns[0].last_channels = last_channels;
	lockstep->owners = calloc(count, sizeof(*lockstep->owners));
	if (!column || !last_channels || !lockstep->owners)
		return false;
	lockstep->busy_ns = column += count;
	lockstep->producer_ns = column += count;
	for (unsigned i = 0; i < NCS_PATH_ENDS; i++) {
		lockstep->turns[i].end_ns = column += count;
		lockstep->turns[i].last_channels = &last_channels[i * count];
	}
	return true;
}

struct ncs_lockstep *ncs_lockstep_new(const struct ncs_part_times *part_times,
				      size_t count, size_t sums)
{
	struct ncs_lockstep *lockstep = calloc(1, sizeof(*lockstep));

	if (!lockstep)
		return NULL;
	lockstep->count = count;
	lockstep->sums = sums;
	if (!make_columns(lockstep)) {
		ncs_lockstep_free(lockstep);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		lockstep->owners[i] = part_times[i].owner;
	for (size_t k = 0; k < sums; k++)
		lockstep->named[k] = count;
	return lockstep;
}

void ncs_lockstep_free(struct ncs_lockstep *lockstep)
{
	if (!lockstep)
		return;
	free(lockstep->least_ns);
	free(lockstep->turns[0].last_channels);
	free(lockstep->owners);
	free(lockstep);
}

const struct ncs_lockstep_turn *
ncs_lockstep_turn(const struct ncs_lockstep *lockstep, unsigned age)
{
	return &lockstep->turns[(lockstep->latest - age) % NCS_PATH_ENDS];
}

const struct ncs_lockstep_turn *
ncs_lockstep_called(const struct ncs_lockstep *lockstep, size_t i,
		    double call_ns)
{
	for (unsigned age = 0; age < lockstep->turn_count; age++) {
		const struct ncs_lockstep_turn *turn =
			ncs_lockstep_turn(lockstep, age);

		if (turn->end_ns[i] <= call_ns)
			return turn;
	}
	return NULL;
}

/* What scenarios need to know of arrivals: up to a block of them. */
struct arrivals {
	double total_ns[BLOCK];
	double gap_ns[NCS_PATH_GAPS][BLOCK];
	const struct ncs_lockstep_turn *called[BLOCK]; /* NULL: none */
	double since_ns[BLOCK];                        /* … that had ended */
};

static inline void note_last(struct ncs_lockstep_come *come, size_t k, size_t i,
			     double at_ns)
{
	if (at_ns > come->ready_in_ns[k]) {
		come->ready_in_ns[k] = at_ns;
		come->last[k] = i;
	}
}

/* Parts come, in the replay. Where that is all, `arrivals` is NULL: compiled
 * anew. */
static inline __attribute__((always_inline)) bool
come_by(struct ncs_lockstep *lockstep, const struct ncs_part_times *part_times,
	size_t from, size_t until, uint64_t base_ns, double latest_ns,
	struct arrivals *arrivals, struct ncs_lockstep_come *all)
{
	const struct ncs_lockstep_turn *after = ncs_lockstep_turn(lockstep, 0);
	const double *end_ns = after->end_ns;
	/* A copy that nothing else can point to. */
	struct ncs_lockstep_come come = *all;

	for (size_t i = from; i < until; i++) {
		struct ncs_path_moments moments =
			ncs_path_moments_of(&part_times[i], base_ns, latest_ns);
		double from_ns = end_ns[i], gap_ns[NCS_PATH_GAPS];
		double total_ns = moments.arrival_ns - from_ns;
		double at_ns = ncs_lockstep_end_ns(after, 0, i) + total_ns;
		const struct ncs_lockstep_turn *called = NULL;
		double since_ns = 0;

		if (part_times[i].owner != lockstep->owners[i] ||
		    moments.arrival_ns < from_ns)
			return false;
		if (moments.call_ns < from_ns) {
			called = ncs_lockstep_called(lockstep, i,
						     moments.call_ns);
			if (!called && lockstep->turn_count < NCS_PATH_ENDS)
				return false;
		}
		if (called) {
			since_ns = moments.call_ns - called->end_ns[i];
			at_ns = ncs_larger(at_ns,
					   ncs_lockstep_end_ns(called, 0, i) +
						   since_ns);
		}
		ncs_path_split(&moments, from_ns, &lockstep->least_ns[i],
			       gap_ns);
		come.violations += moments.is_violation;
		come.ready_ns = ncs_larger(come.ready_ns, moments.arrival_ns);
		come.first_call_ns =
			ncs_smaller(come.first_call_ns, moments.call_ns);
		note_last(&come, 0, i, at_ns);
		if (!arrivals)
			continue;
		lockstep->producer_ns[i] = gap_ns[NCS_PATH_PRODUCER];
		for (unsigned gap = 0; gap < NCS_PATH_GAPS; gap++)
			arrivals->gap_ns[gap][i - from] = gap_ns[gap];
		arrivals->total_ns[i - from] = total_ns;
		arrivals->called[i - from] = called;
		arrivals->since_ns[i - from] = since_ns;
	}
	*all = come;
	return true;
}

/* … in a scenario. */
static void come_in(const struct ncs_lockstep *lockstep, size_t from,
		    size_t until, const struct arrivals *arrivals, size_t k,
		    const struct ncs_path_changes *changes,
		    struct ncs_lockstep_come *come)
{
	const struct ncs_lockstep_turn *after = ncs_lockstep_turn(lockstep, 0);
	const double *gap_ns = arrivals->gap_ns[changes->gap[k]];
	double saved = changes->saved[k], factor = changes->host_factor[k];

	for (size_t i = from; i < until; i++) {
		const struct ncs_lockstep_turn *called =
			arrivals->called[i - from];
		double at_ns = ncs_lockstep_end_ns(after, k, i) +
			       arrivals->total_ns[i - from];

		at_ns -= gap_ns[i - from] * saved;
		if (called)
			at_ns = ncs_larger(
				at_ns,
				ncs_lockstep_end_ns(called, k, i) +
					arrivals->since_ns[i - from] * factor);
		if (i != lockstep->named[k])
			note_last(come, k, i, at_ns);
	}
}

bool ncs_lockstep_come(struct ncs_lockstep *lockstep,
		       const struct ncs_path_changes *changes,
		       const struct ncs_part_times *part_times, size_t count,
		       uint64_t base_ns, double latest_ns,
		       struct ncs_lockstep_come *come)
{
	struct arrivals arrivals;

	if (lockstep->turn_count == 0 || count != lockstep->count)
		return false;
	come->ready_ns = -INFINITY;
	come->first_call_ns = INFINITY;
	come->violations = 0;
	for (size_t k = 0; k < lockstep->sums; k++) {
		come->ready_in_ns[k] = -INFINITY;
		come->last[k] = 0;
	}
	if (lockstep->sums == 1)
		return come_by(lockstep, part_times, 0, count, base_ns,
			       latest_ns, NULL, come);
	for (size_t from = 0; from < count; from += BLOCK) {
		size_t until = from + BLOCK < count ? from + BLOCK : count;

		if (!come_by(lockstep, part_times, from, until, base_ns,
			     latest_ns, &arrivals, come))
			return false;
		for (size_t k = 1; k < lockstep->sums; k++)
			come_in(lockstep, from, until, &arrivals, k, changes,
				come);
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
	struct ncs_lockstep_turn *turn = &lockstep->turns[latest];
	double last_ns = -INFINITY, *ends_ns = turn->end_ns;
	struct ncs_last_channel *last_channels = turn->last_channels;
	size_t count = lockstep->count;

	lockstep->latest = latest;
	lockstep->turn_count += lockstep->turn_count < NCS_PATH_ENDS;
	if (lockstep->unsaved < NCS_PATH_ENDS)
		lockstep->unsaved++;
	else
		lockstep->drops = true;
	turn->ready.unit = ready->unit;
	turn->ready.ns = ready->ns;
	memcpy(turn->ready.in_ns, ready->in_ns,
	       lockstep->sums * sizeof(double));
	if (lockstep->sums > 1)
		turn->edits = *edits;
	for (size_t i = 0; i < count; i++) {
		double end_ns = ncs_since(base_ns, part_times[i].end_ns);

		last_ns = ncs_larger(last_ns, end_ns);
		ends_ns[i] = end_ns;
		last_channels[i] = part_times[i].last_channel;
	}
	return last_ns;
}
