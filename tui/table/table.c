/* SPDX-License-Identifier: MIT */
/* A scrolling table over the model; see table.h. Must not distinguish views
 * (the rules define their differences) and must not read the model beyond its
 * rows. Called for each sample and each key.
 */
#include "tui/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"
#include "shm/array.h"
#include "tui/table/column_layout.h"
#include "tui/table/row_query.h"

/* --- Columns -------------------------------------------------------------- */

static void collect_columns(struct ncs_grid *table)
{
	table->column_count = 0;
	for (size_t i = 0; i < ncs_column_count; i++) {
		const struct ncs_column *column = &ncs_columns[i];

		if (column->view != table->view ||
		    !ncs_column_is_shown(column, table->level,
					 table->choices) ||
		    table->column_count == NCS_GRID_COLUMNS_MAX)
			continue;
		table->widths[table->column_count] = 0;
		table->columns[table->column_count++] = column;
	}
}

void ncs_grid_init(struct ncs_grid *table, enum ncs_view view,
		   const struct ncs_grid_rules *rules)
{
	memset(table, 0, sizeof(*table));
	table->view = view;
	table->rules = rules;
	table->key.channel = -1;
	collect_columns(table);
}

void ncs_grid_release(struct ncs_grid *table)
{
	free(table->rows);
	free(table->scratch);
	ncs_marks_clear(&table->tree.other);
	ncs_folds_release(&table->folds);
	memset(table, 0, sizeof(*table));
}

void ncs_grid_set_units(struct ncs_grid *table, const struct ncs_units *units)
{
	if (table->units.exact == units->exact &&
	    table->units.bits == units->bits)
		return;
	table->units = *units;
	memset(table->widths, 0, sizeof(table->widths));
}

/* --- Rows ----------------------------------------------------------------- */

/* Whether a rank must stay in a tree because a row below it is tagged. */
static bool has_tagged_below(const struct ncs_grid *table,
			     const struct ncs_grid_row *row)
{
	return table->tree.on && table->rules->below && row->row.rank &&
	       table->tags && ncs_marks_touch(table->tags, row->row.rank);
}

/* More than any row needs that others do not wait for. */
#define NEED_OF_SUSPECT 100

static double need_of(const struct ncs_grid *table,
		      const struct ncs_grid_row *row)
{
	if (row->unreadable || !table->rules->need)
		return 0;
	if (ncs_grid_severity(table, row) == NCS_SUSPECT)
		return NEED_OF_SUSPECT;
	return table->rules->need(&row->row);
}

static void add(struct ncs_grid *table, const struct ncs_grid_query *query,
		struct ncs_grid_row row)
{
	table->total++;
	if (query->hide_idle && !row.unreadable &&
	    ncs_grid_severity(table, &row) == NCS_QUIET)
		return;
	if (!ncs_row_matches(&row, query->filter))
		return;
	if (query->only_tagged && !ncs_grid_is_tagged(table, &row) &&
	    !has_tagged_below(table, &row))
		return;
	row.order = table->count;
	if (table->sort && !row.unreadable)
		ncs_column_get(table->sort, &row.row, &row.value);
	row.need = need_of(table, &row);
	table->rows[table->count++] = row;
}

static void add_unreadable(struct ncs_grid *table,
			   const struct ncs_grid_query *query)
{
	struct ncs_grid_row row = { 0 };

	if (table->view != NCS_VIEW_RANK || query->focus.kind != NCS_FOCUS_ALL)
		return;
	for (size_t i = 0; i < query->model->unreadable_count; i++) {
		row.unreadable = &query->model->unreadable[i];
		add(table, query, row);
	}
}

/* --- Order ---------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ncs_grid_row *a = left, *b = right;
	const struct ncs_grid *table = context;
	int order = 0;

	/* Segments that cannot be read are last in any order. */
	if (!a->unreadable != !b->unreadable)
		return a->unreadable ? 1 : -1;
	if (table->sort)
		order = ncs_value_order(&a->value, &b->value,
					ncs_grid_is_downwards(table));
	if (order != 0)
		return order;
	if (!table->sort)
		order = (a->need < b->need) - (a->need > b->need);
	if (order == 0)
		order = (a->order > b->order) - (a->order < b->order);
	return !table->sort && table->inverted ? -order : order;
}

/* --- Selection ------------------------------------------------------------ */

/* Remembers the name of a row, which is selected. */
static void pin_row(struct ncs_grid *table, const struct ncs_grid_row *row)
{
	ncs_grid_row_key(row, &table->key);
	table->pinned = true;
}

static void pin(struct ncs_grid *table)
{
	if (table->selected < table->count)
		pin_row(table, &table->rows[table->selected]);
}

/* Finds the selected row again after a build. If it is gone, the row in its
 * place is selected: permanently, unless the user follows the row that is
 * gone. */
static void find_selected(struct ncs_grid *table)
{
	if (!table->pinned)
		table->selected = 0;
	for (size_t i = 0; table->pinned && i < table->count; i++) {
		if (ncs_grid_row_is(&table->rows[i], &table->key)) {
			table->selected = i;
			return;
		}
	}
	if (table->selected >= table->count)
		table->selected = table->count > 0 ? table->count - 1 : 0;
	if (table->pinned && !table->following)
		pin(table);
}

static bool is_in_focus(const struct ncs_row *row,
			const struct ncs_model *model,
			const struct ncs_focus *focus)
{
	const struct ncs_rank *rank = row->rank;

	switch (focus->kind) {
	case NCS_FOCUS_COMMUNICATOR:
		return rank && rank->communicator &&
		       ncs_grid_id(rank->communicator->key) == focus->id;
	case NCS_FOCUS_COLLECTIVE:
		return row->view == NCS_VIEW_FUNCTION &&
		       row->index == focus->function && rank->communicator &&
		       ncs_grid_id(rank->communicator->key) == focus->id;
	case NCS_FOCUS_RANK:
		return rank && ncs_grid_id(rank->id) == focus->id;
	case NCS_FOCUS_FUNCTION:
		return row->view == NCS_VIEW_CLASS &&
		       ncs_grid_id(rank->id) == focus->id &&
		       rank->now.classes[row->index].function ==
			       focus->function;
	case NCS_FOCUS_NODE:
		return rank && rank->node < model->node_count &&
		       ncs_grid_id(model->nodes[rank->node].name) == focus->id;
	case NCS_FOCUS_ALL:
		break;
	}
	return true;
}

static bool have_one_communicator(const struct ncs_grid *table)
{
	const struct ncs_communicator *one = NULL;

	for (size_t i = 0; i < table->count; i++) {
		const struct ncs_communicator *of =
			ncs_row_communicator(&table->rows[i].row);

		if (one && of && of != one)
			return false;
		if (of)
			one = of;
	}
	return true;
}

void ncs_grid_build(struct ncs_grid *table, const struct ncs_grid_query *query)
{
	int count = ncs_rows(query->model, table->view, &table->scratch,
			     &table->scratch_capacity);
	struct ncs_grid_row row = { 0 };
	struct ncs_job_counts jobs;

	table->count = 0;
	table->total = 0;
	table->passed = 0;
	table->diagnosis = query->diagnosis;
	table->is_stuck = query->diagnosis &&
			  ncs_diagnosis_severity(query->diagnosis) ==
				  NCS_SEVERITY_STUCK;
	/* Without memory none are counted, and the column comes late. */
	ncs_jobs_count(query->model, &jobs);
	table->several_jobs = jobs.jobs + jobs.pods > 1;
	table->tags = query->tags;
	if (count < 0 ||
	    ncs_array_reserve(&table->rows, &table->capacity,
			      (size_t)count + query->model->unreadable_count,
			      sizeof(*table->rows)) != 0)
		return;
	for (int i = 0; i < count; i++) {
		row.row = table->scratch[i];
		if (is_in_focus(&row.row, query->model, &query->focus))
			add(table, query, row);
	}
	add_unreadable(table, query);
	if (table->count > 1)
		qsort_r(table->rows, table->count, sizeof(*table->rows),
			compare_rows, table);
	table->passed = table->count;
	table->one_communicator = have_one_communicator(table);
	ncs_fold(table, query);
	if (table->tree.on)
		ncs_tree_arrange(table, query);
	find_selected(table);
}

const struct ncs_grid_row *ncs_grid_selected(const struct ncs_grid *table)
{
	return table->selected < table->count ? &table->rows[table->selected] :
						NULL;
}

void ncs_grid_select(struct ncs_grid *table, size_t place)
{
	size_t former = table->selected;

	if (table->count == 0)
		return;
	table->selected = place < table->count ? place : table->count - 1;
	table->following = table->following && table->selected == former;
	if (!table->following)
		pin(table);
}

void ncs_grid_select_first(struct ncs_grid *table)
{
	table->selected = 0;
	table->top = 0;
	table->pinned = false;
	table->following = false;
}

void ncs_grid_follow(struct ncs_grid *table, bool following)
{
	pin(table);
	table->following = following;
}

/* Selects a row by its index in ncs_fold_rows(), and shows it if it is hidden
 * in a group. */
static void reveal(struct ncs_grid *table, size_t place)
{
	if (!table->folds.on) {
		ncs_grid_select(table, place);
		return;
	}
	table->following = false;
	pin_row(table, &table->folds.rows[place]);
	ncs_fold_arrange(table);
	find_selected(table);
}

/* Selects the first row, folded or not, that is what is wanted. Returns false if
 * there is none. */
static bool select_first_of(struct ncs_grid *table,
			    bool (*is_wanted)(const struct ncs_grid_row *row,
					      const void *what),
			    const void *what)
{
	size_t count;
	const struct ncs_grid_row *rows = ncs_fold_rows(table, &count);

	for (size_t i = 0; i < count; i++) {
		if (is_wanted(&rows[i], what)) {
			reveal(table, i);
			return true;
		}
	}
	return false;
}

static bool has_key(const struct ncs_grid_row *row, const void *key)
{
	return ncs_grid_row_is(row, key);
}

void ncs_grid_select_key(struct ncs_grid *table, const struct ncs_grid_key *key)
{
	for (size_t i = 0; i < table->count; i++) {
		if (ncs_grid_row_is(&table->rows[i], key)) {
			ncs_grid_select(table, i);
			ncs_fold_arrange(table);
			find_selected(table);
			return;
		}
	}
	select_first_of(table, has_key, key);
}

static bool has_channel(const struct ncs_grid_row *row, const void *what)
{
	const struct ncs_grid_key *key = what;
	struct ncs_grid_key own;

	ncs_grid_row_key(row, &own);
	return own.channel == key->channel && own.send == key->send &&
	       own.peer == key->peer && (key->id == 0 || own.id == key->id);
}

bool ncs_grid_select_like(struct ncs_grid *table,
			  const struct ncs_grid_row *like)
{
	struct ncs_grid_key key;

	/* A group is like its first row. */
	if (like->of)
		ncs_grid_key_of(&like->row, &key);
	else
		ncs_grid_row_key(like, &key);
	return select_first_of(table, has_channel, &key);
}

bool ncs_grid_select_channel(struct ncs_grid *table, int channel, bool send,
			     int peer)
{
	const struct ncs_grid_key key = { .channel = channel,
					  .send = send,
					  .peer = peer };

	return select_first_of(table, has_channel, &key);
}

static bool has_rank(const struct ncs_grid_row *row, const void *rank)
{
	return row->row.rank == rank;
}

bool ncs_grid_select_rank(struct ncs_grid *table, const struct ncs_rank *rank)
{
	return select_first_of(table, has_rank, rank);
}

bool ncs_grid_next_abnormal(struct ncs_grid *table)
{
	for (size_t i = 1; i <= table->count; i++) {
		size_t place = (table->selected + i) % table->count;

		if (ncs_grid_severity(table, &table->rows[place]) < NCS_NOTE)
			continue;
		ncs_grid_select(table, place);
		return true;
	}
	return false;
}

/* Returns where a search begins, an index of ncs_fold_rows(): at the selected
 * row; beyond all rows of a group in its direction. */
static size_t search_from(const struct ncs_grid *table,
			  enum ncs_grid_direction direction, size_t count)
{
	const struct ncs_grid_row *row = ncs_grid_selected(table);
	size_t first = table->selected, own = 1;
	struct ncs_grid_key key;

	if (table->folds.on && row) {
		ncs_grid_row_key(row, &key);
		first = row->of ? row->of->first : 0;
		own = row->of ? row->of->count : 1;
		while (!row->of && first + 1 < count &&
		       !ncs_grid_row_is(&table->folds.rows[first], &key))
			first++;
	}
	if (direction == NCS_HERE)
		return first;
	return (direction == NCS_FORWARD ? first + own : first + count - 1) %
	       count;
}

/* Selects a row that a search has found; if its group has the text in its name,
 * the group. */
static void select_found(struct ncs_grid *table, size_t place, const char *text)
{
	const struct ncs_fold_group *group = ncs_fold_hides(table, place);

	for (size_t i = 0; group && group->place && i < table->count; i++) {
		if (table->rows[i].of == group &&
		    strcasestr(group->place, text)) {
			ncs_grid_select(table, i);
			return;
		}
	}
	reveal(table, place);
}

bool ncs_grid_search(struct ncs_grid *table, const char *text,
		     enum ncs_grid_direction direction)
{
	const struct ncs_grid_row *rows;
	size_t count, step, place;

	rows = ncs_fold_rows(table, &count);
	if (!text[0] || count == 0)
		return false;
	step = direction == NCS_BACKWARD ? count - 1 : 1;
	place = search_from(table, direction, count);
	for (size_t i = 0; i < count; i++) {
		if (ncs_row_matches(&rows[place], text)) {
			select_found(table, place, text);
			return true;
		}
		place = (place + step) % count;
	}
	return false;
}

void ncs_grid_set_sort(struct ncs_grid *table, const struct ncs_column *column,
		       bool inverted)
{
	if (table->sort == column && table->inverted == inverted)
		return;
	table->sort = column;
	table->inverted = inverted;
	/* Users who change the order want to see the first rows. */
	if (!table->following)
		ncs_grid_select_first(table);
}

void ncs_grid_set_columns(struct ncs_grid *table, enum ncs_column_level level,
			  const enum ncs_column_choice *choices)
{
	if (table->level == level &&
	    memcmp(table->choices, choices, sizeof(table->choices)) == 0)
		return;
	table->level = level;
	memmove(table->choices, choices, sizeof(table->choices));
	collect_columns(table);
	if (table->sort &&
	    !ncs_column_is_shown(table->sort, level, table->choices))
		ncs_grid_set_sort(table, NULL, false);
	if (table->skip > ncs_grid_scrollable_columns(table))
		table->skip = 0;
}
