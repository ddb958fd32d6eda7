/* SPDX-License-Identifier: MIT */
/* Dependencies, works and slack of a window's events; see cost_edges.h. A launch that has
 * no position depends on the latest end before it, and what follows it may depend on its
 * end. */
#include "analysis/cost/cost_edges.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "shm/hash.h"

int ncs_cost_edges_init(struct ncs_cost_edges *edges,
			const struct ncs_cost_window *window,
			const struct ncs_cost_event_kind *kinds,
			size_t kind_count)
{
	*edges = (struct ncs_cost_edges){
		.window = window,
		.kinds = kinds,
		.kind_count = kind_count,
		.sources = calloc(window->launch_count + 1,
				  sizeof(*edges->sources)),
		.hidden_ns = calloc(window->launch_count + 1,
				    sizeof(*edges->hidden_ns)),
	};
	if (ncs_cost_works_init(&edges->works, window) != 0 ||
	    !edges->sources || !edges->hidden_ns)
		return -ENOMEM;
	return 0;
}

void ncs_cost_edges_release(struct ncs_cost_edges *edges)
{
	free(edges->sources);
	free(edges->hidden_ns);
	ncs_cost_works_release(&edges->works);
}

/* --- Dependencies --------------------------------------------------------- */

/* Returns the anchors of a kind by the setting. */
static struct ncs_cost_chosen anchors_of(const struct ncs_cost_edges *edges,
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
	chosen = anchors_of(edges, source->kind);
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
		return ncs_cost_other_kind(&edges->works,
					   &window->classes[class], key, event,
					   &source->kind);
	}
	source->kind = NCS_COST_NONE;
	if (is_regular && event == NCS_COST_READY && launch->is_censored)
		return 0;
	source->nodes[0] = latest_before(edges, index, event);
	if (is_regular || class == NCS_COST_NONE)
		return 0;
	return ncs_cost_other_kind(&edges->works, &window->classes[class],
				   ncs_hash_add(key, launch->token), event,
				   &source->kind);
}

/* Finds what each event depends on by the setting. Returns 0 or -ENOMEM. */
static int find_sources(struct ncs_cost_edges *edges)
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

/* --- Works ---------------------------------------------------------------- */

/* Returns which of two anchors an event follows: the later one, with its usual
 * work. */
static unsigned later_of(const struct ncs_cost_edges *edges,
			 const struct ncs_cost_launch *launch, uint32_t kind,
			 const double since_ns[2])
{
	const struct ncs_cost_rank *rank = &edges->window->ranks[launch->rank];
	struct ncs_cost_chosen chosen = anchors_of(edges, kind);
	const double *works_ns = chosen.works_ns[rank->class_place];

	if (isnan(works_ns[0]))
		works_ns = chosen.usual_ns;
	if (works_ns[0] < 0 || works_ns[1] < 0)
		return works_ns[0] < 0;
	return since_ns[0] - works_ns[0] > since_ns[1] - works_ns[1];
}

/* A work of an event, or its limit. */
struct work {
	unsigned anchor;
	bool is_less;
	double ns;
};

/* Returns whether a node is the readiness of a launch that waited. */
static bool is_hidden(const struct ncs_cost_edges *edges, uint32_t node)
{
	return node % NCS_COST_EVENTS == NCS_COST_READY &&
	       edges->window->launches[node / NCS_COST_EVENTS].is_censored;
}

/* Finds the works of an event that were seen. Returns their number. */
static unsigned works_of(const struct ncs_cost_edges *edges, uint32_t index,
			 unsigned k, struct work works[2])
{
	const struct ncs_cost_launch *launch = &edges->window->launches[index];
	const struct ncs_cost_source *source = &edges->sources[index][k];
	bool is_pair = source->nodes[1] != NCS_COST_NONE;
	double since_ns[2] = { 0, 0 };
	unsigned later;

	if (source->kind == NCS_COST_NONE || source->nodes[0] == NCS_COST_NONE)
		return 0;
	for (unsigned i = 0; i < 1u + is_pair; i++) {
		if (is_hidden(edges, source->nodes[i]))
			return 0;
		since_ns[i] = ncs_cost_at_ns(launch, k ? NCS_COST_READY :
							 NCS_COST_CALL) -
			      ncs_cost_measured_ns(edges, source->nodes[i]);
	}
	if (k == 1 && launch->is_censored) {
		works[0] = (struct work){ 0, true, since_ns[0] };
		return !is_pair;
	}
	if (!is_pair) {
		works[0] = (struct work){ 0, false, since_ns[0] };
		return !ncs_cost_is_early(since_ns[0]);
	}
	later = later_of(edges, launch, source->kind, since_ns);
	works[0] = (struct work){ later, false, since_ns[later] };
	works[1] = (struct work){ 1 - later, true, since_ns[1 - later] };
	return 2;
}

static struct ncs_cost_bucket *bucket_of(const struct ncs_cost_edges *edges,
					 uint32_t index, unsigned k,
					 unsigned anchor)
{
	const struct ncs_cost_window *window = edges->window;

	return ncs_cost_bucket_of(&edges->works, edges->sources[index][k].kind,
				  anchor,
				  &window->ranks[window->launches[index].rank]);
}

/* Counts the works of all events, and then puts them into their buckets. */
static int sum_works(struct ncs_cost_edges *edges)
{
	struct ncs_cost_works *works = &edges->works;

	for (size_t i = 0; i < works->bucket_count; i++)
		works->buckets[i].seen_count = works->buckets[i].less_count = 0;
	for (unsigned pass = 0; pass < 2; pass++) {
		if (pass == 1 && ncs_cost_works_reserve(works) != 0)
			return -ENOMEM;
		for (size_t i = 0; i < 2 * edges->window->launch_count; i++) {
			struct work found[2];
			uint32_t index = (uint32_t)(i / 2);
			unsigned count = works_of(edges, index, i % 2, found);

			for (unsigned w = 0; w < count; w++) {
				struct ncs_cost_bucket *bucket = bucket_of(
					edges, index, i % 2, found[w].anchor);

				if (pass == 1)
					ncs_cost_works_put(works, bucket,
							   found[w].is_less,
							   found[w].ns);
				else if (found[w].is_less)
					bucket->less_count++;
				else
					bucket->seen_count++;
			}
		}
	}
	for (uint32_t i = 0; i < edges->kind_count; i++) {
		struct ncs_cost_chosen chosen = anchors_of(edges, i);

		for (unsigned k = 0; k < 2; k++)
			works->kinds[i].anchors[k] = chosen.anchors[k].event;
	}
	ncs_cost_works_finish(works, edges->setting.slow);
	return 0;
}

/* --- Slack ---------------------------------------------------------------- */

/* Returns when a node was; a launch that waited was ready at its estimated time. */
static double estimated_ns(const struct ncs_cost_edges *edges, uint32_t node)
{
	double at_ns = ncs_cost_measured_ns(edges, node);

	return node % NCS_COST_EVENTS == NCS_COST_READY ?
		       at_ns - (double)edges->hidden_ns[node / NCS_COST_EVENTS] :
		       at_ns;
}

/* Returns the work that is expected since an anchor; INFINITY if nothing is. */
static double expected_ns(const struct ncs_cost_edges *edges, uint32_t index,
			  unsigned k, unsigned anchor)
{
	uint32_t kind = edges->sources[index][k].kind;
	double ns = NAN;

	if (kind != NCS_COST_NONE)
		ns = (double)bucket_of(edges, index, k, anchor)->expected_ns;
	if (isnan(ns) && kind < edges->kind_count)
		ns = anchors_of(edges, kind).usual_ns[anchor];
	return isnan(ns) ? INFINITY : ns;
}

/* Finds when a launch that waited was ready, by the works that are expected, and
 * the slack from there. */
static void find_hidden(struct ncs_cost_edges *edges, uint32_t index,
			const double since_ns[2])
{
	struct ncs_cost_source *source = &edges->sources[index][1];
	double before_ns[2], least_ns = INFINITY;

	for (unsigned i = 0; i < 2; i++) {
		double ns;

		if (source->nodes[i] == NCS_COST_NONE)
			continue;
		ns = expected_ns(edges, index, 1, i);
		if (isinf(ns)) {
			source->nodes[i] = NCS_COST_NONE;
			continue;
		}
		before_ns[i] = fmax(0, since_ns[i] - ns);
		least_ns = fmin(least_ns, before_ns[i]);
	}
	if (isinf(least_ns) && edges->setting.unseen_is_late)
		least_ns = 0;
	edges->hidden_ns[index] = (float)least_ns;
	for (unsigned i = 0; i < 2; i++)
		if (source->nodes[i] != NCS_COST_NONE)
			source->slack_ns[i] = (float)(before_ns[i] - least_ns);
}

/* Finds the slack of an event. */
static void find_slack(struct ncs_cost_edges *edges, uint32_t index, unsigned k)
{
	const struct ncs_cost_launch *launch = &edges->window->launches[index];
	struct ncs_cost_source *source = &edges->sources[index][k];
	double since_ns[2] = { 0, 0 }, at_ns;
	unsigned later;

	at_ns = ncs_cost_at_ns(launch, k ? NCS_COST_READY : NCS_COST_CALL);
	for (unsigned i = 0; i < 2; i++) {
		if (source->nodes[i] == NCS_COST_NONE)
			continue;
		since_ns[i] = at_ns - estimated_ns(edges, source->nodes[i]);
		if (!isfinite(since_ns[i]) || ncs_cost_is_early(since_ns[i]))
			source->nodes[i] = NCS_COST_NONE;
	}
	source->slack_ns[0] = source->slack_ns[1] = 0;
	if (k == 1) {
		edges->hidden_ns[index] = 0;
		if (launch->is_censored) {
			find_hidden(edges, index, since_ns);
			return;
		}
	}
	if (source->nodes[0] == NCS_COST_NONE ||
	    source->nodes[1] == NCS_COST_NONE)
		return;
	later = later_of(edges, launch, source->kind, since_ns);
	source->slack_ns[1 - later] =
		(float)fmax(0, since_ns[1 - later] -
				       expected_ns(edges, index, k, 1 - later));
}

int ncs_cost_edges_make(struct ncs_cost_edges *edges,
			const struct ncs_cost_setting *setting)
{
	edges->setting = *setting;
	if (find_sources(edges) != 0 || sum_works(edges) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < edges->window->launch_count; i++) {
		find_slack(edges, i, 0);
		find_slack(edges, i, 1);
	}
	return 0;
}

/* --- Other works ---------------------------------------------------------- */

/* Returns the work of an event since an anchor. */
static double work_ns(const struct ncs_cost_edges *edges, uint32_t index,
		      unsigned k, unsigned anchor)
{
	const struct ncs_cost_source *source = &edges->sources[index][k];
	uint32_t node =
		ncs_cost_node(index, k ? NCS_COST_READY : NCS_COST_CALL);

	return estimated_ns(edges, node) -
	       estimated_ns(edges, source->nodes[anchor]) -
	       (double)source->slack_ns[anchor];
}

void ncs_cost_edges_map(struct ncs_cost_edges *edges,
			const struct ncs_cost_rank *rank,
			enum ncs_cost_event event, bool only_shorter,
			float (*slack_ns)[2][2])
{
	unsigned k = event == NCS_COST_READY;

	for (uint32_t i = rank->first; i < rank->first + rank->count; i++)
		for (unsigned anchor = 0; anchor < 2; anchor++) {
			const struct ncs_cost_source *source =
				&edges->sources[i][k];
			double own_ns, less_ns;

			if (source->kind == NCS_COST_NONE ||
			    source->nodes[anchor] == NCS_COST_NONE)
				continue;
			own_ns = work_ns(edges, i, k, anchor);
			less_ns = own_ns - ncs_cost_mapped_ns(&edges->works,
							      rank,
							      source->kind,
							      anchor, own_ns);
			slack_ns[i][k][anchor] +=
				(float)(only_shorter ? fmax(less_ns, 0) :
						       less_ns);
		}
}
