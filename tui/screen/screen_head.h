/* SPDX-License-Identifier: MIT */
/* The title line and the line of tabs, for tui/screen/screen_frame.c; and the
 * current focus in words.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_HEAD_H
#define NCS_TUI_SCREEN_SCREEN_HEAD_H

#include <time.h>

#include "tui/screen/screen_state.h"

/* Draws the title line. `wall` is the time that it shows. */
void ncs_draw_title(const struct ncs_screen *screen,
		    const struct ncs_rect *rect, const struct tm *wall);

/* Draws the tabs, and to their right the notes on focus, filter, window and so
 * on. If there is no title line, the notes include the state that the title
 * would show. */
void ncs_draw_tabs(struct ncs_screen *screen, const struct ncs_rect *rect,
		   bool has_title);

/* Prints the breadcrumbs: "Communicators > world > rank 5 > rank 6"; "" at the
 * top. */
void ncs_crumbs(const struct ncs_screen *screen, char *text, size_t size);

/* Whether the communicator or rank of a focus no longer exists. */
bool ncs_focus_is_gone(const struct ncs_screen *screen,
		       const struct ncs_focus *focus);

#endif
