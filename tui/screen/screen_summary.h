/* SPDX-License-Identifier: MIT */
/* The summary above the table: how many channels wait and for what, the
 * traffic, and where the chain of waits ends. For tui/screen/screen_frame.c
 * only.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_SUMMARY_H
#define NCS_TUI_SCREEN_SCREEN_SUMMARY_H

#include "tui/screen/screen_state.h"

/* Draws the summary into the lines of `rect`, the most important parts
 * first. */
void ncs_draw_summary(const struct ncs_screen *screen,
		      const struct ncs_rect *rect);

/* Returns the number of lines that the verdict on the job should get. */
int ncs_verdict_lines(const struct ncs_screen *screen, int height, int width);

/* Whether the summary has a line for the traffic of all ranks. It has this line
 * only at the levels diag and debug, because the line changes with every
 * sample. */
bool ncs_shows_traffic(const struct ncs_screen *screen);

#endif
