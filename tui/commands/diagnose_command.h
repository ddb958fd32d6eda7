/* SPDX-License-Identifier: MIT */
/* --diagnose: what is wrong with the job, as text or JSON, and as an exit
 * status.
 */
#ifndef NCS_TUI_COMMANDS_DIAGNOSE_COMMAND_H
#define NCS_TUI_COMMANDS_DIAGNOSE_COMMAND_H

#include <stdio.h>

#include "analysis/diagnosis/diagnosis.h"
#include "analysis/base/source.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/options.h"

/* Looks at least twice, an interval apart; with --wait until something is stuck
 * or slow. Of a recording, which may be NULL, it looks at the past of where that
 * is, too. Returns the program's exit status. */
int ncs_diagnose_run(const struct ncs_command_input *input);

void ncs_diagnose_text(FILE *file, const struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_stamp *stamp, bool ascii);
/* One object on one line; leaves the program for want of memory. */
void ncs_diagnose_json(FILE *file, const struct ncs_diagnosis *diagnosis,
		       const struct ncs_model *model,
		       const struct ncs_stamp *stamp);

#endif
