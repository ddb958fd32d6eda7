/* SPDX-License-Identifier: MIT */
/* Sampling: deciding which operations keep the records of their children.
 *
 * The decision is made once, when an operation starts, by a hash that is the
 * same on all ranks (state/sample_choice.h); its children inherit it when they
 * start. Sampling leaves out only records of children: all operations have
 * records, and all counters, tables and histograms are complete.
 *
 * Operations are numbered here even while all records are kept, so that ranks
 * which change the level at different times still agree. The hash needs numbers
 * that are the same on all ranks:
 *  - A collective has NCCL's sequence number. Replays of a CUDA graph may
 *    repeat the last number (up to NCCL 2.30): then the repeat count is used,
 *    too.
 *  - A transfer has no sequence number: both ends count the transfers from one
 *    rank to the other (state/transfers.h). Where a connection found no place
 *    for its count, the two ends may disagree.
 *  - API 1-3 report the communicator's id with its first operation, or (through
 *    NCCL's wrappers) never: it is then 0 on all ranks.
 * Where ranks disagree, estimates remain right; only the records of a pair of
 * ranks do not match each other.
 *
 * Called by callbacks on several threads at the same time: no lock, no
 * allocation, no system call. Two threads that start operations of one function
 * at the same time may get the same count; that does no harm either.
 */
#ifndef NCS_PLUGIN_EVENTS_SAMPLING_H
#define NCS_PLUGIN_EVENTS_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/state/comm.h"

/* Makes one operation in 2^level keep its children's records from now on, in
 * all communicators. `level` is NCS_LEVEL_MAX at most. Any thread. */
void ncs_sampling_set_level(unsigned level);

/* Prepares a communicator, at init, before it is published. `slow_ns` is the
 * time after which an operation's children are kept in any case. */
void ncs_sampling_init(struct ncs_comm *comm, uint64_t comm_id, int rank,
		       uint64_t slow_ns);

/* Sets the communicator's id and our rank, if NCCL reports them later. */
void ncs_sampling_identify(struct ncs_comm *comm, uint64_t comm_id, int rank);

/* Returns the flags for an operation's records: the level, and whether its
 * children's records are left out. `transfer` is what ncs_transfers_count() said
 * of a transfer. Call it once for each operation. */
uint64_t ncs_sampling_choose(struct ncs_comm *comm,
			     const struct ncs_operation_facts *facts,
			     uint64_t transfer);

/* Passes the operation's decision on to a child that starts. */
void ncs_sampling_inherit(struct ncs_sampled *child,
			  struct ncs_operation_slot *operation,
			  bool is_under_way, uint64_t now);

/* Passes the decision on from a child to its own child that starts. */
static inline void ncs_sampling_pass_on(struct ncs_sampled *child,
					const struct ncs_sampled *parent)
{
	ncs_store_relaxed(&child->flags, ncs_load_relaxed(&parent->flags));
	ncs_store_relaxed(&child->left_out_since,
			  ncs_load_relaxed(&parent->left_out_since));
}

/* Has a child's records published, for a child without a known operation. */
static inline void ncs_sampling_clear(struct ncs_sampled *child)
{
	ncs_store_relaxed(&child->flags, 0);
	ncs_store_relaxed(&child->left_out_since, 0);
}

/* Returns true if a child's records are left out unless its operation is
 * slow. */
static inline bool ncs_sampling_leaves_out(const struct ncs_sampled *child)
{
	return ncs_load_relaxed(&child->left_out_since) != 0;
}

/* Notes that a child that is left out makes progress for the first time, which
 * is when its operation is in progress at the latest. */
void ncs_sampling_in_progress(struct ncs_sampled *child,
			      uint64_t operation_handle, uint64_t now);

/* Returns true if the operation of a child that is left out is slow, i.e. has
 * been in progress for too long. The child and its operation are kept from now
 * on. */
bool ncs_sampling_is_slow(struct ncs_sampled *child, uint64_t operation_handle,
			  uint64_t now);

/* Returns true if the record of a child that ends now is to be published. */
static inline bool ncs_sampling_publishes(struct ncs_sampled *child,
					  uint64_t operation_handle,
					  uint64_t now)
{
	return __builtin_expect(!ncs_sampling_leaves_out(child), 1) ||
	       ncs_sampling_is_slow(child, operation_handle, now);
}

/* Returns the sampling flags of a child's record. */
static inline uint8_t ncs_sampling_flags(const struct ncs_sampled *child)
{
	return (uint8_t)ncs_load_relaxed(&child->flags);
}

#endif
