/* SPDX-License-Identifier: MIT */
/* The dependencies of a window's events, and how much later each event came than
 * they required. Private to analysis/cost. Times are ns.
 */
#ifndef NCS_ANALYSIS_COST_COST_EDGES_H
#define NCS_ANALYSIS_COST_COST_EDGES_H

#include "analysis/cost/cost_anchors.h"
#include "analysis/cost/cost_works.h"

/* An event of a launch, as one number; NONE if there is none. */
static inline uint32_t ncs_cost_node(uint32_t launch, enum ncs_cost_event event)
{
	return launch * NCS_COST_EVENTS + event;
}

/* The call or the readiness of a launch. */
struct ncs_cost_source {
	uint32_t nodes[2]; /* that it depends on; NONE */
	float slack_ns[2]; /* it came so much later than each required */
	uint32_t kind;     /* of its works, see cost_works.h; NONE: they stay */
};

/* Assumptions that the times leave open. */
struct ncs_cost_setting {
	/* An end is taken where it explains as well as the chosen anchors. */
	bool prefers_ends;
	enum ncs_cost_slow slow;
	/* A launch of which no work was seen on any rank was ready only when it began;
	 * else, nothing but what it waited for held it up. */
	bool unseen_is_late;
};

struct ncs_cost_edges {
	const struct ncs_cost_window *window;
	const struct ncs_cost_event_kind *kinds;
	size_t kind_count;
	struct ncs_cost_setting setting;
	struct ncs_cost_source (*sources)[2]; /* by launch: call, readiness */
	/* By launch: how much earlier it was ready than it began; INFINITY if
	 * nothing is known. */
	float *hidden_ns;
	struct ncs_cost_works works;
};

/* Returns when a node was, as measured: a launch was ready when it began. */
static inline double ncs_cost_measured_ns(const struct ncs_cost_edges *edges,
					  uint32_t node)
{
	return ncs_cost_at_ns(&edges->window->launches[node / NCS_COST_EVENTS],
			      node % NCS_COST_EVENTS);
}

/* Prepares edges. Returns 0 or -ENOMEM; in both cases release them. */
int ncs_cost_edges_init(struct ncs_cost_edges *edges,
			const struct ncs_cost_window *window,
			const struct ncs_cost_event_kind *kinds,
			size_t kind_count);
void ncs_cost_edges_release(struct ncs_cost_edges *edges);

/* Makes the edges with a setting. Returns 0 or -ENOMEM. */
int ncs_cost_edges_make(struct ncs_cost_edges *edges,
			const struct ncs_cost_setting *setting);

/* Writes into `slack_ns`, by launch, what the slack of a rank's calls or readiness
 * would be with the works of the others, or only where these are shorter. */
void ncs_cost_edges_map(struct ncs_cost_edges *edges,
			const struct ncs_cost_rank *rank,
			enum ncs_cost_event event, bool only_shorter,
			float (*slack_ns)[2][2]);

#endif
