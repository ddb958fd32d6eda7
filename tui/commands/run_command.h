/* SPDX-License-Identifier: MIT */
/* The commands "ncclstat run" and "ncclstat env", which are words and not
 * options: what follows them belongs to another program, whose NCCL loads the plugin.
 */
#ifndef NCS_TUI_COMMANDS_RUN_COMMAND_H
#define NCS_TUI_COMMANDS_RUN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the plugin that was built or installed with this program. Returns its
 * path, to be freed by the caller, or NULL: there is none, or no memory. */
char *ncs_job_plugin(void);

/* Prints the folder of that plugin; "" if there is none. */
void ncs_job_plugin_folder(char *text, size_t size);

/* Whether the command line is one of these commands, and no request for its
 * help. */
bool ncs_is_run_command(int count, char **words);

/* Carries it out: "run [--watch=FILE [--on=WHEN:COMMAND]...] [--] COMMAND
 * [ARGUMENT]..." replaces this process by the command, with the variables that
 * make its NCCL load the plugin, after starting a watch beside it; "env" prints
 * these for a shell. Returns the exit status: as of env(1), 126 if the command
 * cannot be run and 127 if there is none. */
int ncs_run_run(int count, char **words);

#endif
