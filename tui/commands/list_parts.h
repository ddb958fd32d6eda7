/* SPDX-License-Identifier: MIT */
/* Parts of --list, for list_command.c. Names of JSON are part of the interface;
 * ncclstat-json(5) explains them. */
#ifndef NCS_TUI_COMMANDS_LIST_PARTS_H
#define NCS_TUI_COMMANDS_LIST_PARTS_H

#include <jansson.h>

#include "analysis/base/source.h"
#include "record/replay/replay.h"

/* Finds the identity of a recorded rank: in its last state, which has the most
 * facts, or otherwise in its header. */
void ncs_list_identify(struct ncs_replay *replay, size_t rank,
		       struct ncs_identity *identity);

/* Prints the contents of each file of recordings, which are checked, the hosts'
 * clocks, and the ranks: as text, or as one object on one line. */
void ncs_list_recording_text(FILE *file, struct ncs_replay *replay, bool ascii);
void ncs_list_recording_json(FILE *file, struct ncs_replay *replay);

/* Begins a list, to which ncs_list_json_add() adds segments: the object that is
 * printed. Without a recording, or a directory, these are NULL. */
json_t *ncs_list_json_begin(const struct ncs_replay *replay,
			    const char *directory);
void ncs_list_json_add(json_t *list, const struct ncs_sample *sample);

#endif
