/* SPDX-License-Identifier: MIT */
/* The parts of a frame that tui/screen/screen_frame.c puts together: title, recording,
 * tabs, summary, the selected rank in detail, and graphs; and the current focus in words.
 * Must not change the state of the screen, except for click targets. */
#ifndef NCS_TUI_SCREEN_SCREEN_PARTS_H
#define NCS_TUI_SCREEN_SCREEN_PARTS_H

#include <time.h>

#include "tui/screen/screen_state.h"

/* Draws the title line. `wall` is the time that it shows. */
void ncs_draw_title(const struct ncs_screen *screen,
		    const struct ncs_rect *rect, const struct tm *wall);

/* Draws the recording's line: its position, speed and wall-clock time, and a
 * bar on which problems are marked. */
void ncs_draw_replay(struct ncs_screen *screen, const struct ncs_rect *rect);

/* Draws the tabs, and to their right the notes on focus, filter, window and so
 * on. If there is no title line, the notes include the state that the title
 * would show. */
void ncs_draw_tabs(struct ncs_screen *screen, const struct ncs_rect *rect,
		   bool has_title);

/* Prints the breadcrumbs: "Communicators > world > rank 5 > rank 6"; "" at the
 * top. */
void ncs_crumbs(const struct ncs_screen *screen, char *text, size_t size);

/* Whether the communicator or rank of a focus no longer exists. */
bool ncs_focus_is_gone(const struct ncs_screen *screen,
		       const struct ncs_focus *focus);

/* Return the number of lines of the summary with the whole verdict in some lines;
 * draw them into the lines of `rect`, the first ones first. */
int ncs_summary_lines(const struct ncs_screen *screen, int width);
void ncs_draw_summary(const struct ncs_screen *screen,
		      const struct ncs_rect *rect);

/* Returns how many of `height` free lines of `width` columns the detail of the
 * selected row takes; 0 if the view has none, or if nothing would be left to the
 * graphs. */
int ncs_detail_lines(const struct ncs_screen *screen, int height, int width);

/* Draws into these lines what the selected rank is: its place, what it has under
 * way, what its functions have done, and its channels, as far as there is
 * room. */
void ncs_draw_detail(const struct ncs_screen *screen,
		     const struct ncs_rect *rect);

/* Draws how fast the job was and what it waited for, one column for each look,
 * the latest at the right edge: side by side or one above the other, or the
 * speed alone where there is no room for both. */
void ncs_draw_graphs(const struct ncs_screen *screen,
		     const struct ncs_rect *rect);

/* Whether the speed of any look that fits on the screen is known. */
bool ncs_graph_shows_speed(const struct ncs_screen *screen);

#endif
