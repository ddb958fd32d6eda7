/* SPDX-License-Identifier: MIT */
/* --stacks: the stacks of the processes that a diagnosis blames, and of others,
 * here or on their nodes, as text or JSON. Must not judge; fleet/stacks
 * reads. */
#ifndef NCS_TUI_COMMANDS_JOB_STACKS_H
#define NCS_TUI_COMMANDS_JOB_STACKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "analysis/diagnosis/diagnosis.h"
#include "tui/commands/options.h"

struct ncs_job_stacks;

/* Returns the stacks of processes of the model that the options choose: the rank
 * that the worst finding blames and one that waits for it, or all; or the former,
 * while it is late, as `source` shows if it shows this machine. They are those that
 * a recording or streams have; else, if --stacks is given, they are read, which
 * takes some seconds, after saying that processes pause. Returns NULL if there are
 * none, after saying why if --stacks is given. Valid until the model's next
 * update. */
struct ncs_job_stacks *ncs_job_stacks_read(const struct ncs_model *model,
					   const struct ncs_diagnosis *diagnosis,
					   struct ncs_source *source,
					   const struct ncs_options *options);

/* Prints them as a tree of frames, in lines of 80 columns. */
void ncs_job_stacks_text(FILE *file, const struct ncs_job_stacks *stacks,
			 bool ascii);

/* Returns them as a new object; null if `stacks` is NULL. */
json_t *ncs_job_stacks_json(const struct ncs_job_stacks *stacks);

/* Frees them; accepts NULL. */
void ncs_job_stacks_free(struct ncs_job_stacks *stacks);

#endif
