/* SPDX-License-Identifier: MIT */
/* --watch --archive: records all jobs of this machine into an archive, keeps what there is
 * of a job that ends or has a finding, and has its report and its line written.
 *
 * The recorder and what concludes a job, one after the other, are processes of their own,
 * which end with the watch; a recorder that ends is started again.
 */
#ifndef NCS_TUI_COMMANDS_KEPT_JOBS_H
#define NCS_TUI_COMMANDS_KEPT_JOBS_H

#include "analysis/diagnosis/diagnosis.h"
#include "tui/commands/options.h"

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
