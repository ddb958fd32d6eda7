/* SPDX-License-Identifier: MIT */
/* The cost of each process, by analysis/cost, from the operations that were
 * joined in the latest NCS_COST_WINDOW_NS, or longer where that has too few steps.
 * Private to analysis/model.
 *
 * Costs are computed when they are asked for, but not with every update. Memory is
 * bounded: that of NCS_COSTS_PARTS parts and an eighth. Not thread-safe for one
 * state.
 */
#ifndef NCS_ANALYSIS_MODEL_COSTS_H
#define NCS_ANALYSIS_MODEL_COSTS_H

#include "analysis/cost/cost.h"
#include "analysis/model/comparison.h"

/* The largest number of parts that is kept of old ones: the latest. */
#define NCS_COSTS_PARTS (UINT32_C(1) << 17)

/* Keeps the parts of a joined operation of a communicator. Returns 0 or -ENOMEM. */
int ncs_costs_note(const struct ncs_comparison *comparison,
		   const struct ncs_communicator *communicator);

/* Forgets the parts, whose clocks were moved. */
void ncs_costs_forget(struct ncs_costs *costs);

/* Drops the oldest operations. Costs are computed anew if they are too old by now and parts
 * have come, but not within `every_times` the processor time that this took before, unless
 * they are older than the operations that are kept. */
void ncs_costs_update(struct ncs_costs *costs, uint64_t now_ns,
		      uint64_t every_times);

/* Returns the cost of the process of a rank, NULL if nothing of it was joined, or
 * there is no memory. Valid until the next update. */
const struct ncs_cost_of_rank *ncs_costs_find(const struct ncs_late_rank *late);

/* The step of a job, and what transfers and the process that costs most cost. */
struct ncs_costs_step {
	struct ncs_cost_step step;
	struct ncs_cost_of_rank transfers;
	uint32_t latest; /* a process; 0 if none surely costs anything */
	double latest_share;
};

/* Returns the step of the job of a rank, NULL where ncs_costs_find() is. Valid until the
 * next update. */
const struct ncs_costs_step *ncs_costs_step(const struct ncs_late_rank *late);

/* Releases all memory; accepts NULL. */
void ncs_costs_free(struct ncs_costs *costs);

#endif
