/* SPDX-License-Identifier: MIT */
/* The head of the screen below the title, in three lines that answer: is the
 * job well, how fast is it, what does it wait for; and where operations of several
 * ranks were compared, in a fourth one: how long is a step. For
 * tui/screen/screen_frame.c only.
 *
 * The place of a figure depends on the width of the screen alone, never on
 * other figures; what is unknown is "-".
 */
#ifndef NCS_TUI_SCREEN_SCREEN_SUMMARY_H
#define NCS_TUI_SCREEN_SCREEN_SUMMARY_H

#include "tui/screen/screen_state.h"

/* Returns the number of lines with the whole verdict in some lines. */
int ncs_summary_lines(const struct ncs_screen *screen, int width);

/* Draws them into the lines of `rect`, the first ones first. */
void ncs_draw_summary(const struct ncs_screen *screen,
		      const struct ncs_rect *rect);

#endif
