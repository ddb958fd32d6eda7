/* SPDX-License-Identifier: MIT */
/* Effects of keys and clicks: moves from view to view and in a recording, prompts,
 * options. Must not draw or read a clock.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_ACTIONS_H
#define NCS_TUI_SCREEN_SCREEN_ACTIONS_H

#include "tui/screen/screen_state.h"
#include "tui/table/table.h"

/* --- From view to view: between tabs, down from a row, and back up --------- */

/* Shows all rows of a view; of the timeline, those of the current focus, at the
 * row that is selected now. */
void ncs_screen_show_view(struct ncs_screen *screen, enum ncs_view view);

/* Shows the view that is `step` tabs to the right, wrapping around. */
void ncs_screen_step_view(struct ncs_screen *screen, unsigned step);

/* Changes between a row for each function and a row for each size class. */
void ncs_screen_toggle_sizes(struct ncs_screen *screen);

/* Goes down from the selected row. */
void ncs_screen_enter(struct ncs_screen *screen);

/* Goes back up. Returns false at the top. */
bool ncs_screen_go_up(struct ncs_screen *screen);

/* --- In a recording -------------------------------------------------------- */

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

/* --- Prompts in the last line, and the search that one of them begins ------ */

/* Opens a prompt with an empty text, or the prompt of the filter with the
 * current filter. */
void ncs_prompt_open(struct ncs_screen *screen, enum ncs_prompt prompt);

/* Handles a key while a prompt is open; closes the prompt if the key does not belong
 * to it. Returns requests. */
unsigned ncs_prompt_key(struct ncs_screen *screen, int code);

/* Searches for the last text again. */
void ncs_prompt_find_again(struct ncs_screen *screen,
			   enum ncs_grid_direction direction);

/* Asks whether the configuration file may be written, unless the user agreed
 * before. Returns requests. */
unsigned ncs_prompt_keep(struct ncs_screen *screen);

/* --- Options: from the command line and the configuration file, and back --- */

/* Applies options to the screen, and to the terminal's colours, symbols and
 * mouse. */
void ncs_screen_apply(struct ncs_screen *screen,
		      const struct ncs_options *options);

/* Sets screen->options to the options that are currently in force. */
void ncs_screen_collect(struct ncs_screen *screen);

/* Sets an option to its next or previous word. */
void ncs_screen_step_option(struct ncs_screen *screen, enum ncs_option option,
			    bool forward);

/* Shows a hidden column, or hides a shown one. */
void ncs_screen_toggle_column(struct ncs_screen *screen,
			      const struct ncs_column *column);

/* Sets a longer or shorter interval. Returns requests. */
unsigned ncs_screen_change_interval(struct ncs_screen *screen, bool longer);

#endif
