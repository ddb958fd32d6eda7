/* SPDX-License-Identifier: MIT */
/* Arrivals with the changes of scenarios; see path_arrivals.h. */
#include "analysis/path/path_arrivals.h"

#include <math.h>

#include "analysis/base/selection.h"
#include "analysis/path/path_finished.h"

double ncs_path_usual_ns(const struct ncs_path *path,
			 const struct ncs_scenario *scenario,
			 const struct ncs_part *parts, size_t count)
{
	size_t others = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t rank = path->options.owners[parts[i].owner].rank;

		if (scenario->rank < 0 || rank != (uint32_t)scenario->rank)
			path->gaps[others++] = path->arrivals[i].total_ns;
	}
	if (others == 0 || (scenario->rank < 0 && others < 2))
		return -1;
	return ncs_select(path->gaps, others, (others - 1) / 2);
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

bool ncs_path_is_straggler(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);

	return scenario && scenario->kind == NCS_WHAT_IF_WITHOUT &&
	       scenario->rank >= 0 && is_meant(path, scenario, part);
}

/* Factors of the time before a part's arrival, by cause. */
struct gap_factors {
	double gap[NCS_PATH_GAPS];
};

static struct gap_factors factors_of(const struct ncs_path *path,
				     const struct ncs_scenario *scenario,
				     const struct ncs_part *part,
				     const struct ncs_path_arrival *arrival,
				     double usual_ns)
{
	struct gap_factors factors = { { 1, 1, 1, 1 } };
	double all = 1;

	if (!is_meant(path, scenario, part))
		return factors;
	switch (scenario->kind) {
	case NCS_WHAT_IF_PRODUCER:
		factors.gap[NCS_PATH_PRODUCER] = scenario->factor;
		break;
	case NCS_WHAT_IF_HOST:
		factors.gap[NCS_PATH_HOST] = scenario->factor;
		break;
	case NCS_WHAT_IF_LAUNCH:
		factors.gap[NCS_PATH_LAUNCH] = scenario->factor;
		break;
	case NCS_WHAT_IF_OVERLAP:
		factors.gap[NCS_PATH_PRODUCER] = 0;
		break;
	case NCS_WHAT_IF_WITHOUT:
		if (usual_ns >= 0 && usual_ns < arrival->total_ns)
			all = usual_ns / arrival->total_ns;
		for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
			factors.gap[i] = all;
		break;
	default:
		break;
	}
	return factors;
}

static bool changes_arrivals(const struct ncs_scenario *scenario)
{
	return scenario && (scenario->kind == NCS_WHAT_IF_PRODUCER ||
			    scenario->kind == NCS_WHAT_IF_HOST ||
			    scenario->kind == NCS_WHAT_IF_LAUNCH ||
			    scenario->kind == NCS_WHAT_IF_OVERLAP ||
			    scenario->kind == NCS_WHAT_IF_WITHOUT);
}

/* Returns when a part arrives by its unchanged gaps alone. */
static inline double unchanged_ns(const struct ncs_path_arrival *arrival,
				  size_t k)
{
	const struct ncs_path_finished *earliest = arrival->earliest;
	double base_ns = arrival->base_ns;

	if (arrival->predecessor)
		base_ns = arrival->predecessor->times_ns[k];
	else if (earliest)
		base_ns += earliest->times_ns[k] - earliest->at_ns;
	return base_ns + arrival->total_ns;
}

double ncs_path_arrival_ns(const struct ncs_path *path, size_t k,
			   const struct ncs_part *part,
			   const struct ncs_path_arrival *arrival,
			   double usual_ns)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	double at_ns = unchanged_ns(arrival, k), host_factor = 1;

	if (changes_arrivals(scenario)) {
		struct gap_factors factors =
			factors_of(path, scenario, part, arrival, usual_ns);

		for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
			at_ns -= arrival->gap_ns[i] * (1 - factors.gap[i]);
		host_factor = factors.gap[NCS_PATH_HOST];
	}
	return ncs_path_not_before_ns(arrival, k, host_factor, at_ns);
}

void ncs_path_arrive_separately(const struct ncs_path *path,
				const struct ncs_part *parts, size_t count,
				size_t k, struct ncs_path_start *start)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);

	start->ready.in_ns[k] = -INFINITY;
	if (scenario->kind == NCS_WHAT_IF_WITHOUT)
		start->usual_ns[k] =
			ncs_path_usual_ns(path, scenario, parts, count);
	for (size_t i = 0; i < count; i++)
		ncs_path_note_arrival(start, k, i,
				      ncs_path_arrival_ns(path, k, &parts[i],
							  &path->arrivals[i],
							  start->usual_ns[k]));
}

void ncs_path_explain(const struct ncs_path *path, size_t k,
		      const struct ncs_part *part,
		      const struct ncs_path_arrival *arrival, double usual_ns,
		      double at_ns, struct ncs_path_node *node)
{
	const struct ncs_scenario *scenario = ncs_path_scenario(path, k);
	const struct ncs_path_finished *called = arrival->call_predecessor;
	const struct ncs_path_finished *queued = arrival->comm_predecessor;
	struct gap_factors factors = { { 1, 1, 1, 1 } };
	double call_gap_ns = arrival->call_gap_ns;

	if (changes_arrivals(scenario))
		factors = factors_of(path, scenario, part, arrival, usual_ns);
	*node = (struct ncs_path_node){ .owner = (uint32_t)part->owner,
					.at_ns = at_ns };
	call_gap_ns *= factors.gap[NCS_PATH_HOST];
	if (queued && queued->times_ns[k] == at_ns) {
		node->predecessor = ncs_path_finished_end(path, queued, k);
	} else if (called && called->times_ns[k] + call_gap_ns == at_ns) {
		node->predecessor = ncs_path_finished_end(path, called, k);
		node->gap_ns[NCS_PATH_HOST] = call_gap_ns;
	} else {
		if (arrival->predecessor)
			node->predecessor = ncs_path_finished_end(
				path, arrival->predecessor, k);
		else
			node->predecessor.operation = NCS_PATH_NO_OPERATION;
		for (unsigned i = 0; i < NCS_PATH_GAPS; i++)
			node->gap_ns[i] = arrival->gap_ns[i] * factors.gap[i];
	}
}
