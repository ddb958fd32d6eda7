/* SPDX-License-Identifier: MIT */
/* Arrivals with the changes of scenarios; see path_arrivals.h. */
#include "analysis/path/path_arrivals.h"

#include "analysis/path/path_finished.h"

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

/* Returns by how much a scenario shortens a part's time before its arrival, in ns; *gap
 * is the gap that becomes shorter, NCS_PATH_GAPS if none does. */
static double saving_ns(const struct ncs_path *path, size_t k,
			const struct ncs_part *part,
			const struct ncs_path_arrival *arrival, unsigned *gap)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	double share;

	*gap = scenario ? ncs_path_gap_of(scenario, &share) : NCS_PATH_GAPS;
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
	unsigned gap;

	if (move)
		return arrival->at_ns - (double)move->begin_ns;
	return ncs_path_not_before_ns(
		arrival, k, arrival->member->saved_ns[k],
		base_ns(arrival, k) + arrival->total_ns -
			saving_ns(path, k, part, arrival, &gap));
}

void ncs_path_arrive_separately(struct ncs_path *path,
				const struct ncs_part *parts, size_t count,
				size_t k, struct ncs_path_start *start)
{
	for (size_t i = 0; i < count; i++) {
		note_call(path, k, &parts[i], &path->arrivals[i]);
		ncs_path_note_arrival(start, k, i,
				      ncs_path_arrival_ns(path, k, &parts[i],
							  &path->arrivals[i]));
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
	struct ncs_path_entry entry = { .arrival_ns = node->at_ns };
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
	ncs_path_split_gap(&entry, from_ns, &least_ns, node->gap_ns);
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
