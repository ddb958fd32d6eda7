/* SPDX-License-Identifier: MIT */
/* The severity of a rank; see severity.h. */
#include "tui/views/severity.h"

#include "analysis/model/stragglers.h"
#include "analysis/model/waits.h"

bool ncs_rank_is_idle(const struct ncs_rank *rank)
{
	for (size_t i = 0; i < rank->now.channel_count; i++)
		if (rank->now.channels[i].state != NCS_CHANNEL_IDLE)
			return false;
	for (size_t i = 0; rank->base && i < NCS_FUNCTION_COUNT; i++)
		if (rank->now.functions[i].operations !=
		    rank->base->functions[i].operations)
			return false;
	return rank->now.operation_count == 0;
}

static bool is_straggler(const struct ncs_rank *rank)
{
	const struct ncs_lateness_view *view = ncs_rank_lateness(rank);

	return view && view->is_straggler;
}

bool ncs_rank_waits_long(const struct ncs_rank *rank)
{
	return ncs_rank_oldest(rank).duration_ns >= NCS_LONG_WAIT_NS;
}

enum ncs_severity ncs_rank_severity(const struct ncs_rank *rank)
{
	if (rank->now.liveness == NCS_DEAD)
		return NCS_BAD;
	if (rank->now.liveness == NCS_FINISHED)
		return NCS_QUIET;
	if (rank->is_past)
		return NCS_NOTE;
	if (ncs_rank_waits_long(rank))
		return NCS_BAD;
	if (rank->now.liveness == NCS_SILENT ||
	    ncs_rank_lost_in_window(rank) > 0 || is_straggler(rank))
		return NCS_NOTE;
	return ncs_rank_is_idle(rank) ? NCS_QUIET : NCS_NORMAL;
}

bool ncs_share_is_all(const struct ncs_row *row, enum ncs_column_id column)
{
	struct ncs_value value = { 0 };

	ncs_column_get(&ncs_columns[column], row, &value);
	return value.kind == NCS_VALUE_NONE || value.real > 0.9999;
}
