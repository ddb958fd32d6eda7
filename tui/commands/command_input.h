/* SPDX-License-Identifier: MIT */
/* The input of a command: options, and the jobs or recordings to read. Must not
 * know any command. */
#ifndef NCS_TUI_COMMANDS_COMMAND_INPUT_H
#define NCS_TUI_COMMANDS_COMMAND_INPUT_H

#include "analysis/base/source.h"
#include "record/replay/replay.h"
#include "tui/commands/options.h"

struct ncs_command_input {
	const struct ncs_options *options;
	/* The jobs to read; NULL for a command that needs none. */
	struct ncs_source *source;
	/* The recordings that `source` reads; NULL if `source` shows the
	 * present. */
	struct ncs_replay *replay;
};

/* Runs a command. Returns the program's exit status, an enum ncs_exit. */
typedef int ncs_command_run(const struct ncs_command_input *input);

#endif
