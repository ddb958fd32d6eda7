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
#define NCS_DEFERRED_RECORDS_MAX (UINT32_C(1) << 18)

/* Those of one operation, in the order in which they came. */
struct ncs_deferred_operation {
	uint32_t number;
	uint32_t count;
	uint32_t capacity;
	struct ncs_record *records;
	struct ncs_deferred_operation *same_slot;
	struct ncs_deferred_operation *older;
	struct ncs_deferred_operation *newer;
};

#define NCS_DEFERRED_RECORDS_SLOTS 256u

/* All zeros: holds nothing. */
struct ncs_deferred_records {
	struct ncs_deferred_operation *slots[NCS_DEFERRED_RECORDS_SLOTS];
	struct ncs_deferred_operation *oldest;
	struct ncs_deferred_operation *newest;
	struct ncs_deferred_operation *spare; /* by same_slot */
	uint32_t count;                   /* records */
};

/* Holds a record of an operation. 0 or -ENOMEM. */
int ncs_deferred_records_add(struct ncs_deferred_records *held,
			     const struct ncs_record *record);

/* Takes an operation out; NULL: nothing of it is held. Give it back when it
 * has been used. */
struct ncs_deferred_operation *
ncs_deferred_records_take(struct ncs_deferred_records *held, uint32_t number);
void ncs_deferred_records_give_back(struct ncs_deferred_records *held,
				    struct ncs_deferred_operation *operation);

/* Whether there are more than may be: then take the oldest. */
static inline bool
ncs_deferred_records_are_full(const struct ncs_deferred_records *held)
{
	return held->count > NCS_DEFERRED_RECORDS_MAX;
}

void ncs_deferred_records_release(struct ncs_deferred_records *held);

#endif
