/* SPDX-License-Identifier: MIT */
/* Draws the whole screen. */
#ifndef NCS_TUI_SCREEN_SCREEN_FRAME_H
#define NCS_TUI_SCREEN_SCREEN_FRAME_H

#include <time.h>

#include "tui/screen/screen_state.h"

/* Draws a frame; the caller flushes it. `wall` is the time in the title. */
void ncs_screen_draw(struct ncs_screen *screen, uint64_t now_ns,
		     const struct tm *wall);

#endif
