/* SPDX-License-Identifier: MIT */
/* The lines of an archive's jobs.jsonl: one for each job that began, and one for each that
 * ended, with what is concluded of it. Must not know which jobs run.
 */
#ifndef NCS_TUI_COMMANDS_JOB_SUMMARY_H
#define NCS_TUI_COMMANDS_JOB_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "record/archive/archive.h"

/* A job, as a watch sees it. */
struct ncs_job_summary {
	char name[128];
	char folder[NCS_ARCHIVE_NAME_MAX];
	uid_t owner;
	time_t begun, ended; /* since 1970 */
	unsigned restarts;   /* how often it was queued again */
	uint32_t processes, ranks; /* the most at once, here */
	/* No watch ran when it ended: it may have gone on for longer. */
	bool end_is_unseen;
};

/* Adds the line of a job that began. Returns 0 or -errno. */
int ncs_job_summary_begin(const struct ncs_archive *archive,
			  const struct ncs_job_summary *job);

/* Has the report of a job made from what is kept of it, and adds its line. Runs this
 * program, which takes as long as reading the recordings does. Returns 0 or -errno. */
int ncs_job_summary_end(const struct ncs_archive *archive,
			const struct ncs_job_summary *job);

/* Reads the jobs that began and of which no line tells that they ended. Returns their
 * number, at most `most`. */
size_t ncs_job_summary_open_ones(const char *path, struct ncs_job_summary *jobs,
				 size_t most);

#endif
