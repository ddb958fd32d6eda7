/* SPDX-License-Identifier: MIT */
/* --clean: removes the shared memory of dead processes. shm/read/clean.h decides
 * whether a process is dead; this file only prints. */
#include "ncclstat/reader.h"
#include "tui/commands/command_runs.h"

#include <string.h>

#include "analysis/base/utf8.h"
#include "shm/read/clean.h"
#include "tui/text/output.h"

struct clean_report {
	FILE *file;
	bool ascii;
	bool failed;
};

static void print_path(const struct clean_report *report, const char *what,
		       const char *path)
{
	char clean[4096 + 1];

	ncs_utf8_clean(clean, sizeof(clean), path, report->ascii);
	fprintf(report->file, "%s %s\n", what, clean);
}

static void on_removed(const char *path, int error, void *argument)
{
	struct clean_report *report = argument;

	if (error) {
		ncs_complain("%s: %s", path, strerror(-error));
		report->failed = true;
	} else {
		print_path(report, "removed", path);
	}
}

int ncs_clean_run(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	const char *directory = ncs_directory(options->directory);
	struct clean_report report = { .ascii = options->ascii };
	struct ncs_output output;
	int removed, status = NCS_EXIT_OK;

	if (!ncs_output_init(&output))
		return NCS_EXIT_NOTHING;
	report.file = output.file;
	removed = ncs_clean(directory, on_removed, &report);
	if (removed < 0) {
		ncs_complain("%s: %s", directory, strerror(-removed));
		report.failed = true;
	} else if (removed == 0 && !report.failed) {
		print_path(&report, "nothing to remove in", directory);
	}
	if (report.failed)
		status = NCS_EXIT_NOTHING;
	ncs_output_release(&output, &status);
	return status;
}
