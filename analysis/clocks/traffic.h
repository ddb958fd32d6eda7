/* SPDX-License-Identifier: MIT */
/* Facts about the clocks of hosts from what their ranks record: from collectives
 * (analysis/clocks/barriers.h), and from messages (analysis/records/messages.h):
 * data are sent before they arrive and, with InfiniBand, a receive is posted
 * before its send is accepted.
 *
 * Memory is bounded. Pure. Must not trust records.
 */
#ifndef NCS_ANALYSIS_CLOCKS_TRAFFIC_H
#define NCS_ANALYSIS_CLOCKS_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/clocks/alignment.h"
#include "analysis/clocks/barriers.h"
#include "analysis/records/messages.h"
#include "analysis/records/rank_operations.h"

struct ncs_traffic {
	struct ncs_alignment *alignment; /* which has the facts */
	struct ncs_barriers *barriers;
	struct ncs_messages *messages; /* NULL: no steps are taken */
	size_t *hosts;                 /* by owner */
	size_t owner_count, owner_capacity;
	int error; /* of adding a message: 0 or -ENOMEM */
};

/* Begins without facts, at an address that must not change. So many collectives
 * (ncs_barriers_new()) and steps are kept until other ranks have told of them; no
 * messages are looked for if `steps` is 0. Returns 0 or -ENOMEM; in both cases
 * release it. */
int ncs_traffic_init(struct ncs_traffic *traffic, size_t hosts,
		     size_t collectives, size_t steps);
void ncs_traffic_release(struct ncs_traffic *traffic);

/* Announces what is known of a rank, before its first record and whenever more
 * is. `owner` is its number, the next one for a new rank. Returns 0 or
 * -ENOMEM. */
int ncs_traffic_expect(struct ncs_traffic *traffic, size_t owner,
		       const struct ncs_barrier_rank *rank);

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

#endif
