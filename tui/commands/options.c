/* SPDX-License-Identifier: MIT */
/* Options from the command line and from single values; see options.h. */
#include "tui/commands/options.h"

#include <assert.h>
#include <string.h>

#include "analysis/base/append.h"
#include "analysis/metrics/metrics.h"
#include "tui/commands/option_rows.h"
#include "tui/text/nearest.h"

static_assert(NCS_OPTIONS_END < 8 * sizeof(ncs_option_set),
	      "options fit a set, with one bit more");

/* --- The table ---------------------------------------------------------- */

void ncs_options_suggest(const char *word, bool modes_only, char *text,
			 size_t size)
{
	struct ncs_nearest nearest;

	ncs_nearest_begin(&nearest, word, strcspn(word, "="));
	for (int i = 0; i < NCS_OPTIONS_END; i++)
		if (!modes_only || ncs_option_rows[i].mode != NCS_MODE_LIVE)
			ncs_nearest_try(&nearest, ncs_option_rows[i].name);
	ncs_nearest_append(&nearest, "--", text, size);
}

bool ncs_options_is_live(enum ncs_option option)
{
	return ncs_option_rows[option].place == NCS_PLACE_LIVE;
}

/* --- Commands as first words ------------------------------------------- */

const struct ncs_subcommand ncs_subcommands[] = {
#define X(name, TASK, options, operands, option, takes, brief) \
	{ name, NCS_TASK_##TASK, options, operands, option, takes, brief },
	NCS_SUBCOMMANDS(X)
#undef X
};

const size_t ncs_subcommand_count =
	sizeof(ncs_subcommands) / sizeof(ncs_subcommands[0]);

const struct ncs_subcommand *ncs_subcommand_of(int count, char **words)
{
	for (size_t i = 0; count > 1 && i < ncs_subcommand_count; i++)
		if (strcmp(words[1], ncs_subcommands[i].name) == 0)
			return &ncs_subcommands[i];
	return NULL;
}

/* --- One option --------------------------------------------------------- */

void ncs_options_init(struct ncs_options *options)
{
	memset(options, 0, sizeof(*options));
	options->interval_ns = NCS_INTERVAL_DEFAULT_NS;
	options->recording.pack_level = 1;
	options->view = NCS_VIEW_COUNT;
	options->metrics = ncs_metrics_default();
	options->series_max = NCS_METRICS_SERIES_DEFAULT;
	options->archive_bytes = NCS_ARCHIVE_BYTES;
}

bool ncs_options_is_given(const struct ncs_options *options,
			  enum ncs_option option)
{
	return options->given >> option & 1;
}

bool ncs_options_want_nodes(const struct ncs_options *options)
{
	return options->follows || options->hosts || options->slurm ||
	       options->kube || options->from;
}

/* Reads an argument, which is NULL if there is none. Returns false, and sets
 * `error` to what the option expects, if the argument is wrong. */
static bool take_argument(struct ncs_options *options, enum ncs_option option,
			  const char *argument, char *error, size_t error_size)
{
	const struct ncs_option_row *row = &ncs_option_rows[option];
	const struct ncs_option_input input = {
		.options = options,
		.row = row,
		.argument = argument,
		.why = error,
		.why_size = error_size,
	};

	error[0] = '\0';
	if (row->kind->take(&input))
		return true;
	if (!error[0])
		ncs_option_refuse(row, argument, error, error_size);
	return false;
}

bool ncs_options_set(struct ncs_options *options, enum ncs_option option,
		     const char *value, char *error, size_t error_size)
{
	struct ncs_options changed = *options;

	if (!take_argument(&changed, option, value, error, error_size) ||
	    !ncs_option_rules_check_titles(&changed, error, error_size))
		return false;
	/* Exports heed the command line only. */
	memset(changed.columns_text, 0, sizeof(changed.columns_text));
	changed.columns_are_titles = false;
	memset(changed.sort_text, 0, sizeof(changed.sort_text));
	changed.sorts_are_titles = false;
	*options = changed;
	return true;
}

void ncs_options_value(const struct ncs_options *options,
		       enum ncs_option option, char *text, size_t size)
{
	const struct ncs_option_row *row = &ncs_option_rows[option];

	row->kind->print(options, row, text, size);
}

/* --- The command line --------------------------------------------------- */

/* Returns the name of the option that was given for the mode: each mode but LIVE comes
 * from one. */
static const char *given_for_mode(const struct ncs_options *options)
{
	int option = 0;

	while (!(options->given & NCS_OPTION_BIT(option)) ||
	       ncs_option_rows[option].mode != options->mode)
		option++;
	return ncs_option_rows[option].name;
}

/* Sets the mode that an option requests. An export may include a critical path, a
 * comparison may be written as a report, and a watch may serve metrics; the order of
 * such two options does not matter. */
static bool take_mode(struct ncs_options *options, enum ncs_option option,
		      char *error, size_t error_size)
{
	static const struct {
		enum ncs_mode part, whole;
	} parts[] = { { NCS_MODE_CRITICAL_PATH, NCS_MODE_EXPORT },
		      { NCS_MODE_REPORT, NCS_MODE_COMPARE },
		      { NCS_MODE_LISTEN, NCS_MODE_WATCH } };
	enum ncs_mode mode = ncs_option_rows[option].mode;

	if (mode == NCS_MODE_LIVE)
		return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (options->mode == parts[i].part && mode == parts[i].whole)
			options->mode = mode;
		if (options->mode == parts[i].whole && mode == parts[i].part)
			mode = parts[i].whole;
	}
	if (options->mode != NCS_MODE_LIVE && options->mode != mode &&
	    mode != NCS_MODE_HELP && mode != NCS_MODE_VERSION) {
		snprintf(error, error_size,
			 "--%s and --%s are two things to do: one is expected",
			 given_for_mode(options),
			 ncs_option_rows[option].name);
		return false;
	}
	options->mode = mode;
	return true;
}

static bool take_option(struct ncs_options *options, enum ncs_option option,
			const char *argument, char *error, size_t error_size)
{
	if (!take_argument(options, option, argument, error, error_size))
		return false;
	options->given |= NCS_OPTION_BIT(option);
	return take_mode(options, option, error, error_size);
}

enum {
	NO = no_argument,
	REQUIRED = required_argument,
	OPTIONAL = optional_argument,
};

/* The spellings of options: their names, then former ones. */
static const struct spelling {
	const char *name;
	char letter;
	int has;
	enum ncs_option option;
	/* Put around the argument by a former spelling; else NULL. */
	const char *before, *after;
} spellings[] = {
#define X(ID, name, letter, has, ...) \
	{ name, letter, has, NCS_OPTION_##ID, NULL, NULL },
	NCS_OPTIONS(X)
#undef X
#define X(name, letter, has, ID, before, after) \
	{ name, letter, has, NCS_OPTION_##ID, before, after },
		NCS_OLD_OPTIONS(X)
#undef X
};

#define SPELLINGS ((int)(sizeof(spellings) / sizeof(spellings[0])))

/* Codes of getopt_long() for long options begin here, above all characters. */
#define LONG_BASE 256

struct getopt_tables {
	struct option options[SPELLINGS + 1];
	char letters[1 + 3 * SPELLINGS + 1];
};

static void make_tables(struct getopt_tables *tables)
{
	memset(tables, 0, sizeof(*tables));
	/* Distinguishes a missing argument from an unknown option. */
	tables->letters[0] = ':';
	for (int i = 0; i < SPELLINGS; i++) {
		const struct spelling *spelling = &spellings[i];

		tables->options[i] = (struct option){
			.name = spelling->name,
			.has_arg = spelling->has,
			.val = LONG_BASE + i,
		};
		if (spelling->letter)
			ncs_append(tables->letters, sizeof(tables->letters),
				   "%c%.*s", spelling->letter, spelling->has,
				   "::");
	}
}

/* Returns the spelling for a code that getopt_long() returned; NULL if there is
 * none. */
static const struct spelling *find_spelling(int code)
{
	if (code >= LONG_BASE && code < LONG_BASE + SPELLINGS)
		return &spellings[code - LONG_BASE];
	for (int i = 0; i < SPELLINGS; i++)
		if (spellings[i].letter && spellings[i].letter == code)
			return &spellings[i];
	return NULL;
}

/* Says what a word is short for, or what may be meant by it. */
static void explain_name(const char *word, char *error, size_t error_size)
{
	const char *name = word + strspn(word, "-");
	size_t length = strcspn(name, "=");
	const char *gap = " is short for several: ";

	snprintf(error, error_size, "%.*s", (int)(name - word + length), word);
	for (int i = 0; i < NCS_OPTIONS_END; i++) {
		const char *of = ncs_option_rows[i].name;

		if (length == 0 || strncmp(of, name, length) != 0)
			continue;
		ncs_append(error, error_size, "%s--%s", gap, of);
		gap = ", ";
	}
	if (gap[0] == ',')
		return;
	ncs_append(error, error_size, " is no option");
	ncs_options_suggest(name, false, error, error_size);
}

/* Explains an error of getopt_long(). */
static void explain(int code, const char *word, char *error, size_t error_size)
{
	const struct spelling *spelling = find_spelling(optopt);
	const struct ncs_option_row *row =
		spelling ? &ncs_option_rows[spelling->option] : NULL;

	if (code == ':' && row)
		snprintf(error, error_size, "--%s expects %s", row->name,
			 row->argument);
	else if (row)
		snprintf(error, error_size, "--%s expects no argument",
			 row->name);
	else if (optopt > 0 && optopt < LONG_BASE)
		snprintf(error, error_size, "there is no option -%c", optopt);
	else
		explain_name(word, error, error_size);
}

/* Takes the command as the option that it stands for. */
static bool take_subcommand(struct ncs_options *options, char *error,
			    size_t error_size)
{
	const struct ncs_subcommand *command = options->subcommand;
	const char *operand = NULL;

	if (!command || command->option == NCS_OPTIONS_END ||
	    (command->option == NCS_OPTION_HOSTS &&
	     ncs_options_want_nodes(options)))
		return true;
	if (command->takes_operand) {
		if (options->file_count == 0) {
			snprintf(error, error_size, "%s expects %s",
				 command->name, command->operands);
			return false;
		}
		operand = *options->files++;
		options->file_count--;
	} else if (ncs_options_is_given(options, command->option)) {
		return true;
	}
	return take_option(options, command->option, operand, error,
			   error_size);
}

bool ncs_options_parse(struct ncs_options *options, int argc, char **argv,
		       char *error, size_t error_size)
{
	struct getopt_tables tables;
	int code;

	options->subcommand = ncs_subcommand_of(argc, argv);
	if (options->subcommand) {
		argc--;
		argv++;
	}

	make_tables(&tables);
	optind = 0; /* makes glibc start from the beginning */
	opterr = 0;
	while ((code = getopt_long(argc, argv, tables.letters, tables.options,
				   NULL)) != -1) {
		const struct spelling *spelling = find_spelling(code);
		const char *argument = optarg;
		char joined[NCS_OPTION_VALUE_MAX];

		if (!spelling) {
			explain(code, argv[optind - 1], error, error_size);
			return false;
		}
		if (spelling->before) {
			snprintf(joined, sizeof(joined), "%s%s%s",
				 spelling->before, optarg ? optarg : "",
				 spelling->after);
			argument = joined;
		}
		if (!take_option(options, spelling->option, argument, error,
				 error_size)) {
			const char *word = argv[optind - 1];

			/* "-dump" is read as "-d ump". */
			if (word[0] == '-' && word[1] != '-' &&
			    strlen(word) > 2)
				ncs_options_suggest(word + 1, false, error,
						    error_size);
			return false;
		}
		if (options->mode == NCS_MODE_HELP ||
		    options->mode == NCS_MODE_VERSION)
			return true;
	}
	if (ncs_options_is_given(options, NCS_OPTION_SYMBOLS) &&
	    options->symbols == NCS_SYMBOLS_ASCII)
		options->ascii = true;
	options->files = argv + optind;
	options->file_count = (size_t)(argc - optind);
	if (!take_subcommand(options, error, error_size))
		return false;
	if (options->mode == NCS_MODE_LIVE &&
	    (options->file_count > 0 || options->archive_path[0]) &&
	    !ncs_options_want_nodes(options))
		options->mode = NCS_MODE_REPLAY;
	return ncs_option_rules_check(options, error, error_size);
}
