/* SPDX-License-Identifier: MIT */
/* The terminal; see term.h. The only file that calls curses, apart from tests.
 *
 * Must not know what is drawn, and must never leave the terminal changed:
 * however the process ends, the terminal's modes and screen are restored
 * (terminal_rescue.h). One thread; the state below is that of the process's
 * only terminal.
 */
#include "tui/term/term.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <term.h>

#include "shm/characters.h"
#include "tui/term/curses.h"
#include "tui/term/terminal_rescue.h"

#define ESCAPE 27
/* How long to wait for the rest of a mouse report, in ms. */
#define MOUSE_WAIT_MS 25

struct style {
	short foreground;
	short background;
	attr_t attributes;
};

#define STYLE(...) STYLE_ __VA_ARGS__
#define STYLE_(foreground, background, attributes) \
	{ \
		foreground, background, attributes \
	}

static const struct style styles[NCS_ROLE_COUNT][NCS_SCHEME_COUNT] = {
#define X(ID, color, colorblind, contrast, mono) \
	{ STYLE(color), STYLE(colorblind), STYLE(contrast), STYLE(mono) },
	NCS_ROLES(X)
#undef X
};

static const char *const symbols[NCS_SYMBOL_COUNT][NCS_SYMBOL_SET_COUNT] = {
#define X(ID, block, braille, ascii) { block, braille, ascii },
	NCS_SYMBOLS(X)
#undef X
};

static struct {
	SCREEN *screen; /* NULL while not started */
	int file;       /* the terminal */
	/* Keys are read from this window, without touching the screen. */
	WINDOW *keys;
	bool has_colors;
	enum ncs_scheme scheme;
	bool has_mouse; /* the terminal reports the mouse */
	struct ncs_mouse mouse;
	bool has_symbols; /* the locale has more than ASCII */
	enum ncs_symbol_set symbols;
	int cursor_y;
	int cursor_x;
	bool shows_cursor;
} term;

/* Ask the terminal to report presses and releases, as decimal numbers if it
 * can. */
static const char mouse_on[] = "\033[?1000h\033[?1006h";
static const char mouse_off[] = "\033[?1006l\033[?1000l";

/* Signals for which curses installs handlers if there are none. */
static const int curses_signals[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
#define CURSES_COUNT (sizeof(curses_signals) / sizeof(*curses_signals))

static void rescue_add(const char *capability)
{
	char *text = tigetstr(capability);

	if (text && text != (char *)-1)
		tputs(text, 1, ncs_rescue_add_byte);
}

/* Prepares the escape sequences that restore the terminal. Must be called after
 * newterm(), which learns the terminal's type, and whenever there is more to
 * restore. */
static void prepare_rescue(void)
{
	static const char *const capabilities[] = { "sgr0", "op", "rmkx",
						    "cnorm", "rmcup" };

	ncs_rescue_clear();
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(*capabilities);
	     i++)
		rescue_add(capabilities[i]);
	if (term.has_mouse)
		ncs_rescue_add_text(mouse_off);
	ncs_rescue_arm(true);
}

/* --- Start and end -------------------------------------------------------- */

static const struct style *style_of(enum ncs_role role)
{
	return &styles[role][term.has_colors ? term.scheme : NCS_SCHEME_MONO];
}

/* Returns the nearest colour that the terminal has. */
static short nearest_color(short color)
{
	if (color < COLORS)
		return color;
	return color == NCS_ORANGE ? COLOR_YELLOW : COLOR_CYAN;
}

static void apply_scheme(void)
{
	for (short role = 0; term.has_colors && role < NCS_ROLE_COUNT; role++) {
		const struct style *style = style_of((enum ncs_role)role);

		init_pair((short)(role + 1), nearest_color(style->foreground),
			  nearest_color(style->background));
	}
}

static void start_colors(bool wanted)
{
	term.has_colors = wanted && has_colors() && start_color() == OK &&
			  COLOR_PAIRS > NCS_ROLE_COUNT;
	if (term.has_colors && use_default_colors() != OK)
		assume_default_colors(COLOR_WHITE, COLOR_BLACK);
	apply_scheme();
}

/* Whether curses can work with a terminal. Does not change the terminal. */
static bool is_usable(const char *type, int file)
{
	int error;
	bool usable;

	if (!type || !type[0] || setupterm(type, file, &error) != OK)
		return false;
	usable = tigetstr("cup") && tigetstr("cup") != (char *)-1;
	del_curterm(cur_term);
	return usable;
}

static SCREEN *new_screen(const struct ncs_term_config *config,
			  const char *type, FILE *output, FILE *input)
{
	struct sigaction former[CURSES_COUNT];
	SCREEN *screen;

	for (size_t i = 0; i < CURSES_COUNT; i++)
		sigaction(curses_signals[i], NULL, &former[i]);
	/* Must precede newterm(), which reads the environment. */
	if (config->height > 0)
		use_env(FALSE);
	screen = newterm(type, output, input);
	for (size_t i = 0; i < CURSES_COUNT; i++)
		sigaction(curses_signals[i], &former[i], NULL);
	return screen;
}

/* Sets the modes. Errors are ignored because the view works without these
 * modes; curs_set(), for example, fails on a vt100. */
static void set_modes(void)
{
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	if (!getenv("ESCDELAY"))
		set_escdelay(25);
	keypad(stdscr, TRUE);
	leaveok(stdscr, FALSE);
	scrollok(stdscr, FALSE);
	curs_set(0);
	/* Hide the mouse from curses: at a mouse event that was not asked for,
	 * curses would block until the next key. */
	define_key(NULL, KEY_MOUSE);
}

/* Turns the terminal's mouse reports on or off. Must be called between
 * frames. */
static void report_mouse(bool on)
{
	if (term.has_mouse)
		ncs_rescue_write(on ? mouse_on : mouse_off);
}

int ncs_term_start(const struct ncs_term_config *config)
{
	FILE *output = config->output ? config->output : stdout;
	FILE *input = config->input ? config->input : stdin;
	const char *type = config->type ? config->type : getenv("TERM");
	static bool at_exit;

	if (term.screen)
		return -EBUSY;
	if (!config->output &&
	    (!isatty(fileno(output)) || !isatty(fileno(input))))
		return -ENOTSUP;
	if (!is_usable(type, fileno(output)))
		return -ENOTSUP;
	ncs_rescue_save_modes(fileno(output));
	term.screen = new_screen(config, type, output, input);
	if (!term.screen)
		return -ENOTSUP;
	term.file = fileno(output);
	term.keys = newpad(1, 1);
	if (!term.keys) {
		ncs_term_stop();
		return -ENOMEM;
	}
	prepare_rescue();
	ncs_rescue_install_handlers();
	if (!at_exit)
		at_exit = atexit(ncs_term_stop) == 0;
	set_modes();
	keypad(term.keys, TRUE);
	nodelay(term.keys, TRUE);
	if (config->height > 0 && config->width > 0)
		resizeterm(config->height, config->width);
	start_colors(config->color);
	term.has_symbols = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	/* Curses prefers the variables LINES and COLUMNS to the terminal's
	 * size, but they may be those of another terminal, and would never
	 * change. */
	if (!config->output) {
		ncs_term_resize();
		ncs_rescue_hold_stderr();
	}
	return 0;
}

void ncs_term_stop(void)
{
	if (!term.screen)
		return;
	ncs_rescue_resume_output();
	report_mouse(false);
	endwin();
	ncs_rescue_arm(false);
	ncs_rescue_remove_handlers();
	if (term.keys)
		delwin(term.keys);
	delscreen(term.screen);
	memset(&term, 0, sizeof(term));
	ncs_rescue_release_stderr();
}

void ncs_term_suspend(void)
{
	struct sigaction former, action = { 0 };
	sigset_t stop;

	report_mouse(false);
	endwin();
	ncs_rescue_arm(false);
	action.sa_handler = SIG_DFL;
	sigaction(SIGTSTP, &action, &former);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	/* The process stops here. */
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	sigaction(SIGTSTP, &former, NULL);
	ncs_rescue_arm(true);
	ncs_term_resume();
}

void ncs_term_resume(void)
{
	/* A shell may have changed the modes in the meantime: end and begin
	 * again, regardless of what curses assumes. */
	endwin();
	report_mouse(true);
	ncs_term_resize();
}

void ncs_term_resize(void)
{
	struct winsize size;

	if (ioctl(term.file, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
	    size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
	ncs_term_repaint();
}

void ncs_term_repaint(void)
{
	clearok(stdscr, TRUE);
}

int ncs_term_height(void)
{
	return term.screen ? getmaxy(stdscr) : 0;
}

int ncs_term_width(void)
{
	return term.screen ? getmaxx(stdscr) : 0;
}

void ncs_term_set_scheme(enum ncs_scheme scheme)
{
	term.scheme = scheme;
	apply_scheme();
}

void ncs_term_set_symbols(enum ncs_symbol_set set)
{
	term.symbols = set;
}

bool ncs_term_has_colors(void)
{
	return term.has_colors;
}

bool ncs_term_has_symbols(void)
{
	return term.has_symbols;
}

enum ncs_symbol_set ncs_term_shown_symbols(void)
{
	return term.has_symbols ? term.symbols : NCS_SYMBOLS_ASCII;
}

bool ncs_term_shows_ascii(void)
{
	return ncs_term_shown_symbols() == NCS_SYMBOLS_ASCII;
}

static int next_code(void)
{
	int code;

	/* KEY_RESIZE only reports a resize that was already handled. */
	do
		code = wgetch(term.keys);
	while (code == KEY_RESIZE);
	return code == ERR ? -1 : code;
}

/* --- The mouse ------------------------------------------------------------ */

void ncs_term_set_mouse(bool on)
{
	char *knows = term.screen ? tigetstr("kmous") : NULL;

	if (on == term.has_mouse || !knows || knows == (char *)-1)
		return;
	term.has_mouse = true;
	report_mouse(on);
	term.has_mouse = on;
	prepare_rescue();
}

bool ncs_term_has_mouse(void)
{
	return term.has_mouse;
}

bool ncs_term_mouse(int code, struct ncs_mouse *mouse)
{
	*mouse = term.mouse;
	return code == KEY_MOUSE;
}

static int take_mouse(int button, int x, int y)
{
	button &= ~0x1c; /* Shift, Alt and Ctrl */
	term.mouse = (struct ncs_mouse){
		.kind = button == 0  ? NCS_MOUSE_CLICK :
			button == 64 ? NCS_MOUSE_WHEEL_UP :
			button == 65 ? NCS_MOUSE_WHEEL_DOWN :
				       NCS_MOUSE_OTHER,
		.x = x - 1,
		.y = y - 1,
	};
	return KEY_MOUSE;
}

/* Skips the rest of an escape sequence, from the code that was last read to the
 * final one. */
static int skip_sequence(int code)
{
	while (code >= 0 && (code < '@' || code > '~'))
		code = next_code();
	return 0;
}

/* Reads a mouse report such as "0;12;5M", which is a press; "m" at the end
 * means a release. Returns KEY_MOUSE, or 0 if the sequence is something
 * else. */
static int read_mouse_numbers(void)
{
	int numbers[3] = { 0 }, code;
	size_t count = 0;

	while ((code = next_code()) >= 0) {
		if (code >= '0' && code <= '9' && numbers[count] < 10000)
			numbers[count] = numbers[count] * 10 + (code - '0');
		else if (code == ';' && count < 2)
			count++;
		else
			break;
	}
	if (count == 2 && code == 'M')
		return take_mouse(numbers[0], numbers[1], numbers[2]);
	if (count == 2 && code == 'm')
		return take_mouse(-1, 0, 0);
	return skip_sequence(code);
}

/* Reads a mouse report of three bytes, each 32 above its value; button 3 means
 * a release. */
static int read_mouse_bytes(void)
{
	int bytes[3];

	for (size_t i = 0; i < 3; i++) {
		bytes[i] = next_code();
		if (bytes[i] < ' ')
			return 0;
	}
	return take_mouse(bytes[0] - ' ', bytes[1] - ' ', bytes[2] - ' ');
}

/* Reads a mouse report after its introducer. The rest of the report may not
 * have arrived yet. */
static int read_mouse(int introducer)
{
	int code;

	wtimeout(term.keys, MOUSE_WAIT_MS);
	code = introducer == '<' ? read_mouse_numbers() : read_mouse_bytes();
	nodelay(term.keys, TRUE);
	return term.has_mouse ? code : 0;
}

/* Reads an escape sequence that is not in the terminal's description: a mouse
 * report, or an unknown key. Its characters must not be taken for keys. */
static int unknown_sequence(int introducer)
{
	int code = next_code();

	if (introducer == '[' && (code == '<' || code == 'M'))
		return read_mouse(code);
	return introducer == '[' ? skip_sequence(code) : 0;
}

int ncs_term_key(void)
{
	int code = next_code(), next;

	if (code != ESCAPE)
		return code;
	next = next_code();
	if (next == '[' || next == 'O')
		return unknown_sequence(next);
	if (next >= 0)
		ungetch(next);
	return ESCAPE;
}

/* --- Text ----------------------------------------------------------------- */

#define SHOWN_MAX 1024

/* Text as the terminal shows it: characters, and the cells that each takes, without
 * control sequences or a character that joins its neighbour or changes the direction
 * of writing. */
struct shown_text {
	wchar_t text[SHOWN_MAX];
	signed char cells[SHOWN_MAX];
	size_t length;
	int width; /* number of cells of the whole text */
};

#define REPLACEMENT 0xfffd

/* Decodes one character and moves *text behind it. Returns REPLACEMENT for a
 * byte that is not valid UTF-8. */
static uint32_t next_character(const char **text)
{
	uint32_t character = REPLACEMENT;
	size_t length = ncs_utf8_decode(*text, &character);

	*text += length > 0 ? length : 1;
	return character;
}

/* Returns an ASCII replacement for each character that the program's own texts
 * use, and "?" for any other. */
static const char *ascii_for(uint32_t code)
{
	static const struct {
		uint32_t code;
		const char *ascii;
	} table[] = {
		{ 0x2026, "..." }, { 0x00d7, "x" },  { 0x00b5, "u" },
		{ 0x2013, "-" },   { 0x2192, "->" }, { 0x2190, "<-" },
		{ 0x2264, "<=" },  { 0x2265, ">=" }, { 0x00b7, "." },
		{ 0x2019, "'" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].code == code)
			return table[i].ascii;
	return "?";
}

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static void show_one(struct shown_text *shown, wchar_t character, int cells)
{
	if (shown->length == SHOWN_MAX)
		return;
	shown->text[shown->length] = character;
	shown->cells[shown->length] = (signed char)cells;
	shown->length++;
	shown->width += cells;
}

/* Converts UTF-8. Invalid bytes and characters that cannot be shown become '?';
 * where the terminal shows ASCII, other characters are replaced by it. */
static void show_text(struct shown_text *shown, const char *text)
{
	bool ascii = ncs_term_shows_ascii();

	shown->length = 0;
	shown->width = 0;
	while (*text && shown->length < SHOWN_MAX) {
		uint32_t code = next_character(&text);
		int cells = ascii || code < 0x80 ? 1 : wcwidth((wchar_t)code);

		if (ascii && code >= 0xa0) {
			for (const char *c = ascii_for(code); *c; c++)
				show_one(shown, (wchar_t)*c, 1);
			continue;
		}
		/* A character without a column of its own could join, hide or
		 * reverse its neighbours. */
		if (is_control(code) || cells <= 0)
			show_one(shown, L'?', 1);
		else
			show_one(shown, (wchar_t)code, cells);
	}
}

/* Cuts the text to `width` cells, at least one, if it is wider; a text that was cut
 * ends with a mark, which takes one. */
static void cut_text(struct shown_text *shown, int width)
{
	const char *mark = ncs_term_symbol(NCS_SYMBOL_CUT);

	if (shown->width <= width)
		return;
	while (shown->width >= width)
		shown->width -= shown->cells[--shown->length];
	show_one(shown, (wchar_t)next_character(&mark), 1);
}

static void use_role(enum ncs_role role)
{
	const struct style *style = style_of(role);
	bool plain = style->foreground < 0 && style->background < 0;

	wattr_set(stdscr, style->attributes,
		  term.has_colors && !plain ? (short)(role + 1) : (short)0,
		  NULL);
}

int ncs_term_put(int y, int x, int width, enum ncs_role role, const char *text)
{
	static struct shown_text shown;

	if (y < 0 || y >= ncs_term_height() || x < 0)
		return 0;
	if (width > ncs_term_width() - x)
		width = ncs_term_width() - x;
	if (width <= 0)
		return 0;
	show_text(&shown, text);
	cut_text(&shown, width);
	use_role(role);
	/* In the last cell of the screen, curses draws the character and then
	 * fails. */
	mvwaddnwstr(stdscr, y, x, shown.text, (int)shown.length);
	return shown.width;
}

void ncs_term_fill(int y, int x, int width, enum ncs_role role)
{
	if (y < 0 || y >= ncs_term_height() || x < 0)
		return;
	use_role(role);
	for (int i = x; i < x + width && i < ncs_term_width(); i++)
		mvwaddnwstr(stdscr, y, i, L" ", 1);
}

void ncs_term_repeat(int y, int x, int count, enum ncs_role role,
		     enum ncs_symbol symbol)
{
	for (int i = 0; i < count; i++)
		ncs_term_put(y, x + i, 1, role, ncs_term_symbol(symbol));
}

int ncs_term_text_width(const char *text)
{
	static struct shown_text shown;

	show_text(&shown, text);
	return shown.width;
}

const char *ncs_term_symbol(enum ncs_symbol symbol)
{
	return symbols[symbol][ncs_term_shown_symbols()];
}

/* --- Frames --------------------------------------------------------------- */

void ncs_term_erase(void)
{
	wattr_set(stdscr, A_NORMAL, 0, NULL);
	werase(stdscr);
	ncs_term_cursor(0, 0, false);
}

void ncs_term_cursor(int y, int x, bool visible)
{
	term.cursor_y = y;
	term.cursor_x = x;
	if (term.shows_cursor != visible)
		curs_set(visible);
	term.shows_cursor = visible;
}

void ncs_term_flush(void)
{
	wmove(stdscr, term.cursor_y, term.cursor_x);
	wnoutrefresh(stdscr);
	doupdate();
}

/* --- Saving --------------------------------------------------------------- */

bool ncs_term_save(FILE *file)
{
	wchar_t line[SHOWN_MAX];
	int length;

	for (int y = 0; y < ncs_term_height(); y++) {
		length = mvwinnwstr(stdscr, y, 0, line, SHOWN_MAX - 1);
		while (length > 0 && line[length - 1] == L' ')
			length--;
		line[length > 0 ? length : 0] = L'\0';
		fprintf(file, "%ls\n", line);
	}
	return fflush(file) == 0 && !ferror(file);
}
