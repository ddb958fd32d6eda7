/* SPDX-License-Identifier: MIT */
/* Includes curses, with wide characters and without its macros for names such
 * as move and clear. No other file may include curses directly.
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
