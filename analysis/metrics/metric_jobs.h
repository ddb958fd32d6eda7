/* SPDX-License-Identifier: MIT */
/* The jobs whose ranks have metrics, to be summed up when the last rank has gone.
 * A job is told by the id of its batch system; ranks without one are one job.
 * Pure. */
#ifndef NCS_ANALYSIS_METRICS_METRIC_JOBS_H
#define NCS_ANALYSIS_METRICS_METRIC_JOBS_H

#include "analysis/diagnosis/diagnosis.h"
#include "shm/labels.h"

/* All zeros is an empty list. */
struct ncs_metric_jobs {
	struct ncs_metric_job {
		char id[NCS_LABEL_VALUE_BYTES]; /* "": not known */
		bool is_live;                   /* so is a rank */
		/* When its first rank began and the latest one was alive. */
		uint64_t begun_ns, ended_ns;
		/* The worst that was found in any look. */
		enum ncs_verdict_severity severity;
		const char *verdict; /* its name, or "" */
	} * jobs;
	size_t count, capacity;
	bool without_ids;
};

/* Looks at the ranks: adds jobs, and forgets those that were not live in the look
 * before. Without ids, all ranks are one job. Returns 0, or -ENOMEM with some
 * missing. */
int ncs_metric_jobs_look(struct ncs_metric_jobs *list,
			 const struct ncs_model *model,
			 const struct ncs_diagnosis *diagnosis,
			 bool without_ids);

/* Returns the job of a rank; NULL if it is not in the list. */
struct ncs_metric_job *ncs_metric_jobs_find(const struct ncs_metric_jobs *list,
					    const struct ncs_rank *rank);

/* Releases the list. */
void ncs_metric_jobs_release(struct ncs_metric_jobs *list);

#endif
