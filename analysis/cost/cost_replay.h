/* SPDX-License-Identifier: MIT */
/* A window run again with other slack: how much earlier each launch would end. An
 * event comes as soon as all that it depends on allows; the transfer of an operation
 * takes as long as measured, from the last begin on. With the slack as it was, all
 * is as measured. Private to analysis/cost. Times are ns.
 */
#ifndef NCS_ANALYSIS_COST_COST_REPLAY_H
#define NCS_ANALYSIS_COST_COST_REPLAY_H

#include "analysis/cost/cost_edges.h"

/* Moments at which the gain is told. */
#define NCS_COST_MOMENTS 40u

/* All ranks, in place of one. */
#define NCS_COST_ALL (NCS_COST_NONE - 1)

struct ncs_cost_replay {
	const struct ncs_cost_edges *edges;
	uint32_t *order; /* steps, each after those that it depends on */
	size_t order_count;
	/* Gains: of calls and readiness by launch, of ends by operation. */
	float (*gains_ns)[2];
	float *ends_ns;
	float (*slack_ns)[2][2]; /* by launch, as edges have it or changed */
	uint32_t in_time; /* nobody waits for this rank's data; NONE, ALL */
	bool without_transfers; /* operations end with their last begin */
	/* Work space of the search for the order. */
	uint8_t *states;
	uint32_t *stack;
	size_t stack_count, stack_capacity;
	int error; /* 0 or -ENOMEM */
	/* The window that counts: in which anchors are known. */
	double from_ns, until_ns;
	double gain_ns;                          /* at its end: mean of ranks */
	double moments_ns[NCS_COST_MOMENTS + 1]; /* until each moment */
};

/* Prepares a replay of edges, which it borrows. Returns 0 or -ENOMEM; in both cases
 * release it. */
int ncs_cost_replay_init(struct ncs_cost_replay *replay,
			 const struct ncs_cost_edges *edges);
void ncs_cost_replay_release(struct ncs_cost_replay *replay);

/* Takes edges that were made anew: finds the order, and sets the slack to theirs.
 * Returns 0 or -ENOMEM. */
int ncs_cost_replay_begin(struct ncs_cost_replay *replay);

/* Sets the slack of `count` launches to that of the edges. */
void ncs_cost_replay_reset(struct ncs_cost_replay *replay, uint32_t first,
			   uint32_t count);

/* Runs with the slack as it is: sets gain_ns and moments_ns. */
void ncs_cost_replay_run(struct ncs_cost_replay *replay);

/* Returns how much earlier a launch comes in the latest run. */
struct ncs_cost_move
ncs_cost_replay_move(const struct ncs_cost_replay *replay, uint32_t launch);

#endif
