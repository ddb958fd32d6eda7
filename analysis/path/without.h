/* SPDX-License-Identifier: MIT */
/* A job without a rank, and its steps: the cost of the rank by analysis/cost, in the
 * window of all the job's operations, as %COST is that in the window of the latest
 * ones.
 *
 * Must not decide what a rank costs. Memory is about 300 bytes a part. Pure. Functions
 * are not thread-safe for one struct.
 */
#ifndef NCS_ANALYSIS_PATH_WITHOUT_H
#define NCS_ANALYSIS_PATH_WITHOUT_H

#include "analysis/cost/cost.h"
#include "analysis/path/what_if.h"

/* A rank of a communicator. The owner of a part (struct ncs_part) is an index
 * of these. */
struct ncs_path_owner {
	uint32_t rank; /* in the job, as scenarios name it */
	uint32_t host;
};

struct ncs_without;

/* Number of parts that are kept even if nobody asks for a rank. */
#define NCS_WITHOUT_PARTS (UINT32_C(1) << 20)

/* Returns an answer for jobs of no operations; NULL if there is no memory. Release it
 * with ncs_without_free(), which accepts NULL. */
struct ncs_without *ncs_without_new(void);
void ncs_without_free(struct ncs_without *without);

/* Returns whether an operation belongs to the window: ranks can be compared by it. */
bool ncs_without_takes(const struct ncs_joined *joined);

/* Returns how many parts were added. */
size_t ncs_without_count(const struct ncs_without *without);

/* Adds the next operation, if it belongs to the window. Returns 0 or -ENOMEM. */
int ncs_without_add(struct ncs_without *without,
		    const struct ncs_joined *joined,
		    const struct ncs_path_owner *owners);

/* Computes the answers to all scenarios, after all operations were added. Returns 0 or
 * -ENOMEM. */
int ncs_without_compute(struct ncs_without *without,
			const struct ncs_scenario *scenarios, size_t count);

/* Returns the number of the step that an operation is in, from 0; UINT32_MAX if it is in
 * none. Operations come in the order in which they were added. */
uint32_t ncs_without_step(struct ncs_without *without,
			  const struct ncs_joined *joined);

/* Returns what the scenario with this index leaves out; NULL if it is no
 * NCS_WHAT_IF_WITHOUT. */
const struct ncs_cost_of_rank *ncs_without_cost(const struct ncs_without *without,
						size_t scenario);

/* Returns how the parts of all operations that were added move in a scenario, in their
 * order; NULL if the cost is not known. */
const struct ncs_cost_move *ncs_without_moves(const struct ncs_without *without,
					      size_t scenario);

#endif
