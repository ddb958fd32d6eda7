/* SPDX-License-Identifier: MIT */
/* --diagnose: prints what is wrong with the job, as text or JSON, and returns
 * it as an exit status.
 */
#ifndef NCS_TUI_COMMANDS_DIAGNOSE_COMMAND_H
#define NCS_TUI_COMMANDS_DIAGNOSE_COMMAND_H

#include <stdio.h>

#include "analysis/diagnosis/diagnosis.h"
#include "tui/commands/dump_command.h"

/* Takes at least two samples, an interval apart, and prints the findings. With
 * --wait, continues until something is stuck or slow. From a recording, takes
 * one sample and the time before it. Returns the program's exit status. */
int ncs_diagnose_run(const struct ncs_command_input *input);

/* Prints the findings as one object on one line. Lack of memory ends the
 * program. */
void ncs_diagnose_json(FILE *file, const struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_stamp *stamp);

#endif
