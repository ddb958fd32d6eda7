/* SPDX-License-Identifier: MIT */
/* The commands: what each is given, its run, and how the options choose one. Must not
 * know the live view, which main.c passes in.
 */
#ifndef NCS_TUI_COMMANDS_COMMANDS_H
#define NCS_TUI_COMMANDS_COMMANDS_H

#include "analysis/base/source.h"
#include "record/replay/replay.h"
#include "tui/commands/options.h"

/* The input of a command. */
struct ncs_command_input {
	const struct ncs_options *options;
	/* The jobs to read; NULL for a command that needs none. */
	struct ncs_source *source;
	/* The recordings that `source` reads; NULL if `source` shows the
	 * present. */
	struct ncs_replay *replay;
	/* The output of a command that prints at once, at its end, as the table of
	 * commands.c says; else NULL. */
	FILE *file;
};

/* Runs a command. Returns the program's exit status, an enum ncs_exit. */
typedef int ncs_command_run(const struct ncs_command_input *input);

/* Runs the command of options->mode on the jobs or recordings that it opens; `live` runs
 * for NCS_MODE_LIVE and NCS_MODE_REPLAY. Returns the program's exit status. */
int ncs_commands_run(const struct ncs_options *options, ncs_command_run *live);

/* Runs a command with the names of communicators from the aliases file in the
 * options. Returns the program's exit status; NCS_EXIT_USAGE, after printing a
 * message, if the aliases file has an error. */
int ncs_commands_run_with_aliases(ncs_command_run *run,
				  const struct ncs_command_input *input);

/* Whether there is a terminal for the live view. */
bool ncs_commands_have_terminal(void);

/* --check: NCS_EXIT_OK if a job that is started now would be seen and all
 * processes with NCCL publish, else NCS_EXIT_NOTHING. */
ncs_command_run ncs_check_run;

/* --clean: removes the segments and control objects of dead processes, or what an
 * archive keeps of jobs, but for what --retain names, and prints a line for each. */
ncs_command_run ncs_clean_run;

/* --compare: NCS_EXIT_OK if both recordings could be read. */
ncs_command_run ncs_compare_run;

/* --critical-path: reads the recording twice and prints the critical path. */
ncs_command_run ncs_critical_path_run;

/* --diagnose: takes at least two samples, an interval apart, and prints the findings.
 * With --wait, continues until something is stuck or slow. From a recording, takes one
 * sample and the time before it. */
ncs_command_run ncs_diagnose_run;

/* --dump: takes and prints the samples that the options request: one, or one for each
 * interval. Samples of a recording begin at its position and continue to its end. */
ncs_command_run ncs_dump_run;

/* --export: exports the recordings of the input, and prints on standard error
 * which data is missing in the output. */
ncs_command_run ncs_export_run;

/* --jobs: NCS_EXIT_OK if a job is listed. */
ncs_command_run ncs_jobs_run;

/* --list: prints one line for each segment, or lists the recordings. */
ncs_command_run ncs_list_run;

/* --listen: runs until a signal comes. */
ncs_command_run ncs_listen_run;

/* --record: NCS_EXIT_OK if something was recorded without errors. The first
 * SIGINT, SIGTERM or SIGHUP completes and ends the recording, the next one ends
 * the program immediately. */
ncs_command_run ncs_record_run;

/* Returns whether a signal has ended a recording of this process. */
bool ncs_record_is_stopped(void);

/* --report: NCS_EXIT_OK if the report was written. */
ncs_command_run ncs_report_run;

/* --set: asks the processes, waits up to two seconds for their answers, and prints
 * these. NCS_EXIT_OK if every process complies. */
ncs_command_run ncs_set_run;

/* --stream: runs the agent; has no source. */
ncs_command_run ncs_stream_run;

/* --stacks-of: prints one line, which fleet/stacks reads elsewhere. */
ncs_command_run ncs_stacks_of_run;

/* --textfile: runs until a signal comes, or --count is reached. */
ncs_command_run ncs_textfile_run;

/* --watch: runs until a signal comes, or --count is reached. */
ncs_command_run ncs_watch_run;

#endif
