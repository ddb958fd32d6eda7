/* SPDX-License-Identifier: MIT */
/* --check: says whether a job that is started now would be seen, lists the
 * processes here that have NCCL in them, and says of each whether it is seen and,
 * if not, what to do. shm/read/nccl_processes.h says how the plugin stands in a
 * process. */
#include "ncclstat/reader.h"
#include "tui/commands/commands.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analysis/base/utf8.h"
#include "shm/clock.h"
#include "shm/read/job.h"
#include "shm/read/nccl_processes.h"
#include "shm/read/paths.h"
#include "tui/commands/print_values.h"
#include "tui/commands/run_command.h"
#include "tui/text/format.h"
#include "tui/text/output.h"

/* Width of the columns before the command. */
#define COMMAND_COLUMN 44u

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

/* --- Before a job runs ------------------------------------------------------ */

/* Checks that the plugin is there and can be loaded. */
static bool check_plugin(FILE *file)
{
	char *path = ncs_job_plugin();
	void *library;

	if (!path) {
		fputs("plugin    not found beside this program or where it was"
		      " installed: make install\n",
		      file);
		return false;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	fprintf(file, "plugin    %s: ", path);
	if (library)
		fputs("loads\n", file);
	else
		fprintf(file, "cannot be loaded: %s\n", dlerror());
	if (library)
		dlclose(library);
	free(path);
	return library;
}

/* Checks that jobs of this user can publish. */
static bool check_directory(FILE *file, const char *directory)
{
	struct statvfs space;

	fprintf(file, "segments  %s: ", directory);
	if (access(directory, W_OK | X_OK) != 0 ||
	    statvfs(directory, &space) != 0) {
		fprintf(file, "not writable: %s\n", strerror(errno));
		return false;
	}
	if (!ncs_directory_can_have_jobs(directory)) {
		fputs("no job publishes there: it is not on a tmpfs\n", file);
		return false;
	}
	ncs_print(file, "writable, $b free\n",
		  (uint64_t)space.f_bavail * space.f_frsize);
	return true;
}

static void append_version(uint32_t version, char *text, size_t size)
{
	if (version == 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%u.%u.%u", version >> 16,
			 version >> 8 & 0xff, version & 0xff);
}

static void print_library(const char *path, void *file)
{
	uint32_t version = ncs_nccl_version_at(path);
	char text[16];

	append_version(version, text, sizeof(text));
	fprintf(file, "NCCL      %s, %s%s\n", text, path,
		version != 0 && version < NCS_FIRST_NCCL ?
			": too old for plugins, which came with 2.23" :
			"");
}

/* Says whether a job that is started now would be seen. Its NCCL is for
 * information: a job may bring its own. */
static bool check_setup(FILE *file, const char *directory)
{
	bool has_plugin = check_plugin(file);
	bool can_publish = check_directory(file, directory);

	ncs_nccl_libraries(print_library, file);
	if (has_plugin && can_publish)
		fputs("start a job by: ncclstat run -- COMMAND\n", file);
	fputc('\n', file);
	return has_plugin && can_publish;
}

/* --- Processes -------------------------------------------------------------- */

static void user_name(uid_t uid, char *name, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	snprintf(name, size, "%u", (unsigned)uid);
	if (user)
		ncs_utf8_clean(name, size, user->pw_name,
			       ncs_complains_in_ascii());
}

/* Prints a command line, cut to what a terminal has room for. */
static void print_command(FILE *file, const char *command, bool ascii)
{
	size_t size = strlen(command) + 1;
	unsigned width = ncs_output_columns();
	char *clean = malloc(size);

	if (!clean)
		return;
	ncs_utf8_clean(clean, size, command, ascii);
	if (isatty(STDOUT_FILENO) && width > COMMAND_COLUMN)
		ncs_format_clip(clean, width - COMMAND_COLUMN);
	fprintf(file, "%s\n", clean);
	free(clean);
}

static void print_process(FILE *file, const struct ncs_nccl_process *process,
			  bool ascii)
{
	char version[16], user[NCS_FORMAT_MAX];

	append_version(process->nccl_version, version, sizeof(version));
	user_name(process->uid, user, sizeof(user));
	fprintf(file, "%7" PRIu32 "  %-8s  %-7s  %-15s  %s", process->pid, user,
		version, presences[process->presence].name,
		process->is_linked ? "(NCCL linked into it) " : "");
	print_command(file, process->command ? process->command : "-", ascii);
}

/* Prints what to do about the processes in which the plugin stands like this. */
static void print_advice(FILE *file, const struct ncs_nccl_processes *processes,
			 enum ncs_plugin_presence presence)
{
	const struct ncs_nccl_process *first = NULL;
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
	if (first->detail[0])
		ncs_print(file, "  in process $n: $s\n", (size_t)first->pid,
			  first->detail);
}

/* Names the processes that could not be looked into. */
static void print_unreadable(FILE *file,
			     const struct ncs_nccl_processes *processes)
{
	const char *gap = "\nnot looked into: ";
	char user[NCS_FORMAT_MAX];

	for (size_t i = 0; i < NCS_UNREADABLE_USERS_MAX &&
			   processes->unreadable[i].count > 0;
	     i++) {
		user_name(processes->unreadable[i].uid, user, sizeof(user));
		fputs(gap, file);
		ncs_print(file, "$u of $s", processes->unreadable[i].count,
			  user);
		gap = ", ";
	}
	if (gap[0] == ',')
		fprintf(file, ": NCCL may be in them; %s\n",
			geteuid() != 0 ?
				"root sees them (sudo ncclstat --check)" :
				"even root needs CAP_SYS_PTRACE for that, which"
				" a container may lack");
}

static void print_all(FILE *file, const struct ncs_nccl_processes *processes,
		      size_t unreadable_segments, bool ascii)
{
	if (processes->count == 0)
		fputs("no process here has NCCL in it\n", file);
	else
		fprintf(file, "%7s  %-8s  %-7s  %-15s  %s\n", "PID", "USER",
			"NCCL", "PLUGIN", "COMMAND");
	for (size_t i = 0; i < processes->count; i++)
		print_process(file, &processes->all[i], ascii);
	for (unsigned i = 0; i < NCS_PRESENCE_COUNT; i++)
		print_advice(file, processes, i);
	print_unreadable(file, processes);
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
	size_t publishing = 0, unreadable = 0;
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
	for (size_t i = 0; i < processes.count; i++)
		publishing += processes.all[i].presence ==
			      NCS_PRESENCE_PUBLISHES;
	status = publishing == processes.count ? NCS_EXIT_OK : NCS_EXIT_NOTHING;
	if (!check_setup(input->file, ncs_directory(options->directory)))
		status = NCS_EXIT_NOTHING;
	print_all(input->file, &processes, unreadable, options->ascii);
	ncs_nccl_processes_release(&processes);
	return status;
}
