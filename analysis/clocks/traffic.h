/* SPDX-License-Identifier: MIT */
/* Facts about the clocks of hosts from what their ranks record.
 *
 * From messages (analysis/records/messages.h): data are sent before they arrive and,
 * with InfiniBand, a receive is posted before its send is accepted.
 *
 * From collectives: if all ranks wait for all others, no rank ends before the last
 * one has arrived. The latest beginning on each host therefore came before the
 * earliest end on each other host. This holds for any selection of ranks.
 * Collectives are identified by communicator, function and NCCL's sequence number;
 * those that a rank reports several times, as replays of CUDA graphs do, are not
 * used. They are read from operations' own records (operation_record.h), not from
 * joined operations: these trust an end by comparing it with arrivals at other
 * hosts, by the clocks that are to be found here. Only an end by which all data had
 * moved counts: that of the kernel on its stream, or that of the last proxy
 * operation. A channel of a kernel may stop long before the kernel ends, except
 * with the RING algorithm. Times from the stream may be wrong by their error.
 *
 * Memory is bounded. Pure. Must not trust records.
 */
#ifndef NCS_ANALYSIS_CLOCKS_TRAFFIC_H
#define NCS_ANALYSIS_CLOCKS_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/clocks/alignment.h"
#include "analysis/records/messages.h"
#include "analysis/records/rank_operations.h"
#include "analysis/records/size_algorithms.h"
#include "ncclstat/abi_clock.h"
#include "ncclstat/snapshot.h"

/* A rank, and the facts about its times that records do not tell. */
struct ncs_traffic_facts {
	size_t host;
	struct ncs_identity identity;
	struct ncs_clock clock;
	uint64_t stream_error_ns; /* of times from the stream; 0: not known */
	struct ncs_size_algorithms algorithms;
};

/* Takes from a snapshot the rank's identity, the error of its times and the
 * algorithms of its operations. */
void ncs_traffic_learn(struct ncs_traffic_facts *rank,
		       const struct ncs_snapshot *snapshot);

struct ncs_traffic {
	struct ncs_alignment *alignment; /* which has the facts */
	struct ncs_messages *messages;   /* NULL: no steps are taken */
	/* Messages, and collectives that gave a fact. */
	uint64_t message_count, collectives;
	struct ncs_traffic_facts **ranks; /* by owner */
	size_t owner_count, owner_capacity;
	size_t host_count;
	/* The collectives that are kept, and their times by collective, then by
	 * host. */
	size_t kept_count;
	struct ncs_kept_collective *kept;
	struct ncs_seen_collective *seen;
	int error; /* of adding a message: 0 or -ENOMEM */
};

/* Begins without facts, at an address that must not change. Keeps `collectives`
 * collectives, 1024 if it is 0, and `steps` steps until other ranks have told of
 * them; looks for no messages if `steps` is 0. Returns 0 or -ENOMEM; in both cases
 * release it. */
int ncs_traffic_init(struct ncs_traffic *traffic, size_t hosts,
		     size_t collectives, size_t steps);
void ncs_traffic_release(struct ncs_traffic *traffic);

/* Announces what is known of a rank, which is copied, before its first record and
 * whenever more is. `owner` is its number, the next one for a new rank. Returns 0
 * or -ENOMEM. */
int ncs_traffic_expect(struct ncs_traffic *traffic, size_t owner,
		       const struct ncs_traffic_facts *rank);

/* A rank whose records are taken. */
struct ncs_traffic_rank {
	struct ncs_rank_operations *operations;
	/* Where its facts go, and its number there. */
	struct ncs_traffic *traffics[2];
	size_t owners[2];
	unsigned count;
	/* Whether a step is looked at; NULL: each is. */
	bool (*is_wanted)(void *context, const struct ncs_child *step);
	void *context;
};

/* Takes a record, ignoring all but those of operations, of proxy operations and
 * of steps. Sets *known to its operation, valid until the next call, if it is
 * the own record of one that has a number; else to NULL. Returns 0 or
 * -ENOMEM. */
int ncs_traffic_take(struct ncs_traffic_rank *rank,
		     const struct ncs_record *record,
		     const struct ncs_known_operation **known);

/* Gives up the steps that wait for their operations. Returns 0 or -ENOMEM. */
int ncs_traffic_give_up(struct ncs_traffic_rank *rank);

/* Adds the facts that are known by now of all collectives that are kept, for
 * which the other ranks may still report. Returns 0 or -ENOMEM. */
int ncs_traffic_note(struct ncs_traffic *traffic);

/* Adds the facts of all collectives that are kept, and forgets them and the steps that
 * wait for their other ends. Returns 0 or -ENOMEM. */
int ncs_traffic_flush(struct ncs_traffic *traffic);

#endif
