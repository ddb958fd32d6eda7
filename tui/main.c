/* SPDX-License-Identifier: MIT */
/* The program ncclstat: decides what to do and has it done.
 *
 * It only looks, but for some things: --set and the live view's keys for it
 * (tui/commands/set_command.c, tui/screen/lease.c) change what the plugin collects, --clean removes
 * what dead processes left, --record writes files, and a key writes the
 * configuration file (tui/commands/config_file.c).
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/aliases.h"
#include "analysis/base/source.h"
#include "analysis/sources/source_shm.h"
#include "ncclstat/version.h"
#include "record/read/replay.h"
#include "tui/commands/clean_command.h"
#include "tui/commands/config_file.h"
#include "tui/commands/critical_path_command.h"
#include "tui/commands/diagnose_command.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/export_command.h"
#include "tui/commands/list_command.h"
#include "tui/commands/list_recording.h"
#include "tui/screen/live.h"
#include "tui/commands/options.h"
#include "tui/synthetic/source_synthetic.h"
#include "tui/text/output.h"
#include "tui/commands/record_command.h"
#include "tui/commands/set_command.h"
#include "tui/text/text_file.h"

#define HELP_COLUMNS 80

static int print_about(enum ncs_mode mode)
{
	struct ncs_output output;
	int status = NCS_EXIT_OK;

	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	if (mode == NCS_MODE_HELP)
		ncs_options_help(output.file, HELP_COLUMNS);
	else
		fputs("ncclstat " NCS_VERSION_TEXT "\n", output.file);
	ncs_output_release(&output, &status);
	return status;
}

static struct ncs_source *open_source(const struct ncs_options *options)
{
	if (options->synthetic_ranks > 0)
		return ncs_source_open_synthetic(options->synthetic_seed,
						 options->synthetic_ranks,
						 options->synthetic_channels);
	return ncs_source_open_shm(options->directory, options->pid);
}

struct command {
	int argc;
	char **argv;
	struct ncs_options options;
};

/* What holds for the live view: the configuration file and, over it, the
 * command line again. What is wrong with the file is said on stderr, and the
 * first of it returned. A dump is the same whatever the file says: programs
 * read it. */
static void configure(const struct command *command,
		      const struct ncs_config_file *config,
		      struct ncs_options *options, char *complaint, size_t size)
{
	char error[256], *text = NULL;
	size_t length = 0;
	FILE *complaints = open_memstream(&text, &length);

	ncs_options_init(options);
	if (complaints) {
		ncs_config_file_load(config, options, complaints);
		fclose(complaints);
		fputs(text, stderr);
		snprintf(complaint, size, "%.*s", (int)strcspn(text, "\n"),
			 text);
		free(text);
	}
	/* It has been found to be right before. */
	ncs_options_parse(options, command->argc, command->argv, error,
			  sizeof(error));
	if (options->ascii)
		options->symbols = NCS_SYMBOLS_ASCII;
}

/* Has communicators called as the user's file says. False: it has been said
 * what is wrong with the file. */
static bool give_names(const struct ncs_options *options,
		       struct ncs_source *source, struct ncs_aliases *aliases)
{
	const char *path = options->aliases_path;
	unsigned line = 0;
	char *text;
	int error;

	if (!path[0])
		return true;
	error = ncs_text_file_read(path, &text);
	if (!error)
		error = ncs_aliases_parse(aliases, text, &line);
	free(text);
	source->aliases = aliases;
	if (error && line > 0)
		fprintf(stderr, "ncclstat: %s:%u: %s\n", path, line,
			error == -EINVAL ?
				"a name is missing after the pattern" :
				strerror(-error));
	else if (error)
		fprintf(stderr, "ncclstat: %s: %s\n", path, strerror(-error));
	return !error;
}

static int look_live(const struct command *command, struct ncs_source *source,
		     struct ncs_replay *replay)
{
	struct ncs_aliases aliases = { 0 };
	struct ncs_options options;
	struct ncs_config_file config;
	char complaint[160] = "";
	int status = NCS_EXIT_USAGE;

	ncs_config_file_find(&config, command->options.config_path);
	configure(command, &config, &options, complaint, sizeof(complaint));
	if (give_names(&options, source, &aliases))
		status = ncs_live_run(&options, &config, complaint, source,
				      replay);
	source->aliases = NULL;
	ncs_aliases_release(&aliases);
	return status;
}

static int print(const struct command *command, struct ncs_source *source,
		 struct ncs_replay *replay,
		 int (*run)(const struct ncs_options *options,
			    struct ncs_source *source,
			    struct ncs_replay *replay))
{
	struct ncs_aliases aliases = { 0 };
	int status = NCS_EXIT_USAGE;

	if (give_names(&command->options, source, &aliases))
		status = run(&command->options, source, replay);
	source->aliases = NULL;
	ncs_aliases_release(&aliases);
	return status;
}

static bool has_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* The live view where there is a terminal, else a dump. */
static int look(const struct command *command, struct ncs_source *source,
		struct ncs_replay *replay)
{
	int status;

	if (!has_terminal())
		return print(command, source, replay, ncs_dump_run);
	status = look_live(command, source, replay);
	if (status >= 0)
		return status;
	fprintf(stderr,
		"ncclstat: no live view on this terminal (%s); here is a"
		" dump\n",
		strerror(-status));
	return print(command, source, replay, ncs_dump_run);
}

/* A dump or a diagnosis is of the end unless it is told otherwise, of all ranks
 * that there were; what is played, and samples at intervals, begin with the
 * beginning. An export has all ranks, and what their last counts were. */
static struct ncs_replay_part part_of(const struct ncs_options *options)
{
	struct ncs_replay_part part = {
		.from = options->from,
		.until = options->until,
		.at = options->at,
		.pid = options->pid,
		.keeps_ended = options->mode == NCS_MODE_EXPORT,
	};
	bool begins =
		options->mode == NCS_MODE_LIST ||
		options->mode == NCS_MODE_EXPORT ||
		options->mode == NCS_MODE_CRITICAL_PATH ||
		(options->mode == NCS_MODE_REPLAY && has_terminal()) ||
		(options->mode != NCS_MODE_DIAGNOSE && ncs_options_is_given(options, NCS_OPTION_INTERVAL));

	if (part.at.kind != NCS_INSTANT_NONE || begins)
		return part;
	part.keeps_ended = part.until.kind == NCS_INSTANT_NONE;
	part.at =
		part.keeps_ended ?
			(struct ncs_instant){ .kind = NCS_INSTANT_BEFORE_END } :
			part.until;
	return part;
}

/* Of recordings. */
static int execute_replay(const struct command *command)
{
	const struct ncs_options *options = &command->options;
	struct ncs_replay_part part = part_of(options);
	struct ncs_replay replay;
	char why[4600];
	int status = NCS_EXIT_NOTHING;

	if (ncs_replay_open(&replay, (const char *const *)options->files,
			    options->file_count, &part, why,
			    sizeof(why)) != 0) {
		fprintf(stderr, "ncclstat: %s\n", why);
		if (options->mode == NCS_MODE_DIAGNOSE)
			status = NCS_EXIT_NO_VERDICT;
	} else if (options->mode == NCS_MODE_LIST) {
		status = ncs_list_recording_run(options, &replay);
	} else if (options->mode == NCS_MODE_CRITICAL_PATH) {
		status = ncs_critical_path_run(options, &replay);
	} else if (options->mode == NCS_MODE_DUMP) {
		status = print(command, replay.source, &replay, ncs_dump_run);
	} else if (options->mode == NCS_MODE_DIAGNOSE) {
		status = print(command, replay.source, &replay,
			       ncs_diagnose_run);
	} else if (options->mode == NCS_MODE_EXPORT) {
		status = print(command, replay.source, &replay, ncs_export_run);
	} else {
		status = look(command, replay.source, &replay);
	}
	ncs_replay_close(&replay);
	return status;
}

static int execute(const struct command *command)
{
	const struct ncs_options *options = &command->options;
	struct ncs_source *source = open_source(options);
	int status;

	if (!source) {
		fprintf(stderr, "ncclstat: %s\n", strerror(ENOMEM));
		return NCS_EXIT_NOTHING;
	}
	if (options->mode == NCS_MODE_SET)
		status = ncs_set_run(options, source);
	else if (options->mode == NCS_MODE_LIST)
		status = ncs_list_run(options, source);
	else if (options->mode == NCS_MODE_DUMP)
		status = print(command, source, NULL, ncs_dump_run);
	else if (options->mode == NCS_MODE_DIAGNOSE)
		status = print(command, source, NULL, ncs_diagnose_run);
	else
		status = look(command, source, NULL);
	source->close(source);
	return status;
}

int main(int argc, char **argv)
{
	struct command command = { .argc = argc, .argv = argv };
	struct ncs_options *options = &command.options;
	char error[256];

	/* Not LC_NUMERIC: numbers are to have points everywhere. */
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	ncs_options_init(options);
	if (!ncs_options_parse(options, argc, argv, error, sizeof(error))) {
		fprintf(stderr, "ncclstat: %s (see ncclstat --help)\n", error);
		return NCS_EXIT_USAGE;
	}
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		options->ascii = true;
	ncs_reader_guard();
	if (options->mode == NCS_MODE_HELP || options->mode == NCS_MODE_VERSION)
		return print_about(options->mode);
	if (options->mode == NCS_MODE_CLEAN)
		return ncs_clean_run(options);
	if (options->mode == NCS_MODE_RECORD)
		return ncs_record_run(options);
	return options->file_count > 0 ? execute_replay(&command) :
					 execute(&command);
}
