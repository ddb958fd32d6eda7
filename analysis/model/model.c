/* SPDX-License-Identifier: MIT */
/* The set of ranks and the settings of the model; see model.h. Copies all that
 * it keeps; no I/O, no clock. */
#include "analysis/model/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/communicators.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/moving.h"
#include "analysis/model/rank_update.h"
#include "shm/array.h"
#include "shm/read/job.h"

static int compare_ranks(const void *left, const void *right)
{
	struct ncs_rank *const *a = left, *const *b = right;

	return ncs_rank_compare(*a, *b);
}

/* --- The model ------------------------------------------------------------ */

void ncs_model_init(struct ncs_model *model)
{
	memset(model, 0, sizeof(*model));
}

static void release_unreadable(struct ncs_model *model)
{
	for (size_t i = 0; i < model->unreadable_count; i++) {
		free(model->unreadable[i].id);
		free(model->unreadable[i].why);
	}
	model->unreadable_count = 0;
}

void ncs_model_release(struct ncs_model *model)
{
	for (size_t i = 0; i < model->rank_count; i++)
		ncs_rank_free(model->ranks[i]);
	release_unreadable(model);
	ncs_stragglers_release(model);
	ncs_communicators_release(model);
	ncs_snapshot_release(&model->spare);
	free(model->ranks);
	free(model->by_id);
	free(model->unreadable);
	free(model->nodes);
	ncs_model_init(model);
}

void ncs_model_forget(struct ncs_model *model)
{
	const struct ncs_model kept = *model;

	ncs_model_release(model);
	model->diagnosis = kept.diagnosis;
	model->keeps_latest = kept.keeps_latest;
	model->window = kept.window;
	model->generation = kept.generation + 1;
}

static size_t count_latest(const struct ncs_model *model)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		count += model->ranks[i]->latest != NULL;
	return count;
}

static int compare_ids(const void *left, const void *right)
{
	const struct ncs_rank *const *a = left, *const *b = right;

	return strcmp((*a)->id, (*b)->id);
}

static int compare_to_id(const void *id, const void *entry)
{
	const struct ncs_rank *const *rank = entry;

	return strcmp(id, (*rank)->id);
}

/* Finds a rank of the previous update: the source shows each rank once, and
 * mostly in the same order. *guess is its place in by_id, if that is known. */
static struct ncs_rank *find_rank(const struct ncs_model *model, const char *id,
				  size_t *guess)
{
	struct ncs_rank **found = model->by_id;

	if (model->by_id_count == 0)
		return NULL;
	if (*guess < model->by_id_count)
		found += *guess;
	if (compare_to_id(id, found) != 0)
		found = bsearch(id, model->by_id, model->by_id_count,
				sizeof(*model->by_id), compare_to_id);
	if (!found)
		return NULL;
	*guess = (size_t)(found - model->by_id);
	return *found;
}

/* Notes the ranks by their id, for find_rank() in the next update, and their
 * places. */
static void note_ids(struct ncs_model *model)
{
	for (size_t i = 0; i < model->rank_count; i++)
		model->ranks[i]->place = i;
	model->by_id_count = model->rank_count;
	if (model->by_id_count == 0)
		return;
	memcpy(model->by_id, model->ranks,
	       model->by_id_count * sizeof(*model->by_id));
	qsort(model->by_id, model->by_id_count, sizeof(*model->by_id),
	      compare_ids);
}

static void take_node(struct ncs_rank *rank, const struct ncs_sample *sample)
{
	rank->owner = sample->owner;
	rank->node = sample->node;
	rank->is_past = sample->is_past;
	snprintf(rank->reach, sizeof(rank->reach), "%s",
		 sample->reach ? sample->reach : "");
	rank->peaks = ncs_machine_peaks_of_rank(sample->peaks,
						&rank->now.identity);
	free(rank->stack);
	rank->stack = sample->stack ? strdup(sample->stack) : NULL;
	rank->stack_ns = sample->stack_ns;
}

static int append_rank(struct ncs_model *model, const struct ncs_sample *sample)
{
	struct ncs_rank *rank;
	int error;

	if (ncs_array_reserve(&model->ranks, &model->rank_capacity,
			      model->rank_count + 1,
			      sizeof(*model->ranks)) != 0 ||
	    ncs_array_reserve(&model->by_id, &model->by_id_capacity,
			      model->rank_count + 1,
			      sizeof(*model->by_id)) != 0)
		return -ENOMEM;
	rank = calloc(1, sizeof(*rank));
	if (!rank)
		return -ENOMEM;
	rank->id = strdup(sample->id);
	error = rank->id ? ncs_rank_take(rank, model, sample, false) : -ENOMEM;
	if (error) {
		ncs_rank_free(rank);
		return error;
	}
	rank->seen = true;
	take_node(rank, sample);
	model->ranks[model->rank_count++] = rank;
	model->generation++;
	return 0;
}

/* Whether a rank has ended, and the sample shows nothing that is newer. */
static bool has_ended(const struct ncs_rank *rank,
		      const struct ncs_sample *sample)
{
	return !ncs_rank_is_live(rank) &&
	       rank->now.liveness == sample->snapshot->liveness &&
	       sample->record_count == 0 && sample->records_lost == 0;
}

static int take_snapshot(struct ncs_model *model,
			 const struct ncs_sample *sample, struct ncs_rank *rank)
{
	bool same = rank && ncs_rank_is_same(rank, sample->header);

	/* Drop a rank whose process finished normally and is gone. */
	if (sample->snapshot->liveness == NCS_FINISHED &&
	    sample->snapshot->process_gone)
		return 0;
	if (!rank)
		return append_rank(model, sample);
	rank->seen = true;
	take_node(rank, sample);
	if (same && has_ended(rank, sample))
		return 0;
	if (!same)
		model->generation++;
	return ncs_rank_take(rank, model, sample, same);
}

/* Takes a sample. *guess points to a guess of its rank's place in by_id; it is set to
 * point to that of the next sample's rank. */
static int take_rank(struct ncs_model *model, struct ncs_source *source,
		     struct ncs_sample *sample, size_t **guess)
{
	struct ncs_rank *rank = find_rank(model, sample->id, *guess);

	if (rank)
		*guess = &rank->next_id;
	if ((!sample->is_old && !sample->is_same) || !rank ||
	    !ncs_rank_is_same(rank, sample->header))
		return sample->snapshot || source->complete(source, sample) ?
			       take_snapshot(model, sample, rank) :
			       0;
	rank->seen = true;
	take_node(rank, sample);
	return sample->is_same ? ncs_rank_stay(rank, model, sample) : 0;
}

static int take_unreadable(struct ncs_model *model,
			   const struct ncs_sample *sample)
{
	struct ncs_unreadable *unreadable;

	if (ncs_array_reserve(&model->unreadable, &model->unreadable_capacity,
			      model->unreadable_count + 1,
			      sizeof(*model->unreadable)) != 0)
		return -ENOMEM;
	unreadable = &model->unreadable[model->unreadable_count];
	unreadable->attach = sample->attach;
	unreadable->id = strdup(sample->id);
	unreadable->why = strdup(sample->why ? sample->why : "");
	if (!unreadable->id || !unreadable->why) {
		free(unreadable->id);
		free(unreadable->why);
		return -ENOMEM;
	}
	model->unreadable_count++;
	return 0;
}

/* Copies the nodes of the pass that has begun. */
static int take_nodes(struct ncs_model *model, struct ncs_source *source)
{
	const struct ncs_node *nodes = NULL;
	size_t count = source->nodes ? source->nodes(source, &nodes) : 0;

	model->node_count = 0;
	if (count == 0)
		return 0;
	if (ncs_array_reserve(&model->nodes, &model->node_capacity, count,
			      sizeof(*model->nodes)) != 0)
		return -ENOMEM;
	memcpy(model->nodes, nodes, count * sizeof(*nodes));
	model->node_count = count;
	return 0;
}

static void drop_unseen(struct ncs_model *model)
{
	size_t kept = 0;

	for (size_t i = 0; i < model->rank_count; i++) {
		if (model->ranks[i]->seen)
			model->ranks[kept++] = model->ranks[i];
		else
			ncs_rank_free(model->ranks[i]);
	}
	if (kept != model->rank_count)
		model->generation++;
	model->rank_count = kept;
}

/* Sorts the ranks. A rank's identity may become known late, and its place then
 * changes. */
static void sort_ranks(struct ncs_model *model)
{
	struct ncs_rank **ranks = model->ranks;

	for (size_t i = 1; i < model->rank_count; i++) {
		if (ncs_rank_compare(ranks[i - 1], ranks[i]) <= 0)
			continue;
		qsort(ranks, model->rank_count, sizeof(*ranks), compare_ranks);
		model->generation++;
		return;
	}
}

static int take_all(struct ncs_model *model, struct ncs_source *source)
{
	size_t *guess = &model->first_id;
	struct ncs_sample sample;
	int error = 0;

	while (!error && source->next(source, &sample))
		error = sample.attach == NCS_ATTACHED ?
				take_rank(model, source, &sample, &guess) :
				take_unreadable(model, &sample);
	return error;
}

/* Takes the figures of the whole job over the window. */
static void take_figures(struct ncs_model *model)
{
	ncs_busiest_find(model);
	ncs_job_waits(model, false, &model->waits);
}

int ncs_model_update(struct ncs_model *model, struct ncs_source *source,
		     uint64_t now_ns)
{
	uint64_t generation = model->generation;
	int error;

	model->now_ns = now_ns;
	model->aliases = source->aliases;
	model->shows_part = source->shows_part;
	model->error[0] = '\0';
	error = source->begin(source, now_ns, model->error,
			      sizeof(model->error));
	if (error)
		return error;
	for (size_t i = 0; i < model->rank_count; i++)
		model->ranks[i]->seen = false;
	model->latest_count = count_latest(model);
	release_unreadable(model);
	error = take_nodes(model, source);
	if (!error)
		error = take_all(model, source);
	if (!error)
		drop_unseen(model);
	sort_ranks(model);
	model->refreshes++;
	if (model->generation != generation)
		note_ids(model);
	if ((ncs_communicators_find(model) != 0 ||
	     ncs_stragglers_update(model) != 0) &&
	    !error)
		error = -ENOMEM;
	if (error)
		snprintf(model->error, sizeof(model->error), "%s",
			 strerror(-error));
	take_figures(model);
	ncs_trend_add(&model->trend, model);
	return error;
}

/* --- Windows -------------------------------------------------------------- */

void ncs_model_set_window(struct ncs_model *model, enum ncs_window window)
{
	model->window = window;
	for (size_t i = 0; i < model->rank_count; i++)
		ncs_rank_find_base(model->ranks[i], window);
	ncs_communicators_rate(model);
	take_figures(model);
}

int ncs_model_mark(struct ncs_model *model)
{
	int error = 0;

	model->marked_ns = model->now_ns;
	for (size_t i = 0; i < model->rank_count; i++)
		error |= ncs_history_mark(&model->ranks[i]->history,
					  &model->ranks[i]->now);
	ncs_model_set_window(model, model->window);
	return error;
}

uint64_t ncs_model_window_ns(const struct ncs_model *model)
{
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < model->rank_count; i++) {
		uint64_t window_ns = ncs_rank_window_ns(model->ranks[i]);

		if (window_ns > longest_ns)
			longest_ns = window_ns;
	}
	return longest_ns;
}

/* --- Jobs and nodes ------------------------------------------------------- */

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
