/* SPDX-License-Identifier: MIT */
/* Column layout of a table; see column_layout.h. Draws nothing. */
#include "tui/table/column_layout.h"

#include "tui/term/layout.h"

/* Screen columns between two columns. */
#define GAP 1
/* Width of the folds of a tree, whose rows are at most two levels deep. */
#define TREE_WIDTH (2 * NCS_GRID_INDENT)

/* Whether a column names the row and so stays when columns are scrolled. */
static bool is_frozen(const struct ncs_column *column)
{
	return column->priority >= 9;
}

/* Whether a column says why a job is stuck: for whom a rank waits, and in what. */
static bool is_deciding(const struct ncs_grid *table,
			const struct ncs_column *column)
{
	return table->is_stuck &&
	       (column == &ncs_columns[NCS_COLUMN_RANK_WAIT] ||
		column == &ncs_columns[NCS_COLUMN_RANK_OPERATION]);
}

/* Returns the width below which a column is dropped. A text may be cut, unless
 * it decides; a number must not be cut, because half of "12/345" would be a wrong
 * number. */
static int least_width(const struct ncs_grid *table, size_t index)
{
	const struct ncs_column *column = table->columns[index];
	int width = (int)column->width;

	if ((column->align == NCS_ALIGN_RIGHT || is_deciding(table, column)) &&
	    table->widths[index] > width)
		width = table->widths[index];
	return width;
}

size_t ncs_grid_scrollable_columns(const struct ncs_grid *table)
{
	size_t count = 0;

	for (size_t i = 0; i < table->column_count; i++)
		count += !is_frozen(table->columns[i]);
	return count;
}

int ncs_grid_marks_width(int width)
{
	return width < 30 ? 2 : 3;
}

int ncs_grid_prefix_width(const struct ncs_grid *table, int width)
{
	return ncs_grid_marks_width(width) + (table->tree.on ? TREE_WIDTH : 0);
}

static bool is_one_of(const struct ncs_column *column,
		      const enum ncs_column_id *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (column == &ncs_columns[ids[i]])
			return true;
	return false;
}

/* Whether a column says nothing while the job is stuck: how late ranks were and
 * how fast they moved. Columns that the user asked for always say something. */
static bool is_noise(const struct ncs_grid *table,
		     const struct ncs_column *column)
{
	static const enum ncs_column_id ids[] = {
		NCS_COLUMN_RANK_LATE,  NCS_COLUMN_RANK_LATE_COST,
		NCS_COLUMN_RANK_BUSBW, NCS_COLUMN_RANK_TRACE,
		NCS_COLUMN_RANK_LATE_CAUSE, NCS_COLUMN_RANK_LAST_SHARE,
		NCS_COLUMN_RANK_OPERATIONS_RATE,
		NCS_COLUMN_RANK_SEND_RATE, NCS_COLUMN_RANK_RECV_RATE,
	};

	return table->is_stuck && column != table->sort &&
	       table->choices[column - ncs_columns] != NCS_COLUMN_SHOWN &&
	       is_one_of(column, ids, sizeof(ids) / sizeof(ids[0]));
}

/* Returns a column's priority: the sort column must stay, one communicator
 * needs no name, a rank's number is none without that of its communicator where
 * there are several, several jobs need theirs, and where all wait the operation in
 * which they do decides. */
static unsigned priority_of(const struct ncs_grid *table,
			    const struct ncs_column *column)
{
	/* Not of findings: that the few are of one communicator is chance. */
	static const enum ncs_column_id names[] = {
		NCS_COLUMN_RANK_COMM,  NCS_COLUMN_CHANNEL_COMM,
		NCS_COLUMN_RANGE_COMM, NCS_COLUMN_CLASS_COMM,
		NCS_COLUMN_TIMELINE_COMM,
	};

	if (column == table->sort)
		return 9;
	if (is_deciding(table, column))
		return 8;
	if (is_one_of(column, names, sizeof(names) / sizeof(names[0])))
		return table->one_communicator ? 3 : 8;
	if (table->several_jobs &&
	    column == &ncs_columns[NCS_COLUMN_RANK_JOB])
		return 6;
	return column->priority;
}

/* Keeps as many columns as there is room for, those of the highest priority: of a
 * table that is scrolled sideways the frozen ones only. Returns their total width,
 * with a gap behind each. */
static int keep_by_priority(const struct ncs_grid *table, bool is_scrolled,
			    int room, bool *kept)
{
	struct ncs_item items[NCS_GRID_COLUMNS_MAX];
	size_t indexes[NCS_GRID_COLUMNS_MAX], count = 0;
	int used;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct ncs_column *column = table->columns[i];

		if (is_scrolled ? !is_frozen(column) : is_noise(table, column))
			continue;
		items[count] = (struct ncs_item){
			.width = least_width(table, i),
			.priority = is_scrolled ? column->priority :
						  priority_of(table, column),
		};
		indexes[count++] = i;
	}
	used = ncs_layout_fit(items, count, room, GAP);
	for (size_t i = 0; i < count; i++)
		kept[indexes[i]] = items[i].kept;
	return used > 0 ? used + GAP : 0;
}

/* Returns the index of the first column that is not scrolled away, or
 * column_count if all are. */
static size_t first_scrolled(const struct ncs_grid *table)
{
	size_t place = 0;

	for (size_t i = 0; i < table->column_count; i++)
		if (!is_frozen(table->columns[i]) && ++place == table->skip)
			return i;
	return table->column_count;
}

/* Chooses the columns of a table that is scrolled sideways: the column that was
 * scrolled to, then the frozen columns, then as many of the next columns as
 * there is room for. */
static void keep_by_place(const struct ncs_grid *table, int room, bool *kept)
{
	size_t first = first_scrolled(table);

	if (first < table->column_count) {
		kept[first] = true;
		room -= least_width(table, first) + GAP;
	}
	room -= keep_by_priority(table, true, room, kept);
	for (size_t i = first + 1; i < table->column_count; i++) {
		if (is_frozen(table->columns[i]))
			continue;
		if (least_width(table, i) > room)
			break;
		kept[i] = true;
		room -= least_width(table, i) + GAP;
	}
}

/* Gives the remaining width to columns whose contents are cut, the highest
 * priority first. */
static void widen(const struct ncs_grid *table, struct ncs_grid_place *places,
		  size_t count, int left)
{
	for (unsigned priority = 9; priority > 0 && left > 0; priority--) {
		for (size_t i = 0; i < count && left > 0; i++) {
			int more = table->widths[places[i].index] -
				   places[i].width;

			if (places[i].column->priority != priority)
				continue;
			if (more > left)
				more = left;
			if (more <= 0)
				continue;
			places[i].width += more;
			left -= more;
		}
	}
}

size_t ncs_grid_places(const struct ncs_grid *table, int width,
		       struct ncs_grid_place *places)
{
	bool kept[NCS_GRID_COLUMNS_MAX] = { false };
	int room = width - ncs_grid_prefix_width(table, width);
	int x = ncs_grid_prefix_width(table, width), used = -GAP;
	size_t count = 0;

	if (table->skip == 0)
		keep_by_priority(table, false, room, kept);
	else
		keep_by_place(table, room, kept);
	for (size_t i = 0; i < table->column_count; i++) {
		if (!kept[i])
			continue;
		places[count].column = table->columns[i];
		places[count].index = i;
		places[count].width = least_width(table, i);
		used += places[count].width + GAP;
		count++;
	}
	widen(table, places, count, room - used);
	for (size_t i = 0; i < count; i++) {
		places[i].x = x;
		x += places[i].width + GAP;
	}
	return count;
}
