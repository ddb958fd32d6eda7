/* SPDX-License-Identifier: MIT */
/* Pages in the place of the view, or of a part of its table: the help, the setup,
 * the menu of orders. Each draws itself and handles its keys.
 */
#ifndef NCS_TUI_SCREEN_SCREEN_PAGES_H
#define NCS_TUI_SCREEN_SCREEN_PAGES_H

#include "tui/screen/screen_state.h"
#include "tui/table/table.h"

/* --- The help: a page for the view that is shown, then all the rest -------- */

/* Opens the help; or shows a text in its place, in lines, which is freed later. */
void ncs_help_open(struct ncs_screen *screen, char *stacks);

/* Returns the number of lines of the help on a screen of `width` columns: first
 * come whole pages of `help_page` lines on the view that is shown, then whole
 * pages of all the rest. */
int ncs_help_lines(const struct ncs_screen *screen, int width);

/* Prints which page is shown: "Ranks 1/2" or "all the rest 3/12". `help_page`
 * must be set. */
void ncs_help_place(const struct ncs_screen *screen, int width, char *text,
		    size_t size);

/* Draws the lines of the help from line `help_top` on. */
void ncs_help_draw(const struct ncs_screen *screen,
		   const struct ncs_rect *rect);

/* Scrolls the help to the next or the previous place that has the text that is
 * searched, or to the first from `help_found` on; wraps around. Returns false, and
 * stays, if there is none. */
bool ncs_help_find(struct ncs_screen *screen,
		   enum ncs_grid_direction direction);

/* Scrolls the help, or leaves it. Returns false if a text was not found. */
bool ncs_help_act(struct ncs_screen *screen, enum ncs_action action);

/* --- The setup: a list of all settings that the user can change ------------ */

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

/* --- The menu of orders: the columns that a table may be sorted by --------- */

/* Opens the menu on the order that is in force. */
void ncs_sort_open(struct ncs_screen *screen);

/* Handles a key while the menu is open: moves in it; Enter sorts and leaves;
 * Esc, q and the keys that open it leave. */
void ncs_sort_act(struct ncs_screen *screen, enum ncs_action action);

/* Draws the menu over the left part of the table. */
void ncs_sort_draw(struct ncs_screen *screen, const struct ncs_rect *header,
		   const struct ncs_rect *rows);

#endif
