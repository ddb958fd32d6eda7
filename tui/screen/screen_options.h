/* SPDX-License-Identifier: MIT */
/* Options of the live view: taken from the command line and the configuration
 * file, changed by keys, and collected again to be written back.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_OPTIONS_H
#define NCS_TUI_SCREEN_SCREEN_OPTIONS_H

#include "tui/screen/screen_state.h"

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
