/* SPDX-License-Identifier: MIT */
/* Draws a table. */
#ifndef NCS_TUI_TABLE_TABLE_DRAW_H
#define NCS_TUI_TABLE_TABLE_DRAW_H

#include "tui/table/rows.h"
#include "tui/term/layout.h"

/* Draws the column titles and the rows, scrolled so that the selected row is on
 * the screen. Records in `table` where they were drawn. */
void ncs_grid_draw(struct ncs_grid *table, const struct ncs_rect *header,
		   const struct ncs_rect *rows);

#endif
