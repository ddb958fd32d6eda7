/* SPDX-License-Identifier: MIT */
/* Runs the command that the options choose: opens what it reads, applies the
 * user's names for communicators, and closes all again. Must not know the live
 * view, which main.c passes in.
 */
#ifndef NCS_TUI_COMMANDS_COMMANDS_H
#define NCS_TUI_COMMANDS_COMMANDS_H

#include "tui/commands/command_input.h"

/* Runs the command of options->mode; `live` runs for NCS_MODE_LIVE and
 * NCS_MODE_REPLAY. Returns the program's exit status. */
int ncs_commands_run(const struct ncs_options *options, ncs_command_run *live);

/* Runs a command with communicators called as the aliases file of the options
 * says. NCS_EXIT_USAGE, with a message, if that file is wrong. */
int ncs_commands_run_with_aliases(ncs_command_run *run,
				  const struct ncs_command_input *input);

/* Returns whether the program can show the live view. */
bool ncs_commands_have_terminal(void);

#endif
