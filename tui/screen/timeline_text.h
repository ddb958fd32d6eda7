/* SPDX-License-Identifier: MIT */
/* The activity under the timeline's cursor in words. Must not draw. */
#ifndef NCS_TUI_SCREEN_TIMELINE_TEXT_H
#define NCS_TUI_SCREEN_TIMELINE_TEXT_H

#include "tui/screen/screen_state.h"

/* Appends a sentence on the activity under the cursor, and one on the
 * highlighted collective. A row must be selected. */
void ncs_timeline_explain(const struct ncs_screen *screen, char *text,
			  size_t size);

/* Highlights the collective under the cursor in all ranks. */
void ncs_timeline_highlight(struct ncs_screen *screen);

#endif
