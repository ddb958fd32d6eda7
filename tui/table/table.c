/* SPDX-License-Identifier: MIT */
/* A scrolling table over the model. Must not know one view from another (what
 * differs comes in as rules) and must not look at the model beyond its rows.
 * Called for each sample, each key and each frame; one thread.
 */
#include "tui/table/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/views/timeline.h"
#include "tui/term/sparkline.h"
#include "tui/text/words.h"

#define TEXT_MAX 1024

/* --- Columns -------------------------------------------------------------- */

const struct ncs_column *ncs_grid_column(const char *id)
{
	for (size_t i = 0; i < ncs_column_count; i++)
		if (strcmp(ncs_columns[i].id, id) == 0)
			return &ncs_columns[i];
	return NULL;
}

bool ncs_column_is_shown(const struct ncs_column *column,
			 enum ncs_column_level level,
			 const enum ncs_column_choice *choices)
{
	enum ncs_column_choice choice = choices[column - ncs_columns];

	return choice == NCS_COLUMN_SHOWN ||
	       (choice == NCS_COLUMN_BY_LEVEL && column->level <= level);
}

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
	free(table->key_id);
	ncs_marks_clear(&table->tree.other);
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

void ncs_grid_cell(const struct ncs_grid *table,
		   const struct ncs_column *column, const struct ncs_row *row,
		   char *text, size_t size)
{
	struct ncs_value value = { 0 };

	column->get(row, &value);
	if (value.kind == NCS_VALUE_TRACE) {
		ncs_sparkline(text, size, value.trace, value.trace_count,
			      column->width, ncs_term_shown_symbols());
		return;
	}
	/* A number is scaled to its column, a text is cut when it is put. */
	ncs_format_in_units(text, size, &value, &table->units,
			    value.kind == NCS_VALUE_TEXT ? 0 : column->width);
}

/* --- Rows ----------------------------------------------------------------- */

/* Of a communicator its first. */
static const struct ncs_rank *rank_of(const struct ncs_row *row)
{
	return row->communicator ? row->communicator->ranks[0] : row->rank;
}

/* What search and filter look at: who and what a row is, not its numbers. */
static void row_text(const struct ncs_grid_row *row, char *text, size_t size)
{
	char cell[TEXT_MAX];

	text[0] = '\0';
	if (row->unreadable) {
		ncs_append(text, size, " %s", row->unreadable->id);
		ncs_append(text, size, " %s", row->unreadable->why);
		return;
	}
	for (size_t i = 0; i < ncs_column_count; i++) {
		struct ncs_value value = { 0 };

		if (ncs_columns[i].view != row->row.view)
			continue;
		ncs_columns[i].get(&row->row, &value);
		if (value.kind != NCS_VALUE_TEXT &&
		    value.kind != NCS_VALUE_NUMBER)
			continue;
		ncs_format_value(cell, sizeof(cell), &value, 0, false);
		ncs_append(text, size, " %s", cell);
	}
	ncs_append(text, size, " %s", rank_of(&row->row)->header.host);
}

/* Whether a row has one of the texts that `filter` separates by '|'. */
static bool passes(const struct ncs_grid_row *row, const char *filter)
{
	char text[TEXT_MAX], part[256];
	bool any = false;

	if (!filter || !filter[0])
		return true;
	row_text(row, text, sizeof(text));
	while (*filter) {
		size_t length = strcspn(filter, "|");

		snprintf(part, sizeof(part), "%.*s", (int)length, filter);
		if (length > 0 && strcasestr(text, part))
			return true;
		any = any || length > 0;
		filter += length + (filter[length] == '|');
	}
	return !any;
}

static bool reserve(struct ncs_grid *table, size_t count)
{
	struct ncs_grid_row *rows;

	if (count <= table->capacity)
		return true;
	rows = realloc(table->rows, count * sizeof(*rows));
	if (!rows)
		return false;
	table->rows = rows;
	table->capacity = count;
	return true;
}

/* In a tree a rank stays for its channels. */
static bool has_tagged_below(const struct ncs_grid *table,
			     const struct ncs_grid_row *row)
{
	return table->tree.on && table->rules->below && row->row.rank &&
	       table->tags && ncs_marks_touch(table->tags, row->row.rank);
}

static void add(struct ncs_grid *table, const struct ncs_grid_query *query,
		struct ncs_grid_row row)
{
	table->total++;
	if (query->hide_idle && !row.unreadable &&
	    ncs_grid_severity(table, &row) == NCS_QUIET)
		return;
	if (!passes(&row, query->filter))
		return;
	if (query->only_tagged && !ncs_grid_is_tagged(table, &row) &&
	    !has_tagged_below(table, &row))
		return;
	row.order = table->count;
	if (table->sort && !row.unreadable)
		table->sort->get(&row.row, &row.value);
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

/* Who something is goes up from the least, how much it is down from the
 * most. */
static bool sorts_up(const struct ncs_column *column)
{
	static const char *const names[] = { "RANK", "PID", "CH", "PEER",
					     "SLOWEST" };

	if (column->align == NCS_ALIGN_LEFT)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(column->title, names[i]) == 0)
			return true;
	return false;
}

bool ncs_grid_is_downwards(const struct ncs_grid *table)
{
	return table->sort && sorts_up(table->sort) == table->inverted;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct ncs_grid_row *a = left, *b = right;
	const struct ncs_grid *table = context;
	bool unknown;
	int order = 0;

	/* What cannot be read stands below, whatever the order. */
	if (!a->unreadable != !b->unreadable)
		return a->unreadable ? 1 : -1;
	if (table->sort)
		order = ncs_value_compare(&a->value, &b->value);
	/* So does what is unknown. */
	unknown = a->value.kind == NCS_VALUE_NONE ||
		  b->value.kind == NCS_VALUE_NONE;
	if (order != 0)
		return ncs_grid_is_downwards(table) && !unknown ? -order :
								  order;
	order = (a->order > b->order) - (a->order < b->order);
	return !table->sort && table->inverted ? -order : order;
}

/* --- Selection ------------------------------------------------------------ */

const struct ncs_channel_view *ncs_grid_channel(const struct ncs_grid_row *row)
{
	struct ncs_track track;

	if (row->unreadable)
		return NULL;
	if (row->row.view == NCS_VIEW_CHANNEL)
		return &row->row.rank->now.channels[row->row.index];
	if (row->row.view != NCS_VIEW_TIMELINE ||
	    !ncs_track_at(row->row.rank, row->row.index, &track))
		return NULL;
	return track.channel;
}

static void key_of(const struct ncs_grid_row *row, struct ncs_grid_key *key)
{
	if (row->unreadable)
		*key = (struct ncs_grid_key){ .view = NCS_VIEW_RANK,
					      .id = row->unreadable->id,
					      .channel = -1 };
	else
		ncs_grid_key_of(&row->row, key);
}

static bool is_key(const struct ncs_grid_row *row,
		   const struct ncs_grid_key *key)
{
	struct ncs_grid_key own;

	key_of(row, &own);
	return key->id && ncs_grid_key_is(&own, key);
}

/* Remembers who the selected row is. */
static void pin(struct ncs_grid *table)
{
	struct ncs_grid_key key;
	char *id;

	if (table->selected >= table->count)
		return;
	key_of(&table->rows[table->selected], &key);
	id = strdup(key.id);
	if (!id)
		return;
	free(table->key_id);
	table->key = key;
	table->key.id = id;
	table->key_id = id;
	table->pinned = true;
}

static void unpin(struct ncs_grid *table)
{
	table->selected = 0;
	table->top = 0;
	table->pinned = false;
	table->following = false;
}

/* Finds the selected row again; if it is gone, its place is kept: then whoever
 * is there is selected, for good unless a row is followed. */
static void find_selected(struct ncs_grid *table)
{
	if (!table->pinned)
		table->selected = 0;
	for (size_t i = 0; table->pinned && i < table->count; i++) {
		if (is_key(&table->rows[i], &table->key)) {
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
			const struct ncs_focus *focus)
{
	switch (focus->kind) {
	case NCS_FOCUS_COMMUNICATOR:
		return row->rank && row->rank->communicator &&
		       strcmp(row->rank->communicator->key, focus->name) == 0;
	case NCS_FOCUS_RANK:
		return row->rank && strcmp(row->rank->id, focus->name) == 0;
	case NCS_FOCUS_FUNCTION:
		return row->view == NCS_VIEW_CLASS &&
		       strcmp(row->rank->id, focus->name) == 0 &&
		       row->rank->now.classes[row->index].function ==
			       focus->function;
	case NCS_FOCUS_ALL:
		break;
	}
	return true;
}

void ncs_grid_build(struct ncs_grid *table, const struct ncs_grid_query *query)
{
	int count = ncs_rows(query->model, table->view, &table->scratch,
			     &table->scratch_capacity);
	struct ncs_grid_row row = { 0 };

	table->count = 0;
	table->total = 0;
	table->passed = 0;
	table->suspect = query->suspect;
	table->tags = query->tags;
	if (count < 0 ||
	    !reserve(table, (size_t)count + query->model->unreadable_count))
		return;
	for (int i = 0; i < count; i++) {
		row.row = table->scratch[i];
		if (is_in_focus(&row.row, &query->focus))
			add(table, query, row);
	}
	add_unreadable(table, query);
	if (table->count > 1)
		qsort_r(table->rows, table->count, sizeof(*table->rows),
			compare_rows, table);
	table->passed = table->count;
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

bool ncs_grid_select_like(struct ncs_grid *table,
			  const struct ncs_grid_row *like)
{
	struct ncs_grid_key key, own;

	key_of(like, &key);
	for (size_t i = 0; i < table->count; i++) {
		key_of(&table->rows[i], &own);
		if (strcmp(own.id, key.id) != 0 || own.channel != key.channel ||
		    own.send != key.send || own.peer != key.peer)
			continue;
		ncs_grid_select(table, i);
		return true;
	}
	return false;
}

bool ncs_grid_select_channel(struct ncs_grid *table, int channel, bool send,
			     int peer)
{
	struct ncs_grid_key key;

	for (size_t i = 0; i < table->count; i++) {
		key_of(&table->rows[i], &key);
		if (key.channel == channel && key.send == send &&
		    key.peer == peer) {
			ncs_grid_select(table, i);
			return true;
		}
	}
	return false;
}

bool ncs_grid_select_rank(struct ncs_grid *table, const struct ncs_rank *rank)
{
	for (size_t i = 0; i < table->count; i++) {
		if (table->rows[i].row.rank == rank) {
			ncs_grid_select(table, i);
			return true;
		}
	}
	return false;
}

const struct ncs_grid_rules *ncs_grid_rules_of(const struct ncs_grid *table,
					       const struct ncs_grid_row *row)
{
	if (row->row.view == table->view)
		return table->rules;
	return row->row.communicator ? table->rules->above :
				       table->rules->below;
}

enum ncs_severity ncs_grid_severity(const struct ncs_grid *table,
				    const struct ncs_grid_row *row)
{
	if (row->unreadable)
		return NCS_NOTE;
	if (table->suspect && row->row.rank == table->suspect &&
	    row->row.view != NCS_VIEW_CHANNEL &&
	    row->row.view != NCS_VIEW_FUNCTION &&
	    row->row.view != NCS_VIEW_TIMELINE &&
	    row->row.view != NCS_VIEW_FINDING &&
	    row->row.view != NCS_VIEW_RANGE && row->row.view != NCS_VIEW_CLASS)
		return NCS_SUSPECT;
	return ncs_grid_rules_of(table, row)->severity(&row->row);
}

bool ncs_grid_is_tagged(const struct ncs_grid *table,
			const struct ncs_grid_row *row)
{
	return table->tags && !row->unreadable &&
	       ncs_marks_cover(table->tags, &row->row);
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

bool ncs_grid_search(struct ncs_grid *table, const char *text,
		     enum ncs_grid_direction direction)
{
	size_t step = direction == NCS_BACKWARD ? table->count - 1 : 1;
	size_t place = table->selected;
	char whole[TEXT_MAX];

	if (!text[0] || table->count == 0)
		return false;
	if (direction != NCS_HERE)
		place = (place + step) % table->count;
	for (size_t i = 0; i < table->count; i++) {
		row_text(&table->rows[place], whole, sizeof(whole));
		if (strcasestr(whole, text)) {
			ncs_grid_select(table, place);
			return true;
		}
		place = (place + step) % table->count;
	}
	return false;
}

/* --- Actions -------------------------------------------------------------- */

static void move_by(struct ncs_grid *table, long rows)
{
	long place = (long)table->selected + rows;

	ncs_grid_select(table, place > 0 ? (size_t)place : 0);
}

static size_t scrollable(const struct ncs_grid *table)
{
	size_t count = 0;

	for (size_t i = 0; i < table->column_count; i++)
		count += !ncs_grid_is_frozen(table->columns[i]);
	return count;
}

static bool shows_last_column(const struct ncs_grid *table)
{
	struct ncs_grid_place places[NCS_GRID_COLUMNS_MAX];
	size_t count = ncs_grid_places(table, table->width, places);

	return count > 0 &&
	       places[count - 1].index + 1 == table->column_count &&
	       (table->skip > 0 || count == table->column_count);
}

static void scroll_right(struct ncs_grid *table, char *notice, size_t size)
{
	if (shows_last_column(table) || table->skip >= scrollable(table))
		snprintf(notice, size, "the last column is shown");
	else
		table->skip++;
}

/* Who sorts wants to see what comes first, but for who follows a row. */
static void show_first(struct ncs_grid *table)
{
	if (!table->following)
		unpin(table);
}

void ncs_grid_set_sort(struct ncs_grid *table, const struct ncs_column *column,
		       bool inverted)
{
	if (table->sort == column && table->inverted == inverted)
		return;
	table->sort = column;
	table->inverted = inverted;
	show_first(table);
}

static void sort_by(struct ncs_grid *table, const struct ncs_column *column)
{
	ncs_grid_set_sort(table, column, false);
}

static void say_order(const struct ncs_grid *table, char *notice, size_t size)
{
	if (!table->sort)
		snprintf(notice, size, "order: by communicator and rank%s",
			 table->inverted ? ", inverted" : "");
	else
		snprintf(notice, size, "order: by %s, %s first",
			 ncs_grid_title(table, table->sort),
			 ncs_grid_is_downwards(table) ? "largest" : "smallest");
}

/* The model's order, then each column, then round again. */
static void sort_step(struct ncs_grid *table, size_t step)
{
	size_t orders = table->column_count + 1, place = 0;

	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i] == table->sort)
			place = i + 1;
	place = (place + step) % orders;
	sort_by(table, place > 0 ? table->columns[place - 1] : NULL);
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
		sort_by(table, NULL);
	if (table->skip > scrollable(table))
		table->skip = 0;
}

static void step_level(struct ncs_grid *table, int step, char *notice,
		       size_t size)
{
	static const char *const names[] = { "info", "diag", "debug" };
	int least = NCS_COLUMN_INFO, most = NCS_COLUMN_DEBUG;
	int level = (int)table->level + step;

	level = level < least ? least : level > most ? most : level;
	ncs_grid_set_columns(table, (enum ncs_column_level)level,
			     table->choices);
	snprintf(notice, size, "columns: %s, %zu of them", names[level],
		 table->column_count);
}

static bool act_on_rows(struct ncs_grid *table, enum ncs_action action)
{
	long page = table->page > 1 ? table->page - 1 : 1;

	switch (action) {
	case NCS_ACTION_UP:
		move_by(table, -1);
		return true;
	case NCS_ACTION_DOWN:
		move_by(table, 1);
		return true;
	case NCS_ACTION_PAGE_UP:
		move_by(table, -page);
		return true;
	case NCS_ACTION_PAGE_DOWN:
		move_by(table, page);
		return true;
	case NCS_ACTION_FIRST:
		unpin(table);
		return true;
	case NCS_ACTION_LAST:
		ncs_grid_select(table, table->count);
		return true;
	default:
		return false;
	}
}

static void toggle_following(struct ncs_grid *table, char *notice, size_t size)
{
	if (table->count == 0) {
		snprintf(notice, size, "there is no row");
		return;
	}
	pin(table);
	table->following = !table->following;
	snprintf(notice, size, "%s",
		 table->following ? "following this row; moving or F ends it" :
				    "not following any more");
}

static bool act_on_order(struct ncs_grid *table, enum ncs_action action,
			 char *notice, size_t size)
{
	switch (action) {
	case NCS_ACTION_FOLLOW:
		toggle_following(table, notice, size);
		return true;
	case NCS_ACTION_SORT_NEXT:
		sort_step(table, 1);
		break;
	case NCS_ACTION_SORT_PREVIOUS:
		sort_step(table, table->column_count);
		break;
	case NCS_ACTION_SORT_INVERT:
		table->inverted = !table->inverted;
		show_first(table);
		break;
	case NCS_ACTION_SORT_THROUGHPUT:
		sort_by(table, ncs_grid_column(table->rules->throughput));
		break;
	case NCS_ACTION_SORT_BYTES:
		sort_by(table, ncs_grid_column(table->rules->bytes));
		break;
	case NCS_ACTION_SORT_TIME:
		sort_by(table, ncs_grid_column(table->rules->time));
		break;
	default:
		return false;
	}
	say_order(table, notice, size);
	return true;
}

/* --- The tree ------------------------------------------------------------- */

static void toggle_tree(struct ncs_grid *table, char *notice, size_t size)
{
	if (!table->rules->above) {
		snprintf(notice, size, "there is nothing above or below these");
		return;
	}
	table->tree.on = !table->tree.on;
	snprintf(notice, size, "%s",
		 table->tree.on ? "a tree: + and - unfold and fold, * all" :
				  "no tree");
}

/* Folding what has nothing to fold goes to what it is below. */
static void set_open(struct ncs_grid *table, bool open, char *notice,
		     size_t size)
{
	const struct ncs_grid_row *row = ncs_grid_selected(table);
	size_t parent = ncs_tree_parent(table, table->selected);
	struct ncs_grid_key key;

	if (row && !open && row->fold != NCS_FOLD_OPEN &&
	    parent != table->selected) {
		ncs_grid_select(table, parent);
		row = ncs_grid_selected(table);
	}
	if (!row || row->fold == NCS_FOLD_LEAF ||
	    (row->fold == NCS_FOLD_OPEN) == open) {
		snprintf(notice, size, "there is nothing to %s",
			 open ? "unfold" : "fold");
		return;
	}
	key_of(row, &key);
	if (!ncs_tree_set_open(&table->tree, &key, open))
		snprintf(notice, size, "not enough memory");
}

static bool act_on_tree(struct ncs_grid *table, enum ncs_action action,
			char *notice, size_t size)
{
	switch (action) {
	case NCS_ACTION_TREE:
		toggle_tree(table, notice, size);
		return true;
	case NCS_ACTION_UNFOLD:
	case NCS_ACTION_FOLD:
	case NCS_ACTION_FOLD_ALL:
		break;
	default:
		return false;
	}
	if (!table->tree.on)
		snprintf(notice, size, "this is no tree: t makes it one");
	else if (action == NCS_ACTION_FOLD_ALL)
		ncs_tree_set_all(&table->tree);
	else
		set_open(table, action == NCS_ACTION_UNFOLD, notice, size);
	return true;
}

static bool act_on_columns(struct ncs_grid *table, enum ncs_action action,
			   char *notice, size_t size)
{
	switch (action) {
	case NCS_ACTION_LEFT:
		if (table->skip > 0)
			table->skip--;
		else
			snprintf(notice, size, "the first column is shown");
		return true;
	case NCS_ACTION_RIGHT:
		scroll_right(table, notice, size);
		return true;
	case NCS_ACTION_COLUMN_FIRST:
		table->skip = 0;
		snprintf(notice, size, "the first column is shown");
		return true;
	case NCS_ACTION_COLUMN_LAST:
		while (!shows_last_column(table) &&
		       table->skip < scrollable(table))
			table->skip++;
		snprintf(notice, size, "the last column is shown");
		return true;
	case NCS_ACTION_LEVEL_MORE:
		step_level(table, 1, notice, size);
		return true;
	case NCS_ACTION_LEVEL_LESS:
		step_level(table, -1, notice, size);
		return true;
	default:
		return false;
	}
}

bool ncs_grid_act(struct ncs_grid *table, enum ncs_action action, char *notice,
		  size_t notice_size)
{
	notice[0] = '\0';
	return act_on_rows(table, action) ||
	       act_on_order(table, action, notice, notice_size) ||
	       act_on_tree(table, action, notice, notice_size) ||
	       act_on_columns(table, action, notice, notice_size);
}

/* --- The mouse ------------------------------------------------------------ */

static bool click_row(struct ncs_grid *table, int y)
{
	size_t place = table->top + (size_t)(y - table->rows_y);

	if (y < table->rows_y || y >= table->rows_y + table->page ||
	    place >= table->count)
		return false;
	ncs_grid_select(table, place);
	return true;
}

bool ncs_grid_click(struct ncs_grid *table, int y, int x, char *notice,
		    size_t notice_size)
{
	struct ncs_grid_place places[NCS_GRID_COLUMNS_MAX];
	size_t count = ncs_grid_places(table, table->width, places);

	notice[0] = '\0';
	if (y != table->header_y)
		return click_row(table, y);
	for (size_t i = 0; i < count; i++) {
		const struct ncs_column *column = places[i].column;

		/* The gap behind it has the mark of the order. */
		if (x < places[i].x || x > places[i].x + places[i].width)
			continue;
		ncs_grid_set_sort(table, column,
				  column == table->sort && !table->inverted);
		say_order(table, notice, notice_size);
		return true;
	}
	return false;
}
