/* SPDX-License-Identifier: MIT */
/* The dependencies of events; see cost_edges.h. A launch that has no position depends
 * on the latest end before it, and what follows it may depend on its end. */
#include "analysis/cost/cost_edges.h"

#include <errno.h>
#include <math.h>

#include "shm/hash.h"

struct ncs_cost_chosen ncs_cost_anchors_of(const struct ncs_cost_edges *edges,
					   uint32_t index)
{
	const struct ncs_cost_event_kind *kind = &edges->kinds[index];
	struct ncs_cost_chosen chosen = kind->chosen;

	if (edges->setting.prefers_ends && kind->end.is_known) {
		chosen.anchors[0] = kind->end.anchor;
		chosen.usual_ns[0] = kind->end.work_ns;
	}
	return chosen;
}

/* Returns the latest end of a rank before an event, of the launches before that one;
 * for its readiness, also its call. NONE if there is none. */
static uint32_t latest_before(const struct ncs_cost_edges *edges,
			      uint32_t index, enum ncs_cost_event event)
{
	const struct ncs_cost_window *window = edges->window;
	const struct ncs_cost_launch *launches = window->launches;
	uint32_t first = window->ranks[launches[index].rank].first;
	uint32_t found = NCS_COST_NONE;
	double at_ns = ncs_cost_at_ns(&launches[index], event);
	double latest_ns = -INFINITY;

	if (event == NCS_COST_READY && launches[index].call_ns <= at_ns) {
		found = ncs_cost_node(index, NCS_COST_CALL);
		latest_ns = launches[index].call_ns;
	}
	for (uint32_t i = 1; i <= NCS_COST_DEPTH_MOST && i <= index - first;
	     i++) {
		double end_ns = launches[index - i].end_ns;

		if (end_ns > at_ns || end_ns <= latest_ns)
			continue;
		latest_ns = end_ns;
		found = ncs_cost_node(index - i, NCS_COST_END);
	}
	return found;
}

/* Sets the nodes of a regular launch's event to its anchors, if they are known. */
static void find_anchors(const struct ncs_cost_edges *edges, uint32_t index,
			 enum ncs_cost_event event,
			 struct ncs_cost_source *source)
{
	const struct ncs_cost_window *window = edges->window;
	const struct ncs_cost_launch *launch = &window->launches[index];
	const struct ncs_cost_class *class =
		&window->classes[window->ranks[launch->rank].class_index];
	struct ncs_cost_chosen chosen;

	source->kind = ncs_cost_kind_index(class, launch->position, event);
	chosen = ncs_cost_anchors_of(edges, source->kind);
	for (unsigned k = 0;
	     k < chosen.count && launch->regular >= class->depth; k++)
		source->nodes[k] = ncs_cost_node(
			ncs_cost_back(window, launch, chosen.anchors[k].back),
			chosen.anchors[k].event);
}

/* Returns whether a launch outside the step ended between an event and all that it
 * would depend on otherwise. */
static bool is_between(const struct ncs_cost_edges *edges, uint32_t other,
		       const struct ncs_cost_source *source, double at_ns)
{
	double end_ns = edges->window->launches[other].end_ns;

	for (unsigned k = 0; k < 2; k++)
		if (source->nodes[k] != NCS_COST_NONE &&
		    ncs_cost_measured_ns(edges, source->nodes[k]) >= end_ns)
			return false;
	return end_ns <= at_ns;
}

/* Finds what an event depends on; `other` is the latest launch of its rank that has
 * no position, or NONE. */
static int find_source(struct ncs_cost_edges *edges, uint32_t index,
		       enum ncs_cost_event event, uint32_t other,
		       struct ncs_cost_source *source)
{
	const struct ncs_cost_window *window = edges->window;
	const struct ncs_cost_launch *launch = &window->launches[index];
	uint32_t class = window->ranks[launch->rank].class_index;
	bool is_regular = launch->position != NCS_COST_NONE;
	uint64_t key = ncs_hash_add(ncs_hash(class), event);

	*source = (struct ncs_cost_source){
		.nodes = { NCS_COST_NONE, NCS_COST_NONE },
		.kind = NCS_COST_NONE,
	};
	if (is_regular)
		find_anchors(edges, index, event, source);
	if (source->nodes[0] != NCS_COST_NONE) {
		if (other == NCS_COST_NONE ||
		    !is_between(edges, other, source,
				ncs_cost_at_ns(launch, event)))
			return 0;
		source->nodes[0] = ncs_cost_node(other, NCS_COST_END);
		source->nodes[1] = NCS_COST_NONE;
		key = ncs_hash_add(key, launch->position);
		key = ncs_hash_add(key, window->launches[other].token);
		return ncs_cost_other_kind(&edges->works, window, class, key,
					   event, &source->kind);
	}
	source->kind = NCS_COST_NONE;
	if (is_regular && event == NCS_COST_READY && launch->is_censored)
		return 0;
	source->nodes[0] = latest_before(edges, index, event);
	if (is_regular || class == NCS_COST_NONE)
		return 0;
	return ncs_cost_other_kind(&edges->works, window, class,
				   ncs_hash_add(key, launch->token), event,
				   &source->kind);
}

int ncs_cost_find_sources(struct ncs_cost_edges *edges)
{
	const struct ncs_cost_window *window = edges->window;
	uint32_t other = NCS_COST_NONE, rank = NCS_COST_NONE;

	for (uint32_t i = 0; i < window->launch_count; i++) {
		if (window->launches[i].rank != rank)
			other = NCS_COST_NONE;
		rank = window->launches[i].rank;
		for (unsigned k = 0; k < 2; k++)
			if (find_source(edges, i,
					k ? NCS_COST_READY : NCS_COST_CALL,
					other, &edges->sources[i][k]) != 0)
				return -ENOMEM;
		if (window->launches[i].position == NCS_COST_NONE)
			other = i;
	}
	return 0;
}
