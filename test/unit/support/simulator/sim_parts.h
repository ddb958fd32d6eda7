/* SPDX-License-Identifier: MIT */
/* A simulated job as parts for the cost of ranks, or as joined operations for the
 * critical path. */
#ifndef NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_PARTS_H
#define NCS_TEST_UNIT_SUPPORT_SIMULATOR_SIM_PARTS_H

#include "analysis/cost/cost.h"
#include "analysis/records/join.h"
#include "test/unit/support/simulator/sim_job.h"

struct sim_parts {
	struct sim_job job;          /* must be first: is cast to this struct */
	struct ncs_cost_part *parts; /* in the order of operations */
	size_t count, capacity;
};

/* Computes a job; stops the program if there is no memory. Free it with
 * sim_parts_free(). */
struct sim_parts *sim_parts_new(const struct sim_options *options);
void sim_parts_free(struct sim_parts *self);

/* Returns when the job ends, by a perfect clock. */
uint64_t sim_parts_end_ns(const struct sim_parts *self);

#define SIM_JOINED_MAX 16u

/* An operation, as joined records of it tell; its parts have all moments of a
 * stream. */
struct sim_joined {
	struct ncs_joined joined;
	struct ncs_part parts[SIM_JOINED_MAX];
};

/* Makes the operation whose parts begin at *at, and moves *at behind them. Returns
 * false at the end. Not for exchanges, nor for messages of pipelines. */
bool sim_parts_join(const struct sim_parts *self, size_t *at,
		    struct sim_joined *operation);

#endif
