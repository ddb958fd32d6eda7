/* SPDX-License-Identifier: MIT */
/* The jobs that a model's ranks are of, by their labels (shm/read/job.h); how many of
 * its nodes, and of the ranks of its communicators, are seen as they are now. Pure, but
 * that counting jobs allocates. */
#ifndef NCS_ANALYSIS_MODEL_JOBS_H
#define NCS_ANALYSIS_MODEL_JOBS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"

struct ncs_job_counts {
	size_t jobs; /* jobs of a batch system, or runs of torchrun */
	size_t pods; /* pods of ranks for which no job is known */
};

/* Counts the different jobs and pods of all ranks. Ranks without labels are of
 * none. Returns 0, or -ENOMEM with both 0. */
int ncs_jobs_count(const struct ncs_model *model,
		   struct ncs_job_counts *counts);

/* --- Nodes -------------------------------------------------------------- */

struct ncs_node_counts {
	size_t nodes;  /* without those that are gone; 0: the source has none */
	size_t seen;   /* nodes whose ranks are seen as they are now */
	size_t silent; /* of the others, those that do not answer (any more) */
	/* Ranks of all communicators, as these tell, seen or not; at least the
	 * ranks of the model. */
	size_t ranks;
};

/* Counts the nodes of the model, and the ranks of its communicators. */
void ncs_count_nodes(const struct ncs_model *model,
		     struct ncs_node_counts *counts);

/* Whether all ranks of a communicator are seen as they are now. */
bool ncs_is_seen_whole(const struct ncs_communicator *communicator);

#endif
