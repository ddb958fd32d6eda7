/* SPDX-License-Identifier: MIT */
/* The one place that includes curses: wide characters, and no macros that
 * take names like move and clear away from everybody else.
 */
#ifndef NCS_TUI_TERM_CURSES_H
#define NCS_TUI_TERM_CURSES_H

#ifndef NCURSES_WIDECHAR
#define NCURSES_WIDECHAR 1
#endif
#ifndef NCURSES_NOMACROS
#define NCURSES_NOMACROS 1
#endif
#include <curses.h>

#endif
