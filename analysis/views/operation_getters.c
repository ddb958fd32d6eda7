/* SPDX-License-Identifier: MIT */
/* Computed cells of operations, counted by function, by class, and by range. */
#include "analysis/model/rank.h"
#include "analysis/views/getters.h"

#include "analysis/base/append.h"
#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/class_stats.h"
#include "analysis/model/range_totals.h"
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

NCS_GETTER_WITH(function_percentile)
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

NCS_GETTER_WITH(class_bandwidth)
{
	struct ncs_moving_view view =
		ncs_class_moving(row->rank, class_of(row));

	ncs_value_set_real(value, NCS_VALUE_REAL,
			   argument ? view.busbw : view.algbw);
	value->is_stale = view.is_stale;
}

NCS_GETTER_WITH(class_percentile)
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
	unsigned timing = ncs_range_timing(sum_of(row));

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

NCS_GETTER_WITH(range_percentile)
{
	ncs_value_set_percentile(value, ncs_range_percentile(&row->rank->now,
							     sum_of(row),
							     argument / 100.0));
}
