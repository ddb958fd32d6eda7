/* SPDX-License-Identifier: MIT */
/* A recording in the live view: keys that move through it. */
#ifndef NCS_TUI_SCREEN_SCREEN_REPLAY_H
#define NCS_TUI_SCREEN_SCREEN_REPLAY_H

#include "tui/screen/screen_state.h"

/* Shows a recording. Both arguments are borrowed and must outlive the
 * screen. */
void ncs_screen_set_replay(struct ncs_screen *screen, struct ncs_replay *replay,
			   const struct ncs_replay_search *search);

/* Handles a key for recordings; shows a message if no recording is shown. Returns
 * requests. */
unsigned ncs_replay_act(struct ncs_screen *screen, enum ncs_action action);

/* Goes to the time that the user typed. Returns requests. */
unsigned ncs_replay_go_typed(struct ncs_screen *screen);

/* Handles a click on the bar. Returns requests. */
unsigned ncs_replay_click(struct ncs_screen *screen, int y, int x);

#endif
