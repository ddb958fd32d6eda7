/* SPDX-License-Identifier: MIT */
/* The terminal: takes it over and gives it back, reads keys and the mouse, and
 * draws in colours and symbols. The only user of curses.
 *
 * There is one terminal and thus one state; all functions must be called from
 * the main thread. Between start and stop, the screen must be written only
 * through these functions, so that no text from a segment can reach the
 * terminal as a control sequence.
 */
#ifndef NCS_TUI_TERM_TERM_H
#define NCS_TUI_TERM_TERM_H

#include <stdbool.h>
#include <stdio.h>

/* Two of the 256 colours: an orange and a blue that users who cannot
 * distinguish red from green can distinguish, readable on black and on white.
 * On terminals with fewer colours they become yellow and cyan. */
#define NCS_ORANGE 166
#define NCS_BLUE 32

/* Roles: the meanings of text on the screen, to which the scheme gives colours.
 * Colour only repeats what a word or a mark says.
 *
 * X(ID, color, colorblind, contrast, mono), where each style is (foreground,
 * background, attributes); -1 is the terminal's default colour. Contrast suits
 * light and dark terminals: its only colour on the default background is
 * magenta. */
#define NCS_ROLES(X) \
	X(TEXT, (-1, -1, 0), (-1, -1, 0), (-1, -1, 0), (-1, -1, 0)) \
	X(TITLE, (-1, -1, A_REVERSE), (-1, -1, A_REVERSE), \
	  (-1, -1, A_REVERSE), (-1, -1, A_REVERSE)) \
	X(STATE, (-1, -1, A_REVERSE | A_BOLD), (-1, -1, A_REVERSE | A_BOLD), \
	  (-1, -1, A_REVERSE | A_BOLD), (-1, -1, A_REVERSE | A_BOLD)) \
	X(STATE_NOTE, (0, 3, 0), (0, NCS_BLUE, 0), (0, 3, 0), \
	  (-1, -1, A_BOLD)) \
	X(STATE_BAD, (7, 1, A_BOLD), (0, NCS_ORANGE, 0), (7, 5, A_BOLD), \
	  (-1, -1, A_BOLD)) \
	X(TAB, (-1, -1, 0), (-1, -1, 0), (-1, -1, 0), (-1, -1, 0)) \
	X(TAB_ON, (-1, -1, A_BOLD), (-1, -1, A_BOLD), (-1, -1, A_BOLD), \
	  (-1, -1, A_BOLD)) \
	X(HEADER, (0, 2, 0), (0, NCS_BLUE, 0), (-1, -1, A_UNDERLINE), \
	  (-1, -1, A_UNDERLINE)) \
	X(HEADER_SORT, (-1, -1, A_BOLD), (-1, -1, A_BOLD), (-1, -1, A_BOLD), \
	  (-1, -1, A_BOLD)) \
	X(SELECTED, (-1, -1, A_REVERSE), (-1, -1, A_REVERSE), \
	  (-1, -1, A_REVERSE), (-1, -1, A_REVERSE)) \
	X(BAD, (1, -1, A_BOLD), (NCS_ORANGE, -1, A_BOLD), (5, -1, A_BOLD), \
	  (-1, -1, A_BOLD)) \
	X(NOTE, (3, -1, 0), (NCS_BLUE, -1, A_BOLD), (-1, -1, A_BOLD), \
	  (-1, -1, 0)) \
	X(QUIET, (-1, -1, A_DIM), (-1, -1, A_DIM), (-1, -1, 0), \
	  (-1, -1, A_DIM)) \
	X(LABEL, (6, -1, 0), (NCS_BLUE, -1, 0), (-1, -1, 0), (-1, -1, 0)) \
	X(STRONG, (-1, -1, A_BOLD), (-1, -1, A_BOLD), (-1, -1, A_BOLD), \
	  (-1, -1, A_BOLD)) \
	X(WAITS_GPU, (6, -1, 0), (NCS_BLUE, -1, 0), (-1, -1, 0), \
	  (-1, -1, 0)) \
	X(WAITS_GPU_MORE, (6, -1, A_BOLD), (NCS_BLUE, -1, A_BOLD), \
	  (-1, -1, A_BOLD), (-1, -1, A_BOLD)) \
	X(WAITS_PEER, (3, -1, 0), (NCS_ORANGE, -1, 0), (5, -1, 0), \
	  (-1, -1, 0)) \
	X(WAITS_PEER_MORE, (3, -1, A_BOLD), (NCS_ORANGE, -1, A_BOLD), \
	  (5, -1, A_BOLD), (-1, -1, A_BOLD)) \
	X(WAITS_NETWORK, (5, -1, 0), (-1, -1, 0), (-1, -1, 0), (-1, -1, 0)) \
	X(WAITS_NETWORK_MORE, (5, -1, A_BOLD), (-1, -1, A_BOLD), \
	  (-1, -1, A_BOLD), (-1, -1, A_BOLD)) \
	X(BUSY, (2, -1, 0), (-1, -1, 0), (-1, -1, 0), (-1, -1, 0)) \
	X(BUSY_MORE, (2, -1, A_BOLD), (-1, -1, A_BOLD), (-1, -1, A_BOLD), \
	  (-1, -1, A_BOLD)) \
	X(HIGHLIGHT, (-1, -1, A_REVERSE | A_BOLD), (-1, -1, A_REVERSE | A_BOLD), \
	  (-1, -1, A_REVERSE | A_BOLD), (-1, -1, A_REVERSE | A_BOLD)) \
	X(BAR_KEY, (-1, -1, 0), (-1, -1, 0), (-1, -1, 0), (-1, -1, 0)) \
	X(BAR_LABEL, (-1, -1, A_REVERSE), (-1, -1, A_REVERSE), \
	  (-1, -1, A_REVERSE), (-1, -1, A_REVERSE)) \
	X(PROMPT, (-1, -1, A_BOLD), (-1, -1, A_BOLD), (-1, -1, A_BOLD), \
	  (-1, -1, A_BOLD))

enum ncs_role {
#define X(ID, color, colorblind, contrast, mono) NCS_ROLE_##ID,
	NCS_ROLES(X)
#undef X
	NCS_ROLE_COUNT
};

/* X(ID, lines and blocks, bars of braille dots, ASCII). A symbol is equally
 * wide in all three sets. */
#define NCS_SYMBOLS(X)                   \
	X(SORT_DOWN, "▼", "▼", "v")      \
	X(SORT_UP, "▲", "▲", "^")        \
	X(CUT, "…", "…", "~")            \
	X(BELOW, "›", "›", ">")          \
	X(LEADS_TO, "→", "→", ">")       \
	X(COMES_FROM, "←", "←", "<")     \
	X(HORIZONTAL, "─", "─", "-")     \
	X(VERTICAL, "│", "│", "|")       \
	X(TOP_LEFT, "┌", "┌", "+")       \
	X(TOP_RIGHT, "┐", "┐", "+")      \
	X(BOTTOM_LEFT, "└", "└", "+")    \
	X(BOTTOM_RIGHT, "┘", "┘", "+")   \
	X(FULL, "█", "⣿", "#")           \
	X(EMPTY, "·", "⣀", ".")

enum ncs_symbol {
#define X(ID, block, braille, ascii) NCS_SYMBOL_##ID,
	NCS_SYMBOLS(X)
#undef X
	NCS_SYMBOL_COUNT
};

/* Values of the options --symbols and --scheme. */
enum ncs_symbol_set {
	NCS_SYMBOLS_BLOCK,
	NCS_SYMBOLS_BRAILLE,
	NCS_SYMBOLS_ASCII,
	NCS_SYMBOL_SET_COUNT
};

enum ncs_scheme {
	NCS_SCHEME_NORMAL,
	NCS_SCHEME_COLORBLIND,
	NCS_SCHEME_CONTRAST,
	NCS_SCHEME_MONO,
	NCS_SCHEME_COUNT
};

struct ncs_term_config {
	bool color; /* use colours if the terminal has any */
	/* Type, output and height of the terminal. NULL or 0 stands for the
	 * process's own terminal; tests without a terminal set these. */
	const char *type;
	FILE *output;
	FILE *input;
	int height;
	int width;
};

/* Takes the terminal over. Returns 0; -EBUSY if it is already taken over;
 * -ENOMEM; or -ENOTSUP, with the terminal untouched, if it cannot be used
 * because its type is unknown or cannot place the cursor, or because it is not
 * a terminal. The caller must have called setlocale(LC_CTYPE). */
int ncs_term_start(const struct ncs_term_config *config);

/* Restores the terminal and gives it back. Also called by exit(); a fatal
 * signal has the same effect. */
void ncs_term_stop(void);

/* Gives the terminal back, stops this process as Ctrl-Z does, and takes the
 * terminal over again when the process continues. SIGTSTP must be blocked. */
void ncs_term_suspend(void);

/* Make the next flush paint the whole screen, and read the terminal's size
 * again. ncs_term_resume() is for a process that was stopped and continued,
 * ncs_term_resize() for a terminal whose size has changed. */
void ncs_term_resume(void);
void ncs_term_resize(void);
void ncs_term_repaint(void);

/* Return the size in lines and in columns; 0 if there is no terminal. */
int ncs_term_height(void);
int ncs_term_width(void);

/* Set the scheme and the symbols that the user wants; the defaults are
 * the first values of each enum. A terminal without colours shows every scheme
 * as mono; in a locale other than UTF-8, every set of symbols is shown as
 * ASCII. */
void ncs_term_set_scheme(enum ncs_scheme scheme);
void ncs_term_set_symbols(enum ncs_symbol_set symbols);

/* Whether the terminal can show colours, and symbols other than ASCII. */
bool ncs_term_has_colors(void);
bool ncs_term_has_symbols(void);

/* Return the set of symbols that is actually shown, and whether it is ASCII. */
enum ncs_symbol_set ncs_term_shown_symbols(void);
bool ncs_term_shows_ascii(void);

/* Returns the next key, as curses encodes it; 0 for an unknown key; -1 if no
 * key was pressed. Does not wait for a key. */
int ncs_term_key(void);

/* Turn mouse reports on or off, if the terminal has a mouse; return whether
 * they are on. They are off at first, because they disable the terminal's own
 * use of the mouse, such as copying text. */
void ncs_term_set_mouse(bool on);
bool ncs_term_has_mouse(void);

enum ncs_mouse_kind {
	NCS_MOUSE_OTHER, /* to be ignored */
	NCS_MOUSE_CLICK,
	NCS_MOUSE_WHEEL_UP,
	NCS_MOUSE_WHEEL_DOWN,
};

struct ncs_mouse {
	enum ncs_mouse_kind kind;
	int y;
	int x;
};

/* Gets the mouse event that a key's code stands for. Must be called before the
 * next key is read. Returns false if the code is a key. */
bool ncs_term_mouse(int code, struct ncs_mouse *mouse);

/* --- Drawing -------------------------------------------------------------- */

/* Begin and end a frame: erase, draw, flush. Only the differences from the
 * previous frame are written to the terminal. */
void ncs_term_erase(void);
void ncs_term_flush(void);

/* Draws UTF-8 text in at most `width` columns; a longer text is cut and ends
 * with NCS_SYMBOL_CUT. Characters that cannot be shown are replaced, control
 * characters by '?'. Any part may lie outside the screen. Returns the number of
 * columns used. */
int ncs_term_put(int y, int x, int width, enum ncs_role role,
		 const char *text);

/* Draws `width` blanks in a role. */
void ncs_term_fill(int y, int x, int width, enum ncs_role role);

/* Returns the number of columns that a text takes on the screen. */
int ncs_term_text_width(const char *text);

/* Sets where the cursor is after the flush, which screen readers follow, and
 * whether it is visible. */
void ncs_term_cursor(int y, int x, bool visible);

/* Returns a symbol of the set that is shown, as UTF-8. */
const char *ncs_term_symbol(enum ncs_symbol symbol);

/* Writes the contents of the screen to a file, as lines of UTF-8 without
 * trailing blanks. Returns false if the file could not be written. */
bool ncs_term_save(FILE *file);

/* Draws a symbol `count` times. */
void ncs_term_repeat(int y, int x, int count, enum ncs_role role,
		     enum ncs_symbol symbol);

#endif
