/* SPDX-License-Identifier: MIT */
/* The terminal: its start and its end, what is drawn on it, and in which
 * colours and symbols. The only owner of curses.
 *
 * There is one terminal, so there is one state; all functions are for the main
 * thread. Between start and stop everything that is written to the screen goes
 * through here, so that nothing from a segment can reach the terminal as a
 * control sequence.
 */
#ifndef NCS_TUI_TERM_TERM_H
#define NCS_TUI_TERM_TERM_H

#include <stdbool.h>
#include <stdio.h>

/* Of the 256 colours: an orange and a blue that are told apart by who does not
 * see red and green apart, and can be read on black and on white. Terminals
 * with fewer colours get yellow and cyan. */
#define NCS_ORANGE 166
#define NCS_BLUE 32

/* What a piece of the screen means; which colour that is, is up to the scheme.
 * Colour only repeats what a word or a mark says.
 *
 * X(ID, color, colorblind, contrast, mono), where each look is
 * (foreground, background, attributes); -1 is the terminal's own. Contrast is
 * for light and dark terminals: of text on the terminal's background it has
 * only magenta. */
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
	X(HEADER, (-1, -1, A_REVERSE), (-1, -1, A_REVERSE), \
	  (-1, -1, A_REVERSE), (-1, -1, A_REVERSE)) \
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
	X(LIT, (-1, -1, A_REVERSE | A_BOLD), (-1, -1, A_REVERSE | A_BOLD), \
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

/* X(ID, in lines and blocks, with bars of braille dots, in ASCII); equally wide
 * in all. */
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

/* As --symbols and --scheme name them. */
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
	bool color; /* if the terminal has any */
	/* NULL and 0: those of the process. For tests without a terminal. */
	const char *type;
	FILE *output;
	FILE *input;
	int height;
	int width;
};

/* Takes the terminal over. 0, or -ENOTSUP if it cannot be used: its type is
 * unknown or cannot place the cursor, or this is no terminal; it is then
 * untouched. setlocale(LC_CTYPE) must have been called. */
int ncs_term_start(const struct ncs_term_config *config);

/* Gives it back as it was. Also called at exit(), and what it does is done
 * without curses when the process dies of a signal. */
void ncs_term_stop(void);

/* Gives it back, stops this process as Ctrl-Z does, and takes it over again
 * when it goes on. SIGTSTP is blocked before and after. */
void ncs_term_suspend(void);

/* After the process went on, or the terminal has a new size: looks at the
 * size; the next flush paints everything. */
void ncs_term_resume(void);
void ncs_term_resize(void);
void ncs_term_repaint(void);

int ncs_term_height(void);
int ncs_term_width(void);

/* What is wished for; until then it is the first of each. Where the terminal has
 * no colours all schemes are mono, where the locale is not UTF-8 all symbols
 * are ASCII. */
void ncs_term_set_scheme(enum ncs_scheme scheme);
void ncs_term_set_symbols(enum ncs_symbol_set symbols);
enum ncs_scheme ncs_term_scheme(void);
enum ncs_symbol_set ncs_term_symbols(void);
bool ncs_term_has_colors(void);
bool ncs_term_has_symbols(void);
/* Which symbols are shown now. */
enum ncs_symbol_set ncs_term_shown_symbols(void);
/* Whether nothing but ASCII is shown. */
bool ncs_term_shows_ascii(void);

/* The key as curses has it, 0 if it is an unknown one, -1 if there is none.
 * Never waits. */
int ncs_term_key(void);

/* Whether the mouse is heeded, where the terminal has one; not until then. The
 * terminal's own use of it, such as copying text, ends meanwhile. */
void ncs_term_set_mouse(bool on);
bool ncs_term_has_mouse(void);

enum ncs_mouse_kind {
	NCS_MOUSE_OTHER, /* nothing that matters */
	NCS_MOUSE_CLICK,
	NCS_MOUSE_WHEEL_UP,
	NCS_MOUSE_WHEEL_DOWN,
};

struct ncs_mouse {
	enum ncs_mouse_kind kind;
	int y;
	int x;
};

/* What the mouse did, if that is what a key's code stands for: to be asked for
 * before the next key. False: it is a key. */
bool ncs_term_mouse(int code, struct ncs_mouse *mouse);

/* --- Drawing -------------------------------------------------------------- */

/* A frame: erase, put things, flush. Only what differs from the frame before
 * is written. */
void ncs_term_erase(void);
void ncs_term_flush(void);

/* Puts UTF-8 text at a place, in at most `width` columns; what is too long
 * ends with the mark for a cut. What cannot be shown is replaced, control
 * characters by '?'. Anything may lie outside the screen. Returns the columns
 * used. */
int ncs_term_put(int y, int x, int width, enum ncs_role role,
		 const char *text);

/* Blanks in a role. */
void ncs_term_fill(int y, int x, int width, enum ncs_role role);

/* The columns that text takes when it is put. */
int ncs_term_text_width(const char *text);

/* Where the cursor is left, which readers of the screen follow; it is to be
 * seen only while text is typed in. */
void ncs_term_cursor(int y, int x, bool visible);

/* UTF-8, in the set that is shown now. */
const char *ncs_term_symbol(enum ncs_symbol symbol);

/* Writes what the screen shows as lines of UTF-8, without blanks at their
 * ends. False: the file could not be written. */
bool ncs_term_save(FILE *file);

/* Puts a symbol `count` times. */
void ncs_term_repeat(int y, int x, int count, enum ncs_role role,
		     enum ncs_symbol symbol);

#endif
