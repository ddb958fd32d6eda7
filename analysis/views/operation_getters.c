/* SPDX-License-Identifier: MIT */
/* Computed cells of operations: by function, of a rank and of a communicator, by class,
 * and by range. */
#include "analysis/views/getters.h"

#include <stdio.h>

#include "analysis/base/append.h"
#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/class_stats.h"
#include "analysis/model/moving.h"
#include "analysis/model/range_totals.h"
#include "analysis/model/rank.h"
#include "analysis/records/operation_record.h"
#include "ncclstat/size_class.h"

/* --- Functions ------------------------------------------------------------ */

static unsigned function_of(const struct ncs_row *row)
{
	return (unsigned)row->index;
}

static const struct ncs_function_view *counts_of(const struct ncs_row *row)
{
	return &row->rank->now.functions[row->index];
}

NCS_GETTER(function_name)
{
	ncs_value_set_text(value, ncs_function_name(function_of(row)));
}

NCS_GETTER(function_rate)
{
	const struct ncs_counters *base = row->rank->base;

	if (base)
		ncs_value_set_real(
			value, NCS_VALUE_RATE,
			ncs_rank_rate(row->rank, counts_of(row)->operations,
				      base->functions[row->index].operations));
}

NCS_GETTER(function_percentile)
{
	ncs_value_set_percentile(value,
				 ncs_rank_percentile(row->rank,
						     function_of(row),
						     argument / 100.0));
}

NCS_GETTER(function_timing)
{
	ncs_value_set_text(
		value, ncs_timing_name(ncs_function_timing(counts_of(row))));
}

NCS_GETTER(function_timed)
{
	const struct ncs_function_view *counts = counts_of(row);
	unsigned timing = ncs_function_timing(counts);

	ncs_value_set_number(
		value, timing < NCS_TIMING_COUNT ? counts->timed[timing] : 0);
}

/* --- Functions of communicators --------------------------------------------- */

static struct ncs_moving_view moving_of(const struct ncs_row *row)
{
	return ncs_communicator_moving(row->communicator, function_of(row),
				       NULL);
}

static const struct ncs_function_view *counts_at(const struct ncs_row *row,
						 size_t rank)
{
	return &row->communicator->ranks[rank]->now.functions[row->index];
}

NCS_GETTER(collective_ranks)
{
	const struct ncs_communicator *communicator = row->communicator;
	const struct ncs_identity *identity = communicator->identity;
	struct ncs_moving_view view = moving_of(row);
	bool is_known = view.operations > 0 &&
			!ncs_is_transfer(function_of(row));
	size_t ranks = is_known ? view.ranks : 0;

	for (size_t i = 0; !is_known && i < communicator->rank_count; i++)
		ranks += ncs_function_is_used(counts_at(row, i));
	value->kind = NCS_VALUE_TEXT;
	if (identity->known & NCS_KNOWN_NRANKS)
		snprintf(value->text, sizeof(value->text), "%zu/%d", ranks,
			 identity->nranks);
	else
		snprintf(value->text, sizeof(value->text), "%zu", ranks);
}

NCS_GETTER(collective_operations)
{
	uint64_t most = 0;

	for (size_t i = 0; i < row->communicator->rank_count; i++)
		if (counts_at(row, i)->operations > most)
			most = counts_at(row, i)->operations;
	ncs_value_set_number(value, most);
}

NCS_GETTER(collective_rate)
{
	double most = -1;

	for (size_t i = 0; i < row->communicator->rank_count; i++) {
		const struct ncs_rank *rank = row->communicator->ranks[i];
		double rate;

		if (!rank->base)
			continue;
		rate = ncs_rank_rate(
			rank, counts_at(row, i)->operations,
			rank->base->functions[row->index].operations);
		if (rate > most)
			most = rate;
	}
	ncs_value_set_real(value, NCS_VALUE_RATE, most);
}

NCS_GETTER(collective_bytes)
{
	uint64_t most = 0;
	bool is_known = false;

	for (size_t i = 0; i < row->communicator->rank_count; i++) {
		const struct ncs_function_view *counts = counts_at(row, i);

		if (!ncs_function_is_used(counts))
			continue;
		if (!ncs_function_bytes_known(counts))
			return;
		is_known = true;
		if (counts->bytes > most)
			most = counts->bytes;
	}
	if (is_known)
		ncs_value_set(value, NCS_VALUE_BYTES, most);
}

NCS_GETTER(collective_time)
{
	ncs_value_set_percentile(value,
				 ncs_communicator_time_ns(row->communicator,
							  function_of(row)));
}

NCS_GETTER(collective_moving)
{
	struct ncs_moving_view view = moving_of(row);

	ncs_value_set_duration(value, view.moving_ns);
	value->error_ns = view.error_ns;
	value->is_stale = view.is_stale;
}

NCS_GETTER(collective_bandwidth)
{
	struct ncs_moving_view view = moving_of(row);

	ncs_value_set_real(value, NCS_VALUE_REAL,
			   argument ? view.busbw : view.algbw);
	value->is_stale = view.is_stale;
}

NCS_GETTER(collective_recent)
{
	uint64_t count = 0;
	const struct ncs_recent *recent = ncs_communicator_busbw_recent(
		row->communicator, function_of(row), &count);

	if (recent)
		ncs_value_set_recent(value, recent, count);
}

NCS_GETTER(collective_timing)
{
	ncs_value_set_text(value, ncs_timing_name(moving_of(row).timing));
}

NCS_GETTER(collective_timed)
{
	ncs_value_set_number(value, moving_of(row).operations);
}

NCS_GETTER(collective_age)
{
	struct ncs_moving_view view = moving_of(row);

	if (view.operations > 0)
		ncs_value_set(value, NCS_VALUE_DURATION, view.age_ns);
	value->is_stale = view.is_stale;
}

/* --- Classes -------------------------------------------------------------- */

static const struct ncs_class_view *class_of(const struct ncs_row *row)
{
	return &row->rank->now.classes[row->index];
}

NCS_GETTER(class_size)
{
	const struct ncs_class_view *view = class_of(row);

	if (ncs_class_is_other(view))
		ncs_value_set_text(value, "other");
	else if (view->size_class != NCS_SIZE_CLASS_UNKNOWN)
		ncs_value_set(value, NCS_VALUE_SIZE,
			      ncs_size_class_low(view->size_class));
}

NCS_GETTER(class_algorithm)
{
	const struct ncs_class_view *view = class_of(row);

	if (ncs_class_is_other(view))
		ncs_value_set_text(value, "other");
	else if (view->algorithm != NCS_ALGORITHM_UNKNOWN)
		ncs_value_set_text(value, ncs_algorithm_name(view->algorithm));
}

NCS_GETTER(class_protocol)
{
	const struct ncs_class_view *view = class_of(row);

	if (ncs_class_is_other(view))
		ncs_value_set_text(value, "other");
	else if (view->protocol != NCS_PROTOCOL_UNKNOWN)
		ncs_value_set_text(value, ncs_protocol_name(view->protocol));
}

NCS_GETTER(class_rate)
{
	const struct ncs_counters *base = row->rank->base;

	if (base)
		ncs_value_set_real(
			value, NCS_VALUE_RATE,
			ncs_rank_rate(row->rank, class_of(row)->operations,
				      ncs_counters_class(base, class_of(row))));
}

NCS_GETTER(class_timed)
{
	const struct ncs_class_times *times = ncs_times_of_class(class_of(row));

	ncs_value_set_number(value, times ? times->timed : 0);
}

NCS_GETTER(class_time)
{
	const struct ncs_class_times *times = ncs_times_of_class(class_of(row));

	if (times)
		ncs_value_set(value, NCS_VALUE_DURATION,
			      times->time_ns / times->timed);
}

NCS_GETTER(class_bandwidth)
{
	struct ncs_moving_view view =
		ncs_class_moving(row->rank, class_of(row));

	ncs_value_set_real(value, NCS_VALUE_REAL,
			   argument ? view.busbw : view.algbw);
	value->is_stale = view.is_stale;
}

NCS_GETTER(class_percentile)
{
	const struct ncs_class_times *times = ncs_times_of_class(class_of(row));

	if (times)
		ncs_value_set_percentile(
			value, ncs_class_percentile(row->rank, times,
						    argument / 100.0));
}

NCS_GETTER(class_max)
{
	const struct ncs_class_times *times = ncs_times_of_class(class_of(row));

	if (times)
		ncs_value_set_duration(value, times->longest_ns);
}

NCS_GETTER(class_timing)
{
	ncs_value_set_text(value,
			   ncs_timing_name(ncs_class_timing(class_of(row))));
}

/* --- Ranges --------------------------------------------------------------- */

static const struct ncs_range_sum *sum_of(const struct ncs_row *row)
{
	return &row->rank->ranges[row->index];
}

/* Inner ranges are indented, up to this depth. */
#define INDENT_MAX 12u

NCS_GETTER(range_name)
{
	const struct ncs_range_sum *sum = sum_of(row);
	const char *name = sum->range->name;

	value->kind = NCS_VALUE_TEXT;
	for (unsigned i = 0; i < sum->depth && i < INDENT_MAX; i++)
		ncs_append(value->text, sizeof(value->text), "  ");
	ncs_append(value->text, sizeof(value->text), "%s",
		   name[0] ? name : "(no name)");
}

NCS_GETTER(range_time)
{
	unsigned timing = ncs_best_timing(sum_of(row)->timed);

	if (timing < NCS_TIMING_COUNT)
		ncs_value_set(value, NCS_VALUE_DURATION,
			      sum_of(row)->time_ns[timing]);
}

NCS_GETTER(range_busy)
{
	if (sum_of(row)->with_children > 0)
		ncs_value_set(value, NCS_VALUE_DURATION,
			      sum_of(row)->range->busy_ns);
}

NCS_GETTER(range_busybw)
{
	ncs_value_set_real(value, NCS_VALUE_REAL,
			   ncs_range_busy_bandwidth(sum_of(row)));
}

NCS_GETTER(range_wait)
{
	double share;
	enum ncs_channel_state wait = ncs_range_wait(sum_of(row), &share);

	if (wait != NCS_CHANNEL_IDLE)
		ncs_value_set_text(value, ncs_channel_state_label(wait));
}

NCS_GETTER(range_wait_share)
{
	double share;

	if (ncs_range_wait(sum_of(row), &share) != NCS_CHANNEL_IDLE)
		ncs_value_set_real(value, NCS_VALUE_SHARE, share);
}

NCS_GETTER(range_hidden)
{
	const struct ncs_gpu_time *gpu = &sum_of(row)->gpu;

	if (gpu->communication_ns > 0)
		ncs_value_set_real(value, NCS_VALUE_SHARE,
				   (double)gpu->hidden_ns /
					   (double)gpu->communication_ns);
}

NCS_GETTER(range_percentile)
{
	ncs_value_set_percentile(value, ncs_range_percentile(&row->rank->now,
							     sum_of(row),
							     argument / 100.0));
}
