/* SPDX-License-Identifier: MIT */
/* The time axis of the timeline and the cursor on it. Must not draw. */
#ifndef NCS_TUI_SCREEN_TIMELINE_AXIS_H
#define NCS_TUI_SCREEN_TIMELINE_AXIS_H

#include "tui/screen/screen_state.h"

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

#endif
