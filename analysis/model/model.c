/* SPDX-License-Identifier: MIT */
/* The model: folds a source's samples into ranks with a now and a past.
 * Copies all that it keeps; no I/O, no clock. */
#include "analysis/model/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/aliases.h"
#include "analysis/model/communicators.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/stragglers.h"
#include "shm/clock.h"

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
	error |= resize(&to->ranges, from->range_count, sizeof(*to->ranges));
	error |= resize(&to->range_buckets,
			from->range_histogram_count * NCS_RANGE_BUCKETS,
			sizeof(*to->range_buckets));
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

/* Copies all of `from` but its endless operations into the memory of `to`. On failure `to` holds nothing
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
	to->endless = NULL;
	to->endless_count = 0;
	to->lanes = old.lanes;
	to->classes = old.classes;
	to->class_buckets = old.class_buckets;
	to->ranges = old.ranges;
	to->range_buckets = old.range_buckets;
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
	copy_array(to->ranges, from->ranges, from->range_count,
		   sizeof(*to->ranges));
	copy_array(to->range_buckets, from->range_buckets,
		   from->range_histogram_count * NCS_RANGE_BUCKETS,
		   sizeof(*to->range_buckets));
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

/* All that came of them. */
static void forget_records(struct ncs_rank *rank)
{
	ncs_steps_free(rank->steps);
	ncs_arrivals_free(rank->arrivals);
	ncs_late_rank_free(rank->late);
	rank->steps = NULL;
	rank->arrivals = NULL;
	rank->late = NULL;
}

static void rank_release(struct ncs_rank *rank)
{
	ncs_snapshot_release(&rank->now);
	ncs_history_release(&rank->history);
	ncs_recent_values_release(&rank->traces);
	ncs_latest_free(rank->latest);
	forget_records(rank);
	free(rank->ranges);
	free(rank->id);
	free(rank);
}

/* Where operations were timed since the pass before, bandwidth is that of this
 * interval; else it stays that of the latest interval which had some. */
static void rank_note_timed(struct ncs_rank *rank,
			    const struct ncs_snapshot *taken)
{
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_function_view *now = &taken->functions[i];
		const struct ncs_function_view *before =
			&rank->now.functions[i];

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
	if (!has_before || sample->without_records)
		forget_records(rank);
	if (!rank->steps && sample->record_count == 0 &&
	    sample->snapshot->endless_count == 0)
		return 0;
	if (!rank->steps)
		rank->steps = ncs_steps_new();
	if (!rank->arrivals)
		rank->arrivals = ncs_arrivals_new();
	if (!rank->steps || !rank->arrivals)
		return -ENOMEM;
	ncs_arrivals_take(rank->arrivals, &sample->header->clock,
			  sample->snapshot, sample->records,
			  sample->record_count, sample->records_lost);
	return ncs_steps_take(rank->steps, &sample->header->clock,
			      sample->records, sample->record_count,
			      sample->records_lost);
}

/* What is now becomes past; a rank that is new has none. One that was there
 * before the mark, but was not seen then, counts from its first sample on. */
static int take_past(struct ncs_rank *rank, const struct ncs_snapshot *taken,
		     bool has_before, uint64_t marked_ns)
{
	uint64_t born_ns = rank->header.created != 0 ?
				   ncs_clock_ns(&rank->header.clock,
						rank->header.created) :
				   0;

	if (has_before)
		return ncs_history_take(&rank->history, &rank->now);
	ncs_history_begin(&rank->history,
			  born_ns <= taken->taken_ns ? born_ns : 0);
	if (marked_ns == 0 || born_ns > marked_ns)
		return 0;
	return ncs_history_mark(&rank->history, taken);
}

static void trace_channels(struct ncs_rank *rank,
			   const struct ncs_counters *before,
			   double interval_ns)
{
	double sum = 0;
	bool known = rank->traces.channel_count == 0;

	for (size_t i = 0; i < rank->traces.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];
		const struct ncs_channel_counters *base =
			ncs_counters_channel(before, channel, i);
		uint64_t from = base ? base->bytes : 0;
		double rate;

		if (!ncs_channel_bytes_known(channel) || channel->bytes < from)
			continue;
		rate = (double)(channel->bytes - from) * 1e9 / interval_ns;
		ncs_recent_set(&rank->traces.channels[i].rate,
			       rank->traces.count, rate);
		sum += rate;
		known = true;
	}
	if (known)
		ncs_recent_set(&rank->traces.rate, rank->traces.count, sum);
}

static void trace_functions(struct ncs_rank *rank,
			    const struct ncs_counters *before)
{
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		ncs_recent_set(&rank->traces.busbw[i], rank->traces.count,
			       ncs_bus_bandwidth_since(rank, i, before));
}

/* What happened since the pass before. */
static int take_traces(struct ncs_rank *rank, bool has_before)
{
	const struct ncs_counters *before = ncs_rank_before(rank);

	if (!has_before)
		ncs_recent_values_release(&rank->traces);
	if (ncs_recent_values_begin(&rank->traces, &rank->now) != 0)
		return -ENOMEM;
	if (!before || before->taken_ns >= rank->now.taken_ns)
		return 0;
	trace_channels(rank, before,
		       (double)(rank->now.taken_ns - before->taken_ns));
	trace_functions(rank, before);
	return 0;
}

static void find_base(struct ncs_rank *rank, enum ncs_window window)
{
	rank->base =
		ncs_history_base(&rank->history, window, rank->now.taken_ns);
}

static int sum_ranges(struct ncs_rank *rank)
{
	int error = resize(&rank->ranges, rank->now.range_count,
			   sizeof(*rank->ranges));

	if (!error)
		error = ncs_ranges_sum(&rank->now, rank->ranges);
	if (error)
		rank->now.range_count = 0;
	return error;
}

/* The sample becomes now, what was now becomes past. */
static int rank_take(struct ncs_rank *rank, struct ncs_model *model,
		     const struct ncs_sample *sample, bool has_before)
{
	struct ncs_snapshot *taken = &model->spare;
	struct ncs_snapshot old = rank->now;
	int error = snapshot_copy(taken, sample->snapshot);

	if (error)
		return error;
	if (model->aliases)
		ncs_aliases_apply(model->aliases, &taken->identity);
	rank->header = *sample->header;
	rank->clock_is_aligned = sample->clock_is_aligned;
	rank->clock_error_ns = sample->clock_error_ns;
	if (has_before)
		rank_note_timed(rank, taken);
	else
		memset(rank->timed_before, 0, sizeof(rank->timed_before));
	error = take_past(rank, taken, has_before, model->marked_ns);
	rank->now = *taken;
	*taken = old;
	find_base(rank, model->window);
	if (!error)
		error = sum_ranges(rank);
	if (!error)
		error = take_traces(rank, has_before);
	if (error)
		return error;
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
	ncs_stragglers_release(model);
	ncs_communicators_release(model);
	ncs_snapshot_release(&model->spare);
	free(model->ranks);
	free(model->by_id);
	free(model->unreadable);
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

/* Who shares the memory is known after the first pass. */
static int take_latest(const struct ncs_model *model, struct ncs_rank *rank,
		       const struct ncs_sample *sample, bool has_before)
{
	size_t ranks = model->latest_count > 0 ? model->latest_count :
						 model->rank_count;

	if (!has_before || sample->without_records) {
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
			       has_before ? ranks : SIZE_MAX);
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
	error = rank->id ? rank_take(rank, model, sample, false) : -ENOMEM;
	if (!error)
		error = take_latest(model, rank, sample, false);
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
	if (same && sample->is_old)
		return 0;
	if (!same)
		model->generation++;
	error = rank_take(rank, model, sample, same);
	return error ? error : take_latest(model, rank, sample, same);
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

/* The sum of all ranks whose rates are known. */
static void take_traffic(struct ncs_model *model)
{
	double sum = 0;
	bool known = false;

	model->looks++;
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_recent_values *traces =
			&model->ranks[i]->traces;
		double rate = traces->count > 0 ?
				      ncs_recent_latest(&traces->rate,
							traces->count) :
				      -1;

		if (rate < 0)
			continue;
		sum += rate;
		known = true;
	}
	ncs_recent_set(&model->traffic, model->looks, known ? sum : -1);
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
	take_traffic(model);
	if (model->generation != generation)
		note_ids(model);
	if ((ncs_communicators_find(model) != 0 ||
	     ncs_stragglers_update(model) != 0) &&
	    !error) {
		snprintf(model->error, sizeof(model->error), "%s",
			 strerror(ENOMEM));
		error = -ENOMEM;
	}
	return error;
}

/* --- Windows ------------------------------------------------------------ */

void ncs_model_set_window(struct ncs_model *model, enum ncs_window window)
{
	model->window = window;
	for (size_t i = 0; i < model->rank_count; i++)
		find_base(model->ranks[i], window);
	/* They have rates of their own; without memory there are none. */
	ncs_communicators_find(model);
}

int ncs_model_mark(struct ncs_model *model)
{
	int error = 0;

	model->marked_ns = model->now_ns;
	for (size_t i = 0; i < model->rank_count; i++) {
		struct ncs_rank *rank = model->ranks[i];

		error |= ncs_history_mark(&rank->history, &rank->now);
	}
	ncs_model_set_window(model, model->window);
	return error;
}

uint64_t ncs_rank_window_ns(const struct ncs_rank *rank)
{
	const struct ncs_counters *base = rank->base;
	uint64_t end_ns = rank->now.taken_ns;

	if (!base)
		return 0;
	if (base == &rank->history.birth)
		end_ns = ncs_rank_end_ns(rank);
	return end_ns > base->taken_ns ? end_ns - base->taken_ns : 0;
}

const struct ncs_counters *ncs_rank_before(const struct ncs_rank *rank)
{
	return ncs_history_base(&rank->history, NCS_WINDOW_NOW,
				rank->now.taken_ns);
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
