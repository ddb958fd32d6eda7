/* SPDX-License-Identifier: MIT */
/* --list: which segments there are. */
#ifndef NCS_TUI_COMMANDS_LIST_COMMAND_H
#define NCS_TUI_COMMANDS_LIST_COMMAND_H

#include "analysis/base/source.h"
#include "tui/commands/options.h"

/* Prints one line for each segment; returns the program's exit status. */
int ncs_list_run(const struct ncs_options *options, struct ncs_source *source);

#endif
