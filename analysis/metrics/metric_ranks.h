/* SPDX-License-Identifier: MIT */
/* The ranks that have metrics, and their labels. Pure.
 *
 * No two have the same labels comm and rank, for others join by these. Ranks
 * that have finished have none; those that died have some for a while.
 */
#ifndef NCS_ANALYSIS_METRICS_METRIC_RANKS_H
#define NCS_ANALYSIS_METRICS_METRIC_RANKS_H

#include "analysis/model/model.h"

/* How long after its end a rank that died has metrics. */
#define NCS_METRICS_DEAD_NS UINT64_C(600000000000)

struct ncs_metric_rank {
	const struct ncs_rank *rank;
	bool is_live;
	/* The communicator's id, 16 hexadecimal digits, or ~PID.N where it is
	 * not known; the rank's number, or ~PID. */
	char comm[40];
	char number[24];
};

struct ncs_metric_ranks {
	struct ncs_metric_rank *ranks; /* in the model's order */
	size_t count, capacity;
	uint64_t duplicates; /* left out: another one has the same labels */
};

/* Finds the ranks of the model. All zeros is an empty list. Returns 0, or
 * -ENOMEM with some missing. */
int ncs_metric_ranks_find(struct ncs_metric_ranks *list,
			  const struct ncs_model *model);

/* Sets comm and number of a rank. */
void ncs_metric_rank_name(struct ncs_metric_rank *entry,
			  const struct ncs_rank *rank);

/* Releases the list. */
void ncs_metric_ranks_release(struct ncs_metric_ranks *list);

#endif
