/* SPDX-License-Identifier: MIT */
/* The colours of waits; see wait_cells.h. Must not draw. */
#include "tui/views/wait_cells.h"

#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/waits.h"

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
