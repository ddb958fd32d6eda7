/* SPDX-License-Identifier: MIT */
/* What all views share above the table. For tui/screen/screen_frame.c only. */
#ifndef NCS_TUI_SCREEN_SCREEN_HEAD_H
#define NCS_TUI_SCREEN_SCREEN_HEAD_H

#include "tui/screen/screen.h"

void ncs_draw_title(const struct ncs_screen *screen,
		    const struct ncs_rect *rect, const struct tm *wall);

/* How many wait for what, and where the chain of waits ends. */
void ncs_draw_summary(const struct ncs_screen *screen,
		      const struct ncs_rect *rect);

/* Lines that the second of these wants: as many as it takes, within reason,
 * for it is why one looks. */
int ncs_verdict_lines(const struct ncs_screen *screen, int height, int width);

/* Whether the summary has a line on how the traffic of all ranks went: with
 * more columns only, for it changes with every look. */
bool ncs_shows_traffic(const struct ncs_screen *screen);

/* The tabs, and at their right where one is and what is left out. */
void ncs_draw_tabs(struct ncs_screen *screen, const struct ncs_rect *rect,
		   bool has_title);

/* Where one has gone down to: "Communicators > world > rank 5 > rank 6"; "" at
 * the top. */
void ncs_crumbs(const struct ncs_screen *screen, char *text, size_t size);

/* Whether what rows are limited to is there no more. */
bool ncs_focus_is_gone(const struct ncs_screen *screen,
		       const struct ncs_focus *focus);

#endif
