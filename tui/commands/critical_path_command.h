/* SPDX-License-Identifier: MIT */
/* --critical-path and --what-if: the critical path of a recorded job, and the
 * effects of changes to the job, as text, as JSON or in a trace.
 */
#ifndef NCS_TUI_COMMANDS_CRITICAL_PATH_COMMAND_H
#define NCS_TUI_COMMANDS_CRITICAL_PATH_COMMAND_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/path/critical_path.h"
#include "record/export/trace_writer.h"
#include "record/read/recorded_operations.h"
#include "tui/commands/commands.h"
#include "tui/text/words.h"

/* Adds the path to a trace, on a track of its own. For each --what-if, adds
 * tracks with the times at which operations would have begun and ended. Returns
 * 0 or -errno. */
int ncs_critical_path_trace(const struct ncs_options *options,
			    struct ncs_replay *replay,
			    struct ncs_trace_writer *writer);

/* The result that is printed; all borrowed. */
struct ncs_path_view {
	const struct ncs_options *options;
	struct ncs_replay *replay;
	const struct ncs_path_report *report;
	struct ncs_recorded_operations_count count;
	uint32_t rank_count; /* more than the largest rank of the job */
	const struct ncs_path_owner *owners; /* by rank of the recording */
};

/* Returns the name of a rank of the job as --diagnose has it, "rank 0 of tp1": in the
 * communicator with this id, or the largest one if that is 0. Names come from shared
 * memory, and are cleaned. */
struct ncs_phrase ncs_path_rank_name(const struct ncs_recording *recording,
				     const struct ncs_path_owner *owners,
				     uint32_t rank, uint64_t comm_id);
/* Prints the path in the format of the options. Lack of memory ends the program if
 * that is JSON. */
void ncs_critical_path_print(FILE *file, const struct ncs_path_view *view);

#endif
