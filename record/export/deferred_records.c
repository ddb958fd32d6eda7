/* SPDX-License-Identifier: MIT */
/* Lists of records by operation; see deferred_records.h. */
#include "record/export/deferred_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct ncs_deferred_operation **
slot_of(struct ncs_deferred_records *held, uint32_t number)
{
	struct ncs_deferred_operation **slot =
		&held->slots[number % NCS_DEFERRED_RECORDS_SLOTS];

	while (*slot && (*slot)->number != number)
		slot = &(*slot)->same_slot;
	return slot;
}

/* NULL: no memory. */
static struct ncs_deferred_operation *
add_operation(struct ncs_deferred_records *held,
	      struct ncs_deferred_operation **slot, uint32_t number)
{
	struct ncs_deferred_operation *operation = held->spare;

	if (operation)
		held->spare = operation->same_slot;
	else
		operation = calloc(1, sizeof(*operation));
	if (!operation)
		return NULL;
	operation->number = number;
	operation->count = 0;
	operation->same_slot = NULL;
	operation->newer = NULL;
	operation->older = held->newest;
	if (held->newest)
		held->newest->newer = operation;
	else
		held->oldest = operation;
	held->newest = operation;
	*slot = operation;
	return operation;
}

int ncs_deferred_records_add(struct ncs_deferred_records *held,
			     const struct ncs_record *record)
{
	struct ncs_deferred_operation **slot = slot_of(held, record->operation);
	struct ncs_deferred_operation *operation =
		*slot ? *slot : add_operation(held, slot, record->operation);

	if (!operation)
		return -ENOMEM;
	if (operation->count == operation->capacity) {
		uint32_t capacity =
			operation->capacity ? 2 * operation->capacity : 64;
		struct ncs_record *records = realloc(
			operation->records, capacity * sizeof(*records));

		if (!records)
			return -ENOMEM;
		operation->records = records;
		operation->capacity = capacity;
	}
	operation->records[operation->count++] = *record;
	held->count++;
	return 0;
}

struct ncs_deferred_operation *
ncs_deferred_records_take(struct ncs_deferred_records *held, uint32_t number)
{
	struct ncs_deferred_operation **slot = slot_of(held, number);
	struct ncs_deferred_operation *operation = *slot;

	if (!operation)
		return NULL;
	*slot = operation->same_slot;
	*(operation->older ? &operation->older->newer : &held->oldest) =
		operation->newer;
	*(operation->newer ? &operation->newer->older : &held->newest) =
		operation->older;
	held->count -= operation->count;
	return operation;
}

/* What was large is not kept for one that may be small. */
#define SPARE_CAPACITY_MAX 4096u

void ncs_deferred_records_give_back(struct ncs_deferred_records *held,
				    struct ncs_deferred_operation *operation)
{
	if (operation->capacity > SPARE_CAPACITY_MAX) {
		free(operation->records);
		free(operation);
		return;
	}
	operation->same_slot = held->spare;
	held->spare = operation;
}

void ncs_deferred_records_release(struct ncs_deferred_records *held)
{
	while (held->oldest)
		ncs_deferred_records_give_back(
			held,
			ncs_deferred_records_take(held, held->oldest->number));
	while (held->spare) {
		struct ncs_deferred_operation *spare = held->spare;

		held->spare = spare->same_slot;
		free(spare->records);
		free(spare);
	}
}
