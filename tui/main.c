/* The program ncclstat: decides what to do and has it done.
 *
 * It only looks, but for three things: --set and the live view's keys for it
 * (tui/set.c, tui/lease.c) change what the plugin collects, and --clean removes
 * what dead processes left.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "analysis/source.h"
#include "ncclstat/version.h"
#include "tui/clean.h"
#include "tui/dump.h"
#include "tui/list.h"
#include "tui/live.h"
#include "tui/options.h"
#include "tui/output.h"
#include "tui/set.h"

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

/* The live view where there is a terminal, else a dump. */
static int look(const struct ncs_options *options, struct ncs_source *source)
{
	int status;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ncs_dump_run(options, source);
	status = ncs_live_run(options, source);
	if (status >= 0)
		return status;
	fprintf(stderr,
		"ncclstat: no live view on this terminal (%s); here is a"
		" dump\n",
		strerror(-status));
	return ncs_dump_run(options, source);
}

static int run(const struct ncs_options *options)
{
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
		status = ncs_dump_run(options, source);
	else
		status = look(options, source);
	source->close(source);
	return status;
}

int main(int argc, char **argv)
{
	struct ncs_options options;
	char error[256];

	/* Not LC_NUMERIC: numbers are to have points everywhere. */
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	if (!ncs_options_parse(&options, argc, argv, error, sizeof(error))) {
		fprintf(stderr, "ncclstat: %s (see ncclstat --help)\n", error);
		return NCS_EXIT_USAGE;
	}
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		options.ascii = true;
	ncs_reader_guard();
	if (options.mode == NCS_MODE_HELP || options.mode == NCS_MODE_VERSION)
		return print_about(options.mode);
	if (options.mode == NCS_MODE_CLEAN)
		return ncs_clean_run(&options);
	return run(&options);
}
