/* SPDX-License-Identifier: MIT */
/* A recording in the live view: a line above the table, and keys that move
 * through the recording. */
#ifndef NCS_TUI_SCREEN_SCREEN_REPLAY_H
#define NCS_TUI_SCREEN_SCREEN_REPLAY_H

#include "tui/screen/screen_state.h"

/* Shows a recording. Both arguments are borrowed and must outlive the
 * screen. */
void ncs_screen_set_replay(struct ncs_screen *screen, struct ncs_replay *replay,
			   const struct ncs_replay_search *search);

/* Draws the recording's line: its position, speed and wall-clock time, and a
 * bar on which problems are marked. */
void ncs_replay_draw(struct ncs_screen *screen, const struct ncs_rect *rect);

/* Handles a key for recordings; shows a message if no recording is shown. Returns
 * requests. */
unsigned ncs_replay_act(struct ncs_screen *screen, enum ncs_action action);

/* Goes to the time that the user typed. Returns requests. */
unsigned ncs_replay_go_typed(struct ncs_screen *screen);

/* Handles a click on the bar. Returns requests. */
unsigned ncs_replay_click(struct ncs_screen *screen, int y, int x);

#endif
