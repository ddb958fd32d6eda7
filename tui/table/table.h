/* SPDX-License-Identifier: MIT */
/* A scrolling table over the model: which rows it has, in which order, with
 * which columns, and which row is selected.
 *
 * Works without a terminal. A table points into the model from ncs_grid_build()
 * until the next update of the model; the selected row is remembered by name,
 * as it must last longer. Not thread-safe.
 */
#ifndef NCS_TUI_TABLE_TABLE_H
#define NCS_TUI_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/views/columns.h"
#include "tui/table/rows.h"
#include "tui/term/keys.h"
#include "tui/term/layout.h"

/* Initializes an empty table of a view; ncs_grid_release() frees its memory.
 * `rules` must outlive the table. */
void ncs_grid_init(struct ncs_grid *table, enum ncs_view view,
		   const struct ncs_grid_rules *rules);
void ncs_grid_release(struct ncs_grid *table);

/* Collects, filters and sorts the rows. If there is no memory, the table is
 * empty. */
void ncs_grid_build(struct ncs_grid *table, const struct ncs_grid_query *query);

/* Sets the level and the choices of columns, which are indexed like
 * ncs_columns. A sort column that is no longer shown is reset to the model's
 * order. The caller must build the table again. */
void ncs_grid_set_columns(struct ncs_grid *table, enum ncs_column_level level,
			  const enum ncs_column_choice *choices);

/* Sets how numbers are shown. */
void ncs_grid_set_units(struct ncs_grid *table, const struct ncs_units *units);

/* Sets the sort column; NULL is the model's order. Goes to the first row unless
 * a row is followed. The caller must build the table again. */
void ncs_grid_set_sort(struct ncs_grid *table, const struct ncs_column *column,
		       bool inverted);

/* --- The selection -------------------------------------------------------- */

/* Returns the selected row, or NULL if the table is empty. */
const struct ncs_grid_row *ncs_grid_selected(const struct ncs_grid *table);

/* Selects a row by its index, or the last row if the index is larger. */
void ncs_grid_select(struct ncs_grid *table, size_t place);

/* Selects the first row, also after rows were sorted or filtered. */
void ncs_grid_select_first(struct ncs_grid *table);

/* Begins or stops following the selected row. */
void ncs_grid_follow(struct ncs_grid *table, bool following);

/* Selects the row of a name, if there is one. */
void ncs_grid_select_key(struct ncs_grid *table,
			 const struct ncs_grid_key *key);

/* Select the row of a channel, or the first row of a rank. Return false if
 * there is none. */
bool ncs_grid_select_channel(struct ncs_grid *table, int channel, bool send,
			     int peer);
bool ncs_grid_select_rank(struct ncs_grid *table, const struct ncs_rank *rank);

/* Selects the first row with the same rank and channel (or the same rank and no
 * channel) as a row of another table. Returns false if there is none. */
bool ncs_grid_select_like(struct ncs_grid *table,
			  const struct ncs_grid_row *like);

/* Selects the next row with the text in its names: from the selected row on
 * (NCS_HERE), after it, or before it, and wraps around. Returns false and keeps
 * the selection if there is no such row. */
enum ncs_grid_direction { NCS_HERE, NCS_FORWARD, NCS_BACKWARD };
bool ncs_grid_search(struct ncs_grid *table, const char *text,
		     enum ncs_grid_direction direction);

/* Selects the next row of severity NCS_NOTE or above. Returns false if there is
 * none. */
bool ncs_grid_next_abnormal(struct ncs_grid *table);

/* --- Keys and clicks ------------------------------------------------------ */

/* Moves, scrolls, sorts, folds, or changes the columns. Returns false if the
 * action is not one of a table; otherwise true, and sets the table's notice.
 * The caller must build the table again. */
bool ncs_grid_act(struct ncs_grid *table, enum ncs_action action);

/* Handles a click at a place of the screen as it was last drawn. A click on a
 * row selects it. A click on a column's title sorts by the column, or inverts
 * the order if the table is already sorted by it. Returns false if the place
 * has neither; otherwise true, and sets the table's notice. The caller must
 * build the table again. */
bool ncs_grid_click(struct ncs_grid *table, int y, int x);

/* --- Drawing -------------------------------------------------------------- */

/* Draws the column titles and the rows, scrolled so that the selected row is on
 * the screen. Records in `table` where they were drawn. */
void ncs_grid_draw(struct ncs_grid *table, const struct ncs_rect *header,
		   const struct ncs_rect *rows);

#endif
