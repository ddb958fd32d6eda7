/* SPDX-License-Identifier: MIT */
/* Column layout of a table: the columns that fit into a width, and their
 * places.
 *
 * Pure functions of the table's columns and of the widths of their contents.
 */
#ifndef NCS_TUI_TABLE_COLUMN_LAYOUT_H
#define NCS_TUI_TABLE_COLUMN_LAYOUT_H

#include "tui/table/rows.h"

/* Screen columns by which each level of a tree is indented. */
#define NCS_GRID_INDENT 2

/* A column that is shown, and its place. */
struct ncs_grid_place {
	const struct ncs_column *column;
	size_t index; /* in table->columns */
	int x;
	int width;
};

/* Chooses the columns that are shown in `width` and places them. Returns their
 * number; `places` has room for NCS_GRID_COLUMNS_MAX. */
size_t ncs_grid_places(const struct ncs_grid *table, int width,
		       struct ncs_grid_place *places);

/* Returns the number of columns that can be scrolled. */
size_t ncs_grid_scrollable_columns(const struct ncs_grid *table);

/* Return the width of what is drawn in front of a row's cells, on a screen of
 * `width` columns: the marks (severity, tag, and a gap); and the marks with a
 * tree's folds. */
int ncs_grid_marks_width(int width);
int ncs_grid_prefix_width(const struct ncs_grid *table, int width);

#endif
