/* The command line. Looks at its arguments only; see options.h. */
#include "tui/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/detail.h"
#include "ncclstat/tables/options.h"

/* --- The table ---------------------------------------------------------- */

enum option_id {
#define X(ID, name, letter, has, argument, help) NCS_OPTION_##ID,
	NCS_OPTIONS(X)
#undef X
	NCS_OPTIONS_END
};

enum {
	NO = no_argument,
	REQUIRED = required_argument,
	OPTIONAL = optional_argument,
};

struct option_line {
	const char *name;
	char letter; /* 0: none */
	int has;
	const char *argument;
	const char *help;
};

static const struct option_line lines[NCS_OPTIONS_END] = {
#define X(ID, name, letter, has, argument, help) \
	{ name, letter, has, argument, help },
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

/* --- Arguments ---------------------------------------------------------- */

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

static bool parse_interval(const char *text, uint64_t *interval_ns)
{
	double seconds;
	char *end;

	/* Digits and a point: no sign, no exponent, no "inf". */
	if (text[0] == '\0' || text[strspn(text, "0123456789.")] != '\0')
		return false;
	seconds = strtod(text, &end);
	if (*end != '\0' || seconds > NCS_INTERVAL_MAX_NS / 1e9)
		return false;
	*interval_ns = (uint64_t)(seconds * 1e9 + 0.5);
	return *interval_ns >= NCS_INTERVAL_MIN_NS;
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

/* --- One option --------------------------------------------------------- */

/* Options with an argument. False if the argument is not what is expected. */
static bool take_argument(struct ncs_options *options, int option,
			  const char *argument)
{
	int choice = find_choice(lines[option].argument, argument);
	uint64_t number;

	switch (option) {
	case NCS_OPTION_DUMP:
		options->format = (enum ncs_dump_format)choice;
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
		return parse_interval(argument, &options->interval_ns);
	case NCS_OPTION_COUNT:
		return parse_number(argument, UINT64_MAX, &options->count);
	case NCS_OPTION_VIEW:
		options->view = (enum ncs_view)choice;
		return choice >= 0;
	case NCS_OPTION_COLOR:
		options->color = (enum ncs_color)choice;
		return choice >= 0;
	case NCS_OPTION_SYNTHETIC:
		return parse_synthetic(argument, options);
	case NCS_OPTION_KEYS:
		options->keys_path = argument;
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
		return " from 0.1 to 86400";
	case NCS_OPTION_COUNT:
		return ", 1 or more";
	case NCS_OPTION_SYNTHETIC:
		return ", at most 4096x64";
	default:
		return "";
	}
}

static enum ncs_mode mode_of(int option)
{
	switch (option) {
	case NCS_OPTION_DUMP:
		return NCS_MODE_DUMP;
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

static bool take_option(struct ncs_options *options, int option,
			const char *argument, char *error, size_t error_size)
{
	enum ncs_mode mode = mode_of(option);

	if (option == NCS_OPTION_SET &&
	    !take_setting(options, argument, error, error_size))
		return false;
	if (argument && !take_argument(options, option, argument)) {
		snprintf(error, error_size, "--%s expects %s%s, not '%s'",
			 lines[option].name, lines[option].argument,
			 limits_of(option), argument);
		return false;
	}
	if (option == NCS_OPTION_ASCII)
		options->ascii = true;
	if (mode == NCS_MODE_LIVE)
		return true;
	if (options->mode != NCS_MODE_LIVE && options->mode != mode &&
	    mode != NCS_MODE_HELP && mode != NCS_MODE_VERSION) {
		snprintf(error, error_size,
			 "--%s is one thing too many: one of --dump, --list,"
			 " --clean and --set is expected",
			 lines[option].name);
		return false;
	}
	options->mode = mode;
	return true;
}

/* --- All of them -------------------------------------------------------- */

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

bool ncs_options_parse(struct ncs_options *options, int argc, char **argv,
		       char *error, size_t error_size)
{
	struct getopt_tables tables;
	int code;

	memset(options, 0, sizeof(*options));
	options->interval_ns = NCS_INTERVAL_DEFAULT_NS;
	options->view = NCS_VIEW_COUNT;
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
	if (optind < argc) {
		snprintf(error, error_size,
			 "'%s' is no option; an optional argument is joined by"
			 " '=', as in --dump=json",
			 argv[optind]);
		return false;
	}
	/* What would be ignored must not look as if it protected anything. */
	if (options->mode == NCS_MODE_CLEAN &&
	    (options->pid || options->synthetic_ranks)) {
		snprintf(error, error_size,
			 "--clean expects no --pid and no --synthetic beside"
			 " it: it removes the segments of all processes that"
			 " are gone");
		return false;
	}
	if (options->mode == NCS_MODE_SET && options->synthetic_ranks) {
		snprintf(error, error_size,
			 "--set expects no --synthetic beside it: a made-up job"
			 " cannot be asked for anything");
		return false;
	}
	if (options->comm && options->mode != NCS_MODE_SET) {
		snprintf(error, error_size,
			 "--comm expects --set beside it: views show all"
			 " communicators");
		return false;
	}
	return true;
}

/* --- Help --------------------------------------------------------------- */

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

void ncs_options_help(FILE *file, unsigned columns)
{
	char text[80];

	fputs("Usage: ncclstat [OPTION]...\n"
	      "Shows what NCCL does, live, in jobs on this machine that have"
	      " loaded ncclstat's\nprofiler plugin.\n\n",
	      file);
	for (int i = 0; i < NCS_OPTIONS_END; i++) {
		describe(&lines[i], text, sizeof(text));
		if (strlen(text) + 2 > HELP_COLUMN)
			fprintf(file, "%s\n%*s", text, HELP_COLUMN, "");
		else
			fprintf(file, "%-*s", HELP_COLUMN, text);
		write_folded(file, lines[i].help, columns);
	}
	fputs("\nA job loads the plugin if its environment has"
	      " LD_LIBRARY_PATH with the plugin's\nfolder and"
	      " NCCL_PROFILER_PLUGIN=libnccl-profiler-ncclstat.so; see"
	      " ncclstat(1).\n",
	      file);
}
