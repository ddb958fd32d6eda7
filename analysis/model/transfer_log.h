/* SPDX-License-Identifier: MIT */
/* The latest operations of ranks that send and receive, as the comparison found
 * them: what transfer_cost.c computes from. Private to analysis/model. Pure.
 * Times are ns.
 */
#ifndef NCS_ANALYSIS_MODEL_TRANSFER_LOG_H
#define NCS_ANALYSIS_MODEL_TRANSFER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/comparison.h"

/* At most this many parts are kept, and so many for each rank of the model. */
#define NCS_LOGGED_MAX 65536u
#define NCS_LOGGED_PER_RANK 1024u

/* Tells an operation of a rank, so that those of several ranks can be
 * compared: a function and, for transfers, where the other end is. */
enum ncs_logged_kind {
	NCS_LOGGED_SEND_NEXT, /* to the next rank */
	NCS_LOGGED_SEND_BEFORE,
	NCS_LOGGED_SEND_FAR,
	NCS_LOGGED_RECV_NEXT,
	NCS_LOGGED_RECV_BEFORE,
	NCS_LOGGED_RECV_FAR,
	NCS_LOGGED_COLLECTIVE, /* plus the function */
	NCS_LOGGED_KINDS = NCS_LOGGED_COLLECTIVE + NCS_FUNCTION_COUNT
};

/* A rank's part in an operation. */
struct ncs_logged {
	uint64_t owner; /* serial of the rank */
	uint64_t arrival_ns, launched_ns;
	uint64_t end_ns, latest_end_ns; /* it ended between them */
	uint32_t operation;             /* in the order of calls */
	uint32_t place, count; /* of it, and of all parts of the operation */
	uint8_t kind;          /* enum ncs_logged_kind */
	bool waits, is_awaited;
};

struct ncs_transfer_log {
	struct ncs_logged *parts; /* those of an operation are adjacent */
	size_t count, capacity;
	uint64_t computed_ns; /* when the costs were last computed */
};

/* Adds an operation, dropping the oldest ones. Returns 0 or -ENOMEM. */
int ncs_transfer_log_add(struct ncs_transfer_log *log,
			 const struct ncs_comparison *comparison);

/* Drops the operations that ended before a time. */
void ncs_transfer_log_drop(struct ncs_transfer_log *log, uint64_t until_ns);

/* Releases its memory; it is empty then. */
void ncs_transfer_log_release(struct ncs_transfer_log *log);

/* Returns whether a kind (enum ncs_logged_kind) is a send. */
static inline bool ncs_is_logged_send(unsigned kind)
{
	return kind <= NCS_LOGGED_SEND_FAR;
}

/* Returns whether a kind is a send or a receive. */
static inline bool ncs_is_logged_transfer(unsigned kind)
{
	return kind < NCS_LOGGED_COLLECTIVE;
}

/* Returns whether one kind is a send to a neighbour and the other one a receive
 * from it. */
static inline bool ncs_are_opposite(unsigned a, unsigned b)
{
	return ncs_is_logged_transfer(a) && ncs_is_logged_transfer(b) &&
	       (a + NCS_LOGGED_RECV_NEXT == b || b + NCS_LOGGED_RECV_NEXT == a);
}

#endif
