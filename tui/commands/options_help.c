/* SPDX-License-Identifier: MIT */
/* The text of --help, from the table of options. */
#include "tui/commands/option_rows.h"

#include <string.h>

#define HELP_COLUMN 26

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

void ncs_options_help(FILE *file, unsigned columns)
{
	char text[128];

	fputs("Usage: ncclstat [OPTION]... [FILE]...\n"
	      "       ncclstat run [--watch=FILE] -- COMMAND [ARGUMENT]...\n"
	      "       ncclstat env\n"
	      "Shows what NCCL does, live, in jobs on this machine that have"
	      " loaded ncclstat's\nprofiler plugin, or did in jobs that were"
	      " recorded in FILEs.\n\n",
	      file);
	for (int i = 0; i < NCS_OPTIONS_END; i++) {
		describe(&ncs_option_rows[i], text, sizeof(text));
		if (strlen(text) + 2 > HELP_COLUMN) {
			write_option(file, text, columns);
			fprintf(file, "%*s", HELP_COLUMN, "");
		} else {
			fprintf(file, "%-*s", HELP_COLUMN, text);
		}
		write_folded(file, ncs_option_rows[i].help, columns);
	}
	fputs("\n\"run\" starts a command whose NCCL loads the plugin; \"env\""
	      " prints the variables\nthat it sets, for a shell or a job's"
	      " script. See ncclstat(1).\n",
	      file);
}
