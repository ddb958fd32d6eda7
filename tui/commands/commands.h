/* SPDX-License-Identifier: MIT */
/* Runs the command that the options choose: opens the jobs or recordings,
 * applies the user's names for communicators, and closes everything. Must not
 * know the live view, which main.c passes in.
 */
#ifndef NCS_TUI_COMMANDS_COMMANDS_H
#define NCS_TUI_COMMANDS_COMMANDS_H

#include "tui/commands/command_input.h"

/* Runs the command of options->mode; `live` runs for NCS_MODE_LIVE and
 * NCS_MODE_REPLAY. Returns the program's exit status. */
int ncs_commands_run(const struct ncs_options *options, ncs_command_run *live);

/* Runs a command with the names of communicators from the aliases file in the
 * options. Returns the program's exit status; NCS_EXIT_USAGE, after printing a
 * message, if the aliases file has an error. */
int ncs_commands_run_with_aliases(ncs_command_run *run,
				  const struct ncs_command_input *input);

/* Whether there is a terminal for the live view. */
bool ncs_commands_have_terminal(void);

#endif
