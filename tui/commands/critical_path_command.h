/* SPDX-License-Identifier: MIT */
/* --critical-path and --what-if: which way the time of a recorded job went, and
 * what changes would do to it, as text or JSON.
 */
#ifndef NCS_TUI_COMMANDS_CRITICAL_PATH_COMMAND_H
#define NCS_TUI_COMMANDS_CRITICAL_PATH_COMMAND_H

#include <stdio.h>

#include "analysis/path/critical_path.h"
#include "record/read/recorded_operations.h"
#include "record/export/trace_writer.h"
#include "tui/commands/command_input.h"

/* Reads the recording twice and prints. Returns the program's exit status. */
int ncs_critical_path_run(const struct ncs_command_input *input);

/* Adds the path to a trace, on a track of its own, and for each --what-if when
 * operations would have come and ended, on tracks beside those that are recorded.
 * 0 or -errno. */
int ncs_critical_path_trace(const struct ncs_options *options,
			    struct ncs_replay *replay,
			    struct ncs_trace_writer *writer);

/* What there is to be printed. */
struct ncs_path_view {
	const struct ncs_options *options;
	struct ncs_replay *replay;
	const struct ncs_path_report *report;
	struct ncs_recorded_operations_count count;
	uint32_t rank_count; /* larger than each rank of the job */
};

void ncs_critical_path_text(FILE *file, const struct ncs_path_view *view);
/* One object on one line; leaves the program for want of memory. */
void ncs_critical_path_json(FILE *file, const struct ncs_path_view *view);

#endif
