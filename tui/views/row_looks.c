/* SPDX-License-Identifier: MIT */
/* How rows look; see row_looks.h. Must not draw. */
#include "tui/views/row_looks.h"

#include <string.h>

#include "analysis/base/value_names.h"
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

enum ncs_severity ncs_part_severity(const struct ncs_rank *rank, bool is_quiet)
{
	if (rank->now.liveness == NCS_DEAD)
		return NCS_NOTE;
	return is_quiet || rank->now.liveness == NCS_FINISHED ? NCS_QUIET :
								NCS_NORMAL;
}

bool ncs_share_is_all(const struct ncs_row *row, enum ncs_column_id column)
{
	struct ncs_value value = { 0 };

	ncs_column_get(&ncs_columns[column], row, &value);
	return value.kind == NCS_VALUE_NONE || value.real > 0.9999;
}

enum ncs_role ncs_wait_role(unsigned kind)
{
	static const enum ncs_role roles[NCS_WAIT_COUNT] = {
		[NCS_WAIT_GPU] = NCS_ROLE_WAITS_GPU,
		[NCS_WAIT_PEER] = NCS_ROLE_WAITS_PEER,
		[NCS_WAIT_NETWORK] = NCS_ROLE_WAITS_NETWORK,
		[NCS_WAIT_RUNNING] = NCS_ROLE_BUSY,
		[NCS_WAIT_IDLE] = NCS_ROLE_QUIET,
	};

	return kind < NCS_WAIT_COUNT ? roles[kind] : NCS_ROLE_TEXT;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Returns the role of a rank's wait by its word, behind which a peer may
 * stand. */
static enum ncs_role role_of_word(const char *text)
{
	size_t length = strcspn(text, ":");

	for (unsigned i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		if (is_word(text, length, ncs_channel_state_label(i)))
			return ncs_wait_role(ncs_wait_of_channel(i));
	for (unsigned i = 0; i < NCS_LAUNCH_WAIT_COUNT; i++)
		if (is_word(text, length, ncs_launch_wait_name(i)))
			return ncs_wait_role(ncs_wait_of_launch(i));
	return NCS_ROLE_TEXT;
}

enum ncs_role ncs_wait_cell_role(const struct ncs_column *column,
				 const struct ncs_row *row)
{
	struct ncs_value value = { 0 };

	if (column == &ncs_columns[NCS_COLUMN_CHANNEL_STATE])
		return ncs_wait_role(ncs_wait_of_channel(
			row->rank->now.channels[row->index].state));
	if (column != &ncs_columns[NCS_COLUMN_RANK_WAIT])
		return NCS_ROLE_TEXT;
	ncs_column_get(column, row, &value);
	return value.kind == NCS_VALUE_TEXT ? role_of_word(value.text) :
					      NCS_ROLE_TEXT;
}
