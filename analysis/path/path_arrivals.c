/* SPDX-License-Identifier: MIT */
/* Arrivals with the changes of scenarios; see path_arrivals.h. */
#include "analysis/path/path_arrivals.h"

#include <math.h>

#include "analysis/base/selection.h"
#include "analysis/path/path_finished.h"

/* Whether the time before an arrival is known. A rank that came straight from
 * the operation before it may have been ready long since, unless all it does is
 * to communicate. */
static bool is_total_known(const struct ncs_path_arrival *arrival)
{
	return !arrival->is_queued ||
	       arrival->member->rank->queued == NCS_PATH_QUEUED_MANY;
}

/* Returns the median of the ranks' totals or host times: of all ranks, or of
 * all but the one that the scenario names. Returns a negative number if there
 * is nothing to compare with. */
static double median_of(const struct ncs_path *path,
			const struct ncs_scenario *scenario,
			const struct ncs_part *parts, size_t count, bool total)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		const struct ncs_path_arrival *arrival = &path->arrivals[i];
		uint32_t rank = path->options.owners[parts[i].owner].rank;

		if ((scenario->rank >= 0 && rank == (uint32_t)scenario->rank) ||
		    (total && !is_total_known(arrival)))
			continue;
		path->gaps[known++] =
			total ? arrival->total_ns : arrival->host_ns;
	}
	if (known == 0 || (scenario->rank < 0 && known < 2))
		return -1;
	return ncs_select(path->gaps, known, (known - 1) / 2);
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

/* Savings by a scenario of the time before a part's arrival, in ns. */
struct gap_savings {
	double gap_ns[NCS_PATH_GAPS];
};

/* Takes up to `ns` of a gap; returns what is left of `ns`. */
static double save(struct gap_savings *savings,
		   const struct ncs_path_arrival *arrival, unsigned gap,
		   double ns)
{
	double saved_ns = ncs_smaller(
		arrival->gap_ns[gap] - savings->gap_ns[gap], ns);

	savings->gap_ns[gap] += saved_ns;
	return ns - saved_ns;
}

/* Makes a straggler like the others. If it is not known what they took, they
 * were queued: then only the host can have been late. */
static void save_lateness(const struct ncs_path_arrival *arrival, size_t k,
			  const struct ncs_path_usual *usual,
			  struct gap_savings *savings)
{
	double host_ns = arrival->member->saved_ns[k];
	double ns = usual->total_ns >= 0 ?
			    ncs_larger(arrival->total_ns - usual->total_ns, 0) :
			    host_ns;

	ns -= host_ns = ncs_smaller(ns, host_ns);
	ns += save(savings, arrival, NCS_PATH_HOST, host_ns);
	if (usual->total_ns < 0)
		return;
	ns = save(savings, arrival, NCS_PATH_STREAM, ns);
	ns = save(savings, arrival, NCS_PATH_LAUNCH, ns);
	ns = save(savings, arrival, NCS_PATH_QUEUE, ns);
	save(savings, arrival, NCS_PATH_HOST, ns);
}

static struct gap_savings savings_of(const struct ncs_path *path, size_t k,
				     const struct ncs_part *part,
				     const struct ncs_path_arrival *arrival,
				     const struct ncs_path_usual *usual)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	struct gap_savings savings = { { 0 } };
	double share;

	if (!scenario || !is_meant(path, scenario, part))
		return savings;
	share = 1 - scenario->factor;
	switch (scenario->kind) {
	case NCS_WHAT_IF_STREAM:
		savings.gap_ns[NCS_PATH_STREAM] =
			arrival->gap_ns[NCS_PATH_STREAM] * share;
		break;
	case NCS_WHAT_IF_HOST:
		savings.gap_ns[NCS_PATH_HOST] =
			arrival->gap_ns[NCS_PATH_HOST] * share;
		break;
	case NCS_WHAT_IF_LAUNCH:
		savings.gap_ns[NCS_PATH_LAUNCH] =
			arrival->gap_ns[NCS_PATH_LAUNCH] * share;
		break;
	case NCS_WHAT_IF_OVERLAP:
		savings.gap_ns[NCS_PATH_STREAM] =
			arrival->gap_ns[NCS_PATH_STREAM];
		break;
	case NCS_WHAT_IF_WITHOUT:
		save_lateness(arrival, k, usual, &savings);
		break;
	default:
		break;
	}
	return savings;
}

/* Notes how much earlier a part's call comes in run k. */
static void note_call(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival,
		      const struct ncs_path_usual *usual)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	double *saved_ns = &arrival->member->saved_ns[k];

	if (!arrival->is_next_call)
		*saved_ns = 0;
	if (!is_meant(path, scenario, part))
		return;
	if (scenario->kind == NCS_WHAT_IF_HOST)
		*saved_ns += arrival->host_ns * (1 - scenario->factor);
	else if (scenario->kind == NCS_WHAT_IF_WITHOUT && usual->host_ns >= 0)
		*saved_ns += ncs_larger(arrival->host_ns - usual->host_ns, 0);
}

/* Returns when a part arrives by its unchanged gaps alone. */
static double unchanged_ns(const struct ncs_path_arrival *arrival, size_t k)
{
	const struct ncs_path_finished *earliest = arrival->earliest;
	double base_ns = arrival->base_ns;

	if (arrival->predecessor.finished)
		base_ns = ncs_path_before_ns(&arrival->predecessor, k);
	else if (earliest)
		base_ns += earliest->times_ns[k] - earliest->at_ns;
	return base_ns + arrival->total_ns;
}

double ncs_path_arrival_ns(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part,
			   const struct ncs_path_arrival *arrival,
			   const struct ncs_path_usual *usual)
{
	struct gap_savings savings = savings_of(path, k, part, arrival, usual);
	double at_ns = unchanged_ns(arrival, k);

	for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
		at_ns -= savings.gap_ns[i];
	return ncs_path_not_before_ns(arrival, k, arrival->member->saved_ns[k],
				      at_ns);
}

void ncs_path_arrive_separately(const struct ncs_path *path,
				const struct ncs_part *parts, size_t count,
				size_t k, struct ncs_path_start *start)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	struct ncs_path_usual *usual = &start->usual[k];

	if (scenario->kind == NCS_WHAT_IF_WITHOUT)
		*usual = (struct ncs_path_usual){
			median_of(path, scenario, parts, count, true),
			median_of(path, scenario, parts, count, false)
		};
	for (size_t i = 0; i < count; i++) {
		note_call(path, k, &parts[i], &path->arrivals[i], usual);
		ncs_path_note_arrival(start, k, i,
				      ncs_path_arrival_ns(path, k, &parts[i],
							  &path->arrivals[i],
							  usual));
	}
}

void ncs_path_explain(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival,
		      const struct ncs_path_usual *usual, double at_ns,
		      struct ncs_path_node *node)
{
	const struct ncs_path_before *called = &arrival->call_predecessor;
	const struct ncs_path_before *queued = &arrival->comm_predecessor;
	double call_gap_ns =
		arrival->call_gap_ns - arrival->member->saved_ns[k];
	struct gap_savings savings;

	*node = (struct ncs_path_node){ .owner = (uint32_t)part->owner,
					.at_ns = at_ns };
	if (queued->finished && ncs_path_before_ns(queued, k) == at_ns) {
		node->predecessor = ncs_path_finished_end(path, queued, k);
		return;
	}
	if (called->finished &&
	    ncs_path_before_ns(called, k) + call_gap_ns == at_ns) {
		node->predecessor = ncs_path_finished_end(path, called, k);
		node->gap_ns[NCS_PATH_HOST] = call_gap_ns;
		return;
	}
	if (arrival->predecessor.finished)
		node->predecessor =
			ncs_path_finished_end(path, &arrival->predecessor, k);
	else
		node->predecessor.operation = NCS_PATH_NO_OPERATION;
	savings = savings_of(path, k, part, arrival, usual);
	for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
		node->gap_ns[i] = arrival->gap_ns[i] - savings.gap_ns[i];
}
