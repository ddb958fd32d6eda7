/* SPDX-License-Identifier: MIT */
/* What all views share above the table. For tui/screen/screen_frame.c only. */
#ifndef NCS_TUI_SCREEN_SCREEN_HEAD_H
#define NCS_TUI_SCREEN_SCREEN_HEAD_H

#include <time.h>

#include "tui/screen/screen_state.h"

void ncs_draw_title(const struct ncs_screen *screen,
		    const struct ncs_rect *rect, const struct tm *wall);

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
