/* SPDX-License-Identifier: MIT */
/* The operations of all ranks of a recording, joined, in the order in which
 * their first parts ended (analysis/records/parts.h, analysis/records/join.h).
 *
 * Memory grows with the operations that are under way or were drained at the
 * same time. Not thread-safe.
 */
#ifndef NCS_RECORD_READ_RECORDED_OPERATIONS_H
#define NCS_RECORD_READ_RECORDED_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/join.h"
#include "record/read/recording.h"

struct ncs_recorded_operations;

/* Opens the operations that ended from from_ns to until_ns. The owner of a part
 * is its rank in the recording, which must outlive the result. Returns NULL if
 * there is no memory. */
struct ncs_recorded_operations *
ncs_recorded_operations_open(struct ncs_recording *recording, uint64_t from_ns,
			     uint64_t until_ns);
void ncs_recorded_operations_close(struct ncs_recorded_operations *operations);

/* Returns 1 and sets *joined to the next operation, valid until the next call;
 * 0 at the end; or -errno. */
int ncs_recorded_operations_next(struct ncs_recorded_operations *operations,
				 const struct ncs_joined **joined);

/* Begins again from the start. Returns 0 or -errno. */
int ncs_recorded_operations_rewind(struct ncs_recorded_operations *operations);

/* A rank of the job: a GPU of a process, with all its communicators. Its number
 * is its rank in the largest of these communicators, unless another rank of the
 * job has that number. */
struct ncs_job_rank {
	uint32_t rank;
	uint32_t host;
};

/* Returns the job's ranks, one entry for each rank of the recording, owned by
 * `operations`. Sets *ranks to a number above the largest one. */
const struct ncs_job_rank *ncs_recorded_operations_job_ranks(
	const struct ncs_recorded_operations *operations, uint32_t *ranks);

/* Whether a part was called in the range with this path, or in a range inside
 * that one. */
bool ncs_recorded_operations_is_in_range(
	const struct ncs_recorded_operations *operations,
	const struct ncs_part *part, const char *path);

/* Returns the path of a range of the recording, by its place among those of all
 * ranks, where each rank has its own; NULL behind the last one. Owned by
 * `operations`. */
const char *ncs_recorded_operations_range(
	const struct ncs_recorded_operations *operations, size_t place);

/* Sums over all ranks. */
struct ncs_recorded_operations_count {
	struct ncs_join_count join;
	uint64_t records_lost;
};

/* Copies the counts up to now. */
void ncs_recorded_operations_count(
	const struct ncs_recorded_operations *operations,
	struct ncs_recorded_operations_count *count);

#endif
