/* SPDX-License-Identifier: MIT */
/* The terminal: the only file that calls curses, tests aside.
 *
 * Must not know what is shown, and must never leave the terminal changed:
 * whatever ends the process, its modes and its screen are put back. In a
 * signal handler curses may not be called (its locks and its memory may be in
 * any state), so what has to be written is prepared when the terminal is taken
 * over. One thread; the state below is the process's one terminal.
 */
#include "tui/term/term.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include <term.h>

#include "tui/term/curses.h"

#define TEXT_MAX 1024
#define ESCAPE 27
/* For what is left of a report of the mouse. */
#define MOUSE_WAIT_MS 25

struct look {
	short foreground;
	short background;
	attr_t attributes;
};

#define LOOK(...) LOOK_ __VA_ARGS__
#define LOOK_(foreground, background, attributes) \
	{ \
		foreground, background, attributes \
	}

static const struct look looks[NCS_ROLE_COUNT][NCS_SCHEME_COUNT] = {
#define X(ID, color, colorblind, contrast, mono) \
	{ LOOK(color), LOOK(colorblind), LOOK(contrast), LOOK(mono) },
	NCS_ROLES(X)
#undef X
};

static const char *const symbols[NCS_SYMBOL_COUNT][NCS_SYMBOL_SET_COUNT] = {
#define X(ID, block, braille, ascii) { block, braille, ascii },
	NCS_SYMBOLS(X)
#undef X
};

static struct {
	SCREEN *screen; /* NULL: not started */
	WINDOW *keys;   /* reading from it does not touch the screen */
	bool has_colors;
	enum ncs_scheme scheme;
	bool has_mouse; /* and reports it */
	struct ncs_mouse mouse;
	bool has_symbols; /* the locale has more than ASCII */
	enum ncs_symbol_set symbols;
	int cursor_y;
	int cursor_x;
	bool shows_cursor;
} term;

/* What a signal handler needs to put the terminal back. */
static struct {
	volatile sig_atomic_t armed;
	int file;
	struct termios modes;
	bool has_modes;
	char text[256];
	size_t length;
	int real_stderr; /* -1: not diverted */
	int held_stderr;
} rescue = { .real_stderr = -1, .held_stderr = -1 };

/* Presses and releases, as numbers where the terminal can. */
static const char mouse_on[] = "\033[?1000h\033[?1006h";
static const char mouse_off[] = "\033[?1006l\033[?1000l";

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
#define FATAL_COUNT (sizeof(fatal_signals) / sizeof(*fatal_signals))
static struct sigaction former_fatal[FATAL_COUNT];

/* Curses puts handlers of its own here if there are none. */
static const int curses_signals[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
#define CURSES_COUNT (sizeof(curses_signals) / sizeof(*curses_signals))

/* --- Rescue --------------------------------------------------------------- */

static void write_all(int file, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t written = write(file, text, length);

		if (written <= 0)
			return;
		text += written;
		length -= (size_t)written;
	}
}

/* What others said on stderr meanwhile goes where it belongs. Safe in a signal
 * handler. */
static void release_stderr(void)
{
	char text[512];
	off_t offset = 0;
	ssize_t length;

	if (rescue.real_stderr < 0)
		return;
	dup2(rescue.real_stderr, STDERR_FILENO);
	while ((length = pread(rescue.held_stderr, text, sizeof(text),
			       offset)) > 0) {
		write_all(STDERR_FILENO, text, (size_t)length);
		offset += length;
	}
	close(rescue.real_stderr);
	close(rescue.held_stderr);
	rescue.real_stderr = -1;
	rescue.held_stderr = -1;
}

static void on_fatal(int number)
{
	struct sigaction action = { 0 };

	if (rescue.armed) {
		rescue.armed = 0;
		write_all(rescue.file, rescue.text, rescue.length);
		if (rescue.has_modes)
			tcsetattr(rescue.file, TCSADRAIN, &rescue.modes);
		release_stderr();
	}
	/* The process dies of the same signal, so that its parent is told and
	 * there is a core. Not the former handler: the reader's guard against
	 * SIGBUS passes on to this one what is not its own. */
	action.sa_handler = SIG_DFL;
	sigaction(number, &action, NULL);
	raise(number);
}

static void install_fatal(void)
{
	static char stack[1 << 16];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_flags = SA_ONSTACK };

	/* A stack that overflowed cannot run its own handler. */
	sigaltstack(&alternate, NULL);
	action.sa_handler = on_fatal;
	for (size_t i = 0; i < FATAL_COUNT; i++)
		sigaction(fatal_signals[i], &action, &former_fatal[i]);
}

static void remove_fatal(void)
{
	struct sigaction now;

	/* Somebody may have come after us and count on being there. */
	for (size_t i = 0; i < FATAL_COUNT; i++)
		if (sigaction(fatal_signals[i], NULL, &now) == 0 &&
		    now.sa_handler == on_fatal)
			sigaction(fatal_signals[i], &former_fatal[i], NULL);
}

static int rescue_add_byte(int byte)
{
	if (rescue.length < sizeof(rescue.text))
		rescue.text[rescue.length++] = (char)byte;
	return byte;
}

static void rescue_add_text(const char *text)
{
	while (*text)
		rescue_add_byte(*text++);
}

static void rescue_add(const char *capability)
{
	char *text = tigetstr(capability);

	if (text && text != (char *)-1)
		tputs(text, 1, rescue_add_byte);
}

/* After newterm(), which knows the terminal, and where there is more to put
 * back. */
static void rescue_prepare(int file)
{
	static const char *const capabilities[] = { "sgr0", "op", "rmkx",
						    "cnorm", "rmcup" };

	rescue.file = file;
	rescue.length = 0;
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(*capabilities);
	     i++)
		rescue_add(capabilities[i]);
	if (term.has_mouse)
		rescue_add_text(mouse_off);
	rescue.armed = 1;
}

/* A library's warning would tear the picture: it is held back, if stderr is
 * a terminal at all. */
static void hold_stderr(void)
{
	int held;

	if (!isatty(STDERR_FILENO))
		return;
	held = memfd_create("ncclstat-stderr", MFD_CLOEXEC);
	if (held < 0)
		return;
	fflush(stderr);
	rescue.real_stderr = dup(STDERR_FILENO);
	if (rescue.real_stderr < 0 || dup2(held, STDERR_FILENO) < 0) {
		if (rescue.real_stderr >= 0)
			close(rescue.real_stderr);
		rescue.real_stderr = -1;
		close(held);
		return;
	}
	rescue.held_stderr = held;
}

/* --- Start and end -------------------------------------------------------- */

static const struct look *look_of(enum ncs_role role)
{
	return &looks[role][term.has_colors ? term.scheme : NCS_SCHEME_MONO];
}

/* The nearest that the terminal has. */
static short nearest_color(short color)
{
	if (color < COLORS)
		return color;
	return color == NCS_ORANGE ? COLOR_YELLOW : COLOR_CYAN;
}

static void apply_scheme(void)
{
	for (short role = 0; term.has_colors && role < NCS_ROLE_COUNT; role++) {
		const struct look *look = look_of((enum ncs_role)role);

		init_pair((short)(role + 1), nearest_color(look->foreground),
			  nearest_color(look->background));
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

/* Whether curses can work here; touches nothing. */
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
	/* Must come before newterm(), which looks at the environment. */
	if (config->height > 0)
		use_env(FALSE);
	screen = newterm(type, output, input);
	for (size_t i = 0; i < CURSES_COUNT; i++)
		sigaction(curses_signals[i], &former[i], NULL);
	return screen;
}

/* Modes. Where one is refused the view still works, so none is checked;
 * curs_set() for one fails on a vt100. */
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
	/* Curses waits for the next key when the mouse does what it was not
	 * asked for, deaf to all else: it is not to know a mouse. */
	define_key(NULL, KEY_MOUSE);
}

/* The terminal reports the mouse, or no longer, between two frames. */
static void report_mouse(bool on)
{
	const char *text = on ? mouse_on : mouse_off;

	if (term.has_mouse)
		write_all(rescue.file, text, strlen(text));
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
	rescue.has_modes = tcgetattr(fileno(output), &rescue.modes) == 0;
	term.screen = new_screen(config, type, output, input);
	if (!term.screen)
		return -ENOTSUP;
	term.keys = newpad(1, 1);
	if (!term.keys) {
		ncs_term_stop();
		return -ENOMEM;
	}
	rescue_prepare(fileno(output));
	install_fatal();
	if (!at_exit)
		at_exit = atexit(ncs_term_stop) == 0;
	set_modes();
	keypad(term.keys, TRUE);
	nodelay(term.keys, TRUE);
	if (config->height > 0 && config->width > 0)
		resizeterm(config->height, config->width);
	start_colors(config->color);
	term.has_symbols = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	/* Curses prefers LINES and COLUMNS, which may be of another terminal,
	 * and would stay with them. */
	if (!config->output) {
		ncs_term_resize();
		hold_stderr();
	}
	return 0;
}

/* Output that the user has stopped (Ctrl-S) would make us wait for ever to
 * give the terminal back: without flow control it goes on. */
static void let_output_go_on(void)
{
	struct pollfd output = { .fd = rescue.file, .events = POLLOUT };
	struct termios modes;

	if (!rescue.has_modes || poll(&output, 1, 0) > 0 ||
	    tcgetattr(rescue.file, &modes) != 0)
		return;
	modes.c_iflag &= ~(tcflag_t)IXON;
	tcsetattr(rescue.file, TCSANOW, &modes);
}

void ncs_term_stop(void)
{
	if (!term.screen)
		return;
	let_output_go_on();
	report_mouse(false);
	endwin();
	rescue.armed = 0;
	remove_fatal();
	if (term.keys)
		delwin(term.keys);
	delscreen(term.screen);
	memset(&term, 0, sizeof(term));
	release_stderr();
}

void ncs_term_suspend(void)
{
	struct sigaction former, action = { 0 };
	sigset_t stop;

	if (!term.screen)
		return;
	report_mouse(false);
	endwin();
	rescue.armed = 0;
	action.sa_handler = SIG_DFL;
	sigaction(SIGTSTP, &action, &former);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	/* Here it stops. */
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	sigaction(SIGTSTP, &former, NULL);
	rescue.armed = 1;
	ncs_term_resume();
}

void ncs_term_resume(void)
{
	if (!term.screen)
		return;
	/* The modes may have been changed meanwhile, without us knowing: end
	 * and begin again, whatever curses believes. */
	endwin();
	report_mouse(true);
	ncs_term_resize();
}

void ncs_term_resize(void)
{
	struct winsize size;

	if (!term.screen)
		return;
	if (ioctl(rescue.file, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
	    size.ws_col > 0)
		resizeterm(size.ws_row, size.ws_col);
	ncs_term_repaint();
}

void ncs_term_repaint(void)
{
	if (term.screen)
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

enum ncs_scheme ncs_term_scheme(void)
{
	return term.scheme;
}

enum ncs_symbol_set ncs_term_symbols(void)
{
	return term.symbols;
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

	/* The size is asked for where it changes; curses only echoes it. */
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
	rescue_prepare(rescue.file);
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
	/* Bits of it are Shift, Alt and Ctrl. */
	switch (button & ~0x1c) {
	case 0:
		term.mouse.kind = NCS_MOUSE_CLICK;
		break;
	case 64:
		term.mouse.kind = NCS_MOUSE_WHEEL_UP;
		break;
	case 65:
		term.mouse.kind = NCS_MOUSE_WHEEL_DOWN;
		break;
	default:
		term.mouse.kind = NCS_MOUSE_OTHER;
	}
	term.mouse.x = x - 1;
	term.mouse.y = y - 1;
	return KEY_MOUSE;
}

/* The rest of a sequence, from a code that was read to the one that ends it. */
static int skip_sequence(int code)
{
	while (code >= 0 && (code < '@' || code > '~'))
		code = next_code();
	return 0;
}

/* "0;12;5M" for a press, "m" for a release. 0: it is something else. */
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

/* Three bytes, each 32 more than it says; 3 is a release. */
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

/* After what introduces it; the rest may be on its way. */
static int read_mouse(int introducer)
{
	int code;

	wtimeout(term.keys, MOUSE_WAIT_MS);
	code = introducer == '<' ? read_mouse_numbers() : read_mouse_bytes();
	nodelay(term.keys, TRUE);
	return term.has_mouse ? code : 0;
}

/* A key that the terminal's description does not know comes as an escape
 * sequence. Taken one by one, its characters would be keys that nobody
 * pressed: the whole of it is one unknown key, if it is not the mouse. */
static int unknown_sequence(int introducer)
{
	int code = next_code();

	if (introducer == '[' && (code == '<' || code == 'M'))
		return read_mouse(code);
	return introducer == '[' ? skip_sequence(code) : 0;
}

int ncs_term_key(void)
{
	int code, next;

	if (!term.screen)
		return -1;
	code = next_code();
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

/* One character of UTF-8, moving on; 0xfffd for what is none. */
static unsigned long next_character(const char **text)
{
	static const unsigned long least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)*text;
	unsigned length = at[0] < 0x80 ? 1 :
			  at[0] < 0xc2 ? 0 :
			  at[0] < 0xe0 ? 2 :
			  at[0] < 0xf0 ? 3 :
			  at[0] < 0xf5 ? 4 :
					 0;
	unsigned long code;

	(*text)++;
	if (length <= 1)
		return length == 1 ? at[0] : 0xfffd;
	code = at[0] & (0x7fu >> length);
	for (unsigned i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0xfffd;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < least[length] || (code >= 0xd800 && code < 0xe000) ||
	    code > 0x10ffff)
		return 0xfffd;
	*text += length - 1;
	return code;
}

/* For the characters that our own texts use. */
static const char *ascii_for(unsigned long code)
{
	static const struct {
		unsigned long code;
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

static bool is_control(unsigned long code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Text as it is shown: characters, each with its cells. */
struct shown {
	wchar_t text[TEXT_MAX];
	signed char cells[TEXT_MAX];
	size_t length;
	int width;
};

static void show_one(struct shown *shown, wchar_t character, int cells)
{
	if (shown->length == TEXT_MAX)
		return;
	shown->text[shown->length] = character;
	shown->cells[shown->length] = (signed char)cells;
	shown->length++;
	shown->width += cells;
}

static void show(struct shown *shown, const char *text)
{
	shown->length = 0;
	shown->width = 0;
	while (*text && shown->length < TEXT_MAX) {
		unsigned long code = next_character(&text);
		int cells;

		if (is_control(code)) {
			show_one(shown, L'?', 1);
		} else if (code < 0x80) {
			show_one(shown, (wchar_t)code, 1);
		} else if (ncs_term_shows_ascii()) {
			for (const char *c = ascii_for(code); *c; c++)
				show_one(shown, (wchar_t)*c, 1);
		} else {
			/* What has no column of its own could join, hide or
			 * turn round what stands beside it. */
			cells = wcwidth((wchar_t)code);
			if (cells > 0)
				show_one(shown, (wchar_t)code, cells);
			else
				show_one(shown, L'?', 1);
		}
	}
}

/* Cuts to `width` cells, ending with the mark for a cut. */
static void cut(struct shown *shown, int width)
{
	struct shown mark;

	if (shown->width <= width)
		return;
	show(&mark, ncs_term_symbol(NCS_SYMBOL_CUT));
	if (mark.width > width)
		mark.length = 0, mark.width = 0;
	while (shown->length > 0 && shown->width + mark.width > width)
		shown->width -= shown->cells[--shown->length];
	for (size_t i = 0; i < mark.length; i++)
		show_one(shown, mark.text[i], mark.cells[i]);
}

static void use_role(enum ncs_role role)
{
	const struct look *look = look_of(role);
	bool plain = look->foreground < 0 && look->background < 0;

	wattr_set(stdscr, look->attributes,
		  term.has_colors && !plain ? (short)(role + 1) : (short)0,
		  NULL);
}

int ncs_term_put(int y, int x, int width, enum ncs_role role, const char *text)
{
	static struct shown shown;

	if (!term.screen || y < 0 || y >= ncs_term_height() || x < 0)
		return 0;
	if (width > ncs_term_width() - x)
		width = ncs_term_width() - x;
	if (width <= 0)
		return 0;
	show(&shown, text);
	cut(&shown, width);
	use_role(role);
	/* At the last place of the screen this fails after it has drawn. */
	mvwaddnwstr(stdscr, y, x, shown.text, (int)shown.length);
	return shown.width;
}

void ncs_term_fill(int y, int x, int width, enum ncs_role role)
{
	if (!term.screen || y < 0 || y >= ncs_term_height() || x < 0)
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
	static struct shown shown;

	show(&shown, text);
	return shown.width;
}

const char *ncs_term_symbol(enum ncs_symbol symbol)
{
	return symbols[symbol][ncs_term_shown_symbols()];
}

/* --- Frames --------------------------------------------------------------- */

void ncs_term_erase(void)
{
	if (!term.screen)
		return;
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
	if (!term.screen)
		return;
	wmove(stdscr, term.cursor_y, term.cursor_x);
	wnoutrefresh(stdscr);
	doupdate();
}

/* --- Saving --------------------------------------------------------------- */

static void save_character(FILE *file, unsigned long code)
{
	if (code < 0x80) {
		fputc((int)code, file);
		return;
	}
	if (code < 0x800) {
		fputc((int)(0xc0 | code >> 6), file);
	} else if (code < 0x10000) {
		fputc((int)(0xe0 | code >> 12), file);
		fputc((int)(0x80 | (code >> 6 & 0x3f)), file);
	} else {
		fputc((int)(0xf0 | code >> 18), file);
		fputc((int)(0x80 | (code >> 12 & 0x3f)), file);
		fputc((int)(0x80 | (code >> 6 & 0x3f)), file);
	}
	fputc((int)(0x80 | (code & 0x3f)), file);
}

bool ncs_term_save(FILE *file)
{
	wchar_t line[TEXT_MAX];
	int length;

	for (int y = 0; y < ncs_term_height(); y++) {
		length = mvwinnwstr(stdscr, y, 0, line, TEXT_MAX - 1);
		while (length > 0 && line[length - 1] == L' ')
			length--;
		for (int i = 0; i < length; i++)
			save_character(file, (unsigned long)line[i]);
		fputc('\n', file);
	}
	return fflush(file) == 0 && !ferror(file);
}
