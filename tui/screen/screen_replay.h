/* SPDX-License-Identifier: MIT */
/* What the live view has of a recording that is played: a line in its head, and
 * keys that move through it. For tui/screen*.c and tui/screen/live.c. */
#ifndef NCS_TUI_SCREEN_SCREEN_REPLAY_H
#define NCS_TUI_SCREEN_SCREEN_REPLAY_H

#include "tui/screen/screen_state.h"

/* Shows a recording from now on; both stay the caller's. */
void ncs_screen_set_replay(struct ncs_screen *screen, struct ncs_replay *replay,
			   const struct ncs_replay_search *search);

/* Draws its line: where it is, how fast it goes, the time on the wall, and a bar
 * on which what is abnormal is marked. */
void ncs_replay_draw(struct ncs_screen *screen, const struct ncs_rect *rect);

/* Does what a key means for a recording, or says that there is none. False: it
 * means what it means elsewhere. */
bool ncs_replay_act(struct ncs_screen *screen, enum ncs_action action,
		    uint64_t now_ns, unsigned *requests);

/* Goes to the time that was typed. Returns requests. */
unsigned ncs_replay_go_typed(struct ncs_screen *screen, uint64_t now_ns);

/* Goes to where the bar was clicked; false: that was not the bar. */
bool ncs_replay_click(struct ncs_screen *screen, int y, int x, uint64_t now_ns,
		      unsigned *requests);

#endif
