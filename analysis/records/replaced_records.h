/* SPDX-License-Identifier: MIT */
/* The records of operations that a later record replaces (NCS_RECORD_AGAIN): a
 * trace cannot take back what it has written, nor parts what they have given
 * out, so that both must know them beforehand, by a pass over the records alone.
 * Must do no I/O.
 */
#ifndef NCS_ANALYSIS_RECORDS_REPLACED_RECORDS_H
#define NCS_ANALYSIS_RECORDS_REPLACED_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "ncclstat/record.h"

/* Start with {0}. */
struct ncs_replaced_records {
	struct ncs_replaced *all; /* one for each operation, once sorted */
	size_t count, capacity;
};

/* Frees the memory. */
void ncs_replaced_records_release(struct ncs_replaced_records *replaced);

/* First pass: takes any record. Returns 0 or -ENOMEM. */
int ncs_replaced_records_note(struct ncs_replaced_records *replaced,
			      size_t rank, const struct ncs_record *record);

/* Ends the first pass. */
void ncs_replaced_records_sort(struct ncs_replaced_records *replaced);

/* Begins the second pass again. */
void ncs_replaced_records_rewind(struct ncs_replaced_records *replaced);

/* Second pass: takes each of the same records once. Returns true if another
 * record of the same operation replaces it. */
bool ncs_replaced_records_take(struct ncs_replaced_records *replaced,
			       size_t rank, const struct ncs_record *record);

#endif
