/* SPDX-License-Identifier: MIT */
/* The state of a join, which its files share: join_pending.c makes and finishes
 * operations, join_transfers.c joins sends and receives, join.c collectives, and
 * gives all out. Private to them.
 */
#ifndef NCS_ANALYSIS_RECORDS_JOIN_INTERNAL_H
#define NCS_ANALYSIS_RECORDS_JOIN_INTERNAL_H

#include <sys/queue.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/base/hash_table.h"
#include "analysis/base/heap.h"
#include "analysis/records/join.h"

/* An operation is given up this long after its first part ended. */
#define LATE_NS NCS_LOOK_BACK_NS

/* An operation that is incomplete, or that is finished but not given out
 * yet. */
struct pending {
	struct ncs_joined joined;
	struct join_comm *comm;
	size_t expected; /* number of parts */
	struct ncs_part *parts;
	struct ncs_part_times *part_times; /* once it is finished */
	TAILQ_ENTRY(pending) entry;        /* among incomplete collectives */
	struct ncs_hash_link link;         /* in ncs_join.collectives */
	bool is_finished;
	uint64_t order; /* of completion */
};

/* The last number that a rank reported for a function. */
struct last_number {
	uint64_t number; /* plus 1; 0: none yet */
	uint32_t repeat;
};

struct join_comm {
	uint64_t id;
	size_t expected;   /* number of ranks */
	bool *is_expected; /* by rank */
	size_t rank_capacity;
	struct last_number *last[NCS_FUNCTION_COUNT]; /* by rank */
	size_t last_capacity[NCS_FUNCTION_COUNT];
};

/* Transfers reported by one end of a connection that wait for those of the
 * other end. */
struct transfer_queue {
	struct ncs_part *parts; /* in the order in which they began */
	size_t first, count, capacity;
};

/* The transfers from one rank to another or to itself. */
struct transfer_connection {
	struct ncs_hash_link link;
	struct join_comm *comm;
	int32_t source, destination;
	bool is_numbered;              /* its transfers have numbers */
	uint64_t number;               /* of the next transfer */
	uint64_t distrusted_until;     /* number; 0 if none is */
	struct transfer_queue ends[2]; /* sends, receives */
};

struct ncs_join {
	size_t parts_max;
	bool in_order;
	size_t parts;          /* number of parts that are kept … */
	size_t finished_parts; /* … and those of finished operations */
	uint64_t until_ns;     /* operations up to this time may be given out */
	struct join_comm **comms;
	size_t comm_count, comm_capacity;
	struct ncs_hash_table collectives; /* incomplete ones */
	TAILQ_HEAD(, pending) incomplete;
	struct transfer_connection **connections;
	size_t connection_count, connection_capacity;
	struct ncs_hash_table connections_by_key;
	struct ncs_heap finished; /* of struct pending, see is_before() */
	uint64_t order;
	struct pending *given; /* by the latest ncs_join_next() */
	struct ncs_join_count count;
};

/* Returns whether a rank of a communicator was announced. */
bool ncs_join_is_expected(const struct join_comm *comm, int32_t rank);

/* Creates an incomplete operation with room for `parts` parts. Returns NULL if
 * there is no memory for it or for finishing it. */
struct pending *ncs_join_pending_new(struct ncs_join *join,
				     struct join_comm *comm,
				     const struct ncs_joined *joined,
				     size_t parts);

/* Releases an operation; accepts NULL. */
void ncs_join_pending_free(struct ncs_join *join, struct pending *pending);

/* Makes room for one more finished operation. Returns 0 or -ENOMEM. */
int ncs_join_reserve(struct ncs_join *join);

/* Moves an operation to the finished ones, where there must be room. */
void ncs_join_finish(struct ncs_join *join, struct pending *pending);

/* Returns whether a finished operation's turn is before another one's. */
bool ncs_join_is_before(const void *left, const void *right);

/* Adds a part of a transfer. Returns 0 or -ENOMEM. */
int ncs_join_add_transfer(struct ncs_join *join, struct join_comm *comm,
			  const struct ncs_part *part);

/* Finishes the transfers that have both ends, or of which no other end will
 * come, as ncs_join_advance() says. */
void ncs_join_match(struct ncs_join *join, uint64_t until_ns);

/* Returns the first end of all transfers that wait for their other ends, or
 * UINT64_MAX. */
uint64_t ncs_join_first_transfer_ns(const struct ncs_join *join);

/* Releases all connections. */
void ncs_join_free_transfers(struct ncs_join *join);

#endif
