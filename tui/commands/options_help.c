/* SPDX-License-Identifier: MIT */
/* The text of --help, from the tables of options, tasks and commands. */
#include "tui/commands/option_rows.h"

#include <string.h>

#include "tui/serve/http_server.h"
#include "tui/term/wrap.h"

#define HELP_COLUMN 26
/* In the short help: width of a task's word and of what is before the briefs. */
#define WORD_COLUMN 9
#define BRIEF_COLUMN 41

static const struct {
	const char *word, *title, *page;
} tasks[] = {
	[NCS_TASK_OTHER] = { "", "Other", "ncclstat(1)" },
#define X(ID, word, title, page) [NCS_TASK_##ID] = { word, title, page },
	NCS_TASKS(X)
#undef X
};

static const struct {
	enum ncs_task task;
	enum ncs_option option;
	const char *brief;
} first_options[] = {
#define X(TASK, ID, brief) { NCS_TASK_##TASK, NCS_OPTION_##ID, brief },
	NCS_FIRST_OPTIONS(X)
#undef X
};

/* Prints an option as "  -i, --interval=SECONDS". */
static void describe(const struct ncs_option_row *row, char *text, size_t size)
{
	char letter[8] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(text, size, "  %s--%s%s%s%s", letter, row->name,
		 row->has == optional_argument ? "[=" :
		 row->has == required_argument ? "=" :
						 "",
		 row->argument, row->has == optional_argument ? "]" : "");
}

/* Writes text in lines broken at blanks; indents all lines except the first. */
static void write_folded(FILE *file, const char *text, int indent,
			 unsigned columns)
{
	int room = (int)columns > indent + 20 ? (int)columns - indent : 20;

	for (;;) {
		size_t length = ncs_line_length(text, room);

		fprintf(file, "%.*s\n", (int)length, text);
		text += length;
		text += strspn(text, " ");
		if (!*text)
			return;
		fprintf(file, "%*s", indent, "");
	}
}

/* Writes an option; breaks it at a | if its words do not fit on a line. */
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

static bool is_left_out(enum ncs_option option)
{
	return option == NCS_OPTION_LISTEN && !ncs_http_is_built();
}

/* Returns an option in the usage of a command; NULL if that does not name it. */
static const char *named_by(const struct ncs_subcommand *command, int option)
{
	char name[64];

	snprintf(name, sizeof(name), "--%s=", ncs_option_rows[option].name);
	return strstr(command->options, name);
}

/* Returns whether the help of a command lists an option: one that its usage names,
 * or one of its task that does not choose what the program does. */
static bool command_takes(const struct ncs_subcommand *command, int option)
{
	return named_by(command, option) ||
	       (command->option != NCS_OPTIONS_END &&
		ncs_option_rows[option].task == command->task &&
		ncs_option_rows[option].mode == NCS_MODE_LIVE);
}

/* Writes all options of a task, or those that a command takes. */
static void write_options(FILE *file, enum ncs_task task,
			  const struct ncs_subcommand *command, unsigned columns)
{
	const char *gap = command ? "\n" : "", *named;
	char text[1024];

	for (int i = 0; i < NCS_OPTIONS_END; i++) {
		if (command ? !command_takes(command, i) :
			      ncs_option_rows[i].task != task)
			continue;
		fputs(gap, file);
		gap = "";
		describe(&ncs_option_rows[i], text, sizeof(text));
		/* A command may take another argument than the option does. */
		named = command ? named_by(command, i) : NULL;
		if (named)
			snprintf(text, sizeof(text), "      %.*s",
				 (int)strcspn(named, " ]"), named);
		if (strlen(text) + 2 > HELP_COLUMN) {
			write_option(file, text, columns);
			fprintf(file, "%*s", HELP_COLUMN, "");
		} else {
			fprintf(file, "%-*s", HELP_COLUMN, text);
		}
		snprintf(text, sizeof(text), "%s%s",
			 is_left_out((enum ncs_option)i) ?
				 "(Not in this build: no libmicrohttpd.) " :
				 "",
			 ncs_option_rows[i].help);
		write_folded(file, text, HELP_COLUMN, columns);
	}
}

static void write_subcommand(FILE *file, const struct ncs_subcommand *command,
			     int column)
{
	int length = fprintf(file, "ncclstat %s%s%s", command->name,
			     command->operands[0] ? " " : "",
			     command->operands);

	fprintf(file, "%*s%s\n", length < column ? column - length : 1, "",
		command->brief);
}

/* --- One screen ------------------------------------------------------------- */

/* Begins a line, the first of a task with its word. */
static void begin_line(FILE *file, const char **word)
{
	fprintf(file, "%-*s", WORD_COLUMN, *word);
	*word = "";
}

static void write_first_option(FILE *file, enum ncs_option option,
			       const char *brief)
{
	const struct ncs_option_row *row = &ncs_option_rows[option];
	char text[64] = "  ", word[32];

	/* One of its words stands for all. */
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(row->argument, "|"),
		 row->argument);
	if (row->letter)
		snprintf(text, sizeof(text), "  -%c, ", row->letter);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "--%s%s%s",
		 row->name, row->has == required_argument ? "=" : "",
		 row->has != required_argument ? "" :
		 strchr(row->argument, '|')    ? "VIEW" :
						 word);
	fprintf(file, "%-*s%s%s\n", BRIEF_COLUMN - WORD_COLUMN, text, brief,
		is_left_out(option) ? " (not in this build)" : "");
}

static void write_first(FILE *file, enum ncs_task task)
{
	const char *word = tasks[task].word;

	if (task == NCS_TASK_LOOK) {
		begin_line(file, &word);
		fprintf(file, "%-*s%s\n", BRIEF_COLUMN - WORD_COLUMN,
			"ncclstat", "the live view; ? for help, q to quit");
	}
	for (size_t i = 0; i < ncs_subcommand_count; i++) {
		if (ncs_subcommands[i].task != task)
			continue;
		begin_line(file, &word);
		write_subcommand(file, &ncs_subcommands[i],
				 BRIEF_COLUMN - WORD_COLUMN);
	}
	for (size_t i = 0; i < sizeof(first_options) / sizeof(first_options[0]);
	     i++) {
		if (first_options[i].task != task)
			continue;
		begin_line(file, &word);
		write_first_option(file, first_options[i].option,
				   first_options[i].brief);
	}
}

/* --- All -------------------------------------------------------------------- */

static void write_task(FILE *file, enum ncs_task task, unsigned columns)
{
	fprintf(file, "\n%s: %s\n", tasks[task].title, tasks[task].page);
	for (size_t i = 0; i < ncs_subcommand_count; i++) {
		if (ncs_subcommands[i].task != task)
			continue;
		fputs("  ", file);
		write_subcommand(file, &ncs_subcommands[i],
				 BRIEF_COLUMN - 2);
	}
	write_options(file, task, NULL, columns);
}

static void write_command_help(FILE *file, const struct ncs_subcommand *command,
			       unsigned columns)
{
	bool is_option = command->option != NCS_OPTIONS_END;

	fprintf(file, "Usage: ncclstat %s%s%s%s%s\n\n", command->name,
		command->options[0] ? " " : "", command->options,
		command->operands[0] ? " " : "", command->operands);
	write_folded(file,
		     is_option ? ncs_option_rows[command->option].help :
				 command->brief,
		     0, columns);
	write_options(file, command->task, command, columns);
	if (!is_option)
		return;
	fprintf(file,
		"\n%s explains them. Options of other tasks hold, too:"
		" --help=all\n",
		tasks[command->task].page);
}

void ncs_options_help(FILE *file, const struct ncs_options *options,
		      unsigned columns)
{
	if (options->subcommand) {
		write_command_help(file, options->subcommand, columns);
		return;
	}
	fputs("Usage: ncclstat [COMMAND] [OPTION]... [FILE]...\n", file);
	for (unsigned i = NCS_TASK_OTHER + 1; i < NCS_TASK_SETTINGS; i++)
		if (options->help_all)
			write_task(file, (enum ncs_task)i, columns);
		else
			write_first(file, (enum ncs_task)i);
	if (options->help_all)
		write_task(file, NCS_TASK_OTHER, columns);
	fputs(options->help_all ?
		      "\nSettings of the live view (F2) and its file:"
		      " ncclstat-views(7).\n" :
		      "More: ncclstat COMMAND --help; --help=all; man"
		      " ncclstat\n",
	      file);
}
