/* SPDX-License-Identifier: MIT */
/* The program ncclstat: reads the options, and runs the live view or a command.
 *
 * The program only reads, with these exceptions: --set and keys of the live
 * view (tui/commands/set_command.c, tui/screen/lease.c) change what the plugin
 * collects; --clean removes the segments of dead processes; --record and
 * --export write files; "run" becomes another program; and keys save the configuration
 * (tui/commands/config_file.c) and the screen (tui/screen/save.c) to files.
 */
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ncclstat/reader.h"
#include "tui/commands/commands.h"
#include "tui/commands/config_file.h"
#include "tui/commands/options.h"
#include "tui/commands/run_command.h"
#include "tui/screen/live.h"
#include "tui/text/nearest.h"
#include "tui/text/output.h"

static struct {
	int count;
	char **words;
} command_line;

/* The live view's configuration, for run_live(). */
static struct ncs_config_file config;
static char complaint[160];

/* Sets the options of the live view: first from the configuration file, then
 * again from the command line, which overrides the file. Errors in the file go
 * to stderr; the first one is kept for the screen. A dump ignores the file:
 * programs read dumps, so a dump must be the same for all users. */
static void configure(struct ncs_options *options, const char *config_path)
{
	char error[256], *text = NULL;
	size_t length = 0;
	FILE *complaints = open_memstream(&text, &length);

	ncs_config_file_find(&config, config_path);
	ncs_options_init(options);
	if (complaints) {
		ncs_config_file_load(&config, options, complaints);
		fclose(complaints);
		fputs(text, stderr);
		snprintf(complaint, sizeof(complaint), "%.*s",
			 (int)strcspn(text, "\n"), text);
		free(text);
	}
	/* main() has found no error in it. */
	ncs_options_parse(options, command_line.count, command_line.words,
			  error, sizeof(error));
	if (options->ascii)
		options->symbols = NCS_SYMBOLS_ASCII;
}

static int run_live(const struct ncs_command_input *input)
{
	return ncs_live_run(input->options, &config, complaint, input->source,
			    input->replay);
}

/* Runs the live view if there is a terminal that can show it, else a dump. */
static int look(const struct ncs_command_input *input)
{
	if (input->options->keys_path && !ncs_commands_have_terminal()) {
		ncs_complain("--keys needs a terminal for input and output");
		return NCS_EXIT_USAGE;
	}
	if (ncs_commands_have_terminal()) {
		struct ncs_command_input live = *input;
		struct ncs_options options;
		int status;

		configure(&options, input->options->config_path);
		live.options = &options;
		status = ncs_commands_run_with_aliases(run_live, &live);
		if (status >= 0)
			return status;
		ncs_complain("no live view on this terminal (%s); here is"
			     " a dump\n",
			     strerror(-status));
	}
	return ncs_commands_run_with_aliases(ncs_dump_run, input);
}

/* Whether the first word is meant as a command or an option but is none, and no
 * file. Prints a message with the nearest one then. */
static bool is_mistyped(int count, char **words)
{
	struct ncs_nearest nearest;
	char text[128] = "";

	/* A file of that name is a recording. */
	if (count < 2 || words[1][0] == '-' || ncs_subcommand_of(count, words) ||
	    access(words[1], F_OK) == 0)
		return false;
	ncs_nearest_begin(&nearest, words[1], strlen(words[1]));
	for (size_t i = 0; i < ncs_subcommand_count; i++)
		ncs_nearest_try(&nearest, ncs_subcommands[i].name);
	ncs_nearest_append(&nearest, "ncclstat ", text, sizeof(text));
	if (!text[0])
		ncs_options_suggest(words[1], true, text, sizeof(text));
	if (!text[0])
		return false;
	ncs_complain("'%s' is no command and no recording%s (see ncclstat"
		     " --help)",
		     words[1], text);
	return true;
}

int main(int argc, char **argv)
{
	struct ncs_options options;
	char error[1024];

	/* Not LC_NUMERIC: numbers have points in every locale. */
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	if (ncs_is_run_command(argc, argv))
		return ncs_run_run(argc, argv);
	if (is_mistyped(argc, argv))
		return NCS_EXIT_USAGE;
	command_line.count = argc;
	command_line.words = argv;
	ncs_options_init(&options);
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		ncs_complain_in_ascii();
	if (!ncs_options_parse(&options, argc, argv, error, sizeof(error))) {
		ncs_complain("%s (see ncclstat %s%s--help)", error,
			     options.subcommand ? options.subcommand->name : "",
			     options.subcommand ? " " : "");
		return NCS_EXIT_USAGE;
	}
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		options.ascii = true;
	if (options.ascii)
		ncs_complain_in_ascii();
	ncs_reader_guard();
	return ncs_commands_run(&options, look);
}
