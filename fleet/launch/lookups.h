/* SPDX-License-Identifier: MIT */
/* Where a job runs, as other programs tell: the hosts of a list or a group, the
 * nodes of Slurm's job, the pods of a selector. Each asks a program that
 * answers within 10 s or counts as failed. */
#ifndef NCS_FLEET_LAUNCH_LOOKUPS_H
#define NCS_FLEET_LAUNCH_LOOKUPS_H

#include <stddef.h>

#include "fleet/launch/answer.h"
#include "fleet/launch/hostlist.h"

/* All that a lookup works with. All functions return 0; or -errno with a clause for
 * users in `why`. */
struct ncs_lookup {
	struct ncs_guard *guard;   /* of the programs that are asked */
	struct ncs_hostlist *list; /* to which names are added */
	char *why;
	size_t why_size;
};

/* Adds the names of a list; lists with groups or set operators are expanded by
 * nodeset. A text that begins with "/" or "./" is the path of a file that has the
 * names. */
int ncs_lookup_hosts(const struct ncs_lookup *lookup, const char *text);

/* Removes the names of such a list; NULL: there is none. */
int ncs_lookup_exclude(const struct ncs_lookup *lookup, const char *text);

/* Slurm's limit for a heterogeneous job. */
#define NCS_SLURM_COMPONENTS_MAX 128u

/* A job of Slurm. One of zeros is none. */
struct ncs_slurm_job {
	char number[32]; /* that srun requires: 4711_3 has one of its own */
	/* The nodes of each component of a heterogeneous job, some of which may be
	 * left out; no component if it is another job. */
	struct ncs_hostlist *components;
	size_t component_count;
};

/* Adds the nodes of a job that runs, by squeue; and by scontrol, should the
 * list be one that only Slurm can read. Release the job in any case. */
int ncs_lookup_job(const struct ncs_lookup *lookup, const char *name,
		   struct ncs_slurm_job *job);
void ncs_slurm_job_release(struct ncs_slurm_job *job);

/* Adds the nodes where a job runs or ran, of all its parts: by squeue, which
 * knows jobs until some minutes after their end, else by sacct. */
int ncs_lookup_job_that_ran(const struct ncs_lookup *lookup, const char *name);

/* Returns the first component that has a node; SIZE_MAX if there is none. */
size_t ncs_slurm_component_of(const struct ncs_slurm_job *job,
			      const char *node);

/* Adds the running pods that match "[NAMESPACE:]SELECTOR", as
 * "NAMESPACE/POD": none, if none does. */
int ncs_lookup_pods(const struct ncs_lookup *lookup, const char *selector);

/* Ask for them without waiting: when ncs_answer_turn() says `turn`, which is not
 * 0, the second one adds them. */
int ncs_lookup_pods_begin(const struct ncs_lookup *lookup, const char *selector,
			  struct ncs_answer *answer);
int ncs_lookup_pods_end(const struct ncs_lookup *lookup,
			struct ncs_answer *answer, int turn);

#endif
