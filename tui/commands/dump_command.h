/* SPDX-License-Identifier: MIT */
/* Dumps: what there is to see, printed as text or as JSON, once or again and
 * again. No terminal is needed, and none is touched.
 */
#ifndef NCS_TUI_COMMANDS_DUMP_COMMAND_H
#define NCS_TUI_COMMANDS_DUMP_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/model/model.h"
#include "tui/commands/command_input.h"

/* Where and when a sample was taken. */
struct ncs_stamp {
	const char *host;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	const struct ncs_replay *replay; /* that is shown; NULL: it is now */
};

/* Here and now, or where a recording is. */
struct ncs_stamp ncs_dump_stamp(const struct ncs_replay *replay);
/* A moment of CLOCK_MONOTONIC. */
void ncs_dump_sleep_until(uint64_t moment_ns);
/* On standard error: that there is no job, and what to do. */
void ncs_dump_say_nothing(const struct ncs_options *options);

/* Writes one sample. False for want of memory; errors of the file are left to
 * its error indicator. */
bool ncs_dump_text(FILE *file, const struct ncs_model *model,
		   const struct ncs_options *options,
		   const struct ncs_stamp *stamp);
/* Pieces of it: the line with host and time; the rows of one view as a table,
 * with their titles; what cannot be read, if there is any. */
void ncs_dump_head(FILE *file, const struct ncs_model *model,
		   const struct ncs_stamp *stamp, bool ascii);
void ncs_dump_rows(FILE *file, enum ncs_view view, const struct ncs_row *rows,
		   size_t row_count, bool ascii);
void ncs_dump_unreadable(FILE *file, const struct ncs_model *model, bool ascii);

/* One object on one line; leaves the program for want of memory. */
void ncs_dump_json(FILE *file, const struct ncs_model *model,
		   const struct ncs_stamp *stamp);

/* Takes and prints the samples that were asked for. Of a recording, which may be
 * NULL, that is one as of where it is, or those from there to its end. Returns
 * the program's exit status. */
int ncs_dump_run(const struct ncs_command_input *input);

#endif
