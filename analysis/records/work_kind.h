/* SPDX-License-Identifier: MIT */
/* Kinds of operations of ranks that send and receive, by which the work of stages
 * of a pipeline is compared: a stage that has received from the one before works as
 * long as another one that has, until it sends. Pure. Times are ns.
 */
#ifndef NCS_ANALYSIS_RECORDS_WORK_KIND_H
#define NCS_ANALYSIS_RECORDS_WORK_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/records/parts.h"

/* Tells an operation of a rank, so that those of several ranks can be
 * compared: a function and, for transfers, where the other end is. */
enum ncs_work_kind {
	NCS_WORK_SEND_NEXT, /* to the next rank */
	NCS_WORK_SEND_BEFORE,
	NCS_WORK_SEND_FAR,
	NCS_WORK_RECV_NEXT,
	NCS_WORK_RECV_BEFORE,
	NCS_WORK_RECV_FAR,
	NCS_WORK_COLLECTIVE, /* plus the function */
	NCS_WORK_KIND_COUNT = NCS_WORK_COLLECTIVE + NCS_FUNCTION_COUNT
};

/* Number of pairs of a kind and the kind before it. */
#define NCS_WORK_KINDS ((size_t)NCS_WORK_KIND_COUNT * NCS_WORK_KIND_COUNT)

/* Usual work that is not known. */
#define NCS_WORK_UNKNOWN_NS 1e300

/* Returns the kind of a part. */
unsigned ncs_work_kind_of(const struct ncs_part *part);

/* Fills in usual work that is not known, by kind before times NCS_WORK_KIND_COUNT plus
 * kind, with the sums of what is done one after the other: the last stage goes from
 * its last receive forward to its first send back as others do by way of the next
 * stage. A receive comes at once after a send unless something else is known. If
 * there is no memory, it stays unknown. */
void ncs_work_put_together(double usual_ns[NCS_WORK_KINDS]);

/* Fills it in, but only that a receive comes at once after a send unless something
 * else is known: where stages take turns, what comes after what tells no more. */
void ncs_work_at_once(double usual_ns[NCS_WORK_KINDS]);

/* Returns whether a kind (enum ncs_work_kind) is a send. */
static inline bool ncs_is_work_send(unsigned kind)
{
	return kind <= NCS_WORK_SEND_FAR;
}

/* Returns whether a kind is a send or a receive. */
static inline bool ncs_is_work_transfer(unsigned kind)
{
	return kind < NCS_WORK_COLLECTIVE;
}

/* Returns whether one kind is a send to a neighbour and the other one a receive
 * from it. */
static inline bool ncs_are_opposite(unsigned a, unsigned b)
{
	return ncs_is_work_transfer(a) && ncs_is_work_transfer(b) &&
	       (a + NCS_WORK_RECV_NEXT == b || b + NCS_WORK_RECV_NEXT == a);
}

#endif
