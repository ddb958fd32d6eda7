/* SPDX-License-Identifier: MIT */
/* The timeline: tracks beside their names, with a cursor in time. */
#ifndef NCS_TUI_SCREEN_SCREEN_TIMELINE_H
#define NCS_TUI_SCREEN_SCREEN_TIMELINE_H

#include <stdio.h>

#include "tui/screen/screen_state.h"

/* Handles a key. Returns false if the key has its usual meaning. */
bool ncs_timeline_act(struct ncs_screen *screen, enum ncs_action action);

/* Draws the table of names, the time axis and the tracks, and which of their
 * letters means what. Places the axis if nobody has. */
void ncs_timeline_draw(struct ncs_screen *screen, const struct ncs_rect *legend,
		       const struct ncs_rect *header,
		       const struct ncs_rect *rows);

/* Prints all tracks of the table as letters. Returns 0 or -ENOMEM. */
int ncs_timeline_print(FILE *file, const struct ncs_screen *screen);

/* Moves the cursor to a column of the screen, if that is within a track. */
void ncs_timeline_click(struct ncs_screen *screen, int x);

/* Whether the rank with this id has a track on the screen. */
bool ncs_timeline_shows(const struct ncs_screen *screen, const char *id);

#endif
