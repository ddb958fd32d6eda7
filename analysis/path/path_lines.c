/* SPDX-License-Identifier: MIT */
/* Lines of work; see path_lines.h. Must not decide what a scenario cuts. */
#include "analysis/path/path_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/selection.h"
#include "analysis/path/path_arrivals.h"
#include "analysis/path/path_finished.h"
#include "analysis/records/work_kind.h"

/* The cut may be wrong by this share of how much longer a rank works. */
#define MISCUT 0.05

/* Two times are not told apart within this time, in ns. */
#define NEAR_NS NCS_PATH_QUEUED_NS

static uint32_t rank_of(const struct ncs_path *path,
			const struct ncs_path_arrival *arrival)
{
	size_t owner = (size_t)(arrival->member - path->members);

	return path->options.owners[owner].rank;
}

/* Returns whether a time is surely between two others. */
static bool is_within(double ns, double from_ns, double until_ns)
{
	return from_ns + NEAR_NS < ns && ns + NEAR_NS < until_ns;
}

static bool is_near(double a_ns, double b_ns)
{
	return a_ns < b_ns + NEAR_NS && b_ns < a_ns + NEAR_NS;
}

/* Returns whether a rank has gone on with another operation while it sent: it came
 * to that before the send was over, and not in one launch with it. */
static bool is_beside(double send_ns, double send_end_ns, double other_ns,
		      double other_end_ns)
{
	return send_ns < other_ns + NEAR_NS &&
	       other_ns + NEAR_NS < send_end_ns &&
	       send_ns + NEAR_NS < other_end_ns &&
	       !(is_near(send_ns, other_ns) &&
		 is_near(send_end_ns, other_end_ns));
}

/* Notes whether a rank goes on in an operation that is not over: it arrives at the
 * next one before the end. */
static void see_overlap(struct ncs_path *path, bool is_queued,
			const struct ncs_part_times *times,
			const struct ncs_path_arrival *arrival)
{
	struct ncs_path_rank *rank = arrival->member->rank;
	double end_ns = ncs_since(path->base_ns, times->least_end_ns);
	double at_ns = arrival->at_ns;
	bool is_send = ncs_is_work_send(arrival->kind);
	bool goes_on, is_aside;

	goes_on = is_send ? is_beside(at_ns, end_ns, rank->other_ns,
				      rank->other_end_ns) :
			    is_beside(rank->send_ns, rank->send_end_ns, at_ns,
				      end_ns);
	is_aside = !is_queued &&
		   is_within(at_ns, rank->other_ns, rank->other_end_ns);
	if (!is_send)
		is_aside |= is_within(rank->latest_arrival_ns, at_ns, end_ns);
	if (goes_on)
		ncs_path_works_set_beside(path->options.works);
	if (is_aside)
		ncs_path_works_set_aside(path->options.works,
					 rank_of(path, arrival));
	if (is_send && end_ns >= rank->send_end_ns) {
		rank->send_ns = at_ns;
		rank->send_end_ns = end_ns;
	} else if (!is_send && end_ns >= rank->other_end_ns) {
		rank->other_ns = at_ns;
		rank->other_end_ns = end_ns;
	}
	if (!is_queued)
		rank->latest_arrival_ns =
			ncs_larger(rank->latest_arrival_ns, at_ns);
}

/* Returns whether a rank called `a`, of communicator `owner`, before `b`. */
static bool is_called_before(uint32_t a_owner, uint32_t a_number,
			     double a_call_ns, uint32_t b_owner,
			     uint32_t b_number, double b_call_ns)
{
	return a_owner == b_owner ? (int32_t)(b_number - a_number) > 0 :
				    a_call_ns < b_call_ns;
}

/* Returns whether a rank called what is finished before an operation. */
static bool precedes(const struct ncs_path *path,
		     const struct ncs_path_finished *finished,
		     const struct ncs_path_arrival *arrival)
{
	return is_called_before(finished->owner, finished->number,
				finished->call_ns,
				(uint32_t)(arrival->member - path->members),
				arrival->number, arrival->call_ns);
}

/* Returns what a rank called last, of what is remembered, before an operation,
 * and what it does not go on beside. */
static const struct ncs_path_finished *
called_before(const struct ncs_path *path,
	      const struct ncs_path_arrival *arrival)
{
	const struct ncs_path_rank *rank = arrival->member->rank;
	const struct ncs_path_finished *found = NULL;

	for (uint32_t i = 0; i < rank->count; i++) {
		const struct ncs_path_finished *finished =
			ncs_path_finished_at(path, rank, i);

		if (!ncs_is_work_send(finished->kind) &&
		    precedes(path, finished, arrival) &&
		    (!found ||
		     is_called_before(found->owner, found->number,
				      found->call_ns, finished->owner,
				      finished->number, finished->call_ns)))
			found = finished;
	}
	return found;
}

/* Returns what a rank had done last before a send that it goes on beside, of what
 * it had called before: the send cannot wait for what was called later, though
 * that may be over first. */
static const struct ncs_path_finished *
done_before(const struct ncs_path *path, struct ncs_path_arrival *arrival)
{
	const struct ncs_path_rank *rank = arrival->member->rank;
	const struct ncs_path_finished *found = ncs_path_finished_before(
		path, rank, arrival->at_ns, &arrival->earliest);

	/* A time may be so large that it is the same less 1. */
	while (found && !precedes(path, found, arrival))
		found = ncs_path_finished_before(
			path, rank, nextafter(found->least_ns, -INFINITY),
			&arrival->earliest);
	return found;
}

void ncs_path_find_in_line(struct ncs_path *path, const struct ncs_part *part,
			   const struct ncs_part_times *times,
			   struct ncs_path_arrival *arrival)
{
	const struct ncs_path_rank *rank = arrival->member->rank;
	const struct ncs_path_finished *send = rank->send, *found = NULL;
	double at_ns = arrival->at_ns;
	bool is_queued;

	arrival->kind = (uint8_t)ncs_work_kind_of(part);
	arrival->work_kind = arrival->kind;
	arrival->number = part->operation;
	arrival->is_by_kind = part->flags & NCS_PART_P2P;
	is_queued = ncs_is_work_send(arrival->kind) && send &&
		    at_ns < send->at_ns + NEAR_NS;
	if (path->options.learns)
		see_overlap(path, is_queued, times, arrival);
	arrival->is_beside = ncs_is_work_send(arrival->kind) &&
			     part->peer != part->rank &&
			     ncs_path_works_is_beside(path->options.works);
	if (!arrival->is_beside)
		return;
	arrival->earliest = NULL;
	arrival->is_queued = false;
	arrival->waited_ns = 0;
	arrival->comm_predecessor =
		ncs_path_before_of(is_queued ? send : NULL, at_ns);
	if (is_queued) {
		arrival->comm_gap_ns = ncs_larger(at_ns - send->at_ns, 0);
		found = called_before(path, arrival);
	}
	if (!found)
		found = done_before(path, arrival);
	arrival->predecessor = ncs_path_before_of(found, at_ns);
}

void ncs_path_skip_send(struct ncs_path *path, struct ncs_path_arrival *arrival)
{
	const struct ncs_path_rank *rank = arrival->member->rank;
	const struct ncs_path_finished *found = arrival->predecessor.finished;
	const struct ncs_path_finished *earliest;

	if (!ncs_path_works_is_beside(path->options.works))
		return;
	while (found && ncs_is_work_send(found->kind) &&
	       arrival->at_ns < found->at_ns + NEAR_NS) {
		arrival->work_kind = found->kind;
		/* A time may be so large that it is the same less 1. */
		found = ncs_path_finished_before(
			path, rank, nextafter(found->least_ns, -INFINITY),
			&earliest);
		if (found)
			arrival->predecessor =
				ncs_path_before_of(found, arrival->at_ns);
	}
}

/* Learns the work before an arrival. What a rank comes to at once with a send is
 * after no work of its own. Returns 0 or -ENOMEM. */
static int learn_work(struct ncs_path_works *works, uint32_t rank,
		      unsigned before, const struct ncs_path_arrival *arrival,
		      double work_ns)
{
	int error = 0;

	if (arrival->work_kind != arrival->kind)
		error = ncs_path_works_note(works, rank, arrival->work_kind,
					    arrival->kind, 0);
	return error ? error :
		       ncs_path_works_note(works, rank, before,
					   arrival->work_kind, work_ns);
}

double ncs_path_note_work(struct ncs_path *path,
			  struct ncs_path_arrival *arrival, double from_ns)
{
	const struct ncs_path_finished *before = arrival->predecessor.finished;
	struct ncs_path_works *works = path->options.works;
	struct ncs_path_rank *line = arrival->member->rank;
	uint32_t rank = rank_of(path, arrival);
	bool is_queued = arrival->is_beside &&
			 arrival->comm_predecessor.finished;
	double work_ns = arrival->at_ns - from_ns, own_ns;

	arrival->others_ns = INFINITY;
	arrival->new_ns = 0;
	if (!before)
		return from_ns;
	if (!is_queued) {
		arrival->new_ns = ncs_larger(
			arrival->at_ns -
				ncs_larger(line->work_until_ns, from_ns),
			0);
		line->work_ns += arrival->new_ns;
		line->work_until_ns =
			ncs_larger(line->work_until_ns, arrival->at_ns);
	}
	if (path->options.learns) {
		ncs_path_works_count(works, rank, arrival->kind,
				     ncs_are_opposite(before->kind,
						      arrival->kind));
		if (!is_queued && learn_work(works, rank, before->kind, arrival,
					     work_ns) != 0)
			path->error = -ENOMEM;
		return from_ns;
	}
	arrival->others_ns = ncs_path_works_others_ns(works, rank, before->kind,
						      arrival->work_kind);
	if (!is_queued)
		return from_ns;
	own_ns =
		ncs_path_works_own_ns(works, rank, before->kind,
				      arrival->work_kind);
	if (isinf(own_ns))
		own_ns = arrival->others_ns;
	/* Its rank may have waited for as long as nobody knows. */
	arrival->is_guessed = isinf(own_ns);
	return arrival->at_ns - ncs_smaller(own_ns, work_ns);
}

double ncs_path_overcut_ns(struct ncs_path *path, size_t k, double *longer_ns)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	uint32_t count = path->options.rank_count;
	double *works_ns, own_ns;
	const struct ncs_path_rank *rank;
	size_t known = 0;

	*longer_ns = 0;
	if (!scenario || scenario->kind != NCS_WHAT_IF_WITHOUT ||
	    scenario->rank < 0 || (uint32_t)scenario->rank >= count)
		return 0;
	rank = &path->ranks[scenario->rank];
	works_ns = malloc((count + 1) * sizeof(*works_ns));
	if (!rank->has_transfers || !works_ns) {
		free(works_ns);
		return 0;
	}
	own_ns = rank->work_ns;
	for (uint32_t i = 0; i < count; i++)
		if (path->ranks[i].has_transfers && &path->ranks[i] != rank)
			works_ns[known++] = path->ranks[i].work_ns;
	if (known > 0)
		*longer_ns = ncs_larger(own_ns - ncs_select(works_ns, known,
							    (known - 1) / 2),
					0);
	free(works_ns);
	return rank->compared[k].cut_ns - *longer_ns;
}

double ncs_path_miscut_ns(struct ncs_path *path, size_t k)
{
	double longer_ns, wrong_ns;

	wrong_ns = fabs(ncs_path_overcut_ns(path, k, &longer_ns));
	return ncs_larger(wrong_ns - MISCUT * longer_ns, 0);
}

void ncs_path_compare_kinds(struct ncs_path *path, size_t count)
{
	const struct ncs_path_finished *first =
		path->arrivals[0].predecessor.finished;
	bool differ = false;

	for (size_t i = 1; i < count; i++) {
		const struct ncs_path_finished *before =
			path->arrivals[i].predecessor.finished;

		differ |= !before || !first || before->kind != first->kind;
	}
	for (size_t i = 0; i < count; i++) {
		struct ncs_path_arrival *arrival = &path->arrivals[i];

		arrival->is_by_kind |= differ && path->options.works &&
				       arrival->member->rank->has_transfers;
	}
}

size_t ncs_path_explain_beside(struct ncs_path *path,
			       const struct ncs_path_pending *pending,
			       const struct ncs_path_start *start,
			       const struct ncs_part *parts, size_t count)
{
	struct ncs_path_finished *beside = path->beside;
	const struct ncs_path_arrival *arrival;
	struct ncs_path_node *nodes;
	size_t i = 0;

	while (i < count && !path->arrivals[i].is_beside)
		i++;
	if (i == count)
		return count;
	arrival = &path->arrivals[i];
	memset(beside, 0, path->finished_bytes);
	nodes = ncs_path_nodes_add(path->nodes, &pending->operation, path->ends,
				   &beside->operation);
	beside->at_ns = beside->least_ns = arrival->at_ns;
	beside->owner = (uint32_t)parts[i].owner;
	beside->number = arrival->number;
	beside->call_ns = arrival->call_ns;
	beside->kind = arrival->kind;
	for (size_t k = 0; k < path->run_count; k++) {
		beside->runs[k].end_ns = ncs_path_arrival_ns(
			path, k, &parts[i], arrival, &start->usual[k]);
		ncs_path_explain(path, k, &parts[i], arrival, &start->usual[k],
				 beside->runs[k].end_ns, &nodes[k]);
	}
	return i;
}

void ncs_path_keep_beside(struct ncs_path *path,
			  const struct ncs_path_arrival *arrival)
{
	struct ncs_path_rank *rank = arrival->member->rank;
	uint32_t place;

	if (ncs_path_finished_place(path, rank, arrival->at_ns, &place) != 0) {
		path->error = -ENOMEM;
		return;
	}
	memcpy(ncs_path_finished_at(path, rank, place), path->beside,
	       path->finished_bytes);
	ncs_path_finished_order(rank, place, path->beside->least_ns);
}
