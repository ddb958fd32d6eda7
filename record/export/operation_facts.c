/* SPDX-License-Identifier: MIT */
/* Collects facts about operations; see operation_facts.h. */
#include "record/export/operation_facts.h"

#include <errno.h>
#include <stdlib.h>

#include "record/read/recorded_operations.h"
#include "shm/array.h"
#include "shm/hash.h"

void ncs_operation_table_release(struct ncs_operation_table *table)
{
	free(table->facts);
	free(table->slots);
}

/* --- The table ----------------------------------------------------------- */

static uint64_t key_of(size_t rank, uint64_t operation)
{
	return (uint64_t)rank << 32 | (uint32_t)operation;
}

/* Returns the slot that has a key, or would have it. */
static uint32_t *slot_of(const struct ncs_operation_table *table, uint64_t key)
{
	size_t i = ncs_hash(key) & (table->slot_count - 1);

	while (table->slots[i] != 0 &&
	       table->facts[table->slots[i] - 1].key != key)
		i = (i + 1) & (table->slot_count - 1);
	return &table->slots[i];
}

static int grow(struct ncs_operation_table *table)
{
	size_t count = table->slot_count ? table->slot_count * 2 : 1024;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->slot_count = count;
	for (size_t i = 0; i < table->count; i++)
		*slot_of(table, table->facts[i].key) = (uint32_t)i + 1;
	return 0;
}

/* Returns the facts of an operation, new ones if there are none; NULL if there
 * is no memory. */
static struct ncs_exported_operation *take(struct ncs_operation_table *table,
					size_t rank, uint64_t operation)
{
	uint64_t key = key_of(rank, operation);
	uint32_t *slot;

	if (table->count * 2 >= table->slot_count && grow(table) != 0)
		return NULL;
	slot = slot_of(table, key);
	if (*slot != 0)
		return &table->facts[*slot - 1];
	if (table->count >= UINT32_MAX ||
	    ncs_array_reserve(&table->facts, &table->capacity, table->count + 1,
			      sizeof(*table->facts)) != 0)
		return NULL;
	table->facts[table->count] = (struct ncs_exported_operation){
		.key = key,
	};
	*slot = (uint32_t)++table->count;
	return &table->facts[table->count - 1];
}

const struct ncs_exported_operation *
ncs_operation_table_find(const struct ncs_operation_table *table, size_t rank,
			 uint64_t operation)
{
	uint32_t *slot;

	if (table->slot_count == 0)
		return NULL;
	slot = slot_of(table, key_of(rank, operation));
	return *slot != 0 ? &table->facts[*slot - 1] : NULL;
}

/* --- What is noted ------------------------------------------------------- */

static int note_joined(struct ncs_operation_table *table,
		       const struct ncs_joined *joined)
{
	struct ncs_moving_part moving;
	bool is_moving = joined->is_complete &&
			 ncs_joined_moving(joined, &moving);

	for (size_t i = 0; i < joined->count; i++) {
		const struct ncs_part *part = &joined->parts[i];
		struct ncs_exported_operation *facts =
			take(table, part->owner, part->operation);

		if (!facts)
			return -ENOMEM;
		facts->is_joined = true;
		facts->algorithm = part->algorithm;
		facts->protocol = part->protocol;
		facts->doubt = (uint8_t)ncs_joined_doubt(joined, part);
		facts->kernel_end_is_wrong = !ncs_joined_may_have_ended(
			joined, part, NCS_MOMENT_KERNEL_END);
		facts->is_moving = is_moving;
		if (is_moving)
			facts->moving = moving;
	}
	return 0;
}

int ncs_operation_table_join(struct ncs_operation_table *table,
			     struct ncs_recording *recording, uint64_t from_ns,
			     uint64_t until_ns)
{
	struct ncs_recorded_operations *operations =
		ncs_recorded_operations_open(recording, from_ns, until_ns);
	const struct ncs_joined *joined;
	int error = 0, found = 0;

	if (!operations)
		return -ENOMEM;
	while (!error && (found = ncs_recorded_operations_next(operations,
							       &joined)) > 0)
		error = note_joined(table, joined);
	ncs_recorded_operations_close(operations);
	return error ? error : found;
}

int ncs_operation_table_kernel(struct ncs_operation_table *table, size_t rank,
			       const struct ncs_export_rank *facts,
			       const struct ncs_record *record)
{
	struct ncs_export_span span = ncs_export_rank_span(facts, record);
	uint64_t gpu_until_ns = record->value + record->number;
	struct ncs_exported_operation *operation;
	struct ncs_kernel_span *kernel;

	if (record->operation == 0)
		return 0;
	operation = take(table, rank, record->operation);
	if (!operation)
		return -ENOMEM;
	kernel = &operation->kernel;
	if (!kernel->is_known)
		*kernel = (struct ncs_kernel_span){ true,
						    true,
						    span.start_ns,
						    record->value,
						    gpu_until_ns,
						    span.end_ns };
	kernel->is_by_gpu &= record->value != 0 && record->number != 0;
	if (span.start_ns < kernel->start_ns)
		kernel->start_ns = span.start_ns;
	if (span.end_ns > kernel->host_until_ns)
		kernel->host_until_ns = span.end_ns;
	if (record->value < kernel->gpu_from_ns)
		kernel->gpu_from_ns = record->value;
	if (gpu_until_ns > kernel->gpu_until_ns)
		kernel->gpu_until_ns = gpu_until_ns;
	return 0;
}
