/* SPDX-License-Identifier: MIT */
/* Graphs of the job's latest past, where the table leaves room. For
 * tui/screen/screen_frame.c only.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_GRAPH_H
#define NCS_TUI_SCREEN_SCREEN_GRAPH_H

#include "tui/screen/screen_state.h"
#include "tui/term/layout.h"

/* Draws how fast the job was and what it waited for, one column for each look,
 * the latest at the right edge: side by side or one above the other, or the
 * speed alone where there is no room for both. */
void ncs_draw_graphs(const struct ncs_screen *screen,
		     const struct ncs_rect *rect);

/* Whether the speed of any look that fits on the screen is known. */
bool ncs_graph_shows_speed(const struct ncs_screen *screen);

#endif
