/* SPDX-License-Identifier: MIT */
/* The help screen: a page for the view that is shown, then all the rest. */
#ifndef NCS_TUI_SCREEN_SCREEN_HELP_H
#define NCS_TUI_SCREEN_SCREEN_HELP_H

#include "tui/screen/screen_state.h"
#include "tui/table/table.h"

/* Opens the help; or shows a text in its place, in lines, which is freed later. */
void ncs_help_open(struct ncs_screen *screen, char *stacks);

/* Returns the number of lines of the help on a screen of `width` columns: first
 * come whole pages of `help_page` lines on the view that is shown, then whole
 * pages of all the rest. */
int ncs_help_lines(const struct ncs_screen *screen, int width);

/* Prints which page is shown: "Ranks 1/2" or "all the rest 3/12". `help_page`
 * must be set. */
void ncs_help_place(const struct ncs_screen *screen, int width, char *text,
		    size_t size);

/* Draws the lines of the help from line `help_top` on. */
void ncs_help_draw(const struct ncs_screen *screen,
		   const struct ncs_rect *rect);

/* Scrolls the help to the next or the previous place that has the text that is
 * searched, or to the first from `help_found` on; wraps around. Returns false, and
 * stays, if there is none. */
bool ncs_help_find(struct ncs_screen *screen,
		   enum ncs_grid_direction direction);

/* Scrolls the help, or leaves it. Returns false if a text was not found. */
bool ncs_help_act(struct ncs_screen *screen, enum ncs_action action);

#endif
