/* SPDX-License-Identifier: MIT */
/* Includes curses, with wide characters and without the macros that would take
 * names like move and clear. No other file may include it directly.
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
