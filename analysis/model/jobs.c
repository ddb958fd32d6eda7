/* SPDX-License-Identifier: MIT */
/* Counts jobs and nodes; see jobs.h. */
#include "analysis/model/jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shm/read/job.h"

static int compare_names(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

/* Returns how many of the names differ; sorts them. */
static size_t count_different(const char **names, size_t count)
{
	size_t different = count > 0;

	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 1; i < count; i++)
		different += strcmp(names[i - 1], names[i]) != 0;
	return different;
}

static size_t count_of(const struct ncs_model *model, enum ncs_job_kind kind,
		       const char **names)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rank_count; i++) {
		const char *name;

		if (ncs_job_of(model->ranks[i]->labels, &name) != kind)
			continue;
		/* Most ranks are of the same job as the one before. */
		if (count == 0 || strcmp(names[count - 1], name) != 0)
			names[count++] = name;
	}
	return count_different(names, count);
}

int ncs_jobs_count(const struct ncs_model *model, struct ncs_job_counts *counts)
{
	const char **names = calloc(model->rank_count + 1, sizeof(*names));

	memset(counts, 0, sizeof(*counts));
	if (!names)
		return -ENOMEM;
	counts->jobs = count_of(model, NCS_JOB_BATCH, names);
	counts->pods = count_of(model, NCS_JOB_POD, names);
	free(names);
	return 0;
}

/* --- Nodes -------------------------------------------------------------- */

/* Whether a node does not answer, or not any more; others answer, but nothing
 * can be read there. */
static bool is_silent(enum ncs_node_state state)
{
	switch (state) {
	case NCS_NODE_NOT_REACHABLE:
	case NCS_NODE_SILENT:
	case NCS_NODE_ENDED:
	case NCS_NODE_STARTING:
		return true;
	default:
		return false;
	}
}

void ncs_count_nodes(const struct ncs_model *model,
		     struct ncs_node_counts *counts)
{
	*counts = (struct ncs_node_counts){ 0 };
	for (size_t i = 0; i < model->node_count; i++) {
		enum ncs_node_state state = model->nodes[i].state;

		if (state == NCS_NODE_GONE)
			continue;
		counts->nodes++;
		counts->seen += ncs_node_sight(state) == NCS_SIGHT_LIVE;
		counts->silent += is_silent(state);
	}
	for (size_t i = 0; i < model->communicator_count; i++)
		counts->ranks +=
			model->communicators[i].rank_count +
			ncs_communicator_unseen(&model->communicators[i]);
}

bool ncs_is_seen_whole(const struct ncs_communicator *communicator)
{
	const struct ncs_identity *identity = communicator->identity;

	for (size_t i = 0; i < communicator->rank_count; i++)
		if (communicator->ranks[i]->is_past)
			return false;
	return identity->known & NCS_KNOWN_NRANKS && identity->nranks >= 0 &&
	       ncs_communicator_unseen(communicator) == 0;
}
