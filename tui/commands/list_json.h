/* SPDX-License-Identifier: MIT */
/* --list=json: one object on one line, of segments or of recordings. Names are
 * part of the interface; ncclstat-json(5) explains them. */
#ifndef NCS_TUI_COMMANDS_LIST_JSON_H
#define NCS_TUI_COMMANDS_LIST_JSON_H

#include <jansson.h>

#include "analysis/base/source.h"
#include "record/replay/replay.h"

/* Begins a list, to which ncs_list_json_add() adds segments, and which
 * ncs_list_json_print() prints and releases. */
json_t *ncs_list_json_begin(const char *directory);
void ncs_list_json_add(json_t *list, const struct ncs_sample *sample);
void ncs_list_json_print(FILE *file, json_t *list);

/* Does what ncs_list_recording_run() does, as JSON. */
int ncs_list_json_recording_run(struct ncs_replay *replay);

#endif
