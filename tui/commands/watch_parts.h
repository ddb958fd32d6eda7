/* SPDX-License-Identifier: MIT */
/* The parts of a watch beside its lines: the commands of --on, and the archive. */
#ifndef NCS_TUI_COMMANDS_WATCH_PARTS_H
#define NCS_TUI_COMMANDS_WATCH_PARTS_H

#include <stdbool.h>

#include "analysis/diagnosis/diagnosis.h"
#include "tui/commands/dump_command.h"
#include "tui/commands/options.h"

/* Tells a finding from others, also at other times. Keys can be compared by
 * memcmp(). */
struct ncs_finding_key {
	uint32_t verdict;
	uint32_t rank;   /* serial of the root or, if it is not seen, the peer */
	int32_t number;  /* of the root; -1 if unknown */
	char node[NCS_NODE_NAME_BYTES]; /* that is not seen; "" if none */
};

/* Returns the key of a finding. */
struct ncs_finding_key ncs_finding_key(const struct ncs_finding *finding);

/* --on: commands of the user's that are run once for each finding.
 *
 * A finding that is gone for 5 s and comes back is another one. One command
 * runs at a time, for 60 s at most; others wait for its end, as long as their
 * finding lasts. */
struct ncs_hooks;

/* Returns the hooks of the options, which must live as long; NULL without
 * memory. */
struct ncs_hooks *ncs_hooks_open(const struct ncs_options *options);

/* Looks at the findings of a sample, and begins to run a command if one is due
 * and none runs. */
void ncs_hooks_look(struct ncs_hooks *hooks,
		    const struct ncs_diagnosis *diagnosis,
		    const struct ncs_model *model,
		    const struct ncs_stamp *stamp);

/* Goes on with the command that runs: passes its input on, prints what it has
 * written as messages once it has ended, ends it when its time is over. Returns
 * whether it still runs. */
bool ncs_hooks_turn(struct ncs_hooks *hooks);

/* Ends the command that runs, and frees the hooks. */
void ncs_hooks_close(struct ncs_hooks *hooks);

/* --watch --archive: records all jobs of this machine into an archive, keeps what there is
 * of a job that ends or has a finding, and has its report and its line written.
 *
 * The recorder and what concludes a job, one after the other, are processes of their own,
 * which end with the watch; a recorder that ends is started again. */
struct ncs_kept_jobs;

/* Opens the archive of the options, and starts the recorder: to be called before there are
 * threads. Returns NULL after a message if that fails. */
struct ncs_kept_jobs *ncs_kept_jobs_open(const struct ncs_options *options);

/* Looks at which jobs there are, and which have findings. Every second or so. */
void ncs_kept_jobs_look(struct ncs_kept_jobs *jobs,
			const struct ncs_diagnosis *diagnosis,
			const struct ncs_model *model);

/* Ends the recorder, keeps what there is of the jobs that run, and waits some seconds until
 * one that has ended is concluded; then frees all. A later watch writes the other lines. */
void ncs_kept_jobs_close(struct ncs_kept_jobs *jobs);

#endif
