/* SPDX-License-Identifier: MIT */
/* The live view without its terminal's events: samples, keys and clicks change
 * its state (screen_state.h); screen_frame.c draws it.
 *
 * Keys, samples and the time are arguments, so that a test can show any time of
 * any job; tui/screen/live.c passes the real ones. Must not read a clock or
 * write to the terminal. One thread.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_H
#define NCS_TUI_SCREEN_SCREEN_H

#include <time.h>

#include "tui/screen/screen_state.h"
#include "tui/term/term.h"

/* Above this number of ranks, records are read for one rank only. */
#define NCS_RANKS_WITH_RECORDS_MAX 64

/* Initializes the state with default options; ncs_screen_release() frees its
 * memory. */
void ncs_screen_init(struct ncs_screen *screen, enum ncs_view view,
		     uint64_t interval_ns, const char *host,
		     const char *directory);
void ncs_screen_release(struct ncs_screen *screen);

/* Reads the job's current state from a source. Returns 0 or -errno; the error
 * is also shown. While the screen is paused, must be called only when a key
 * requests it. */
int ncs_screen_sample(struct ncs_screen *screen, struct ncs_source *source,
		      uint64_t now_ns);

/* Fills the model with the time before the position of the recording that is
 * shown; the sample at that position is left to ncs_screen_sample(). Returns 0
 * or -errno. */
int ncs_screen_fill(struct ncs_screen *screen, struct ncs_source *source);

/* Handle a key, as curses encodes it, and an event of the mouse. Return the
 * requests, bits of enum ncs_request. */
unsigned ncs_screen_key(struct ncs_screen *screen, int code, uint64_t now_ns);
unsigned ncs_screen_mouse(struct ncs_screen *screen,
			  const struct ncs_mouse *mouse, uint64_t now_ns);

/* Draws a frame; the caller flushes it. `wall` is the time in the title. */
void ncs_screen_draw(struct ncs_screen *screen, uint64_t now_ns,
		     const struct tm *wall);

#endif
