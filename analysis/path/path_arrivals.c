/* SPDX-License-Identifier: MIT */
/* Arrivals as recorded, and with the changes of scenarios: what they follow, their times
 * and their causes. */
#include "analysis/path/path_state.h"

#include <math.h>

#include "analysis/base/finding_numbers.h"

/* The recorded times of a part up to its arrival. */
struct entry {
	double call_ns;
	double begin_ns;
	double arrival_ns;
};

/* Splits the time from `from_ns` until an arrival by cause. `least_ns` is the
 * shortest time that a kernel of this rank took to begin so far; it is updated,
 * and calling this again with the same arguments changes nothing more. */
static void split_gap(const struct entry *entry, double from_ns,
		      double *least_ns, double gap_ns[NCS_PATH_GAPS])
{
	double called_ns = ncs_larger(from_ns, entry->call_ns);
	double begun_ns = ncs_larger(called_ns, entry->begin_ns);
	double rest_ns = entry->arrival_ns - begun_ns;
	double short_ns = ncs_smaller(*least_ns, rest_ns);
	bool is_behind = entry->call_ns < from_ns && entry->begin_ns <= from_ns;

	*least_ns = short_ns;
	gap_ns[NCS_PATH_HOST] = called_ns - from_ns;
	gap_ns[NCS_PATH_LAUNCH] =
		begun_ns - called_ns + (is_behind ? 0 : short_ns);
	gap_ns[NCS_PATH_QUEUE] = is_behind ? short_ns : 0;
	gap_ns[NCS_PATH_STREAM] = rest_ns - short_ns;
}

/* --- Lines of work -------------------------------------------------------- */

/* A rank that sends and receives is a line of work that stops in receives and collectives
 * until others are there, and may go on while it sends. */

/* Two times are not told apart within this time, in ns. */
#define NEAR_NS ((double)NCS_LAUNCH_NS)

static bool is_near(double a_ns, double b_ns)
{
	return a_ns < b_ns + NEAR_NS && b_ns < a_ns + NEAR_NS;
}

/* Returns whether a rank has gone on with another operation while it sent: it came
 * to that before the send was over, and not in one launch with it. */
static bool send_overlaps(double send_ns, double send_end_ns, double other_ns,
			  double other_end_ns)
{
	return send_ns < other_ns + NEAR_NS &&
	       other_ns + NEAR_NS < send_end_ns &&
	       send_ns + NEAR_NS < other_end_ns &&
	       !(is_near(send_ns, other_ns) &&
		 is_near(send_end_ns, other_end_ns));
}

/* Notes what a rank does, and whether it goes on while it sends. Then all do, as they
 * run the same program. */
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
		arrival->is_send ?
			send_overlaps(at_ns, end_ns, rank->other_ns,
				      rank->other_end_ns) :
			send_overlaps(rank->send_ns, rank->send_end_ns, at_ns,
				      end_ns);
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

		if (!finished->is_send && precedes(path, finished, arrival) &&
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

/* Fills in what a part is in the line of its rank. If it is a send beside which its
 * rank goes on, finds what it follows: what the rank had done before, and the send
 * that it is queued behind. */
static void find_in_line(struct ncs_path *path, const struct ncs_part *part,
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
	arrival->send_overlaps = arrival->is_send && part->peer != part->rank &&
				 path->options.lines->sends_overlap;
	if (!arrival->send_overlaps)
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

/* Where a rank came to an operation and a send at once, both follow what was before
 * the send: makes that the predecessor. */
static void skip_send(struct ncs_path *path, struct ncs_path_arrival *arrival)
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

/* --- What comes before ---------------------------------------------------- */

/* Returns whether a part was queued behind one that has ended: it was launched before
 * that, and began right after. */
static bool is_behind(const struct entry *entry,
		      const struct ncs_path_finished *finished)
{
	return entry->begin_ns < finished->at_ns &&
	       entry->arrival_ns - finished->at_ns <= (double)NCS_LAUNCH_NS;
}

/* Returns the latest part of a communicator, if a collective's kernel that began
 * tells that it has ended: kernels of a communicator run one after another. Its
 * end may be recorded later, by the clock of the rank that arrived last. */
static const struct ncs_path_finished *
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
static void find_predecessor(struct ncs_path *path, const struct entry *entry,
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
static void find_call(struct ncs_path *path, double from_ns,
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
static void find_predecessors(struct ncs_path *path,
			      const struct ncs_part *part,
			      const struct ncs_part_times *times,
			      struct ncs_path_arrival *arrival)
{
	struct ncs_path_member *member = &path->members[times->owner];
	double at_ns = ncs_since(path->base_ns, times->arrival_ns);
	/* It is not after the arrival, whatever the clocks say. */
	struct entry entry = {
		.call_ns = ncs_smaller(ncs_since(path->base_ns, times->call_ns),
				       at_ns),
		.begin_ns = ncs_smaller(
			ncs_since(path->base_ns, times->begin_ns), at_ns),
		.arrival_ns = at_ns,
	};
	double from_ns = entry.call_ns;

	arrival->member = member;
	arrival->is_first = !member->rank->has_parts;
	member->rank->has_parts = true;
	arrival->at_ns = entry.arrival_ns;
	arrival->call_ns = arrival->base_ns = entry.call_ns;
	arrival->begin_ns = entry.begin_ns;
	arrival->send_overlaps = arrival->is_send = arrival->is_guessed = false;
	arrival->comm_gap_ns = 0;
	arrival->number = 0;
	if (path->options.lines && member->rank->has_transfers)
		find_in_line(path, part, times, arrival);
	if (!arrival->send_overlaps)
		find_predecessor(path, &entry,
				 ended_before(path, part, times, member),
				 arrival);
	if (path->options.lines && member->rank->has_transfers)
		skip_send(path, arrival);
	if (arrival->predecessor.finished)
		from_ns = ncs_smaller(arrival->predecessor.finished->at_ns,
				      entry.arrival_ns);
	find_call(path, from_ns, arrival);
	split_gap(&entry, from_ns, &member->least_ns, arrival->gap_ns);
	arrival->total_ns = arrival->at_ns - from_ns;
	member->rank->busy_ns += arrival->gap_ns[NCS_PATH_STREAM];
}

/* --- In each run ---------------------------------------------------------- */

/* Returns the end that an arrival follows in run k. */
static double base_ns(const struct ncs_path_arrival *arrival, size_t k)
{
	const struct ncs_path_finished *earliest = arrival->earliest;

	if (arrival->predecessor.finished)
		return ncs_path_before_ns(&arrival->predecessor, k);
	return arrival->base_ns +
	       (earliest ? earliest->runs[k].end_ns - earliest->at_ns : 0);
}

/* Whether a scenario changes the arrival of this part. */
static bool is_meant(const struct ncs_path *path,
		     const struct ncs_scenario *scenario,
		     const struct ncs_part *part)
{
	const struct ncs_path_options *options = &path->options;

	if (scenario->rank >= 0 &&
	    options->owners[part->owner].rank != (uint32_t)scenario->rank)
		return false;
	return !scenario->range ||
	       (options->is_in_range &&
		options->is_in_range(options->context, part, scenario->range));
}

/* Returns the cause of the gap that a scenario makes shorter, and sets *share to how much
 * of it that saves; NCS_PATH_GAPS if it makes none shorter. */
static unsigned gap_of(const struct ncs_scenario *scenario, double *share)
{
	*share = scenario->kind == NCS_WHAT_IF_OVERLAP ? 1 :
							 1 - scenario->factor;
	switch (scenario->kind) {
	case NCS_WHAT_IF_OVERLAP:
	case NCS_WHAT_IF_STREAM:
		return NCS_PATH_STREAM;
	case NCS_WHAT_IF_LAUNCH:
		return NCS_PATH_LAUNCH;
	case NCS_WHAT_IF_HOST:
		return NCS_PATH_HOST;
	default:
		return NCS_PATH_GAPS;
	}
}

/* Returns by how much a scenario shortens a part's time before its arrival, in ns; *gap
 * is the gap that becomes shorter, NCS_PATH_GAPS if none does. */
static double saving_ns(const struct ncs_path *path, size_t k,
			const struct ncs_part *part,
			const struct ncs_path_arrival *arrival, unsigned *gap)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	double share;

	*gap = scenario ? gap_of(scenario, &share) : NCS_PATH_GAPS;
	return *gap < NCS_PATH_GAPS && is_meant(path, scenario, part) ?
		       arrival->gap_ns[*gap] * share :
		       0;
}

/* Notes how much earlier a part's call comes in run k if hosts are faster. */
static void note_call(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	double *saved_ns = &arrival->member->saved_ns[k];

	if (!arrival->is_next_call)
		*saved_ns = 0;
	if (scenario->kind == NCS_WHAT_IF_HOST &&
	    is_meant(path, scenario, part))
		*saved_ns += arrival->host_ns * (1 - scenario->factor);
}

double ncs_path_arrival_ns(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part,
			   const struct ncs_path_arrival *arrival)
{
	const struct ncs_cost_move *move = ncs_path_move(path, k, arrival);
	const struct ncs_path_before *called = &arrival->call_predecessor;
	const struct ncs_path_before *queued = &arrival->comm_predecessor;
	double at_ns;
	unsigned gap;

	if (move)
		return arrival->at_ns - (double)move->begin_ns;
	at_ns = base_ns(arrival, k) + arrival->total_ns -
		saving_ns(path, k, part, arrival, &gap);
	/* Not before its call, which may come earlier than by the end before it, and
	 * not before the previous operation of its communicator has ended. */
	if (called->finished)
		at_ns = ncs_larger(at_ns,
				   ncs_path_before_ns(called, k) +
					   (arrival->call_gap_ns -
					    arrival->member->saved_ns[k]));
	if (queued->finished)
		at_ns = ncs_larger(at_ns, ncs_path_before_ns(queued, k) +
						  arrival->comm_gap_ns);
	return at_ns;
}

/* Makes part i arrive in run k: it may be the last one so far. */
static void arrive(const struct ncs_path *path, const struct ncs_part *part,
		   const struct ncs_path_arrival *arrival, size_t i, size_t k,
		   struct ncs_path_start *start)
{
	double at_ns;

	if (k > 0)
		note_call(path, k, part, arrival);
	at_ns = ncs_path_arrival_ns(path, k, part, arrival);
	if (at_ns > start->ready.in_ns[k]) {
		start->ready.in_ns[k] = at_ns;
		start->last[k] = i;
	}
}

void ncs_path_arrive(struct ncs_path *path, const struct ncs_part *parts,
		     const struct ncs_part_times *part_times, size_t count,
		     size_t place, struct ncs_path_start *start)
{
	start->ready.ns = -INFINITY;
	for (size_t k = 0; k < path->run_count; k++) {
		start->ready.in_ns[k] = -INFINITY;
		start->last[k] = 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct ncs_path_arrival *arrival = &path->arrivals[i];

		arrival->place = place == NCS_PATH_NO_PLACE ? place : place + i;
		find_predecessors(path, &parts[i], &part_times[i], arrival);
		start->ready.ns = ncs_larger(start->ready.ns, arrival->at_ns);
		path->first_ns = ncs_smaller(path->first_ns, arrival->call_ns);
		for (size_t k = 0; k < path->run_count; k++)
			arrive(path, &parts[i], arrival, i, k, start);
	}
}

/* Returns the part of a rank that ended last by a moment in run k; NULL if none is
 * remembered. */
static const struct ncs_path_finished *
ended_by(const struct ncs_path *path, const struct ncs_path_rank *rank,
	 size_t k, double at_ns)
{
	const struct ncs_path_finished *found = NULL;

	for (uint32_t i = 0; i < rank->count; i++) {
		const struct ncs_path_finished *finished =
			ncs_path_finished_at(path, rank, i);

		if (finished->runs[k].end_ns <= at_ns &&
		    (!found ||
		     finished->runs[k].end_ns > found->runs[k].end_ns))
			found = finished;
	}
	return found;
}

/* Fills in the node of a part that moves in run k. */
static void explain_move(const struct ncs_path *path, size_t k,
			 const struct ncs_path_arrival *arrival,
			 const struct ncs_cost_move *move,
			 struct ncs_path_node *node)
{
	const struct ncs_path_finished *found =
		ended_by(path, arrival->member->rank, k, node->at_ns);
	struct entry entry = { .arrival_ns = node->at_ns };
	double least_ns = arrival->member->least_ns, from_ns;

	entry.call_ns = ncs_smaller(arrival->call_ns - (double)move->call_ns,
				    node->at_ns);
	entry.begin_ns = ncs_smaller(arrival->begin_ns - (double)move->call_ns,
				     node->at_ns);
	from_ns = found ? found->runs[k].end_ns : entry.call_ns;
	node->predecessor.operation = NCS_PATH_NO_OPERATION;
	node->lacks_before = !found && !arrival->is_first;
	if (found)
		node->predecessor = ncs_path_finished_end(
			&(struct ncs_path_before){ found, 0 }, k);
	split_gap(&entry, from_ns, &least_ns, node->gap_ns);
}

void ncs_path_explain(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival, double at_ns,
		      struct ncs_path_node *node)
{
	const struct ncs_cost_move *move = ncs_path_move(path, k, arrival);
	const struct ncs_path_before *called = &arrival->call_predecessor;
	const struct ncs_path_before *queued = &arrival->comm_predecessor;
	const struct ncs_path_before *before = &arrival->predecessor;
	double call_gap_ns =
		arrival->call_gap_ns - arrival->member->saved_ns[k];
	double saved_ns;
	unsigned gap;

	*node = (struct ncs_path_node){ .owner = (uint32_t)part->owner,
					.at_ns = at_ns };
	if (move) {
		explain_move(path, k, arrival, move, node);
		return;
	}
	if (queued->finished &&
	    ncs_path_before_ns(queued, k) + arrival->comm_gap_ns == at_ns) {
		node->predecessor = ncs_path_finished_end(queued, k);
		node->gap_ns[NCS_PATH_QUEUE] = arrival->comm_gap_ns;
		return;
	}
	if (called->finished &&
	    ncs_path_before_ns(called, k) + call_gap_ns == at_ns) {
		node->predecessor = ncs_path_finished_end(called, k);
		node->gap_ns[NCS_PATH_HOST] = call_gap_ns;
		return;
	}
	if (before->finished)
		node->predecessor = ncs_path_finished_end(before, k);
	else
		node->predecessor.operation = NCS_PATH_NO_OPERATION;
	node->lacks_before = !before->finished && !arrival->is_first;
	saved_ns = saving_ns(path, k, part, arrival, &gap);
	for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
		node->gap_ns[i] = arrival->gap_ns[i] - (i == gap ? saved_ns : 0);
	if (k > 0 && arrival->is_guessed)
		node->unknown_ns = arrival->total_ns;
}
