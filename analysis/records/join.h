/* SPDX-License-Identifier: MIT */
/* Joins the parts of all ranks into operations.
 *
 * Parts of a collective are joined by communicator, function and NCCL's
 * sequence number. If NCCL reports a number again and again, as replays of CUDA
 * graphs do, they are also joined by the repeat count. A send is joined with
 * the receive of the same number on its connection; where the plugin counted
 * none, with the one at the same place. If the two cannot belong together,
 * their numbers and some that follow are not used.
 *
 * Operations are given out in the order in which their first parts may have
 * ended, if the join is an ordered one: what a rank did before comes first. An
 * operation that stays incomplete is given up, that is, given out as it is:
 * once its missing ranks have reported much later operations, 10 s after its
 * first part ended, or when there is no room for more parts. Memory is bounded.
 * Pure.
 */
#ifndef NCS_ANALYSIS_RECORDS_JOIN_H
#define NCS_ANALYSIS_RECORDS_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/joined.h"

struct ncs_join;

/* Creates a join that keeps up to `parts_max` parts, or about a million if that
 * is 0. Unless it is `in_order`, operations are given out once they are
 * finished: one that stays incomplete holds up no other. Returns NULL if there
 * is no memory. Free it with ncs_join_free(), which accepts NULL. */
struct ncs_join *ncs_join_new(size_t parts_max, bool in_order);
void ncs_join_free(struct ncs_join *join);

/* Announces a rank of a communicator. Call this before the rank's first part:
 * an operation counts as complete without the parts of ranks that were not
 * announced. Returns 0 or -ENOMEM. */
int ncs_join_expect(struct ncs_join *join, uint64_t comm_id, int32_t rank);

/* Notes that no more parts of a rank will come: operations are complete without
 * it. Its parts so far count. Returns 0, or -ENOMEM if operations were lost. */
int ncs_join_forget(struct ncs_join *join, uint64_t comm_id, int32_t rank);

/* Adds a part. The parts of a rank must come nearly in the order in which they
 * ended. Copies the part. Returns 0, or -ENOMEM; then the part is lost. */
int ncs_join_add(struct ncs_join *join, const struct ncs_part *part);

/* Promises that no more parts will come that ended before `until_ns`, or none
 * at all if that is UINT64_MAX. */
void ncs_join_advance(struct ncs_join *join, uint64_t until_ns);

/* Returns the next operation, complete or given up, or NULL if there is none
 * yet. It is valid until the next call. */
const struct ncs_joined *ncs_join_next(struct ncs_join *join);

struct ncs_join_count {
	uint64_t complete;     /* operations */
	uint64_t incomplete;   /* operations that were given up */
	uint64_t unidentified; /* parts of no known communicator or rank */
	uint64_t again; /* parts of a rank that the operation already had */
	/* Pairs of a send and a receive with the same number that cannot belong
	 * together. */
	uint64_t distrusted;
};

/* Returns the counts up to now. They belong to `join`. */
const struct ncs_join_count *ncs_join_count(const struct ncs_join *join);

#endif
