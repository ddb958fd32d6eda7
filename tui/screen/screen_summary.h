/* SPDX-License-Identifier: MIT */
/* The head of the screen below the title, in three lines that answer: is the
 * job well, how fast is it, what does it wait for. For tui/screen/screen_frame.c
 * only.
 *
 * The place of a figure depends on the width of the screen alone, never on
 * other figures; what is unknown is "-".
 */
#ifndef NCS_TUI_SCREEN_SCREEN_SUMMARY_H
#define NCS_TUI_SCREEN_SCREEN_SUMMARY_H

#include "tui/screen/screen_state.h"

/* Number of its lines, if the verdict takes one. */
#define NCS_SUMMARY_LINES 3

/* Returns the number of lines with the whole verdict in some lines. */
int ncs_summary_lines(const struct ncs_screen *screen, int width);

/* Draws them into the lines of `rect`, the first ones first. */
void ncs_draw_summary(const struct ncs_screen *screen,
		      const struct ncs_rect *rect);

#endif
