/* SPDX-License-Identifier: MIT */
/* --list of recordings: prints the contents of each file, the hosts' clocks,
 * and the ranks. */
#ifndef NCS_TUI_COMMANDS_LIST_RECORDING_H
#define NCS_TUI_COMMANDS_LIST_RECORDING_H

#include "record/replay/replay.h"
#include "tui/commands/options.h"

/* Finds the identity of a recorded rank: in its last state, which has the most
 * facts, or otherwise in its header. */
void ncs_list_identify(struct ncs_replay *replay, size_t rank,
		       struct ncs_identity *identity);

/* Checks every chunk first, so that all damage is reported. Returns the
 * program's exit status. */
int ncs_list_recording_run(const struct ncs_options *options,
			   struct ncs_replay *replay);

#endif
