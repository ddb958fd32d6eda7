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
	/* The model's; "" where they are not known. */
	const char *comm_name, *job_id, *node;
};

/* Values of the labels NCS_METRIC_COMM, NCS_METRIC_NODE and NCS_METRIC_RANK. */
#define NCS_COMM_LABELS(entry) \
	(entry)->comm, (entry)->comm_name, (entry)->job_id
#define NCS_NODE_LABELS(entry) NCS_COMM_LABELS(entry), (entry)->node
#define NCS_RANK_LABELS(entry) NCS_NODE_LABELS(entry), (entry)->number

struct ncs_metric_ranks {
	struct ncs_metric_rank *ranks; /* in the model's order */
	size_t count, capacity;
	uint64_t duplicates; /* left out: another one has the same labels */
};

/* Finds the ranks of the model. All zeros is an empty list. Returns 0, or
 * -ENOMEM with some missing. */
int ncs_metric_ranks_find(struct ncs_metric_ranks *list,
			  const struct ncs_model *model);

/* Sets the labels of a rank. */
void ncs_metric_rank_name(struct ncs_metric_rank *entry,
			  const struct ncs_rank *rank);

/* Returns the label of a rank's job that has this key; "" if it has none. */
const char *ncs_metric_job_label(const struct ncs_rank *rank, const char *key);

/* Releases the list. */
void ncs_metric_ranks_release(struct ncs_metric_ranks *list);

#endif
