/* SPDX-License-Identifier: MIT */
/* Excesses of jobs; see excesses.h. Must not count what two operations of a job
 * took longer at once twice, nor what those of another job did.
 */
#include "analysis/model/excesses.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/model.h"
#include "shm/array.h"

#define KEPT 1024u

struct ncs_excess {
	uint64_t begin_ns, end_ns;
};

void ncs_excesses_release(struct ncs_excesses *excesses)
{
	free(excesses->latest);
	*excesses = (struct ncs_excesses){ 0 };
}

int ncs_excesses_add(struct ncs_excesses *excesses, double more_ns,
		     uint64_t end_ns)
{
	if (!excesses->latest)
		excesses->latest = calloc(KEPT, sizeof(*excesses->latest));
	if (!excesses->latest)
		return -ENOMEM;
	excesses->latest[excesses->count++ % KEPT] =
		(struct ncs_excess){ end_ns - (uint64_t)more_ns, end_ns };
	return 0;
}

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

/* Sets job[i], for each communicator i of a model, to a number that is the same for
 * all of one job: that of one of its communicators. They are of one job, whatever labels
 * say, if they have processes in common, or each has some in common with another one of
 * it; ranks on one machine alone are not. Returns 0 or -ENOMEM. */
static int connect_communicators(const struct ncs_model *model, size_t *job)
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

int ncs_excesses_find_jobs(struct ncs_model *model)
{
	bool is_wanted = false;
	size_t *job;
	int error;

	for (size_t i = 0; model->skews && i < model->skews->count; i++)
		is_wanted |= model->skews->states[i]->links.excesses.count > 0;
	if (!is_wanted)
		return 0;
	job = malloc((model->communicator_count + 1) * sizeof(*job));
	error = job ? connect_communicators(model, job) : -ENOMEM;
	for (size_t i = 0; !error && i < model->communicator_count; i++) {
		struct ncs_skew_state *state = model->communicators[i].skew;

		if (state)
			state->links.excesses.job = job[i];
	}
	free(job);
	return error;
}

static int compare_excesses(const void *left, const void *right)
{
	const struct ncs_excess *a = left, *b = right;

	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* The excesses of all communicators of a job since a time. */
struct job_excesses {
	struct ncs_excess *all;
	size_t count, capacity;
	uint64_t since_ns; /* earlier ones are not kept of all */
};

/* Adds those of a communicator. Returns 0 or -ENOMEM. */
static int add_excesses(struct job_excesses *job,
			const struct ncs_excesses *excesses, uint64_t since_ns)
{
	size_t kept = excesses->count < KEPT ? (size_t)excesses->count : KEPT;
	uint64_t first_ns = UINT64_MAX;

	if (ncs_array_reserve(&job->all, &job->capacity, job->count + kept,
			      sizeof(*job->all)) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < kept; i++) {
		if (excesses->latest[i].end_ns <= since_ns)
			continue;
		job->all[job->count++] = excesses->latest[i];
		if (excesses->latest[i].begin_ns < first_ns)
			first_ns = excesses->latest[i].begin_ns;
	}
	if (kept < excesses->count && first_ns < UINT64_MAX &&
	    first_ns > job->since_ns)
		job->since_ns = first_ns;
	return 0;
}

/* Returns the share of the time since they are kept that is in any of them. */
static double share_of(struct job_excesses *job)
{
	uint64_t covered_ns = job->since_ns, sum_ns = 0;

	if (job->count > 1)
		qsort(job->all, job->count, sizeof(*job->all),
		      compare_excesses);
	for (size_t i = 0; i < job->count; i++) {
		uint64_t begin_ns = job->all[i].begin_ns > covered_ns ?
					    job->all[i].begin_ns :
					    covered_ns;

		sum_ns += ncs_time_since(begin_ns, job->all[i].end_ns);
		if (job->all[i].end_ns > covered_ns)
			covered_ns = job->all[i].end_ns;
	}
	return covered_ns > job->since_ns ?
		       (double)sum_ns / (double)(covered_ns - job->since_ns) :
		       0;
}

double ncs_excesses_share(const struct ncs_model *model, size_t number,
			  uint64_t since_ns)
{
	struct job_excesses job = { .since_ns = since_ns };
	double share = 0;
	int error = 0;

	for (size_t i = 0; i < model->skews->count && !error; i++) {
		const struct ncs_excesses *excesses =
			&model->skews->states[i]->links.excesses;

		if (excesses->job == number)
			error = add_excesses(&job, excesses, since_ns);
	}
	if (!error)
		share = share_of(&job);
	free(job.all);
	return share;
}
