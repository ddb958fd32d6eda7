/* SPDX-License-Identifier: MIT */
/* Collects facts about operations; see operation_facts.h. */
#include "record/export/operation_facts.h"

#include <errno.h>
#include <stdlib.h>

#include "record/read/recorded_operations.h"
#include "shm/hash.h"

void ncs_operation_table_release(struct ncs_operation_table *table)
{
	ncs_hash_table_sweep(&table->facts, NULL, 0);
	ncs_hash_table_release(&table->facts);
}

/* Hashes differ where operations do: ncs_hash() is a bijection. */
static uint64_t hash_of(size_t rank, uint64_t operation)
{
	return ncs_hash((uint64_t)rank << 32 | (uint32_t)operation);
}

struct ncs_exported_operation *
ncs_operation_table_find(const struct ncs_operation_table *table, size_t rank,
			 uint64_t operation)
{
	struct ncs_hash_link *link =
		ncs_hash_table_first(&table->facts, hash_of(rank, operation));

	return link ? NCS_HASH_ITEM(link, struct ncs_exported_operation, link) :
		      NULL;
}

struct ncs_exported_operation *
ncs_operation_table_take(struct ncs_operation_table *table, size_t rank,
			 uint64_t operation)
{
	struct ncs_exported_operation *facts =
		ncs_operation_table_find(table, rank, operation);

	if (facts)
		return facts;
	facts = calloc(1, sizeof(*facts));
	if (facts && ncs_hash_table_insert(&table->facts, &facts->link,
					   hash_of(rank, operation)) == 0)
		return facts;
	free(facts);
	return NULL;
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
		struct ncs_exported_operation *facts = ncs_operation_table_take(
			table, part->owner, part->operation);

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
	operation = ncs_operation_table_take(table, rank, record->operation);
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
