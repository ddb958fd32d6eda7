/* SPDX-License-Identifier: MIT */
/* --columns, --sort and --events of an export: which columns it has, in which
 * order its rows are, and which events it has.
 * Must not print. */
#ifndef NCS_TUI_COMMANDS_EXPORT_CHOICE_H
#define NCS_TUI_COMMANDS_EXPORT_CHOICE_H

#include "tui/commands/options.h"

/* Sets the columns, the order and the events of a request by the options, which are those
 * of an export. Returns false, and sets `error` to what is expected, if they
 * make no sense. */
bool ncs_export_choice(const struct ncs_options *options,
		       struct ncs_export_request *request, char *error,
		       size_t error_size);

#endif
