/* SPDX-License-Identifier: MIT */
/* Learns about ranks and operations; see export_facts.h. */
#include "record/export/export_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/model/range_totals.h"
#include "ncclstat/abi_header.h"
#include "record/read/recorded_operations.h"
#include "shm/array.h"
#include "shm/clock.h"
#include "shm/hash.h"
#include "shm/labels.h"
#include "shm/read/job.h"

static void take_identity(struct ncs_export_rank *rank,
			  const struct ncs_identity *identity)
{
	rank->identity = *identity;
	if (rank->aliases)
		ncs_aliases_apply(rank->aliases, &rank->identity);
	ncs_comm_text(&rank->identity, rank->communicator,
		      sizeof(rank->communicator));
	if (identity->known & NCS_KNOWN_COMM_ID)
		snprintf(rank->communicator_id, sizeof(rank->communicator_id),
			 "%016" PRIx64, identity->comm_id);
}

void ncs_export_rank_init(struct ncs_export_rank *rank, const char *host,
			  const struct ncs_header *header,
			  const struct ncs_aliases *aliases)
{
	*rank = (struct ncs_export_rank){
		.host = host,
		.pid = header->pid,
		.aliases = aliases,
		.clock = header->clock,
	};
	take_identity(rank, &header->identity);
}

void ncs_export_rank_release(struct ncs_export_rank *rank)
{
	for (size_t i = 0; i < rank->path_count; i++)
		free(rank->paths[i].path);
	free(rank->paths);
	free(rank->node);
	free(rank->job);
	ncs_gpu_readings_release(&rank->gpu);
}

static int copy(char **to, const char *text)
{
	if (text && !*to)
		*to = strdup(text);
	return text && !*to ? -ENOMEM : 0;
}

/* --- Ranges -------------------------------------------------------------- */

/* Learns the paths of new ranges. Ranges are numbered in the order in which
 * they appear and keep their names, so new ones come last. Returns 0 or
 * -ENOMEM. */
static int learn_ranges(struct ncs_export_rank *rank,
			const struct ncs_snapshot *snapshot)
{
	if (ncs_array_reserve(&rank->paths, &rank->path_capacity,
			      snapshot->range_count, sizeof(*rank->paths)) != 0)
		return -ENOMEM;
	for (size_t i = rank->path_count; i < snapshot->range_count; i++) {
		uint32_t number = snapshot->ranges[i].number;
		char path[4096] = "";

		ncs_range_append_path(snapshot, number, path, sizeof(path));
		rank->paths[i] =
			(struct ncs_export_range_path){ number, strdup(path) };
		if (!rank->paths[i].path)
			return -ENOMEM;
		rank->path_count++;
	}
	return 0;
}

static int compare_path(const void *key, const void *element)
{
	const uint64_t *number = key;
	const struct ncs_export_range_path *path = element;

	return (*number > path->number) - (*number < path->number);
}

const char *ncs_export_rank_path(const struct ncs_export_rank *rank,
				 uint64_t number)
{
	const struct ncs_export_range_path *found;

	if (rank->path_count == 0)
		return NULL;
	found = bsearch(&number, rank->paths, rank->path_count,
			sizeof(*rank->paths), compare_path);
	return found ? found->path : NULL;
}

const char *ncs_export_rank_text(const struct ncs_export_rank *rank,
				 const struct ncs_field_value *field,
				 char room[NCS_EXPORT_TEXT_BYTES])
{
	struct ncs_detail detail;

	switch (field->kind) {
	case NCS_FIELD_PROXY_STATE:
		return ncs_proxy_state_name((unsigned)field->value);
	case NCS_FIELD_RANGE_PATH:
		return ncs_export_rank_path(rank, field->value);
	case NCS_FIELD_DETAIL:
		if (!ncs_detail_unpack(field->value, &detail))
			return NULL;
		ncs_detail_text(&detail, room, NCS_EXPORT_TEXT_BYTES);
		return room;
	case NCS_FIELD_HANDLE:
		ncs_cuda_stream_text(field->value, room);
		return room;
	default:
		return NULL;
	}
}

/* --- States and records -------------------------------------------------- */

int ncs_export_rank_learn(struct ncs_export_rank *rank,
			  const struct ncs_snapshot *snapshot,
			  const char *labels)
{
	const char *job = NULL;

	take_identity(rank, &snapshot->identity);
	ncs_job_of(labels, &job);
	return copy(&rank->node, ncs_labels_value(labels, "node")) != 0 ||
			       copy(&rank->job, job) != 0 ||
			       learn_ranges(rank, snapshot) != 0 ||
			       ncs_gpu_readings_add(&rank->gpu,
						    &snapshot->gpu_clock) != 0 ?
		       -ENOMEM :
		       0;
}

struct ncs_export_span ncs_export_rank_span(const struct ncs_export_rank *rank,
					    const struct ncs_record *record)
{
	bool is_kernel = record->event == NCS_EVENT_KERNEL_CH ||
			 record->event == NCS_EVENT_KERNEL_PHASE;
	struct ncs_export_span span = {
		.start_ns = ncs_clock_ns(&rank->clock, record->start),
		.end_ns = ncs_clock_ns(&rank->clock,
				       record->start + record->duration),
	};

	if (is_kernel && record->value != 0 &&
	    ncs_gpu_readings_find(&rank->gpu, record->value, &span.start_ns,
				  &span.gpu_error_ns)) {
		span.is_by_gpu = true;
		span.end_ns = span.start_ns + record->number;
	}
	/* Rounding must not make a record end before it begins. */
	if (span.end_ns < span.start_ns)
		span.end_ns = span.start_ns;
	return span;
}

/* --- Operations ---------------------------------------------------------- */

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
	return ncs_hash_table_first(&table->facts, hash_of(rank, operation));
}

struct ncs_exported_operation *
ncs_operation_table_take(struct ncs_operation_table *table, size_t rank,
			 uint64_t operation)
{
	struct ncs_exported_operation *facts =
		ncs_operation_table_find(table, rank, operation);

	return facts ? facts :
		       ncs_hash_table_add(&table->facts, sizeof(*facts),
					  hash_of(rank, operation));
}

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
	while (!error &&
	       (found = ncs_recorded_operations_next(operations, &joined)) > 0)
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
		*kernel =
			(struct ncs_kernel_span){ true,          true,
						  span.start_ns, record->value,
						  gpu_until_ns,  span.end_ns };
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
