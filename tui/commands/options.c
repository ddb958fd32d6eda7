/* SPDX-License-Identifier: MIT */
/* Options as text and back. Looks at its arguments only; see options.h. */
#include "tui/commands/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/base/detail.h"
#include "record/format/chunk.h"

/* --- The table ----------------------------------------------------------- */

enum {
	NO = no_argument,
	REQUIRED = required_argument,
	OPTIONAL = optional_argument,
};

enum place { ONCE, KEPT, LIVE };

struct option_line {
	const char *name;
	char letter; /* 0: none */
	int has;
	const char *argument;
	enum place place;
	const char *help;
};

static const struct option_line lines[NCS_OPTIONS_END] = {
#define X(ID, name, letter, has, argument, place, help) \
	{ name, letter, has, argument, place, help },
	NCS_OPTIONS(X)
#undef X
};

/* What getopt_long() returns for a long option: never a character. */
#define LONG_BASE 256

struct getopt_tables {
	struct option options[NCS_OPTIONS_END + 1];
	char letters[1 + 3 * NCS_OPTIONS_END + 1];
};

static void make_tables(struct getopt_tables *tables)
{
	char *letter = tables->letters;

	memset(tables, 0, sizeof(*tables));
	*letter++ = ':'; /* tells a missing argument from a wrong option */
	for (int i = 0; i < NCS_OPTIONS_END; i++) {
		tables->options[i].name = lines[i].name;
		tables->options[i].has_arg = lines[i].has;
		tables->options[i].val = LONG_BASE + i;
		if (lines[i].letter == 0)
			continue;
		*letter++ = lines[i].letter;
		for (int k = 0; k < lines[i].has; k++)
			*letter++ = ':';
	}
}

/* The option that getopt_long() means by a code; -1: none. */
static int find_option(int code)
{
	if (code >= LONG_BASE && code < LONG_BASE + NCS_OPTIONS_END)
		return code - LONG_BASE;
	for (int i = 0; i < NCS_OPTIONS_END; i++)
		if (lines[i].letter != 0 && lines[i].letter == code)
			return i;
	return -1;
}

/* --- Arguments ----------------------------------------------------------- */

/* The place of a word in "one|two|three"; -1 if it is not there. */
static int find_choice(const char *choices, const char *word)
{
	size_t length = strlen(word);

	for (int place = 0;; place++) {
		size_t choice = strcspn(choices, "|");

		if (choice == length && memcmp(choices, word, length) == 0)
			return place;
		if (!choices[choice])
			return -1;
		choices += choice + 1;
	}
}

/* Takes decimal digits off the text. False if there are none, or if the number
 * is out of bounds. */
static bool take_number(const char **text, uint64_t least, uint64_t most,
			uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0 && *number >= least && *number <= most;
}

static bool parse_number(const char *text, uint64_t most, uint64_t *number)
{
	return take_number(&text, 1, most, number) && *text == '\0';
}

static bool parse_seconds(const char *text, uint64_t *time_ns)
{
	double seconds;
	char *end;

	/* Digits and a point: no sign, no exponent, no "inf". */
	if (text[0] == '\0' || text[strspn(text, "0123456789.")] != '\0')
		return false;
	seconds = strtod(text, &end);
	if (*end != '\0' || seconds > NCS_INTERVAL_MAX_NS / 1e9)
		return false;
	*time_ns = (uint64_t)(seconds * 1e9 + 0.5);
	return *time_ns >= NCS_INTERVAL_MIN_NS;
}

/* A file must have room for what each of them has. */
#define ROTATE_BYTES_MIN (UINT64_C(1) << 16)

static bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "kMG";
	const char *unit;
	unsigned shift = 0;

	if (!take_number(&text, 1, UINT64_MAX >> 30, bytes))
		return false;
	unit = *text ? strchr(units, *text) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		text++;
	}
	*bytes <<= shift;
	return *text == '\0' && *bytes >= ROTATE_BYTES_MIN;
}

static bool parse_synthetic(const char *text, struct ncs_options *options)
{
	uint64_t ranks, channels, seed = 1;

	if (!take_number(&text, 1, NCS_SYNTHETIC_RANKS_MAX, &ranks) ||
	    *text++ != 'x' ||
	    !take_number(&text, 1, NCS_SYNTHETIC_CHANNELS_MAX, &channels))
		return false;
	if (*text == ':') {
		text++;
		if (!take_number(&text, 0, UINT64_MAX, &seed))
			return false;
	}
	options->synthetic_ranks = (unsigned)ranks;
	options->synthetic_channels = (unsigned)channels;
	options->synthetic_seed = seed;
	return *text == '\0';
}

/* NULL: the view has no such column. */
static const struct ncs_column *find_title(enum ncs_view view,
					   const char *title)
{
	for (size_t i = 0; i < ncs_column_count; i++)
		if (ncs_columns[i].view == view &&
		    strcasecmp(ncs_columns[i].title, title) == 0)
			return &ncs_columns[i];
	return NULL;
}

/* "-SINCE"; without a column it is the model's order: "-". */
static bool take_sort(struct ncs_options *options, enum ncs_view view,
		      const char *title, bool minus)
{
	const struct ncs_column *column = find_title(view, title);

	if (!column && !(minus && !title[0]))
		return false;
	options->sort[view] = (struct ncs_sort){
		.column = column,
		.inverted = minus,
	};
	return true;
}

static bool take_column(struct ncs_options *options, enum ncs_view view,
			const char *title, bool minus)
{
	const struct ncs_column *column = find_title(view, title);

	if (column)
		options->columns[column - ncs_columns] =
			minus ? NCS_COLUMN_HIDDEN : NCS_COLUMN_SHOWN;
	return column != NULL;
}

typedef bool take_title(struct ncs_options *options, enum ncs_view view,
			const char *title, bool minus);

/* "channels:-SINCE", or "-SINCE" for all views that have it. */
static bool take_item(struct ncs_options *options, const char *item,
		      take_title *take)
{
	const char *colon = strchr(item, ':');
	const char *word = colon ? colon + 1 : item;
	bool minus = word[0] == '-', found = false;

	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++) {
		size_t length = strlen(ncs_view_names[i]);

		if (colon && (length != (size_t)(colon - item) ||
			      strncmp(ncs_view_names[i], item, length) != 0))
			continue;
		found = take(options, (enum ncs_view)i, word + minus, minus) ||
			found;
	}
	return found;
}

/* "default", or items separated by commas. */
static bool take_titles(struct ncs_options *options, const char *text,
			take_title *take)
{
	char item[64];

	if (strcmp(text, "default") == 0)
		return true;
	for (;;) {
		size_t length = strcspn(text, ",");

		if (length >= sizeof(item))
			return false;
		memcpy(item, text, length);
		item[length] = '\0';
		if (!take_item(options, item, take))
			return false;
		if (!text[length])
			return true;
		text += length + 1;
	}
}

static bool parse_sort(const char *text, struct ncs_options *options)
{
	memset(options->sort, 0, sizeof(options->sort));
	return take_titles(options, text, take_sort);
}

static bool parse_columns(const char *text, struct ncs_options *options)
{
	memset(options->columns, 0, sizeof(options->columns));
	return take_titles(options, text, take_column);
}

static void print_title(enum ncs_view view, bool minus, const char *title,
			char *text, size_t size)
{
	ncs_append(text, size, "%s%s:%s%s", text[0] ? "," : "",
		   ncs_view_names[view], minus ? "-" : "", title);
}

static void print_sort(const struct ncs_options *options, char *text,
		       size_t size)
{
	text[0] = '\0';
	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++) {
		const struct ncs_sort *sort = &options->sort[i];

		if (sort->column || sort->inverted)
			print_title((enum ncs_view)i, sort->inverted,
				    sort->column ? sort->column->title : "",
				    text, size);
	}
	if (!text[0])
		ncs_append(text, size, "default");
}

static void print_columns(const struct ncs_options *options, char *text,
			  size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < ncs_column_count; i++)
		if (options->columns[i] != NCS_COLUMN_BY_LEVEL)
			print_title(ncs_columns[i].view,
				    options->columns[i] == NCS_COLUMN_HIDDEN,
				    ncs_columns[i].title, text, size);
	if (!text[0])
		ncs_append(text, size, "default");
}

/* --- Choices ------------------------------------------------------------- */

/* Which of an option's words holds; -1: it is none to choose from. */
static int choice_of(const struct ncs_options *options, int option)
{
	switch (option) {
	case NCS_OPTION_VIEW:
		return options->view == NCS_VIEW_COUNT ? 0 : (int)options->view;
	case NCS_OPTION_WINDOW:
		return (int)options->window;
	case NCS_OPTION_COLOR:
		return (int)options->color;
	case NCS_OPTION_SYMBOLS:
		return (int)options->symbols;
	case NCS_OPTION_SCHEME:
		return (int)options->scheme;
	case NCS_OPTION_LEVEL:
		return (int)options->level;
	case NCS_OPTION_NUMBERS:
		return options->units.exact;
	case NCS_OPTION_UNITS:
		return options->units.bits;
	case NCS_OPTION_HEADER:
		return options->hide_header;
	case NCS_OPTION_IDLE:
		return options->hide_idle;
	case NCS_OPTION_MOUSE:
		return options->mouse;
	default:
		return -1;
	}
}

static void set_choice(struct ncs_options *options, int option, int choice)
{
	switch (option) {
	case NCS_OPTION_VIEW:
		options->view = (enum ncs_view)choice;
		break;
	case NCS_OPTION_WINDOW:
		options->window = (enum ncs_window)choice;
		break;
	case NCS_OPTION_COLOR:
		options->color = (enum ncs_color)choice;
		break;
	case NCS_OPTION_SYMBOLS:
		options->symbols = (enum ncs_symbol_set)choice;
		break;
	case NCS_OPTION_SCHEME:
		options->scheme = (enum ncs_scheme)choice;
		break;
	case NCS_OPTION_LEVEL:
		options->level = (enum ncs_column_level)choice;
		break;
	case NCS_OPTION_NUMBERS:
		options->units.exact = choice == 1;
		break;
	case NCS_OPTION_UNITS:
		options->units.bits = choice == 1;
		break;
	case NCS_OPTION_HEADER:
		options->hide_header = choice == 1;
		break;
	case NCS_OPTION_IDLE:
		options->hide_idle = choice == 1;
		break;
	case NCS_OPTION_MOUSE:
		options->mouse = choice == 1;
		break;
	}
}

static bool take_choice(struct ncs_options *options, int option,
			const char *word)
{
	int choice = find_choice(lines[option].argument, word);

	if (choice >= 0)
		set_choice(options, option, choice);
	return choice >= 0;
}

static int count_choices(const char *choices)
{
	int count = 1;

	for (; *choices; choices++)
		count += *choices == '|';
	return count;
}

bool ncs_options_step(struct ncs_options *options, enum ncs_option option,
		      bool forward)
{
	int choice = choice_of(options, option);
	int count = count_choices(lines[option].argument);

	if (choice < 0)
		return false;
	set_choice(options, option,
		   (choice + (forward ? 1 : count - 1)) % count);
	return true;
}

static void print_choice(const struct ncs_options *options, int option,
			 char *text, size_t size)
{
	const char *word = lines[option].argument;

	for (int i = choice_of(options, option); i > 0; i--)
		word += strcspn(word, "|") + 1;
	snprintf(text, size, "%.*s", (int)strcspn(word, "|"), word);
}

/* --- One option ---------------------------------------------------------- */

/* Options with an argument. False if the argument is not what is expected. */
static bool take_argument(struct ncs_options *options, int option,
			  const char *argument)
{
	uint64_t number;
	int choice;

	if (choice_of(options, option) >= 0)
		return take_choice(options, option, argument);
	switch (option) {
	case NCS_OPTION_DUMP:
	case NCS_OPTION_DIAGNOSE:
	case NCS_OPTION_CRITICAL_PATH:
		choice = find_choice(lines[option].argument, argument);
		options->format = (enum ncs_dump_format)choice;
		return choice >= 0;
	case NCS_OPTION_EXPORT:
		choice = find_choice(lines[option].argument, argument);
		options->export_format = (enum ncs_export_format)choice;
		return choice >= 0;
	case NCS_OPTION_COMM:
		options->comm = argument;
		return argument[0] != '\0';
	case NCS_OPTION_PID:
		if (!parse_number(argument, UINT32_MAX, &number))
			return false;
		options->pid = (uint32_t)number;
		return true;
	case NCS_OPTION_DIR:
		options->directory = argument;
		return argument[0] != '\0';
	case NCS_OPTION_INTERVAL:
		options->has_interval = true;
		return parse_seconds(argument, &options->interval_ns);
	case NCS_OPTION_WAIT:
		return parse_seconds(argument, &options->wait_ns);
	case NCS_OPTION_RECORD:
		options->recording.path = argument;
		return argument[0] != '\0';
	case NCS_OPTION_DURATION:
		return parse_seconds(argument, &options->recording.duration_ns);
	case NCS_OPTION_ROTATE_SIZE:
		return parse_bytes(argument, &options->recording.rotate_bytes);
	case NCS_OPTION_ROTATE_TIME:
		return parse_seconds(argument, &options->recording.rotate_ns);
	case NCS_OPTION_KEEP:
		return parse_number(argument, UINT64_MAX,
				    &options->recording.keep);
	case NCS_OPTION_COMPRESS:
		if (!parse_number(argument, (uint64_t)ncs_packer_level_max(),
				  &number))
			return false;
		options->recording.pack_level = (int)number;
		return true;
	case NCS_OPTION_COUNT:
		return parse_number(argument, UINT64_MAX, &options->count);
	case NCS_OPTION_SORT:
		return parse_sort(argument, options);
	case NCS_OPTION_COLUMNS:
		return parse_columns(argument, options);
	case NCS_OPTION_CONFIG:
		options->config_path = strcmp(argument, "none") == 0 ? "" :
								       argument;
		return true;
	case NCS_OPTION_ALIASES:
		return argument[0] != '\0' &&
		       (size_t)snprintf(options->aliases_path,
					sizeof(options->aliases_path), "%s",
					argument) <
			       sizeof(options->aliases_path);
	case NCS_OPTION_SYNTHETIC:
		return parse_synthetic(argument, options);
	case NCS_OPTION_KEYS:
		options->keys_path = argument;
		return argument[0] != '\0';
	case NCS_OPTION_AT:
		return ncs_instant_parse(argument, &options->at);
	case NCS_OPTION_FROM:
		return ncs_instant_parse(argument, &options->from);
	case NCS_OPTION_UNTIL:
		return ncs_instant_parse(argument, &options->until);
	case NCS_OPTION_RANGE:
		options->range = argument;
		return argument[0] != '\0';
	case NCS_OPTION_OUTPUT:
		options->output_path = argument;
		return argument[0] != '\0';
	default:
		return true;
	}
}

/* What an argument must be, beyond its name. */
static const char *limits_of(int option)
{
	switch (option) {
	case NCS_OPTION_PID:
		return ", the number of a process";
	case NCS_OPTION_INTERVAL:
	case NCS_OPTION_WAIT:
	case NCS_OPTION_DURATION:
	case NCS_OPTION_ROTATE_TIME:
		return " from 0.1 to 86400";
	case NCS_OPTION_ROTATE_SIZE:
		return ", 64k or more";
	case NCS_OPTION_COMPRESS:
		return ", a number from 1 to 22";
	case NCS_OPTION_KEEP:
	case NCS_OPTION_COUNT:
		return ", 1 or more";
	case NCS_OPTION_SORT:
	case NCS_OPTION_COLUMNS:
		return " with titles of columns";
	case NCS_OPTION_SYNTHETIC:
		return ", at most 4096x64";
	case NCS_OPTION_AT:
	case NCS_OPTION_FROM:
	case NCS_OPTION_UNTIL:
		return ", such as 12.5, 1:02:03, -10, T14:03:05 or"
		       " 2026-11-21T14:03:05";
	default:
		return "";
	}
}

static void say_expected(int option, const char *argument, char *error,
			 size_t error_size)
{
	snprintf(error, error_size, "--%s expects %s%s, not '%s'",
		 lines[option].name, lines[option].argument, limits_of(option),
		 argument);
}

static enum ncs_mode mode_of(int option)
{
	switch (option) {
	case NCS_OPTION_DUMP:
		return NCS_MODE_DUMP;
	case NCS_OPTION_DIAGNOSE:
		return NCS_MODE_DIAGNOSE;
	case NCS_OPTION_RECORD:
		return NCS_MODE_RECORD;
	case NCS_OPTION_REPLAY:
		return NCS_MODE_REPLAY;
	case NCS_OPTION_CRITICAL_PATH:
	case NCS_OPTION_WHAT_IF:
		return NCS_MODE_CRITICAL_PATH;
	case NCS_OPTION_EXPORT:
		return NCS_MODE_EXPORT;
	case NCS_OPTION_LIST:
		return NCS_MODE_LIST;
	case NCS_OPTION_CLEAN:
		return NCS_MODE_CLEAN;
	case NCS_OPTION_SET:
		return NCS_MODE_SET;
	case NCS_OPTION_HELP:
		return NCS_MODE_HELP;
	case NCS_OPTION_VERSION:
		return NCS_MODE_VERSION;
	default:
		return NCS_MODE_LIVE;
	}
}

/* A setting says by itself what is wrong with it. */
static bool take_setting(struct ncs_options *options, const char *argument,
			 char *error, size_t error_size)
{
	char why[200];

	if (ncs_change_parse(argument, &options->change, why, sizeof(why)))
		return true;
	snprintf(error, error_size, "--set: %s", why);
	return false;
}

/* Likewise. */
static bool take_what_if(struct ncs_options *options, const char *argument,
			 char *error, size_t error_size)
{
	struct ncs_scenario scenario;
	char why[400];

	if (options->what_if_count == NCS_SCENARIOS_MAX) {
		snprintf(error, error_size, "--what-if: %u at a time",
			 NCS_SCENARIOS_MAX);
		return false;
	}
	if (!ncs_scenario_parse(&scenario, argument, why, sizeof(why))) {
		snprintf(error, error_size, "--what-if: %s", why);
		return false;
	}
	options->what_if[options->what_if_count++] = argument;
	return true;
}

static bool take_option(struct ncs_options *options, int option,
			const char *argument, char *error, size_t error_size)
{
	enum ncs_mode mode = mode_of(option);

	if (option == NCS_OPTION_SET &&
	    !take_setting(options, argument, error, error_size))
		return false;
	if (option == NCS_OPTION_WHAT_IF &&
	    !take_what_if(options, argument, error, error_size))
		return false;
	if (argument && !take_argument(options, option, argument)) {
		say_expected(option, argument, error, error_size);
		return false;
	}
	if (option == NCS_OPTION_MOUSE && !argument)
		options->mouse = true;
	if (option == NCS_OPTION_COMPRESS)
		options->recording.is_packed = true;
	if (option == NCS_OPTION_ASCII)
		options->ascii = true;
	if (option == NCS_OPTION_COLOR)
		options->has_color = true;
	if (mode == NCS_MODE_LIVE)
		return true;
	/* An export may have a path in it, in whatever order it is said. */
	options->has_path |= mode == NCS_MODE_CRITICAL_PATH;
	if (options->mode == NCS_MODE_CRITICAL_PATH && mode == NCS_MODE_EXPORT)
		options->mode = mode;
	if (options->mode == NCS_MODE_EXPORT && mode == NCS_MODE_CRITICAL_PATH)
		mode = NCS_MODE_EXPORT;
	if (options->mode != NCS_MODE_LIVE && options->mode != mode &&
	    mode != NCS_MODE_HELP && mode != NCS_MODE_VERSION) {
		snprintf(error, error_size,
			 "--%s is one thing too many: one of --dump,"
			 " --diagnose, --record, --replay, --export,"
			 " --critical-path, --list, --clean and --set is"
			 " expected",
			 lines[option].name);
		return false;
	}
	options->mode = mode;
	return true;
}

/* --- One that is kept ---------------------------------------------------- */

int ncs_options_find(const char *name)
{
	for (int i = 0; i < NCS_OPTIONS_END; i++)
		if (strcmp(lines[i].name, name) == 0)
			return i;
	return -1;
}

const char *ncs_options_name(enum ncs_option option)
{
	return lines[option].name;
}

const char *ncs_options_argument(enum ncs_option option)
{
	return lines[option].argument;
}

const char *ncs_options_help_of(enum ncs_option option)
{
	return lines[option].help;
}

bool ncs_options_is_kept(enum ncs_option option)
{
	return lines[option].place != ONCE;
}

bool ncs_options_is_live(enum ncs_option option)
{
	return lines[option].place == LIVE;
}

bool ncs_options_set(struct ncs_options *options, enum ncs_option option,
		     const char *value, char *error, size_t error_size)
{
	struct ncs_options changed = *options;

	if (!take_argument(&changed, option, value)) {
		say_expected(option, value, error, error_size);
		return false;
	}
	*options = changed;
	return true;
}

void ncs_options_value(const struct ncs_options *options,
		       enum ncs_option option, char *text, size_t size)
{
	if (option == NCS_OPTION_INTERVAL)
		snprintf(text, size, "%.9g",
			 (double)options->interval_ns / 1e9);
	else if (option == NCS_OPTION_SORT)
		print_sort(options, text, size);
	else if (option == NCS_OPTION_COLUMNS)
		print_columns(options, text, size);
	else
		print_choice(options, option, text, size);
}

/* --- What goes together -------------------------------------------------- */

static bool reads_files(enum ncs_mode mode)
{
	return mode == NCS_MODE_REPLAY || mode == NCS_MODE_EXPORT ||
	       mode == NCS_MODE_DUMP || mode == NCS_MODE_DIAGNOSE ||
	       mode == NCS_MODE_LIST || mode == NCS_MODE_CRITICAL_PATH;
}

static bool needs_files(enum ncs_mode mode)
{
	return mode == NCS_MODE_REPLAY || mode == NCS_MODE_EXPORT ||
	       mode == NCS_MODE_CRITICAL_PATH;
}

/* Words that are no options are the names of recordings. */
static bool check_files(const struct ncs_options *options, char *error,
			size_t error_size)
{
	const char *first;

	if (options->file_count == 0) {
		if (!needs_files(options->mode))
			return true;
		snprintf(error, error_size,
			 "--%s expects a FILE, a recording made with"
			 " --record",
			 options->mode == NCS_MODE_REPLAY ? "replay" :
			 options->mode == NCS_MODE_EXPORT ? "export" :
							    "critical-path");
		return false;
	}
	first = options->files[0];
	if ((options->mode == NCS_MODE_DUMP ||
	     options->mode == NCS_MODE_DIAGNOSE ||
	     options->mode == NCS_MODE_CRITICAL_PATH) &&
	    find_choice(lines[NCS_OPTION_DUMP].argument, first) >= 0) {
		snprintf(error, error_size,
			 "'%s' is no option; an optional argument is joined by"
			 " '=', as in --dump=json, and a recording of that name"
			 " is ./%s",
			 first, first);
		return false;
	}
	if (reads_files(options->mode))
		return true;
	snprintf(error, error_size,
		 "'%s' is no option; a recording is read with --replay,"
		 " --export, --dump, --diagnose, --critical-path or --list",
		 first);
	return false;
}

/* The same of a recording that is made. */
static const char *find_ignored_of_record(const struct ncs_options *options)
{
	const struct ncs_recorder_settings *recording = &options->recording;
	bool rotates = recording->rotate_bytes || recording->rotate_ns;

	if (options->mode != NCS_MODE_RECORD) {
		if (recording->duration_ns)
			return "--duration expects --record beside it";
		if (rotates || recording->keep)
			return "--rotate-size, --rotate-time and --keep expect"
			       " --record beside them";
		if (recording->is_packed)
			return "--compress expects --record beside it";
		return NULL;
	}
	if (options->synthetic_ranks)
		return "--record expects no --synthetic beside it: a made-up"
		       " job has no segments";
	if (options->count)
		return "--record expects no --count beside it: --duration says"
		       " when it ends";
	if (recording->keep && !rotates)
		return "--keep expects --rotate-size or --rotate-time beside"
		       " it: else there is one file";
	if (rotates && strcmp(recording->path, "-") == 0)
		return "--rotate-size and --rotate-time expect a FILE: there"
		       " is one standard output";
	return NULL;
}

/* What would be ignored must not look as if it did anything. NULL: nothing
 * would. */
static const char *find_ignored(const struct ncs_options *options)
{
	enum ncs_mode mode = options->mode;
	bool bounded = options->from.kind != NCS_INSTANT_NONE ||
		       options->until.kind != NCS_INSTANT_NONE;

	if (mode == NCS_MODE_CLEAN &&
	    (options->pid || options->synthetic_ranks))
		return "--clean expects no --pid and no --synthetic beside it:"
		       " it removes the segments of all processes that are"
		       " gone";
	if (mode == NCS_MODE_SET && options->synthetic_ranks)
		return "--set expects no --synthetic beside it: a made-up job"
		       " cannot be asked for anything";
	if (options->wait_ns && mode != NCS_MODE_DIAGNOSE)
		return "--wait expects --diagnose beside it: trouble is what"
		       " it waits for";
	if (options->comm && mode != NCS_MODE_SET)
		return "--comm expects --set beside it: views show all"
		       " communicators";
	if (mode == NCS_MODE_EXPORT && options->has_path &&
	    options->export_format != NCS_EXPORT_PERFETTO &&
	    options->export_format != NCS_EXPORT_CHROME)
		return "--critical-path and --what-if expect --export=perfetto"
		       " or --export=chrome: only traces show a path";
	if (options->range && !options->has_path)
		return "--range expects --critical-path beside it";
	if (mode == NCS_MODE_CRITICAL_PATH &&
	    (options->pid || options->at.kind != NCS_INSTANT_NONE))
		return "--critical-path expects no --pid and no --at beside it:"
		       " it is that of all ranks, from --from to --until";
	if (find_ignored_of_record(options))
		return find_ignored_of_record(options);
	if (options->output_path && mode != NCS_MODE_EXPORT)
		return "--output expects --export beside it: what else is"
		       " printed goes to standard output";
	if (mode == NCS_MODE_EXPORT && options->at.kind != NCS_INSTANT_NONE)
		return "--export expects no --at beside it: it is of a time,"
		       " from --from to --until";
	if (mode == NCS_MODE_EXPORT &&
	    (options->has_interval || options->count))
		return "--export expects no --interval and no --count beside"
		       " it: it writes all that was recorded";
	if (options->file_count == 0 &&
	    (bounded || options->at.kind != NCS_INSTANT_NONE))
		return "--at, --from and --until expect a FILE beside them:"
		       " they are moments of a recording";
	if (options->file_count == 0)
		return NULL;
	if (options->directory || options->synthetic_ranks)
		return "--dir and --synthetic expect no FILE beside them: all"
		       " there is to see is in the recording";
	if (options->wait_ns)
		return "--wait expects no FILE beside it: a recording has come"
		       " to its end";
	if (mode == NCS_MODE_LIST &&
	    (bounded || options->at.kind != NCS_INSTANT_NONE))
		return "--list expects no --at, --from or --until beside it: it"
		       " tells of all that was recorded";
	if (mode == NCS_MODE_DUMP && options->has_interval &&
	    options->at.kind != NCS_INSTANT_NONE)
		return "--at expects no --interval beside it: samples at"
		       " intervals are taken from --from to --until";
	return NULL;
}

static bool check_company(const struct ncs_options *options, char *error,
			  size_t error_size)
{
	const char *why = find_ignored(options);

	if (why)
		snprintf(error, error_size, "%s", why);
	return why == NULL;
}

/* --- All of them --------------------------------------------------------- */

/* Says what getopt_long() stumbled over. */
static void explain(int code, const char *word, char *error, size_t error_size)
{
	int option = find_option(optopt);

	if (code == ':' && option >= 0)
		snprintf(error, error_size, "--%s expects %s",
			 lines[option].name, lines[option].argument);
	else if (option >= 0)
		snprintf(error, error_size, "--%s expects no argument",
			 lines[option].name);
	else if (optopt > 0 && optopt < LONG_BASE)
		snprintf(error, error_size, "there is no option -%c", optopt);
	else
		snprintf(error, error_size,
			 "%s is no option, or short for several", word);
}

void ncs_options_init(struct ncs_options *options)
{
	memset(options, 0, sizeof(*options));
	options->interval_ns = NCS_INTERVAL_DEFAULT_NS;
	options->recording.pack_level = 1;
	options->view = NCS_VIEW_COUNT;
}

bool ncs_options_parse(struct ncs_options *options, int argc, char **argv,
		       char *error, size_t error_size)
{
	struct getopt_tables tables;
	int code;

	make_tables(&tables);
	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while ((code = getopt_long(argc, argv, tables.letters, tables.options,
				   NULL)) != -1) {
		int option = find_option(code);

		if (option < 0) {
			explain(code, argv[optind - 1], error, error_size);
			return false;
		}
		if (!take_option(options, option, optarg, error, error_size))
			return false;
		if (options->mode == NCS_MODE_HELP ||
		    options->mode == NCS_MODE_VERSION)
			return true;
	}
	options->files = argv + optind;
	options->file_count = (size_t)(argc - optind);
	return check_files(options, error, error_size) &&
	       check_company(options, error, error_size);
}

/* --- Help ---------------------------------------------------------------- */

#define HELP_COLUMN 26

/* "  -i, --interval=SECONDS" */
static void describe(const struct option_line *line, char *text, size_t size)
{
	char letter[8] = "    ";

	if (line->letter)
		snprintf(letter, sizeof(letter), "-%c, ", line->letter);
	snprintf(text, size, "  %s--%s%s%s%s", letter, line->name,
		 line->has == OPTIONAL ? "[=" :
		 line->has == REQUIRED ? "=" :
					 "",
		 line->argument, line->has == OPTIONAL ? "]" : "");
}

/* Writes text broken at blanks, with all lines but the first indented. */
static void write_folded(FILE *file, const char *text, unsigned columns)
{
	size_t room = columns > HELP_COLUMN + 20 ? columns - HELP_COLUMN : 20;

	for (;;) {
		size_t length = strlen(text), cut = length;

		if (length > room) {
			for (cut = room; cut > 0 && text[cut] != ' '; cut--)
				;
			if (cut == 0)
				cut = strcspn(text, " ");
		}
		fprintf(file, "%.*s\n", (int)cut, text);
		text += cut;
		if (!*text)
			return;
		text++;
		fprintf(file, "%*s", HELP_COLUMN, "");
	}
}

/* Writes an option, broken at a | where it has too many choices for a line. */
static void write_option(FILE *file, const char *text, unsigned columns)
{
	size_t length = strlen(text), cut = length;

	while (cut > columns ||
	       (cut < length && cut > 0 && text[cut - 1] != '|'))
		cut--;
	if (cut == 0)
		cut = length;
	fprintf(file, "%.*s\n", (int)cut, text);
	if (cut < length)
		fprintf(file, "%*s%s\n", HELP_COLUMN / 2, "", text + cut);
}

void ncs_options_help(FILE *file, unsigned columns)
{
	char text[128];

	fputs("Usage: ncclstat [OPTION]... [FILE]...\n"
	      "Shows what NCCL does, live, in jobs on this machine that have"
	      " loaded ncclstat's\nprofiler plugin, or did in jobs that were"
	      " recorded in FILEs.\n\n",
	      file);
	for (int i = 0; i < NCS_OPTIONS_END; i++) {
		describe(&lines[i], text, sizeof(text));
		if (strlen(text) + 2 > HELP_COLUMN) {
			write_option(file, text, columns);
			fprintf(file, "%*s", HELP_COLUMN, "");
		} else {
			fprintf(file, "%-*s", HELP_COLUMN, text);
		}
		write_folded(file, lines[i].help, columns);
	}
	fputs("\nA job loads the plugin if its environment has"
	      " LD_LIBRARY_PATH with the plugin's\nfolder and"
	      " NCCL_PROFILER_PLUGIN=libnccl-profiler-ncclstat.so; see"
	      " ncclstat(1).\n",
	      file);
}
