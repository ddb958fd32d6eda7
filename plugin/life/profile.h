/* SPDX-License-Identifier: MIT */
/* How much shared memory a communicator gets: sizes of segments, and the choice
 * among them. Pure: the caller looks at the file system (shm/write/survey.h).
 *
 * Memory is a node's. What live objects may take (struct ncs_survey) is shared
 * by the ranks that are there, and each of them keeps room for COMMS_KEPT
 * communicators of the smallest size. A larger size is given only where that
 * much is free beyond it, so where memory is short the first communicator of a
 * process, as a rule that of all ranks, may get a larger segment, and the rest
 * get small ones. Where memory is plentiful the process's own limit counts: a
 * communicator gets at most a quarter of what is left of it, so that early ones
 * are large.
 */
#ifndef NCS_PLUGIN_LIFE_PROFILE_H
#define NCS_PLUGIN_LIFE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/segment.h"

/* Number of sizes, from large to small; also stands for none of them. */
#define NCS_PROFILE_COUNT 6u

/* The smallest size. */
#define NCS_PROFILE_SMALLEST (NCS_PROFILE_COUNT - 1)

/* Memory that there is for another communicator. */
struct ncs_room {
	uint64_t process_bytes; /* the process's limit */
	uint64_t used_bytes;    /* by its segments */
	uint32_t comms;         /* number of its segments */
	/* The rest counts only if node_counts. */
	bool node_counts;
	bool node_known;     /* false: only the smallest size is given */
	uint64_t node_bytes; /* the node's limit for live objects */
	uint64_t held_bytes; /* by live objects, the process's included */
	uint32_t ranks;      /* number that share it, at least 1 */
};

/* Returns the tables of a size, for a process that tells `ranges` ranges
 * apart. */
struct ncs_segment_size ncs_profile_size(uint32_t profile, uint32_t ranges);

/* Returns the size of a segment in bytes. */
uint64_t ncs_profile_bytes(uint32_t profile, uint32_t ranges);

/* Returns the largest size that there is room for; NCS_PROFILE_COUNT if there is
 * none. */
uint32_t ncs_profile_choose(const struct ncs_room *room, uint32_t ranges);

/* Returns the number of ranks that are likely to share the node's memory:
 * `nranks` and `nnodes` are NCCL's, -1 or 0 if unknown; `processes` hold objects
 * already. */
uint32_t ncs_profile_ranks(int nranks, int nnodes, uint32_t processes);

#endif
