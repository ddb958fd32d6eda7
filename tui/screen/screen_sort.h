/* SPDX-License-Identifier: MIT */
/* The menu of orders: the columns that a table may be sorted by. */
#ifndef NCS_TUI_SCREEN_SCREEN_SORT_H
#define NCS_TUI_SCREEN_SCREEN_SORT_H

#include "tui/screen/screen_state.h"
#include "tui/term/layout.h"

/* Opens the menu on the order that is in force. */
void ncs_sort_open(struct ncs_screen *screen);

/* Handles a key while the menu is open: moves in it; Enter sorts and leaves;
 * Esc, q and the keys that open it leave. */
void ncs_sort_act(struct ncs_screen *screen, enum ncs_action action);

/* Draws the menu over the left part of the table. */
void ncs_sort_draw(struct ncs_screen *screen, const struct ncs_rect *header,
		   const struct ncs_rect *rows);

#endif
