/* SPDX-License-Identifier: MIT */
/* Records that are replaced; see replaced_records.h. */
#include "analysis/records/replaced_records.h"

#include <stdint.h>
#include <stdlib.h>

#include "analysis/records/operation_record.h"
#include "shm/array.h"

struct ncs_replaced {
	uint64_t rank;
	uint64_t operation;
	uint64_t count; /* records that replace an earlier one */
	uint64_t taken; /* of these, in the second pass */
};

static bool is_operation(const struct ncs_record *record)
{
	return ncs_record_is_operation(record) && record->operation != 0;
}

void ncs_replaced_records_release(struct ncs_replaced_records *replaced)
{
	free(replaced->all);
	*replaced = (struct ncs_replaced_records){ 0 };
}

int ncs_replaced_records_note(struct ncs_replaced_records *replaced,
			      size_t rank, const struct ncs_record *record)
{
	if (!is_operation(record) || !(record->flags & NCS_RECORD_AGAIN))
		return 0;
	if (ncs_array_reserve(&replaced->all, &replaced->capacity,
			      replaced->count + 1,
			      sizeof(*replaced->all)) != 0)
		return -ENOMEM;
	replaced->all[replaced->count++] = (struct ncs_replaced){
		.rank = rank,
		.operation = record->operation,
		.count = 1,
	};
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct ncs_replaced *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->operation > b->operation) - (a->operation < b->operation);
}

void ncs_replaced_records_sort(struct ncs_replaced_records *replaced)
{
	size_t count = 0;

	if (replaced->count == 0)
		return;
	qsort(replaced->all, replaced->count, sizeof(*replaced->all), compare);
	for (size_t i = 1; i < replaced->count; i++) {
		if (compare(&replaced->all[count], &replaced->all[i]) == 0)
			replaced->all[count].count++;
		else
			replaced->all[++count] = replaced->all[i];
	}
	replaced->count = count + 1;
}

void ncs_replaced_records_rewind(struct ncs_replaced_records *replaced)
{
	for (size_t i = 0; i < replaced->count; i++)
		replaced->all[i].taken = 0;
}

bool ncs_replaced_records_take(struct ncs_replaced_records *replaced,
			       size_t rank, const struct ncs_record *record)
{
	const struct ncs_replaced key = { .rank = rank,
					  .operation = record->operation };
	struct ncs_replaced *found = NULL;

	if (replaced->count > 0 && is_operation(record))
		found = bsearch(&key, replaced->all, replaced->count,
				sizeof(key), compare);
	if (!found)
		return false;
	/* Records of several lanes may come in any order. */
	return !(record->flags & NCS_RECORD_AGAIN) || ++found->taken < found->count;
}
