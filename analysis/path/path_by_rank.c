/* SPDX-License-Identifier: MIT */
/* The pass over the parts of one operation; see path_by_rank.h. Functions that
 * take `run_count` are compiled twice: once for any number of runs, and once
 * with the constant 1, for the replay alone. */
#include "analysis/path/path_by_rank.h"

#include <math.h>

#include "analysis/path/path_arrivals.h"
#include "analysis/path/path_finished.h"

/* Finds the predecessors of an arrival, as recorded. */
static inline void find_predecessors(struct ncs_path *path,
				     const struct ncs_part_times *times,
				     double latest_ns,
				     struct ncs_path_arrival *arrival)
{
	struct ncs_path_member *member = &path->members[times->owner];
	struct ncs_path_rank *rank = member->rank;
	struct ncs_path_entry entry =
		ncs_path_entry_of(times, path->base_ns, latest_ns);
	double call_ns = entry.call_ns, from_ns = call_ns;
	const struct ncs_path_finished *earliest;

	path->report.violations += entry.is_violation;
	arrival->member = member;
	arrival->at_ns = entry.arrival_ns;
	arrival->call_predecessor = arrival->comm_predecessor = NULL;
	arrival->call_ns = call_ns;
	if (rank->latest_ns <= arrival->at_ns) {
		arrival->predecessor =
			ncs_path_finished_at(path, rank, rank->latest);
		from_ns = rank->latest_ns;
	} else {
		rank->overlaps |= rank->count > 0;
		arrival->predecessor = ncs_path_finished_before(
			path, rank, arrival->at_ns, &arrival->earliest);
		if (arrival->predecessor)
			from_ns = arrival->predecessor->at_ns;
		path->report.forgotten += arrival->earliest != NULL;
		arrival->base_ns = call_ns;
	}
	if (call_ns < from_ns)
		arrival->call_predecessor = ncs_path_finished_before(
			path, rank, call_ns, &earliest);
	if (arrival->call_predecessor)
		arrival->call_gap_ns =
			call_ns - arrival->call_predecessor->at_ns;
	if (member->latest && member->latest->at_ns <= arrival->at_ns)
		arrival->comm_predecessor = member->latest;
	ncs_path_split_gap(&entry, from_ns, &member->least_ns, arrival->gap_ns);
	arrival->total_ns = arrival->at_ns - from_ns;
	rank->busy_ns += arrival->gap_ns[NCS_PATH_PRODUCER];
}

/* Notes the arrival of part i in all runs but those that are processed
 * separately. */
static inline void arrive(const struct ncs_path *path, size_t run_count,
			  const struct ncs_part *parts, size_t i,
			  struct ncs_path_start *start)
{
	const struct ncs_path_arrival *arrival = &path->arrivals[i];

	if (arrival->member->rank->is_named || !arrival->predecessor) {
		for (size_t k = 0; k < run_count; k++) {
			double at_ns = ncs_path_arrival_ns(path, k, &parts[i],
							   arrival, -1);

			if (ncs_path_is_straggler(path, k, &parts[i]))
				start->straggler_ns[k] = ncs_larger(
					start->straggler_ns[k], at_ns);
			else
				ncs_path_note_arrival(start, k, i, at_ns);
		}
		return;
	}
	for (size_t k = 0; k < run_count; k++) {
		double at_ns =
			arrival->predecessor->times_ns[k] + arrival->total_ns;

		/* Run 0 is the replay. */
		if (k > 0)
			at_ns -= arrival->gap_ns[path->changes.gap[k]] *
				 path->changes.saved[k];
		ncs_path_note_arrival(
			start, k, i,
			ncs_path_not_before_ns(arrival, k,
					       path->changes.host_factor[k],
					       at_ns));
	}
}

static inline void arrive_all(struct ncs_path *path, size_t run_count,
			      const struct ncs_part *parts,
			      const struct ncs_part_times *part_times,
			      size_t count, double latest_ns,
			      struct ncs_path_start *start)
{
	double ready_ns = -INFINITY, first_ns = path->first_ns;

	for (size_t i = 0; i < count; i++) {
		struct ncs_path_arrival *arrival = &path->arrivals[i];

		find_predecessors(path, &part_times[i], latest_ns, arrival);
		ready_ns = ncs_larger(ready_ns, arrival->at_ns);
		first_ns = ncs_smaller(first_ns, arrival->call_ns);
		arrive(path, run_count, parts, i, start);
	}
	start->ready.ns = ready_ns;
	path->first_ns = first_ns;
}

static inline double end_all(struct ncs_path *path, size_t run_count,
			     const struct ncs_path_pending *pending,
			     const struct ncs_path_start *start,
			     const struct ncs_part_times *part_times,
			     size_t count)
{
	double last_ns = -INFINITY;

	for (size_t i = 0; i < count; i++) {
		double end_ns = ncs_since(path->base_ns, part_times[i].end_ns);

		last_ns = ncs_larger(last_ns, end_ns);
		ncs_path_finished_add(path, run_count, &start->ready,
				      &pending->edits, part_times[i].owner,
				      &part_times[i].last_channel,
				      path->arrivals[i].at_ns, end_ns);
	}
	return last_ns;
}

void ncs_path_arrive_by_rank(struct ncs_path *path,
			     const struct ncs_part *parts,
			     const struct ncs_part_times *part_times,
			     size_t count, double latest_ns,
			     struct ncs_path_start *start)
{
	if (path->run_count == 1)
		arrive_all(path, 1, parts, part_times, count, latest_ns, start);
	else
		arrive_all(path, path->run_count, parts, part_times, count,
			   latest_ns, start);
	for (size_t k = 1; k < path->run_count; k++)
		if ((path->separate >> k & 1) ||
		    start->straggler_ns[k] >= start->ready.in_ns[k])
			ncs_path_arrive_separately(path, parts, count, k,
						   start);
}

double ncs_path_end_by_rank(struct ncs_path *path,
			    const struct ncs_path_pending *pending,
			    const struct ncs_path_start *start,
			    const struct ncs_part_times *part_times,
			    size_t count)
{
	if (path->run_count == 1)
		return end_all(path, 1, pending, start, part_times, count);
	return end_all(path, path->run_count, pending, start, part_times,
		       count);
}
