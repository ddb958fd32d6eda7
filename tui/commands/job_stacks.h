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

struct ncs_stacks_request {
	const struct ncs_model *model;
	const struct ncs_diagnosis *diagnosis; /* of the model */
	const struct ncs_finding *finding; /* that is to be explained; NULL: any */
	struct ncs_source *source; /* of the model */
	const struct ncs_options *options; /* --stacks, and the way to nodes */
	/* Called with a text before processes pause, and if there are no stacks,
	 * with the reason; NULL: no process is touched. */
	void (*say)(void *context, const char *text);
	void *context;
};

/* Returns the stacks of processes of the model that the options choose: the rank
 * that the worst finding blames and one that waits for it, or all; or the former,
 * while it is late. They are those that a recording or streams have; else they are
 * read, which takes some seconds. Returns NULL if there are none. Valid until the
 * model's next update. */
struct ncs_job_stacks *
ncs_job_stacks_read(const struct ncs_stacks_request *request);

/* Prints them as a tree of frames, in lines of 80 columns. */
void ncs_job_stacks_text(FILE *file, const struct ncs_job_stacks *stacks,
			 bool ascii);

/* Returns them as a new object; null if `stacks` is NULL. */
json_t *ncs_job_stacks_json(const struct ncs_job_stacks *stacks);

/* Frees them; accepts NULL. */
void ncs_job_stacks_free(struct ncs_job_stacks *stacks);

#endif
