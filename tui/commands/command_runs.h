/* SPDX-License-Identifier: MIT */
/* The commands that have nothing for others but their run, which commands.c
 * calls. Each returns the program's exit status. */
#ifndef NCS_TUI_COMMANDS_COMMAND_RUNS_H
#define NCS_TUI_COMMANDS_COMMAND_RUNS_H

#include "tui/commands/command_input.h"

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

/* --stacks-of: prints one line, which fleet/stacks reads elsewhere. */
ncs_command_run ncs_stacks_of_run;

/* --textfile: runs until a signal comes, or --count is reached. */
ncs_command_run ncs_textfile_run;

/* --watch: runs until a signal comes, or --count is reached. */
ncs_command_run ncs_watch_run;

#endif
