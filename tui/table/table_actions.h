/* SPDX-License-Identifier: MIT */
/* Keys and clicks on a table. They change its state, but draw nothing. */
#ifndef NCS_TUI_TABLE_TABLE_ACTIONS_H
#define NCS_TUI_TABLE_TABLE_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/table/table.h"
#include "tui/term/keys.h"

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

#endif
