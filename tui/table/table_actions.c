/* SPDX-License-Identifier: MIT */
/* Keys and clicks on a table; see table.h. Must not build or draw the
 * table. */
#include "tui/table/table.h"

#include <stdarg.h>
#include <stdio.h>

#include "tui/table/column_layout.h"

__attribute__((format(printf, 2, 3))) static void say(struct ncs_grid *table,
						      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(table->notice, sizeof(table->notice), format, arguments);
	va_end(arguments);
}

static bool shows_last_column(const struct ncs_grid *table)
{
	struct ncs_grid_place places[NCS_GRID_COLUMNS_MAX];
	size_t count = ncs_grid_places(table, table->width, places);

	return count > 0 &&
	       places[count - 1].index + 1 == table->column_count &&
	       (table->skip > 0 || count == table->column_count);
}

static void scroll_right(struct ncs_grid *table)
{
	if (shows_last_column(table) ||
	    table->skip >= ncs_grid_scrollable_columns(table))
		say(table, "the last column is shown");
	else
		table->skip++;
}

static void say_order(struct ncs_grid *table)
{
	if (!table->sort)
		say(table, "order: %s%s",
		    table->rules->need ? "the worst first, then by rank" :
					 "by communicator and rank",
		    table->inverted ? ", inverted" : "");
	else
		say(table, "order: by %s, %s first",
		    ncs_grid_title(table, table->sort),
		    ncs_grid_is_downwards(table) ? "largest" : "smallest");
}

/* Steps through the orders: the usual order, then each column, then the usual
 * order again. */
static void sort_step(struct ncs_grid *table, size_t step)
{
	size_t orders = table->column_count + 1, place = 0;

	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i] == table->sort)
			place = i + 1;
	place = (place + step) % orders;
	ncs_grid_set_sort(table, place > 0 ? table->columns[place - 1] : NULL,
			  false);
}

static void step_level(struct ncs_grid *table, int step)
{
	static const char *const names[] = { "info", "diag", "debug" };
	int least = NCS_COLUMN_INFO, most = NCS_COLUMN_DEBUG;
	int level = (int)table->level + step;

	level = level < least ? least : level > most ? most : level;
	ncs_grid_set_columns(table, (enum ncs_column_level)level,
			     table->choices);
	say(table, "columns: %s, %zu of them", names[level],
	    table->column_count);
}

static bool act_on_rows(struct ncs_grid *table, enum ncs_action action)
{
	size_t page = table->page > 1 ? (size_t)table->page - 1 : 1;
	size_t place = table->selected;

	if (!ncs_action_moves(action, page, table->count, &place))
		return false;
	if (action == NCS_ACTION_FIRST)
		ncs_grid_select_first(table);
	else
		ncs_grid_select(table, place);
	return true;
}

static void toggle_following(struct ncs_grid *table)
{
	if (table->count == 0) {
		say(table, "no row is selected");
		return;
	}
	ncs_grid_follow(table, !table->following);
	say(table, "%s",
	    table->following ? "following this row; moving or F ends it" :
			       "no longer following");
}

static bool act_on_order(struct ncs_grid *table, enum ncs_action action)
{
	const struct ncs_grid_rules *rules = table->rules;

	switch (action) {
	case NCS_ACTION_FOLLOW:
		toggle_following(table);
		return true;
	case NCS_ACTION_SORT_NEXT:
		sort_step(table, 1);
		break;
	case NCS_ACTION_SORT_PREVIOUS:
		sort_step(table, table->column_count);
		break;
	case NCS_ACTION_SORT_INVERT:
		ncs_grid_set_sort(table, table->sort, !table->inverted);
		break;
	case NCS_ACTION_SORT_THROUGHPUT:
		ncs_grid_set_sort(table, &ncs_columns[rules->throughput],
				  false);
		break;
	case NCS_ACTION_SORT_BYTES:
		ncs_grid_set_sort(table, &ncs_columns[rules->bytes], false);
		break;
	case NCS_ACTION_SORT_TIME:
		ncs_grid_set_sort(table, &ncs_columns[rules->time], false);
		break;
	default:
		return false;
	}
	say_order(table);
	return true;
}

static void toggle_tree(struct ncs_grid *table)
{
	if (!table->rules->above) {
		say(table, "these rows have nothing above or below"
			   " them");
		return;
	}
	table->tree.on = !table->tree.on;
	say(table, "%s",
	    table->tree.on ? "a tree: + and - unfold and fold, * all" :
			     "no tree");
}

/* Folds or unfolds the selected row. Folding a row that has no open fold folds
 * its parent. */
static void set_open(struct ncs_grid *table, bool open)
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
		say(table, "there is nothing to %s", open ? "unfold" : "fold");
		return;
	}
	ncs_grid_row_key(row, &key);
	if (!ncs_tree_set_open(&table->tree, &key, open))
		say(table, "not enough memory");
}

/* Unfolds everything, or folds everything: a row that is in a group is then
 * no longer selected, as its selection would keep it in sight. */
static void fold_all(struct ncs_grid *table)
{
	if (table->folds.on)
		while (ncs_tree_parent(table, table->selected) !=
		       table->selected)
			ncs_grid_select(table, ncs_tree_parent(table,
							       table->selected));
	ncs_tree_set_all(&table->tree);
}

static bool act_on_tree(struct ncs_grid *table, enum ncs_action action)
{
	switch (action) {
	case NCS_ACTION_TREE:
		toggle_tree(table);
		return true;
	case NCS_ACTION_UNFOLD:
	case NCS_ACTION_FOLD:
	case NCS_ACTION_FOLD_ALL:
		break;
	default:
		return false;
	}
	if (!table->tree.on && !table->folds.on)
		say(table, "this is not a tree: t makes it one");
	else if (action == NCS_ACTION_FOLD_ALL)
		fold_all(table);
	else
		set_open(table, action == NCS_ACTION_UNFOLD);
	return true;
}

static bool act_on_columns(struct ncs_grid *table, enum ncs_action action)
{
	switch (action) {
	case NCS_ACTION_LEFT:
		if (table->skip > 0)
			table->skip--;
		else
			say(table, "the first column is shown");
		return true;
	case NCS_ACTION_RIGHT:
		scroll_right(table);
		return true;
	case NCS_ACTION_COLUMN_FIRST:
		table->skip = 0;
		say(table, "the first column is shown");
		return true;
	case NCS_ACTION_COLUMN_LAST:
		while (!shows_last_column(table) &&
		       table->skip < ncs_grid_scrollable_columns(table))
			table->skip++;
		say(table, "the last column is shown");
		return true;
	case NCS_ACTION_LEVEL_MORE:
		step_level(table, 1);
		return true;
	case NCS_ACTION_LEVEL_LESS:
		step_level(table, -1);
		return true;
	default:
		return false;
	}
}

bool ncs_grid_act(struct ncs_grid *table, enum ncs_action action)
{
	table->notice[0] = '\0';
	return act_on_rows(table, action) || act_on_order(table, action) ||
	       act_on_tree(table, action) || act_on_columns(table, action);
}

/* Whether a click is on the sign of a row's fold, or beside it. */
static bool is_on_fold(const struct ncs_grid *table,
		       const struct ncs_grid_row *row, int x)
{
	int sign = ncs_grid_marks_width(table->width) +
		   NCS_GRID_INDENT * (int)row->depth;

	return row->fold != NCS_FOLD_LEAF && x >= sign && x <= sign + 1;
}

static bool click_row(struct ncs_grid *table, int y, int x)
{
	size_t place = table->top + (size_t)(y - table->rows_y);

	if (y < table->rows_y || y >= table->rows_y + table->page ||
	    place >= table->count)
		return false;
	ncs_grid_select(table, place);
	if (is_on_fold(table, &table->rows[place], x))
		set_open(table, table->rows[place].fold == NCS_FOLD_CLOSED);
	return true;
}

bool ncs_grid_click(struct ncs_grid *table, int y, int x)
{
	struct ncs_grid_place places[NCS_GRID_COLUMNS_MAX];
	size_t count = ncs_grid_places(table, table->width, places);

	table->notice[0] = '\0';
	if (y != table->header_y)
		return click_row(table, y, x);
	for (size_t i = 0; i < count; i++) {
		const struct ncs_column *column = places[i].column;

		/* The gap to the right belongs to the column: it shows the
		 * direction of the order. */
		if (x < places[i].x || x > places[i].x + places[i].width)
			continue;
		ncs_grid_set_sort(table, column,
				  column == table->sort && !table->inverted);
		say_order(table);
		return true;
	}
	return false;
}
