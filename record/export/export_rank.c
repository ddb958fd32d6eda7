/* SPDX-License-Identifier: MIT */
/* Learns about a rank; see export_rank.h. */
#include "record/export/export_rank.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "analysis/model/range_totals.h"
#include "ncclstat/abi_header.h"
#include "shm/array.h"
#include "shm/clock.h"
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

int ncs_export_rank_label(struct ncs_export_rank *rank, const char *labels)
{
	const char *job = NULL;
	int error = copy(&rank->node, ncs_labels_value(labels, "node"));

	ncs_job_of(labels, &job);
	return error ? error : copy(&rank->job, job);
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
			  const struct ncs_snapshot *snapshot)
{
	int error;

	take_identity(rank, &snapshot->identity);
	error = learn_ranges(rank, snapshot);
	return error ? error :
		       ncs_gpu_readings_add(&rank->gpu, &snapshot->gpu_clock);
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
