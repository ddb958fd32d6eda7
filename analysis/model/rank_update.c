/* SPDX-License-Identifier: MIT */
/* Takes samples of a rank: a sample becomes the rank's present state, and the
 * former one its past; see rank_update.h. Copies all that is kept. */
#include "analysis/model/rank_update.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/aliases.h"
#include "analysis/base/finding_numbers.h"
#include "analysis/base/move_clock.h"
#include "analysis/model/lateness_state.h"
#include "analysis/model/range_totals.h"
#include "analysis/records/latest_records.h"
#include "analysis/records/parts.h"
#include "analysis/records/step_stats.h"
#include "ncclstat/abi_header.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/labels.h"

/* Forgets all facts from the rank's records. */
static void forget_records(struct ncs_rank *rank)
{
	ncs_steps_free(rank->steps);
	ncs_parts_free(rank->parts);
	ncs_late_rank_free(rank->late);
	rank->steps = NULL;
	rank->parts = NULL;
	rank->late = NULL;
}

void ncs_rank_free(struct ncs_rank *rank)
{
	ncs_snapshot_release(&rank->now);
	ncs_history_release(&rank->history);
	ncs_recent_values_release(&rank->traces);
	ncs_latest_free(rank->latest);
	forget_records(rank);
	free(rank->ranges);
	free(rank->labels);
	free(rank->stack);
	free(rank->id);
	free(rank);
}

bool ncs_rank_is_same(const struct ncs_rank *rank,
		      const struct ncs_header *header)
{
	return rank->process.pid == header->pid &&
	       rank->process.start == header->process_start &&
	       rank->created == header->created;
}

/* Makes parts of the sample's records. */
static int take_parts(struct ncs_rank *rank, const struct ncs_sample *sample)
{
	uint64_t taken_ns = sample->snapshot->taken_ns;
	int error;

	if (!rank->parts) {
		rank->parts = ncs_parts_new(sample->header, rank->serial);
		if (!rank->parts)
			return -ENOMEM;
	} else {
		ncs_parts_move(rank->parts, &sample->header->clock);
		/* Records of any lane may be missing, up to the present. */
		if (sample->records_lost > 0)
			ncs_parts_take(rank->parts, NULL, 0,
				       sample->records_lost, taken_ns);
	}
	error = ncs_parts_learn(rank->parts, sample->snapshot);
	if (!error)
		error = ncs_parts_take(rank->parts, sample->records,
				       sample->record_count, 0, taken_ns);
	if (!ncs_rank_is_live(rank))
		ncs_parts_settle(rank->parts, UINT64_MAX);
	else if (taken_ns > NCS_SETTLES_AFTER_NS)
		ncs_parts_settle_ended(rank->parts,
				       taken_ns - NCS_SETTLES_AFTER_NS);
	return error;
}

/* Adds the sample's records to those of the samples before it. */
static int take_records(struct ncs_rank *rank, const struct ncs_sample *sample,
			bool has_past)
{
	if (!has_past || sample->without_records)
		forget_records(rank);
	if (!rank->steps && sample->record_count == 0)
		return 0;
	if (!rank->steps)
		rank->steps = ncs_steps_new();
	if (!rank->steps || take_parts(rank, sample) != 0)
		return -ENOMEM;
	return ncs_steps_take(rank->steps, &sample->header->clock,
			      sample->records, sample->record_count,
			      sample->records_lost);
}

/* Adds what the rank has now to its history. A rank that was there before the
 * mark, but was not seen then, counts from its first sample on. */
static int take_past(struct ncs_rank *rank, const struct ncs_snapshot *taken,
		     bool has_past, uint64_t marked_ns)
{
	uint64_t born_ns = rank->created != 0 ?
				   ncs_clock_ns(&rank->clock, rank->created) :
				   0;

	if (has_past)
		return ncs_history_take(&rank->history, &rank->now,
					rank->unchanged_since_ns);
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
	for (size_t i = 0; i < rank->traces.channel_count; i++) {
		const struct ncs_channel_view *channel = &rank->now.channels[i];
		const struct ncs_channel_counters *base =
			ncs_counters_channel(before, channel, i);
		uint64_t from = base ? base->bytes : 0;

		if (ncs_channel_bytes_known(channel) && channel->bytes >= from)
			ncs_recent_set(&rank->traces.channels[i].rate,
				       rank->traces.count,
				       (double)(channel->bytes - from) * 1e9 /
					       interval_ns);
	}
}

/* Adds one value to each of the rank's `traces`, for the time since the
 * previous update. */
static int take_traces(struct ncs_rank *rank, bool has_past)
{
	const struct ncs_counters *before = ncs_rank_before(rank);

	if (!has_past)
		ncs_recent_values_release(&rank->traces);
	if (ncs_recent_values_begin(&rank->traces, &rank->now) != 0)
		return -ENOMEM;
	if (!before || before->taken_ns >= rank->now.taken_ns)
		return 0;
	trace_channels(rank, before,
		       (double)(rank->now.taken_ns - before->taken_ns));
	return 0;
}

void ncs_rank_find_base(struct ncs_rank *rank, enum ncs_window window)
{
	rank->base =
		ncs_history_base(&rank->history, window, rank->now.taken_ns);
}

static int sum_ranges(struct ncs_rank *rank)
{
	int error = ncs_array_reserve(&rank->ranges, &rank->range_capacity,
				      rank->now.range_count,
				      sizeof(*rank->ranges));

	if (!error)
		error = ncs_ranges_sum(&rank->now, rank->ranges);
	if (error)
		rank->now.range_count = 0;
	return error;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Keeps the times of the last sample that showed a process alive, and whether it was
 * stopped then. The segment of a process that died tells when it last did something,
 * not until when it waited. */
static void keep_times(struct ncs_snapshot *dead,
		       const struct ncs_snapshot *before)
{
	dead->process_stopped |= before->process_stopped;
	for (size_t i = 0; i < NCS_PROXY_STATE_COUNT; i++)
		dead->proxy.time_ns[i] = larger(dead->proxy.time_ns[i],
						before->proxy.time_ns[i]);
	for (size_t i = 0; i < dead->channel_count; i++) {
		struct ncs_channel_view *channel = &dead->channels[i];
		const struct ncs_channel_view *old = &before->channels[i];

		if (i >= before->channel_count ||
		    channel->channel != old->channel ||
		    channel->send != old->send || channel->peer != old->peer)
			return;
		for (size_t k = 0; k < NCS_CHANNEL_STATE_COUNT; k++)
			channel->time_ns[k] =
				larger(channel->time_ns[k], old->time_ns[k]);
	}
	for (size_t i = 0; i < dead->range_count && i < before->range_count;
	     i++)
		dead->ranges[i].busy_ns = larger(dead->ranges[i].busy_ns,
						 before->ranges[i].busy_ns);
}

/* Keeps the labels of the rank's process, which do not change. */
static int take_labels(struct ncs_rank *rank, const struct ncs_sample *sample,
		       bool has_past)
{
	size_t bytes;

	if (has_past && rank->labels)
		return 0;
	free(rank->labels);
	rank->labels = NULL;
	if (!sample->labels || !sample->labels[0])
		return 0;
	bytes = ncs_labels_bytes(sample->labels);
	rank->labels = malloc(bytes);
	if (!rank->labels)
		return -ENOMEM;
	memcpy(rank->labels, sample->labels, bytes);
	return 0;
}

/* Whether a sample moves the rank's clock by more than the errors that are told
 * of it. */
static bool moves_clock(const struct ncs_rank *rank,
			const struct ncs_sample *sample)
{
	const struct ncs_clock_move move =
		ncs_clock_move_between(&rank->clock, &sample->header->clock);
	int64_t by_ns = ncs_clock_move_by(&move, rank->now.taken_ns);

	return ncs_magnitude(by_ns) >
	       rank->clock_error_ns + sample->clock_error_ns;
}

/* --- Copies ------------------------------------------------------------- */

/* Copies `bytes` of the array whose pointer is at `from` to the one at `to`,
 * whose memory is reused: snapshots have no capacities. Stores the pointer at
 * `copy`, too. Returns 0 or -ENOMEM. */
static int copy_array(void *to, const void *from, void *copy, size_t bytes)
{
	const void *source;
	void *items;

	memcpy(&source, from, sizeof(source));
	memcpy(&items, to, sizeof(items));
	items = realloc(items, bytes > 0 ? bytes : 1);
	if (!items)
		return -ENOMEM;
	if (bytes > 0)
		memcpy(items, source, bytes);
	memcpy(to, &items, sizeof(items));
	memcpy(copy, &items, sizeof(items));
	return 0;
}

/* Copies all of a snapshot, to outlive the source's own, into an earlier copy or
 * zeros, whose memory is reused. Returns 0 or -ENOMEM; then the contents of `to` are
 * undefined, but it can be copied to again, and released. */
static int copy_snapshot(struct ncs_snapshot *to,
			 const struct ncs_snapshot *from)
{
	struct ncs_snapshot copy = *from;
	int error = 0;

#define COPY(member, count) \
	error |= copy_array(&to->member, &from->member, &copy.member, \
			    (count) * sizeof(*to->member))
	COPY(channels, from->channel_count);
	COPY(operations, from->operation_count);
	COPY(lanes, from->lane_count);
	COPY(classes, from->class_count);
	COPY(class_buckets, from->class_bucket_count);
	COPY(ranges, from->range_count);
	COPY(range_buckets, from->range_histogram_count * NCS_RANGE_BUCKETS);
	for (size_t i = 0; i < NCS_FUNCTION_COUNT; i++) {
		for (size_t k = 0; k < NCS_TIMING_COUNT; k++) {
			if (from->functions[i].histogram[k]) {
				COPY(functions[i].histogram[k],
				     NCS_HISTOGRAM_BUCKETS);
				continue;
			}
			free(to->functions[i].histogram[k]);
			to->functions[i].histogram[k] = NULL;
		}
	}
#undef COPY
	if (!error)
		*to = copy;
	return error;
}

/* --- A sample ------------------------------------------------------------- */

static void take_clock(struct ncs_rank *rank, const struct ncs_sample *sample)
{
	rank->clock = sample->header->clock;
	rank->clock_is_aligned = sample->clock_is_aligned;
	rank->clock_error_ns = sample->clock_error_ns;
	rank->clock_is_by_realtime = sample->clock_is_by_realtime;
}

/* Notes when the process lived, and whether it stays stopped. */
static void note_life(struct ncs_rank *rank, const struct ncs_snapshot *taken,
		      bool has_past)
{
	if (!has_past)
		rank->alive_ns = 0;
	if (taken->liveness == NCS_ALIVE || taken->liveness == NCS_SILENT)
		rank->alive_ns = taken->taken_ns;
	if (!has_past)
		rank->stopped_ns = 0;
	else if (!taken->process_stopped || !rank->now.process_stopped)
		rank->stopped_ns = taken->taken_ns;
	rank->stays_stopped =
		taken->process_stopped &&
		(rank->stopped_ns == 0 ||
		 taken->taken_ns >= rank->stopped_ns + NCS_LOOK_NS);
}

static void note_functions(struct ncs_rank *rank)
{
	rank->functions = 0;
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++)
		if (rank->now.functions[i].last_sequence_number !=
		    NCS_NO_SEQUENCE_NUMBER)
			rank->functions |= UINT64_C(1) << i;
}

static int take_sample(struct ncs_rank *rank, struct ncs_model *model,
		       const struct ncs_sample *sample, bool has_past)
{
	struct ncs_snapshot *taken = &model->spare;
	struct ncs_snapshot old = rank->now;
	int error = copy_snapshot(taken, sample->snapshot);

	if (error)
		return error;
	if (model->aliases)
		ncs_aliases_apply(model->aliases, &taken->identity);
	if (!has_past)
		rank->serial = ++model->serials;
	rank->has_moved = has_past && moves_clock(rank, sample);
	ncs_process_of_header(sample->header, &rank->process);
	take_clock(rank, sample);
	rank->created = sample->header->created;
	rank->api_version = sample->header->api_version;
	error = take_past(rank, taken, has_past, model->marked_ns);
	if (has_past && taken->liveness == NCS_DEAD)
		keep_times(taken, &rank->now);
	note_life(rank, taken, has_past);
	rank->now = *taken;
	*taken = old;
	/* Later than all counters before, whose clock may have been ahead. */
	rank->unchanged_since_ns =
		larger(rank->now.taken_ns, rank->history.greatest_ns + 1);
	note_functions(rank);
	ncs_rank_find_base(rank, model->window);
	if (!error)
		error = take_labels(rank, sample, has_past);
	if (!error)
		error = sum_ranges(rank);
	if (!error)
		error = take_traces(rank, has_past);
	if (error)
		return error;
	return take_records(rank, sample, has_past);
}

/* Keeps the sample's records if the model does. The number of ranks that share
 * the memory is known only after the first update. */
static int take_latest(const struct ncs_model *model, struct ncs_rank *rank,
		       const struct ncs_sample *sample, bool has_past)
{
	size_t ranks = model->latest_count > 0 ? model->latest_count :
						 model->rank_count;

	if (!has_past || sample->without_records) {
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
			       has_past ? ranks : SIZE_MAX);
}

int ncs_rank_stay(struct ncs_rank *rank, const struct ncs_model *model,
		  const struct ncs_sample *sample)
{
	int error;

	if (!ncs_rank_is_live(rank))
		return 0;
	rank->has_moved = false;
	take_clock(rank, sample);
	error = ncs_history_take(&rank->history, &rank->now,
				 rank->unchanged_since_ns);
	ncs_snapshot_advance(&rank->now,
			     ncs_clock_ns(&rank->clock, rank->created),
			     sample->taken_ns, sample->alive_ns);
	note_life(rank, &rank->now, true);
	ncs_rank_find_base(rank, model->window);
	if (!error)
		error = sum_ranges(rank);
	return error ? error : take_traces(rank, true);
}

int ncs_rank_take(struct ncs_rank *rank, struct ncs_model *model,
		  const struct ncs_sample *sample, bool has_past)
{
	int error = take_sample(rank, model, sample, has_past);

	return error ? error : take_latest(model, rank, sample, has_past);
}
