/* SPDX-License-Identifier: MIT */
/* The jobs whose ranks have metrics; see metrics.h. */
#include "analysis/metrics/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics/metric_ranks.h"
#include "shm/array.h"
#include "shm/clock.h"

static const char *id_of(const struct ncs_metric_jobs *list,
			 const struct ncs_rank *rank)
{
	return list->without_ids ? "" : ncs_metric_job_label(rank, "job_id");
}

struct ncs_metric_job *ncs_metric_jobs_find(const struct ncs_metric_jobs *list,
					    const struct ncs_rank *rank)
{
	const char *id = id_of(list, rank);

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->jobs[i].id, id) == 0)
			return &list->jobs[i];
	return NULL;
}

static struct ncs_metric_job *add(struct ncs_metric_jobs *list,
				  const struct ncs_rank *rank)
{
	struct ncs_metric_job *job = ncs_metric_jobs_find(list, rank);

	if (job)
		return job;
	if (ncs_array_reserve(&list->jobs, &list->capacity, list->count + 1,
			      sizeof(*list->jobs)) != 0)
		return NULL;
	job = &list->jobs[list->count++];
	*job = (struct ncs_metric_job){ .begun_ns = UINT64_MAX, .verdict = "" };
	snprintf(job->id, sizeof(job->id), "%s", id_of(list, rank));
	return job;
}

/* Forgets jobs that were not live. The others must be found live again. */
static void forget(struct ncs_metric_jobs *list)
{
	/* From the end: the one that fills a gap has been looked at. */
	for (size_t i = list->count; i-- > 0;)
		if (list->jobs[i].is_live)
			list->jobs[i].is_live = false;
		else
			list->jobs[i] = list->jobs[--list->count];
}

/* Whether a rank may be of a job: without an id, ranks of an earlier one are listed
 * for a while. */
static bool is_of(const struct ncs_metric_job *job, const struct ncs_rank *rank)
{
	return ncs_rank_end_ns(rank) >= job->begun_ns;
}

static void take_rank(struct ncs_metric_job *job, const struct ncs_rank *rank)
{
	uint64_t begun_ns = ncs_clock_ns(&rank->clock, rank->created);
	uint64_t end_ns = ncs_rank_end_ns(rank);

	if (begun_ns < job->begun_ns)
		job->begun_ns = begun_ns;
	if (end_ns > job->ended_ns)
		job->ended_ns = end_ns;
}

static void take_finding(const struct ncs_metric_jobs *list,
			 const struct ncs_finding *finding)
{
	const struct ncs_party *root = &finding->root;
	const struct ncs_rank *rank = root->rank;
	struct ncs_metric_job *job;

	if (!rank && root->communicator)
		rank = root->communicator->ranks[0];
	job = rank ? ncs_metric_jobs_find(list, rank) : NULL;
	if (!job || !is_of(job, rank) || finding->severity <= job->severity)
		return;
	job->severity = finding->severity;
	job->verdict = ncs_verdict_name(finding->verdict);
}

int ncs_metric_jobs_look(struct ncs_metric_jobs *list,
			 const struct ncs_model *model,
			 const struct ncs_diagnosis *diagnosis,
			 bool without_ids)
{
	int error = 0;

	list->without_ids = without_ids;
	forget(list);
	for (size_t i = 0; i < model->rank_count; i++) {
		struct ncs_metric_job *job;

		if (!ncs_rank_is_live(model->ranks[i]))
			continue;
		job = add(list, model->ranks[i]);
		if (!job) {
			error = -ENOMEM;
			continue;
		}
		job->is_live = true;
		take_rank(job, model->ranks[i]);
	}
	for (size_t i = 0; i < model->rank_count; i++) {
		struct ncs_metric_job *job =
			ncs_metric_jobs_find(list, model->ranks[i]);

		if (job && is_of(job, model->ranks[i]))
			take_rank(job, model->ranks[i]);
	}
	for (size_t i = 0; i < diagnosis->count; i++)
		take_finding(list, &diagnosis->findings[i]);
	return error;
}

void ncs_metric_jobs_release(struct ncs_metric_jobs *list)
{
	free(list->jobs);
	memset(list, 0, sizeof(*list));
}
