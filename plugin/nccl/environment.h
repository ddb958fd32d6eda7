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

/* The largest N of NCCLSTAT_TIMING=1/N. */
#define NCS_STREAM_PERIOD_MAX (UINT32_C(1) << 20)

/* The greatest number of a range; some words have only 16 bits for it. */
#define NCS_RANGE_MAX 65535u

/* Which launches are timed on their streams. */
enum ncs_stream_mode {
	NCS_STREAM_MODE_AUTO, /* as many as cost at most 0.2 % of the time */
	NCS_STREAM_MODE_ALL,
	NCS_STREAM_MODE_PERIOD, /* one in so many */
	NCS_STREAM_MODE_OFF,
};

struct ncs_environment {
	bool disabled;
	char directory[256];
	gid_t group; /* that may read segments; NCS_GROUP_NONE for none */
	enum ncs_stream_mode stream_mode;
	bool stamps; /* captured launches report their replays */
	/* One in so many beside the first of a graph; 0: as many as cost at most
	 * 0.5 % of a replay's time. */
	uint32_t stamp_period;
	uint64_t stream_level; /* one launch in 2^stream_level, for PERIOD */
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
