/* SPDX-License-Identifier: MIT */
/* The order in which processes died. The latest sign of life of a process is all
 * that tells when it died: deaths that are close to each other, or seen by clocks
 * that cannot be compared, have no known order. Pure.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_DEATHS_H
#define NCS_ANALYSIS_DIAGNOSIS_DEATHS_H

#include "analysis/diagnosis/finding.h"
#include "analysis/diagnosis/wait_graph.h"

/* Returns whether a rank's process died, and no other process has taken the
 * rank's place, as in a restarted job. */
bool ncs_rank_has_died(const struct ncs_rank *rank);

/* Returns the ranks of a model that have died and have a communicator, the one
 * with the earliest latest sign of life first, and their number; NULL if there is
 * no memory. The caller frees the array. */
const struct ncs_rank **ncs_deaths_in_order(const struct ncs_model *model,
					    size_t *count);

/* Returns the node that was the first to die of the halted ones of a node's
 * communicator, which is that of a process that died. */
size_t ncs_first_death(const struct ncs_wait_graph *graph, size_t node);

/* Returns for how long the process of a rank has been gone. */
uint64_t ncs_dead_ns(const struct ncs_model *model,
		     const struct ncs_rank *rank);

/* Adds that a rank's process is gone, since when, and how many other ranks
 * of its communicator may have died before it. */
void ncs_finding_add_death(struct ncs_finding *finding,
			   const struct ncs_model *model,
			   const struct ncs_rank *rank);

#endif
