/* SPDX-License-Identifier: MIT */
/* The operations of all ranks of a recording, put together, in the order in which
 * their first parts ended (analysis/records/parts.h, analysis/records/join.h).
 *
 * Memory: of the operations that are under way or were drained at once. Not
 * thread-safe.
 */
#ifndef NCS_RECORD_READ_RECORDED_OPERATIONS_H
#define NCS_RECORD_READ_RECORDED_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/join.h"
#include "record/read/recording.h"

struct ncs_recorded_operations;

/* Of what ended from a moment until another. Parts' owners are the recording's
 * ranks. NULL: no memory. */
struct ncs_recorded_operations *
ncs_recorded_operations_open(struct ncs_recording *recording, uint64_t from_ns,
			     uint64_t until_ns);
void ncs_recorded_operations_close(struct ncs_recorded_operations *collectives);

/* 1: *joined is the next one, valid until the next call; 0: no more; -errno. */
int ncs_recorded_operations_next(struct ncs_recorded_operations *collectives,
				 const struct ncs_joined **joined);

/* From the beginning again. 0 or -errno. */
int ncs_recorded_operations_rewind(struct ncs_recorded_operations *collectives);

/* The ranks of the job: a GPU of a process, with all its communicators. They are
 * called by their rank in the largest of these, where that tells them apart. */
struct ncs_job_rank {
	uint32_t rank;
	uint32_t host;
};

/* By the recording's ranks; *ranks is more than each of them. */
const struct ncs_job_rank *ncs_recorded_operations_job_ranks(
	const struct ncs_recorded_operations *collectives, uint32_t *ranks);

/* Whether a part was called in a range or in one inside it, by its path. */
bool ncs_recorded_operations_is_in_range(
	const struct ncs_recorded_operations *collectives,
	const struct ncs_part *part, const char *path);

/* So far, over all ranks. */
struct ncs_recorded_operations_count {
	struct ncs_join_count join;
	struct ncs_parts_count parts;
};

void ncs_recorded_operations_count(
	const struct ncs_recorded_operations *collectives,
	struct ncs_recorded_operations_count *count);

#endif
