/* SPDX-License-Identifier: MIT */
/* --check: lists the processes here that have NCCL in them, and says of each
 * whether it is seen and, if not, what to do. shm/read/nccl_processes.h says how
 * the plugin stands in a process; this file only prints. */
#include "tui/commands/command_runs.h"

#include <inttypes.h>
#include <pwd.h>
#include <string.h>

#include "analysis/base/utf8.h"
#include "shm/clock.h"
#include "shm/read/job.h"
#include "shm/read/nccl_processes.h"
#include "tui/text/format.h"
#include "tui/text/output.h"

#define COMMAND_COLUMNS 60

static const struct presence_row {
	const char *name;
	const char *help;
} presences[NCS_PRESENCE_COUNT] = {
#define X(ID, name, help) { name, help },
	NCS_PLUGIN_PRESENCES(X)
#undef X
};

/* Notes the processes that have a segment to be read. Returns the number of
 * segments that cannot be read. */
static size_t note_publishing(struct ncs_nccl_processes *processes,
			      struct ncs_source *source)
{
	struct ncs_sample sample;
	size_t unreadable = 0;

	while (source->next(source, &sample)) {
		if (sample.attach != NCS_ATTACHED) {
			unreadable += sample.attach != NCS_ATTACH_NOT_READY;
			continue;
		}
		for (size_t i = 0; i < processes->count; i++) {
			uint32_t pid = processes->all[i].pid;

			if (ncs_choice_has(&(struct ncs_choice){ .pid = pid },
					   sample.header, sample.labels))
				ncs_nccl_process_publishes(processes, pid);
		}
	}
	return unreadable;
}

static void print_process(FILE *file, const struct ncs_nccl_process *process,
			  bool ascii)
{
	const struct passwd *user = getpwuid(process->uid);
	char name[NCS_FORMAT_MAX], version[16] = "-", clean[NCS_FORMAT_MAX];

	snprintf(name, sizeof(name), "%u", (unsigned)process->uid);
	if (user)
		ncs_utf8_clean(name, sizeof(name), user->pw_name, ascii);
	if (process->nccl_version != 0)
		snprintf(version, sizeof(version), "%u.%u.%u",
			 process->nccl_version >> 16,
			 process->nccl_version >> 8 & 0xff,
			 process->nccl_version & 0xff);
	ncs_utf8_clean(clean, sizeof(clean), process->command, ascii);
	ncs_format_clip(clean, COMMAND_COLUMNS);
	fprintf(file, "%7" PRIu32 "  %-8s  %-7s  %-15s  %s\n", process->pid,
		name, version, presences[process->presence].name, clean);
}

/* Prints what to do about the processes in which the plugin stands like this. */
static void print_advice(FILE *file, const struct ncs_nccl_processes *processes,
			 enum ncs_plugin_presence presence, bool ascii)
{
	const struct ncs_nccl_process *first = NULL;
	char detail[NCS_FORMAT_MAX];
	size_t count = 0;

	for (size_t i = 0; i < processes->count; i++) {
		if (processes->all[i].presence != presence)
			continue;
		if (count++ == 0)
			first = &processes->all[i];
	}
	if (count == 0 || presence == NCS_PRESENCE_PUBLISHES)
		return;
	fprintf(file, "\n%s (%zu): %s\n", presences[presence].name, count,
		presences[presence].help);
	if (first->detail[0]) {
		ncs_utf8_clean(detail, sizeof(detail), first->detail, ascii);
		fprintf(file, "  in process %" PRIu32 ": %s\n", first->pid,
			detail);
	}
}

static size_t count_publishing(const struct ncs_nccl_processes *processes)
{
	size_t count = 0;

	for (size_t i = 0; i < processes->count; i++)
		count += processes->all[i].presence == NCS_PRESENCE_PUBLISHES;
	return count;
}

static void print_all(FILE *file, const struct ncs_nccl_processes *processes,
		      size_t unreadable_segments, bool ascii)
{
	if (processes->count == 0)
		fputs("no process here has NCCL as a library of its own; one"
		      " that was linked into a program is not seen\n",
		      file);
	else
		fprintf(file, "%7s  %-8s  %-7s  %-15s  %s\n", "PID", "USER",
			"NCCL", "PLUGIN", "COMMAND");
	for (size_t i = 0; i < processes->count; i++)
		print_process(file, &processes->all[i], ascii);
	for (unsigned i = 0; i < NCS_PRESENCE_COUNT; i++)
		print_advice(file, processes, i, ascii);
	if (processes->unreadable > 0)
		fprintf(file,
			"\nprocesses of other users, which cannot be looked"
			" into: %" PRIu64 "; try again with sudo\n",
			processes->unreadable);
	if (unreadable_segments > 0)
		fprintf(file,
			"\nsegments that cannot be read: %zu; --list says"
			" why\n",
			unreadable_segments);
}

int ncs_check_run(const struct ncs_command_input *input)
{
	const struct ncs_options *options = input->options;
	struct ncs_source *source = input->source;
	struct ncs_nccl_processes processes;
	size_t publishing, unreadable = 0;
	struct ncs_output output;
	int status, error;
	char why[256];

	error = ncs_nccl_processes_list(&processes, options->directory);
	if (error) {
		ncs_complain("/proc: %s", strerror(-error));
		ncs_nccl_processes_release(&processes);
		return NCS_EXIT_NOTHING;
	}
	/* A directory that cannot be listed has no segments: that is what the
	 * processes are then told to have. */
	if (source->begin(source, ncs_clock_monotonic_ns(), why, sizeof(why)) ==
	    0)
		unreadable = note_publishing(&processes, source);
	else
		ncs_complain("%s", why);
	publishing = count_publishing(&processes);
	status = processes.count > 0 && publishing == processes.count ?
			 NCS_EXIT_OK :
			 NCS_EXIT_NOTHING;
	if (ncs_output_init(&output)) {
		print_all(output.file, &processes, unreadable, options->ascii);
		ncs_output_release(&output, &status);
	} else {
		status = NCS_EXIT_NOTHING;
	}
	ncs_nccl_processes_release(&processes);
	return status;
}
