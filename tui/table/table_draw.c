/* SPDX-License-Identifier: MIT */
/* Draws a table; see table.h. Must not change the rows or the selection.
 * Called for each frame.
 */
#include "tui/table/table.h"

#include <stdio.h>
#include <string.h>

#include "tui/table/column_layout.h"
#include "tui/term/term.h"

#define TEXT_MAX 1024

static int at_place(const struct ncs_grid_place *place, const char *text)
{
	int width = ncs_term_text_width(text);

	if (place->column->align == NCS_ALIGN_LEFT || width >= place->width)
		return place->x;
	return place->x + place->width - width;
}

static void draw_header(const struct ncs_grid *table,
			const struct ncs_rect *rect,
			const struct ncs_grid_place *places, size_t count)
{
	ncs_term_fill(rect->y, rect->x, rect->width, NCS_ROLE_HEADER);
	if (table->skip > 0)
		ncs_term_put(rect->y, rect->x, 1, NCS_ROLE_HEADER, "<");
	for (size_t i = 0; i < count; i++) {
		const struct ncs_column *column = places[i].column;
		bool sorted = column == table->sort;
		const char *title = ncs_grid_title(table, column);
		int x = at_place(&places[i], title);

		x += ncs_term_put(
			rect->y, x, places[i].x + places[i].width - x,
			sorted ? NCS_ROLE_HEADER_SORT : NCS_ROLE_HEADER, title);
		/* The mark is in the gap, or in the last column. */
		if (sorted)
			ncs_term_put(
				rect->y, x < rect->width ? x : rect->width - 1,
				1, NCS_ROLE_HEADER_SORT,
				ncs_term_symbol(ncs_grid_is_downwards(table) ?
							NCS_SYMBOL_SORT_DOWN :
							NCS_SYMBOL_SORT_UP));
	}
}

/* The mark of a severity, and the role of a row that is not selected. */
static const struct {
	char mark;
	enum ncs_role role;
} looks[] = {
	[NCS_QUIET] = { ' ', NCS_ROLE_QUIET },
	[NCS_VICTIM] = { ' ', NCS_ROLE_QUIET },
	[NCS_NORMAL] = { ' ', NCS_ROLE_TEXT },
	[NCS_NOTE] = { '*', NCS_ROLE_NOTE },
	[NCS_BAD] = { '!', NCS_ROLE_BAD },
	[NCS_SUSPECT] = { '>', NCS_ROLE_BAD },
};

/* Prints a row that has no cells: a group, a segment that cannot be read, or a row of
 * another view than the table's, whose columns do not apply to it. Returns false for
 * any other. */
static bool print_title(const struct ncs_grid *table,
			const struct ncs_grid_row *row, char *text, size_t size)
{
	const char *id = row->unreadable ? row->unreadable->id : "";
	const char *slash = strrchr(id, '/');

	text[0] = '\0';
	if (row->of)
		table->rules->group_title(row->of,
					  &table->folds.rows[row->of->first],
					  text, size);
	else if (row->unreadable)
		snprintf(text, size, "%s: %s", slash ? slash + 1 : id,
			 row->unreadable->why);
	else if (row->row.view != table->view)
		ncs_grid_rules_of(table, row)->title(&row->row, text, size);
	else
		return false;
	return true;
}

static void draw_fold(const struct ncs_grid_row *row, int y, int x,
		      enum ncs_role role)
{
	if (row->fold != NCS_FOLD_LEAF)
		ncs_term_put(y, x, 1, role,
			     row->fold == NCS_FOLD_OPEN ? "-" : "+");
}

/* A row that is marked, dim or selected has one colour. */
static enum ncs_role cell_role(const struct ncs_grid *table,
			       const struct ncs_column *column,
			       const struct ncs_row *row, enum ncs_role role)
{
	return role == NCS_ROLE_TEXT && table->rules->cell_role ?
		       table->rules->cell_role(column, row) :
		       role;
}

static void draw_cells(const struct ncs_grid *table,
		       const struct ncs_grid_row *row, int y,
		       enum ncs_role role, const struct ncs_grid_place *places,
		       size_t count)
{
	char text[TEXT_MAX];

	for (size_t i = 0; i < count; i++) {
		bool is_stale = ncs_grid_cell(table, places[i].column,
					      &row->row, text, sizeof(text));

		ncs_term_put(y, at_place(&places[i], text), places[i].width,
			     is_stale && role != NCS_ROLE_SELECTED ?
				     NCS_ROLE_QUIET :
				     cell_role(table, places[i].column,
					       &row->row, role),
			     text);
	}
}

static void draw_row(const struct ncs_grid *table,
		     const struct ncs_grid_row *row, int y,
		     const struct ncs_rect *rect, bool selected,
		     const struct ncs_grid_place *places, size_t count)
{
	enum ncs_severity severity = ncs_grid_severity(table, row);
	enum ncs_role role = selected ? NCS_ROLE_SELECTED :
					looks[severity].role;
	int x = rect->x + ncs_grid_marks_width(rect->width) +
		NCS_GRID_INDENT * (int)row->depth;
	const char mark[2] = { looks[severity].mark };
	char text[TEXT_MAX];

	ncs_term_fill(y, rect->x, selected ? rect->width : 0, role);
	ncs_term_put(y, rect->x, 1, role, mark);
	if (ncs_grid_is_tagged(table, row))
		ncs_term_put(y, rect->x + 1, 1,
			     selected ? role : NCS_ROLE_STRONG, "#");
	draw_fold(row, y, x, role);
	if (!print_title(table, row, text, sizeof(text))) {
		draw_cells(table, row, y, role, places, count);
		return;
	}
	x = row->unreadable ? ncs_grid_prefix_width(table, rect->width) :
			      x + NCS_GRID_INDENT;
	ncs_term_put(y, x, rect->width - x, role, text);
}

static void scroll_to_selected(struct ncs_grid *table)
{
	size_t page = table->page > 0 ? (size_t)table->page : 1;

	if (table->selected < table->top)
		table->top = table->selected;
	if (table->selected >= table->top + page)
		table->top = table->selected - page + 1;
	/* Leave no blank line while rows are scrolled away at the top. */
	if (table->top + page > table->count)
		table->top = table->count > page ? table->count - page : 0;
}

/* Measures the contents of the rows on the screen. Widths only grow, so that
 * columns do not jump with every sample. */
static void measure(struct ncs_grid *table)
{
	size_t end = table->top + (size_t)table->page;
	char text[TEXT_MAX];

	for (size_t r = table->top; r < table->count && r < end; r++) {
		if (table->rows[r].unreadable || table->rows[r].of ||
		    table->rows[r].row.view != table->view)
			continue;
		for (size_t i = 0; i < table->column_count; i++) {
			int width;

			ncs_grid_cell(table, table->columns[i],
				      &table->rows[r].row, text, sizeof(text));
			width = ncs_term_text_width(text);
			if (width > table->widths[i])
				table->widths[i] = width;
		}
	}
}

void ncs_grid_draw(struct ncs_grid *table, const struct ncs_rect *header,
		   const struct ncs_rect *rows)
{
	struct ncs_grid_place places[NCS_GRID_COLUMNS_MAX];
	size_t count;

	table->header_y = header->y;
	table->rows_y = rows->y;
	table->page = rows->height;
	table->width = rows->width;
	scroll_to_selected(table);
	measure(table);
	count = ncs_grid_places(table, rows->width, places);
	table->shown_columns = count;
	draw_header(table, header, places, count);
	for (int i = 0; i < rows->height; i++) {
		size_t place = table->top + (size_t)i;

		if (place >= table->count)
			break;
		draw_row(table, &table->rows[place], rows->y + i, rows,
			 place == table->selected, places, count);
	}
	if (table->selected >= table->top && table->count > 0)
		ncs_term_cursor(rows->y + (int)(table->selected - table->top),
				rows->x, false);
}
