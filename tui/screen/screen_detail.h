/* SPDX-License-Identifier: MIT */
/* The selected rank in detail, where a short table leaves room. For
 * tui/screen/screen_frame.c only.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_DETAIL_H
#define NCS_TUI_SCREEN_SCREEN_DETAIL_H

#include "tui/screen/screen_state.h"
#include "tui/term/layout.h"

/* Returns how many of `height` free lines of `width` columns the detail of the
 * selected row takes; 0 if the view has none, or if nothing would be left to the
 * graphs. */
int ncs_detail_lines(const struct ncs_screen *screen, int height, int width);

/* Draws into these lines what the selected rank is: its place, what it has under
 * way, what its functions have done, and its channels, as far as there is
 * room. */
void ncs_draw_detail(const struct ncs_screen *screen,
		     const struct ncs_rect *rect);

#endif
