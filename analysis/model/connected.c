/* SPDX-License-Identifier: MIT */
/* Connects communicators by their processes; see connected.h. Must not take ranks
 * on one machine for ranks of one job.
 */
#include "analysis/model/connected.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/model/communicators.h"

static int compare_processes(const void *left, const void *right)
{
	return ncs_compare_processes(*(struct ncs_rank *const *)left,
				     *(struct ncs_rank *const *)right);
}

/* Returns the communicator whose number stands for the job of one. */
static size_t first_of(size_t *job, size_t communicator)
{
	while (job[communicator] != communicator) {
		job[communicator] = job[job[communicator]];
		communicator = job[communicator];
	}
	return communicator;
}

static size_t place_of(const struct ncs_model *model,
		       const struct ncs_rank *rank)
{
	return (size_t)(rank->communicator - model->communicators);
}

int ncs_communicators_connect(const struct ncs_model *model, size_t *job)
{
	size_t count = 0;
	struct ncs_rank **ranks =
		malloc((model->rank_count + 1) * sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < model->communicator_count; i++)
		job[i] = i;
	for (size_t i = 0; i < model->rank_count; i++)
		if (model->ranks[i]->communicator)
			ranks[count++] = model->ranks[i];
	qsort(ranks, count, sizeof(*ranks), compare_processes);
	for (size_t i = 1; i < count; i++)
		if (ncs_shares_process(ranks[i - 1], ranks[i]))
			job[first_of(job, place_of(model, ranks[i]))] =
				first_of(job, place_of(model, ranks[i - 1]));
	for (size_t i = 0; i < model->communicator_count; i++)
		job[i] = first_of(job, i);
	free(ranks);
	return 0;
}
