/* SPDX-License-Identifier: MIT */
/* The pass over the parts of one operation; see path_by_rank.h. Functions that
 * take `run_count` are compiled twice: once for any number of runs, and once
 * with the constant 1, for the replay alone. */
#include "analysis/path/path_by_rank.h"

#include <math.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/path/path_arrivals.h"
#include "analysis/path/path_finished.h"
#include "analysis/path/path_lines.h"

/* Returns whether a part was queued behind one that has ended: it was launched before
 * that, and began right after. */
static inline bool is_behind(const struct ncs_path_entry *entry,
			     const struct ncs_path_finished *finished)
{
	return entry->begin_ns < finished->at_ns &&
	       entry->arrival_ns - finished->at_ns <= (double)NCS_LAUNCH_NS;
}

/* Returns the latest part of a communicator, if a collective's kernel that began
 * tells that it has ended: kernels of a communicator run one after another. Its
 * end may be recorded later, by the clock of the rank that arrived last. */
static inline const struct ncs_path_finished *
ended_before(const struct ncs_path *path, const struct ncs_part *part,
	     const struct ncs_part_times *times,
	     const struct ncs_path_member *member)
{
	const struct ncs_path_rank *rank = member->rank;

	if (!times->has_begun || part->flags & NCS_PART_P2P ||
	    rank->has_transfers)
		return NULL;
	if (!rank->has_several)
		return rank->count > 0 ?
			       ncs_path_finished_at(path, rank, rank->latest) :
			       NULL;
	return isfinite(member->latest->at_ns) ? member->latest : NULL;
}

/* Finds the part that an arrival follows, but for a send beside which its rank
 * goes on. `ended` has ended by then, whatever its times say; NULL if none is
 * known to. */
static inline void find_predecessor(struct ncs_path *path,
				    const struct ncs_path_entry *entry,
				    const struct ncs_path_finished *ended,
				    struct ncs_path_arrival *arrival)
{
	const struct ncs_path_member *member = arrival->member;
	struct ncs_path_rank *rank = member->rank;
	const struct ncs_path_finished *latest = member->latest, *found;

	arrival->earliest = NULL;
	if (rank->latest_ns <= entry->arrival_ns) {
		found = ncs_path_finished_at(path, rank, rank->latest);
	} else if (ended && ended->least_ns > entry->arrival_ns) {
		found = ended;
	} else {
		rank->overlaps |= rank->count > 0;
		found = ncs_path_finished_before(path, rank, entry->arrival_ns,
						 &arrival->earliest);
		path->report.forgotten += arrival->earliest != NULL;
	}
	if (latest && latest != ended && latest->least_ns > entry->arrival_ns)
		latest = NULL;
	if (latest && is_behind(entry, latest))
		found = latest;
	arrival->comm_predecessor =
		ncs_path_before_of(latest, entry->arrival_ns);
	arrival->predecessor = ncs_path_before_of(found, entry->arrival_ns);
	path->report.trust.queued_parts += found && is_behind(entry, found);
}

/* Finds the part that a call follows, and what the host took for the call.
 * `from_ns` is the end of the arrival's predecessor. */
static inline void find_call(struct ncs_path *path, double from_ns,
			     struct ncs_path_arrival *arrival)
{
	struct ncs_path_member *member = arrival->member;
	const struct ncs_path_finished *earliest, *found = NULL;
	double call_ns = arrival->call_ns, since_ns = from_ns;

	if (call_ns < from_ns)
		found = ncs_path_finished_before(path, member->rank, call_ns,
						 &earliest);
	arrival->call_predecessor = ncs_path_before_of(found, call_ns);
	if (found) {
		since_ns = ncs_smaller(found->at_ns, call_ns);
		arrival->call_gap_ns = call_ns - since_ns;
	}
	arrival->is_next_call =
		member->call_ns <= call_ns &&
		(member->call_ns > since_ns || since_ns > call_ns);
	arrival->host_ns = ncs_larger(
		call_ns - (arrival->is_next_call ? member->call_ns : since_ns),
		0);
	member->call_ns = ncs_larger(member->call_ns, call_ns);
}

/* Finds what comes before an arrival, as recorded. */
static inline void find_predecessors(struct ncs_path *path,
				     const struct ncs_part *part,
				     const struct ncs_part_times *times,
				     struct ncs_path_arrival *arrival)
{
	struct ncs_path_member *member = &path->members[times->owner];
	struct ncs_path_entry entry = ncs_path_entry_of(times, path->base_ns);
	double from_ns = entry.call_ns;

	arrival->member = member;
	arrival->is_first = !member->rank->has_parts;
	member->rank->has_parts = true;
	arrival->at_ns = entry.arrival_ns;
	arrival->call_ns = arrival->base_ns = entry.call_ns;
	arrival->begin_ns = entry.begin_ns;
	arrival->is_beside = arrival->is_send = arrival->is_guessed = false;
	arrival->comm_gap_ns = 0;
	arrival->number = 0;
	if (path->options.lines && member->rank->has_transfers)
		ncs_path_find_in_line(path, part, times, arrival);
	if (!arrival->is_beside)
		find_predecessor(path, &entry,
				 ended_before(path, part, times, member),
				 arrival);
	if (path->options.lines && member->rank->has_transfers)
		ncs_path_skip_send(path, arrival);
	if (arrival->predecessor.finished)
		from_ns = ncs_smaller(arrival->predecessor.finished->at_ns,
				      entry.arrival_ns);
	find_call(path, from_ns, arrival);
	ncs_path_split_gap(&entry, from_ns, &member->least_ns, arrival->gap_ns);
	arrival->total_ns = arrival->at_ns - from_ns;
	member->rank->busy_ns += arrival->gap_ns[NCS_PATH_STREAM];
}

/* Notes the arrival of part i in all runs but those that are processed
 * separately. */
static inline void arrive(const struct ncs_path *path, size_t run_count,
			  const struct ncs_part *parts, size_t i,
			  struct ncs_path_start *start)
{
	const struct ncs_path_arrival *arrival = &path->arrivals[i];

	for (size_t k = 0; k < run_count; k++) {
		double at_ns;

		if (path->separate >> k & 1)
			continue;
		if (!arrival->predecessor.finished) {
			at_ns = ncs_path_arrival_ns(path, k, &parts[i],
						    arrival);
		} else {
			at_ns = ncs_path_before_ns(&arrival->predecessor, k) +
				arrival->total_ns;
			/* Run 0 is the replay. */
			if (k > 0)
				at_ns -= arrival->gap_ns[path->changes.gap[k]] *
					 path->changes.saved[k];
			at_ns = ncs_path_not_before_ns(arrival, k, 0, at_ns);
		}
		ncs_path_note_arrival(start, k, i, at_ns);
	}
}

static inline void arrive_all(struct ncs_path *path, size_t run_count,
			      const struct ncs_part *parts,
			      const struct ncs_part_times *part_times,
			      size_t count, size_t place,
			      struct ncs_path_start *start)
{
	double ready_ns = -INFINITY, first_ns = path->first_ns;

	for (size_t i = 0; i < count; i++) {
		struct ncs_path_arrival *arrival = &path->arrivals[i];

		arrival->place =
			place == NCS_PATH_NO_PLACE ? place : place + i;
		find_predecessors(path, &parts[i], &part_times[i], arrival);
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
				      &pending->edits, &part_times[i],
				      &path->arrivals[i]);
	}
	return last_ns;
}

void ncs_path_arrive_by_rank(struct ncs_path *path,
			     const struct ncs_part *parts,
			     const struct ncs_part_times *part_times,
			     size_t count, size_t place,
			     struct ncs_path_start *start)
{
	if (path->run_count == 1)
		arrive_all(path, 1, parts, part_times, count, place, start);
	else
		arrive_all(path, path->run_count, parts, part_times, count,
			   place, start);
	for (size_t k = 1; k < path->run_count; k++)
		if (path->separate >> k & 1)
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
