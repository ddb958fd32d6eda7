/* SPDX-License-Identifier: MIT */
/* The ranks of each communicator that may be behind others of it in a function:
 * else each of n ranks that wait would look at n others. Lists are made when they
 * are asked for, and kept while the edges of a graph are made. Pure.
 */
#ifndef NCS_ANALYSIS_DIAGNOSIS_LAGGARDS_H
#define NCS_ANALYSIS_DIAGNOSIS_LAGGARDS_H

#include "analysis/diagnosis/wait_graph.h"

struct ncs_laggard_list {
	struct ncs_rank **ranks; /* in the model's order; NULL: not made */
	size_t count;
};

struct ncs_laggards {
	const struct ncs_communicator *communicators; /* of the model */
	struct ncs_laggard_list *lists; /* by communicator and function */
	size_t count;
};

/* Begins without lists. Returns 0 or -ENOMEM. ncs_laggards_end() frees them, in
 * either case. */
int ncs_laggards_begin(struct ncs_laggards *laggards,
		       const struct ncs_model *model);
void ncs_laggards_end(struct ncs_laggards *laggards);

/* Returns the ranks that are stalled, have not finished, and have made fewer
 * calls of the function than another rank of the communicator, by the graph's
 * laggards; NULL if there is no memory. */
const struct ncs_laggard_list *
ncs_laggards_of(const struct ncs_wait_graph *graph,
		const struct ncs_communicator *communicator, unsigned function);

#endif
