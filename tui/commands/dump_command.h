/* SPDX-License-Identifier: MIT */
/* --dump: prints the contents of the live view as text or as JSON, once or at
 * intervals. Must not need a terminal or change one.
 */
#ifndef NCS_TUI_COMMANDS_DUMP_COMMAND_H
#define NCS_TUI_COMMANDS_DUMP_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/diagnosis/episodes.h"
#include "analysis/model/model.h"
#include "tui/commands/commands.h"
#include "tui/text/words.h"

/* Where and when a sample was taken. */
struct ncs_stamp {
	const char *host;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	/* The recording; NULL for the present. */
	const struct ncs_replay *replay;
	/* The answer of the RAS service, for --diagnose; NULL: none. */
	const struct ncs_ras *ras;
	/* For --diagnose of a whole recording: its episodes, the worst first;
	 * NULL: it was not searched. */
	const struct ncs_episodes *episodes;
	/* With --diagnose --stacks; NULL: none. */
	const struct ncs_job_stacks *stacks;
};

/* Returns the stamp of this host now, or of the position in a recording. */
struct ncs_stamp ncs_dump_stamp(const struct ncs_replay *replay);
/* Returns a time by CLOCK_REALTIME as that of the clock here: "2026-11-24T12:00:00+0000";
 * "" if it has none. */
struct ncs_phrase ncs_dump_time(uint64_t realtime_ns);
/* Sleeps until a time of CLOCK_MONOTONIC. */
void ncs_dump_sleep_until(uint64_t time_ns);
/* Prints on standard error that there is no job, and what to do. */
void ncs_dump_say_nothing(const struct ncs_options *options);

/* Prints one sample as text, in lines of a width if it is not 0; paths, and
 * columns that the options ask for, may take more. Returns false if there is no
 * memory; the caller checks for write errors (ferror()). */
bool ncs_dump_text(FILE *file, const struct ncs_model *model,
		   const struct ncs_options *options,
		   const struct ncs_stamp *stamp, unsigned width);
/* Print parts of the text: the line with host and time; the verdict of the
 * model's diagnosis; the step of the job, if any operations were
 * compared; the rows of one view as a table with titles, of the columns
 * that are chosen, or of all if `choices` is NULL, as far as they fit, returning
 * how many do not; the segments that cannot be read, if there are any. */
void ncs_dump_head(FILE *file, const struct ncs_model *model,
		   const struct ncs_stamp *stamp, bool ascii);
void ncs_dump_verdict(FILE *file, const struct ncs_model *model, unsigned width,
		      bool ascii);
void ncs_dump_step(FILE *file, const struct ncs_model *model, unsigned width,
		   bool ascii);
size_t ncs_dump_rows(FILE *file, enum ncs_view view, const struct ncs_row *rows,
		     size_t row_count, const enum ncs_column_choice *choices,
		     unsigned width, bool ascii);
void ncs_dump_unreadable(FILE *file, const struct ncs_model *model, bool ascii);

/* Prints one sample as one object on one line, with what a view has; with all
 * that there is if it is NCS_VIEW_COUNT. Lack of memory ends the program. */
void ncs_dump_json(FILE *file, const struct ncs_model *model,
		   const struct ncs_stamp *stamp, enum ncs_view view);

/* Prints the findings as one object on one line. Lack of memory ends the program. */
void ncs_diagnose_json(FILE *file, const struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_stamp *stamp);

/* Fills a model and its diagnosis with a recording's time before a single sample.
 * Returns 0 or -errno. */
int ncs_dump_past(const struct ncs_options *options,
		  const struct ncs_replay *replay, struct ncs_model *model,
		  struct ncs_diagnosis *diagnosis);

#endif
