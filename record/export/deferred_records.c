/* SPDX-License-Identifier: MIT */
/* Lists of records by operation; see deferred_records.h. */
#include "record/export/deferred_records.h"

#include <errno.h>
#include <stdlib.h>

#include "shm/array.h"
#include "shm/hash.h"

static struct ncs_deferred_operation *
find(const struct ncs_deferred_records *deferred, uint32_t number)
{
	struct ncs_hash_link *link =
		ncs_hash_table_first(&deferred->operations, ncs_hash(number));

	/* ncs_hash() is a bijection: equal hashes have equal numbers. */
	return link ? NCS_HASH_ITEM(link, struct ncs_deferred_operation, link) :
		      NULL;
}

/* Returns NULL if there is no memory. */
static struct ncs_deferred_operation *
add_operation(struct ncs_deferred_records *deferred, uint32_t number)
{
	struct ncs_deferred_operation *operation = deferred->spare;

	if (operation)
		deferred->spare = operation->older;
	else
		operation = calloc(1, sizeof(*operation));
	if (!operation)
		return NULL;
	operation->number = number;
	operation->count = 0;
	operation->newer = NULL;
	operation->older = deferred->newest;
	if (ncs_hash_table_insert(&deferred->operations, &operation->link,
				  ncs_hash(number)) != 0) {
		ncs_deferred_records_give_back(deferred, operation);
		return NULL;
	}
	if (deferred->newest)
		deferred->newest->newer = operation;
	else
		deferred->oldest = operation;
	deferred->newest = operation;
	return operation;
}

int ncs_deferred_records_add(struct ncs_deferred_records *deferred,
			     const struct ncs_record *record)
{
	struct ncs_deferred_operation *operation =
		find(deferred, record->operation);

	if (!operation)
		operation = add_operation(deferred, record->operation);
	if (!operation ||
	    ncs_array_reserve(&operation->records, &operation->capacity,
			      operation->count + 1,
			      sizeof(*operation->records)) != 0)
		return -ENOMEM;
	operation->records[operation->count++] = *record;
	deferred->count++;
	return 0;
}

struct ncs_deferred_operation *
ncs_deferred_records_take(struct ncs_deferred_records *deferred,
			  uint32_t number)
{
	struct ncs_deferred_operation *operation = find(deferred, number);

	if (!operation)
		return NULL;
	ncs_hash_table_remove(&deferred->operations, &operation->link);
	*(operation->older ? &operation->older->newer : &deferred->oldest) =
		operation->newer;
	*(operation->newer ? &operation->newer->older : &deferred->newest) =
		operation->older;
	deferred->count -= operation->count;
	return operation;
}

/* Largest capacity, in records, of an array that is kept for reuse. Larger
 * arrays are freed, as most operations need less. */
#define SPARE_CAPACITY_MAX 4096u

void ncs_deferred_records_give_back(struct ncs_deferred_records *deferred,
				    struct ncs_deferred_operation *operation)
{
	if (operation->capacity > SPARE_CAPACITY_MAX) {
		free(operation->records);
		free(operation);
		return;
	}
	operation->older = deferred->spare;
	deferred->spare = operation;
}

void ncs_deferred_records_release(struct ncs_deferred_records *deferred)
{
	while (deferred->oldest)
		ncs_deferred_records_give_back(
			deferred, ncs_deferred_records_take(
					  deferred, deferred->oldest->number));
	while (deferred->spare) {
		struct ncs_deferred_operation *spare = deferred->spare;

		deferred->spare = spare->older;
		free(spare->records);
		free(spare);
	}
	ncs_hash_table_release(&deferred->operations);
}
