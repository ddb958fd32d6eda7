/* SPDX-License-Identifier: MIT */
/* The plugin's settings from the environment.
 *
 * They are read once in each process, at its first init; a forked child reads
 * them again. The variables are those of ncclstat/tables/environment.def, and
 * for the job's labels those of job_labels.def. No state, no output.
 */
#ifndef NCS_PLUGIN_NCCL_ENVIRONMENT_H
#define NCS_PLUGIN_NCCL_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi.h"
#include "ncclstat/control_object.h"
#include "shm/group.h"

/* The greatest number of a range; some words have only 16 bits for it. */
#define NCS_RANGE_MAX 65535u

struct ncs_environment {
	bool disabled;
	char directory[256];
	gid_t group; /* that may read segments; NCS_GROUP_NONE for none */
	/* Which launches are timed on their streams, and which captured ones
	 * report their replays: enum ncs_timing_detail. */
	uint8_t timing, graphs;
	enum ncs_kernel_timing kernel_timing;
	/* One operation in 2^sample_level keeps its children's records; so does
	 * each operation that takes longer than sample_slow_ns. */
	unsigned sample_level;
	uint64_t sample_slow_ns;
	uint64_t shm_bytes; /* limit of all segments of the process */
	bool shm_bytes_set; /* by the user, who answers for the node's memory */
	char chain[1024]; /* library of a chained plugin; "" if there is none */
	/* Number of ranges to tell apart; 0 if ranges are off. */
	uint32_t ranges;
	char nvtx_chain[1024]; /* library of another NVTX tool; "" if none */
	/* Path of CUPTI's library; "1" to search for it, "" if CUPTI is off. */
	char cupti[1024];
};

/* Reads the environment. Returns 0, or -EINVAL if a variable has an invalid
 * value: its default is then used, and `problem` names the variable and the
 * values that it takes. */
int ncs_environment_read(struct ncs_environment *config, char *problem,
			 size_t problem_size);

/* Reads what tells of which job the process is: the variables of
 * ncclstat/tables/job_labels.def and no others. */
void ncs_environment_labels(struct ncs_labels *labels);

#endif
