/* SPDX-License-Identifier: MIT */
/* The help screen. */
#ifndef NCS_TUI_SCREEN_SCREEN_HELP_H
#define NCS_TUI_SCREEN_SCREEN_HELP_H

#include "tui/screen/screen_state.h"

/* Returns the number of lines of the help on a screen of `width` columns. */
int ncs_help_lines(int width);

/* Draws the lines of the help from line `top` on. */
void ncs_help_draw(const struct ncs_rect *rect, int top);

/* Scrolls the help, or leaves it. */
void ncs_help_act(struct ncs_screen *screen, enum ncs_action action);

#endif
