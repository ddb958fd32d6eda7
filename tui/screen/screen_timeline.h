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

/* --- The axis ------------------------------------------------------------- */

/* Sets the first time scale, with the right edge at now. */
void ncs_timeline_init(struct ncs_time_view *time);

/* Shows, once there is something, the time from the beginning of the longest wait
 * to now, or the latest step of the selected rank; not once the user has moved
 * the axis. */
void ncs_timeline_place(struct ncs_screen *screen);

/* Returns the time in ns up to which the model is known. In a recording, this
 * time is a little before the position, because states are recorded at
 * intervals. */
int64_t ncs_timeline_latest_ns(const struct ncs_screen *screen);

/* Returns the axis as it is drawn, and the cursor's column on it. */
struct ncs_axis ncs_timeline_axis(const struct ncs_screen *screen);
int ncs_timeline_cursor_column(const struct ncs_screen *screen);

/* Zooms, pans or moves the cursor. Returns false if the action is not one of
 * these. */
bool ncs_timeline_act_on_axis(struct ncs_screen *screen,
			      enum ncs_action action);

/* --- Words ---------------------------------------------------------------- */

/* Appends a sentence on the activity under the cursor, and one on the
 * highlighted collective. A row must be selected. */
void ncs_timeline_explain(const struct ncs_screen *screen, char *text,
			  size_t size);

#endif
