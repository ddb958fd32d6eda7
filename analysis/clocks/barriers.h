/* SPDX-License-Identifier: MIT */
/* Facts about the clocks of hosts from collectives.
 *
 * If all ranks wait for all others, no rank ends before the last one has
 * arrived. The latest beginning on each host therefore came before the earliest
 * end on each other host. This holds for any selection of ranks. Collectives
 * are identified by communicator, function and NCCL's sequence number; those
 * that a rank reports several times, as replays of CUDA graphs do, are not
 * used.
 *
 * Reads operations' own records, not joined operations: these trust an end by
 * comparing it with arrivals at other hosts, by the clocks that are to be found
 * here. The times in a record are read by analysis/records/operation_record.h.
 *
 * Only an end by which all data had moved counts: that of the kernel on its
 * stream, or that of the last proxy operation. A channel of a kernel may stop
 * long before the kernel ends, except with the RING algorithm. Times from the
 * stream may be wrong by their error. Memory is bounded. Pure. Must not trust
 * records.
 */
#ifndef NCS_ANALYSIS_CLOCKS_BARRIERS_H
#define NCS_ANALYSIS_CLOCKS_BARRIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/clocks/alignment.h"
#include "analysis/records/rank_operations.h"
#include "analysis/records/size_algorithms.h"
#include "ncclstat/abi_clock.h"
#include "ncclstat/snapshot.h"

/* A rank, and the facts about its times that records do not tell. */
struct ncs_barrier_rank {
	size_t host;
	struct ncs_identity identity;
	struct ncs_clock clock;
	uint64_t stream_error_ns; /* of times from the stream; 0: not known */
	struct ncs_size_algorithms algorithms;
};

/* Takes from a snapshot the rank's identity, the error of its times and the
 * algorithms of its operations. */
void ncs_barrier_rank_learn(struct ncs_barrier_rank *rank,
			    const struct ncs_snapshot *snapshot);

struct ncs_barriers;

/* Creates barriers that add facts to `alignment`, which must outlive them and
 * has as many hosts. `kept` collectives, 1024 if it is 0, are kept until the
 * last of their ranks has reported them. Returns NULL if there is no memory.
 * Free them with ncs_barriers_free(), which accepts NULL. */
struct ncs_barriers *ncs_barriers_new(struct ncs_alignment *alignment,
				      size_t hosts, size_t kept);
void ncs_barriers_free(struct ncs_barriers *barriers);

/* Announces a rank, which is copied. Call this before its first record. `owner`
 * is the caller's number for the rank: small, and different for each rank.
 * Returns 0 or -ENOMEM. */
int ncs_barriers_expect(struct ncs_barriers *barriers, size_t owner,
			const struct ncs_barrier_rank *rank);

/* Takes the own record of an operation of a rank, nearly in order of time, with
 * what analysis/records/rank_operations.h knows of it. Returns 0 or -ENOMEM. */
int ncs_barriers_take(struct ncs_barriers *barriers, size_t owner,
		      const struct ncs_record *record,
		      const struct ncs_known_operation *known);

/* Adds the facts that are known by now of all collectives that are kept, for
 * which the other ranks may still report. Returns 0 or -ENOMEM. */
int ncs_barriers_note(struct ncs_barriers *barriers);

/* Adds the facts of all collectives that are kept, and forgets them. Returns 0
 * or -ENOMEM. */
int ncs_barriers_flush(struct ncs_barriers *barriers);

/* Returns the number of collectives that gave a fact. */
uint64_t ncs_barriers_count(const struct ncs_barriers *barriers);

#endif
