/* SPDX-License-Identifier: MIT */
/* Lines of work; see path_lines.h. Must not decide what a scenario cuts. */
#include "analysis/path/path_lines.h"

#include <math.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/path/path_finished.h"

/* Two times are not told apart within this time, in ns. */
#define NEAR_NS ((double)NCS_LAUNCH_NS)

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

/* Notes what a rank does, and whether it goes on while it sends. So do all then, as
 * they run the same program. */
static void learn(struct ncs_path *path, const struct ncs_part *part,
		  const struct ncs_part_times *times,
		  const struct ncs_path_arrival *arrival)
{
	struct ncs_path_lines *lines = path->options.lines;
	struct ncs_path_line *line =
		&lines->ranks[path->options.owners[part->owner].rank];
	struct ncs_path_rank *rank = arrival->member->rank;
	double end_ns = ncs_since(path->base_ns, times->least_end_ns);
	double at_ns = arrival->at_ns;

	line->operations++;
	line->transfers += (part->flags & NCS_PART_P2P) != 0;
	lines->sends_overlap |=
		arrival->is_send ? is_beside(at_ns, end_ns, rank->other_ns,
					     rank->other_end_ns) :
				   is_beside(rank->send_ns, rank->send_end_ns,
					     at_ns, end_ns);
	if (arrival->is_send && end_ns >= rank->send_end_ns) {
		rank->send_ns = at_ns;
		rank->send_end_ns = end_ns;
	} else if (!arrival->is_send && end_ns >= rank->other_end_ns) {
		rank->other_ns = at_ns;
		rank->other_end_ns = end_ns;
	}
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

		if (!finished->is_send &&
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

	arrival->is_send = part->flags & NCS_PART_P2P &&
			   part->function == NCS_FUNCTION_SEND;
	arrival->number = part->operation;
	is_queued = arrival->is_send && send && at_ns < send->at_ns + NEAR_NS;
	if (path->options.learns)
		learn(path, part, times, arrival);
	arrival->is_beside = arrival->is_send && part->peer != part->rank &&
			     path->options.lines->sends_overlap;
	if (!arrival->is_beside)
		return;
	arrival->earliest = NULL;
	arrival->is_guessed = is_queued;
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

	if (!path->options.lines->sends_overlap)
		return;
	while (found && found->is_send &&
	       arrival->at_ns < found->at_ns + NEAR_NS) {
		/* A time may be so large that it is the same less 1. */
		found = ncs_path_finished_before(
			path, rank, nextafter(found->least_ns, -INFINITY),
			&earliest);
		if (found)
			arrival->predecessor =
				ncs_path_before_of(found, arrival->at_ns);
	}
}
