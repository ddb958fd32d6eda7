/* SPDX-License-Identifier: MIT */
/* --check: lists the processes here that have NCCL in them, and says of each
 * whether it is seen and, if not, what to do. Only prints.
 */
#ifndef NCS_TUI_COMMANDS_CHECK_COMMAND_H
#define NCS_TUI_COMMANDS_CHECK_COMMAND_H

#include "tui/commands/command_input.h"

/* Returns NCS_EXIT_OK if all processes with NCCL publish, NCS_EXIT_NOTHING if
 * there is none or some do not. */
int ncs_check_run(const struct ncs_command_input *input);

#endif
