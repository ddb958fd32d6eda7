/* SPDX-License-Identifier: MIT */
/* Moves from view to view: between tabs, down from a row to the rows that it
 * consists of, and back up. Must not draw.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_NAVIGATION_H
#define NCS_TUI_SCREEN_SCREEN_NAVIGATION_H

#include "tui/screen/screen_state.h"

/* Shows all rows of a view; of the timeline, those of the current focus, at the
 * row that is selected now. */
void ncs_screen_show_view(struct ncs_screen *screen, enum ncs_view view);

/* Shows the view that is `step` tabs to the right, wrapping around. */
void ncs_screen_step_view(struct ncs_screen *screen, unsigned step);

/* Changes between a row for each function and a row for each size class. */
void ncs_screen_toggle_sizes(struct ncs_screen *screen);

/* Goes down from the selected row. */
void ncs_screen_enter(struct ncs_screen *screen);

/* Goes back up. Returns false at the top. */
bool ncs_screen_go_up(struct ncs_screen *screen);

#endif
