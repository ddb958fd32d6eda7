/* SPDX-License-Identifier: MIT */
/* --textfile: writes metrics for Prometheus's node_exporter to a file, again and
 * again. A file is never there in part, and never after its writer's end. */
#ifndef NCS_TUI_COMMANDS_TEXTFILE_COMMAND_H
#define NCS_TUI_COMMANDS_TEXTFILE_COMMAND_H

#include "tui/commands/command_input.h"

/* Between two writings unless --interval says otherwise. */
#define NCS_TEXTFILE_INTERVAL_NS UINT64_C(15000000000)

/* Runs until a signal comes, or --count is reached. Returns the program's exit
 * status. */
int ncs_textfile_run(const struct ncs_command_input *input);

#endif
