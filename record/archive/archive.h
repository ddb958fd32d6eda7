/* SPDX-License-Identifier: MIT */
/* A directory that keeps recordings of the jobs of a machine:
 *
 *   lock                  held while a watch writes to the directory
 *   jobs.jsonl            a line of JSON for each job that began, and that ended
 *   ring/TIME.PID[.N]     the recording of all jobs, in files of which the oldest go
 *   jobs/NAME@TIME,UID/   what is kept of a job: links to files of the ring, and
 *                         its report. TIME is when it began, in seconds since 1970, UID
 *                         its user, who is not known in folders of earlier versions.
 *                         NAME is the job's, encoded as in URLs, and with % at the end
 *                         if it is cut off; behind it, =ID
 *                         for a job in an array, which is its own id, +NAMESPACE for a
 *                         pod, and ~N for one that was queued again N times
 *
 * A file of the ring that a job keeps takes no more room, and stays when its name in the
 * ring goes. Must not know what a line says. Not thread-safe.
 */
#ifndef NCS_RECORD_ARCHIVE_ARCHIVE_H
#define NCS_RECORD_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "ncclstat/path_list.h"

#define NCS_ARCHIVE_BYTES (UINT64_C(1) << 30)

/* Processes begin before their segments, and clocks tell when to a second: a job may have
 * begun by so much earlier or later than is known. */
#define NCS_ARCHIVE_BEGUN_WITHIN_S 2

/* In a job's folder: its report, and what marks it as one with a finding. */
#define NCS_ARCHIVE_REPORT "report.html"
#define NCS_ARCHIVE_FINDING "finding"

/* Size of a buffer for the name of a job's folder. */
#define NCS_ARCHIVE_NAME_MAX 256

struct ncs_archive {
	char path[3072];
	uint64_t limit_bytes;
	int lock; /* file; -1: none */
	char run[64]; /* the latest run's name in the ring; "": none */
};

/* Returns the directory that is used if none is named: root's, or one in the user's home;
 * "" if there is no home. Writes it into `path`. */
const char *ncs_archive_default(char *path, size_t size);

/* Opens a directory to write to, and makes what is not there. Returns false if it cannot
 * be made or another watch writes to it; `why` then says so. Close it. */
bool ncs_archive_open(struct ncs_archive *archive, const char *path,
		      uint64_t limit_bytes, char *why, size_t why_size);
void ncs_archive_close(struct ncs_archive *archive);

/* Returns when a file of the ring was last written to, since 1970; 0: there is none. */
time_t ncs_archive_last_written(const struct ncs_archive *archive);

/* A recording of the ring that a recorder may go on with. */
struct ncs_archive_run {
	char path[4096]; /* of the recorder's first file */
	uint64_t recording[2];
	uint64_t number; /* of the file; 0: the recording is another one */
};

/* Begins another run of a recorder, which goes on with the latest recording of this boot,
 * so that its ranks are the same. */
void ncs_archive_begin_run(struct ncs_archive *archive,
			   struct ncs_archive_run *run);

/* Prints the name of the folder of a job that began at that time, by labels of one of its
 * processes and its user, or NCS_NO_OWNER, into NCS_ARCHIVE_NAME_MAX bytes. */
void ncs_archive_folder(char *folder, size_t size, const char *labels,
			uid_t owner, time_t begun);

/* Returns whether a folder is one of a job that a pattern names: as in shm/read/job.h, or
 * the folder itself. */
bool ncs_archive_matches(const char *folder, const char *pattern);

/* Makes the folder of a job. Keeps those files of the ring in it that were written to since
 * that time, at most a quarter of the limit, the latest ones, and marks the folder as one
 * with a finding if it has one. Returns 0 or -errno. */
int ncs_archive_keep(const struct ncs_archive *archive, const char *folder,
		     time_t since, bool has_finding);

enum ncs_archive_fate {
	NCS_ARCHIVE_KEPT,
	NCS_ARCHIVE_TOO_OLD, /* removed */
	NCS_ARCHIVE_NO_ROOM, /* removed */
};

/* A job of which something is kept, or was. */
struct ncs_archive_job {
	const char *folder;
	enum ncs_archive_fate fate;
	uint64_t bytes; /* a file of several jobs is that of the one which goes last */
	time_t written; /* since 1970 */
	bool has_finding;
	bool runs;
};

/* Removes files of the ring beyond half of the limit, the oldest first, and folders of
 * jobs beyond the limit: those without a finding first, of these the oldest. The oldest
 * files of jobs that run, as `is_running` tells, go last. `told` is told each folder, also
 * those that stay. Either may be NULL. Goes on after an error. Returns 0 or the first -errno. */
int ncs_archive_trim(const struct ncs_archive *archive,
		     bool (*is_running)(void *context, const char *folder),
		     void (*told)(void *context,
				  const struct ncs_archive_job *job),
		     void *context);

/* Bounds of what stays of the jobs in an archive. */
struct ncs_archive_limits {
	time_t since;   /* what was kept before goes; since 1970 */
	uint64_t bytes; /* all that is kept of jobs takes at most */
};

/* Removes what is kept of jobs beyond the limits, in the order of ncs_archive_trim(),
 * also while a watch writes to the directory. Leaves the ring and jobs that run alone:
 * those that `is_running` tells, as long as a recorder writes to the ring. `told`, unless
 * NULL, is told each folder. Goes on after an error. Returns 0 or the first -errno:
 * -ENOENT if this is no archive. */
int ncs_archive_clean(const char *path, const struct ncs_archive_limits *limits,
		      bool (*is_running)(void *context, const char *folder),
		      void (*told)(void *context,
				   const struct ncs_archive_job *job),
		      void *context);

/* Prints the path of a directory's jobs.jsonl. */
void ncs_archive_lines(char *text, size_t size, const char *path);

/* Visits a directory and, unless that returns true, each directory in it, which may be
 * those of several machines, or links to them. Returns 0 if a visit returned true, else
 * -errno: -ENOENT if none did. */
int ncs_archive_each(const char *path,
		     bool (*visit)(void *context, const char *path),
		     void *context);

/* Adds a line to jobs.jsonl, whole or not at all. A file that has grown to 64 MiB becomes
 * jobs.jsonl.old, which commands do not read. Returns 0 or -errno. */
int ncs_archive_add_line(const struct ncs_archive *archive, const char *line);

/* The files that are kept of a job. */
struct ncs_archive_files {
	struct ncs_paths files;   /* in the order in which they were written */
	struct ncs_paths folders; /* of the job, one on each machine */
	struct ncs_paths
		others; /* folders of other jobs that the pattern names */
	/* The job's name as its folders have it, behind a pod's namespace and '/', or
	 * the pattern if that is not one. */
	char job[2 * NCS_ARCHIVE_NAME_MAX];
	/* The job's user; NCS_NO_OWNER if not known, or not the same on all machines:
	 * then owners_differ. */
	uid_t owner;
	bool owners_differ;
	time_t begun; /* when the job did, the earliest machine's */
	time_t next_begun; /* when another run of its name and user did; 0: none */
	/* How many jobs of one machine the pattern names, and the folder of the one
	 * before; "" if there is none. */
	size_t matching;
	char before[NCS_ARCHIVE_NAME_MAX];
};

/* Finds the files of the latest job that a pattern names, as in ncs_archive_matches(),
 * in a directory and, if it has folders of several machines, in each of these; not
 * those of another run of it, of another job of its array, or of another user. Those of
 * a job that has a folder with no file yet are the ring's. Returns 0 or -errno: -ENOENT
 * if there is none. Release them in any case. */
int ncs_archive_find(struct ncs_archive_files *files, const char *path,
		     const char *pattern);
void ncs_archive_release(struct ncs_archive_files *files);

#endif
