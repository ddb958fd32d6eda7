/* SPDX-License-Identifier: MIT */
/* Keys and clicks on a table. */
#ifndef NCS_TUI_TABLE_TABLE_ACTIONS_H
#define NCS_TUI_TABLE_TABLE_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/table/table.h"
#include "tui/term/keys.h"

/* Moves, scrolls, sorts, folds, or changes the columns. Returns false if the
 * action is not one of a table's; else true, with a message for the user, which
 * may be empty. The caller must build the table again. */
bool ncs_grid_act(struct ncs_grid *table, enum ncs_action action, char *notice,
		  size_t notice_size);

/* Handles a click at a place of the screen as it was drawn last: selects a row,
 * or sorts by a column, and inverts the order if it is the sort column already.
 * Returns false if there is neither; else true, with a message for the user,
 * which may be empty. The caller must build the table again. */
bool ncs_grid_click(struct ncs_grid *table, int y, int x, char *notice,
		    size_t notice_size);

#endif
