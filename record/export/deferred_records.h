/* SPDX-License-Identifier: MIT */
/* Records of the parts of operations, held back until the operation's own
 * comes, which says what they are parts of: it is published last.
 *
 * Bounded: the oldest operation's are let go when there are too many.
 */
#ifndef NCS_RECORD_EXPORT_DEFERRED_RECORDS_H
#define NCS_RECORD_EXPORT_DEFERRED_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/record.h"

/* Records held of one rank. */
#define NCS_HELD_MAX (UINT32_C(1) << 18)

/* Those of one operation, in the order in which they came. */
struct ncs_held_operation {
	uint32_t number;
	uint32_t count;
	uint32_t capacity;
	struct ncs_record *records;
	struct ncs_held_operation *same_slot;
	struct ncs_held_operation *older;
	struct ncs_held_operation *newer;
};

#define NCS_HELD_SLOTS 256u

/* All zeros: holds nothing. */
struct ncs_held {
	struct ncs_held_operation *slots[NCS_HELD_SLOTS];
	struct ncs_held_operation *oldest;
	struct ncs_held_operation *newest;
	struct ncs_held_operation *spare; /* by same_slot */
	uint32_t count;                   /* records */
};

/* Holds a record of an operation. 0 or -ENOMEM. */
int ncs_held_add(struct ncs_held *held, const struct ncs_record *record);

/* Takes an operation out; NULL: nothing of it is held. Give it back when it
 * has been used. */
struct ncs_held_operation *ncs_held_take(struct ncs_held *held,
					 uint32_t number);
void ncs_held_give_back(struct ncs_held *held,
			struct ncs_held_operation *operation);

/* Whether there are more than may be: then take the oldest. */
static inline bool ncs_held_is_full(const struct ncs_held *held)
{
	return held->count > NCS_HELD_MAX;
}

void ncs_held_release(struct ncs_held *held);

#endif
