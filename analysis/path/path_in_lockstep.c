/* SPDX-License-Identifier: MIT */
/* Ranks in lockstep; see path_in_lockstep.h. */
#include "analysis/path/path_in_lockstep.h"

#include <string.h>

#include "analysis/path/path_arrivals.h"
#include "analysis/path/path_finished.h"

/* --- Entering and leaving ------------------------------------------------- */

/* The predecessor of a part in lockstep is its rank's latest end. Its arrival
 * is not known here any more; any time since that end would do, so its own end
 * is used. */
void ncs_path_save_lockstep(struct ncs_path *path,
			    struct ncs_lockstep *lockstep)
{
	if (lockstep->unsaved == 0)
		return;
	while (lockstep->unsaved > 0) {
		const struct ncs_lockstep_operation *operation =
			ncs_lockstep_operation_at(lockstep,
						  --lockstep->unsaved);

		for (size_t i = 0; i < lockstep->count; i++)
			ncs_path_finished_add(
				path, path->run_count, &operation->ready,
				&operation->edits, lockstep->owners[i],
				&operation->last_channels[i],
				operation->end_ns[i], operation->end_ns[i]);
	}
	for (size_t i = 0; i < lockstep->count; i++) {
		struct ncs_path_member *member =
			&path->members[lockstep->owners[i]];

		member->least_ns = lockstep->least_ns[i];
		member->rank->busy_ns += lockstep->busy_ns[i];
		member->rank->forgets |= lockstep->has_dropped;
		lockstep->busy_ns[i] = 0;
	}
	lockstep->has_dropped = false;
}

void ncs_path_drop_lockstep(struct ncs_path *path,
			    struct ncs_lockstep *lockstep)
{
	for (size_t i = 0; lockstep && i < lockstep->count; i++) {
		struct ncs_path_member *member =
			&path->members[lockstep->owners[i]];

		if (member->lockstep == lockstep)
			member->lockstep = NULL;
	}
	ncs_lockstep_free(lockstep);
}

static void dissolve(struct ncs_path *path, struct ncs_lockstep *lockstep)
{
	ncs_path_save_lockstep(path, lockstep);
	ncs_path_drop_lockstep(path, lockstep);
}

/* Whether the scenario of run k changes the arrivals of this member's rank
 * alone. */
static bool names(const struct ncs_path *path, size_t k,
		  const struct ncs_path_member *member)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);

	return scenario->rank >= 0 &&
	       member->rank - path->ranks == scenario->rank;
}

/* Puts the owners of these parts into a new lockstep, unless one of their ranks
 * has other communicators. */
static void form_lockstep(struct ncs_path *path,
			  const struct ncs_part_times *part_times, size_t count)
{
	struct ncs_lockstep *lockstep;
	bool is_possible = true;

	for (size_t i = 0; is_possible && i < count; i++)
		is_possible =
			!path->members[part_times[i].owner].rank->has_several;
	lockstep = is_possible ? ncs_lockstep_new(part_times, count,
						  path->run_count) :
				 NULL;
	if (is_possible && !lockstep) {
		path->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; is_possible && i < count; i++) {
		struct ncs_path_member *member =
			&path->members[part_times[i].owner];

		/* A rank has two parts in one operation if the data are
		 * wrong. */
		is_possible = member->lockstep != lockstep;
		if (member->lockstep && is_possible)
			dissolve(path, member->lockstep);
		member->lockstep = lockstep;
		for (size_t k = 1; k < path->run_count; k++)
			if (member->rank->is_named && names(path, k, member))
				lockstep->named[k] = i;
	}
	if (!is_possible) {
		if (lockstep)
			dissolve(path, lockstep);
		path->members[part_times[0].owner].is_out_of_lockstep = true;
	}
}

struct ncs_lockstep *
ncs_path_enter_lockstep(struct ncs_path *path,
			const struct ncs_part_times *part_times, size_t count)
{
	struct ncs_path_member *first = &path->members[part_times[0].owner];
	struct ncs_lockstep *lockstep = first->lockstep;
	bool is_same = lockstep && lockstep->count == count;

	for (size_t i = 0; is_same && i < count; i++)
		is_same = lockstep->owners[i] == part_times[i].owner;
	if (lockstep && !is_same)
		dissolve(path, lockstep);
	if (!first->lockstep && !first->is_out_of_lockstep)
		form_lockstep(path, part_times, count);
	return first->lockstep;
}

void ncs_path_leave_locksteps(struct ncs_path *path,
			      const struct ncs_lockstep *kept,
			      const struct ncs_part_times *part_times,
			      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ncs_lockstep *lockstep =
			path->members[part_times[i].owner].lockstep;

		if (!lockstep)
			continue;
		ncs_path_save_lockstep(path, lockstep);
		if (lockstep != kept)
			lockstep->operation_count = 0;
	}
}

bool ncs_path_arrived_in_lockstep(const struct ncs_path *path,
				  struct ncs_lockstep *lockstep)
{
	for (size_t i = 0; i < lockstep->count; i++) {
		const struct ncs_path_member *member = path->arrivals[i].member;
		const struct ncs_path_rank *rank = member->rank;

		if (rank->capacity > NCS_PATH_ENDS ||
		    (rank->count > 0 &&
		     rank->latest_ns > path->arrivals[i].at_ns)) {
			lockstep->operation_count = 0;
			return false;
		}
		lockstep->least_ns[i] = member->least_ns;
	}
	return true;
}

/* --- Arriving ------------------------------------------------------------- */

static const struct ncs_path_finished *
recall_end(const struct ncs_path *path, const struct ncs_lockstep *lockstep,
	   const struct ncs_lockstep_operation *operation, size_t i,
	   struct ncs_path_finished *finished)
{
	ncs_path_finished_fill(path->run_count, &operation->ready,
			       &operation->edits, lockstep->owners[i],
			       &operation->last_channels[i],
			       operation->end_ns[i], finished);
	return finished;
}

void ncs_path_recall(struct ncs_path *path, const struct ncs_lockstep *lockstep,
		     const struct ncs_part_times *part_times, double latest_ns,
		     size_t i)
{
	struct ncs_path_arrival *arrival = &path->arrivals[i];
	const struct ncs_lockstep_operation *predecessor =
		ncs_lockstep_operation_at(lockstep, 0);
	const struct ncs_lockstep_operation *called = NULL;
	double from_ns = predecessor->end_ns[i];
	struct ncs_path_entry entry =
		ncs_path_entry_of(&part_times[i], path->base_ns, latest_ns);

	*arrival = (struct ncs_path_arrival){
		.at_ns = entry.arrival_ns,
		.total_ns = entry.arrival_ns - from_ns,
		.predecessor = recall_end(path, lockstep, predecessor, i,
					  path->recalled[0]),
		.call_ns = entry.call_ns,
		.member = &path->members[lockstep->owners[i]],
	};
	if (entry.call_ns < from_ns)
		called = ncs_lockstep_before_call(lockstep, i, entry.call_ns);
	if (called) {
		arrival->call_predecessor = recall_end(path, lockstep, called,
						       i, path->recalled[1]);
		arrival->call_gap_ns = entry.call_ns - called->end_ns[i];
	}
	ncs_path_split_gap(&entry, from_ns, &lockstep->least_ns[i],
			   arrival->gap_ns);
}

/* Returns the time in ns that the rank named by a scenario would take before
 * its arrival if it were like the others. */
static double
usual_ns(const struct ncs_path *path, const struct ncs_lockstep *lockstep,
	 const struct ncs_scenario *scenario, const struct ncs_part *parts,
	 const struct ncs_part_times *part_times, double latest_ns)
{
	const double *end_ns = ncs_lockstep_operation_at(lockstep, 0)->end_ns;

	for (size_t i = 0; i < lockstep->count; i++) {
		struct ncs_path_entry entry = ncs_path_entry_of(
			&part_times[i], path->base_ns, latest_ns);

		path->arrivals[i].total_ns = entry.arrival_ns - end_ns[i];
	}
	return ncs_path_usual_ns(path, scenario, parts, lockstep->count);
}

/* Makes the rank that the scenario of run k names arrive, after the other
 * arrivals were noted. If several ranks arrive last at the same time, the one
 * with the smallest index counts as the last one. */
static void arrive_named(struct ncs_path *path, struct ncs_lockstep *lockstep,
			 size_t k, const struct ncs_part *parts,
			 const struct ncs_part_times *part_times,
			 double latest_ns, struct ncs_path_start *start)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	size_t i = lockstep->named[k];
	double at_ns;

	ncs_path_recall(path, lockstep, part_times, latest_ns, i);
	at_ns = ncs_path_arrival_ns(path, k, &parts[i], &path->arrivals[i], -1);
	if (ncs_path_is_straggler(path, k, &parts[i])) {
		if (at_ns < start->ready.in_ns[k])
			return;
		start->usual_ns[k] = usual_ns(path, lockstep, scenario, parts,
					      part_times, latest_ns);
		at_ns = ncs_path_arrival_ns(path, k, &parts[i],
					    &path->arrivals[i],
					    start->usual_ns[k]);
	}
	if (at_ns == start->ready.in_ns[k] && i < start->last[k])
		start->last[k] = i;
	ncs_path_note_arrival(start, k, i, at_ns);
}

bool ncs_path_arrive_in_lockstep(struct ncs_path *path,
				 struct ncs_lockstep *lockstep,
				 const struct ncs_part *parts,
				 const struct ncs_part_times *part_times,
				 size_t count, double latest_ns,
				 struct ncs_path_start *start)
{
	struct ncs_lockstep_arrivals arrivals;

	if (!ncs_lockstep_arrive(lockstep, &path->changes, part_times, count,
				 path->base_ns, latest_ns, &arrivals))
		return false;
	path->report.violations += arrivals.violations;
	path->first_ns = ncs_smaller(path->first_ns, arrivals.first_call_ns);
	start->ready.ns = arrivals.ready_ns;
	memcpy(start->ready.in_ns, arrivals.ready_in_ns,
	       path->run_count * sizeof(double));
	memcpy(start->last, arrivals.last, path->run_count * sizeof(size_t));
	for (size_t k = 1; k < path->run_count; k++)
		if (lockstep->named[k] < count)
			arrive_named(path, lockstep, k, parts, part_times,
				     latest_ns, start);
	return true;
}

/* --- Ending --------------------------------------------------------------- */

/* Notes the latest ends so far. `last_ns` is the last end of the latest
 * operation, as recorded. Changes keep the order of transfers, so the same part
 * ends last in each run. If several parts end last, the one with the smallest
 * index counts. */
static void note_ends(struct ncs_path *path,
		      const struct ncs_lockstep *lockstep, double last_ns)
{
	const struct ncs_lockstep_operation *operation =
		ncs_lockstep_operation_at(lockstep, 0);
	const struct ncs_path_ready *ready = &operation->ready;
	const struct ncs_path_edits *edits = &operation->edits;

	for (size_t k = 0; k < path->run_count; k++) {
		double end_ns =
			ready->in_ns[k] +
			ncs_path_transfer_ns(edits, k, last_ns - ready->ns);
		size_t i = 0;

		if (end_ns <= path->ends_ns[k])
			continue;
		while (i + 1 < lockstep->count &&
		       ncs_lockstep_end_ns(operation, k, i) < end_ns)
			i++;
		path->ends_ns[k] = end_ns;
		path->ends[k] = (struct ncs_path_end){
			.operation = ready->operation,
			.owner = lockstep->owners[i],
			.is_unknown = edits->unknown >> k & 1,
			.last_channel = operation->last_channels[i],
			.transfer_ns = ncs_path_transfer_ns(
				edits, k, operation->end_ns[i] - ready->ns),
		};
	}
}

double ncs_path_end_in_lockstep(struct ncs_path *path,
				struct ncs_lockstep *lockstep,
				const struct ncs_path_pending *pending,
				const struct ncs_path_start *start,
				const struct ncs_part_times *part_times)
{
	double last_ns = ncs_lockstep_end(lockstep, &start->ready,
					  &pending->edits, part_times,
					  path->base_ns);

	note_ends(path, lockstep, last_ns);
	return last_ns;
}
