/* SPDX-License-Identifier: MIT */
/* The timeline: tracks beside their names, with a cursor in time. */
#ifndef NCS_TUI_SCREEN_SCREEN_TIMELINE_H
#define NCS_TUI_SCREEN_SCREEN_TIMELINE_H

#include "tui/screen/screen_state.h"

/* Handles a key. Returns false if the key has its usual meaning. */
bool ncs_timeline_act(struct ncs_screen *screen, enum ncs_action action,
		      uint64_t now_ns);

/* Draws the table of names, the time axis and the tracks. */
void ncs_timeline_draw(struct ncs_screen *screen, const struct ncs_rect *header,
		       const struct ncs_rect *rows);

/* Moves the cursor to a column of the screen, if that is within a track. */
void ncs_timeline_click(struct ncs_screen *screen, int x);

/* Whether the rank with this id has a track on the screen. */
bool ncs_timeline_shows(const struct ncs_screen *screen, const char *id);

/* Draws which letter of the tracks means what, in the letters' colours. */
void ncs_timeline_legend(const struct ncs_rect *rect);

#endif
