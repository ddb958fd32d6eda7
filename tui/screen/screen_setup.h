/* SPDX-License-Identifier: MIT */
/* The setup screen: a list of all settings that the user can change. */
#ifndef NCS_TUI_SCREEN_SCREEN_SETUP_H
#define NCS_TUI_SCREEN_SCREEN_SETUP_H

#include "tui/screen/screen_state.h"

/* A line of the list: an option, and the column for NCS_OPTION_COLUMNS. */
struct ncs_setup_entry {
	enum ncs_option option;
	const struct ncs_column *column;
};

/* Return the number of entries for a view, and the entry at an index: the
 * options of the live view, NCS_OPTION_SET, and each column of the view. */
size_t ncs_setup_count(enum ncs_view view);
struct ncs_setup_entry ncs_setup_entry(enum ncs_view view, size_t place);

/* Draws the list, scrolled to the selected entry, and the help for this
 * entry. */
void ncs_setup_draw(struct ncs_screen *screen, const struct ncs_rect *rect);

/* Handle a key, given as a code and as an action, and a click on a line of the
 * screen. Return requests. */
unsigned ncs_setup_key(struct ncs_screen *screen, int code,
		       enum ncs_action action);
unsigned ncs_setup_click(struct ncs_screen *screen, int y);

#endif
