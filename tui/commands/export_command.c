/* SPDX-License-Identifier: MIT */
/* --export: writes recordings in another format, to a file or to standard output.
 * Opens the output and shows progress. Must not know the formats: record/export
 * writes them. */
#include "tui/commands/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/clock.h"
#include "tui/commands/critical_path_command.h"
#include "tui/commands/option_rows.h"
#include "tui/text/output.h"

#define BUFFER_BYTES (1u << 20)
#define PROGRESS_EVERY_NS UINT64_C(100000000)

struct export_progress {
	const struct ncs_options *options;
	struct ncs_replay *replay;
	bool is_shown;
	uint64_t shown_ns;
};

static void show_progress(void *context, uint64_t done, uint64_t total)
{
	struct export_progress *progress = context;
	uint64_t now_ns;

	if (!progress->is_shown || total == 0)
		return;
	now_ns = ncs_clock_monotonic_ns();
	if (now_ns - progress->shown_ns < PROGRESS_EVERY_NS)
		return;
	progress->shown_ns = now_ns;
	fprintf(stderr, "\r%3.0f %% of %" PRIu64 " records",
		100 * (double)done / (double)total, total);
}

static int add_path(void *context, struct ncs_trace_writer *writer)
{
	const struct export_progress *progress = context;

	return ncs_critical_path_trace(progress->options, progress->replay,
				       writer);
}

/* Whether the output is a folder. */
static bool writes_files(const struct ncs_options *options)
{
	return options->export_format == NCS_EXPORT_PARQUET;
}

static bool is_standard_output(const struct ncs_options *options)
{
	return !options->output_path || strcmp(options->output_path, "-") == 0;
}

/* Opens and returns the output. If the output cannot be used, prints a message,
 * sets *status to the exit status, and returns NULL. */
static FILE *open_output(const struct ncs_options *options, int *status)
{
	FILE *file;

	if (is_standard_output(options)) {
		if (!ncs_export_is_binary(options->export_format) ||
		    !isatty(STDOUT_FILENO))
			return stdout;
		ncs_complain("--export=%s is not for a terminal; write it"
			     " to a file with --output=FILE, or into a pipe",
			     ncs_export_name(options->export_format));
		*status = NCS_EXIT_USAGE;
		return NULL;
	}
	if (ncs_recording_is_one_of(options->output_path, options->files,
				    options->file_count)) {
		ncs_complain("%s: this is the recording itself; it would"
			     " be overwritten",
			     options->output_path);
		*status = NCS_EXIT_USAGE;
		return NULL;
	}
	file = fopen(options->output_path, "we");
	if (file)
		return file;
	ncs_complain("%s: %s", options->output_path, strerror(errno));
	*status = NCS_EXIT_NOTHING;
	return NULL;
}

/* Checks that the output is a folder, or can become one. If not, prints a
 * message and returns the exit status. */
static int check_folder(const struct ncs_options *options)
{
	struct stat status;

	if (stat(options->output_path, &status) != 0 ||
	    S_ISDIR(status.st_mode))
		return NCS_EXIT_OK;
	ncs_complain("%s: this is a file; --export=%s writes its files into a"
		     " folder",
		     options->output_path,
		     ncs_export_name(options->export_format));
	return NCS_EXIT_USAGE;
}

/* Prints an error. A closed pipe is not an error: its reader may have read
 * enough. Returns the program's exit status. */
static int say_error(const struct ncs_options *options, int error)
{
	if (error == -EPIPE && is_standard_output(options))
		return NCS_EXIT_OK;
	if (writes_files(options)) {
		ncs_complain("%s: %s; not all files are there",
			     options->output_path, strerror(-error));
		return NCS_EXIT_NOTHING;
	}
	ncs_complain("%s: %s; what is there is not all of it",
		     is_standard_output(options) ? "standard output" :
						   options->output_path,
		     strerror(-error));
	return NCS_EXIT_NOTHING;
}

static void say_missing(const struct ncs_export_result *result,
			const struct ncs_recording_facts *facts)
{
	if (result->lost > 0)
		ncs_complain(
			"%" PRIu64
			" records are missing: they had been overwritten before"
			" they were recorded, or are damaged",
			result->lost);
	if (facts->damaged_chunks > 0)
		ncs_complain("damaged chunks of the recording, whose contents are"
			     " missing: %" PRIu64,
			     facts->damaged_chunks);
}

/* Plays the recording up to the end of what is exported: up to the window's begin
 * as a dump does, from there on with all records, so that bandwidths are of the
 * window. */
static int fill_model(struct ncs_model *model,
		      const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	const struct ncs_replay *replay = input->replay;
	uint64_t window_ns = replay->until_ns - replay->from_ns;
	uint64_t at_ns;
	int error;

	if (options->window != NCS_WINDOW_START &&
	    ncs_window_ns(options->window) < window_ns)
		window_ns = ncs_window_ns(options->window);
	at_ns = replay->until_ns - window_ns;
	ncs_model_set_window(model, options->window);
	error = ncs_replay_fill(replay->source, model, NULL, replay->from_ns,
				at_ns, options->interval_ns);
	for (;;) {
		if (!error)
			error = ncs_model_update(model, replay->source, at_ns);
		if (error || at_ns == replay->until_ns)
			return error;
		at_ns = replay->until_ns - at_ns > options->interval_ns ?
				at_ns + options->interval_ns :
				replay->until_ns;
	}
}

int ncs_export_run(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	const struct ncs_replay *replay = input->replay;
	struct export_progress progress = {
		.options = options,
		.replay = input->replay,
		.is_shown = isatty(STDERR_FILENO) &&
			    (!is_standard_output(options) ||
			     !isatty(STDOUT_FILENO)),
	};
	bool wants_path =
		ncs_options_is_given(options, NCS_OPTION_CRITICAL_PATH) ||
		ncs_options_is_given(options, NCS_OPTION_WHAT_IF);
	struct ncs_export_request request = {
		.format = options->export_format,
		.from_ns = replay->records_from_ns,
		.until_ns = replay->records_until_ns,
		.pid = options->choice.pid,
		.directory = writes_files(options) ? options->output_path :
						     NULL,
		.aliases = input->source->aliases,
		.progress = show_progress,
		.add = wants_path ? add_path : NULL,
		.context = &progress,
	};
	struct ncs_export_result result = { 0 };
	struct ncs_model model;
	char why[1024];
	int status = NCS_EXIT_OK, error = 0;

	if (!ncs_export_choice(options, &request, why, sizeof(why))) {
		ncs_complain("%s", why);
		return NCS_EXIT_USAGE;
	}
	if (writes_files(options)) {
		status = check_folder(options);
		if (status != NCS_EXIT_OK)
			return status;
	} else {
		request.file = open_output(options, &status);
		if (!request.file)
			return status;
		setvbuf(request.file, NULL, _IOFBF, BUFFER_BYTES);
	}
	ncs_model_init(&model);
	if (request.format == NCS_EXPORT_CSV) {
		request.model = &model;
		error = fill_model(&model, input);
	}
	if (!error)
		error = ncs_export(replay->recording, &request, &result);
	ncs_model_release(&model);
	if (progress.is_shown && progress.shown_ns != 0)
		fputs("\r\033[K", stderr);
	if (request.file && request.file != stdout &&
	    fclose(request.file) != 0 && !error)
		error = -errno;
	say_missing(&result, ncs_recording_facts(replay->recording));
	return error ? say_error(options, error) : NCS_EXIT_OK;
}
