/* SPDX-License-Identifier: MIT */
/* Computed cells of the functions of communicators. */
#include <stdio.h>

#include "analysis/views/getters.h"

#include "analysis/base/timings.h"
#include "analysis/base/value_names.h"
#include "analysis/model/class_stats.h"
#include "analysis/model/moving.h"
#include "analysis/model/rank.h"
#include "analysis/records/operation_record.h"

static unsigned function_of(const struct ncs_row *row)
{
	return (unsigned)row->index;
}

static struct ncs_moving_view moving_of(const struct ncs_row *row)
{
	return ncs_communicator_moving(row->communicator, function_of(row),
				       NULL);
}

static const struct ncs_function_view *counts_of(const struct ncs_row *row,
						 size_t rank)
{
	return &row->communicator->ranks[rank]->now.functions[row->index];
}

NCS_GETTER(collective_name)
{
	ncs_value_set_text(value, ncs_function_name(function_of(row)));
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
		ranks += ncs_function_is_used(counts_of(row, i));
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
		if (counts_of(row, i)->operations > most)
			most = counts_of(row, i)->operations;
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
			rank, counts_of(row, i)->operations,
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
		const struct ncs_function_view *counts = counts_of(row, i);

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

NCS_GETTER_WITH(collective_bandwidth)
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
