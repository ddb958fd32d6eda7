/* SPDX-License-Identifier: MIT */
/* Defers the records of an operation's children until the operation's own
 * record comes. That record is published last, and says what the operation is.
 *
 * Bounded: when there are too many, the caller takes the oldest operation out.
 * Not thread-safe.
 */
#ifndef NCS_RECORD_EXPORT_DEFERRED_RECORDS_H
#define NCS_RECORD_EXPORT_DEFERRED_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/hash_table.h"
#include "ncclstat/record.h"

/* Largest number of records deferred for one rank. */
#define NCS_DEFERRED_RECORDS_MAX (UINT32_C(1) << 18)

/* The records of one operation's children, in the order in which they were
 * added. */
struct ncs_deferred_operation {
	struct ncs_hash_link link; /* by number */
	uint32_t number;
	size_t count;
	size_t capacity;
	struct ncs_record *records;
	struct ncs_deferred_operation *older;
	struct ncs_deferred_operation *newer;
};

/* A struct of zeros is empty. */
struct ncs_deferred_records {
	struct ncs_hash_table operations;
	struct ncs_deferred_operation *oldest;
	struct ncs_deferred_operation *newest;
	/* Unused operations, linked by `older`. */
	struct ncs_deferred_operation *spare;
	size_t count; /* number of all deferred records */
};

/* Adds a copy of the record of a child. Returns 0 or -ENOMEM. */
int ncs_deferred_records_add(struct ncs_deferred_records *deferred,
			     const struct ncs_record *record);

/* Removes an operation with its deferred records, and returns it; NULL if none
 * of its children is deferred. The caller gives it back after use. */
struct ncs_deferred_operation *
ncs_deferred_records_take(struct ncs_deferred_records *deferred,
			  uint32_t number);
void ncs_deferred_records_give_back(struct ncs_deferred_records *deferred,
				    struct ncs_deferred_operation *operation);

/* Whether there are more records than allowed, in which case the caller must
 * take out the oldest operation. */
static inline bool
ncs_deferred_records_are_full(const struct ncs_deferred_records *deferred)
{
	return deferred->count > NCS_DEFERRED_RECORDS_MAX;
}

/* Frees all records. */
void ncs_deferred_records_release(struct ncs_deferred_records *deferred);

#endif
