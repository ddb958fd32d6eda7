/* SPDX-License-Identifier: MIT */
/* Questions about single rows and columns of a table; see rows.h. */
#include "tui/table/rows.h"

#include <stdio.h>
#include <string.h>

#include "tui/term/sparkline.h"

bool ncs_column_is_shown(const struct ncs_column *column,
			 enum ncs_column_level level,
			 const enum ncs_column_choice *choices)
{
	enum ncs_column_choice choice = choices[column - ncs_columns];

	return choice == NCS_COLUMN_SHOWN ||
	       (choice == NCS_COLUMN_BY_LEVEL && column->level <= level);
}

const char *ncs_grid_title(const struct ncs_grid *table,
			   const struct ncs_column *column)
{
	static const char *const in_bits[NCS_COLUMN_COUNT] = {
#define X(VIEW, ID, title) [NCS_COLUMN_##VIEW##_##ID] = title,
		NCS_COLUMNS_IN_BITS(X)
#undef X
	};
	const char *title = in_bits[column - ncs_columns];

	return table->units.bits && title ? title : column->title;
}

/* Puts the rank that the worst finding blames before the wait of a rank that
 * waits for it: "rank 1, gpu". */
static void put_suspect(const struct ncs_grid *table, const struct ncs_row *row,
			struct ncs_value *value)
{
	const struct ncs_rank *suspect =
		table->is_stuck ? ncs_diagnosis_suspect(table->diagnosis) :
				  NULL;
	char wait[sizeof(value->text)];

	if (!suspect || suspect == row->rank || value->kind != NCS_VALUE_TEXT ||
	    !(suspect->now.identity.known & NCS_KNOWN_RANK) ||
	    suspect->communicator != row->rank->communicator ||
	    !ncs_diagnosis_is_victim(table->diagnosis, row->rank))
		return;
	strcpy(wait, value->text);
	snprintf(value->text, sizeof(value->text), "rank %d, %.64s",
		 suspect->now.identity.rank, wait);
}

bool ncs_grid_cell(const struct ncs_grid *table,
		   const struct ncs_column *column, const struct ncs_row *row,
		   char *text, size_t size)
{
	struct ncs_value value = { 0 };

	ncs_column_get(column, row, &value);
	if (column == &ncs_columns[NCS_COLUMN_RANK_WAIT])
		put_suspect(table, row, &value);
	if (value.kind == NCS_VALUE_RECENT) {
		ncs_sparkline(text, size, value.recent, value.recent_count,
			      column->width, ncs_term_shown_symbols());
		return false;
	}
	/* A number is scaled to its column; a text is cut when it is drawn. */
	ncs_format_in_units(text, size, &value, &table->units,
			    value.kind == NCS_VALUE_TEXT ? 0 : column->width);
	return value.is_stale;
}

void ncs_grid_row_key(const struct ncs_grid_row *row, struct ncs_grid_key *key)
{
	if (row->of)
		*key = (struct ncs_grid_key){
			.view = NCS_VIEW_NODE,
			.id = row->of->place ? ncs_grid_id(row->of->place) : 0,
			.index = row->of->alike,
			.channel = -1
		};
	else if (row->unreadable)
		*key = (struct ncs_grid_key){ .view = NCS_VIEW_RANK,
					      .id = ncs_grid_id(
						      row->unreadable->id),
					      .channel = -1 };
	else
		ncs_grid_key_of(&row->row, key);
}

bool ncs_grid_row_is(const struct ncs_grid_row *row,
		     const struct ncs_grid_key *key)
{
	struct ncs_grid_key own;

	ncs_grid_row_key(row, &own);
	return ncs_grid_key_is(&own, key);
}

int ncs_grid_row_compare(const void *left, const void *right)
{
	const struct ncs_grid_row *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

const struct ncs_grid_rules *ncs_grid_rules_of(const struct ncs_grid *table,
					       const struct ncs_grid_row *row)
{
	if (row->row.view == table->view)
		return table->rules;
	return row->row.communicator ? table->rules->above :
				       table->rules->below;
}

/* Whether a row stands for its rank as a whole. */
static bool is_of_rank(const struct ncs_row *row)
{
	return row->rank && (row->view == NCS_VIEW_RANK ||
			     row->view == NCS_VIEW_PROXY);
}

enum ncs_severity ncs_grid_severity(const struct ncs_grid *table,
				    const struct ncs_grid_row *row)
{
	enum ncs_severity severity;

	if (row->unreadable)
		return NCS_NOTE;
	if (row->of)
		return (enum ncs_severity)row->of->severity;
	severity = ncs_grid_rules_of(table, row)->severity(&row->row);
	if (!table->diagnosis || !is_of_rank(&row->row))
		return severity;
	if (row->row.rank == ncs_diagnosis_suspect(table->diagnosis))
		return NCS_SUSPECT;
	return severity == NCS_BAD && ncs_rank_is_live(row->row.rank) &&
			       ncs_diagnosis_is_victim(table->diagnosis,
						       row->row.rank) ?
		       NCS_VICTIM :
		       severity;
}

bool ncs_grid_is_tagged(const struct ncs_grid *table,
			const struct ncs_grid_row *row)
{
	if (row->of)
		return row->of->is_tagged;
	return table->tags && !row->unreadable &&
	       ncs_marks_cover(table->tags, &row->row);
}

bool ncs_grid_is_downwards(const struct ncs_grid *table)
{
	return table->sort &&
	       ncs_column_sorts_up(table->sort) == table->inverted;
}
