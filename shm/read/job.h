/* SPDX-License-Identifier: MIT */
/* Which job a process is of: the labels of its segment, and the choice of a job
 * by the user.
 *
 * Labels of a plugin that writes none are taken from the environment of the
 * process, as far as this user may read it. Any thread may call these
 * functions.
 */
#ifndef NCS_SHM_READ_JOB_H
#define NCS_SHM_READ_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ncs_header; /* ncclstat/abi_header.h */
struct ncs_reader; /* ncclstat/reader.h */

/* Takes the labels of an attached reader's segment, which are not trusted;
 * returns 0 or -ENOMEM. For reader.c. */
int ncs_job_attach(struct ncs_reader *reader);

/* Copies a variable of a process's environment, as of its start, into `text`;
 * leaves that alone if it is not set, too long or may not be read. */
void ncs_job_environment_value(uint32_t pid, const char *name, char *text,
			       size_t size);

/* The kind of label that names the job. */
enum ncs_job_kind {
	NCS_JOB_NONE,
	NCS_JOB_BATCH, /* job_id of the batch system, or torchrun's run_id */
	NCS_JOB_POD,   /* only the pod is known */
};

/* Finds what names the job: its value in the labels, or NULL. That of a job in an
 * array is the label array_id, which readers add: 4711_3 for Slurm, 4711[3] for
 * LSF. `labels` may be NULL. */
enum ncs_job_kind ncs_job_of(const char *labels, const char **name);

/* Processes without a label that names their job are of the one with this name. */
#define NCS_JOB_UNNAMED "unnamed"

/* Returns what names the job, as ncs_job_of() does, or NCS_JOB_UNNAMED. */
const char *ncs_job_name(const char *labels);

/* The user of a process, or of a job, if that is not known. */
#define NCS_NO_OWNER ((uid_t)-1)

/* Tells whether two processes may be of one user: one that is not known may be any.
 * Processes of two users on one machine are never of one job; pods of one job on
 * several machines may be. */
static inline bool ncs_owners_agree(uid_t a, uid_t b)
{
	return a == b || a == NCS_NO_OWNER || b == NCS_NO_OWNER;
}

/* Tells whether labels are those of a job. `pattern`, as for fnmatch(), is
 * compared with job_id, job_id.job_step, array_job, array_id, run_id, pod,
 * namespace/pod and pod_uid, or with NCS_JOB_UNNAMED; NULL matches any. It may also
 * be job_id up to a '.' or a '[' of it, or with the component of a heterogeneous
 * job behind it, such as 4711+1, which is the whole job. */
bool ncs_job_matches(const char *labels, const char *pattern);

/* A choice of processes. */
struct ncs_choice {
	uint32_t pid;    /* the only process; 0 for all */
	const char *job; /* pattern for the only jobs; NULL for all */
};

/* Tells whether a process is chosen: by its number here, from its segment's
 * header or its label host_pid, and by its job. */
bool ncs_choice_has(const struct ncs_choice *choice,
		    const struct ncs_header *header, const char *labels);

#endif
