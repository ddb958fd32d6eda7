/* The model: folds a source's samples into ranks with a now and a before.
 * Copies all that it keeps; no I/O, no clock. */
#include "analysis/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/aliases.h"
#include "analysis/communicators.h"

/* --- Copies of snapshots ------------------------------------------------ */

static int resize(void *array, size_t count, size_t size)
{
	void *old, *resized;

	memcpy(&old, array, sizeof(old));
	resized = realloc(old, (count > 0 ? count : 1) * size);
	if (!resized)
		return -ENOMEM;
	memcpy(array, &resized, sizeof(resized));
	return 0;
}

static int resize_histogram(uint64_t **to, const uint64_t *from)
{
	if (from && !*to) {
		*to = malloc(NCS_HISTOGRAM_BUCKETS * sizeof(**to));
		return *to ? 0 : -ENOMEM;
	}
	if (!from) {
		free(*to);
		*to = NULL;
	}
	return 0;
}

/* Memory in `to` for all that `from` points to. */
static int snapshot_resize(struct ncs_snapshot *to,
			   const struct ncs_snapshot *from)
{
	int error = 0;

	error |= resize(&to->channels, from->channel_count,
			sizeof(*to->channels));
	error |= resize(&to->operations, from->operation_count,
			sizeof(*to->operations));
	error |= resize(&to->lanes, from->lane_count, sizeof(*to->lanes));
	error |= resize(&to->classes, from->class_count, sizeof(*to->classes));
	error |= resize(&to->class_buckets, from->class_bucket_count,
			sizeof(*to->class_buckets));
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++)
		for (size_t k = 0; k < NCS_TIMING_COUNT; k++)
			error |= resize_histogram(
				&to->functions[i].histogram[k],
				from->functions[i].histogram[k]);
	return error;
}

static void copy_array(void *to, const void *from, size_t count, size_t size)
{
	if (count > 0)
		memcpy(to, from, count * size);
}

/* Copies all of `from` into the memory of `to`. On failure `to` holds nothing
 * that may be looked at, but can be copied to again, and released. */
static int snapshot_copy(struct ncs_snapshot *to,
			 const struct ncs_snapshot *from)
{
	struct ncs_snapshot old;

	if (snapshot_resize(to, from) != 0)
		return -ENOMEM;
	old = *to;
	*to = *from;
	to->channels = old.channels;
	to->operations = old.operations;
	to->lanes = old.lanes;
	to->classes = old.classes;
	to->class_buckets = old.class_buckets;
	copy_array(to->channels, from->channels, from->channel_count,
		   sizeof(*to->channels));
	copy_array(to->operations, from->operations, from->operation_count,
		   sizeof(*to->operations));
	copy_array(to->lanes, from->lanes, from->lane_count,
		   sizeof(*to->lanes));
	copy_array(to->classes, from->classes, from->class_count,
		   sizeof(*to->classes));
	copy_array(to->class_buckets, from->class_buckets,
		   from->class_bucket_count, sizeof(*to->class_buckets));
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		for (size_t k = 0; k < NCS_TIMING_COUNT; k++) {
			uint64_t *histogram = old.functions[i].histogram[k];

			to->functions[i].histogram[k] = histogram;
			if (histogram)
				memcpy(histogram,
				       from->functions[i].histogram[k],
				       NCS_HISTOGRAM_BUCKETS *
					       sizeof(*histogram));
		}
	}
	return 0;
}

/* --- Ranks -------------------------------------------------------------- */

static void rank_release(struct ncs_rank *rank)
{
	ncs_snapshot_release(&rank->now);
	ncs_snapshot_release(&rank->before);
	ncs_steps_free(rank->steps);
	ncs_latest_free(rank->latest);
	free(rank->id);
	free(rank);
}

/* Where operations were timed since the pass before, bandwidth is that of this
 * interval; else it stays that of the latest interval which had some. */
static void rank_note_timed(struct ncs_rank *rank)
{
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *now = &rank->now.functions[i];
		const struct ncs_function_view *before =
			&rank->before.functions[i];

		for (size_t k = 0; k < NCS_TIMING_COUNT; k++) {
			if (now->timed[k] == before->timed[k])
				continue;
			rank->timed_before[i][k] = (struct ncs_timed){
				.time_ns = before->time_ns[k],
				.bytes = before->timed_bytes[k],
				.size_unknown = before->size_unknown,
			};
		}
	}
}

/* The same path may come to hold another process's segment. */
static bool rank_is_same(const struct ncs_rank *rank,
			 const struct ncs_header *header)
{
	return rank->header.pid == header->pid &&
	       rank->header.process_start == header->process_start &&
	       rank->header.created == header->created;
}

/* Adds the sample's records to what those before it said. */
static int take_records(struct ncs_rank *rank, const struct ncs_sample *sample,
			bool has_before)
{
	if (!has_before || sample->without_records) {
		ncs_steps_free(rank->steps);
		rank->steps = NULL;
	}
	if (!rank->steps && sample->record_count == 0)
		return 0;
	if (!rank->steps)
		rank->steps = ncs_steps_new();
	if (!rank->steps)
		return -ENOMEM;
	return ncs_steps_take(rank->steps, &sample->header->clock,
			      sample->records, sample->record_count,
			      sample->records_lost);
}

/* The sample becomes now, what was now becomes before. */
static int rank_take(const struct ncs_model *model, struct ncs_rank *rank,
		     const struct ncs_sample *sample, bool has_before)
{
	struct ncs_snapshot old = rank->now;
	int error;

	rank->now = rank->before;
	rank->before = old;
	error = snapshot_copy(&rank->now, sample->snapshot);
	if (error) {
		/* The older of the two is spoilt; go back to the other. */
		rank->before = rank->now;
		rank->now = old;
		rank->has_before = false;
		return error;
	}
	if (model->aliases)
		ncs_aliases_apply(model->aliases, &rank->now.identity);
	rank->header = *sample->header;
	rank->has_before = has_before;
	if (has_before)
		rank_note_timed(rank);
	else
		memset(rank->timed_before, 0, sizeof(rank->timed_before));
	return take_records(rank, sample, has_before);
}

static int compare_words(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int ncs_rank_compare(const struct ncs_rank *a, const struct ncs_rank *b)
{
	const struct ncs_identity *of_a = &a->now.identity;
	const struct ncs_identity *of_b = &b->now.identity;
	int order = strcmp(a->header.host, b->header.host);

	/* Who has no name comes last. */
	if (order == 0)
		order = !of_a->comm_name[0] - !of_b->comm_name[0];
	if (order == 0)
		order = strcmp(of_a->comm_name, of_b->comm_name);
	if (order == 0)
		order = compare_words(of_a->comm_id, of_b->comm_id);
	if (order == 0)
		order = (of_a->rank > of_b->rank) - (of_a->rank < of_b->rank);
	if (order == 0)
		order = compare_words(a->header.pid, b->header.pid);
	return order ? order : strcmp(a->id, b->id);
}

static int compare_ranks(const void *left, const void *right)
{
	struct ncs_rank *const *a = left, *const *b = right;

	return ncs_rank_compare(*a, *b);
}

/* --- The model ---------------------------------------------------------- */

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
		rank_release(model->ranks[i]);
	release_unreadable(model);
	ncs_communicators_release(model);
	free(model->ranks);
	free(model->by_id);
	free(model->unreadable);
	ncs_model_init(model);
}

static size_t count_latest(const struct ncs_model *model)
{
	size_t count = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		count += model->ranks[i]->latest != NULL;
	return count;
}

/* Who shares the memory is known after the first pass. */
static int take_trace(const struct ncs_model *model, struct ncs_rank *rank,
		      const struct ncs_sample *sample)
{
	size_t ranks = model->latest_count > 0 ? model->latest_count :
						 model->rank_count;

	if (!rank->has_before || sample->without_records) {
		ncs_latest_free(rank->latest);
		rank->latest = NULL;
	}
	if (!model->keeps_latest || sample->without_records)
		return 0;
	if (!rank->latest)
		rank->latest = ncs_latest_new();
	if (!rank->latest)
		return -ENOMEM;
	return ncs_latest_take(rank->latest, sample,
			       rank->has_before ? ranks : SIZE_MAX);
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

/* A rank of the pass before: a source hands over each once. */
static struct ncs_rank *find_rank(const struct ncs_model *model, const char *id)
{
	struct ncs_rank **found = NULL;

	if (model->by_id_count > 0)
		found = bsearch(id, model->by_id, model->by_id_count,
				sizeof(*model->by_id), compare_to_id);
	return found ? *found : NULL;
}

/* For find_rank() in the next pass. */
static void note_ids(struct ncs_model *model)
{
	model->by_id_count = model->rank_count;
	copy_array(model->by_id, model->ranks, model->by_id_count,
		   sizeof(*model->by_id));
	if (model->by_id_count > 0)
		qsort(model->by_id, model->by_id_count, sizeof(*model->by_id),
		      compare_ids);
}

static int append_rank(struct ncs_model *model, const struct ncs_sample *sample)
{
	struct ncs_rank *rank;
	int error = resize(&model->ranks, model->rank_count + 1,
			   sizeof(struct ncs_rank *));

	if (!error)
		error = resize(&model->by_id, model->rank_count + 1,
			       sizeof(struct ncs_rank *));
	if (error)
		return error;
	rank = calloc(1, sizeof(*rank));
	if (!rank)
		return -ENOMEM;
	rank->id = strdup(sample->id);
	error = rank->id ? rank_take(model, rank, sample, false) : -ENOMEM;
	if (!error)
		error = take_trace(model, rank, sample);
	if (error) {
		rank_release(rank);
		return error;
	}
	rank->seen = true;
	model->ranks[model->rank_count++] = rank;
	model->generation++;
	return 0;
}

static int take_rank(struct ncs_model *model, const struct ncs_sample *sample)
{
	struct ncs_rank *rank;
	bool same;
	int error;

	/* Nothing more can come of it, and nobody is left to miss it. */
	if (sample->snapshot->liveness == NCS_FINISHED &&
	    sample->snapshot->process_gone)
		return 0;
	rank = find_rank(model, sample->id);
	if (!rank)
		return append_rank(model, sample);
	rank->seen = true;
	same = rank_is_same(rank, sample->header);
	if (!same)
		model->generation++;
	error = rank_take(model, rank, sample, same);
	return error ? error : take_trace(model, rank, sample);
}

static int take_unreadable(struct ncs_model *model,
			   const struct ncs_sample *sample)
{
	struct ncs_unreadable *unreadable;
	int error = resize(&model->unreadable, model->unreadable_count + 1,
			   sizeof(*model->unreadable));

	if (error)
		return error;
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

static void drop_unseen(struct ncs_model *model)
{
	size_t kept = 0;

	for (size_t i = 0; i < model->rank_count; i++) {
		if (model->ranks[i]->seen)
			model->ranks[kept++] = model->ranks[i];
		else
			rank_release(model->ranks[i]);
	}
	if (kept != model->rank_count)
		model->generation++;
	model->rank_count = kept;
}

/* Who a rank is may become known late, so its place may change. */
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
	struct ncs_sample sample;

	while (source->next(source, &sample)) {
		int error = sample.attach == NCS_ATTACHED ?
				    take_rank(model, &sample) :
				    take_unreadable(model, &sample);

		if (error) {
			snprintf(model->error, sizeof(model->error), "%s",
				 strerror(-error));
			return error;
		}
	}
	return 0;
}

int ncs_model_update(struct ncs_model *model, struct ncs_source *source,
		     uint64_t now_ns)
{
	uint64_t generation = model->generation;
	int error;

	model->now_ns = now_ns;
	model->aliases = source->aliases;
	model->error[0] = '\0';
	error = source->begin(source, now_ns, model->error,
			      sizeof(model->error));
	if (error)
		return error;
	for (size_t i = 0; i < model->rank_count; i++)
		model->ranks[i]->seen = false;
	model->latest_count = count_latest(model);
	release_unreadable(model);
	error = take_all(model, source);
	if (!error)
		drop_unseen(model);
	sort_ranks(model);
	if (model->generation != generation)
		note_ids(model);
	if (ncs_communicators_find(model) != 0 && !error) {
		snprintf(model->error, sizeof(model->error), "%s",
			 strerror(ENOMEM));
		error = -ENOMEM;
	}
	return error;
}

/* --- What the numbers mean ---------------------------------------------- */

uint64_t ncs_rank_end_ns(const struct ncs_rank *rank)
{
	const struct ncs_snapshot *now = &rank->now;

	if (now->liveness == NCS_FINISHED)
		return now->finished_ns;
	return now->liveness == NCS_DEAD ? now->last_call_ns : now->taken_ns;
}

uint64_t ncs_rank_lost(const struct ncs_rank *rank)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < NCS_LOSS_COUNT; i++)
		if (i != NCS_LOSS_OVERWRITTEN)
			lost += rank->now.losses[i];
	return lost;
}

bool ncs_function_is_used(const struct ncs_function_view *function)
{
	return function->calls > 0 || function->operations > 0;
}

bool ncs_rank_calls_known(const struct ncs_rank *rank)
{
	return rank->header.api_version >= 5;
}

bool ncs_function_bytes_known(const struct ncs_function_view *function)
{
	return function->operations > 0 && function->size_unknown == 0;
}

bool ncs_rank_proxy_known(const struct ncs_rank *rank)
{
	return rank->now.proxy.state != NCS_PROXY_UNKNOWN;
}

bool ncs_channel_bytes_known(const struct ncs_channel_view *channel)
{
	return channel->bytes > 0 || channel->size_unknown == 0;
}

bool ncs_rank_peer_wait_known(const struct ncs_rank *rank)
{
	return rank->header.api_version >= 4;
}

bool ncs_channel_peer_wait_known(const struct ncs_rank *rank,
				 const struct ncs_channel_view *channel)
{
	return !channel->send || ncs_rank_peer_wait_known(rank) ||
	       channel->time_ns[NCS_CHANNEL_SEND_PEER_WAIT] > 0;
}
