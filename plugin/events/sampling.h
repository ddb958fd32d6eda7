/* SPDX-License-Identifier: MIT */
/* Sampling of records: what is chosen for an operation and its children.
 *
 * Decided once, as the operation starts, by a hash that comes out alike on all
 * ranks (plugin/state/sample_choice.h); its children take it over as they
 * start. Only records of children are ever left out: counters, tables and
 * histograms know nothing of this.
 *
 * The operations are counted here even while all records are kept, so that
 * ranks which change the level at different moments still agree. What they
 * agree on needs the same numbers on all ranks:
 *  - A collective has NCCL's sequence number. Replays of a CUDA graph may tell
 *    the latest number again and again (up to NCCL 2.30): then it is the how
 *    manieth time since that number was new.
 *  - A transfer has none: both ends count those from one rank to the other.
 *    Peers share counters where a communicator has more than 128 ranks; who
 *    shares one may disagree with its peer.
 *  - API 1-3 tell the communicator's id with its first operation, or never
 *    (through NCCL's wrappers): its place is then empty, on all ranks.
 * Where ranks disagree, no estimate suffers; there is only no pair of records.
 *
 * Called by callbacks, by several threads at once. Two that start operations
 * of one function at the same moment may get the same count: likewise no harm.
 */
#ifndef NCS_PLUGIN_EVENTS_SAMPLING_H
#define NCS_PLUGIN_EVENTS_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/state/comm.h"
#include "plugin/state/decoded.h"

/* One operation in 2^level from now on, for all communicators. Any thread. */
void ncs_sampling_set_level(unsigned level);

/* At init, before the communicator is published. */
void ncs_sampling_init(struct ncs_comm *comm, uint64_t comm_id, int rank,
		       uint64_t slow_ns);

/* Who we are, where it is told later. */
void ncs_sampling_identify(struct ncs_comm *comm, uint64_t comm_id, int rank);

/* What the flags of an operation's records get: the level, and whether its
 * children's are left out. To be called once for each operation. */
uint64_t ncs_sampling_choose(struct ncs_comm *comm,
			     const struct ncs_operation_facts *facts);

/* A child of the operation starts. */
void ncs_sampling_inherit(struct ncs_sampled *child, struct ncs_op *operation,
			  bool is_under_way, uint64_t now);

/* A child of a child starts. */
static inline void ncs_sampling_pass_on(struct ncs_sampled *child,
					const struct ncs_sampled *parent)
{
	ncs_store_relaxed(&child->flags, ncs_load_relaxed(&parent->flags));
	ncs_store_relaxed(&child->left_out_since,
			  ncs_load_relaxed(&parent->left_out_since));
}

/* A child's records are all published; those of no known operation are. */
static inline void ncs_sampling_clear(struct ncs_sampled *child)
{
	ncs_store_relaxed(&child->flags, 0);
	ncs_store_relaxed(&child->left_out_since, 0);
}

/* Whether a child's records are left out, unless its operation is slow. */
static inline bool ncs_sampling_leaves_out(const struct ncs_sampled *child)
{
	return ncs_load_relaxed(&child->left_out_since) != 0;
}

/* A child that is left out makes progress for the first time: its operation is
 * under way since then at the latest. */
void ncs_sampling_in_progress(struct ncs_sampled *child,
			      uint64_t operation_handle, uint64_t now);

/* Of a child that is left out: true if its operation has been under way for
 * too long for that. It is kept from now on. */
bool ncs_sampling_is_slow(struct ncs_sampled *child, uint64_t operation_handle,
			  uint64_t now);

/* Whether the record of a child that ends now is published. */
static inline bool ncs_sampling_publishes(struct ncs_sampled *child,
					  uint64_t operation_handle,
					  uint64_t now)
{
	return __builtin_expect(!ncs_sampling_leaves_out(child), 1) ||
	       ncs_sampling_is_slow(child, operation_handle, now);
}

/* The flags of a child's record. */
static inline uint8_t ncs_sampling_flags(const struct ncs_sampled *child)
{
	return (uint8_t)ncs_load_relaxed(&child->flags);
}

#endif
